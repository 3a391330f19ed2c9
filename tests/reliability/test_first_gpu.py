"""benchmarks/first_gpu.py: goes on where it was ended, names failed steps, and leaves other devices' tables alone. With an argument,
all of its steps on that device: 'simulated' (NVIDIA's personality) or a real one; 77 if that is not there."""
import json
import pathlib
import signal
import subprocess
import sys

from simulation import CLATUNE, SimulatedTest, main, until
from harness import has_device  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PERSONALITY = ROOT / "tests/instruments/personalities/nvidia.json"
ALL_OF = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
# Below the grain of the host's clock, by the parameters that the three image problems share.
TIME_S = "1e-6 * (4 + 0.02 * abs(wg_x * wg_y - 128) + 0.03 * abs(ppt_x - 4) + 0.05 * ppt_y)"
PAGE = "# Results\n\n## GPUs\n<!-- GPUs: begin -->\nNot measured yet.\n<!-- GPUs: end -->\n\n## More\n"
OTHER = "### Another GPU\n\nIts tables.\n"


class FirstGpu(SimulatedTest):
    def setUp(self):
        super().setUp()
        # The simulated driver copies the first buffer into the last: if all elements of the inputs are equal, that is correct.
        (self.folder / "problems").mkdir()
        for path in (ROOT / "kernels_cl").glob("*.json"):
            problem = json.loads(path.read_text())
            if isinstance(problem, dict):
                problem.pop("Reference", None)
                for argument in problem["KernelSpecification"]["Arguments"]:
                    if argument.pop("Generator", None):
                        argument.update(FillType="Constant", FillValue=1)
                (self.folder / "problems" / path.name).write_text(json.dumps(problem))
        for path in (ROOT / "kernels_cl").glob("*.[ch]*"):
            (self.folder / "problems" / path.name).write_bytes(path.read_bytes())
        self.page = self.folder / "page.md"
        self.page.write_text(PAGE)

    def command(self, *options, device="Simulated", problems="problems", minutes="0.1"):
        return [sys.executable, ROOT / "benchmarks/first_gpu.py", "results", "--device", device, "--clatune", CLATUNE, "--small", "--minutes",
                minutes, "--problems", problems, "--page", self.page, *options]

    def first_gpu(self, *options, expect=0, **more):
        run = subprocess.run([str(x) for x in self.command(*options, **more)], cwd=self.folder, env=self.environment, text=True,
                             capture_output=True)
        self.assertEqual(run.returncode, expect, run.stdout + run.stderr)
        return run.stderr

    def step(self, name):
        path = self.folder / f"results/steps/{name}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def known(self):
        return [r for r in self.rows("results/pools.sqlite") if r[1] == "none"]


