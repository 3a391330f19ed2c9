"""Programs of the batch protocol: other text around the answers, deaths, hangs and silence in the middle of a batch."""
import json
import os
import signal
import subprocess
import time

from harness import CLATUNE, CliTest, main, until

PROGRAM = '''#!/usr/bin/env python3
"""a: 5 values, b: 4 values. How it talks, and what it does where, stands in the environment."""
import os, sys, time
say, where = os.environ.get("SAY", "line"), os.environ.get("WHERE", "")
source = sys.stdin if len(sys.argv) < 2 else open(sys.argv[1])
lines = [line.split() for line in source.read().splitlines()]
out = open(sys.argv[2], "w") if len(sys.argv) > 2 else sys.stdout
assert [int(x) for x in lines[0]] == [len(lines) - 1, 2], lines
if say == "header": print(*lines[0], flush=True)
with open(os.environ["LOG"], "a") as log: log.write(f"{len(lines) - 1}\\n")
for a, b in lines[1:]:
    here = f"{a}{b}" in where.split(",")
    with open(os.environ["LOG"] + ".seen", "a+") as log:
        log.write(f"{a}{b}\\n")
        log.seek(0)
        if os.environ.get("AGAIN"): here = here and log.read().split().count(f"{a}{b}") > 1
    what = os.environ.get("WHAT") if here else None
    if what == "abort": os.abort()
    if what == "exit": os._exit(3)
    if what == "hang": time.sleep(1000)
    if what == "stop": break
    seconds = -1 if what == "refuse" else "soon" if what == "garble" else 0 if what == "zero" else (int(a) - 3) ** 2 + int(b) + 1
    if say == "chatty": print("evaluating", a, b, "...", flush=True)
    print(f"[gpu0] {a} {b} {seconds} ms" if say == "chatty" else f"{a} {b} {seconds}", file=out, flush=say != "late")
print("done", len(lines) - 1, "3.5")
'''
PARAMETERS = [{"Name": "a", "Values": [10, 20, 30, 40, 50]}, {"Name": "b", "Values": ["w", "x", "y", "z"]}]
BEST = {"a": 40, "b": "w"}
ONCE = "--min-runs", "1", "--max-runs", "1"


