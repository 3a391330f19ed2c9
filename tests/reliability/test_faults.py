"""Faults of single configurations: each under its reason, nothing else lost, the same best."""
import os

from simulation import SimulatedTest, main

N_B = 25
N_A = int(os.environ.get("CLATUNE_CONFIGURATIONS", "500")) // N_B
# Of 25 values of b five are struck, a fifth of the configurations. (17, 9) is the best and stays.
STRUCK = {3: ("build", "segv", "compile-crash"), 5: ("run", "abort", "run-crash"), 12: ("run", "exit", "run-crash"),
          18: ("launch", "error", "launch"), 21: ("output", "corrupt", "wrong-output")}


class Crashes(SimulatedTest):
    def exhaustive(self, store):
        self.write_problem(N_A, N_B)
        return self.tune("--searcher", "exhaustive", "--budget", str(N_A * N_B), "--abandon-factor", "0", "--store", store)

    def test_a_fifth_of_all_has_faults(self):
        good = self.exhaustive("good.sqlite")
        self.inject(*({"at": at, "do": do, "when": f"b == {b}"} for b, (at, do, _) in STRUCK.items()))
        answer = self.exhaustive("struck.sqlite")
        rows = self.rows("struck.sqlite")
        self.assertEqual(len(rows), N_A * N_B)
        self.assertEqual(len({configuration for configuration, _, _ in rows}), N_A * N_B)
        for configuration, reason, _ in rows:
            b = int(configuration.split("b=")[1])
            self.assertEqual(reason, STRUCK[b][2] if b in STRUCK else "none", configuration)
        self.assertEqual(answer["evaluations"]["correct"], N_A * N_B * 4 // 5)
        self.assertEqual(answer["best"]["configuration"], good["best"]["configuration"])
        times = {configuration: time_s for configuration, _, time_s in self.rows("good.sqlite")}
        for configuration, reason, time_s in rows:
            if reason == "none":
                self.assertAlmostEqual(time_s, times[configuration], delta=2e-9)


if __name__ == "__main__":
    main()
