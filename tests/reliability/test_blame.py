"""One guilty configuration among 24 (8 on a driver, where each is built), the fastest of all: whatever it does to others, no
innocent one is blamed for it, and it is never the best. And time: no configuration is blamed for a machine that is stopped or busy. The
argument names a driver; without one it is the simulated one. CLATUNE_ROUNDS: how often everything is done, each time in another
order."""
import collections
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import unittest

from simulation import CliTest, SimulatedTest, processes_of
from harness import has_device  # noqa: E402 - found by way of simulation

CORPUS = pathlib.Path(__file__).parent.parent / "instruments" / "bad_kernels"
DRIVER = sys.argv.pop(1) if sys.argv[1:] and not sys.argv[1].startswith(("-", "Blame", "On")) else None
GUILTY = "a == 3 and b == 1"
INNOCENT = f"not ({GUILTY})"
ROUNDS = int(os.environ.get("CLATUNE_ROUNDS", 1))
FEW = DRIVER and ROUNDS == 1
N_A, N_B = 2 if FEW else 6, 4
TIME_S = f"1e-6 if {GUILTY} else 1e-5 * (1 + 0.02 * abs(a - 4) + 0.03 * abs(b - 2))"
# The first round is in order, since that is the hardest: the guilty one comes early.
seed, seen = 0, collections.Counter()


class Blame(SimulatedTest):
    def setUp(self):
        if DRIVER:  # a real one, by way of the same faults; reach=0: the kernel itself does no harm
            CliTest.setUp(self)
            for file in CORPUS.glob("company.*"):
                shutil.copy(file, self.folder)
            if FEW:
                self.edit("company.json", '"list(range(6))", "Default": 0', '[3, 4]')
                self.edit("company.json", '"Min": 256, "Max": 65536', '"Min": 1024, "Max": 1024')  # no checks at other sizes
            self.subject = ("company.json", "--device", DRIVER, "--size", "reach=0")
        else:
            super().setUp()
            self.write_problem(N_A, N_B)
            self.simulate(time_s=TIME_S)

    def search(self, *options):
        order = ("--searcher", "random", "--seed", str(seed)) if seed else ("--searcher", "exhaustive")
        return self.tune(*order, "--budget", str(N_A * N_B), "--finalists", "2" if FEW else "3", "--store", "s.sqlite",
                         "--lock=no", "--oclgrind", "no", *options)

    def check(self, answer, guilty=None):
        """guilty: its reason if it fails in the search itself."""
        reasons = {tuple(configuration.split()): reason for configuration, reason, _ in self.rows("s.sqlite")}
        self.assertEqual(len(reasons), N_A * N_B)
        blamed = {c: r for c, r in reasons.items() if c != ("a=3", "b=1") and r != "none"}
        best = answer["best"]["configuration"]
        seen.update({"tunings": 1, "innocent ones blamed": len(blamed), "guilty ones best": int(best == {"a": 3, "b": 1})})
        self.assertEqual(blamed, {}, f"seed {seed}")
        if guilty:
            self.assertEqual(reasons[("a=3", "b=1")], guilty)
        self.assertNotEqual(best, {"a": 3, "b": 1})
        if not DRIVER:
            self.assertEqual(best, {"a": 4, "b": 2})

    def damage(self, at, do, *options, **more):
        """The guilty one damages the heap; later ones in the same process suffer."""
        self.inject({"at": "launch", "do": "heap", "when": GUILTY},
                    {"at": at, "do": do, "when": INNOCENT, "after": GUILTY, **more})
        answer = self.search(*options)
        if seed == 0:  # in another order it may be the last
            self.assertTrue([d for d in self.deeds() if d[3] == do], "nobody was struck")
        self.check(answer)

    def test_others_crash_when_launched(self):
        self.damage("launch", "segv")

    def test_others_crash_while_running(self):
        self.damage("run", "abort")

    def test_others_end_while_running(self):
        self.damage("run", "exit")

    def test_others_crash_the_compiler(self):
        self.damage("build", "segv")

    def test_others_abort_in_the_compiler(self):
        self.damage("build", "abort", every=2)

    def test_others_come_out_wrong(self):
        self.damage("output", "corrupt")

    def test_others_cannot_be_launched(self):
        self.damage("launch", "error")

    def test_others_have_errors_while_running(self):
        self.damage("run", "error")

    def test_others_lack_memory(self):
        self.damage("launch", "error", code=-4)

    def test_others_hang(self):
        self.damage("launch", "hang", "--compile-timeout", "4" if DRIVER else "1")  # PoCL builds in 0.5 to 0.9 s

    def test_others_crash_now_and_then(self):
        self.damage("run", "segv", every=3)

    def test_one_worker(self):
        self.damage("run", "segv", "--workers", "1")

    def test_it_ends_other_workers(self):
        self.inject({"at": "launch", "do": "others", "when": GUILTY})
        self.check(self.search())

    def test_it_crashes_late(self):
        self.inject({"at": "run", "do": "segv", "when": GUILTY, "from": 3})
        answer = self.search()
        self.check(answer, "run-crash")
        self.assertEqual((answer["reasons"], answer["evaluations"]["confirmed_alone"]), ({"run-crash": 1}, 1))

    def test_a_confirmation_is_on_record_and_known_again(self):
        self.inject({"at": "output", "do": "corrupt", "when": GUILTY})
        self.check(self.search(), "wrong-output")
        connection = sqlite3.connect(self.folder / "s.sqlite")
        reasons = connection.execute("select reason from measurement where confirmed").fetchall()
        connection.execute("update measurement set confirmed = 0")  # a store of before
        connection.commit()
        connection.close()
        self.assertEqual(reasons, [("wrong-output",)])
        self.stop_injecting()
        answer = self.search()
        self.assertEqual((answer["evaluations"]["measured"], answer["evaluations"]["confirmed_alone"]), (0, 0))


