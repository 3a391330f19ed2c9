"""The command line on PoCL: tuning, faults, verifying. Behaviour that does not depend on the driver is tested on the simulated one."""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

from harness import CLATUNE, CliTest, has_device, main

if not has_device("pocl"):
    sys.exit(77)

FAST = ("--device", "pocl")
# For a test of the search of a tuning: finalists cost more than the search itself, and so does a second worker, which has
# to load the compiler, too.
NO_FINALISTS = (*FAST, "--finalists", "0", "--workers", "1")


class Probe(CliTest):
    def test_all_figures(self):
        device, = self.clatune_json("devices", "--probe", *FAST, "--store", "store.sqlite", "--quiet")["devices"]
        self.assertEqual(device["failed"], {})
        for name in ("stream_GB_s", "gather_G_s", "local_GB_s", "single_GFLOP_s", "double_GFLOP_s", "global_atomic_G_s",
                     "local_atomic_G_s", "barrier_M_s", "launch_us", "flops_per_byte"):
            self.assertGreater(device["features"][name], 0, name)


class Generators(CliTest):
    """The examples of the page about generated kernels: a template, and a program in C."""

    def tune(self, name):
        shutil.copytree(EXAMPLES / "generators" / name, self.folder, dirs_exist_ok=True)
        if name == "filter":
            subprocess.run(["cc", "-o", "generate", "generate.c"], cwd=self.folder, check=True)
        answer = self.clatune_json("tune", f"{name}.json", *NO_FINALISTS, "--budget", "4", "--searcher", "random", "--seed", "2", "--store", "s.sqlite")
        return answer, self.clatune("lookup", f"{name}.json", *FAST, "--store", "s.sqlite", "--format", "source").stdout

    @unittest.skipUnless(subprocess.run(["python3", "-c", "import jinja2"], capture_output=True).returncode == 0, "needs Jinja2")
    def test_template(self):
        answer, source = self.tune("gemm")
        best = answer["best"]["configuration"]
        self.assertIn(f"each work-item computes {best['rows']} x {best['width']} elements", source)
        self.assertEqual(answer["evaluations"]["correct"] + answer["reasons"].get("not-generated", 0), 4)
        refused = self.clatune_json("verify", "gemm.json", *FAST, "--configuration", "wg_x=4 wg_y=1 width=16 rows=8 unroll=1", "--quiet", expect=5)
        self.assertEqual((refused["reason"], refused["log"]), ("not-generated", "more than 32 sums per work-item"))

    def test_program(self):
        answer, source = self.tune("filter")
        self.assertEqual(answer["evaluations"]["correct"], 4)
        self.assertEqual(source.count("out[i + "), answer["best"]["configuration"]["per_item"])