class Resumed(FirstGpu):
    def test_goes_on_where_it_was_ended(self):
        self.simulate(time_s=TIME_S, build_s=0.05)
        steps = ("--steps", "facts,pool-convolution,timer,two-at-once")
        process = subprocess.Popen([str(x) for x in self.command(*steps, minutes="100")], cwd=self.folder, env=self.environment,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(until(lambda: len(self.known()) >= 5, process), "nothing is measured")
        process.send_signal(signal.SIGTERM)
        process.communicate()
        self.assertEqual(process.returncode, 143)
        facts, before = self.step("facts"), self.known()
        self.assertEqual(facts["state"], "done")
        self.assertIsNone(self.step("pool-convolution"))
        self.simulate(time_s=TIME_S)
        said = self.first_gpu(*steps)
        self.assertEqual(self.known()[:len(before)], before, "something is lost")
        self.assertNotIn("facts", said)
        self.assertEqual(self.step("facts"), facts)
        self.assertIn("timer: done", said)
        self.assertEqual(self.first_gpu(*steps), "", "nothing is left to do")
        page = self.page.read_text()
        for text in ("### Simulated", "**Pools**", "| convolution | ", "**The timer**", "| second of two | ", "Not measured: verify, "):
            self.assertIn(text, page)
        self.assertNotIn("Not measured yet", page)

    def test_a_failed_step_says_so_and_is_tried_again(self):
        self.simulate(time_s=TIME_S)
        (self.folder / "problems/raycasting.json").write_text("{")
        said = self.first_gpu("--steps", "error-stereo,pool-raycasting,timer,facts", expect=1)
        self.assertIn("error-stereo: failed in 0 s: there is no pool of stereo", said)
        self.assertEqual(self.step("facts")["state"], "done")
        self.assertIn("Failed: error-stereo: there is no pool of stereo", self.page.read_text())
        self.assertNotIn(str(self.folder), self.page.read_text())
        said = self.first_gpu("--steps", "pool-stereo,timer")
        self.assertIn("timer: done", said)
        self.assertNotIn("Failed: timer", self.page.read_text())

    def test_each_device_has_its_part_of_the_page(self):
        self.simulate(time_s=TIME_S)
        self.page.write_text(PAGE.replace("Not measured yet.\n", OTHER))
        self.first_gpu("--steps", "facts")
        once = self.page.read_text()
        self.assertIn(OTHER, once)
        self.assertLess(once.index("### Another GPU"), once.index("### Simulated"))
        self.assertTrue(once.endswith("<!-- GPUs: end -->\n\n## More\n"))
        self.page.write_text(once.replace("as it says itself", "of yesterday"))
        self.first_gpu("--report")
        self.assertEqual(self.page.read_text(), once)
        run = subprocess.run([str(x) for x in self.command("--steps", "facts") if x != "--small"], cwd=self.folder, env=self.environment,
                             text=True, capture_output=True)
        self.assertIn("is of small sizes", run.stderr)
        self.simulate(time_s=TIME_S, name="Simulated B")
        self.assertIn("is of 'Simulated device', driver 1, not of 'Simulated B'", self.first_gpu("--steps", "facts", expect=1))
        self.assertEqual(self.page.read_text(), once)

    def test_mistakes(self):
        self.assertIn("no such step: nonsense", self.first_gpu("--steps", "nonsense", expect=2))
        self.assertIn("holds no results", self.first_gpu("--report", expect=1))
        self.assertIn("no device", self.first_gpu("--steps", "facts", device="nonsense", expect=1))


class Whole(FirstGpu):
    def test_all_steps(self):
        if ALL_OF == "simulated":
            described = json.loads(PERSONALITY.read_text())
            # 64 in a direction is too many registers, or ends the context.
            described["devices"][0].update(time_s=f"30 * ({TIME_S})", waits=True, build_s=0.01, fails={"launch": "wg_x == 64", "run": "ppt_x == 64"})
            (self.folder / "devices.json").write_text(json.dumps(described))
            self.environment.update(CLATUNE_SIMULATED=str(self.folder / "devices.json"), HOME=str(self.folder))
            self.first_gpu(device="gpu", minutes="1")
            self.assertRegex(self.page.read_text(), r"\| convolution \| [\d,]+ \| .*`launch-resources`")
            self.assertRegex(self.page.read_text(), r"\| convolution \| [\d,]+ \| .*`run-error`")
            self.assertRegex(self.page.read_text(), r"\| device \| [\d,]+ \| 32 ns \(")
        else:
            del self.environment["OCL_ICD_VENDORS"], self.environment["CLATUNE_SIMULATED"]
            self.first_gpu(device=ALL_OF, problems=str(ROOT / "kernels_cl"), minutes="1")
        for path in sorted((self.folder / "results/steps").iterdir()):
            self.assertEqual(json.loads(path.read_text())["state"], "done", path.name)
        print(self.page.read_text())


def load_tests(loader, tests, pattern):
    return loader.loadTestsFromTestCase(Whole if ALL_OF else Resumed)


if ALL_OF not in (None, "simulated") and not has_device(ALL_OF):
    sys.exit(77)
if __name__ == "__main__":
    main()
