"""Devices whose clock sleeps, drifts and is throttled, and whose launches take time (docs/explanation/measuring.md)."""
import struct

from simulation import SimulatedTest, main

# The best of each sample below is ahead by more than 8 %: less could be the noise of a busy machine.
TIME_S = "2e-6 * (1 + 0.3 * abs(a - 8.6) + 0.4 * abs(b - 7.3))"
CLOCK = {"asleep": 0.2, "idle_s": 0.3, "drift": 0.04, "period_s": 3, "throttled": 0.5, "throttled_every_s": 0.5, "throttled_for_s": 0.12}
PCI = "0000:03:00.0"
FIELDS = ("launch_s", "step_s", "usual_step_s", "clock_mhz", "throttled", "busy_share")


class Clock(SimulatedTest):
    def simulate(self, clock=None, **device):
        """With a clock, the kernel that observes it takes 100 us at full speed."""
        described = {"devices": [{"time_s": TIME_S, **device, **({"clock": clock} if clock else {})}]}
        self.write_devices({**described, "kernels": {"clatune_steps": "1e-4"}} if clock else described)

    def states(self, store):
        return [dict(zip(FIELDS, struct.unpack("<6d", state))) for state, in self.rows(store, "state")]

    def test_the_same_winner_as_with_a_steady_clock(self):
        """The simulated clock runs in real time: on a busy machine it may be throttled, or asleep again, whenever a worker sees it, and
        counts as usual. So half of the twenty may be missed; without the observation, all are."""
        missed = []
        for seed in range(1, 21):
            options = ("--searcher", "random", "--budget", "20", "--finalists", "3", "--seed", str(seed), "--oclgrind", "no")
            self.simulate(CLOCK)
            answer, best = self.tune(*options, "--store", f"{seed}.sqlite"), None
            for name, _, _ in self.rows(f"{seed}.sqlite"):
                a, b = (int(x.split("=")[1]) for x in name.split())
                time_s = eval(TIME_S, {"a": a, "b": b})
                best = min(best or (time_s, a, b), (time_s, a, b))
            if answer["best"]["configuration"] != {"a": best[1], "b": best[2]} or answer["best"]["state"]["clock_share"] <= 0.75:
                missed.append(seed)
                continue
            if seed % 10 == 0:  # without noise the best in truth is found
                self.simulate()
                self.assertEqual(self.tune(*options, "--no-store")["best"]["configuration"], answer["best"]["configuration"])
        self.assertLessEqual(len(missed), 10, f"seeds {missed}")

    def test_a_clock_that_stays_low_is_said(self):
        self.simulate({"throttled": 0.5, "throttled_every_s": 4, "throttled_for_s": 2}, build_s=0.05)
        options = ("--searcher", "random", "--budget", "120", "--finalists", "0", "--workers", "1")
        answer = self.tune(*options, "--store", "t.sqlite")
        slow = [state for state in self.states("t.sqlite") if state["throttled"]]
        self.assertGreater(len(slow), 0)
        self.assertLess(len(slow), 120)
        self.assertTrue(all(state["usual_step_s"] < 0.75 * state["step_s"] for state in slow))
        self.assertTrue(any("75 % of its usual clock" in note for note in answer["notes"]), answer["notes"])

    def test_an_empty_launch_is_measured_once_and_shown(self):
        self.simulate(launch_s=4.8e-6)
        answer = self.tune("--searcher", "random", "--budget", "5", "--store", "t.sqlite")
        for state in self.states("t.sqlite"):
            self.assertAlmostEqual(state["launch_s"], 4.8e-6, delta=5e-9)
        best = answer["best"]
        self.assertAlmostEqual(best["state"]["launch_share"], best["state"]["launch_s"] / best["time_s"])
        self.assertTrue(any("use a larger size" in note for note in answer["notes"]), answer["notes"])
        said = self.clatune("measure", *self.subject, "--rounds", "1", "--configuration", "a=17 b=9").stdout
        self.assertRegex(said, r"(?m)^launch +4\.80\d us for an empty one, \d+ % of the time: use a larger size")
        shown = self.clatune_json("report", *self.subject, "--store", "t.sqlite")["tunings"][0]["best"]["state"]
        self.assertAlmostEqual(shown["launch_s"], 4.8e-6, delta=5e-9)
        self.simulate(launch_s=1e-7)
        answer = self.tune("--searcher", "random", "--budget", "5", "--no-store")
        self.assertLess(answer["best"]["state"]["launch_share"], 0.1)
        self.assertFalse(any("larger size" in note for note in answer["notes"]), answer["notes"])

    def test_what_the_system_reports_is_stored(self):
        folder = self.folder / "sys" / "bus" / "pci" / "devices" / PCI / "hwmon" / "hwmon3"
        folder.mkdir(parents=True)
        (folder / "freq1_input").write_text("1500000000\n")
        self.environment["CLATUNE_SYSFS"] = str(self.folder / "sys")
        self.simulate({"mhz": 1500, "file": str(folder / "freq1_input"), "asleep": 0.5, "idle_s": 1000}, pci_address=PCI,
                      extensions="cl_khr_pci_bus_info")
        state = self.tune("--searcher", "random", "--budget", "3", "--no-store")["best"]["state"]
        self.assertAlmostEqual(state["clock_mhz"], 1500, delta=15)
        self.assertAlmostEqual(state["clock_share"], 1, delta=0.01)
        self.assertIs(state["throttled"], False)


if __name__ == "__main__":
    main()
