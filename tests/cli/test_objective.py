"""Figures of merit: metrics, other objectives than time, and energy by counters of the tests' own."""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main, problem  # noqa: E402

FAKE_NVML = os.environ["CLATUNE_FAKE_NVML"]
METRICS = [{"Name": "rate", "Expression": "n / time_s / 1e6", "Unit": "M/s", "Goal": "Maximise"},
           {"Name": "waste", "Expression": "time_s * (1 + a)", "Goal": "Minimise"}]


class ObjectiveTest(SimulatedTest):
    def write(self, n_a=8, n_b=5, **sections):
        (self.folder / "copy.json").write_text(json.dumps({**problem(n_a, n_b), **sections}))

    def tuned(self, *options, **more):
        return self.tune("--searcher", "exhaustive", "--store", "s.sqlite", *options, **more)

    def value(self, measurement, name):
        return {m["name"]: m["value"] for m in measurement["metrics"]}[name]


class Objective(ObjectiveTest):
    def test_metrics_are_shown_beside_the_time(self):
        self.write(Metrics=METRICS)
        result = self.tuned()
        self.assertEqual(result["objective"]["name"], "time")
        time_s, a = result["best"]["time_s"], result["best"]["configuration"]["a"]
        self.assertAlmostEqual(self.value(result["best"], "rate") * time_s, 1024 / 1e6)
        self.assertAlmostEqual(self.value(result["best"], "waste"), time_s * (1 + a))
        self.assertEqual(result["best"]["configuration"], {"a": 7, "b": 4})  # nearest to the optimum (17, 9)

    def test_another_objective_has_another_best(self):
        self.write(Metrics=METRICS, Objective="waste")
        result = self.tuned()
        # time * (1 + a), time = 1e-5 (1 + 0.02 |a - 17| + 0.03 |b - 9|): least at a = 0
        self.assertEqual(result["best"]["configuration"], {"a": 0, "b": 4})
        self.assertEqual((result["objective"]["goal"], result["objective"]["expression"]), ("minimise", "time_s * (1 + a)"))
        self.assertAlmostEqual(result["objective"]["value"], result["best"]["time_s"])
        self.assertTrue(result["best"]["finalist"])
        # The same store answers another question without a measurement.
        again = self.tuned("--objective", "maximise (1 + a) / time_s")
        self.assertEqual((again["evaluations"]["measured"], again["evaluations"]["reused"]), (0, 40))
        self.assertEqual(again["best"]["configuration"], {"a": 7, "b": 4})
        self.assertAlmostEqual(again["objective"]["value"] * again["best"]["time_s"], 8)

    def test_searchers_follow_the_objective(self):
        self.write(20, 10, Metrics=METRICS)
        for searcher in ("surrogate", "genetic", "annealing", "hill-climb"):
            with self.subTest(searcher):
                result = self.tune("--searcher", searcher, "--budget", "60", "--no-store", "--objective", "waste", "--finalists", "0")
                self.assertLess(result["best"]["configuration"]["a"], 6, result["best"])
                self.assertAlmostEqual(result["objective"]["value"], self.value(result["best"], "waste"))

    def test_a_target_is_a_value_of_the_objective(self):
        self.write(40, 25, Metrics=METRICS)
        result = self.tune("--searcher", "random", "--no-store", "--objective", "rate", "--target", "85")
        self.assertEqual(result["ended_by"], "target")
        self.assertGreaterEqual(result["objective"]["value"], 84)
        self.assertLess(result["evaluations"]["total"], 200)

    def test_text_and_the_mistakes_in_it(self):
        self.write(Metrics=METRICS)
        text = self.clatune("tune", "copy.json", "--device", "Simulated", "--no-store", "--objective", "rate").stdout
        self.assertIn("objective           maximise rate: ", text)
        self.assertIn("times better than the default configuration", text)
        self.assertIn("M/s", text)
        plan = self.tune("--dry-run", "--no-store", "--objective", "waste")
        self.assertEqual(plan["objective"]["expression"], "time_s * (1 + a)")
        run = self.clatune("tune", "copy.json", "--device", "Simulated", "--no-store", "--objective", "rat", expect=2)
        self.assertIn("did you mean 'rate'", run.stderr)
        run = self.clatune("tune", "copy.json", "--device", "Simulated", "--no-store", "--objective", "minimise a +", expect=2)
        self.assertIn("column", run.stderr)
        run = self.clatune("tune", "copy.json", "--device", "Simulated", "--no-store", "--objective", "minimise log(-a)", expect=4)
        self.assertIn("correct evaluations has a value of the objective 'log(-a)'", run.stderr)

    def test_values_of_any_sign(self):
        self.write(20, 10)
        for searcher in ("surrogate", "two-stage", "genetic", "annealing", "hill-climb", "ants"):
            for objective, best in (("minimise a - 5", -5), ("maximise -1 - a", -1), ("maximise a - 19", 0)):
                with self.subTest(searcher, objective=objective):
                    result = self.tune("--searcher", searcher, "--budget", "60", "--store", "s.sqlite", "--objective", objective,
                                       "--finalists", "2" if searcher == "genetic" else "0")
                    self.assertEqual(result["evaluations"]["correct"], result["evaluations"]["total"])
                    self.assertLessEqual(abs(result["objective"]["value"] - best), 2)
        near = self.tune("--searcher", "exhaustive", "--store", "s.sqlite", "--objective", "minimise a - 19", "--target", "-15.5")
        self.assertEqual(near["ended_by"], "target")
        self.write(20, 10, Objective="maximise -10 - a")
        text = self.clatune("report", "copy.json", "--device", "Simulated", "--store", "s.sqlite").stdout
        bars = {line.split()[0]: line.count("#") for line in re.search(r"\na explains.*\n.*\n((?: .*\n)+)", text)[1].splitlines()}
        self.assertGreater(bars["0"], 20)
        self.assertLess(bars[max(bars, key=int)], bars["0"] / 2)

    def test_configurations_without_a_value_are_passed_over(self):
        self.write()
        result = self.tuned("--objective", "minimise log(a - 3)")  # up to 3 none
        self.assertEqual(result["objective"]["without_value"], 20)
        self.assertGreater(result["best"]["configuration"]["a"], 3)

    def test_looking_up_and_reporting_follow_it(self):
        self.write(Metrics=METRICS)
        self.tuned()
        device = ("--device", "Simulated", "--store", "s.sqlite")
        by_time = self.clatune_json("lookup", "copy.json", *device)
        self.assertEqual((by_time["configuration"], by_time["objective"]["name"]), ({"a": 7, "b": 4}, "time"))
        by_waste = self.clatune_json("lookup", "copy.json", *device, "--objective", "waste")
        self.assertEqual((by_waste["tier"], by_waste["configuration"]), ("exact", {"a": 0, "b": 4}))
        self.assertAlmostEqual(by_waste["expected_value"], by_waste["expected_time_s"])
        text = self.clatune("lookup", "copy.json", *device, "--objective", "rate").stdout
        self.assertIn("objective         maximise rate: ", text)
        self.write(Metrics=METRICS, Objective="waste")
        self.assertEqual(self.clatune_json("lookup", "copy.json", *device)["configuration"], {"a": 0, "b": 4})
        text = self.clatune("report", "copy.json", *device).stdout
        self.assertIn("objective: minimise waste", text)
        best = text[text.index("The 10 best"):].splitlines()[1]
        self.assertTrue(best.endswith("a=0 b=4"), best)

    def test_a_page_and_json_are_by_it(self):
        self.write(Metrics=METRICS)
        self.tuned()
        report = ("report", "copy.json", "--device", "Simulated", "--store", "s.sqlite")
        for objective, goal, a in (("waste", "minimise", 0), ("rate", "maximise", 7)):
            one = self.clatune_json(*report, "--objective", objective)["tunings"][0]
            self.assertEqual((one["objective"]["name"], one["objective"]["goal"]), (objective, goal))
            best = one["best"]
            self.assertEqual(best["configuration"], {"a": a, "b": 4})
            value = best["time_s"] * (1 + a) if objective == "waste" else 1024 / 1e6 / best["time_s"]
            self.assertAlmostEqual(best["value"] / value, 1)
            values = [step["best_value"] for step in one["progress"]]
            self.assertEqual(values, sorted(values, reverse=goal == "minimise"))
            self.assertAlmostEqual(values[-1] / best["value"], 1)
            effect = next(p for p in one["parameters"] if p["name"] == "a")["values"]
            of_best = next(v for v in effect if v["value"] == a)
            self.assertAlmostEqual(of_best["best"] / best["value"], 1)
        by_time = self.clatune_json(*report)["tunings"][0]
        self.assertEqual(by_time["objective"], {"name": "time", "unit": "s", "goal": "minimise"})
        self.assertEqual(by_time["best"]["value"], by_time["best"]["time_s"])
        self.assertIn("least_s", by_time["parameters"][0]["values"][0])
        self.clatune(*report, "--objective", "rate", "-o", "rate.html")
        page = (self.folder / "rate.html").read_text()
        data = re.search(r'<script type="application/json" id="document">(.*?)</script>', page, re.S)[1]
        shown = json.loads(data)["tunings"][0]
        self.assertEqual(shown["objective"], {"name": "rate", "unit": "M/s", "goal": "maximise"})
        self.assertAlmostEqual(shown["best_value"] * by_time["best"]["time_s"] / (1024 / 1e6), 1, 6)
        self.assertIn("objective: maximise rate (M/s)", page)  # if scripts are off

    def test_a_recording_has_its_metrics_and_is_replayed_by_them(self):
        self.write(Metrics=METRICS, Objective="rate")
        self.clatune("record", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "-o", "r.json")
        result = json.loads((self.folder / "r.json").read_text())["results"][0]
        self.assertEqual(result["objectives"], ["rate"])
        units = {m["name"]: m["unit"] for m in result["measurements"]}
        self.assertEqual((units["time"], units["rate"], units["waste"]), ("ms", "M/s", ""))
        replayed = self.clatune_json("replay", "r.json", "--searcher", "random", "--budget", "40", "--repeat", "3", "--objective",
                                     "minimise time_s * (1 + a)")
        self.assertEqual(replayed["mean"]["40"], 1)
        least = 1e-5 * (1 + 0.02 * 17 + 0.03 * 5)
        self.assertAlmostEqual(replayed["results"][0]["optimum"] / least, 1, 3)
        text = self.clatune("report", "r.json", "--objective", "maximise n / time_s").stdout
        self.assertIn("objective: maximise n / time_s", text)
        run = self.clatune("replay", "r.json", "--objective", "energy", expect=4)
        self.assertIn("no result in 'r' has 'energy'; its objectives are time, rate, waste", run.stderr)


