"""The instruments themselves: the functions of the simulated driver, the deeds of the fault layer."""
import json
import subprocess

from simulation import CLATUNE, LAYER, TIME_S, SimulatedTest, main

SMALL = ("--budget", "30", "--searcher", "random", "--seed", "1", "--no-store")


class Driver(SimulatedTest):
    def test_it_shows_its_devices(self):
        self.simulate({"name": "Simulated A", "compute_units": 7}, {"name": "Simulated B", "type": "cpu"})
        devices = self.clatune_json("devices")["devices"]
        self.assertEqual([d["name"] for d in devices], ["Simulated A", "Simulated B"])
        self.assertEqual(devices[0]["compute_units"], 7)
        self.assertEqual([d["type"] for d in devices], ["gpu", "cpu"])
        self.assertNotEqual(devices[0]["uuid"], devices[1]["uuid"])

    def test_a_wrong_description_ends_the_process(self):
        for text in ('{"devices": [{"colour": "red"}]}', '{"devices": 3}', '{"devices": [', '{"devices": [{"scale": "x"}]}'):
            run = subprocess.run([CLATUNE, "devices"], env={**self.environment, "CLATUNE_SIMULATED": text}, text=True,
                                 capture_output=True)
            self.assertNotEqual(run.returncode, 0, text)
            self.assertIn("instrument: ", run.stderr)

    def test_formulas_say_times_and_failures(self):
        self.write_problem(20, 10)
        self.simulate(time_s=TIME_S, fails={"build": "b == 3", "launch": "b == 4", "run": "b == 5"}, wrong="b == 6")
        answer = self.tune("--searcher", "exhaustive", "--budget", "200", "--no-store")
        self.assertEqual(answer["reasons"], {"compile-error": 20, "launch": 20, "run-error": 20, "wrong-output": 20})
        self.assertEqual(answer["best"]["configuration"], {"a": 17, "b": 9})
        self.assertEqual(answer["best"]["clock"], "device")
        self.assertAlmostEqual(answer["best"]["time_s"], 1e-5, delta=1e-9)

    def test_a_recording_is_served(self):
        self.write_problem(20, 10)
        self.clatune("record", "copy.json", "--device", "Simulated", "-o", "copy-recorded.json.gz")
        self.simulate(space="copy-recorded.json.gz", scale=2)
        answer = self.tune("--searcher", "exhaustive", "--budget", "200", "--no-store")
        self.assertEqual(answer["evaluations"]["correct"], 200)
        self.assertAlmostEqual(answer["best"]["time_s"], 2e-5, delta=1e-9)

    def test_several_devices_have_times_of_their_own(self):
        self.simulate({"name": "Simulated A", "time_s": 2e-5}, {"name": "Simulated B", "time_s": 3e-5})
        for name, time_s in (("Simulated A", 2e-5), ("Simulated B", 3e-5)):
            answer = self.clatune_json("tune", "copy.json", "--device", name, *SMALL)
            self.assertAlmostEqual(answer["best"]["time_s"], time_s, delta=1e-9)

    def test_noise_is_as_described(self):
        self.simulate(time_s=1e-5, noise={"sigma": 0.1, "slowed_share": 0.5, "slowed_by": 3, "seed": 4})
        runs = [r for r in self.tune(*SMALL, "--max-runs", "15")["best"]["runs_s"]]
        self.assertGreater(len(set(runs)), len(runs) / 2)
        self.assertGreater(max(runs) / min(runs), 1.5)

    def test_the_same_again_is_the_same(self):
        """As many runs whatever the machine does: noise depends on their number."""
        self.simulate(time_s=TIME_S, noise={"sigma": 0.1})
        runs = ("--min-runs", "7", "--max-runs", "7", "--max-run-time", "100", "--abandon-factor", "0", "--finalists", "0")
        first, second = (self.tune(*SMALL, *runs, "--workers", "1", "--prepare-ahead", "1") for _ in range(2))
        self.assertEqual(first["best"]["configuration"], second["best"]["configuration"])
        self.assertEqual(first["median_s"], second["median_s"])


class Layer(SimulatedTest):
    def test_every_deed_has_its_reason(self):
        reasons = [("build", "error", "compile-error"), ("build", "abort", "compile-crash"),
                   ("build", "segv", "compile-crash"), ("build", "exit", "compile-crash"), ("launch", "error", "launch"),
                   ("run", "error", "run-error"), ("run", "segv", "run-crash"), ("run", "abort", "run-crash"),
                   ("run", "exit", "run-crash"), ("output", "corrupt", "wrong-output")]
        self.write_problem(len(reasons), 2)
        self.inject(*({"at": at, "do": do, "when": f"a == {i} and b == 1"} for i, (at, do, _) in enumerate(reasons)))
        self.tune("--searcher", "exhaustive", "--budget", "100", "--store", "s.sqlite")
        got = {configuration: reason for configuration, reason, _ in self.rows("s.sqlite")}
        self.assertEqual(len(got), 2 * len(reasons))
        for i, (at, do, reason) in enumerate(reasons):
            self.assertEqual(got[f"a={i} b=1"], reason, f"{do} at {at}")
            self.assertEqual(got[f"a={i} b=0"], "none")

    def test_timestamps_without_meaning_are_not_believed(self):
        self.inject({"at": "time", "do": "zero"})
        self.assertEqual(self.tune(*SMALL, "--finalists", "0")["best"]["clock"], "host")
        self.inject({"at": "time", "do": "shift", "seconds": 3600})
        self.assertEqual(self.tune(*SMALL, "--finalists", "0")["best"]["clock"], "host")

    def test_occasions_are_counted_across_processes(self):
        self.inject({"at": "build", "do": "error", "from": 3, "every": 5, "times": 2})
        self.tune(*SMALL)
        self.tune(*SMALL)
        self.assertEqual(len(self.deeds()), 2)

    def test_a_share_is_always_the_same(self):
        self.write_problem(20, 10)
        self.inject({"at": "build", "do": "error", "share": 0.3, "seed": 5})
        first, second = (self.tune("--searcher", "exhaustive", "--budget", "200", "--finalists", "0", "--no-store") for _ in range(2))
        self.assertEqual(first["reasons"], second["reasons"])
        self.assertTrue(40 < first["reasons"]["compile-error"] < 80, first["reasons"])

    def test_a_note_changes_nothing(self):
        self.inject({"at": "build", "do": "note"})
        self.assertEqual(self.tune(*SMALL)["evaluations"]["correct"], 30)
        self.assertEqual({deed[3] for deed in self.deeds()}, {"note"})

    def test_a_wrong_rule_ends_the_process(self):
        for rule in ({"at": "build", "do": "corrupt"}, {"at": "nowhere", "do": "error"},
                     {"at": "build", "do": "error", "x": 1}):
            run = subprocess.run([CLATUNE, "tune", "copy.json", "--device", "Simulated", "--no-store"], cwd=self.folder,
                                 env={**self.environment, "OPENCL_LAYERS": LAYER,
                                      "CLATUNE_FAULTS": json.dumps({"rules": [rule]})}, text=True, capture_output=True)
            self.assertNotEqual(run.returncode, 0, rule)
            self.assertIn("instrument: ", run.stderr)
            self.assertIn("CLATUNE_FAULTS", run.stderr)


if __name__ == "__main__":
    main()