class Tune(CliTest):
    def test_summary_and_reuse(self):
        run = self.clatune("tune", "scale.json", *FAST, "--budget", "6", "--finalists", "2", "--workers", "1")
        text = run.stdout
        self.assertRegex(run.stderr, r"\nclatune: finalists  6/6 .*\n(.*\n)*clatune: checks  6/6 ")
        for part in ("best configuration", "-Dblock=", "speed-up", "evaluations         6", "stored in"):
            self.assertIn(part, text)
        again = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--budget", "6")
        self.assertEqual(again["evaluations"]["measured"], 0)
        self.assertEqual(again["evaluations"]["reused"], 6)

    def test_what_is_told_of_a_device_is_found(self):
        """`serve` with a problem file on a device: a measurement like those of `tune`."""
        requests = [{"space": {"problem": "scale.json", "device": "pocl"}},
                    *({"tell": {"configuration": {"block": block, "per_item": 2, "fault": 0}, "time_s": 1 / block}} for block in (16, 32))]
        told = subprocess.run([CLATUNE, "serve", "--stdio", "--store", "told.sqlite"], cwd=self.folder, env=self.environment, text=True,
                              input="\n".join(map(json.dumps, requests)), capture_output=True, timeout=120)
        self.assertNotIn("error", told.stdout)
        found = self.clatune_json("lookup", "scale.json", *FAST, "--store", "told.sqlite")
        self.assertEqual((found["tier"], found["configuration"]["block"], found["expected_time_s"]), ("exact", 32, 1 / 32))
        again = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--store", "told.sqlite", "--searcher", "exhaustive", "--dry-run")
        self.assertEqual(again["known"], 2)

    def test_the_figure_of_quality_is_said(self):
        for more in ("--workers", "1"), ("--evaluator", "in-process"):
            answer = self.clatune_json("tune", "scale.json", *FAST, "--finalists", "0", "--budget", "2", "--no-store", "--searcher", "random", *more)
            self.assertEqual(answer["quality"], {"name": "error of the sum", "unit": "units", "value": 0.125})
        text = self.clatune("tune", "scale.json", *NO_FINALISTS, "--budget", "1", "--no-store").stdout
        self.assertIn("\nerror of the sum    0.125 units\n", text)
        answer = self.clatune_json("tune", "faults.json", *NO_FINALISTS, "--budget", "1", "--no-store")
        self.assertIsNone(answer["quality"])

    def test_a_reference_that_says_little_is_warned_of_once(self):
        self.edit("scale.c", "out->data)[i] = 2 *", "out->data)[i] = i % 8 == 0 ? 0.0f / 0 : 1e-9f *")
        self.edit("scale.cl", "out[i] = 2 *", "out[i] = i % 8 == 0 ? NAN : 1e-9f *")
        for arguments in (("tune", "--budget", "2", "--no-store", "--finalists", "2", "--workers", "1"), ("verify",),
                          ("tune", "--budget", "1", "--no-store", "--evaluator", "in-process", "--finalists", "0")):
            text = self.clatune(arguments[0], "scale.json", *FAST, *arguments[1:]).stderr
            self.assertEqual(text.count("512 of 4096 numbers of argument 'out' are never written by the reference, or are NaN"), 1, text)
            self.assertNotIn("0 would pass", text)
        self.edit("scale.json", '"WriteOnly", "Size": "n"', '"WriteOnly", "Size": "n", "AbsoluteTolerance": 1e-6')
        text = self.clatune("verify", "scale.json", *FAST).stderr
        self.assertEqual(text.count("0 would pass for 3584 of the 3584 numbers"), 1, text)

    def test_what_a_kernel_prints_is_shown(self):
        self.edit("scale.cl", "  for (int i", '  if (first == 7) printf("at %d\\n", first);\n  for (int i')
        self.assertIn("\nprinted\nat 7\n", self.clatune("verify", "scale.json", *FAST).stdout)
        self.assertIn("at 7\n", self.clatune_json("verify", "scale.json", *FAST)["log"])

    def test_zeros_are_wrong_where_results_are_small(self):
        self.edit("scale.c", "out->data)[i] = 2 *", "out->data)[i] = 1e-9f *")
        self.edit("scale.cl", "out[i] = 2 *", "out[i] = per_item > 1 ? 0 : 1e-9f *")
        self.assertTrue(self.clatune_json("verify", "scale.json", *FAST)["correct"])
        answer = self.clatune_json("verify", "scale.json", *FAST, "--configuration", "per_item=2", expect=5)
        self.assertEqual(answer["reason"], "wrong-output")

    def test_no_valid_configuration(self):
        self.edit("faults.json", '"[0, 1, 2, 3, 4, 5, 6]"', '"[5, 6]"')
        answer = self.clatune_json("tune", "faults.json", *NO_FINALISTS, "--searcher", "exhaustive", expect=4)
        self.assertIsNone(answer["best"])
        self.assertEqual(answer["reasons"], {"compile-error": 2, "wrong-output": 2})

    def test_a_store_that_cannot_be_used(self):
        (self.folder / "notes.txt").write_text("not a database, but somebody's notes\n" * 50)
        run = self.clatune("tune", "scale.json", *FAST, "--store", "notes.txt", expect=6)
        self.assertIn("notes.txt", run.stderr)
        self.assertIn("somebody's notes", (self.folder / "notes.txt").read_text())