@unittest.skipIf(DRIVER, "needs the simulated driver")
class OnSimulated(Blame):
    def test_on_a_cpu(self):
        self.simulate(time_s=TIME_S, type="cpu")
        self.damage("run", "segv")

    def test_wrong_on_a_cpu(self):
        self.simulate(time_s=TIME_S, type="cpu")
        self.damage("output", "corrupt")

    def test_it_ends_other_workers_on_a_cpu(self):
        self.simulate(time_s=TIME_S, type="cpu")
        self.inject({"at": "run", "do": "others", "when": GUILTY})
        self.check(self.search())

    def struck_while(self, disturb, *options):
        """A search while a thread disturbs it."""
        process = self.start("--searcher", "exhaustive", "--budget", str(N_A * N_B), "--store", "s.sqlite", "--lock=no",
                             "--finalists", "0", *options)
        thread = threading.Thread(target=disturb, args=(process,))
        thread.start()
        out, errors = process.communicate()
        thread.join()
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual([row for row in self.rows("s.sqlite") if row[1] != "none"], [])

    def pause_all(self, process):
        for _ in range(4):
            here = [pid for pid, _ in processes_of(process.pid)]
            for number in (signal.SIGSTOP, signal.SIGCONT):
                for pid in here:
                    try:
                        os.kill(pid, number)
                    except ProcessLookupError:
                        pass
                time.sleep(0.6 if number == signal.SIGSTOP else 0.3)

    def test_pauses_of_everything(self):
        self.simulate(time_s=0.02, waits=True, build_s=0.02)
        self.struck_while(self.pause_all, "--run-timeout", "0.3", "--compile-timeout", "0.3")

    def test_a_busy_machine(self):
        """Compilations that take the processor nearly as long as they may, next to eight others that want it."""
        self.write_problem(4, 2)
        self.simulate(time_s=1e-5, type="cpu", build_cpu_s=0.2)
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
        try:
            self.struck_while(lambda process: None, "--compile-timeout", "0.6")
        finally:
            for process in busy:
                process.kill()
                process.wait()


@unittest.skipUnless(DRIVER, "needs a driver")
class OnDriver(Blame):
    """The kernel itself writes over the heap of its process, so many bytes behind its output."""

    def write_behind(self, n_bytes):
        self.subject = (*self.subject[:-1], "reach=1024", "--size", f"behind={n_bytes // 4}")
        self.check(self.search())

    def test_next_to_it(self):
        self.write_behind(0)

    def test_8_KiB(self):
        self.write_behind(8 << 10)

    def test_16_KiB(self):
        self.write_behind(16 << 10)

    def test_32_KiB(self):
        self.write_behind(32 << 10)

    def test_64_KiB(self):
        self.write_behind(64 << 10)

    def test_256_KiB(self):
        self.write_behind(256 << 10)


def load_tests(loader, tests, pattern):
    """Each scenario once: those that all have are Blame's. The simulated driver has all of them; PoCL has a quarter, and each other
    driver another one: a compiler that crashes and one that hangs, incorrect results, crashes while running, other workers, no memory,
    writes next to the output and far behind it. In rounds ('meson test --suite long') each driver has all."""
    own = OnDriver if DRIVER else OnSimulated
    names = [n for n in loader.getTestCaseNames(own) if n in vars(own)]
    scenarios = [*map(Blame, loader.getTestCaseNames(Blame)), *map(own, names)]
    return unittest.TestSuite(scenarios[2 * (DRIVER != "pocl")::4] if FEW else scenarios)


if DRIVER and not has_device(DRIVER):
    sys.exit(77)
fine = True
for seed in range(ROUNDS):
    result = unittest.main(exit=False, verbosity=1).result
    fine = fine and result.wasSuccessful() and result.testsRun > 0
print(", ".join(f"{n} {what}" for what, n in seen.items()), file=sys.stderr)
sys.exit(not fine)
