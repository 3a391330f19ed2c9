"""One tuning over several equal devices: the same result as on one device, in less time."""
import json

from simulation import TIME_S, SimulatedTest, main


class SeveralDevices(SimulatedTest):
    subject = ("copy.json",)

    def devices(self, n, time_s=TIME_S, **of_all):
        """Equal ones; each counts its runs in a file of its own."""
        for i in range(n):
            (self.folder / f"joules-{i}").write_text("0")
        return [{"name": "Simulated", "time_s": time_s, "energy": {"counter": str(self.folder / f"joules-{i}")}, **of_all}
                for i in range(n)]

    def used(self):
        """Which devices have run anything."""
        return [int(path.read_text()) > 0 for path in sorted(self.folder.glob("joules-*"))]

    def tune_on(self, devices, *options, expect=0):
        run = self.clatune("tune", "copy.json", "--device", devices, "--json", *options, expect=expect)
        return (json.loads(run.stdout) if run.stdout else None), run.stderr

    def expect_times(self, store, of=lambda a, b: 1e-5 * (1 + 0.02 * abs(a - 17) + 0.03 * abs(b - 9))):
        rows = self.rows(store)
        for configuration, reason, time_s in rows:
            a, b = (int(value.split("=")[1]) for value in configuration.split())
            self.assertEqual(reason, "none")
            self.assertAlmostEqual(time_s / of(a, b), 1, 2)
        return rows

    # --- behaviour ---

    def test_four_say_what_one_says(self):
        self.write_problem(8, 4)
        self.simulate(*self.devices(4, "1e-5 * (1 + 0.1 * abs(a - 3) + 0.3 * abs(b - 2))"))
        options = ("--searcher", "exhaustive", "--budget", "32")
        one, _ = self.tune_on("0:0", *options, "--finalists", "0", "--store", "one.sqlite")
        self.assertEqual(self.used(), [True, False, False, False])
        four, said = self.tune_on("0:0,0:1, 0:2,0:3", *options, "--finalists", "2", "--store", "four.sqlite")
        self.assertNotIn("warning", said)
        self.assertEqual(four["best"]["configuration"], {"a": 3, "b": 2})
        self.assertEqual(four["best"]["configuration"], one["best"]["configuration"])
        self.assertEqual(four["evaluations"], one["evaluations"])
        self.assertEqual(four["devices"], ["0:0", "0:1", "0:2", "0:3"])
        self.assertGreater(sum(self.used()), 1)
        rows = self.expect_times("four.sqlite", lambda a, b: 1e-5 * (1 + 0.1 * abs(a - 3) + 0.3 * abs(b - 2)))
        self.assertEqual(len(rows), 32)
        again, _ = self.tune_on("0:2", *options, "--finalists", "0", "--store", "four.sqlite")  # one key for all
        self.assertEqual(again["evaluations"]["measured"], 0)

    def test_times_of_a_slower_one_are_scaled(self):
        quick, slow = self.devices(2)
        self.simulate(quick, {**slow, "time_s": f"1.1 * {TIME_S}"})
        answer, said = self.tune_on("all", "--searcher", "random", "--budget", "200", "--finalists", "0", "--store", "s.sqlite")
        self.assertRegex(said, r"warning: 0:1: takes 1\.1 times as long as the first device")
        self.assertGreaterEqual(len(self.expect_times("s.sqlite")), 200)
        best = min(self.rows("s.sqlite"), key=lambda row: row[2])
        self.assertEqual("a={a} b={b}".format(**answer["best"]["configuration"]), best[0])
        self.assertEqual(self.used(), [True, True])

    def test_a_lost_one_is_left_out(self):
        sound, frail = self.devices(2)
        self.simulate(sound, {**frail, "fails": {"run": "a + b > 0"}, "after_fault": "lost",
                              "lost_file": str(self.folder / "lost")})
        answer, said = self.tune_on("all", "--searcher", "random", "--budget", "100", "--finalists", "0", "--store", "s.sqlite")
        self.assertRegex(said, "warning: 0:1: device-lost: .*; continuing without this device")
        self.assertEqual(answer["evaluations"]["total"], 100)
        self.assertGreaterEqual(answer["evaluations"]["correct"], 99)  # a configuration that was alone in its process there has failed

    def test_recordings_and_samples_are_spread_as_well(self):
        self.write_problem(8, 4)
        self.simulate(*self.devices(3))
        self.clatune("record", "copy.json", "-o", "all.json", "--device", "gpu:all", "--store", "s.sqlite")
        self.assertEqual(len(self.expect_times("s.sqlite")), 32)
        self.assertGreater(sum(self.used()), 1)
        said = self.clatune("sample", "copy.json", "--samples", "20", "--device", "gpu:all", "--store", "other.sqlite").stdout
        self.assertIn("20 measured", said)

    def test_two_tuners_on_overlapping_lists(self):
        self.simulate(*self.devices(3))
        options = ("--searcher", "random", "--budget", "60", "--finalists", "0")
        processes = [self.start(*options, "--device", text, "--store", text + ".sqlite")
                     for text in ("0:0,0:1", "0:1,0:2,0:0", "0:2,0:1")]
        for process in processes:
            out, errors = process.communicate(timeout=240)
            self.assertEqual(process.returncode, 0, errors)
            self.assertEqual(json.loads(out)["evaluations"]["correct"], 60)
        self.assertEqual(len(list((self.folder / ".run/clatune").glob("lock-gpu-*"))), 3)

    # --- refusals ---

    def test_those_that_differ_are_refused(self):
        first = {"name": "Simulated", "time_s": TIME_S}
        for other, names in (({"name": "Simulated too"}, "Simulated too"), ({"driver_version": "7.7"}, "driver 7.7")):
            self.simulate(first, {**first, **other})
            said = self.clatune("tune", "copy.json", "--device", "all", "--no-store", expect=2).stderr
            self.assertRegex(said, rf"device 0:1 \(.*{names}.*\) differs from 0:0 \(Simulated, ")

    def test_what_cannot_be_spread_is_refused(self):
        self.simulate(*self.devices(2))
        said = self.clatune("tune", "copy.json", "--device", "gpu:all", "--no-store", "--evaluator", "in-process", expect=1)
        self.assertIn("the evaluator 'in-process' uses one device", said.stderr)
        said = self.clatune("tune", "copy.json", "--device", "gpu:all", "--no-store", "--objective", "energy", expect=1)
        self.assertIn("energy can be measured on one device", said.stderr)
        self.simulate(*self.devices(2, type="cpu"))
        said = self.clatune("tune", "copy.json", "--device", "0:0,0:1", "--no-store", expect=2).stderr
        self.assertIn("devices 0:0 and 0:1 cannot be told apart", said)
        said = self.clatune("tune", "copy.json", "--device", "0:0,0:7", "--no-store", expect=3).stderr
        self.assertIn("no device matches '0:7'", said)
        said = self.clatune("measure", "copy.json", "--device", "0:0,0:1", expect=3).stderr
        self.assertIn("no device matches '0:0,0:1'", said)


if __name__ == "__main__":
    main()
