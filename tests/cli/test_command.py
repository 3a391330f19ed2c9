"""Programs that are tuned by the evaluator command: figures, failures, processes and their ends, kill and resume."""
import json
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import time
import unittest

from harness import CLATUNE, CliTest, convert_giles, has_program, main, until

PARAMETERS = [{"Name": "a", "Values": [1, 2, 3, 4]}, {"Name": "b", "Values": [0, 1, 2]}]


class CommandTest(CliTest):
    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o700)

    def problem(self, parameters=PARAMETERS, space=None, strategy=None, **command):
        root = {"ConfigurationSpace": {"TuningParameters": parameters, **(space or {})}, "Command": command}
        if strategy:
            root["Strategy"] = strategy
        (self.folder / "p.json").write_text(json.dumps(root))

    def tune(self, *options, expect=0, **more):
        return self.clatune_json("tune", "p.json", "--store", "s.sqlite", "--quiet", *options, expect=expect, **more)

    def all(self, *options, **more):
        return self.tune("--searcher", "exhaustive", "--finalists", "0", *options, **more)

    def log_of(self, configuration):
        return self.clatune_json("verify", "p.json", "--configuration", configuration, expect=5)["log"]


@unittest.skipUnless(has_program("sweep"), "clatune-sweep is not built")
class Sweep(CommandTest):
    def sweep(self, expect=0, **plan):
        (self.folder / "plan.json").write_text(json.dumps({"Problems": ["p.json"], "Searchers": ["exhaustive"], **plan}))
        return self.clatune_json("sweep", "plan.json", "--store", "s.sqlite", "--quiet", expect=expect)

    def test_a_plan_of_programs_is_tuned_on_the_machine(self):
        self.program("run.sh", "#!/bin/sh\nexpr $a \\* 10 + $b\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"], Figure={"From": "output", "Pattern": "([0-9]+)", "Better": "larger",
                                                                 "Unit": "points"})
        answer = self.sweep(Searchers=["exhaustive", "random"], Seeds=[1, 2], Budgets=12)
        self.assertEqual(answer["tunings"]["found"], 4)
        for line in answer["table"]:
            self.assertEqual((line["best_value"], line["default_value"]), (42, 10))
            self.assertAlmostEqual(line["speedup_over_default"], 4.2)
        line = json.loads((self.folder / "plan.results.jsonl").read_text().splitlines()[0])
        self.assertEqual(line["configuration"], {"a": 4, "b": 2})
        self.assertEqual(self.sweep(Searchers=["exhaustive", "random"], Seeds=[1, 2], Budgets=12)["tunings"]["before"], 4)

    def test_a_program_has_a_session_of_its_own(self):
        self.program("run.sh", "#!/bin/sh\nset -- $(cat /proc/$$/stat)\n[ \"$6\" = $$ ] && echo 1\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"], Figure={"From": "output", "Pattern": "([0-9]+)"})
        self.assertEqual(self.all()["reasons"], {})

    def test_kernels_and_programs_do_not_go_together(self):
        self.program("run.sh", "#!/bin/sh\necho 1\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"], Figure={"From": "output", "Pattern": "([0-9]+)"})
        kernel = pathlib.Path(__file__).parent.parent.parent / "kernels_cl/convolution.json"
        (self.folder / "plan.json").write_text(json.dumps({"Problems": ["p.json", str(kernel)]}))
        self.assertIn("both kernels and programs", self.clatune("sweep", "plan.json", expect=1).stderr)


