"""clatune sweep: every tuning of a plan, on several devices, resumable; a failed one does not stop the rest."""
import csv
import fcntl
import io
import json
import pathlib
import re
import signal
import sqlite3
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import CLATUNE, TIME_S, SimulatedTest, kill_session, main  # noqa: E402
from harness import ANSWERS, check_answer, until  # noqa: E402

OTHER_S = "1e-5 * (1 + 0.02 * abs(a - 3) + 0.03 * abs(b - 19))"
PLAN = {"Name": "a try", "Devices": ["all"],
        "Problems": [{"Problem": "copy.json", "Sizes": [{"n": 1024}, {"n": 2048}]}],
        "Searchers": ["random", {"Name": "climb", "Searcher": "hill-climb"}], "Seeds": [1, 2, 3], "Budgets": 15,
        "Tuning": {"Finalists": 0}}  # which cost more than the search
ONCE, TUNINGS = {**PLAN, "Seeds": 1}, 2 * 2  # on each device


class Sweep(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.a, self.b = {"name": "Simulated A", "time_s": TIME_S}, {"name": "Simulated B", "time_s": OTHER_S}
        self.cores = {"name": "Simulated Cores", "type": "cpu", "time_s": TIME_S}
        self.simulate(self.a, self.b, self.cores)
        self.plan(PLAN)

    def plan(self, plan):
        (self.folder / "plan.json").write_text(plan if isinstance(plan, str) else json.dumps(plan))

    def sweep(self, *options, expect=0):
        return self.clatune_json("sweep", "plan.json", "--quiet", *options, expect=expect)

    def lines(self, name="plan.results.jsonl"):
        path = self.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def records(self, store="share/clatune/store.sqlite"):
        """[(problem, device, kind, configuration)] of the store."""
        connection = sqlite3.connect(self.folder / store)
        try:
            return connection.execute("select p.hash, d.key, kind, configuration from measurement m join key k on k.id = m.key "
                                      "join problem p on p.id = k.problem join device d on d.id = k.device").fetchall()
        finally:
            connection.close()

    def test_one_that_waits_for_the_device_says_so(self):
        self.plan({**PLAN, "Devices": ["Simulated A"], "Searchers": "random", "Seeds": 1, "Tuning": {}})
        self.sweep()
        lock, = (self.folder / ".run/clatune").glob("lock-gpu-*")
        with open(lock, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX, 1, 1)
            said = self.folder / "said"
            with open(said, "w", encoding="utf-8") as errors:
                process = subprocess.Popen([CLATUNE, "sweep", "plan.json", "--output", "again.jsonl", "--no-store"],
                                           cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=errors)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            until(lambda: "waiting" in said.read_text(), process)
            self.assertRegex(said.read_text(), "(?m)^clatune: Simulated A: .*: waiting for another tuner that uses the device")
        self.assertEqual(process.wait(), 0)

    def test_events_say_which_tuning_they_are_of(self):
        self.plan({**ONCE, "Devices": ["Simulated A", "Simulated B"]})
        events = [json.loads(line) for line in self.clatune("sweep", "plan.json", "--events", "-").stdout.splitlines()]
        of = {}
        end = {"event": "finished", "exit_code": 0, "error": None, "result": None}
        self.assertEqual(events.pop(), end)
        for event in events:
            check_answer(ANSWERS / "events.json", event)
            of.setdefault(event["tuning"], []).append(event)
        self.assertEqual(set(of), {line["tuning"] for line in self.lines()})
        self.assertEqual(len(of), 2 * TUNINGS)
        for tuning, happened in of.items():
            self.assertEqual((happened[0]["event"], happened[-1]["event"]), ("started", "finished"))
            self.assertEqual(happened[-1]["result"]["tuning"], tuning)
            self.assertEqual(sum(e["event"] == "evaluation" for e in happened), 15)
            self.assertIn(happened[0]["device"]["name"], ("Simulated A", "Simulated B"))
        again = self.clatune("sweep", "plan.json", "--events", "-").stdout
        self.assertEqual([json.loads(line) for line in again.splitlines()], [end])  # all are finished

    def test_an_objective_is_what_tables_compare(self):
        self.plan({**ONCE, "Devices": ["Simulated A"], "Tuning": {"Objective": "maximise n / time_s"}})
        table = self.sweep()["table"]
        for line, best in [(line, line["best_value"]) for line in table]:
            self.assertGreater(best, line["default_value"])
            self.assertLessEqual(line["fraction_of_best"], 1)
            self.assertGreater(line["speedup_over_default"], 1)
        for line in self.lines():
            self.assertTrue(line["maximised"])
            self.assertAlmostEqual(line["best_value"] * line["best_s"] / line["sizes"]["n"], 1)
        for again, line in zip(self.sweep()["table"], table):  # read back
            for key in ("best_value", "default_value", "fraction_of_best", "speedup_over_default"):
                self.assertAlmostEqual(again[key] / line[key], 1, 9)
        self.plan({**PLAN, "Tuning": {"Objective": 3}})
        self.assertIn("Objective", self.clatune("sweep", "plan.json", expect=1).stderr)

    def start(self):
        return subprocess.Popen([CLATUNE, "sweep", "plan.json", "--json"], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def wait_for_lines(self, process, n):
        path = self.folder / "plan.results.jsonl"
        until(lambda: path.exists() and path.read_bytes().count(b"\n") >= n, process)
        self.assertIsNone(process.poll(), "it was over before it could be disturbed")

    # --- measurements ---

    def test_every_tuning_once_and_the_medians_over_seeds(self):
        self.plan({**PLAN, "Devices": ["Simulated A", "Simulated B"]})
        answer = self.sweep()
        self.assertEqual(answer["tunings"], {"total": 24, "found": 24, "failed": 0, "to_do": 0, "before": 0})
        self.assertEqual(len(answer["table"]), 2 * 2 * 2)
        lines = self.lines()
        self.assertEqual(len({line["tuning"] for line in lines}), 24)
        for row in answer["table"]:
            own = [l for l in lines if l["device"] == row["device"] and l["sizes"] == row["sizes"]]
            same = [l for l in own if l["searcher"] == row["searcher"]]
            self.assertEqual(sorted(l["seed"] for l in same), [1, 2, 3])
            best = statistics.median(l["best_s"] for l in same)
            self.assertAlmostEqual(row["best_s"], best, 12)
            self.assertAlmostEqual(row["fraction_of_best"], min(l["best_s"] for l in own) / best, 9)
            self.assertAlmostEqual(row["speedup_over_default"], statistics.median(l["default_s"] / l["best_s"] for l in same), 9)
            self.assertEqual(row["evaluations"], 15)
        # The same search on the same device by hand.
        alone = self.tune("--device", "Simulated A", "--size", "n=2048", "--searcher", "random", "--budget", "15", "--seed", "2",
                          "--finalists", "0", "--store", "other.sqlite")
        line = next(l for l in lines if (l["device"], l["sizes"], l["searcher"], l["seed"]) ==
                    ("Simulated A", {"n": 2048}, "random", 2))
        self.assertEqual(line["configuration"], alone["best"]["configuration"])
        self.assertEqual(line["best_s"], alone["best"]["time_s"])

    def test_what_is_finished_is_not_measured_again(self):
        self.plan({**ONCE, "Tuning": {"Finalists": 2}, "Devices": ["Simulated A", "Simulated Cores"]})
        first = self.sweep()
        records, results = self.records(), (self.folder / "plan.results.jsonl").read_bytes()
        again = self.sweep()
        self.assertEqual(again["tunings"]["before"], 2 * TUNINGS)
        self.assertEqual(again["table"], first["table"])
        self.assertEqual(self.records(), records)
        self.assertEqual((self.folder / "plan.results.jsonl").read_bytes(), results)
        # Without the file of results the store still answers for every measurement but those of finalists.
        (self.folder / "plan.results.jsonl").unlink()
        self.assertEqual(self.sweep()["tunings"]["before"], 0)
        self.assertEqual({l["evaluations"]["measured"] for l in self.lines()}, {0})
        searched = [r for r in self.records() if r[2] == "search"]
        self.assertEqual(searched, [r for r in records if r[2] == "search"])

    def test_another_kernel_or_driver_is_another_tuning(self):
        self.plan(ONCE)
        self.sweep("--only", "random n=1024", "--device", "Simulated A")
        self.assertEqual(self.sweep("--only", "random n=1024", "--device", "Simulated A")["tunings"]["before"], 1)
        self.edit("copy.cl", "in[get_global_id(0)];", "in[get_global_id(0)] ;")
        self.assertEqual(self.sweep("--only", "random n=1024", "--device", "Simulated A")["tunings"]["before"], 0)
        self.simulate({**self.a, "driver_version": "2"})
        self.assertEqual(self.sweep("--only", "random n=1024", "--device", "Simulated A")["tunings"]["before"], 0)

    def order(self, *options):
        """The devices in the order in which their tunings ended."""
        text = self.clatune("sweep", "plan.json", "--no-store", "-o", f"{len(options)}.jsonl", *options).stderr
        return re.findall(r"^clatune: \[\d+/\d+\] (Simulated \w+): ", text, re.M)

    def test_physical_devices_side_by_side_and_the_cpu_alone(self):
        self.plan(ONCE)
        self.simulate(*({**device, "build_s": 0.01} for device in (self.cores, self.a, self.b)))
        together, one_by_one = self.order(), self.order("--jobs", "1")
        a, b = ([i for i, name in enumerate(together) if name == f"Simulated {x}"] for x in "AB")
        self.assertEqual((len(a), len(b)), (TUNINGS, TUNINGS))
        self.assertTrue(a[0] < b[-1] and b[0] < a[-1], together)
        self.assertEqual(together[-TUNINGS:], ["Simulated Cores"] * TUNINGS)
        self.assertEqual(one_by_one, [f"Simulated {x}" for x in ["A", "B", "Cores"] for _ in range(TUNINGS)])

    def test_listed_configurations(self):
        self.write_problem(20, 10)
        self.plan({**PLAN, "Devices": "Simulated A", "Searchers": [
            {"Name": "corners", "Configurations": [{"a": 0, "b": 9}, {"a": 19, "b": 0}]},
            {"Name": "line", "Grid": {"a": "range(10, 20)", "b": 9}}, "exhaustive"], "Budgets": 1000, "Seeds": 1})
        table = {(row["searcher"], row["sizes"]["n"]): row for row in self.sweep()["table"]}
        self.assertEqual(table["corners", 1024]["evaluations"], 3)  # and the default
        self.assertAlmostEqual(table["line", 2048]["best_s"], 1e-5, 9)
        self.assertEqual(table["line", 2048]["evaluations"], 11)
        self.assertEqual(table["exhaustive", 1024]["evaluations"], 200)
        self.assertAlmostEqual(table["corners", 1024]["fraction_of_best"], 1 / 1.31, 3)  # the second

    # --- parts of it ---

    def test_shards_are_put_together(self):
        self.plan({**ONCE, "Seeds": [1, 2], "Devices": ["Simulated A", "Simulated B"]})
        whole, shards = self.sweep("--store", "whole.sqlite", "-o", "whole.jsonl"), ["1/3", "2/3", "3/3"]
        names = [(t["device"], t["tuning"]) for t in self.sweep("--dry-run")["tunings"]]
        for i, shard in enumerate(shards):
            listed = self.sweep("--dry-run", "--shard", shard)["tunings"]
            self.assertEqual([(t["device"], t["tuning"]) for t in listed], names[i::3])
            part = self.sweep("--shard", shard, "--store", f"{i}.sqlite", "-o", f"{i}.jsonl")
            self.assertEqual(part["tunings"], {"total": len(listed), "found": len(listed), "failed": 0, "to_do": 0, "before": 0})
            self.assertEqual(sum(row["tunings"] for row in part["table"]), len(listed))
            self.assertEqual(len(self.lines(f"{i}.jsonl")), len(listed))
        files = [(self.folder / f"{i}.jsonl").read_text() for i in range(3)]
        (self.folder / "plan.results.jsonl").write_text("".join(files))
        together = self.sweep("--summary")
        self.assertEqual(together["tunings"]["before"], len(names))
        for row, other in zip(together["table"], whole["table"], strict=True):
            del row["wall_s"], other["wall_s"]
            self.assertEqual(row, other)
        self.clatune("store", "merge", *(f"{i}.sqlite" for i in range(3)))
        self.assertEqual(set(self.records()), set(self.records("whole.sqlite")))
        for shard in ("0/3", "4/3", "1", "1/0", "%a/3", "1/3x"):
            self.assertIn("needs I/N", self.clatune("sweep", "plan.json", "--shard", shard, expect=2).stderr)
        self.assertIn("exclude each other",
                      self.clatune("sweep", "plan.json", "--shard", "1/2", "--store", "postgresql://h/d", expect=2).stderr)

    def test_nothing_is_begun_that_would_not_end_in_time(self):
        self.plan({**ONCE, "Devices": ["Simulated A"]})
        self.assertEqual(self.sweep("--time-limit", "0")["tunings"]["to_do"], TUNINGS)
        self.sweep("--only", "random n=1024")
        line, = self.lines()
        (self.folder / "plan.results.jsonl").write_text(json.dumps({**line, "wall_s": 1e6}) + "\n")
        self.assertEqual(self.sweep("--time-limit", "1h")["tunings"]["to_do"], TUNINGS - 1)
        self.assertEqual(self.sweep("--time-limit", "100000h")["tunings"]["to_do"], 0)

    # --- disturbed ---

    def test_killed_and_resumed(self):
        self.plan({**PLAN, "Seeds": [1, 2], "Tuning": {"Finalists": 2}})
        self.simulate(*({**device, "build_s": 0.01} for device in (self.a, self.b)))
        undisturbed = self.clatune_json("sweep", "plan.json", "--quiet", "-o", "undisturbed.jsonl", "--store", "u.sqlite")
        n = 0
        for kill in range(3):
            process = self.start()
            self.wait_for_lines(process, n + 3)
            kill_session(process)
            kept = (self.folder / "plan.results.jsonl").read_bytes()
            n = kept.count(b"\n")
            if kill == 0:  # as if killed while it wrote
                (self.folder / "plan.results.jsonl").write_bytes(kept + b'{"tuning":"0123')
                n += 1
        answer = self.sweep()
        self.assertEqual(answer["tunings"]["found"], 4 * TUNINGS)
        self.assertGreaterEqual(answer["tunings"]["before"], 9)
        for row, other in zip(answer["table"], undisturbed["table"]):
            for key in ("device", "sizes", "searcher", "best_s", "speedup_over_default", "evaluations", "fraction_of_best"):
                self.assertEqual(row[key], other[key])
        text = (self.folder / "plan.results.jsonl").read_text()
        keys = re.findall('^{"tuning":"([0-9a-f]{32})"', text, re.M)
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(len(keys), 4 * TUNINGS)
        searched = [r for r in self.records() if r[2] == "search"]
        self.assertEqual(len(searched), len(set(searched)), "something was measured twice")

    def test_interrupted_and_resumed(self):
        self.plan({**ONCE, "Seeds": [1, 2]})
        self.simulate(*({**device, "build_s": 0.02} for device in (self.a, self.b)))
        process = self.start()
        self.wait_for_lines(process, 2)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate()
        self.assertEqual(process.returncode, 130, errors)
        answer = json.loads(out)
        self.assertTrue(answer["stopped"])
        self.assertGreater(answer["tunings"]["to_do"], 0)
        self.assertEqual(answer["tunings"]["failed"], 0)
        self.assertEqual(len(self.lines()), answer["tunings"]["found"])
        rest = self.sweep()
        self.assertEqual(rest["tunings"]["before"], answer["tunings"]["found"])
        self.assertEqual(rest["tunings"]["found"], 4 * TUNINGS)

    # --- failures ---

    def test_a_failing_problem_does_not_stop_the_others(self):
        (self.folder / "broken.json").write_text((self.folder / "copy.json").read_text().replace("copy.cl", "broken.cl"))
        self.plan({**PLAN, "Devices": ["Simulated A"], "Searchers": "random", "Problems": ["broken.json", "copy.json"]})
        answer = self.sweep(expect=1)
        self.assertEqual(answer["tunings"]["found"], 3)
        self.assertEqual(answer["tunings"]["failed"], 3)
        self.assertIn("broken.cl", answer["table"][0]["reason"])
        self.assertIsNone(answer["table"][0]["best_s"])
        listed = self.clatune("sweep", "plan.json", "--summary", "-o", "none.jsonl", expect=1)
        self.assertIn("clatune: note: no results in 'none.jsonl'; for a farm's results add --store URL\n", listed.stderr)
        self.assertRegex(listed.stdout, ", 3 to do\n")
        table = self.clatune("sweep", "plan.json", "--quiet", "--summary", expect=1).stdout
        self.assertRegex(table, "0/3 .* 3 failed: .*broken.cl")
        (self.folder / "broken.cl").write_text("/* mended */ " + (self.folder / "copy.cl").read_text())
        self.assertEqual(self.sweep()["tunings"]["before"], 3)

    def test_no_valid_configuration_is_a_result(self):
        self.simulate(self.a, {**self.b, "fails": {"build": "a >= 0"}})
        answer = self.sweep("--only", "random n=1024", expect=4)
        self.assertEqual(answer["tunings"]["failed"], 3)
        self.assertIn("none correct", answer["table"][1]["reason"])
        again = self.sweep("--only", "random n=1024", expect=4)
        self.assertEqual(again["tunings"]["before"], 6)

    def test_a_device_that_is_not_there(self):
        self.plan({**PLAN, "Devices": ["accelerator", "Simulated B"], "Seeds": 1})
        run = self.clatune("sweep", "plan.json", "--json", expect=3)
        self.assertIn("no device matches 'accelerator'", run.stderr)
        answer = json.loads(run.stdout)
        self.assertEqual(answer["missing_devices"][0]["device"], "accelerator")
        self.assertEqual(answer["tunings"]["found"], 4)
        self.plan({**PLAN, "Devices": ["Simulated"]})
        self.assertIn("matches several devices", self.clatune("sweep", "plan.json", expect=3).stderr)

    def test_a_damaged_plan(self):
        good = json.dumps(PLAN, indent=1)
        self.plan(good.replace('"Budgets"', '"Budget"'))
        message = self.clatune("sweep", "plan.json", expect=1).stderr
        self.assertRegex(message, r'plan.json:\d+: Budget: there is no key "Budget"; did you mean "Budgets"\?')
        self.plan(good.replace("],", "]", 1))
        self.assertRegex(self.clatune("sweep", "plan.json", expect=1).stderr, r"plan.json:\d+: ',' or '}' expected near")
        self.plan({**PLAN, "Sizes": []})
        self.assertIn('there is no key "Sizes"; known keys: Name, Devices', self.clatune("sweep", "plan.json", expect=1).stderr)
        for n in range(0, len(good) - 1, 23):
            self.plan(good[:n])
            self.assertIn("plan.json:", self.clatune("sweep", "plan.json", expect=1).stderr)
        self.assertIn("cannot open", self.clatune("sweep", "none.json", expect=1).stderr)
        self.assertEqual(self.lines(), [])

    def test_a_damaged_file_of_results(self):
        self.plan(ONCE)
        self.sweep("--device", "Simulated A")
        path = self.folder / "plan.results.jsonl"
        lines = path.read_text().splitlines()
        wrong = json.loads(lines[1])
        wrong["best_s"] = "fast"
        path.write_text("\n".join([lines[0], json.dumps(wrong), "{", "\x01\x7f", "[" * 70000, *lines[3:]]) + "\n")
        run = self.clatune("sweep", "plan.json", "--device", "Simulated A", "--json")
        self.assertIn("ignored 4 unreadable lines of 'plan.results.jsonl'", run.stderr)
        self.assertEqual(json.loads(run.stdout)["tunings"]["before"], TUNINGS - 2)
        self.assertEqual(self.sweep("--device", "Simulated A")["tunings"]["before"], TUNINGS)
        path.unlink()
        path.mkdir()
        self.assertIn("cannot read", self.clatune("sweep", "plan.json", expect=1).stderr)
        self.assertIn("choose another file with --output", self.clatune("sweep", "plan.json", "-o", "no/x.jsonl", expect=1).stderr)

    # --- looking ---

    def test_dry_run_filters_and_formats(self):
        listed = self.sweep("--dry-run", "--device", "gpu", "--only", "seed=2")
        self.assertEqual([t["device"] for t in listed["tunings"]], ["Simulated A"] * 4 + ["Simulated B"] * 4)
        self.assertEqual(listed["tunings"][1]["tuning"], "copy n=1024 climb budget=15 seed=2")
        self.assertEqual({t["state"] for t in listed["tunings"]}, {"to do"})
        self.assertFalse((self.folder / "plan.results.jsonl").exists())
        self.sweep("--device", "Simulated B", "--only", "climb n=2048", "--only", "climb n=1024 seed=3")
        text = self.clatune("sweep", "plan.json", "--dry-run").stdout
        self.assertEqual(text.count(": finished\n"), 4)
        self.assertIn("36 tunings, 4 of them finished; nothing was measured", text)
        rows = list(csv.DictReader(io.StringIO(self.clatune("sweep", "plan.json", "--summary", "--format", "csv").stdout)))
        self.assertEqual(len(rows), 12)
        row = next(r for r in rows if (r["device"], r["sizes"], r["searcher"]) == ("Simulated B", "n=2048", "climb"))
        self.assertEqual((row["found"], row["failed"], float(row["fraction_of_best"]) <= 1), ("3", "0", True))
        self.assertEqual(next(r for r in rows if r["device"] == "Simulated A")["best_s"], "")
        markdown = self.clatune("sweep", "plan.json", "--summary", "--format", "markdown").stdout.splitlines()
        self.assertEqual(len(markdown), 14)
        self.assertTrue(all(line.count("|") == 12 for line in markdown))
        self.assertIn("no tuning of the plan", self.clatune("sweep", "plan.json", "--only", "seed=9", expect=2).stderr)
        self.assertIn("--format needs", self.clatune("sweep", "plan.json", "--format", "xml", expect=2).stderr)
        self.assertIn("did you mean 'markdown'?", self.clatune("sweep", "plan.json", "--format", "markdwon", expect=2).stderr)


if __name__ == "__main__":
    main()
