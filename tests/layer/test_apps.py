"""The applications by themselves: each computes the expected result."""
import sys
import unittest

import applications
from applications import APPS, Folder, Skipped, difference, floats

SIZES = {"stencil": (32, 16, 3), "reduction": (5000, 2), "image_filter": (20, 12, 2), "gemm": (24, 16, 8, 2)}


ran = []


class Applications(unittest.TestCase):
    def test_results_and_times(self):
        folder = Folder(self)
        for name, sizes in SIZES.items():
            with self.subTest(name):
                if APPS[name] is None:
                    continue
                try:
                    said = folder.run(APPS[name], "-t", "-o", name, *map(str, sizes)).stdout
                except Skipped as reason:
                    print(f"{name}: {reason}", file=sys.stderr)
                    continue
                self.assertLess(difference(floats(folder.path / name), getattr(applications, name)(*sizes)), 1e-5)
                self.assertRegex(said, r"^\w+: \d+ launches, [\d.]+ us")
                ran.append(name)

    def test_usage(self):
        self.assertIn("usage: ", Folder(self).run(APPS["stencil"], "-x", expect=2).stderr)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    sys.exit(1 if not program.result.wasSuccessful() else 0 if ran else 77)
