"""Slow configurations: those that are far behind the best cost a small part of what they would cost without limits."""
import fcntl
import json
import os
import re
import subprocess

from simulation import ANSWERS, CLATUNE, SimulatedTest, check_answer, kill_session, main, until

OPTIONS = ("--searcher", "exhaustive", "--workers", "1", "--prepare-ahead", "1", "--finalists", "0", "--no-store")
WITHOUT = ("--abandon-factor", "0", "--run-timeout-factor", "0")
FIGURES = os.environ.get("CLATUNE_FIGURES")  # they are held against their limits; else all there is to see is that nothing is lost


class Deadlines(SimulatedTest):
    def wall_s(self, n_slow, *more):
        """One fast configuration, which is measured first, and n that take a hundred times as long."""
        self.write_problem(1 + n_slow, 1)
        answer = self.tune(*OPTIONS, "--budget", str(1 + n_slow), *more)
        self.assertEqual(answer["evaluations"]["total"], 1 + n_slow)
        return answer["wall_s"]

    def share(self, best_s, n_slow, n_without):
        """The cost of a slow one with the limits, relative to its cost without them."""
        self.simulate(time_s=f"{best_s} if a == 0 else {100 * best_s}", waits=True)
        alone = self.wall_s(0)
        with_limits = (self.wall_s(n_slow) - alone) / n_slow
        without = (self.wall_s(n_without, *WITHOUT) - alone) / n_without
        return with_limits / without

    def test_a_hundred_slow_configurations(self):
        """Runs of a second, ended at the floor of 0.25 s."""
        self.figure("share of 1 s runs that is spent", self.share(10e-3, *((100, 3) if FIGURES else (4, 1))), 0.3)

    def test_those_below_the_floor_run_once(self):
        self.figure("share of 0.2 s runs that is spent", self.share(2e-3, *((20, 5) if FIGURES else (4, 1))), 0.25)


class Waits(SimulatedTest):
    """Whoever waits is told for what, and for how long it may take."""

    def begin(self, *command):
        process = subprocess.Popen([CLATUNE, *command, *self.subject], cwd=self.folder, env=self.environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(kill_session, process)
        return process

    def await_said(self, pattern, process, name):
        events = self.folder / name
        self.assertTrue(until(lambda: re.search(pattern, events.read_text() if events.exists() else ""), process))
        lines = [json.loads(line) for line in events.read_text().splitlines(True) if line.endswith("\n")]
        for event in lines:
            check_answer(ANSWERS / "events.json", event)

    def test_builds_in_the_search(self):
        self.inject({"at": "build", "do": "sleep", "seconds": 100, "when": "b > 0"})
        process = self.begin("tune", "--searcher", "exhaustive", "--workers", "2", "--compile-timeout", "50", "--no-store", "--events", "e")
        self.await_said(r'"waits":"compiling 2 configurations, the longest for \d+ s \(limit 50 s\)"', process, "e")

    def test_the_device(self):
        """This process has it."""
        self.tune("--budget", "1", "--no-store", "--finalists", "0")
        path, = self.folder.glob(".run/clatune/lock-*")
        with open(path, "r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX, 2)
            lock.write(b"%d 1700000000 clatune tune x.json\n" % os.getpid())
            lock.flush()
            waiting, verify = self.begin("tune", "--no-store", "--events", "f"), self.begin("verify")
            who = rf"process {os.getpid()}, which uses the device \(clatune tune x.json, since 2023-"
            self.await_said(rf'"waits":"waiting for \d+ s for {who}', waiting, "f")
            self.assertIn("running 1 configuration", verify.stdout.readline())
            self.assertRegex(verify.stdout.readline(), f"^clatune: waiting for {who}")


class Jumps(SimulatedTest):
    """The monotonic clock of a virtual machine jumps when the machine is woken up."""

    def setUp(self):
        super().setUp()
        self.clock = self.folder / "clock"
        self.environment.update(LD_PRELOAD=os.environ["CLATUNE_HOST_FAULTS"], CLATUNE_HOST_FAULT=f"jump:3600:{self.clock}")

    def tune_with_jumps(self, n, *command):
        """Lets the clock jump whenever a measurement has been stored, while the next one runs."""
        tuner = subprocess.Popen([CLATUNE, "tune", *command, "--store", "s.sqlite", "--quiet", "--json", "--searcher", "exhaustive", "--finalists", "0"],
                                 cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (tuner.kill(), tuner.communicate()))
        for jumps in range(1, n):
            until(lambda: self.n_rows("s.sqlite") >= jumps, tuner)  # noqa: B023
            with open(self.clock, "ab") as file:
                file.write(b"x")
        out, said = tuner.communicate(timeout=60)
        self.assertEqual(tuner.returncode, 0, said)
        self.assertEqual([row for row in self.rows("s.sqlite") if row[1] != "none"], [])
        self.assertEqual(json.loads(out)["evaluations"]["correct"], n)
        self.assertLess(max(time_s for _, _, time_s in self.rows("s.sqlite")), 60)

    def test_kernels(self):
        self.write_problem(6, 1)
        self.simulate(time_s="0.05", waits=True, build_s=0.1)
        self.tune_with_jumps(6, *self.subject)

    def test_programs(self):
        (self.folder / "p.json").write_text(json.dumps({
            "General": {"BenchmarkName": "p"}, "Command": {"Environment": True, "Run": ["sleep", "0.3"]},
            "ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "list(range(6))"}]}}))
        self.tune_with_jumps(6, "p.json")


if __name__ == "__main__":
    main()
