"""clatune devices: a tree that says what matters for tuning, and JSON that says all."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs/devices.md"


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
        documented = set(re.findall(r"`(?:device\.)?(\w+)`", DOCS.read_text().split("## Properties")[1].split("Examples:")[0]))
        for device in self.clatune_json("devices")["devices"]:
            self.assertEqual(set(device), documented - {"cpu", "gpu", "accelerator", "other"})

    def test_no_driver(self):
        run = self.clatune("devices", expect=3, OCL_ICD_VENDORS="/nonexistent")
        self.assertIn("no OpenCL device", run.stderr)
        self.assertEqual(self.clatune_json("devices", expect=3, OCL_ICD_VENDORS="/nonexistent")["devices"], [])


if __name__ == "__main__":
    main()