class Figures(CommandTest):
    SCRIPT = "#!/bin/sh\nexpr $a \\* 10 + $b > fom.txt\necho \"noise\nvalue=$a.5 end\n{\\\"t\\\": {\\\"ms\\\": $b.25}}\"\n"

    def best_with(self, **figure):
        self.program("run.sh", self.SCRIPT)
        self.problem(Files=["run.sh"], Run=["./run.sh"], Figure=figure)
        best = self.all("--fresh")["best"]
        return best["configuration"], best["time_s"]

    def test_of_a_file(self):
        self.assertEqual(self.best_with(From="file", File="fom.txt"), ({"a": 1, "b": 0}, 10))

    def test_of_a_pattern(self):
        configuration, time_s = self.best_with(From="output", Pattern="value=([0-9.]+)", Unit="ms")
        self.assertEqual((configuration["a"], time_s), (1, 0.0015))

    def test_of_json(self):
        configuration, time_s = self.best_with(From="output", Key="t.ms")
        self.assertEqual((configuration["b"], time_s), (0, 0.25))

    def test_larger_is_better(self):
        self.points()
        answer = self.all()
        self.assertEqual(answer["best"]["configuration"], {"a": 4, "b": 2})
        self.assertEqual(answer["best"]["time_s"], min(answer["best"]["runs_s"]))  # seconds, which are no figures
        self.assertGreater(sum(answer["best"]["runs_s"]), 0)
        self.assertLessEqual(sum(answer["best"]["runs_s"]), answer["phases"]["runs_s"])
        self.assertAlmostEqual(answer["best"]["speedup_over_default"], 4.2)
        self.assertEqual(answer["best"]["spread"], 0)
        answer = self.all()
        self.assertEqual(answer["evaluations"]["reused"], 12)
        self.assertEqual((answer["best"]["configuration"], answer["best"]["spread"]), ({"a": 4, "b": 2}, 0))
        self.assertEqual(answer["figure"], {"unit": "points", "larger_is_better": True, "best": 42})
        text = self.clatune("tune", "p.json", "--store", "s.sqlite", "--finalists", "0").stdout
        self.assertIn("figure              42 points", text)
        report = self.clatune("report", "p.json", "--store", "s.sqlite").stdout
        self.assertIn("figure: points, the larger the better\n", report)
        self.assertIn("best configuration  a=4 b=2\nfigure              42 points\n", report)
        self.assertRegex(report, r"\n +42 +\S+( %)? \* a=4 b=2\n")
        self.assertNotRegex(report, r"[0-9] [mun]?s( |\n)")
        found = self.clatune("lookup", "p.json", "--store", "s.sqlite").stdout
        self.assertIn("42 points", found)
        self.assertNotIn("no check", found + self.clatune("report", "s.sqlite", "--text").stdout)  # that is of kernels

    def points(self):
        self.program("run.sh", self.SCRIPT)
        self.problem(Files=["run.sh"], Run=["./run.sh"],
                     Figure={"From": "file", "File": "fom.txt", "Better": "larger", "Unit": "points"})

    def recorded(self, name):
        self.clatune("record", "p.json", "--store", "s.sqlite", "--stored-only", "-o", name, "--quiet")
        results = json.loads((self.folder / name).read_text())["results"]
        return sorted((r["configuration"]["a"], r["configuration"]["b"], m["value"], len(r["times"]["runtimes"]))
                      for r in results for m in r["measurements"] if m["name"] == "time")

    def test_records_of_before_hold_the_inverse_in_the_place_of_seconds(self):
        self.points()
        self.all()
        before = self.recorded("before.json")
        for a, b, milliseconds, n_runs in before:
            self.assertAlmostEqual(milliseconds, 1e3 / (10 * a + b), places=3)
            self.assertGreaterEqual(n_runs, 1)
        for old in ("a=4 %", "%"):  # the best's record, mixed with new ones; then all
            store = sqlite3.connect(self.folder / "s.sqlite")
            rows = store.execute("SELECT id, figures FROM measurement WHERE figures IS NOT NULL AND configuration LIKE ?", (old,)).fetchall()
            for number, figures in rows:
                costs = [1 / figure for figure, in struct.iter_unpack("<d", figures)]
                store.execute("UPDATE measurement SET time_s = ?, runs = ?, figures = NULL WHERE id = ?",
                              (costs[0], struct.pack(f"<{len(costs) - 1}d", *costs[1:]), number))
            changed = len(rows)
            store.commit()
            store.close()
            self.assertGreater(changed, 0)
            answer = self.all()
            self.assertEqual(answer["evaluations"]["measured"], 0)
            self.assertEqual(answer["best"]["configuration"], {"a": 4, "b": 2})
            self.assertAlmostEqual(answer["figure"]["best"], 42)
            self.assertAlmostEqual(answer["best"]["speedup_over_default"], 4.2)
            found = self.clatune_json("lookup", "p.json", "--store", "s.sqlite", "--format", "json")
            self.assertEqual(found["configuration"], {"a": 4, "b": 2})
            self.assertAlmostEqual(found["expected_value"], 42)
            self.assertIn("figure              42 points\n", self.clatune("report", "p.json", "--store", "s.sqlite").stdout)
            self.assertEqual(self.recorded("after.json"), before)
        again = self.clatune_json("store", "import", "before.json", "--of", "p.json", "--store", "s.sqlite")
        self.assertLess(again["added"], 12)  # a file has as many digits as of times: one with fewer is known
        judged = self.clatune_json("replay", "before.json", "--searcher", "random", "--budget", "12", "--repeat", "1")["results"][0]
        self.assertAlmostEqual(judged["optimum"], 42)  # and says that it is points, and more are better
        self.clatune("convert", "before.json", "-o", "copy.json")
        self.clatune("store", "import", "copy.json", "--of", "p.json", "--store", "other.sqlite")
        self.assertAlmostEqual(self.clatune_json("lookup", "p.json", "--store", "other.sqlite")["expected_value"], 42)

    def test_measured_seconds_and_bytes(self):
        self.program("run.py", "#!/usr/bin/env python3\nimport os\nx = bytearray(int(os.environ['a']) * 32 << 20)\n"
                     "for i in range(0, len(x), 4096): x[i] = 1\nfor i in range((2 - int(os.environ['b'])) * 6000000): pass\n")
        for source, best in (("memory", ("a", 1)), ("user", ("b", 2)), ("cpu", ("b", 2)), ("wall", ("b", 2))):
            some = [PARAMETERS[0], {"Name": "b", "Values": [2]}] if source == "memory" else [{"Name": "a", "Values": [1]}, PARAMETERS[1]]
            self.problem(some, Files=["run.py"], Run=["./run.py"], Figure={"From": source})
            answer = self.all("--max-runs", "2", "--min-runs", "1")
            self.assertEqual(answer["best"]["configuration"][best[0]], best[1], source)
            if source == "memory":
                self.assertGreater(answer["figure"]["best"], 32 << 20)
                self.assertLess(answer["figure"]["best"], 64 << 20)
                self.assertEqual(answer["best"]["time_s"], min(answer["best"]["runs_s"]))

    def test_statistics_of_several_runs(self):
        # Each run of a configuration finds a count of those before it, and takes that out of the list.
        self.program("run.sh", "#!/bin/sh\nn=$(cat count 2>/dev/null || echo 0)\nexpr $n + 1 > count\n"
                     "set -- 8 2 2 20\nshift $((n % 4))\necho $1 > fom.txt\n")
        for statistic, expected in (("minimum", 2), ("median", 5), ("mean", 8)):
            self.problem([{"Name": "a", "Values": [1]}], Files=["run.sh"], Run=["./run.sh"],
                         Figure={"From": "file", "File": "fom.txt", "Statistic": statistic})
            best = self.all("--min-runs", "4", "--max-runs", "4", "--max-run-time", "1000")["best"]
            self.assertEqual((best["time_s"], best["runs_s"]), (expected, [8, 2, 2, 20]))

    def test_runs_end_when_the_least_is_met_twice(self):
        self.program("run.sh", "#!/bin/sh\nn=$(cat count 2>/dev/null || echo 0)\nexpr $n + 1 > count\n"
                     "set -- 9 8 7 6 5 5 1 1\nshift $n\necho $1 > fom.txt\n")
        self.problem([{"Name": "a", "Values": [1]}], Files=["run.sh"], Run=["./run.sh"],
                     Figure={"From": "file", "File": "fom.txt"})
        self.assertEqual(self.all("--max-run-time", "1000")["best"]["runs_s"], [9, 8, 7, 6, 5, 5])
        self.assertEqual(self.all("--fresh", "--max-run-time", "1000", "--warm-up", "2")["best"]["runs_s"], [7, 6, 5, 5])

    def test_the_slow_are_not_repeated(self):
        self.program("run.sh", "#!/bin/sh\necho $a > fom.txt\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"], Figure={"From": "file", "File": "fom.txt"})
        self.all("--abandon-factor", "1.5")
        self.clatune("record", "p.json", "--store", "s.sqlite", "-o", "r.json.gz")
        report = self.clatune("report", "p.json", "--store", "s.sqlite").stdout
        self.assertIn("12 correct", report)