class Front(ObjectiveTest):
    # Least times at a = 17, least waste at a = 0; both at b = 9.
    FRONT = [(a, 9) for a in range(17, -1, -1)]

    def setUp(self):
        super().setUp()
        self.write(20, 10, Metrics=METRICS)

    def members(self, front):
        return [(m["configuration"]["a"], m["configuration"]["b"]) for m in front]

    def test_the_front_of_the_whole_space(self):
        result = self.tuned("--objective", "time, waste", "--finalists", "0")
        self.assertEqual(self.members(result["front"]), self.FRONT)
        self.assertEqual(result["best"]["configuration"], {"a": 17, "b": 9})  # by the first
        for member in result["front"]:
            self.assertEqual([v["name"] for v in member["values"]], ["time", "waste"])
            self.assertAlmostEqual(member["values"][1]["value"], member["time_s"] * (1 + member["configuration"]["a"]))
        again = self.tuned("--objective", "waste,minimise time_s,maximise a")
        self.assertEqual((again["evaluations"]["measured"], again["best"]["configuration"]["a"]), (0, 0))
        # Of more than 16 those are confirmed that lie apart, the best by each objective among them.
        confirmed = self.tuned("--objective", "time,waste")["front"]
        self.assertEqual(len(confirmed), 16)
        self.assertEqual((self.members(confirmed)[0], self.members(confirmed)[-1]), ((17, 9), (0, 9)))
        self.assertTrue(all(len(m["runs_s"]) == 7 for m in confirmed))
        plan = self.clatune("tune", "copy.json", "--device", "Simulated", "--no-store", "--dry-run", "--objective", "time,maximise rate,waste")
        self.assertRegex(plan.stdout, "objective +minimise time, maximise rate, minimise waste\n")
        self.assertEqual(plan.stderr, "clatune: note: the objective 'rate' says the same as 'time': both depend on the time alone\n")
        # What is slow is not abandoned, and one objective knows of no front.
        self.assertEqual((again["evaluations"]["abandoned"], self.tuned()["front"]), (0, []))
        text = self.clatune("tune", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "--objective", "time,waste").stdout
        self.assertRegex(text, r"(?m)^front +a=17 b=9: time 10 us, waste 0.00018\n +a=")

    def test_the_model_search_covers_the_front(self):
        found = {}
        for searcher in ("surrogate", "random"):
            fronts = [self.tune("--searcher", searcher, "--seed", str(seed), "--budget", "60", "--no-store", "--objective", "time,waste",
                                "--finalists", "0")["front"] for seed in (1, 2)]
            found[searcher] = sum(len(set(self.members(front)) & set(self.FRONT)) for front in fronts)
        self.assertGreater(found["surrogate"], 18, found)
        self.assertGreater(found["surrogate"], 1.5 * found["random"], found)
        first, second = (self.tune("--seed", "3", "--budget", "30", "--no-store", "--objective", "time,waste", "--evaluations")["results"]
                         for _ in range(2))
        asked = [{(r["configuration"]["a"], r["configuration"]["b"]) for r in results} for results in (first, second)]
        self.assertEqual(asked[0], asked[1])  # the answers come in any order

    def test_the_report_and_a_look_up(self):
        self.tuned()
        report = ("report", "copy.json", "--device", "Simulated", "--store", "s.sqlite")
        front = self.clatune_json(*report, "--objective", "time,waste")["tunings"][0]["front"]
        self.assertEqual([m["text"] for m in front["members"]], [f"a={a} b={b}" for a, b in self.FRONT])
        self.assertEqual(len(front["points"]), 200)
        self.assertEqual(self.clatune_json(*report)["tunings"][0]["front"], {"members": [], "points": []})
        text = self.clatune(*report, "--objective", "time,waste").stdout
        self.assertIn("no other configuration dominates\na=17 b=9: time 10 us, waste 0.00018\na=16 b=9: ", text)
        found = self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "--objective", "waste,time")
        self.assertEqual((found["tier"], found["configuration"]), ("exact", {"a": 0, "b": 9}))

    def test_mistakes(self):
        for objective, said in (("time,", "missing before or after a comma"), ("time,Waste", "'Waste'; did you mean 'waste'?\n"),
                                ("time waste", "no objective 'time waste' among time, energy, rate, waste"), ("time,time", "the objective 'time' is listed twice"),
                                ("time,wast", "did you mean 'waste'"), ("time,energy,rate,waste,minimise a", "'minimise a' is one too many")):
            run = self.clatune("tune", "copy.json", "--device", "Simulated", "--no-store", "--objective", objective, expect=2)
            self.assertIn(said, run.stderr)


