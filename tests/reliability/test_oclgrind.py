"""clatune verify --oclgrind: finds defects that no guard band sees, and none in the shipped problems. 77 without Oclgrind."""
import json
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import CliTest, has_device, main  # noqa: E402

ROOT = pathlib.Path(__file__).parent.parent.parent
CORPUS = ROOT / "tests" / "instruments" / "bad_kernels" / "defects.json"
EACH = "CLATUNE_FIGURES" in os.environ  # in the suite long
SMALL = {
    "convolution": (["width=20", "height=12", "filter_radius=1"],
                    ["", "use_local=1 pad=1 interleave=1", "pad=1 unroll=1 ppt_x=4 ppt_y=2"]),
    "raycasting": (["width=12", "height=10", "volume_size=8"],
                   ["", "local_tf=1 constant_tf=1 unroll=4", "interleave=1 ppt_x=2 ppt_y=2"]),
    "stereo": (["width=20", "height=10", "disparities=4", "window_radius=1"],
               ["", "ppt_x=4 local_left=1 local_right=1", "unroll_disparity=4 unroll_dx=2 unroll_dy=2"]),
    # Without the image: reads from any image count as never written.
    "filterbank": (["height=11", "width=14", "depth=9", "n_filters=6", "filter_height=3", "filter_width=4"],
                   ["use_tex1d=0", "use_tex1d=0 block_w=4 n_filter_rows=2 n_output_4s=1 spill=1",
                    "use_tex1d=0 block_h=4 block_w=16 n_filter_rows=all pad_shared=0 imul_fast=0 fast_math=1"]),
}