class Handing(CommandTest):
    def test_every_way(self):
        self.program("run.sh", "#!/bin/sh\n[ \"$1 $2 $3\" = \"$T_a -Da=$T_a -Db=$T_b\" ] || exit 3\n"
                     "grep -qx \"#define b $T_b\" p.h || exit 4\n[ \"$(pwd)\" = \"$4\" ] || exit 5\necho $T_a > \"$4/fom.txt\"\n")
        self.problem(Files=["run.sh"], Run=["{folder}/run.sh", "{a}", "{options}", "{scratch}"], ParametersFile="p.h",
                     EnvironmentPrefix="T_", Figure={"From": "file", "File": "fom.txt"})
        answer = self.all()
        self.assertEqual((answer["evaluations"]["correct"], answer["best"]["configuration"]["a"]), (12, 1), answer["reasons"])

    def test_no_shell_unless_asked_for(self):
        self.problem(Run=["echo", "$HOME", ">", "fom.txt", ";", "{a}"], Figure={"From": "output", "Pattern": "; ([0-9]+)"})
        self.assertEqual(self.all()["best"]["time_s"], 1)
        self.problem(Run="echo {a} > fom.txt && true | cat", Shell=True, Figure={"From": "file", "File": "fom.txt"})
        self.assertEqual(self.all()["best"]["time_s"], 1)

    def test_each_scratch_folder_is_new_and_goes(self):
        self.program("run.sh", "#!/bin/sh\n[ ! -e mark ] || [ \"$(cat mark)\" = $a$b ] || exit 3\necho $a$b > mark\n"
                     "echo 1 >> data/out\n")
        (self.folder / "data").mkdir()
        self.problem(Files=["run.sh"], Links=["data"], Run=["./run.sh"])
        self.assertEqual(self.all("--min-runs", "2", "--max-runs", "2")["evaluations"]["correct"], 12)
        self.assertGreaterEqual(len((self.folder / "data/out").read_text().split()), 13)  # a link leads out of it
        self.assertEqual(list(self.folder.glob("clatune-*")), [])

    def test_sizes_are_handed_over_and_make_another_key(self):
        self.problem(Run=["sh", "-c", "echo {n * a} > f"], Figure={"From": "file", "File": "f"})
        path = self.folder / "p.json"
        root = json.loads(path.read_text())
        root["ProblemParameters"] = [{"Name": "n", "Default": 3}]
        path.write_text(json.dumps(root))
        self.assertEqual(self.all()["best"]["time_s"], 3)
        answer = self.all("--size", "n=5")
        self.assertEqual((answer["best"]["time_s"], answer["evaluations"]["reused"]), (5, 0))
        self.assertEqual(self.all("--size", "n=5")["evaluations"]["reused"], 12)


