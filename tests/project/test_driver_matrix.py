"""The driver matrix of scripts/test: a driver whose tests are all skipped, or that has none, fails it."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

MATRIX = pathlib.Path(__file__).with_name("driver_matrix.py")
GOOD = [("device+driver-pocl", "OK"), ("device+driver-pocl", "SKIP"), ("device+driver-rusticl", "OK"), ("device+driver-oclgrind", "OK"),
        ("reliability+driver-simulated", "OK"), ("unit", "SKIP"), ("device+driver-intel", "SKIP")]


class DriverMatrix(unittest.TestCase):
    def matrix(self, results, expect):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
            log.writelines(json.dumps({"name": f"clatune:{suite} / a test", "result": result}) + "\n" for suite, result in results)
            log.flush()
            run = subprocess.run([sys.executable, MATRIX, log.name], text=True, capture_output=True)
        self.assertEqual(run.returncode, expect, run.stdout + run.stderr)
        return run.stdout.splitlines()

    def test_each_driver_has_a_line(self):
        intel, *others = self.matrix(GOOD, 0)
        self.assertRegex(intel, "^driver intel: 0 passed, 0 failed, 1 skipped: scripts/intel-runtime found none")  # which is no failure
        self.assertEqual(others, ["driver oclgrind: 1 passed, 0 failed, 0 skipped",
                                                "driver pocl: 1 passed, 0 failed, 1 skipped", "driver rusticl: 1 passed, 0 failed, 0 skipped",
                                                "driver simulated: 1 passed, 0 failed, 0 skipped"])

    def test_one_that_is_not_tested_fails(self):
        skipped = [(suite, "SKIP" if "rusticl" in suite else result) for suite, result in GOOD]
        self.assertIn("driver rusticl: 0 passed, 0 failed, 1 skipped; it is not tested", self.matrix(skipped, 1))
        self.assertIn("driver rusticl: 0 passed, 0 failed, 0 skipped; it is not tested",
                      self.matrix([line for line in GOOD if "rusticl" not in line[0]], 1))
        self.assertIn("driver new: 0 passed, 1 failed, 0 skipped; it is not tested", self.matrix([*GOOD, ("driver-new", "TIMEOUT")], 1))


if __name__ == "__main__":
    unittest.main()