class Batch(CliTest):
    def setUp(self):
        super().setUp()
        self.environment["LOG"] = str(self.folder / "log")
        (self.folder / "program").write_text(PROGRAM)
        (self.folder / "program").chmod(0o700)

    figure = {"Unit": "ms"}

    def problem(self, *arguments, **batch):
        (self.folder / "p.json").write_text(json.dumps({
            "ConfigurationSpace": {"TuningParameters": PARAMETERS},
            "Command": {"Files": ["program"], "Run": ["./program", *arguments], "Batch": batch, "Figure": self.figure}}))

    def all(self, *options, **environment):
        answer = self.clatune_json("tune", "p.json", "--store", "s.sqlite", "--quiet", "--searcher", "exhaustive", "--finalists", "0",
                                   "--batch-size", "8", *options, **environment)
        self.assertEqual(answer["evaluations"]["total"], 20)
        return answer

    def sizes(self):
        return [int(n) for n in (self.folder / "log").read_text().split()]

    def test_input_and_output_of_every_kind(self):
        for arguments, batch in (((), {}), (("{input}",), {"Input": "in.txt"}), (("{input}", "{output}"), {"Input": "in", "Output": "o"}),
                                 (("/dev/stdin", "{scratch}/o.txt"), {"Output": "o.txt"})):
            self.problem(*arguments, **batch)
            answer = self.all("--fresh")
            self.assertEqual(answer["best"]["configuration"], BEST, batch)
            self.assertEqual((answer["best"]["time_s"], answer["evaluations"]["correct"]), (0.001, 20))

    def test_figures_that_are_no_times_come_without_seconds(self):
        self.figure = {"Better": "larger", "Unit": "points"}
        self.problem()
        for reused in (0, 20):
            answer = self.all()
            self.assertEqual((answer["figure"]["best"], answer["evaluations"]["reused"]), (13, reused))
            self.assertEqual(answer["best"]["configuration"], {"a": 10, "b": "z"})
            self.assertEqual((answer["best"]["time_s"], answer["best"]["runs_s"], answer["phases"]["runs_s"]), (None, [None] * 3, 0))

    def test_batches_are_as_large_as_asked_for(self):
        self.problem()
        self.all(*ONCE)
        self.assertEqual((max(self.sizes()), sum(self.sizes())), (8, 20))

    def test_contenders_are_run_as_often_as_asked_for(self):
        self.problem()
        for how_many in (2, 5):
            (self.folder / "log.seen").unlink(missing_ok=True)
            answer = self.all("--fresh", "--min-runs", str(how_many))
            self.assertEqual((answer["best"]["configuration"], answer["best"]["runs_s"]), (BEST, [0.001] * how_many))
            seen = (self.folder / "log.seen").read_text().split()
            # The best, the default that is asked for before any is known, and a hopeless one.
            self.assertEqual([seen.count(config) for config in ("30", "00", "01")], [how_many, how_many, 1])
            self.assertLess(len(seen), 2 * 20 + how_many * 3)
        self.assertEqual(max(self.sizes()), 8)

    def test_a_contender_that_dies_when_it_is_run_again(self):
        self.problem("{input}", "{output}", Input="in", Output="out")
        for say in ("line", "late"):
            answer = self.all("--fresh", WHAT="abort", WHERE="30", AGAIN="yes", SAY=say)
            self.assertEqual((answer["best"]["configuration"], answer["reasons"]), ({"a": 30, "b": "w"}, {"run-crash": 1}), say)
            (self.folder / "log.seen").unlink()

    def test_text_around_the_answers(self):
        self.problem("{input}", Input="in")
        for say in ("chatty", "header", "late"):
            self.assertEqual(self.all("--fresh", SAY=say)["best"]["configuration"], BEST, say)

    def failing(self, what, *options, say="line", where="01,22,23,40"):
        self.problem("{input}", Input="in")
        answer = self.all("--fresh", *ONCE, *options, WHAT=what, WHERE=where, SAY=say)
        self.assertEqual(answer["best"]["configuration"], BEST)
        failed = len(where.split(","))
        self.assertEqual(answer["evaluations"]["correct"], 20 - failed)
        # The guilty ones are blamed.
        known = self.clatune_json("sample", "p.json", "--store", "s.sqlite", "--quiet", "--samples", "20", "--batch-size", "8")
        guilty = {f"{r['configuration']['a'] // 10 - 1}{'wxyz'.index(r['configuration']['b'])}": r["reason"]
                  for r in known["results"] if r["reason"] != "none"}
        self.assertEqual(known["evaluations"]["reused"], 20)
        self.assertEqual(sorted(guilty), where.split(","))
        self.assertEqual(len(set(guilty.values())), 1)
        return guilty[where[:2]]

    def test_a_death_in_the_middle_is_a_crash_and_the_rest_goes_on(self):
        self.assertEqual(self.failing("abort"), "run-crash")
        seen = (self.folder / "log.seen").read_text().split()
        # Answered configurations are not asked again: the program answers one by one.
        self.assertLessEqual(len(seen), 20 + 4)

    def test_a_death_of_a_program_that_holds_its_answers_back(self):
        # On a terminal Python writes line by line; into a file it does not.
        (self.folder / "program").write_text(PROGRAM)
        self.problem("{input}", "{output}", Input="in", Output="out")
        answer = self.all("--fresh", WHAT="abort", WHERE="01,22,23,40", SAY="late")
        self.assertEqual((answer["best"]["configuration"], answer["reasons"]), (BEST, {"run-crash": 4}))

    def test_a_bad_exit_in_the_middle(self):
        self.assertEqual(self.failing("exit"), "exit-status")

    def test_a_hang_in_the_middle(self):
        self.assertEqual(self.failing("hang", "--run-timeout", "1", where="22"), "run-timeout")

    def test_an_end_without_all_answers(self):
        self.assertEqual(self.failing("stop"), "no-figure")

    def test_what_the_program_refuses(self):
        self.assertEqual(self.failing("refuse"), "refused")

    def test_answers_that_are_no_figures(self):
        self.assertEqual(self.failing("zero"), "bad-figure")
        self.assertEqual(self.failing("garble"), "bad-figure")

    def test_finalists_run_in_rounds(self):
        self.problem()
        answer = self.clatune_json("tune", "p.json", "--store", "s.sqlite", "--quiet", "--batch-size", "3", "--budget", "20")
        self.assertTrue(answer["best"]["finalist"])
        self.assertGreaterEqual(len(answer["best"]["runs_s"]), 5)
        self.assertEqual(answer["best"]["configuration"], BEST)

    def test_a_program_that_cannot_be_built_or_started(self):
        self.problem()
        self.edit("p.json", '"Run": ["./program"]', '"Run": ["./gone"]')
        self.assertIn("cannot start the program of the batch protocol: ./gone: No such file", self.clatune("tune", "p.json", "--no-store", expect=1).stderr)
        self.edit("p.json", '"Run": ["./gone"]', '"Run": ["./program"], "Build": ["false"]')
        self.assertIn("cannot build the program of the batch protocol: false exited with status 1", self.clatune("tune", "p.json", "--no-store", expect=1).stderr)

    def test_killed_and_resumed(self):
        self.problem()
        command = [CLATUNE, "tune", "p.json", "--store", "s.sqlite", "--quiet", "--json", "--searcher", "exhaustive", "--finalists", "0",
                   "--batch-size", "4"]
        seen, kills = self.folder / "log.seen", 0
        seen.touch()
        for n in (6, 11, 16):
            process = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            until(lambda: len(seen.read_text().split()) >= n, process)
            kills += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.communicate()
        self.assertGreaterEqual(kills, 1)
        answer = self.all()
        self.assertEqual(answer["best"]["configuration"], BEST)
        self.assertGreaterEqual(answer["evaluations"]["reused"], 4)


if __name__ == "__main__":
    main()
