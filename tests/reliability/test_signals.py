"""Signals and outputs that go away: a saved state and the correct exit code."""
import json
import os
import signal
import subprocess

from simulation import CLATUNE, SimulatedTest, main, processes_of, until

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
