"""The command line on PoCL: tuning, faults, resuming, training, predicting, verifying."""
import gzip
import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys

from harness import CLATUNE, CliTest, has_device, main, until

if not has_device("pocl"):
    sys.exit(77)

FAST = ("--device", "pocl")
# For a tuning whose search is what is looked at: finalists cost more than the search itself.
NO_FINALISTS = (*FAST, "--finalists", "0")


class Tune(CliTest):
    def test_summary_and_reuse(self):
        text = self.clatune("tune", "scale.json", *FAST).stdout
        for part in ("best configuration", "-Dblock=", "speed-up", "evaluations         15", "stored in"):
            self.assertIn(part, text)
        again = self.clatune_json("tune", "scale.json", *FAST, "--oclgrind", "no")
        self.assertEqual(again["evaluations"]["measured"], 0)
        self.assertEqual(again["evaluations"]["reused"], 15)

    def test_the_figure_of_quality_is_said(self):
        for evaluator in ("opencl", "in-process"):
            answer = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--budget", "3", "--no-store", "--searcher",
                                       "random", "--evaluator", evaluator)
            self.assertEqual(answer["quality"], {"name": "error of the sum", "unit": "units", "value": 0.125})
        text = self.clatune("tune", "scale.json", *NO_FINALISTS, "--budget", "2", "--no-store").stdout
        self.assertIn("\nerror of the sum    0.125 units\n", text)
        answer = self.clatune_json("tune", "faults.json", *NO_FINALISTS, "--budget", "1", "--no-store")
        self.assertIsNone(answer["quality"])

    def test_a_reference_that_says_little_is_warned_of_once(self):
        self.edit("scale.c", "out->data)[i] = 2 *", "out->data)[i] = i % 8 == 0 ? 0.0f / 0 : 1e-9f *")
        self.edit("scale.cl", "out[i] = 2 *", "out[i] = i % 8 == 0 ? NAN : 1e-9f *")
        for arguments in (("tune", "--budget", "3", "--no-store", "--oclgrind", "no"), ("verify",),
                          ("tune", "--budget", "2", "--no-store", "--evaluator", "in-process", "--finalists", "0")):
            text = self.clatune(arguments[0], "scale.json", *FAST, *arguments[1:]).stderr
            self.assertEqual(text.count("the reference of argument 'out' is NaN in 512 of 4096 numbers"), 1, text)
            self.assertNotIn("0 would pass", text)
        self.edit("scale.json", '"WriteOnly", "Size": "n"', '"WriteOnly", "Size": "n", "AbsoluteTolerance": 1e-6')
        text = self.clatune("verify", "scale.json", *FAST).stderr
        self.assertEqual(text.count("0 would pass for 3584 of 3584 numbers"), 1, text)

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

    def test_two_stage_reports_its_model(self):
        answer = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--searcher", "two-stage", "--samples", "14",
                                   "--second-stage", "5", "--seed", "3")
        self.assertGreater(answer["model"]["mean_relative_error"], 0)
        self.assertEqual(answer["evaluations"]["total"], 20)
        self.assertGreater(answer["best"]["time_s"], 0)
        self.assertIn("-Dper_item=", answer["best"]["options"])

    def test_no_valid_configuration(self):
        self.edit("faults.json", '"[0, 1, 2, 3, 4, 5, 6]"', '"[5, 6]"')
        answer = self.clatune_json("tune", "faults.json", *FAST, "--searcher", "exhaustive", expect=4)
        self.assertIsNone(answer["best"])
        self.assertEqual(answer["reasons"], {"compile-error": 2, "wrong-output": 2})

    def test_a_store_that_cannot_be_used(self):
        (self.folder / "notes.txt").write_text("not a database, but somebody's notes\n" * 50)
        run = self.clatune("tune", "scale.json", *FAST, "--store", "notes.txt", expect=6)
        self.assertIn("notes.txt", run.stderr)
        self.assertIn("somebody's notes", (self.folder / "notes.txt").read_text())