class Energy(ObjectiveTest):
    POWER_W = "100 * (1 + abs(a - 2))"  # least at a = 2, where the time is not

    def setUp(self):
        super().setUp()
        self.zone = self.folder / "powercap" / "intel-rapl:0"
        self.zone.mkdir(parents=True)
        self.counter = self.zone / "energy_uj"
        (self.zone / "name").write_text("package-0\n")
        (self.zone / "max_energy_range_uj").write_text("262143328850\n")
        self.counter.write_text("0\n")
        self.environment["CLATUNE_POWERCAP"] = str(self.folder / "powercap")
        self.describe(type="cpu")
        self.write()

    def describe(self, **device):
        self.simulate(time_s="1e-5 * (1 + 0.02 * abs(a - 17) + 0.03 * abs(b - 9))",
                      energy={"power_w": self.POWER_W, "counter": str(self.counter)}, **device)

    def measure(self, *options, **more):
        return self.tuned("--objective", "energy", "--energy-time", "0.01", "--max-runs", "3", *options, **more)

    def expected_J(self, a, b):
        return 100 * (1 + abs(a - 2)) * 1e-5 * (1 + 0.02 * abs(a - 17) + 0.03 * abs(b - 9))

    def check(self, result, places=3):
        self.assertEqual(result["best"]["configuration"], {"a": 2, "b": 4})
        self.assertAlmostEqual(result["objective"]["value"] / self.expected_J(2, 4), 1, places)
        self.assertEqual(result["objective"]["unit"], "J")

    def test_the_least_energy_is_found(self):
        result = self.measure()
        self.check(result)
        self.assertTrue(0 < result["best"]["state"]["busy_share"] <= 1)
        said = self.clatune("measure", "copy.json", "--device", "Simulated", "--objective", "energy", "--energy-time", "0.01", "--rounds", "1").stdout
        self.assertRegex(said, r"(?m)^busy +\d+ % of the time over which energy was measured$")
        self.assertTrue(result["best"]["finalist"])
        # It is stored with the times, so the same is known, and other objectives can be asked about.
        again = self.measure()
        self.check(again)
        self.assertEqual(again["evaluations"]["measured"], 0)
        found = self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "--objective", "energy")
        self.assertEqual(found["configuration"], {"a": 2, "b": 4})
        self.assertAlmostEqual(found["expected_value"] / self.expected_J(2, 4), 1, 3)
        delay = self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "--objective",
                                  "minimise energy_J * time_s")
        self.assertEqual(delay["configuration"], {"a": 2, "b": 4})
        self.assertEqual(self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store",
                                           "s.sqlite")["configuration"], {"a": 7, "b": 4})

    def test_what_was_measured_without_energy_is_measured_again(self):
        self.tuned()
        result = self.measure("--finalists", "0")
        self.assertEqual((result["evaluations"]["measured"], result["evaluations"]["reused"]), (40, 0))

    def test_time_and_energy_have_a_front(self):
        front = self.tuned("--objective", "time,energy", "--energy-time", "0.01", "--max-runs", "3")["front"]
        self.assertEqual([m["configuration"] for m in front], [{"a": a, "b": 4} for a in (7, 6, 5, 4, 3, 2)])
        self.assertAlmostEqual(front[-1]["values"][1]["value"] / self.expected_J(2, 4), 1, 3)

    def test_energy_is_recorded_and_replayed(self):
        self.clatune("record", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "-o", "e.json", "--objective", "energy",
                     "--energy-time", "0.01")
        first = json.loads((self.folder / "e.json").read_text())["results"][0]
        energy = [m for m in first["measurements"] if m["name"] == "energy"][0]
        self.assertEqual((energy["unit"], first["objectives"]), ("J", ["energy"]))
        self.assertAlmostEqual(energy["value"] / self.expected_J(0, 0), 1, 3)
        replayed = self.clatune_json("replay", "e.json", "--searcher", "random", "--budget", "40", "--repeat", "2", "--objective", "energy")
        self.assertAlmostEqual(replayed["results"][0]["optimum"] / self.expected_J(2, 4), 1, 3)

    def test_in_the_tuners_own_process(self):
        result = self.tuned("--objective", "energy", "--energy-time", "0.01", "--evaluator", "in-process")
        self.check(result)

    def test_a_gpu_of_nvidia(self):
        self.describe(vendor="NVIDIA Corporation")
        uuid = self.clatune_json("devices")["devices"][0]["uuid"]
        gpu = f"GPU-{uuid[:8]}-{uuid[8:12]}-{uuid[12:16]}-{uuid[16:20]}-{uuid[20:]}"
        self.environment.update(CLATUNE_NVML=FAKE_NVML, FAKE_NVML_COUNTER=str(self.counter), FAKE_NVML_UUID=gpu)
        self.check(self.measure(), places=2)  # NVML counts in mJ

    def test_a_system_without_a_counter_says_so(self):
        store = ("--no-store", "--objective", "energy")
        for zone, said in (("none", "provides no energy counters"), ("powercap", "has no zone")):
            self.environment["CLATUNE_POWERCAP"] = str(self.folder / zone)
            (self.zone / "name").write_text("psys\n")
            run = self.clatune("tune", "copy.json", "--device", "Simulated", *store, expect=1)
            self.assertIn("the energy of 'Simulated device' cannot be measured", run.stderr)
            self.assertIn(said, run.stderr)
        self.describe(vendor="Somebody", type="gpu")
        run = self.clatune("tune", "copy.json", "--device", "Simulated", *store, expect=1)
        self.assertIn("only CPUs (Linux powercap) and NVIDIA GPUs (NVML)", run.stderr)


if __name__ == "__main__":
    main()
