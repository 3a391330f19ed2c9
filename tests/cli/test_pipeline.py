"""examples/pipeline: the default at first, the tuned configuration afterwards, and the same image either way."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from harness import CliTest, has_device, main

PIPELINE = os.environ["PIPELINE"]
FOLDER = pathlib.Path(__file__).parent.parent.parent / "examples" / "pipeline"


class Pipeline(CliTest):
    def setUp(self):
        """A problem of 8 configurations, and of sizes that take the check plan little time."""
        super().setUp()
        shutil.copytree(FOLDER, self.folder, dirs_exist_ok=True)
        for old, new in (('"Max": 16384', '"Max": 1024'), ('"[2**i for i in range(8)]", "Default": 16', '[16, 32], "Default": 16'),
                         ("[1, 2, 4, 8, 16]", "[16]"), ("[2**i for i in range(8)]", "[1, 2]")):
            self.edit("blur.json", old, new)

    def run_it(self, *options):
        run = subprocess.run([PIPELINE, str(self.folder), *options], env={**self.environment, "CLATUNE_DEVICE": "pocl"}, text=True,
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
        run = subprocess.run([os.environ["ONLINE"], str(self.folder), "100"], text=True, capture_output=True, timeout=280,
                             env={**self.environment, "CLATUNE_DEVICE": "pocl"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        steps, total = run.stdout.splitlines()
        self.assertRegex(steps, "^10[01] steps, 8 configurations tried; the fastest: wg_x=")
        self.assertAlmostEqual(float(total.split()[-1]), 1, places=2)

    def test_a_kernel_is_tuned_in_place(self):
        run = subprocess.run([os.environ["IN_PLACE"], str(FOLDER)], text=True, capture_output=True, timeout=280,
                             env={**self.environment, "CLATUNE_DEVICE": "pocl"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, "^20 configurations were correct, 0 failed\nthe fastest: -Dwg_x=[0-9]")
        # clatune itself cannot run a kernel that is tuned without sizes and content of arguments.
        refused = self.clatune("tune", FOLDER / "in_place.json", "--device", "pocl", expect=1)
        self.assertIn('in_place.json:22: KernelSpecification.Arguments[0]: needs a "Size"', refused.stderr)


class Judge(CliTest):
    """examples/reduction/partial.json: no element of the output has one correct value; a function of the problem's judges."""
    arguments = ("--device", "pocl")

    def setUp(self):
        super().setUp()
        for name in ("partial.json", "partial.c", "sum.cl"):
            shutil.copy(FOLDER.parent / "reduction" / name, self.folder)
        self.edit("partial.json", '"Default": 4194304, "Min": 1', '"Default": 100000, "Min": 1, "Max": 100000')

    def verify(self, configuration, expect):
        return self.clatune("verify", self.folder / "partial.json", "--configuration", configuration, *self.arguments,
                            expect=expect).stdout

    def test_results_of_other_shapes_are_right(self):
        for configuration in "wg=64 groups=1 vector=1", "wg=1 groups=256 vector=4":
            self.assertIn("the problem's \"Verify\" accepts it", self.verify(configuration, 0))
        tuned = self.clatune("tune", self.folder / "partial.json", "--budget", "6", "--finalists", "0", "--json", *self.arguments)
        self.assertEqual(json.loads(tuned.stdout)["evaluations"]["correct"], 6)

    def test_a_wrong_one_is_rejected_in_its_words(self):
        kernel = self.folder / "sum.cl"
        kernel.write_text(kernel.read_text().replace("partial[get_group_id(0)] = total", "partial[get_group_id(0)] = 2 * total"))
        said = self.verify("wg=64 groups=4 vector=1", 5)
        self.assertIn("wrong-output", said)
        self.assertIn("rejects the result: the sums of 4 groups add up to", said)


if not has_device("pocl"):
    sys.exit(77)
if __name__ == "__main__":
    main()