class Record(CliTest):
    def configurations(self, *items):
        (self.folder / "list.json").write_text(json.dumps(items))
        return "--configurations", "list.json"

    def test_sample_measures_a_list_in_its_order(self):
        items = [{"block": 4, "per_item": 8, "fault": 0}, {"configuration": {"block": 32, "per_item": 1}}]
        answer = self.clatune_json("sample", "scale.json", *FAST, "--workers", "1", *self.configurations(*items))
        self.assertEqual([r["configuration"]["block"] for r in answer["results"]], [4, 32])
        again = self.clatune_json("sample", "scale.json", *FAST, *self.configurations(*items))
        self.assertEqual(again["evaluations"]["reused"], 2)

    def test_sample_names_what_is_wrong_with_a_list(self):
        for item, part in (({"block": 5, "per_item": 1}, "'block'"), ({"block": 32, "per_item": 8}, "<= 128")):
            run = self.clatune("sample", "scale.json", *FAST, *self.configurations(item), expect=2)
            self.assertIn(f"configuration 0", run.stderr)
            self.assertIn(part, run.stderr)
        self.assertIn("needs a list", self.clatune("sample", "scale.json", *FAST, *self.configurations(), expect=2).stderr)

    def test_record_writes_what_is_stored_or_everything(self):
        run = self.clatune("record", "scale.json", *FAST, "--stored-only", "-o", "a.json.gz", expect=1)
        self.assertIn("there is no store", run.stderr)
        self.clatune("sample", "scale.json", *FAST, *self.configurations({"block": 8, "per_item": 2}))
        answer = self.clatune_json("record", "scale.json", *FAST, "--stored-only", "-o", "a.json.gz")
        self.assertEqual((answer["configurations"], answer["valid"]), (1, 23))
        self.assertEqual(self.clatune_json("record", "scale.json", *FAST, "-o", "a.json.gz")["configurations"], 23)
        with gzip.open(self.folder / "a.json.gz") as file:
            recording = json.load(file)
        self.assertEqual(len(recording["results"]), 23)
        self.assertEqual(recording["ConfigurationSpace"]["TuningParameters"][1]["Values"], [1, 2, 4, 8])
        self.assertEqual(recording["ProblemParameters"], [{"Name": "n", "Value": 4096}])


class Faults(CliTest):
    def test_each_fault_has_its_reason_and_the_tuning_goes_on(self):
        problem = json.loads((self.folder / "faults.json").read_text())
        problem["ConfigurationSpace"]["Conditions"] += [  # what costs seconds, because it ends by a limit: once
            {"Expression": f"block == 8 or fault != {fault}", "Parameters": ["block", "fault"]} for fault in (2, 3)]
        (self.folder / "faults.json").write_text(json.dumps(problem))
        answer = self.clatune_json("tune", "faults.json", *NO_FINALISTS, "--searcher", "exhaustive", "--compile-timeout", "6",
                                   "--run-timeout", "2")
        self.assertEqual(answer["evaluations"]["total"], 12)
        self.assertEqual(answer["evaluations"]["correct"], 2)
        reasons = answer["reasons"]
        self.assertEqual(reasons.pop("run-crash", 0) + reasons.pop("out-of-bounds", 0), 2, answer["reasons"])
        self.assertEqual(reasons, {"compile-timeout": 1, "kernel-limit": 2, "compile-error": 2,
                                   "wrong-output": 2})
        self.assertEqual(answer["evaluations"]["abandoned"], 1)  # an endless loop: 20 times the best is less than 2 s
        self.assertEqual(answer["best"]["configuration"]["fault"], 0)


    def test_sizes_that_cannot_be_evaluated_are_the_configurations_fault(self):
        self.edit("scale.json", "// per_item\"}", "// per_item + 0 // (block - 1)\"}")
        self.edit("scale.json", "range(6)", "range(2)")
        answer = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--searcher", "exhaustive")
        self.assertEqual(answer["evaluations"]["correct"], 4)
        self.assertEqual(answer["reasons"], {"launch": 4})


