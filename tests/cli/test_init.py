"""clatune init on PoCL: from a kernel file alone to a tuning."""
import json
import os
import pathlib
import stat
import shutil
import subprocess
import sys
import unittest

from harness import CLATUNE, CliTest, has_device, main

SCALE = """#ifndef PER_ITEM
#define PER_ITEM 1   // as often
#endif
#ifndef UNROLL
#define UNROLL 0
#endif
kernel void scale(global const float *in, global float *out, const float factor, const int n) {
  int i = get_global_id(0);
#if UNROLL
#pragma unroll
#endif
  for (int k = 0; k < PER_ITEM; k++)
    if (i < n) out[i] = factor * in[i];
}
"""
GROUPS = """#define TILE 16
#ifndef TILE_X
# define TILE_X (8)
#endif
__attribute__((reqd_work_group_size(TILE_X, 4, 1)))
kernel void transpose(global const uint *restrict in, global uint *restrict out, int width, int height, local uint *tile) {
  tile[get_local_id(1) * TILE_X + get_local_id(0)] = in[get_global_id(1) * width + get_global_id(0)];
  out[get_global_id(0) * height + get_global_id(1)] = tile[get_local_id(1) * TILE_X + get_local_id(0)];
}
kernel void other(read_only image2d_t image, sampler_t sampler, constant float4 *c, write_only image2d_t made) {
  write_imagef(made, (int2)(0, 0), read_imagef(image, sampler, (float2)(0, 0)) + c[0]);
}
"""


FOREIGN = """#ifndef COPY_W
#define COPY_W 4
#endif
#ifndef TILE
#define TILE 8
#endif
#ifndef USE_TABLE
#define USE_TABLE 0
#endif
#ifndef TABLE_STEP
#define TABLE_STEP 4
#endif
#define STEP (2 * TABLE_STEP)
#if COPY_W == 1
typedef float wide;
#else
typedef float4 wide;
#endif
#if USE_TABLE
float read_table(global const float *a, int i) { return a[i * STEP]; }
#endif
void copy_wide(global const wide *a, global wide *b, int i) { b[i] = a[i]; }
kernel void copy(global const wide *a, global wide *b) { copy_wide(a, b, get_global_id(0)); }
kernel void scale(global const float *a, global float *b) {
  float s = 0;
  for (int k = 0; k < TILE; k++) s += a[get_global_id(0) + k];
#if USE_TABLE
  s += read_table(a, 1);
#endif
  b[get_global_id(0)] = s;
}
"""
PARSE = pathlib.Path(CLATUNE).parents[1] / "init/parse/clatune-parse"


