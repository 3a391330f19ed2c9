"""clatune devices: a tree that says what matters for tuning, and JSON that says all."""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import DRIVER, SimulatedTest, main  # noqa: E402

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

    def test_oclgrind_is_found_beside_its_program(self):
        """The simulated driver stands in for Oclgrind's; no other one is known to the loader."""
        for folder in ("bin", "lib/oclgrind"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "bin/oclgrind").write_text("#!/bin/sh\n")
        (self.folder / "bin/oclgrind").chmod(0o755)
        (self.folder / "lib/oclgrind/liboclgrind-rt-icd.so").symlink_to(DRIVER)
        environment = {"OCL_ICD_VENDORS": str(self.folder / "none"), "CLATUNE_DEVICE": "cpu"}
        run = self.clatune("verify", "copy.json", "--oclgrind", expect=3, **environment)
        self.assertIn("--oclgrind needs Oclgrind", run.stderr)
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        answer = self.clatune_json("verify", "copy.json", "--oclgrind", "--quiet", **environment, PATH=path)
        self.assertEqual((answer["correct"], answer["oclgrind"]), (True, ""))


if __name__ == "__main__":
    main()