class Interrupted(CliTest):
    def rows(self):
        path = self.folder / "share/clatune/store.sqlite"
        if not path.exists():
            return []
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
            tables = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
            if "measurement" not in tables:
                return []
            return [row[0] for row in database.execute("select configuration from measurement where kind = 'search'")]

    def start(self):
        return subprocess.Popen([CLATUNE, "tune", "scale.json", *FAST, "--searcher", "exhaustive"], cwd=self.folder,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                start_new_session=True)

    def test_kill_9_loses_nothing_and_nothing_is_measured_twice(self):
        for n in (3, 9, 15):
            process = self.start()
            wanted = n + random.randrange(3)
            until(lambda: len(self.rows()) >= wanted, process)
            process.kill()
            process.communicate()
        before = len(self.rows())
        answer = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--searcher", "exhaustive")
        self.assertGreaterEqual(answer["evaluations"]["reused"], before)
        self.assertEqual((answer["evaluations"]["total"], answer["evaluations"]["correct"]), (23, 23))
        rows = self.rows()
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(len(rows), 23)

    def test_ctrl_c_prints_the_best_so_far(self):
        process = self.start()
        self.assertTrue(until(lambda: len(self.rows()) >= 5, process))
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("best configuration", output)
        again = self.clatune_json("tune", "scale.json", *NO_FINALISTS, "--searcher", "exhaustive", "--budget", "8")
        self.assertEqual(again["reasons"], {})


class Model(CliTest):
    def test_sample_train_predict_and_files_that_do_not_fit(self):
        answer = self.clatune_json("sample", "scale.json", *FAST, "--samples", "18")
        self.assertEqual(answer["evaluations"]["total"], 18)
        trained = self.clatune_json("train", "scale.json", *FAST, "-o", "scale.model")
        self.assertEqual(trained["rows"], 18)
        self.assertGreater(trained["mean_relative_error"], 0)
        predicted = self.clatune_json("predict", "scale.json", "--model", "scale.model", "--top", "5")["predictions"]
        self.assertEqual(len(predicted), 5)
        times = [p["time_s"] for p in predicted]
        self.assertEqual(times, sorted(times))
        fitted = self.clatune_json("predict", "scale.json", *FAST, "--top", "5")["predictions"]
        self.assertEqual(fitted[0]["configuration"], predicted[0]["configuration"])
        run = self.clatune("predict", "scale.json", "--model", "scale.model", "--size", "n=512", expect=1)
        self.assertIn("fitted at n=4096, not at n=512", run.stderr)
        whole = (self.folder / "scale.model").read_bytes()
        (self.folder / "scale.model").write_bytes(whole[:len(whole) // 2])
        self.assertIn("scale.model", self.clatune("predict", "scale.json", "--model", "scale.model", expect=1).stderr)

    def test_training_on_nothing_is_an_error_that_says_so(self):
        self.assertIn("clatune sample", self.clatune("train", "scale.json", *FAST, "-o", "x", expect=1).stderr)


EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"


class Examples(CliTest):
    """The problems in examples/ give right results for whatever is drawn, at their own size and at one that nothing divides."""

    def assertRight(self, path, *sizes):
        result = self.clatune_json("sample", str(path), "--device", "pocl", "--samples", "8", "--quiet", *sizes)
        self.assertEqual((result["evaluations"]["total"], result["evaluations"]["correct"]), (8, 8), path)

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
        self.assertIn("running the kernel that makes the reference failed 3 times in a row", text)
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
        # Its sizes are fixed: Oclgrind, which has no smaller one to run, would be minutes at it and find no end.
        answer = self.clatune_json("tune", str(problem), *FAST, "--oclgrind", "no", "--budget", "8", "--finalists", "2",
                                   "--store", "s.sqlite")
        self.assertEqual((answer["space"]["valid"], answer["evaluations"]["correct"]), (246, 8))
        for options in ((), ("--format", "kernel-tuner")):
            self.clatune("record", str(problem), *FAST, "--stored-only", "--store", "s.sqlite", "-o", "r.json", *options)
            self.assertIn("8 configurations, 8 correct", self.clatune("report", "r.json").stdout)
        cache = json.loads((self.folder / "r.json").read_text())
        self.assertEqual((cache["kernel_name"], cache["problem_size"], len(cache["cache"])), ("matmul", [256, 256], 8))


main()