class Oclgrind(CliTest):
    def verify(self, problem, configuration, sizes, expect):
        return self.clatune_json("verify", str(problem), "--oclgrind", "--configuration", configuration, "--quiet",
                                 *(a for s in sizes for a in ("--size", s)), expect=expect)

    def defaults(self, name, changes):
        problem = json.loads((ROOT / "kernels_cl" / f"{name}.json").read_text())
        values = {p["Name"]: p["Default"] for p in problem["ConfigurationSpace"]["TuningParameters"]}
        if "wg_x" in values:
            values.update(wg_x=4, wg_y=2)
        values.update(c.split("=") for c in changes.split())
        return " ".join(f"{k}={v}" for k, v in values.items())

    def test_shipped_problems_are_clean(self):
        for name, (sizes, changes) in SMALL.items():
            for change in changes if EACH else changes[-1:]:
                with self.subTest(problem=name, change=change):
                    answer = self.verify(ROOT / "kernels_cl" / f"{name}.json", self.defaults(name, change), sizes, 0)
                    self.assertEqual((answer["correct"], answer["oclgrind"]), (True, ""))

    def test_defects_are_found(self):
        for defect in ("one_after", "one_before"):
            with self.subTest(defect=defect):
                answer = self.verify(CORPUS, f"defect={defect} block=16", ["n=256"], 5)
                self.assertTrue(answer["oclgrind"] or not answer["correct"])
        text = self.clatune("verify", str(CORPUS), "--oclgrind", "--configuration", "defect=race block=16", "--size", "n=256", expect=5).stdout
        self.assertRegex(text, r"Oclgrind +256 findings, the first 5:\n")
        self.assertEqual(text.count("data race"), 5)
        self.assertRegex(text, r"At line 94 .*\n\t  tile\[l\] = in\[i\];")
        answer = self.verify(CORPUS, "defect=none block=16", ["n=256"], 0)
        self.assertEqual(answer["oclgrind"], "")

    def test_a_sample_is_told_apart(self):
        shutil.copytree(CORPUS.parent, self.folder / "bad")
        problem = json.loads(CORPUS.read_text())
        for parameter, values in zip(problem["ConfigurationSpace"]["TuningParameters"], (["none", "race"], [16, 32])):
            parameter["Values"] = values
        (self.folder / "bad" / "defects.json").write_text(json.dumps(problem))
        answer = self.clatune_json("verify", "bad/defects.json", "--oclgrind", "--sample", "4", "--size", "n=256", "--quiet",
                                   expect=5)
        self.assertEqual((answer["sample"], answer["correct"]), (4, 2))
        for one in answer["configurations"]:
            self.assertEqual(bool(one["oclgrind"]), one["configuration"]["defect"] == "race", one)

    def test_a_kernel_that_oclgrind_cannot_create(self):
        """It lacks LLVM's funnel shift, into which its compiler turns a rotation."""
        (self.folder / "turn.cl").write_text("kernel void turn(global uint *a) { uint x = a[0]; a[0] = (x << 3 | x >> 29) + N; }\n")
        problem = {"ConfigurationSpace": {"TuningParameters": [{"Name": "N", "Values": [0, 1]}]}, "KernelSpecification": {
            "KernelName": "turn", "KernelFile": "turn.cl", "GlobalSize": [1],
            "Arguments": [{"Name": "a", "Type": "uint", "MemoryType": "Vector", "Size": 1, "FillType": "Constant", "FillValue": 1}]}}
        (self.folder / "turn.json").write_text(json.dumps(problem))
        said = self.clatune("verify", "turn.json", "--oclgrind", expect=1).stderr
        self.assertIn("the driver cannot create the kernel 'turn', which it compiled", said)

    def test_a_winner_with_a_race_is_out(self):
        """The result of the race is correct on PoCL, where a work-group's items run one after the other, and does less. Without Oclgrind the
        opposite order of work-items shows it."""
        if not has_device("pocl"):
            self.skipTest("no PoCL")
        (self.folder / "race.cl").write_text("""
kernel void twice(global const float *in, global float *out) {
  volatile local int first;
  float result = 0;
  if (get_local_id(0) == 0) first = get_global_id(0);
  if (!race) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 100; k++) result = fma(result, 0.5f, in[(first + k) % n]);
  }
  out[get_global_id(0)] = 2 * in[first + get_local_id(0)] + 1e-30f * result;
}
""")
        (self.folder / "race.c").write_text("""#include <clatune/module.h>

int twice(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *out = clt_module_find(call, "out");
  if (in == NULL || out == NULL) return 1;
  for (size_t i = 0; i < in->extent[0]; i++) ((float *)out->data)[i] = 2 * ((const float *)in->data)[i];
  return 0;
}
""")
        argument = {"Type": "float", "MemoryType": "Vector", "Size": "n"}
        problem = {
            "General": {"BenchmarkName": "race"}, "ProblemParameters": [{"Name": "n", "Default": 1024, "Min": 64, "Max": 1024}],
            "ConfigurationSpace": {"TuningParameters": [{"Name": "race", "Values": [0, 1], "Default": 0}]},
            "KernelSpecification": {
                "KernelName": "twice", "KernelFile": "race.cl", "GlobalSize": ["n"], "LocalSize": [16], "Arguments": [
                    {"Name": "in", "AccessType": "ReadOnly", "FillType": "Random", **argument},
                    {"Name": "out", "AccessType": "WriteOnly", **argument}]},
            "Reference": {"Module": "race.c", "Function": "twice"}}
        (self.folder / "race.json").write_text(json.dumps(problem))
        run = ("tune", "race.json", "--device", "pocl", "--no-store", "--workers", "1", "--compile-timeout", "200")
        small = {"OCL_ICD_VENDORS": os.environ["CLATUNE_TEST_POCL"]}  # faster; with it set, auto checks no races
        choices = {"no": (0, "not checked"), "yes": (0, "passed"), **({"auto": (0, "passed")} if EACH else {})}
        for choice, expected in choices.items():
            ran = self.clatune(*run, "--json", "--oclgrind", choice, **(small if choice != "auto" else {}))
            answer = json.loads(ran.stdout)
            if choice == "auto" and "takes too long under Oclgrind; --oclgrind yes allows" in ran.stderr:
                continue  # on a busy machine
            self.assertEqual((answer["best"]["configuration"]["race"], answer["race_check"]), expected, ran.stderr)
        # A problem without another configuration is not rejected, unless that is asked for.
        self.edit("race.json", '"Values": [0, 1], "Default": 0', '"Values": [1]')
        drivers = self.folder / "oclgrind"  # so called, it does not keep auto from checking races
        drivers.mkdir()
        (drivers / "pocl.icd").write_text(pathlib.Path(small["OCL_ICD_VENDORS"]).read_text())
        found = pathlib.Path(shutil.which("oclgrind")).parent.parent
        (drivers / "oclgrind.icd").write_text(f"{next(found.glob('lib*/oclgrind/liboclgrind-rt-icd.so'))}\n")
        both = {"OCL_ICD_VENDORS": str(drivers)}
        self.assertIn(self.clatune_json(*run, **both)["race_check"], ("failed", "not checked"))  # the latter on a busy machine
        self.clatune(*run, "--oclgrind", "yes", expect=5, **small)
        self.edit("race.cl", "kernel void", "#if !defined(__pocl__) && !defined(POCL_DEVICE_ADDRESS_BITS)\n#warning nothing\nint before = nothing;\n#endif\nkernel void")
        said = self.clatune(*run, "--oclgrind", "yes", expect=3, **small).stderr
        self.assertRegex(said, r"Oclgrind cannot run it \(does not compile\): .*:4:\d+: error: .*\n\Z")
        self.assertRegex(self.clatune(*run, **both).stdout, r"\nraces +not checked: (Oclgrind cannot run it \(does|it takes too long)")


if shutil.which("oclgrind") is None:
    sys.exit(77)
main()