class Failures(CommandTest):
    SCRIPT = """#!/bin/sh
case $a$b in
  11) echo going; echo wrong >&2; exit 3 ;;
  12) kill -SEGV $$ ;;
  20) exec sleep 1000 ;;
  21) ;;
  22) echo fast > fom.txt ;;
  30) echo -1 > fom.txt ;;
  *) echo 1.$a$b > fom.txt ;;
esac
"""

    def test_each_has_its_reason(self):
        self.program("run.sh", self.SCRIPT)
        self.program("build.sh", "#!/bin/sh\n[ $a$b = 31 ] && echo no such flag && exit 1\n[ $a$b = 32 ] && kill -ABRT $$\n"
                     "[ $a$b = 40 ] && exec sleep 1000\ntrue\n")
        self.problem(Files=["run.sh", "build.sh"], Build=["./build.sh"], Run=["./run.sh"],
                     Check=["test", "{a}{b}", "!=", "41"], Figure={"From": "file", "File": "fom.txt"})
        options = ("--run-timeout", "1", "--compile-timeout", "1", "--builds", "3")
        answer = self.all(*options)
        self.assertEqual(answer["reasons"], {"exit-status": 1, "run-crash": 1, "run-timeout": 1, "no-figure": 1, "bad-figure": 2,
                                             "compile-error": 1, "compile-crash": 1, "compile-timeout": 1, "check-failed": 1})
        self.assertEqual(answer["evaluations"]["correct"], 2)
        self.assertEqual(answer["evaluations"]["timeout"], 2)
        self.assertEqual(answer["evaluations"]["correctness"], 1)
        self.assertEqual(self.all(*options)["evaluations"]["measured"], 0)  # failures are kept as well
        log = self.log_of("a=1 b=1")
        for text in ("./run.sh exited with status 3", "going", "wrong"):
            self.assertIn(text, log)
        self.assertIn("killed by SIGSEGV", self.log_of("a=1 b=2"))
        self.assertIn("no such flag", self.log_of("a=3 b=1"))

    def test_what_takes_far_longer_than_the_best_is_slow_and_no_failure(self):
        self.program("run.sh", "#!/bin/sh\n[ $a$b = 10 ] || exec sleep 1000\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"])
        answer = self.all("--run-timeout-floor", "0.05", "--budget", "3")
        self.assertEqual(answer["reasons"], {})
        self.assertEqual((answer["evaluations"]["abandoned"], answer["evaluations"]["timeout"]), (2, 0))

    def test_a_program_that_is_not_there(self):
        self.problem(Run=["./gone"])
        run = self.clatune("tune", "p.json", "--no-store", "--budget", "2", "--json", expect=4)
        self.assertEqual(json.loads(run.stdout)["reasons"], {"not-started": 2})
        self.assertIn("the default configuration fails", run.stderr)
        self.assertIn("./gone: No such file or directory", run.stderr)

    def test_a_word_without_a_value_fails_its_configuration(self):
        self.problem(Run=["true", "{1 // b}"])
        self.assertEqual(self.all()["reasons"], {"not-started": 4})

    def test_of_much_output_the_end_is_kept(self):
        self.program("run.sh", "#!/bin/sh\nyes 0123456789 | head -c 3000000\necho the end\nexit $((b == 1))\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"])
        self.assertEqual(self.all("--min-runs", "1", "--max-runs", "1")["reasons"], {"exit-status": 4})
        log = self.log_of("a=1 b=1")
        self.assertIn("the end", log)
        self.assertLess(len(log), 20000)


