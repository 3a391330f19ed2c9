"""Signals and outputs that go away: a saved state and the correct exit code."""
import concurrent.futures
import json
import os
import signal
import subprocess

from simulation import ANSWERS, CLATUNE, SimulatedTest, check_answer, main, processes_of, until

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored under nohup, and then by clatune, too

OPTIONS = ("--searcher", "random", "--seed", "3", "--budget", "900", "--workers", "1", "--store", "s.sqlite")


class Signals(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.simulate(time_s="1e-5 * (1 + 0.02 * abs(a - 17) + 0.03 * abs(b - 9))", build_s=0.02)

    def started(self, n_rows=5):
        """A tuning that has measured something."""
        n_rows += self.count()
        process = self.start(*OPTIONS)
        self.assertTrue(until(lambda: self.count() >= n_rows, process))
        return process

    def count(self):
        return self.n_rows("s.sqlite")

    def test_one_signal_saves_and_ends(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with self.subTest(signal=number):
                process = self.started()
                process.send_signal(number)
                out, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, code, errors)
                answer = json.loads(out)
                self.assertTrue(answer["stopped"])
                self.assertIsNotNone(answer["best"])
                self.assertEqual(processes_of(process.pid), [])
        measured = self.count()
        answer = self.tune(*OPTIONS[:-6], "--workers", "1", "--budget", str(measured - 1), "--store", "s.sqlite")
        self.assertEqual(answer["evaluations"]["measured"], 0)

    def test_a_signal_while_a_kernel_hangs(self):
        self.inject({"at": "run", "do": "hang", "from": 20})
        process = self.started()
        self.assertTrue(until(self.deeds, process))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(processes_of(process.pid), [])

    def test_two_signals_at_once_are_one_request(self):
        process = self.started()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
        self.assertIn(process.returncode, (130, 143), errors)
        self.assertIsNotNone(json.loads(out)["best"])
        self.assertTrue(until(lambda: processes_of(process.pid) == []))

    def test_a_stop_at_any_launch_leaves_a_complete_result(self):
        """In the search, in the comparisons of finalists, of which one fails, and in the checks of the winner: at every launch in the
        suite long, else at every seventh."""
        self.write_problem(3, 1)
        self.simulate(time_s="1e-5 * (1 + 0.1 * a)")
        options = ("--searcher", "exhaustive", "--workers", "1", "--finalists", "2", "--max-runs", "4", "--oclgrind", "no", "--lock=no", "--no-store")
        incorrect = {"at": "output", "do": "corrupt", "when": "a == 0", "from": 8}
        self.inject({"at": "launch", "do": "note"}, incorrect)
        self.assertEqual(self.tune(*options)["best"]["configuration"]["a"], 1)
        n_launches = sum(deed == "note" for _, _, _, deed, _ in self.deeds())

        def stopped_at(launch):
            faults = {"rules": [{"at": "launch", "do": "interrupt", "from": launch, "times": 1}, incorrect], "counters": str(self.folder / f"count{launch}")}
            process = self.start(*options, CLATUNE_FAULTS=json.dumps(faults))
            out, errors = process.communicate(timeout=120)
            return launch, process.returncode, json.loads(out or "null"), errors

        found = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for launch, code, answer, errors in pool.map(stopped_at, range(1, n_launches, 1 if os.environ.get("CLATUNE_FIGURES") else 7)):
                with self.subTest(launch=launch):
                    self.assertIn(code, (0, 130), errors)  # 0: there was nothing left to do
                    if answer:
                        check_answer(ANSWERS / "tune.json", answer)
                    best = answer and answer["best"]
                    if best:
                        self.assertTrue(best["runs_s"] and best["time_s"] and best["spread"] is not None, best)
                        found.append((code, best["finalist"]))
        self.assertTrue({(130, False), (130, True)} <= set(found), found)

    def test_an_output_that_is_full_or_closed_is_no_crash(self):
        arguments = [CLATUNE, "tune", "copy.json", "--device", "Simulated", "--budget", "10", "--searcher", "random",
                     "--store", "s.sqlite"]
        with open("/dev/full", "w", encoding="utf-8") as full:
            run = subprocess.run(arguments, cwd=self.folder, env=self.environment, stdout=full, stderr=subprocess.PIPE,
                                 text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write to standard output", run.stderr)
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run(arguments, cwd=self.folder, env=self.environment, stdout=writer, stderr=writer)
        os.close(writer)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(self.count(), 10)


if __name__ == "__main__":
    main()
