"""examples/pipeline: the default at first, what was tuned ever after, and the same image either way."""
import os
import pathlib
import subprocess
import sys

from harness import CliTest, has_device, main

PIPELINE = os.environ["PIPELINE"]
FOLDER = pathlib.Path(__file__).parent.parent.parent / "examples" / "pipeline"


class Pipeline(CliTest):
    def run_it(self, *options):
        run = subprocess.run([PIPELINE, str(FOLDER), *options], env={**self.environment, "CLATUNE_DEVICE": "pocl"}, text=True,
                             capture_output=True, timeout=280)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")  # the library prints nothing
        known, white = run.stdout.splitlines()
        return *known.split(": "), white

    def test_it_looks_up_and_tunes_once_if_asked(self):
        tier, configuration, white = self.run_it()
        self.assertEqual((tier, configuration), ("default", "wg_x=16 wg_y=16 pixels=1 unroll=0"))
        tier, tuned, white_tuned = self.run_it("--tune")
        self.assertEqual(tier, "exact")
        self.assertEqual(self.run_it(), ("exact", tuned, white))
        self.assertEqual(white_tuned, white)

    def test_it_tunes_while_it_works(self):
        run = subprocess.run([os.environ["ONLINE"], str(FOLDER), "100"], text=True, capture_output=True, timeout=280,
                             env={**self.environment, "CLATUNE_DEVICE": "pocl"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        steps, total = run.stdout.splitlines()
        self.assertRegex(steps, "^10[01] steps, 30 configurations tried; the fastest: wg_x=")
        self.assertAlmostEqual(float(total.split()[-1]), 1, places=2)


if not has_device("pocl"):
    sys.exit(77)
if __name__ == "__main__":
    main()
