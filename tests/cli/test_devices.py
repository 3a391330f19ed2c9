"""clatune devices: a tree with the facts that matter for tuning, and JSON with all; with --probe also their measurements."""
import json
import os
import pathlib
import re
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import CLATUNE, DRIVER, SimulatedTest, main  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import generate  # noqa: E402


class Devices(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.simulate({"name": "Simulated big", "compute_units": 64, "max_work_group_size": 1024, "local_memory_bytes": 49152,
                       "driver_version": "7.8", "timer_resolution_ns": 80},
                      name="Simulated small", type="cpu", max_work_group_size=256)

    def test_a_tree(self):
        platform, *lines = self.clatune("devices").stdout.splitlines()
        self.assertRegex(platform, r"^0  Simulated.*, OpenCL ")
        text = "\n".join(lines)
        big, small = text.split("\n  0:1  ")
        self.assertTrue(big.startswith("  0:0  Simulated big  [GPU]"), big)
        self.assertTrue(small.startswith("Simulated small  [CPU]"), small)
        for name, value in (("driver", "7.8"), ("compute units", "64 at up to 1000 MHz"),
                            ("work-group", "at most 1024 work-items, .*"), ("local memory", "48 KiB"),
                            ("global memory", "1 GiB, one buffer at most 256 MiB"), ("images", "none"), ("timer", "80 ns")):
            self.assertRegex(big, rf"(?m)^ +{name} +{value}$")
        self.assertIn("at most 256 work-items", small)

    def test_json_has_every_property(self):
        documented = set(re.findall(r"(?m)^\| `device\.(\w+)`", generate.device_properties(CLATUNE)))
        for device in self.clatune_json("devices")["devices"]:
            self.assertEqual(set(device), documented)

    def test_no_driver(self):
        run = self.clatune("devices", expect=3, OCL_ICD_VENDORS="/nonexistent")
        self.assertIn("no OpenCL device", run.stderr)
        self.assertEqual(self.clatune_json("devices", expect=3, OCL_ICD_VENDORS="/nonexistent")["devices"], [])

    def test_oclgrind_is_found_beside_its_program(self):
        """The simulated driver replaces Oclgrind's; no other one is known to the loader. The usual device does not count."""
        self.simulate(name="Oclgrind Simulator")
        for folder in ("bin", "lib/oclgrind"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "bin/oclgrind").write_text("#!/bin/sh\n")
        (self.folder / "bin/oclgrind").chmod(0o755)
        (self.folder / "lib/oclgrind/liboclgrind-rt-icd.so").symlink_to(DRIVER)
        environment = {"OCL_ICD_VENDORS": str(self.folder / "none"), "CLATUNE_DEVICE": "pocl"}
        run = self.clatune("verify", "copy.json", "--oclgrind", expect=3, **environment, PATH=str(self.folder))
        self.assertIn("--oclgrind needs Oclgrind", run.stderr)
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        answer = self.clatune_json("verify", "copy.json", "--oclgrind", "--quiet", **environment, PATH=path)
        self.assertEqual((answer["correct"], answer["oclgrind"]), (True, ""))

    def test_one_device(self):
        self.assertEqual([d["name"] for d in self.clatune_json("devices", "--device", "cpu")["devices"]], ["Simulated small"])
        self.assertIn("no device matches", self.clatune("devices", "--device", "Nothing", expect=3).stderr)
        self.assertIn("'--store'", self.clatune("devices", "--store", "s.sqlite", expect=2).stderr)


# What the kernels of the probe do in a launch on 16 units with groups of 256, in 0.4 ms each, as RATES says of a second.
TIME_S = 4e-4
ITEMS = 2048 * 16
RATES = {"gather_G_s": 128 * ITEMS * 1e-9 / TIME_S, "local_GB_s": 1024 * 16 * ITEMS * 1e-9 / TIME_S,
         "single_GFLOP_s": 512 * 128 * ITEMS * 1e-9 / TIME_S, "double_GFLOP_s": 256 * 128 * ITEMS * 1e-9 / TIME_S,
         "global_atomic_G_s": 128 * ITEMS * 1e-9 / TIME_S, "local_atomic_G_s": 512 * ITEMS * 1e-9 / TIME_S,
         "barrier_M_s": 2048 * ITEMS / 256 * 1e-6 / TIME_S}
PROBES = {"stream_GB_s", "launch_us", *RATES}
SMALL = {"global_memory_bytes": 2**26, "waits": True, "time_s": f"1e-6 if probe == 'launch_us' else {TIME_S}"}


class Probe(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.simulate(name="Simulated", extensions="cl_khr_fp64", clock_mhz=1500, **SMALL)

    def probe(self, *options):
        return self.clatune_json("devices", "--probe", "--quiet", "--store", "store.sqlite", *options)["devices"]

    def test_what_is_measured_is_kept_and_read_back(self):
        device, = self.probe()
        features = device["features"]
        self.assertEqual(device["failed"], {})
        self.assertLessEqual(PROBES, set(features))
        self.assertEqual((features["compute_units"], features["clock_mhz"]), (16, 1500))
        self.assertAlmostEqual(features["double_share"], features["double_GFLOP_s"] / features["single_GFLOP_s"])
        clocks = dict(self.query("select configuration, clock from measurement"))
        for name, value in features.items():
            self.assertGreater(value, 0, name)
            if name in RATES and clocks[f"probe={name}"] == "device":
                self.assertAlmostEqual(value / RATES[name], 1, places=3, msg=name)
        # The second time nothing is built: it would crash.
        self.inject({"at": "build", "do": "segv"})
        self.assertEqual(self.probe()[0], device)
        self.stop_injecting()
        text = self.clatune("devices", "--probe", "--store", "store.sqlite").stdout
        self.assertRegex(text, rf"(?m)^ +gather_G_s +{features['gather_G_s']:.4g}$")
        self.assertEqual(self.query("select count(*) from measurement"), [(9,)])
        self.probe("--fresh")
        self.assertEqual(self.query("select count(*) from measurement"), [(18,)])

    def query(self, sql):
        connection = sqlite3.connect(f"file:{self.folder / 'store.sqlite'}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def test_what_cannot_be_had_is_absent(self):
        """A kernel that takes the driver down, a device without doubles."""
        self.simulate(name="Simulated", **SMALL)
        self.inject({"at": "run", "do": "segv", "when": "probe == 'gather_G_s'"})
        device, = self.probe()
        self.assertEqual(set(device["failed"]), {"gather_G_s"})
        self.assertEqual(PROBES - set(device["features"]), {"gather_G_s", "double_GFLOP_s"})
        self.assertNotIn("gather_per_byte", device["features"])
        self.assertRegex(self.clatune("devices", "--probe", "--store", "store.sqlite").stdout, r"gather_G_s +failed: .*crash")

    def test_events_without_times(self):
        self.inject({"at": "time", "do": "zero"})
        features = self.probe()[0]["features"]
        for name in PROBES:
            self.assertGreater(features[name], 0, name)
        self.assertEqual(self.query("select distinct clock from measurement"), [("host",)])

    def test_a_driver_that_runs_nothing_gives_no_figures(self):
        """The personalities' kernels take a microsecond, whatever they do."""
        for name in ("nvidia", "mesa", "mali"):
            described = json.loads((ROOT / f"tests/instruments/personalities/{name}.json").read_text())
            described["devices"][0]["global_memory_bytes"] = 2**26
            self.environment["CLATUNE_SIMULATED"] = json.dumps(described)
            features = self.probe()[0]["features"]
            self.assertEqual(features["compute_units"], described["devices"][0]["compute_units"])
            for key in RATES.keys() & features.keys():  # if the host's clock saw more than 10 us
                self.assertLessEqual(features[key], RATES[key] * features["compute_units"] / 16 * TIME_S / 1e-5, f"{name}: {key}")


if __name__ == "__main__":
    main()
