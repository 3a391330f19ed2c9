"""The compiler's words on PoCL: they name the kernel's own file and line; a kernel name that the file lacks is answered."""
import json
import sys

from harness import CliTest, has_device, main

POCL = ("--device", "pocl")


class Messages(CliTest):
    def test_a_build_error_names_file_and_line(self):
        self.edit("scale.cl", "get_global_id(0)", "get_global_id(0).nonsense")
        line = next(i for i, text in enumerate((self.folder / "scale.cl").read_text().splitlines(), 1) if "nonsense" in text)
        self.assertIn(f"scale.cl:{line}:", self.clatune("verify", "scale.json", *POCL, expect=5).stdout)
        defines = [word for name in ("block", "per_item", "fault", "n") for word in ("--define", f"{name}=1")]
        self.assertIn(f"scale.cl:{line}:", self.clatune("init", "scale.cl", *POCL, *defines, expect=1).stderr)

    def test_so_does_one_in_an_included_file(self):
        (self.folder / "part.h").write_text("\nint part(void) { return nonsense; }\n")
        text = (self.folder / "scale.cl").read_text()
        (self.folder / "scale.cl").write_text('#include "part.h"\n' + text)
        self.assertIn("part.h:2:", self.clatune("verify", "scale.json", *POCL, expect=5).stdout)

    def test_a_file_whose_name_cannot_be_quoted(self):
        (self.folder / 'a"b.cl').write_text((self.folder / "scale.cl").read_text())
        self.edit("scale.json", '"KernelFile": "scale.cl"', '"KernelFile": "a\\"b.cl"')
        self.clatune("measure", "scale.json", *POCL, "--rounds", "1")

    def test_a_size_called_like_an_argument_is_named(self):
        self.edit("scale.cl", "kernel void scale(", "kernel void scale(const int n,")
        self.edit("scale.cl", "kernel void scale(const int n,", "void unused(const int n) {}\nkernel void scale(")
        log = self.clatune_json("verify", "scale.json", *POCL, expect=5)["log"]
        self.assertRegex(log, r"scale.cl:\d+ declares 'n', and the macro of the problem parameter 'n' replaces it there; add \"Macro\": false")

    def test_a_product_is_no_declaration(self):
        self.edit("scale.cl", "__kernel void scale(", "int first(int lid) { int a = lid * block; return a nonsense; }\n__kernel void scale(")
        log = self.clatune_json("verify", "scale.json", *POCL, expect=5)["log"]
        self.assertIn("expected ';' after return", log)
        self.assertNotIn("declares", log)

    def test_a_value_of_several_words_is_one_option(self):
        parameter = '{"Name": "T", "Type": "string", "Values": ["float", "unsigned int"], "Default": "unsigned int"}, '
        self.edit("scale.json", '{"Name": "fault",', parameter + '{"Name": "fault",')
        self.edit("scale.cl", "kernel void scale(", "constant T typed = 1;\nkernel void scale(")
        self.clatune("measure", "scale.json", *POCL, "--rounds", "1")

    def test_a_feature_that_the_device_lacks_is_named(self):
        devices = self.clatune_json("devices")["devices"]
        extensions = next(one["extensions"] for one in devices if "Portable" in one["platform_name"])
        if "cl_khr_fp16" in extensions.split():
            self.skipTest("the device has cl_khr_fp16")
        (self.folder / "half.cl").write_text("kernel void k(global half *x) { half y = x[0] * x[1]; x[2] = y; }\n")
        self.assertIn("needs cl_khr_fp16, which this device does not have", self.clatune("init", "half.cl", *POCL, expect=1).stderr)

    def test_sub_groups_are_named_unless_the_code_does_without(self):
        if "cl_khr_subgroups" in str(self.clatune_json("devices")):
            self.skipTest("a device has sub-groups")
        (self.folder / "k.cl").write_text("kernel void k(global float *x) { x[0] = sub_group_reduce_add(x[1]); }\n")
        needs = "needs cl_khr_subgroups, which this device does not have"
        self.assertIn(needs, self.clatune("init", "k.cl", *POCL, expect=1).stderr)
        (self.folder / "k.cl").write_text("#ifdef cl_khr_subgroups\nint f(void) { return get_sub_group_size(); }\n#endif\n"
                                          "kernel void k(global float *x) { x[0] = x[1] }\n")
        self.assertNotIn(needs, self.clatune("init", "k.cl", *POCL, expect=1).stderr)

    def test_elements_that_nothing_writes_or_reads(self):
        (self.folder / "k.cl").write_text("kernel void k(global const T *x, global T *y) {\n  const int i = get_global_id(0);\n"
                                          "  if (i > 0 && i < 1022) y[i] = x[i] + WG - WG;\n}\n")
        for element in ("float", "int"):
            vector = {"Type": element, "MemoryType": "Vector", "Size": 1024}
            y = {"Name": "y", "AccessType": "WriteOnly", **vector}
            kernel = {"KernelFile": "k.cl", "KernelName": "k", "GlobalSize": 1024, "CompilerOptions": [f"-DT={element}"]}
            problem = {"ConfigurationSpace": {"TuningParameters": [{"Name": "WG", "Values": [32, 64]}], "Conditions": []},
                       "KernelSpecification": {**kernel, "LocalSize": "WG", "Arguments": [
                           {"Name": "x", "AccessType": "ReadOnly", "FillType": "Random", **vector}, y]}, "Reference": kernel}
            (self.folder / "k.json").write_text(json.dumps(problem))
            log = self.clatune_json("verify", "k.json", *POCL, expect=5)["log"]
            self.assertIn('elements that were never written: 3; write them, or, if no configuration needs to, give the argument a "FillType"', log)
        y.update(FillType="Constant", FillValue=7)
        (self.folder / "k.json").write_text(json.dumps(problem))
        said = self.clatune("verify", "k.json", *POCL).stdout
        self.assertRegex(said, "'x': the comparison notices any change of one element\n")  # of the middle element: the kernel does not read the last one
        self.assertRegex(said, "'y': the comparison notices any change of one element\n")  # the last one is kept, the middle one is overwritten

    def test_the_middle_of_rows_is_no_edge(self):
        (self.folder / "k.cl").write_text("kernel void k(global const float *x, global float *y) {\n  const int c = get_global_id(0), i = c + 32 * get_global_id(1);\n"
                                          "  if (c > 0 && c < 31 && i >= 32 && i < 992) y[i] = x[i] + WG - WG;\n}\n")
        kernel = {"KernelFile": "k.cl", "KernelName": "k", "GlobalSize": [32, 32]}
        for size in (1024, [32, 32]):
            arguments = [{"Name": name, "AccessType": access, "FillType": "Random", "Type": "float", "MemoryType": "Vector", "Size": size}
                         for name, access in (("x", "ReadOnly"), ("y", "ReadWrite"))]
            (self.folder / "k.json").write_text(json.dumps({
                "ConfigurationSpace": {"TuningParameters": [{"Name": "WG", "Values": [8, 16]}]},
                "KernelSpecification": {**kernel, "LocalSize": ["WG", 4], "Arguments": arguments}, "Reference": kernel}))
            said = self.clatune("verify", "k.json", *POCL)
            self.assertRegex(said.stdout, "'x': the comparison notices a change")
            self.assertRegex(said.stderr, "clatune: checking the file's sizes in the opposite order\n")  # not silent in a pipe

    def test_init_gives_a_size_a_name_that_is_free(self):
        (self.folder / "k.cl").write_text("kernel void k(global float *x, const int n) { int size_n = n; if (get_global_id(0) < size_n) x[0] = 1; }\n")
        self.clatune("init", "k.cl", *POCL, "-o", "k.json")
        self.assertIs(json.loads((self.folder / "k.json").read_text())["ProblemParameters"][0]["Macro"], False)

    def test_who_chose_the_work_group_is_said_if_results_are_wrong(self):
        root = json.loads((self.folder / "scale.json").read_text())
        self.edit("scale.cl", "= 2 *", "= 3 *")
        for stated in (True, False):
            if not stated:
                del root["KernelSpecification"]["LocalSize"]
            (self.folder / "scale.json").write_text(json.dumps(root))
            log = self.clatune_json("verify", "scale.json", *POCL, expect=5)["log"]
            self.assertEqual("the driver chose the size of the work-groups" in log, not stated, log)

    def test_fields_of_a_structure_follow_the_sizes(self):
        (self.folder / "scale.h").write_text("typedef struct { char before; long n; float by[2]; } setting;\n")
        kernel = "kernel void {}(global const float *in, global float *out, const setting s) {{\n" \
                 "  const int i = get_global_id(0); if (i < s.n && s.before == 7) out[i] = s.by[1] * in[i]; }}\n"
        (self.folder / "s.cl").write_text('#include "scale.h"\n' + kernel.format("scale"))
        (self.folder / "naive.cl").write_text('#include "scale.h"\n' + kernel.format("naive").replace("&& s.before == 7", ""))
        vector = {"Type": "float", "MemoryType": "Vector", "Size": "n"}
        fields = {"before": 7, "n": "n", "by": [0, 2.5]}
        (self.folder / "s.json").write_text(json.dumps({
            "ProblemParameters": [{"Name": "n", "Default": 1000, "Macro": False}],
            "ConfigurationSpace": {"TuningParameters": [{"Name": "block", "Values": [8, 16]}]},
            "KernelSpecification": {
                "KernelFile": "s.cl", "KernelName": "scale", "GlobalSize": "n", "LocalSize": "block", "Arguments": [
                    {"Name": "in", "AccessType": "ReadOnly", "FillType": "Random", **vector}, {"Name": "out", "AccessType": "WriteOnly", **vector},
                    {"Name": "s", "MemoryType": "Scalar", "Fields": fields}]},
            "Reference": {"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": "n"}}))
        tune = ("tune", "s.json", *POCL, "--no-store", "--finalists", "0")
        for n in (1000, 40):
            self.assertEqual(self.clatune_json(*tune, "--size", f"n={n}")["evaluations"]["correct"], 2)
        self.edit("s.json", '"before": 7', '"before": 6')
        self.clatune(*tune, expect=4)

    def test_a_wrong_kernel_name(self):
        self.edit("scale.json", '"KernelName": "scale"', '"KernelName": "scael"')
        log = self.clatune_json("verify", "scale.json", *POCL, expect=5)["log"]
        self.assertIn("there is no kernel 'scael'; the file has 'scale'; did you mean 'scale'?", log)
        self.edit("scale.json", '"KernelName": "scael"', '"KernelName": "something_else"')
        log = self.clatune_json("verify", "scale.json", *POCL, expect=5)["log"]
        self.assertIn("there is no kernel 'something_else'; the file has 'scale'", log)
        self.assertNotIn("did you mean", log)

    def test_a_wrong_kernel_name_ends_a_tuning_before_anything_runs(self):
        self.edit("scale.json", '"KernelName": "scale"', '"KernelName": "scael"')
        line = next(i for i, text in enumerate((self.folder / "scale.json").read_text().splitlines(), 1) if "scael" in text)
        run = self.clatune("tune", "scale.json", *POCL, "--store", "s.sqlite", expect=1)
        self.assertIn(f"scale.json:{line}: KernelSpecification.KernelName: there is no kernel 'scael'; the file has 'scale'; did you "
                      "mean 'scale'?", run.stderr)
        self.assertNotIn("evaluations", run.stdout)

    def test_arguments_that_do_not_fit_the_kernel_end_a_tuning_before_anything_runs(self):
        self.edit("scale.json", '{"Name": "in", "Type": "float"', '{"Name": "in", "Type": "int"')
        wrong = ("scale.json:20: KernelSpecification.Arguments[0]: argument 1 of the kernel 'scale' is 'global float* in', but it is "
                 "given 'in', a vector of int")
        run = self.clatune("tune", "scale.json", *POCL, "--store", "s.sqlite", expect=1)
        self.assertIn(wrong, run.stderr)
        self.assertNotIn("evaluations", run.stdout)
        verdict = self.clatune_json("verify", "scale.json", *POCL, expect=5)
        self.assertEqual(verdict["reason"], "arguments")
        self.assertIn(wrong, verdict["log"])

    def test_elements_of_another_size_are_allowed_and_named_where_the_result_is_wrong(self):
        self.edit("scale.cl", "__global const float *in,", "__global const float2 *in,")
        self.edit("scale.cl", "2 * in[i]", "2 * in[i / 2].x")
        said = self.clatune("verify", "scale.json", *POCL, expect=5).stderr
        self.assertIn("argument 1 of the kernel 'scale' is 'float2* in', but 'in' has the Type float in the problem file: its Size "
                      "counts elements of 4 bytes, the kernel's float2 has 8 bytes", said)
        self.edit("scale.cl", "in[i / 2].x", "(i % 2 ? in[i / 2].y : in[i / 2].x)")
        self.assertNotIn("argument", self.clatune("verify", "scale.json", *POCL).stderr)

    def test_so_does_one_of_the_reference_kernel(self):
        (self.folder / "naive.cl").write_text("kernel void naive(global const int *in, global float *out) {}\n")
        self.edit("scale.json", '"Reference": {"Module": "scale.c", "Function": "scale",',
                  '"Reference": {"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": "n"}, "// ": {')
        said = self.clatune("tune", "scale.json", *POCL, "--no-store", expect=1).stderr
        self.assertIn("cannot compute the reference (the kernel takes other arguments than it is given): ", said)
        self.assertIn("argument 1 of the kernel 'naive' is 'global int* in', but it is given 'in', a vector of float", said)

    def test_a_parameter_that_changes_nothing_and_what_leaves_nothing_are_said(self):
        self.edit("scale.json", '{"Name": "fault",', '{"Name": "USE_CONST", "Values": [0, 1]}, {"Name": "fault",')
        said = self.clatune("verify", "scale.json", *POCL).stderr
        self.assertIn("the tuning parameter 'USE_CONST' has no effect: neither 'scale.cl' nor", said)
        self.assertNotIn("'block'", said)
        self.edit("scale.json", '"block * per_item <= 128"', '"block * per_item > 9999"')
        why = "none of the 48 configurations satisfies the constraints: 'block * per_item > 9999'"
        self.assertIn(why, self.clatune("tune", "scale.json", *POCL, "--no-store", expect=4).stderr)
        self.assertIn(why, self.clatune("space", "scale.json").stdout)

    def test_a_dry_run_of_init_writes_nothing(self):
        (self.folder / "my.cl").write_text("kernel void my(global float *x) { x[get_global_id(0)] = 1; }\n")
        self.assertIn('"KernelName": "my"', self.clatune("init", "my.cl", "--dry-run", *POCL).stdout)
        self.assertFalse((self.folder / "my.json").exists())


if not has_device("pocl"):
    sys.exit(77)
if __name__ == "__main__":
    main()