class Faults(CliTest):
    def test_sizes_that_cannot_be_evaluated_are_the_configurations_fault(self):
        self.edit("scale.json", "// per_item\"}", "// per_item + 0 // (block - 1)\"}")
        self.edit("scale.json", "range(6)", "range(2)")
        answer = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--searcher", "exhaustive")
        self.assertEqual(answer["evaluations"]["correct"], 4)
        self.assertEqual(answer["reasons"], {"launch": 4})


EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"


class Examples(CliTest):
    """The problems in examples/ give correct results for any draw, at their own size and at one that nothing divides."""

    def assertRight(self, path, *sizes):
        result = self.clatune_json("sample", str(path), "--device", "pocl", "--workers", "1", "--samples", "4", "--quiet", *sizes)
        self.assertEqual((result["evaluations"]["total"], result["evaluations"]["correct"]), (4, 4), path)

    def test_matmul(self):
        self.assertRight(EXAMPLES / "matmul" / "matmul.json", "--size", "n=61")

    def test_transpose(self):
        self.assertRight(EXAMPLES / "tutorial" / "transpose.json", "--size", "size_width=100", "--size", "size_height=33")

    def test_reduction(self):
        self.assertRight(EXAMPLES / "reduction" / "sum.json", "--size", "n=65536")
        self.assertRight(EXAMPLES / "reduction" / "sum.json", "--size", "n=100003")


class Verify(CliTest):
    def test_right_and_wrong(self):
        answer = self.clatune_json("verify", "scale.json", *FAST)
        self.assertTrue(answer["correct"])
        self.assertEqual(answer["quality"]["value"], 0.125)
        self.assertIn("error of the sum 0.125 units", self.clatune("verify", "scale.json", *FAST).stdout)
        answer = self.clatune_json("verify", "faults.json", *FAST, "--configuration", "block=8 fault=6", expect=5)
        self.assertEqual(answer["reason"], "wrong-output")

    def test_a_reference_kernel_that_crashes_is_named(self):
        (self.folder / "naive.cl").write_text(
            "kernel void naive(global const float *in, global float *out) {\n"
            "  out[get_global_id(0) + (1 << 28)] = 2 * in[get_global_id(0)];\n}\n")
        self.edit("faults.json", '{"Module": "scale.c", "Function": "scale"}',
                  '{"KernelFile": "naive.cl", "KernelName": "naive", "GlobalSize": ["n"], "LocalSize": [8]}')
        text = self.clatune("verify", "faults.json", *FAST, "--size", "n=100000", expect=1).stderr
        self.assertIn("running the kernel of the reference failed 3 times in a row", text)
        self.assertEqual(text.count("fault in "), text.count("fault in generated code: naive.so\n"), text)
        self.assertEqual(text.count("fault in "), 3, text)

    def test_a_quality_that_there_is_not_keeps_nobody_from_verifying(self):
        one = ("verify", "scale.json", *FAST, "--size", "n=1", "--configuration", "block=1 per_item=1")
        self.assertEqual(self.clatune_json(*one)["quality"],
                         {"name": "error of the sum", "unit": "units", "value": None})
        self.assertIn("error of the sum not known", self.clatune(*one).stdout)


class T1(CliTest):
    def test_a_problem_of_kernel_tuner_tunes_unchanged(self):
        problem = pathlib.Path(__file__).parents[2] / "examples" / "t1" / "matmul.json"
        answer = self.clatune_json("tune", str(problem), *NO_FINALISTS, "--budget", "4", "--store", "s.sqlite")
        self.assertEqual((answer["space"]["valid"], answer["evaluations"]["correct"]), (246, 4))
        for options in ((), ("--format", "kernel-tuner")):
            self.clatune("record", str(problem), *FAST, "--stored-only", "--store", "s.sqlite", "-o", "r.json", *options)
            self.assertIn("4 configurations, 4 correct", self.clatune("report", "r.json").stdout)
        cache = json.loads((self.folder / "r.json").read_text())
        self.assertEqual((cache["kernel_name"], cache["problem_size"], len(cache["cache"])), ("matmul", [256, 256], 4))


main()
