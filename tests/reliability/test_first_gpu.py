"""benchmarks/first_gpu.py: ends in time though a process hangs, does again only what is not finished, and keeps devices apart."""
import json
import pathlib
import subprocess
import sys
import tarfile

from simulation import CLATUNE, SimulatedTest, main, until

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Answers as clatune does, but one command never ends, and will not be told to.
HANGS = """#!/bin/sh
case "$1" in measure) trap '' TERM; echo $$ >{folder}/hangs; while :; do sleep 1; done ;; esac
exec {clatune} "$@"
"""


class FirstGpu(SimulatedTest):
    def first_gpu(self, *options, expect=0, build=pathlib.Path(CLATUNE).parents[2]):
        command = [sys.executable, ROOT / "benchmarks/first_gpu.py", "results", "--small", "--build", build, *options]
        run = subprocess.run([str(c) for c in command], cwd=self.folder, env=self.environment, text=True, capture_output=True)
        self.assertEqual(run.returncode, expect, run.stdout + run.stderr)
        return run.stdout + run.stderr

    def step(self, name):
        return json.loads((self.folder / f"results/steps/{name}.json").read_text())

    def test_ends_in_time(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/clatune").write_text(HANGS.format(folder=self.folder, clatune=CLATUNE))
        (self.folder / "bin/clatune").chmod(0o755)
        said = self.first_gpu("--part", "A", "--minutes", "0.3", "--steps", "facts,pool-stereo", build=self.folder, expect=1)
        self.assertIn("pool-stereo: skipped", said)
        self.assertEqual(self.step("facts")["why"], "ended, as its time was over")
        hanging = int((self.folder / "hangs").read_text())
        self.assertTrue(until(lambda: not self.runs(hanging)), "the process that hangs is left")
        with tarfile.open(self.folder / "results/packed/results.tar.gz") as tar:
            self.assertIn('{"name": "devices"', tar.extractfile("steps/facts.out").read().decode())

    def runs(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def test_does_again_what_is_not_finished(self):
        both = ("--part", "A", "--steps", "pool-stereo,second-stereo")
        said = self.first_gpu(*both, expect=1)  # the driver computes nothing, so that no configuration is correct
        self.assertIn("pool-stereo: done", said)
        self.assertIn("second-stereo: exit status 1: pool_model: ", said)
        pool = self.step("pool-stereo")
        self.assertNotIn("pool-stereo", self.first_gpu(*both, expect=1))
        self.assertEqual(self.step("pool-stereo"), pool)
        with tarfile.open(self.folder / "results/packed/stores.tar.gz") as tar:
            self.assertIn("pools.sqlite", tar.getnames())
        page = self.folder / "page.md"
        page.write_text("<!-- GPUs: begin -->\nNot measured yet.\n\n### Another GPU\n\nIts tables.\n<!-- GPUs: end -->\nMore\n")
        subprocess.run([sys.executable, ROOT / "benchmarks/first_gpu_page.py", *(self.folder / "results/packed").iterdir(), "--build",
                        pathlib.Path(CLATUNE).parents[2], "--page", page, "--pictures", self.folder], env=self.environment, check=True)
        for text in ("### Another GPU\n\nIts tables.\n", "| stereo | ", "pool-convolution: not measured (no time was left)", "live: not measured",
                     "Performance against evaluations: not measured", "<!-- GPUs: end -->\nMore\n"):
            self.assertIn(text, page.read_text())
        self.assertNotIn("Not measured yet", page.read_text())
        self.simulate(name="Simulated B", time_s=1e-5)
        self.assertIn("have name 'Simulated device', not 'Simulated B': choose another folder", self.first_gpu(*both, expect=1))

    def test_mistakes(self):
        self.assertIn("part B has no step nonsense", self.first_gpu("--part", "B", "--steps", "nonsense", expect=2))
        self.assertIn("no device 'nonsense'", self.first_gpu("--part", "B", "--device", "nonsense", expect=1))
        self.assertIn("there is no program", self.first_gpu("--part", "B", build=self.folder, expect=2))


if __name__ == "__main__":
    main()