def alive(mark):
    """Processes that have this text among their arguments."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found


class Processes(CommandTest):
    def setUp(self):
        super().setUp()
        self.mark = f"10{os.getpid()}.{time.time_ns() % 10**9}"  # seconds that no other test sleeps

    def test_what_a_program_leaves_behind_is_ended(self):
        self.program("run.sh", f"#!/bin/sh\nsleep {self.mark} &\nsetsid sleep {self.mark} > /dev/null 2>&1 &\n"
                     f"(setsid sh -c 'sleep {self.mark} & exec sleep {self.mark}' &)\nexit 0\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"])
        self.assertEqual(self.all()["evaluations"]["correct"], 12)
        self.assertEqual(alive(self.mark), [])

    def test_a_timeout_ends_the_whole_group(self):
        self.program("run.sh", f"#!/bin/sh\nsh -c 'sleep {self.mark}; true' &\nsleep {self.mark}\ntrue\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"])
        self.tune("--budget", "2", "--run-timeout", "0.2", expect=4)
        self.assertEqual(alive(self.mark), [])
        logs = [log for log, in sqlite3.connect(self.folder / "s.sqlite").execute("select log from measurement")]
        self.assertTrue(logs and all("took too long (limit 0.2 s, --run-timeout)" in log for log in logs), logs)

    def test_a_program_that_kills_its_group(self):
        self.program("run.sh", "#!/bin/sh\nkill -TERM 0\nsleep 1000\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"])
        self.assertEqual(self.tune("--budget", "3", expect=4)["reasons"], {"run-crash": 3})

    def start(self, *options):
        return subprocess.Popen([CLATUNE, "tune", "p.json", "--store", "s.sqlite", "--quiet", "--json", *options], cwd=self.folder,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def hang(self):
        self.program("run.sh", f"#!/bin/sh\nsh -c 'sleep {self.mark}; true' &\nwait\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"])
        process = self.start("--run-timeout", "1000")
        self.assertTrue(until(lambda: alive(self.mark)))
        return process

    def test_kill_9_leaves_nothing_running(self):
        process = self.hang()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.assertTrue(until(lambda: not alive(self.mark)), "a program outlives the tuner")
        self.assertEqual(len(list(self.folder.glob("clatune-*"))), 1)
        self.problem(Run=["true"])
        self.all()
        self.assertEqual(list(self.folder.glob("clatune-*")), [])

    def test_an_interrupt_ends_what_runs(self):
        process = self.hang()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate()
        self.assertEqual(process.returncode, 130, errors)
        self.assertTrue(json.loads(out)["stopped"])
        self.assertEqual(alive(self.mark), [])
        self.assertEqual(list(self.folder.glob("clatune-*")), [])

    def test_killed_and_resumed(self):
        (self.folder / "shared").mkdir()
        self.program("run.sh", "#!/bin/sh\necho $a $b >> shared/log\nexpr \\( $a - 2 \\) \\* \\( $a - 2 \\) + $b + 1 > fom.txt\n")
        self.problem([{"Name": "a", "Values": list(range(1, 9))}, {"Name": "b", "Values": list(range(8))}], Files=["run.sh"],
                     Links=["shared"], Run=["./run.sh"], Figure={"From": "file", "File": "fom.txt"})
        options = ("--searcher", "exhaustive", "--finalists", "0", "--min-runs", "1", "--max-runs", "1")
        log, kills = self.folder / "shared/log", 0
        log.touch()
        for limit in (10, 22, 34, 46):
            process = self.start(*options)
            self.assertTrue(until(lambda: len(log.read_text().splitlines()) >= limit or process.poll() is not None))
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
        self.assertGreaterEqual(kills, 3)
        answer = self.tune(*options)
        self.assertEqual(answer["evaluations"]["total"], 64)
        self.assertGreaterEqual(answer["evaluations"]["reused"], 40)
        self.assertEqual(answer["best"]["configuration"], {"a": 2, "b": 0})
        runs = log.read_text().splitlines()
        self.assertLessEqual(len(runs), 64 + kills)  # at most the ones under way were run again
        self.assertEqual(len(set(runs)), 64)


class Parallel(CommandTest):
    def test_evaluations_overlap(self):
        (self.folder / "shared").mkdir()
        # Each goes on only when four are there at once.
        self.program("run.sh", "#!/bin/sh\nmkdir shared/$a$b\nwhile [ $(ls shared | wc -l) -lt 4 ]; do :; done\n")
        self.problem([{"Name": "a", "Values": [1, 2, 3, 4]}, {"Name": "b", "Values": [0]}], Files=["run.sh"], Links=["shared"],
                     Run=["./run.sh"])
        self.clatune("sample", "p.json", "--store", "s.sqlite", "--samples", "4", "--parallel", "4", "--min-runs", "1",
                     "--max-runs", "1")
        self.assertEqual(len(list((self.folder / "shared").iterdir())), 4)

    def test_builds_overlap_and_runs_do_not(self):
        (self.folder / "built").mkdir()
        (self.folder / "running").mkdir()
        self.program("build.sh", "#!/bin/sh\nmkdir built/$a$b\nwhile [ $(ls built | wc -l) -lt 3 ]; do :; done\n")
        self.program("run.sh", "#!/bin/sh\nmkdir running/one || exit 7\nls > /dev/null\nrmdir running/one\n")
        self.problem(Files=["run.sh", "build.sh"], Links=["built", "running"], Build=["./build.sh"], Run=["./run.sh"])
        run = self.clatune("sample", "p.json", "--store", "s.sqlite", "--samples", "12", "--builds", "3", "--json")
        self.assertEqual(json.loads(run.stdout)["evaluations"]["correct"], 12)


class Store(CommandTest):
    def counted(self, more=""):
        self.program("run.sh", f"#!/bin/sh\necho $a $b >> '{self.folder}/ran'\n{more}\nexpr $a \\* 10 + $b\n")
        self.problem(Files=["run.sh"], Run=["./run.sh"], Figure={"From": "output", "Pattern": "([0-9]+)"})

    def ran(self):
        return sorted((self.folder / "ran").read_text().split("\n")[:-1])

    def test_two_tuners_measure_each_configuration_once(self):
        self.counted()
        once = ["--searcher", "exhaustive", "--finalists", "0", "--min-runs", "1", "--max-runs", "1"]
        command = [CLATUNE, "tune", "p.json", "--store", "s.sqlite", "--quiet", "--json", *once]
        self.environment.pop("LC_ALL", None)
        both = [subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True) for _ in "ab"]
        answers = [json.loads(process.communicate()[0]) for process in both]
        self.assertEqual([answer["evaluations"]["correct"] for answer in answers], [12, 12])
        self.assertEqual(sum(answer["evaluations"]["measured"] for answer in answers), 12)
        self.assertEqual(self.ran(), [f"{a} {b}" for a in (1, 2, 3, 4) for b in (0, 1, 2)])
        records = sqlite3.connect(self.folder / "s.sqlite").execute("SELECT count(*) FROM measurement").fetchone()
        self.assertEqual(records, (12,))

    def test_a_store_that_is_deleted_while_tuning_is_an_error_and_loses_nothing(self):
        self.counted(f"[ $a$b != 31 ] || rm -f '{self.folder}'/s.sqlite*")
        run = self.clatune("tune", "p.json", "--store", "s.sqlite", "--quiet", "--searcher", "exhaustive", "--finalists", "0",
                           expect=6)
        self.assertIn("deleted or replaced", run.stderr)
        saved, = self.folder.glob("s.sqlite.saved-*")
        n = self.clatune_json("store", "import", str(saved), "--store", "s.sqlite")["added"]
        self.assertEqual(n, len(set(self.ran())))


class Strategies(CommandTest):
    def setUp(self):
        super().setUp()
        self.script = "expr \\( {a} - 3 \\) \\* \\( {a} - 3 \\) + {b} + 1"
        self.figure = {"From": "output"}

    def test_the_problem_says_how_it_wants_to_be_searched(self):
        self.problem(space={"Groups": [["a"], ["b"]]}, strategy={"Searcher": "groups", "Options": {"parallel": 2, "rounds": 3}},
                     Shell=True, Run=self.script, Figure=self.figure)
        answer = self.tune("--finalists", "0")
        self.assertEqual((answer["searcher"], answer["evaluations"]["total"]), ("groups", 6))
        self.assertEqual(answer["best"]["configuration"], {"a": 3, "b": 0})
        self.assertEqual(self.tune("--finalists", "0", "--searcher", "random", "--fresh")["evaluations"]["total"], 12)

    def test_an_unknown_option_of_it(self):
        self.problem(strategy={"Options": {"paralel": 2}}, Run=["true"])
        self.assertIn("p.json:1: Strategy: no searcher and no evaluator has the option \"paralel\"; did you mean \"parallel\"?",
                      self.clatune("tune", "p.json", expect=1).stderr)

    def test_every_searcher_serves(self):
        self.problem(Shell=True, Run=self.script, Figure=self.figure)
        for searcher in json.loads(self.clatune("version", "--json").stdout)["searchers"]:
            answer = self.tune("--searcher", searcher, "--budget", "12", "--finalists", "0")
            self.assertEqual(answer["best"]["time_s"], 1, searcher)

    def test_the_other_commands(self):
        self.problem(Shell=True, Run=self.script, Figure=self.figure)
        self.all()
        self.assertEqual(self.clatune_json("space", "p.json")["valid"], 12)
        self.assertEqual(self.clatune_json("lookup", "p.json", "--store", "s.sqlite")["configuration"], {"a": 3, "b": 0})
        self.assertIn("12 in the store", self.clatune("tune", "p.json", "--store", "s.sqlite", "--dry-run").stdout)
        self.assertIn("a=3", self.clatune("store", "show", "p.json", "--store", "s.sqlite").stdout)
        self.assertIn("verified        it runs", self.clatune("verify", "p.json").stdout)
        self.clatune("record", "p.json", "--store", "s.sqlite", "-o", "r.json.gz")
        self.assertEqual(self.clatune_json("replay", "r.json.gz", "--budget", "12", "--repeat", "2")["results"][0]["optimum_s"], 1)
        self.assertIn("12 correct", self.clatune("report", "p.json", "--store", "s.sqlite").stdout)
        self.assertIn("host", self.clatune("store", "list", "--store", "s.sqlite").stdout)

    def test_options_are_shown_where_somebody_gets_them(self):
        for run, shown in ((["true"], False), (["true", "{options}"], True)):
            self.problem(Run=run)
            said = [self.clatune(*words, "p.json", "--store", "s.sqlite").stdout
                    for words in (("tune", "--budget", "1"), ("tune", "--dry-run"), ("lookup",), ("lookup", "--portable"), ("report",))]
            self.assertEqual(["-Da=" in text for text in said], [shown] * 5, said)
            self.assertRegex(said[4], r"\n\d+ compute units\n")  # unknown facts about a machine are left out

    def test_the_device_is_the_machine(self):
        self.problem(Run=["true"])
        self.assertEqual(self.tune("--budget", "1", CLATUNE_DEVICE="no-such-device")["device"]["platform_name"], "host")
        self.tune("--budget", "1", "--device", "cpu")
        self.assertIn("no device matches 'pocl'", self.clatune("tune", "p.json", "--device", "pocl", expect=3).stderr)

    def test_a_lookup_finds_the_machine_by_a_part_of_its_name(self):
        """Also if an OpenCL device's name contains this part."""
        self.problem(Run=["true"])
        warning = "nothing is known for this device and these sizes"
        name = self.tune("--budget", "1")["device"]["name"]
        found = self.clatune("lookup", "p.json", "--store", "s.sqlite", "--device", name)
        self.assertIn("known from        exact", found.stdout)
        self.assertNotIn(warning, found.stderr)
        for words in (("text",), ("options",), ("cmake",)):
            said = self.clatune("lookup", "p.json", "--store", "none.sqlite", "--format", *words).stderr
            self.assertIn(warning, said)
            self.assertEqual("no command of this program uses {options}" in said, words == ("options",))
        self.assertNotIn(warning, self.clatune("lookup", "p.json", "--store", "none.sqlite", "--json").stderr)
        self.assertNotIn(warning, self.clatune("lookup", "p.json", "--store", "none.sqlite", "--quiet").stderr)

    def test_says_whether_the_result_was_checked(self):
        unchecked = "verified            it runs; the result was not checked, because the problem has no \"Check\" command\n"
        for check, shown in (({}, True), ({"Check": ["true"]}, False)):
            self.problem(Run=["true"], **check)
            self.assertEqual(unchecked in self.clatune("tune", "p.json", "--store", "s.sqlite", "--budget", "1").stdout, shown)


