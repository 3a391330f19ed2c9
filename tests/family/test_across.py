"""Models of a device that were learnt on others: simulated devices of different balance, whose kernels' times follow from the same
figures as those of the probe."""
import json
import os

import test_family
from simulation import SimulatedTest, main, problem  # test_family has put it on the path

# The first variant moves 4,000 bytes an element, the second one does 30,000 operations; wg=2 suits devices that compute fast. Seconds.
KERNELS = {
    "moves": "1e-6 + 4e-6 * n / stream * (1 if (wg == 2) == (single > 10 * stream) else 1.5)",
    "computes": "1e-6 + 3e-5 * n / single * (1 if (wg == 2) == (single > 10 * stream) else 1.5)",
    "stream": "32e-9 * (elements // 8) / stream", "single_mad": "512 * 128e-9 * 2048 * compute_units / single", "nothing": 1e-6}
DEVICES = {"Wide": (400, 1000), "Deep": (50, 1600), "Steep": (60, 3000), "Broad": (300, 600)}
FAMILY = {
    "Family": "tiny", "Module": "tiny.c",
    "Inputs": {"Parameters": ["n", "every"], "Train": [{"n": [16, 64, 256, 1024], "every": 1}],
               "Test": [{"n": [32, 512], "every": 1}]},
    "Features": {"From": "moves", "Numbers": ["n"], "Functions": [{"Function": "look", "Names": ["density"]}]},
    "Variants": [{"Name": "moves", "Problem": "moves.json"}, {"Name": "computes", "Problem": "computes.json"}]}
STORE = ("--store", "s.sqlite")


class Across(SimulatedTest):
    def setUp(self):
        super().setUp()
        for name in ("moves", "computes"):
            p = problem(1, 1)
            p["General"]["BenchmarkName"] = name
            p["ProblemParameters"] = [{"Name": "n", "Default": 64, "Max": 65536}, {"Name": "every", "Default": 1}]
            p["ConfigurationSpace"]["TuningParameters"] = [{"Name": "wg", "Type": "int", "Values": [1, 2], "Default": 1}]
            kernel = p["KernelSpecification"]
            kernel["KernelFile"], kernel["KernelName"], kernel["LocalSize"] = "v.cl", name, {"X": "wg"}
            kernel["Arguments"][0].update({"FillType": "Generator", "Generator": "fill"})
            del kernel["Arguments"][0]["FillValue"]
            p["Reference"]["Module"] = "tiny.c"
            (self.folder / f"{name}.json").write_text(json.dumps(p))
        kernel = "kernel void %s(global const float *in, global float *out) { out[get_global_id(0)] = in[get_global_id(0)]; }\n"
        (self.folder / "v.cl").write_text("constant int tuned = wg;\n" + kernel % "moves" + kernel % "computes")
        (self.folder / "tiny.c").write_text(test_family.MODULE.replace('if (clt_module_value(call, "bytes", 0) != (double)in->bytes) return 1;', ""))
        (self.folder / "tiny.family.json").write_text(json.dumps(FAMILY))
        devices = [{"name": name, "figures": {"stream": stream, "single": single}, "waits": True,
                    "clock_mhz": 1000 if stream > 100 else 2000, "global_memory_bytes": 1 << 26} for name, (stream, single) in DEVICES.items()]
        self.devices = {"kernels": KERNELS, "devices": devices}
        (self.folder / "devices.json").write_text(json.dumps(self.devices))
        self.environment["CLATUNE_SIMULATED"] = str(self.folder / "devices.json")

    def family(self, verb, *words, **more):
        return self.clatune("family", verb, "tiny.family.json", *words, **more)

    def test_what_other_devices_say(self):
        sources = ("--sources", "s.sqlite")
        for name in DEVICES:
            self.family("measure", *STORE, "--device", name, "--tune-on", "1", "--budget", "2", "--portfolio", "1", "--quiet")
        self.assertIn("devices --probe", self.family("report", *sources, expect=1).stderr)
        for name in DEVICES:
            self.clatune("devices", "--probe", *STORE, "--device", name)
        self.assertIn("measure --sources", self.family("report", *sources, expect=1).stderr)
        for name in DEVICES:
            self.family("measure", *STORE, "--device", name, "--portfolio", "1", *sources, "--quiet")
        answer = json.loads(self.family("report", *sources, "--portfolio", "2", "--quiet", "--json").stdout)
        *rows, mean = answer["devices"]
        self.assertEqual(sorted(row["device"] for row in rows), sorted(DEVICES))
        for row in rows:
            self.assertEqual((row["learnt_from"], row["judged_by"], row["arms"]), (12, 2, 4))
            self.assertNotEqual(row["nearest"], row["device"])
            self.assertLessEqual(set(row["figures"]), {"flops_per_byte", "flops_per_unit", "launch_kB"})  # never the clock
            self.assertGreaterEqual(row["top_two"], row["mean"])
        self.assertGreater(mean["mean"], 0.9)
        only = json.loads(self.family("report", *sources, "--device-features", "launch_kB", "--quiet", "--json").stdout)["devices"][:-1]
        self.assertEqual([row["figures"] for row in only], len(DEVICES) * [["launch_kB"]])
        for words, said in ((("--device-features", "clock_mhz"), "clock_mhz"), (("--device-features", "launch_kB,launch_kB"), "twice")):
            self.assertIn(said, self.family("report", *sources, *words, expect=2).stderr)
        self.assertIn("--sources", self.family("report", *STORE, "--device", "Wide", "--device-features", "launch_kB", expect=2).stderr)
        self.assertGreater(mean["mean"], mean["single_mean"])
        self.assertIn("alone", self.family("report", *sources).stdout)
        # a device of which nothing is known but its figures: its model says what its measurements would
        for name, best in ("Wide", "moves"), ("Steep", "computes"):
            own = ("--store", f"{name}.sqlite", "--device", name)
            self.clatune("devices", "--probe", *own)
            self.family("train", *own, *sources, "--portfolio", "2")
            choice = self.clatune_json("family", "select", "tiny.model.json", "--feature", "n=500", "--feature", "density=1")
            self.assertEqual(choice["variant"], best)
            self.assertEqual(sorted(choice["features"]), ["density", "n"])
        # a device like "Steep" that refuses the better arms: its first input tells
        self.devices["devices"].append({**self.devices["devices"][2], "name": "Short", "fails": {"launch": "wg == 2"}})
        (self.folder / "devices.json").write_text(json.dumps(self.devices))
        own = ("--store", "Short.sqlite", "--device", "Short")
        self.clatune("devices", "--probe", *own)
        for measured, configuration in (False, "wg=2"), (True, "wg=1"):
            if measured:
                self.family("measure", *own, *sources, "--portfolio", "1", "--train-only", "--inputs", "1", "--quiet")
            self.family("train", *own, *sources, "--portfolio", "2")
            choice = self.clatune_json("family", "select", "tiny.model.json", "--feature", "n=500", "--feature", "density=1")
            self.assertEqual((choice["variant"], choice["configuration"]), ("computes", configuration))
        self.assertIn("leave out --device", self.family("report", *sources, "--device", "Wide", expect=2).stderr)
        self.assertIn("another device", self.family("train", *STORE, "--device", "Wide", "--sources", "Wide.sqlite", expect=1).stderr)


if __name__ == "__main__":
    main()