class Init(CliTest):
    def macros_of(self, name, kernel):
        self.init(name, "--kernel", kernel, "-o", "draft.json", "--force")
        return [p["Name"] for p in self.problem("draft.json")["ConfigurationSpace"]["TuningParameters"]]

    @unittest.skipUnless(PARSE.exists(), "built without libclang")
    def test_a_macro_of_code_that_the_kernel_does_not_reach_is_left_out(self):
        self.write("k.cl", FOREIGN)
        self.assertEqual(self.macros_of("k.cl", "scale"), ["TILE", "USE_TABLE", "TABLE_STEP", "local_x"])
        self.assertEqual(self.macros_of("k.cl", "copy"), ["COPY_W", "local_x"])

    def test_what_libclang_cannot_say_is_noted(self):
        self.write("k.cl", FOREIGN + "#ifndef POCL_DEVICE_ADDRESS_BITS\n#error only for PoCL\n#endif\n")
        note = "note: macros of other code in the file may be among the tuning parameters"
        if PARSE.exists():
            said = self.init("k.cl", "--kernel", "scale").stderr
            self.assertRegex(said, note + ", because libclang cannot read it: k.cl:.*only for PoCL")
        shutil.copy(CLATUNE, self.folder / "alone")
        said = subprocess.run([self.folder / "alone", "init", "k.cl", "--kernel", "scale", "--device", "pocl", "--force"], cwd=self.folder,
                              env=self.environment, text=True, capture_output=True)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn(note + "; to leave them out", said.stderr)
        self.assertIn("TILE", str(self.problem("k.json")["ConfigurationSpace"]["TuningParameters"]))

    def test_what_is_no_regular_file_is_written_to(self):
        self.write("my.cl", SCALE)
        self.init("my.cl", "-o", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.assertIn('"KernelName": "scale"', self.init("my.cl", "-o", "/dev/stdout").stdout)
        (self.folder / "kept.json").write_text("kept")
        (self.folder / "link.json").symlink_to("kept.json")
        self.init("my.cl", "-o", "link.json", expect=1)
        self.assertEqual((self.folder / "kept.json").read_text(), "kept")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def init(self, *options, **more):
        return self.clatune("init", *options, "--device", "pocl", **more)

    def problem(self, name):
        return json.loads((self.folder / name).read_text())

    def shrink(self, name):
        """At small sizes alone: the check plan's large ones take seconds, and are not the subject."""
        problem = self.problem(name)
        for size in problem["ProblemParameters"]:
            size["Default"] = size["Max"] = {1: 4096, 2: 96}.get(len(problem["ProblemParameters"]), 24)
        self.write(name, json.dumps(problem))

    def runs(self, name):
        """Its result is that of its reference, if it has one."""
        self.shrink(name)
        self.clatune("measure", name, "--device", "pocl", "--rounds", "1")

    def verify(self, name, **more):
        self.shrink(name)
        return self.clatune("verify", name, "--device", "pocl", **more)

    def test_from_a_kernel_to_a_tuning(self):
        self.write("my.cl", SCALE)
        self.init("my.cl")
        problem = self.problem("my.json")
        parameters = {p["Name"]: p["Values"] for p in problem["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual(parameters["PER_ITEM"], [1, 2, 4, 8])
        self.assertEqual(parameters["UNROLL"], [0, 1])
        self.assertIn('"Values": [1, 2, 4, 8],\n', (self.folder / "my.json").read_text())
        self.assertIn("local_x", parameters)
        arguments = {a["Name"]: a for a in problem["KernelSpecification"]["Arguments"]}
        self.assertEqual((arguments["in"]["AccessType"], arguments["out"]["AccessType"]), ("ReadOnly", "ReadWrite"))
        self.assertEqual((arguments["n"]["Type"], arguments["n"]["FillValue"]), ("int", "size_n"))
        self.assertEqual(arguments["factor"]["MemoryType"], "Scalar")
        self.assertEqual([p["Default"] for p in problem["ProblemParameters"]], [1048576])  # 1,024 would take microseconds
        said = self.clatune("tune", "my.json", "--device", "pocl", "--no-store", expect=1).stderr
        self.assertRegex(said, r"my\.json:\d+: Reference: fill in this value: .*default configuration's result")
        del problem["Reference"]
        self.write("my.json", json.dumps(problem))
        answer = self.clatune_json("tune", "my.json", "--device", "pocl", "--budget", "6", "--no-store", "--finalists", "0")
        self.assertEqual(answer["evaluations"]["correct"], 6)

    def test_a_macro_that_is_called_so_is_the_work_group_s_size(self):
        self.write("sum.cl", """#ifndef BLOCK_SIZE
#define BLOCK_SIZE 64
#endif
#ifndef BLOCKS
#define BLOCKS 4
#endif
#ifndef UNREAD
#define UNREAD 4
#endif
kernel void sum(global const float *in, global float *out, int n) {
  local float part[BLOCK_SIZE];
  part[get_local_id(0)] = in[get_global_id(0)];
  if (get_local_id(0) == 0) out[get_group_id(0)] = part[0] * BLOCKS;
}
""")
        self.init("sum.cl")
        problem = self.problem("sum.json")
        names = [p["Name"] for p in problem["ConfigurationSpace"]["TuningParameters"]]
        self.assertEqual(names, ["BLOCK_SIZE", "BLOCKS"])
        self.assertEqual(problem["KernelSpecification"]["LocalSize"], {"X": "BLOCK_SIZE"})
        self.assertEqual([c["Expression"] for c in problem["ConfigurationSpace"]["Conditions"]], ["size_n % BLOCK_SIZE == 0"])
        self.assertEqual([a.get("Size", "")[:6] for a in problem["KernelSpecification"]["Arguments"]], ["size_n", "(size_", ""])
        self.write("two.cl", """#ifndef block_size_x
#define block_size_x 16
#endif
kernel void two(global float *out, int width) { out[get_global_id(1) * width + get_global_id(0)] = 1; }
""")
        self.init("two.cl")
        self.assertEqual(self.problem("two.json")["KernelSpecification"]["LocalSize"], {"X": "block_size_x", "Y": "local_y"})

    def test_a_macro_that_is_called_so_may_be_something_else(self):
        self.write("so.cl", """kernel void so(global float *out, int n) {
  int i = get_global_id(0);
#if LOCAL == 1
  i += 0;
#endif
  for (int k = 0; k < DIM; k++) out[i] = i < n ? k : 0;
}
""")
        self.init("so.cl")
        problem = self.problem("so.json")
        self.assertEqual({p["Name"]: p["Values"] for p in problem["ConfigurationSpace"]["TuningParameters"]},
                         {"LOCAL": [0, 1], "DIM": [1, 2, 4, 8], "local_x": [4, 8, 16, 32, 64, 128, 256]})

    def test_a_type_of_the_kernels_own_is_what_it_stands_for(self):
        (self.folder / "types").mkdir()
        self.write("types/own.h", "typedef float2 pair;\ntypedef int count;\n")
        self.write("own.cl", """#include "types/own.h"
typedef struct { float re, im; } complex;
#define real float
kernel void own(global const pair *in, global real *out, const complex factor, const count n, const unsigned int m) {
  out[get_global_id(0)] = in[get_global_id(0)].x * factor.re * (n + m);
}
""")
        self.init("own.cl")
        problem = self.problem("own.json")
        arguments = {a["Name"]: a for a in problem["KernelSpecification"]["Arguments"]}
        self.assertEqual([arguments[name]["Type"] for name in ("in", "out", "n")], ["float2", "float", "int"])
        self.assertEqual((arguments["factor"]["Type"], arguments["factor"]["Fields"]), ("complex", {"re": 1.0, "im": 1.0}))
        self.assertIn(arguments["m"]["Type"], ("uint", "unsigned int"))
        self.assertEqual([p["Name"] for p in problem["ProblemParameters"]], ["size_n", "size_m"])

    def test_what_is_typed_of_macros_is_kept(self):
        self.write("typed.cl", """#ifndef TILE
#define TILE 16
#endif
kernel void typed(global REAL *out, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = TILE + STEP + (REAL)FACTOR;
}
""")
        typed = ["TILE=4", "STEP=3,5,7", "FACTOR=0.5,2", "REAL=float,double", "FLAG", "LIST={1}"]
        said = self.init("typed.cl", *[word for text in typed for word in ("--define", text)]).stderr
        self.assertEqual(said, "")
        problem = self.problem("typed.json")
        parameters = {p["Name"]: (p["Type"], p["Values"], p["Default"]) for p in problem["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual(parameters.pop("STEP"), ("int", [3, 5, 7], 3))
        self.assertEqual(parameters.pop("FACTOR"), ("float", [0.5, 2], 0.5))
        self.assertEqual(parameters.pop("REAL"), ("string", ["float", "double"], "float"))
        self.assertEqual(list(parameters), ["local_x"])
        self.assertEqual(problem["KernelSpecification"]["CompilerOptions"], ["-DTILE=4", "-DFLAG", "-DLIST={{1}"])

    def test_a_default_is_one_of_the_values(self):
        defaults = {"CHUNK": 16384, "PART": 4096, "WHOLE": 512, "ALL": 2 ** 62, "LEAST": -8}
        self.write("large.cl", "".join(f"#ifndef {n}\n#define {n} {v}\n#endif\n" for n, v in defaults.items()) +
                   "kernel void large(global float *out, int n) { if (get_global_id(0) < n) out[get_global_id(0)] = (float)ALL + "
                   "CHUNK + PART + WHOLE + LEAST; }\n#define INDEX get_global_id")  # and the file ends in a name
        self.init("large.cl")
        values = {p["Name"]: p["Values"] for p in self.problem("large.json")["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual([values[n] for n in defaults], [[2048, 4096, 8192, 16384], [512, 1024, 2048, 4096],
                                                         [64, 128, 256, 512, 1024], [2 ** 62], [-8]])
        self.edit("large.json", '  "Reference": ', '  "// Reference": ')
        self.runs("large.json")

    def test_a_default_for_the_else_branch_is_one_of_the_values(self):
        self.write("table.cl", """#ifndef TABLE
#define TABLE 0
#endif
kernel void table(global float *out, int n) {
#if TABLE == 1
  if (get_global_id(0) < n) out[get_global_id(0)] = 1;
#elif TABLE == 2
  if (get_global_id(0) < n) out[get_global_id(0)] = 2;
#else
  if (get_global_id(0) < n) out[get_global_id(0)] = 0;
#endif
}
""")
        self.init("table.cl")
        values = {p["Name"]: p["Values"] for p in self.problem("table.json")["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual(values["TABLE"], [0, 1, 2])

    def test_an_editor_finds_the_schema(self):
        self.write("my.cl", SCALE)
        self.init("my.cl")
        problem = self.problem("my.json")
        folder = pathlib.Path(CLATUNE).resolve().parent  # where it is installed, or built in the sources
        near = [folder / name for name in ("../share/clatune/schema/problem.json", "../../../schema/problem.json")]
        found = next((path.resolve().as_uri() for path in near if path.exists()), None)
        self.assertEqual(problem.get("$schema"), found)
        self.clatune("space", "my.json", expect=1)  # for its TODO, not for the schema
        self.edit("my.json", '  "Reference": ', '  "// Reference": ')
        self.clatune("space", "my.json")

    def test_typed_values_are_numbers_or_texts(self):
        self.write("typed.cl", "kernel void typed(global float *out, int) { out[get_global_id(0)] = A + B; }\n")
        self.init("typed.cl", "--define", "A=0.1,2,0x10", "--define", "B=1,2.5e0f")
        problem = self.problem("typed.json")
        parameters = {p["Name"]: (p["Type"], p["Values"]) for p in problem["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual((parameters["A"], parameters["B"]), (("float", [0.1, 2, 16]), ("string", ["1", "2.5e0f"])))
        self.assertIn("[0.1, 2, 16]", (self.folder / "typed.json").read_text())
        self.assertEqual([a["Name"] for a in problem["KernelSpecification"]["Arguments"]], ["out", "argument_2"])
        for wrong in ("A=1,2,", "A=,1", "A=1,,2"):
            self.assertIn("before and after each comma", self.init("typed.cl", "--define", wrong, expect=2).stderr)
        self.assertIn("'A' twice", self.init("typed.cl", "--define", "A=1,2", "--define", "A=3", expect=2).stderr)

    def test_what_only_other_branches_lack_is_no_macro(self):
        self.write("branch.cl", """#if MODE == 0
typedef float real;
#define SUM sum
#endif
kernel void branch(global float *out, int n) {
#if MODE < 2
  real sum = 1;
#endif
#if MODE == 1
  sum *= SCALE;
#elif MODE == 2
  sum = 2;
#endif
  out[get_global_id(0)] = sum;
}
""")
        said = self.init("branch.cl").stderr
        self.assertRegex(said, "guessed values: MODE;")
        problem = self.problem("branch.json")
        self.assertEqual({p["Name"]: p["Values"] for p in problem["ConfigurationSpace"]["TuningParameters"]},
                         {"MODE": [0, 1, 2], "local_x": [4, 8, 16, 32, 64, 128, 256]})
        self.assertNotIn("CompilerOptions", problem["KernelSpecification"])

    def test_one_process_builds_as_often_as_it_takes(self):
        """In addition to the one that lists the devices: a driver's first build in a process takes much longer than those that follow."""
        worker = self.folder / "worker"
        worker.write_text(f'#!/bin/sh\necho >>"{self.folder}/begun"\nexec "{os.environ["CLATUNE_WORKER"]}" "$@"\n')
        worker.chmod(0o755)
        self.write("often.cl", "kernel void often(global float *out) {\n#if MODE\nout[1] = FIRST;\n#endif\nTYPE v = SECOND; out[0] = v; }\n")
        self.init("often.cl", CLATUNE_WORKER=str(worker))
        names = [p["Name"] for p in self.problem("often.json")["ConfigurationSpace"]["TuningParameters"]]
        self.assertEqual(names[:3], ["MODE", "SECOND", "FIRST"])
        self.assertEqual((self.folder / "begun").read_text().count("\n"), 2)

    def test_what_other_kernels_say_is_no_part_of_it(self):
        self.write("two.cl", """#ifndef ROWS
#define ROWS 4
#endif
float half_of(float x) { return x / DIVISOR; }
__attribute__((reqd_work_group_size(16, ROWS, 1)))
kernel void other(global float *out, int n) { out[get_global_id(1) * n + get_global_id(0)] = ROWS * OTHERS; }
kernel void line(global float *out, int n) {
  int i = get_global_id(0) / (block_size_y * BLOCK_Z);
  if (i < n) out[i] = half_of(block_size_x);
}
""")
        self.assertRegex(self.init("two.cl", "--kernel", "line").stderr, ": (block_size_x DIVISOR|DIVISOR block_size_x); --define")
        problem = self.problem("two.json")
        kernel = problem["KernelSpecification"]
        self.assertEqual({p["Name"] for p in problem["ConfigurationSpace"]["TuningParameters"]}, {"block_size_x", "DIVISOR"})
        self.assertRegex(kernel["GlobalSize"]["X"], "^TODO work-items along X, such as size_n or")
        self.assertEqual(kernel["LocalSize"], {"X": "block_size_x"})
        self.assertEqual(sorted(kernel["CompilerOptions"]), ["-DBLOCK_Z=1", "-DOTHERS=1", "-Dblock_size_y=1"])

    def test_the_kernel_file_is_named_as_the_problem_file_sees_it(self):
        for name in ("kernels", "problems/deep", "kernels-2"):
            (self.folder / name).mkdir(parents=True)
        self.write("kernels/my.cl", SCALE)
        for output, seen in (("kernels/other.json", "my.cl"), ("problems/deep/my.json", "../../kernels/my.cl"),
                             ("my.json", "kernels/my.cl"), ("kernels-2/my.json", "../kernels/my.cl")):
            self.init("kernels/my.cl", "-o", output)
            self.assertEqual(self.problem(output)["KernelSpecification"]["KernelFile"], seen)

    def test_a_local_size_that_is_no_parameter_is_the_compilers_number(self):
        self.write("fixed.cl", """#define TILE 16
__attribute__((reqd_work_group_size(TILE, 2 * TILE, 1)))
kernel void fixed(global float *out, int width, int height) { out[get_global_id(1) * width + get_global_id(0)] = height; }
kernel void freely(global float *out, int width, int height) { out[get_global_id(1) * width + get_global_id(0)] = height; }
""")
        self.init("fixed.cl", "--kernel", "fixed")
        self.assertEqual(self.problem("fixed.json")["KernelSpecification"]["LocalSize"], {"X": 16, "Y": 32})
        self.init("fixed.cl", "--kernel", "freely", "-o", "freely.json")  # the attribute is the other kernel's
        self.assertEqual(self.problem("freely.json")["KernelSpecification"]["LocalSize"], {"X": "local_x", "Y": "local_y"})

    def test_switches_are_on_or_off(self):
        names = {"ASKED": "#if ASKED\nx++;\n#endif", "USE_CONST": "x += USE_CONST;", "BOTH": "if (BOTH && !LAST) x++;",
                 "LAST": "", "CHOSEN": "x = CHOSEN ? 2 : 3;"}
        numbers = {"COUNT": "for (int k = 0; k < COUNT; k++) x++;", "TIMES": "x = fmin((float)TIMES, x);", "CALLED": "x = half_of(CALLED);",
                   "LEVEL": "#if LEVEL > 1\nx++;\n#endif"}
        every = {**names, **numbers}
        defines = "".join(f"#ifndef {n}\n#define {n} 1 // {n}\n#endif\n" for n in every)
        self.write("many.cl", defines + "float half_of(float x) { return x / 2; }\n"
                   "kernel void many(global float *out, int n) { float x = n;\n" + "\n".join(every.values()) + "\nout[get_global_id(0)] = x; }\n")
        self.init("many.cl")
        values = {p["Name"]: p["Values"] for p in self.problem("many.json")["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual({n: values[n] for n in every}, {n: [0, 1] if n in names else [1, 2, 4, 8] for n in every})
        default = {p["Name"]: p["Default"] for p in self.problem("many.json")["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual(default["ASKED"], 1)

    def test_the_size_that_a_work_item_is_compared_with_is_the_global_size(self):
        kernels = ("""kernel void it(global const int *first, global float *out, int stride, int n_rows) {
  local float part[64];
  const int row = (int)get_global_id(0); // row < stride
  part[get_local_id(0)] = first[row];
  if (row >= n_rows) return;
  out[row] = part[0] * stride;
}
""", """kernel void it(global float *c, int m, int n, int k) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column < n && row < m) c[row * n + column] = k;
}
""")
        for kernel, size in zip(kernels, ({"X": "size_n_rows"}, {"X": "size_n", "Y": "size_m"})):
            self.write("it.cl", kernel)
            self.init("it.cl", "--force")
            self.assertEqual(self.problem("it.json")["KernelSpecification"]["GlobalSize"], size)
        self.write("it.cl", """kernel void it(global const float *in, global float *out, int n) {
  int i = (int)get_local_id(0) + TS * get_group_id(0);
  if (i < n) out[i] = in[n * i];
}
""")
        self.init("it.cl", "--force")
        kernel = self.problem("it.json")["KernelSpecification"]
        self.assertEqual((kernel["GlobalSize"], kernel["LocalSize"]), ({"X": "size_n"}, {"X": "TS"}))
        self.assertEqual([a["Size"][:4] for a in kernel["Arguments"][:2]], ["TODO", "size"])
        one = "kernel void one(global const float *in, global float *out, int n) { local float tile[64]; tile[get_local_id(0)] = %s; }\n"
        self.write("one.cl", one % "in[get_global_id(0)]")
        self.init("one.cl")
        self.assertEqual(self.problem("one.json")["KernelSpecification"]["GlobalSize"], {"X": "size_n"})
        self.write("one.cl", one % "0; for (int i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = in[i]")
        self.init("one.cl", "--force")
        self.assertRegex(self.problem("one.json")["KernelSpecification"]["GlobalSize"]["X"], "^TODO ")

    def test_a_file_is_replaced_by_force(self):
        self.write("my.cl", SCALE)
        self.write("my.json", "mine")
        self.assertIn("--force", self.init("my.cl", expect=1).stderr)
        self.assertEqual((self.folder / "my.json").read_text(), "mine")
        self.init("my.cl", "--force")
        self.assertEqual(self.problem("my.json")["KernelSpecification"]["KernelName"], "scale")

    def test_what_it_cannot_know_may_be_typed(self):
        self.write("t.cl", GROUPS)
        asked = {"size_width": "size_width\n640", "size_height": "", "KernelSpecification.GlobalSize.X": "size_width",
                 "KernelSpecification.GlobalSize.Y": "size_height",
                 **{f"KernelSpecification.Arguments '{name}'.Size": '["size_width", "size_height"]' for name in ("in", "out")},
                 "KernelSpecification.Arguments 'tile'.Size": "TILE_X * 4",
                 "Reference": "naive.cl\n-"}  # invalid answers are asked for again
        answers = "".join(answer + "\n" for answer in asked.values())
        run = subprocess.run([CLATUNE, "init", "t.cl", "--kernel", "transpose", "--interactive", "--device", "pocl"], cwd=self.folder,
                             env=self.environment, text=True, capture_output=True, input=answers)
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in asked:
            self.assertIn(name + ": ", run.stderr)
        problem = self.problem("t.json")
        self.assertEqual([p["Default"] for p in problem["ProblemParameters"]], [640, 768])
        self.assertNotIn("Reference", problem)
        self.assertNotIn("TODO", json.dumps(problem))
        self.runs("t.json")

    def test_a_volume_is_small_at_first(self):
        self.write("v.cl", "kernel void fill(global float *out, int nx, int ny, int nz) {\n  if (get_global_id(2) < nz)\n"
                   "    out[(get_global_id(2) * ny + get_global_id(1)) * nx + get_global_id(0)] = 1;\n}\n")
        self.init("v.cl")
        self.assertEqual([p["Default"] for p in self.problem("v.json")["ProblemParameters"]], [128, 96, 64])

    def test_what_changes_the_result_is_no_tuning_parameter(self):
        defines = {"RADIUS": 4, "PRECISION": 32, "N": 16, "WG": 64, "PER_ITEM": 4}
        self.write("hist.cl", "".join(f"#ifndef {n}\n#define {n} {v}\n#endif\n" for n, v in defines.items()) + """
kernel void hist(global const uchar *data, global uint *bins, global const float *weights, const uint n, const int flags) {
  const int first = get_global_id(0) * PER_ITEM;
#if PRECISION == 32
  for (int k = -RADIUS; k <= RADIUS; k++) atomic_inc(&bins[k + RADIUS]);
#endif
  for (int i = first; i < first + PER_ITEM; i++)
    if (i < n) atomic_add(&bins[data[i]], (flags & 1) + weights[0]);
  for (int b = get_local_id(0); b < N * N; b += WG) bins[b] += 1;
}
""")
        self.init("hist.cl")
        problem = self.problem("hist.json")
        self.assertEqual([p["Name"] for p in problem["ConfigurationSpace"]["TuningParameters"]], ["WG", "PER_ITEM"])
        self.assertEqual({p["Name"]: p["Default"] for p in problem["ProblemParameters"]},
                         {"size_n": 1048576, "RADIUS": 4, "PRECISION": 32, "N": 16})
        self.assertEqual(problem["ConfigurationSpace"]["Conditions"], [])  # the kernel tests its edge
        kernel = problem["KernelSpecification"]
        self.assertRegex(kernel["GlobalSize"]["X"], "^TODO ")  # PER_ITEM results per work-item
        arguments = {a["Name"]: a for a in kernel["Arguments"]}
        self.assertEqual([arguments[name]["Size"][:6] for name in ("data", "bins", "weights")], ["size_n", "TODO n", "TODO n"])
        self.assertRegex(arguments["flags"]["FillValue"], "^TODO its value")
        self.assertRegex(arguments["data"]["FillValue"], "^TODO the largest element, .* as an index")

    def test_an_index_is_limited_by_the_nearest_comparison(self):
        self.write("bins.cl", """#define BINS 256
#ifndef N_BINS
#define N_BINS 128
#endif
#define HALF (BINS / 2)
kernel void f(global const uchar *data, const int n, global int *hist, global int *loops, global int *checked, global int *some) {
  local int mine[BINS];
  int lid = get_local_id(0), gid = get_global_id(0);
  for (int i = lid; i < BINS; i += get_local_size(0)) mine[i] = 0;
  for (int i = gid; i < n; i += get_global_size(0)) hist[data[i] % BINS]++;
  for (int i = lid; i < BINS; i += get_local_size(0)) atomic_add(&loops[i], mine[i]);
  if (data[gid] < N_BINS) checked[data[gid]]++;
  for (int i = 0; i < n; i++) some[lid] += data[i];
  for (int i = 0; i < HALF; i++) some[i]++;
}
""")
        self.init("bins.cl")
        arguments = {a["Name"]: a for a in self.problem("bins.json")["KernelSpecification"]["Arguments"]}
        self.assertEqual([arguments[name]["Size"][:7] for name in ("hist", "loops", "checked", "some")], ["256", "256", "N_BINS", "TODO nu"])
        self.assertEqual(arguments["loops"]["FillValue"], 100)  # no index: only its own is one
        self.assertRegex(arguments["data"]["FillValue"], "^TODO the largest element")

    def test_elements_that_are_an_index_are_asked_for(self):
        self.write("csr.cl", """kernel void csr(global const int *start, global const int *column, global const int *value,
                  global const int *x, global const int *count, global int *y, const int n) {
  const int row = get_global_id(0);
  if (row >= n) return;
  int sum = count[row];
  for (int k = start[row]; k < start[row + 1]; k++) {
    const int c = column[k];
    if (c == x[c]) sum += value[k] * x[c];
  }
  y[row] = sum;
}
""")
        self.init("csr.cl")
        arguments = {a["Name"]: a for a in self.problem("csr.json")["KernelSpecification"]["Arguments"]}
        asked = [n for n, a in arguments.items() if str(a["FillValue"]).startswith("TODO the largest element")]
        self.assertEqual(asked, ["start", "column"])
        self.assertEqual([n for n, a in arguments.items() if a.get("HostileData") is False], asked)

    def test_an_argument_may_be_called_like_a_builtin_function(self):
        self.write("k.cl", "kernel void k(global float *x, const int length) { if (get_global_id(0) < length) x[get_global_id(0)] = 1; }\n")
        self.init("k.cl")
        problem = self.problem("k.json")
        self.assertEqual([p["Name"] for p in problem["ProblemParameters"]], ["size_length"])
        self.assertEqual(problem["KernelSpecification"]["Arguments"][1]["Name"], "length")

    def test_an_offset_is_an_index(self):
        self.write("k.cl", """float at(global const float *x, int i) { return x[i]; }
kernel void k(global const int *passed, global const int *added, global const uchar *label, global const int *weight,
              global const int *product, global const float *x, global int *hist, global float *y, const int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  y[i] = at(x, passed[i]) + *(x + added[i]) + 2 * (product[i] + 1);
  atomic_add(hist + label[i], weight[i]);
}
""")
        self.init("k.cl")
        arguments = self.problem("k.json")["KernelSpecification"]["Arguments"]
        asked = [a["Name"] for a in arguments if str(a["FillValue"]).startswith("TODO the largest element")]
        self.assertEqual(asked, ["passed", "added", "label"])

    def test_an_element_of_each_group(self):
        self.write("sums.cl", """#ifndef WG
#define WG 64
#endif
kernel void sums(global const float *x, global float *sums, global float *last, const int n) {
  local float part[WG];
  const int i = get_global_id(0), group = get_group_id(0);
  part[get_local_id(0)] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) {
    for (int k = 1; k < WG; k++) part[0] += part[k];
    sums[get_group_id(0)] = part[0];
    last[group] = part[WG - 1];
  }
}
""")
        self.init("sums.cl")
        problem = self.problem("sums.json")
        sizes = {a["Name"]: a.get("Size") for a in problem["KernelSpecification"]["Arguments"]}
        self.assertEqual((sizes["sums"], sizes["last"]), ("(size_n + min(WG) - 1) // min(WG)",) * 2)
        self.assertRegex(problem["Reference"], "^TODO .*Verify.*each work-group writes a result of its own")
        self.write("read.cl", "kernel void k(global const int *first, global int *x) { x[get_global_id(0)] = first[get_group_id(0)]; }\n")
        self.init("read.cl")
        self.assertNotIn("work-group writes", self.problem("read.json")["Reference"])
        # All fit: each configuration runs, but the first one's results are those of its own groups.
        del problem["Reference"]
        self.write("sums.json", json.dumps(problem))
        self.shrink("sums.json")
        reasons = {c["reason"] for c in self.clatune_json("verify", "sums.json", "--sample", "7", "--device", "pocl", expect=5)["configurations"]}
        self.assertEqual(reasons, {"none", "wrong-output"})

    def test_remainders_of_unsigned_elements_are_within_their_bound(self):
        self.write("bins.cl", """#define BINS 256
kernel void bins(global const uint *direct, global const uchar *assigned, global const int *negative, global const uint *shifted,
                 global const uint *added, global uint *hist, const uint n) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  atomic_inc(&hist[direct[i] % BINS]);
  const uint bin = assigned[i] % BINS;
  atomic_inc(&hist[bin]);
  atomic_inc(&hist[negative[i] % BINS]);
  atomic_inc(&hist[shifted[i] % BINS + 1]);
  uint sum = 1;
  sum += added[i] % BINS;
  atomic_inc(&hist[sum]);
}
""")
        self.init("bins.cl")
        arguments = self.problem("bins.json")["KernelSpecification"]["Arguments"]
        asked = [a["Name"] for a in arguments if str(a["FillValue"]).startswith("TODO the largest element")]
        self.assertEqual(asked, ["negative", "shifted", "added"])

    def test_a_macro_of_several_words_cannot_be_a_build_option(self):
        self.write("my.cl", SCALE)
        said = self.clatune("init", "my.cl", "--define", "T=unsigned int", expect=2).stderr
        self.assertIn("'#ifndef T', '#define T unsigned int' and '#endif'", said)
        self.write("words.cl", "#ifndef T\n#define T unsigned int\n#endif\nkernel void f(global T *a, const int n) {\n"
                   "  if (get_global_id(0) < n) a[get_global_id(0)] = 1;\n}\n")
        self.init("words.cl")  # as the message advises
        self.write("words.json", json.dumps({k: v for k, v in self.problem("words.json").items() if k != "Reference"}))
        self.runs("words.json")

    def test_what_a_person_must_know_is_marked(self):
        self.write("t.cl", GROUPS)
        self.assertIn("TODO", self.init("t.cl", "--kernel", "transpose").stdout)
        problem = self.problem("t.json")
        self.assertEqual([p["Name"] for p in problem["ConfigurationSpace"]["TuningParameters"]], ["TILE_X"])
        self.assertEqual(problem["KernelSpecification"]["LocalSize"], {"X": "TILE_X", "Y": "4"})
        said = self.clatune("verify", "t.json", "--device", "pocl", expect=1).stderr
        self.assertRegex(said, r"t\.json:\d+: KernelSpecification\.GlobalSize\.X: fill in this value \(also line [\d, ]+\): TODO work-items")
        self.assertEqual([p["Default"] for p in problem["ProblemParameters"]], [1024, 768])
        self.assertTrue(problem["Reference"].startswith("TODO "))
        self.write("t.json", json.dumps({k: v for k, v in problem.items() if k != "Reference"}))
        rounded = " if each computes N results; rounded up to whole work-groups"
        for old, new in ((f"TODO work-items along X, such as size_width or (size_width + N - 1) // N{rounded}", "size_width"),
                         (f"TODO work-items along Y, such as size_height or (size_height + N - 1) // N{rounded}", "size_height"),
                         ("TODO number of elements, an expression over the tuning parameters", "TILE_X * 4")):
            self.edit("t.json", old, new)
        text = (self.folder / "t.json").read_text()
        self.write("t.json", text.replace('"TODO number of elements, such as [size_width, size_height]"', '["size_width", "size_height"]'))
        self.runs("t.json")

    def test_arguments_in_another_order_are_noted(self):
        self.write("my.cl", SCALE.replace("global const float *in, global float *out", "global float *out, global const float *in"))
        self.init("my.cl")
        problem = self.problem("my.json")
        problem["Reference"] = {"KernelFile": "ref.cl", "KernelName": "scale", "GlobalSize": ["size_n"]}
        arguments = problem["KernelSpecification"]["Arguments"]
        arguments[0], arguments[1] = arguments[1], arguments[0]  # in, out
        self.write("ref.cl", SCALE)
        self.write("my.json", json.dumps(problem))
        said = self.verify("my.json", expect=5).stderr
        self.assertIn("argument 1 of the kernel 'scale' is 'out', but the problem file passes 'in' there", said)

    def test_macros_that_cannot_be_tuned_are_noted(self):
        self.write("t.cl", GROUPS + "#define EMPTY\n#define AREA(x) 4\n#if !defined(N)\n#define N 3\n#endif\n")
        said = self.init("t.cl", "--kernel", "transpose").stderr
        self.assertEqual(said, "clatune: note: t.cl:1: to tune TILE, put '#ifndef TILE' before '#define TILE 16' and "
                               "'#endif' after it\n")
        self.assertEqual(self.init("t.cl", "--kernel", "transpose", "--quiet", "--dry-run").stderr, "")

    def test_strides_follow_from_the_indices(self):
        self.write("g.cl", """kernel void g(const int M, const int N, const int K, global const float *A, const int lda, const long strideA,
 global const float *B, const int ldb, global float *C, const int ldc, const long strideC, const int batch) {
  const int row = get_global_id(0), col = get_global_id(1), b = get_global_id(2);
  if (row >= M || col >= N || b >= batch) return;
  float s = 0;
  for (int k = 0; k < K; k++) s += A[b * strideA + row * lda + k] * B[k * ldb + col];
  const int i = b * strideC + (row * ldc) + col;
  C[i] = s;
}
""")
        self.init("g.cl")
        problem = self.problem("g.json")
        self.assertEqual([p["Name"] for p in problem["ProblemParameters"]], ["size_M", "size_N", "size_K", "size_batch"])
        arguments = {a["Name"]: a for a in problem["KernelSpecification"]["Arguments"]}
        self.assertEqual({name: arguments[name]["FillValue"] for name in ("lda", "strideA", "ldb", "ldc", "strideC")},
                         {"lda": "size_K", "strideA": "size_K * size_M", "ldb": "size_N", "ldc": "size_N", "strideC": "size_N * size_M"})
        self.assertEqual([arguments[name]["Size"] for name in "ABC"],
                         [["size_K", "size_M", "size_batch"], ["size_N", "size_K"], ["size_N", "size_M", "size_batch"]])

    def test_a_border_is_part_of_the_extent(self):
        self.write("c.cl", """kernel void c(global const float *in, global const float *w, global float *out, const int in_width, const int in_height,
 const int width, const int height, const int n) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  float s = 0;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < 3; i++) s += in[(y + j) * in_width + x + i] * w[j * 3 + i];
  out[y * width + x] = s / in_height;
}
""")
        self.init("c.cl")
        problem = self.problem("c.json")
        arguments = {a["Name"]: a for a in problem["KernelSpecification"]["Arguments"]}
        self.assertEqual(arguments["in_width"]["FillValue"], "size_width + 3 - 1")
        self.assertEqual([arguments[name]["Size"] for name in ("in", "w", "out")],
                         [["size_width + 3 - 1", "size_height + size_n - 1"], ["3", "size_n"], ["size_width", "size_height"]])
        del problem["Reference"]
        self.write("c.json", json.dumps(problem))
        self.runs("c.json")

    def test_kernels_that_pass_data_are_launched_in_turn(self):
        self.write("two.cl", """kernel void naive(global const float *in, global float *out, const int n) {
  const int i = get_global_id(0);
  if (i < n) out[i] = 4 * in[i];
}
kernel void first(global const float *in, global float *half_done, const int n) {
  const int i = get_global_id(0);
  if (i < n) half_done[i] = 2 * in[i];
}
kernel void second(global const float *half_done, global float *out, const int n) {
  const int i = get_global_id(0);
  if (i < n) out[i] = 2 * half_done[i];
}
""")
        self.init("two.cl")
        problem = self.problem("two.json")
        kernel = problem["KernelSpecification"]
        self.assertEqual([(launch["KernelName"], launch["Arguments"]) for launch in kernel["Launches"]],
                         [("first", ["in", "half_done", "n"]), ("second", ["half_done", "out", "n"])])
        passed, = (a for a in kernel["Arguments"] if a["Name"] == "half_done")
        self.assertEqual((passed["AccessType"], passed["Output"]), ("ReadWrite", 0))
        self.assertEqual(problem["Reference"]["Arguments"], ["in", "out", "n"])
        self.assertIn("verified        yes; largest", self.verify("two.json").stdout)
        self.init("two.cl", "--kernel", "second", "--force")
        self.assertNotIn("Launches", self.problem("two.json")["KernelSpecification"])
        self.init("two.cl", "--kernel", "second", "--kernel", "first", "--force")
        self.assertEqual([launch["KernelName"] for launch in self.problem("two.json")["KernelSpecification"]["Launches"]], ["second", "first"])

    def test_a_naive_kernel_of_the_file_is_the_reference(self):
        arguments = "(global const float *in, global float *out, const int n) { "
        self.write("two.cl", f"kernel void twice_ref{arguments}out[get_global_id(0)] = 2 * in[get_global_id(0)]; }}\n"
                   f"kernel void naive(global float *out) {{ out[0] = 1; }}\n"
                   f"kernel void twice{arguments}int i = get_global_id(0); out[i] = in[i] + in[i]; }}\n")
        self.init("two.cl", "--kernel", "twice")
        self.assertEqual(self.problem("two.json")["Reference"],
                         {"KernelFile": "two.cl", "KernelName": "twice_ref", "GlobalSize": ["size_n"]})
        self.assertIn("verified        yes; largest", self.verify("two.json").stdout)
        self.edit("two.cl", "2 * in", "3 * in")
        self.verify("two.json", expect=5)

    def test_the_compilers_first_line_stands_under_the_warning(self):
        self.write("my.cl", SCALE)
        self.init("my.cl")
        problem = self.problem("my.json")
        del problem["Reference"]
        problem["Reference"] = {"KernelFile": "ref.cl", "KernelName": "scale", "GlobalSize": ["size_n"]}
        self.write("my.json", json.dumps(problem))
        self.write("ref.cl", SCALE)
        self.edit("my.cl", "int i =", "\n#if PER_ITEM == 1\n  int broken = missing;\n#endif\n  int i =")
        said = self.clatune("tune", "my.json", "--device", "pocl", "--budget", "4", "--no-store", "--finalists", "0").stderr
        self.assertRegex(said, r"the default configuration fails: [^\n]*\n  [^\n]*error[^\n]*'missing'")

    def test_images_and_samplers(self):
        self.write("t.cl", GROUPS)
        self.init("t.cl", "--kernel", "other", "-o", "sub.json")
        arguments = self.problem("sub.json")["KernelSpecification"]["Arguments"]
        self.assertEqual([a["MemoryType"] for a in arguments], ["Image2D", "Sampler", "Vector", "Image2D"])
        self.assertEqual(arguments[2]["MemType"], "Constant")
        self.assertEqual([arguments[0]["AccessType"], arguments[3]["AccessType"]], ["ReadOnly", "WriteOnly"])

    def test_mistakes(self):
        self.write("t.cl", GROUPS)
        self.assertIn("'transpose' 'other'", self.init("t.cl", expect=2).stderr)
        self.assertIn("choose one of: 'transpose'", self.init("t.cl", "--kernel", "none", expect=2).stderr)
        self.write("bad.cl", "kernel void bad(global float *x) { N = x[0]; }\n")
        self.assertIn("bad.cl:1", self.init("bad.cl", expect=1).stderr)
        self.assertFalse((self.folder / "bad.json").exists())
        for name in ("program.c", "program.cl"):  # a program of the host
            self.write(name, "#include <stdio.h>\nint main(void) { return 0; }\n")
            self.assertIn('for a program, start with the tutorial "Your first program"', self.init(name, expect=1).stderr)
        said = self.init("bad.cl", "--define", "n=1,2", expect=2).stderr
        self.assertIn("--define n=1,2: the kernel's file does not use 'n'; did you mean 'N'?", said)
        self.init("bad.cl", "--define", "N=x[0]")
        self.assertEqual(self.problem("bad.json")["KernelSpecification"]["CompilerOptions"], ["-DN=x[0]"])
        self.assertIn("exists already", self.init("bad.cl", "--define", "N=x[0]", expect=1).stderr)
        self.assertIn("cannot open", self.init("none.cl", expect=1).stderr)
        self.write("empty.cl", "int x(void) { return 1; }\n")
        self.assertIn("no kernel", self.init("empty.cl", expect=1).stderr)


if not has_device("pocl"):
    sys.exit(77)
if __name__ == "__main__":
    main()