class Giles(CommandTest):
    FILE = """PARAMS = { a, {b}, {c, d} }
a = {1, 2, 3}
b = {1, 2, 3, 4}
c = {1, 2}
d = {1, 2, 3}
PARAMETERS_FILE = params.txt
FIGURE_OF_MERIT_FILE = fom.txt
EVALUATION = { cp params.txt built; ./executable }
STRATEGY = { brute_force parallel:4 }
"""

    def setUp(self):
        super().setUp()
        self.program("executable", "#!/bin/sh\nawk '{ v[$1] = $2 } END { print 1 + (v[\"a\"] - 2) ^ 2 + (v[\"b\"] - v[\"a\"]) ^ 2"
                     " + v[\"c\"] * v[\"d\"] }' built > fom.txt\n")
        (self.folder / "tune.conf").write_text(self.FILE)
        (self.folder / "tune.json").write_text(convert_giles(self.folder / "tune.conf"))

    def run_it(self, *options):
        return self.clatune_json("tune", "tune.json", "--store", "s.sqlite", "--quiet", *options)

    def test_all_or_one_group_after_the_other(self):
        brute = self.run_it("--finalists", "0")
        self.assertEqual((brute["searcher"], brute["evaluations"]["total"]), ("exhaustive", 72))
        self.assertEqual(brute["best"]["configuration"], {"a": 2, "b": 2, "c": 1, "d": 1})
        groups = self.run_it("--searcher", "groups")
        self.assertEqual(groups["best"]["configuration"], brute["best"]["configuration"])
        self.assertLessEqual(groups["evaluations"]["total"], 3 * (4 + 6))

    def test_the_file_itself_is_no_problem_file(self):
        said = self.clatune("tune", "tune.conf", expect=1).stderr
        self.assertIn("convert it with 'python3 -m clatune.compat.giles tune.conf > problem.json'", said)


if __name__ == "__main__":
    main()
