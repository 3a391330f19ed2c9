"""Devices whose timers are coarse, run backwards or jump (docs/explanation/measuring.md)."""
from simulation import SimulatedTest, main

# 10 to 14 us, in real time: the fastest is a=3 b=1.
TIME_S = "1e-5 * (1 + 0.1 * abs(a - 3) + 0.1 * abs(b - 1))"


class Timers(SimulatedTest):
    def times(self, timer, time_s=TIME_S, options=(), **device):
        """The result of tuning all eight configurations: the answer, and {(a, b): seconds}."""
        self.write_problem(4, 2)
        self.simulate(time_s=time_s, waits=True, timer=timer, **device)
        answer = self.tune("--searcher", "exhaustive", "--budget", "8", "--finalists", "0", "--store", "t.sqlite", *options)
        rows = self.rows("t.sqlite")
        self.assertEqual([reason for _, reason, _ in rows], 8 * ["none"])
        self.assertTrue(all(run > 0 for run in answer["best"]["runs_s"]))
        return answer, {tuple(int(x.split("=")[1]) for x in name.split()): time_s for name, _, time_s in rows}

    def test_runs_take_a_hundred_ticks(self):
        options = ("--max-runs", "5", "--max-run-time", "100")  # on a busy machine a run of 0.1 s may take seconds
        for tick_ns, says_ns in ((32000, 1), (32000, 32000), (1000000, 1)):
            answer, times = self.times({"tick_ns": tick_ns}, options=options, timer_resolution_ns=says_ns)
            self.assertEqual(answer["best"]["clock"], "device", tick_ns)
            self.assertEqual(answer["best"]["configuration"], {"a": 3, "b": 1}, tick_ns)
            for (a, b), time_s in times.items():  # and 0.1 us between two
                right_s = 1e-5 * (1 + 0.1 * abs(a - 3) + 0.1 * abs(b - 1)) + 1e-7
                self.assertAlmostEqual(time_s, right_s, delta=0.02 * right_s, msg=f"{tick_ns} {a} {b}")
            (self.folder / "t.sqlite").unlink()

    def test_what_cannot_be_repeated_is_timed_by_the_host(self):
        source = (self.folder / "copy.json").read_text()
        self.times({"tick_ns": 1})
        self.assertIn("WriteOnly", source)
        (self.folder / "t.sqlite").unlink()
        self.write_problem = lambda n_a, n_b: (self.folder / "copy.json").write_text(
            source.replace('"WriteOnly"', '"ReadWrite", "FillType": "Random", "FillValue": 1.0').replace(
                "range(40)", "range(4)").replace("range(25)", "range(2)"))
        for tick_ns, says_ns, clock in ((32000, 1, "host"), (1, 32000, "host"), (32, 1000, "device")):  # a fine tick may be rounding
            self.assertEqual(self.times({"tick_ns": tick_ns}, timer_resolution_ns=says_ns)[0]["best"]["clock"], clock, tick_ns)
            (self.folder / "t.sqlite").unlink()

    def test_a_run_that_the_host_was_kept_from_does_not_choose_the_clock(self):
        """The third run of each configuration, the first that is timed, and one far behind is timed no more than once."""
        self.inject(*({"at": "run", "do": "sleep", "seconds": 0.05, "when": f"a == {a} and b == {b}", "from": 3, "times": 1}
                      for a in range(4) for b in range(2)))
        for _, time_s in self.times({}, time_s="1e-5 * (1 + 2 * a + 2 * b)")[1].items():
            self.assertLess(time_s, 1e-3)
        self.assertEqual(len(self.deeds()), 8)

    def test_a_few_senseless_timestamps_leave_the_clock(self):
        for seed in (1, 53):  # among runs, and among the first copies too
            _, times = self.times({"reversed_share": 0.05}, noise={"seed": seed})
            for (a, b), time_s in times.items():
                right_s = 1e-5 * (1 + 0.1 * abs(a - 3) + 0.1 * abs(b - 1))
                self.assertAlmostEqual(time_s, right_s, delta=1e-9, msg=f"{seed} {a} {b}")
            (self.folder / "t.sqlite").unlink()

    def test_no_time_is_from_before_the_start(self):
        for timer in ({"reversed_share": 0.2}, {"reversed_share": 1}, {"jump_share": 0.1, "jump_s": -1},
                      {"jump_share": 0.1, "jump_s": 3600}, {"tick_ns": 32000, "reversed_share": 0.01}):
            _, times = self.times(timer)
            self.assertTrue(all(0.9e-5 < time_s < 0.1 for time_s in times.values()), f"{timer} {times}")
            (self.folder / "t.sqlite").unlink()


if __name__ == "__main__":
    main()
