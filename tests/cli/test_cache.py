"""Cold and warm caches: measuring, storing, showing and looking up, on a simulated device that has a cache."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402

N_A = 20
COLD, WARM = 3, 15  # the best a
TIMES = {"time_s": f"1e-5 * (1 + 0.05 * abs(a - {COLD}))",
         "warm_s": f"5e-6 * (1 + 0.05 * abs(a - {WARM}))"}


class Cache(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(N_A, 1)
        self.simulate(global_memory_bytes=1 << 26, **TIMES)

    def say(self, timing):
        path = self.folder / "copy.json"
        text = json.loads(path.read_text())
        text["Timing"] = timing
        path.write_text(json.dumps(text))

    def best(self, *options):
        return self.tune("--searcher", "exhaustive", "--budget", str(N_A), *options)

    def test_the_ranking_is_that_of_the_cache_asked_for(self):
        for evaluator in ("opencl", "in-process"):
            options = ("--no-store", "--evaluator", evaluator)
            warm, cold = self.best(*options), self.best(*options, "--cache", "cold")
            self.assertEqual((warm["best"]["configuration"]["a"], warm["cache"], warm["problem"]), (WARM, "warm", "copy"))
            self.assertEqual((cold["best"]["configuration"]["a"], cold["cache"], cold["problem"]),
                             (COLD, "cold", "copy (cold cache)"))
            self.assertAlmostEqual(cold["best"]["time_s"], 1e-5)
            self.assertAlmostEqual(warm["best"]["time_s"], 5e-6)

    def test_the_problem_file_says_and_the_command_line_overrides(self):
        self.say({"Cache": "cold"})
        self.assertEqual(self.best("--no-store")["cache"], "cold")
        self.assertEqual(self.best("--no-store", "--cache", "warm")["best"]["configuration"]["a"], WARM)
        self.say({"Cache": "lukewarm"})
        said = self.clatune("tune", *self.subject, expect=1).stderr
        self.assertIn('Timing.Cache: needs "warm" or "cold", not "lukewarm"', said)
        self.say({"Cash": "cold"})
        self.assertIn('"Cash"', self.clatune("tune", *self.subject, expect=1).stderr)
        self.say({})
        self.assertIn("needs 'warm', 'cold' or 'both'", self.clatune("tune", *self.subject, "--cache", "on", expect=2).stderr)
        self.assertIn("needs 'warm' or 'cold', not 'both'", self.clatune("lookup", *self.subject, "--cache", "both", expect=2).stderr)

    def test_turns_side_by_side_are_cold_too(self):
        timed = ("--configuration", f"a={COLD} b=0", "--configuration", f"a={WARM} b=0", "--rounds", "8")
        for cache, factor in (("warm", 5e-6), ("cold", 1e-5)):
            measured = self.clatune_json("measure", *self.subject, "--cache", cache, *timed)["measurements"]
            times = {m["configuration"]["a"]: m["time_s"] for m in measured}
            best = COLD if cache == "cold" else WARM
            self.assertAlmostEqual(times[best], factor)
            self.assertAlmostEqual(times[COLD + WARM - best], factor * (1 + 0.05 * abs(COLD - WARM)))

    def test_both_are_shown_on_request(self):
        timed = ("--configuration", f"a={COLD} b=0", "--configuration", f"a={WARM} b=0", "--rounds", "8")
        warm_s, cold_s = {COLD: 8e-6, WARM: 5e-6}, {COLD: 1e-5, WARM: 1.6e-5}
        for measured in self.clatune_json("measure", *self.subject, "--cache", "both", *timed)["measurements"]:
            a = measured["configuration"]["a"]
            self.assertAlmostEqual(measured["time_s"], warm_s[a])
            self.assertEqual(measured["other_cache"]["cache"], "cold")
            self.assertAlmostEqual(measured["other_cache"]["time_s"], cold_s[a])
        text = self.clatune("measure", *self.subject, "--cache", "both", *timed).stdout
        self.assertRegex(text, r"(?m)^time +5 us .*\n(.*\n)?cold caches +16 us ")
        for said, other, best in (("warm", "cold", WARM), ("cold", "warm", COLD)):
            self.say({"Cache": said})
            answer = self.best("--no-store", "--cache", "both")
            self.assertEqual((answer["cache"], answer["best"]["configuration"]["a"]), (said, best))
            self.assertEqual(answer["best"]["other_cache"]["cache"], other)
            self.assertAlmostEqual(answer["best"]["other_cache"]["time_s"], (cold_s if other == "cold" else warm_s)[best])
            self.assertGreater(answer["default"]["other_cache"]["time_s"], 0)
        self.assertIn("leave out '--cache both'", self.clatune("tune", *self.subject, "--no-store", "--objective", "energy",
                                                               "--cache", "both", expect=2).stderr)

    def test_short_runs_are_not_timed_together(self):
        """Of several at once only the first would be cold."""
        self.simulate(global_memory_bytes=1 << 26, timer={"tick_ns": 1000}, **TIMES)
        self.assertEqual(self.best("--no-store", "--cache", "cold")["best"]["clock"], "host")

    def test_records_of_either_kind_are_kept_apart(self):
        store = ("--store", "s.sqlite")
        warm = self.best(*store)
        self.assertEqual(self.best(*store, "--cache", "cold")["evaluations"]["measured"], N_A)
        self.assertEqual(self.best(*store, "--cache", "warm")["evaluations"]["reused"], N_A)
        self.say({"Cache": "warm"})  # the key of a file that says nothing
        self.assertEqual(self.best(*store)["evaluations"]["reused"], warm["evaluations"]["measured"])
        names = [line["problem"] for line in self.clatune_json("store", "list", *store)]
        self.assertEqual(sorted(names), ["copy", "copy (cold cache)"])

    def test_look_ups_answer_from_the_kind_asked_for(self):
        store = ("--store", "s.sqlite")
        self.best(*store)
        for size in ("1024", "2048"):  # neither as it is nor at another size
            self.assertEqual(self.clatune_json("lookup", *self.subject, *store, "--cache", "cold", "--size", f"n={size}")["tier"],
                             "default")
        said = self.clatune("lookup", "copy.json", *store, "--cache", "cold", "--format", "header", expect=1).stderr
        self.assertIn("copy (cold cache)", said)
        self.best(*store, "--cache", "cold")
        for cache, a in (("warm", WARM), ("cold", COLD)):
            found = self.clatune_json("lookup", *self.subject, *store, "--cache", cache)
            self.assertEqual((found["tier"], found["configuration"]["a"]), ("exact", a))
            header = self.clatune("lookup", "copy.json", *store, "--cache", cache, "--format", "header").stdout
            self.assertIn(f"a={a} b=0", header)
            self.assertNotIn(f"a={COLD + WARM - a} b=0", header)
            self.assertIn("clatune_copy_find", header)  # the program that includes it stays as it is
            portable = self.clatune_json("lookup", "copy.json", *store, "--cache", cache, "--portable")
            self.assertEqual(portable["configuration"]["a"], a)

    def test_energy_is_not_measured_cold(self):
        self.assertIn("cold cache", self.clatune("tune", *self.subject, "--no-store", "--objective", "energy", "--cache", "cold",
                                                 expect=1).stderr)


if __name__ == "__main__":
    main()
