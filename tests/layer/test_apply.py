"""The applications are captured, tuned with a small budget, and run with the best configurations: same results, by the tuned kernels."""
import json
import os
import shutil
import sys
import unittest

from applications import APPS, Folder, Skipped, devices, difference, floats

CLATUNE = os.environ["CLATUNE"]
# Sizes; the kernel that takes the most time, and how often it is launched.
CASES = {"stencil": (("128", "64", "6"), "heat_step", 6), "reduction": (("20000", "3"), "sum_blocks", 6),
         "image_filter": (("64", "48", "3"), "blur", 3), "gemm": (("32", "24", "16", "2"), "Xgemm", 2)}


class Apply(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)
        self.environment = {"XDG_DATA_HOME": str(self.folder.path / "share")}

    def clatune(self, *arguments, **more):
        return self.folder.run(CLATUNE, *arguments, **self.environment, **more)

    def applied(self, name, *options):
        """The report and the result of an application that is run with its stored results."""
        sizes = CASES[name][0]
        run = self.folder.run(CLATUNE, "apply", "--json", *options, f"captured-{name}", "--", APPS[name], "-o", "tuned", *sizes,
                              **self.environment)
        return json.loads(run.stdout), floats(self.folder.path / "tuned"), run.stderr

    def captured(self, name):
        """Captures an application; the problem of the kernel that takes the most time."""
        sizes, kernel, _ = CASES[name]
        self.folder.run(APPS[name], "-o", "plain", *sizes)
        self.clatune("capture", "-o", f"captured-{name}", "--", APPS[name], "-o", "captured", *sizes)
        self.assertEqual(difference(floats(self.folder.path / "captured"), floats(self.folder.path / "plain")), 0)
        found = [path for path in (self.folder.path / f"captured-{name}").glob("*/*.json") if path.stem.startswith(kernel)]
        self.assertTrue(found, list(self.folder.path.glob("captured-*/*")))
        return found[0]

    def check_applied(self, name, problem, *options):
        known = json.loads(self.clatune("lookup", problem, "--format", "json").stdout)  # mostly the tuning's best
        report, result, _ = self.applied(name, *options)
        self.assertLess(difference(result, floats(self.folder.path / "plain")), 1e-5)
        self.assertEqual((report["processes"], report["exit_code"]), (1, 0))
        row, = report["launches"]
        self.assertEqual((row["kernel"], row["problem"]), (problem.stem, str(problem.relative_to(self.folder.path))))
        self.assertTrue(row["options"].startswith(known["options"]), (row["options"], known["options"]))
        self.assertAlmostEqual(row["tuning_time_s"], known["expected_time_s"])
        passed = sum(other["launches"] for other in report["passed"] if other["kernel"] == problem.stem)
        self.assertEqual(row["launches"] + passed, CASES[name][2])
        self.assertGreater(row["launches"], 0)
        self.assertEqual(row["check"], "right" if options else "not checked")
        if options:
            self.assertGreaterEqual(min(row["check_tuned_s"], row["check_untuned_s"]), 1e-7)
        if row["time_s"] is not None:  # the driver's events are of use
            self.assertGreaterEqual(row["time_s"], 1e-7)

    def tune(self, problem, *options):
        return json.loads(self.clatune("tune", problem, "--json", "--workers", "1", "--oclgrind", "no", *options).stdout)["best"]

    def test_stencil(self):
        problem = self.captured("stencil")
        report, _, said = self.applied("stencil")
        self.assertIn("run 'clatune tune ", said)
        self.assertEqual({row["kernel"]: (row["reason"], row["launches"]) for row in report["passed"]}["heat_step"],
                         ("captured, but not tuned yet", 6))
        tuned = self.tune(problem, "--budget", "4", "--finalists", "2")
        self.check_applied("stencil", problem)
        self.check_applied("stencil", problem, "--check")
        row, = self.applied("stencil")[0]["launches"]
        if row["options"].startswith(tuned["options"]):
            self.assertEqual((row["tuning_interval_low"], row["tuning_interval_high"]),
                             (tuned["interval_low"], tuned["interval_high"]))
        self.check_write()
        self.check_wrong_kernel(problem)
        self.check_damaged(problem)

    def test_others(self):
        # CLBlast's kernels take the compiler half a minute: in the suite long.
        for name in ("reduction", "image_filter", *(["gemm"] if "CLATUNE_FIGURES" in os.environ else [])):
            with self.subTest(name):
                try:
                    problem = self.captured(name) if APPS[name] else None
                except Skipped as reason:
                    print(f"{name}: {reason}", file=sys.stderr)
                    continue
                if problem is None:
                    print(f"{name} was not built", file=sys.stderr)
                    continue
                self.tune(problem, "--budget", "3", "--finalists", "0")
                self.check_applied(name, problem, "--check")

    def check_wrong_kernel(self, problem):
        """The captured launches heat only. A kernel that relies on that is correct there, and incorrect in an application that cools, too."""
        sizes = (*CASES["stencil"][0], "2")
        folder = self.folder.path / "captured-heated"
        shutil.copytree(problem.parent, folder)
        described = json.loads((folder / problem.name).read_text())
        macro, = (p for p in described["ConfigurationSpace"]["TuningParameters"] if p["Name"] == "HEATED_ONLY")
        macro.update(Values=[1], Default=1)
        (folder / problem.name).write_text(json.dumps(described))
        self.tune(folder / problem.name, "--budget", "2", "--finalists", "0", "--store", "heated.sqlite")
        self.folder.run(APPS["stencil"], "-o", "plain", *sizes)
        for check in (False, True):
            options = ["--check"] if check else []
            run = self.clatune("apply", "--json", *options, "--store", "heated.sqlite", "captured-heated", "--", APPS["stencil"], "-o",
                               "tuned", *sizes, expect=5 if check else 0)
            row, = json.loads(run.stdout)["launches"]
            far = difference(floats(self.folder.path / "tuned"), floats(self.folder.path / "plain"))
            if check:
                self.assertEqual((row["check"], row["launches"], far), ("wrong", 0, 0))
                self.assertRegex(run.stderr, r"kernel 'heat_step' is launched untuned: its result in argument 2 differs")
            else:  # it is the tuned kernel that ran
                self.assertGreater(far, 1e-3)
                self.assertEqual((row["check"], row["launches"]), ("not checked", CASES["stencil"][2]))

    def check_damaged(self, problem):
        other = self.folder.path / "captured-stencil/cool_rim/cool_rim.json"
        whole = problem.read_text()
        for text, why in ((whole[:90], r"heat_step\.json:\d: "), ("", r"heat_step\.json:1: "), ("{}", r'heat_step\.json: "Capture" is missing'),
                          (whole.replace('"KernelName"', '"KernelNam"'), r"heat_step\.json:\d+: .*KernelNam")):
            problem.write_text(text)
            report, _, said = self.applied("stencil")
            self.assertRegex(said, "warning: left out .*" + why + ".*; capture it again")
            self.assertEqual({row["kernel"]: row["reason"] for row in report["passed"]}["heat_step"], "its problem file is damaged, see above")
        self.assertTrue(other.exists())
        problem.write_text(whole)

    def check_write(self):
        run = self.clatune("apply", "--write", "layer.json", "captured-stencil")
        self.assertRegex(run.stdout, r"\AOPENCL_LAYERS=/.*libclatune-layer\.so\nCLATUNE_LAYER=/.*/layer\.json\n\Z")
        variables = dict(line.split("=", 1) for line in run.stdout.splitlines())
        alone = self.folder.run(APPS["stencil"], "-o", "tuned", *CASES["stencil"][0], **variables)
        self.assertEqual(alone.stderr, "")
        self.assertLess(difference(floats(self.folder.path / "tuned"), floats(self.folder.path / "plain")), 1e-5)

if __name__ == "__main__":
    sys.exit(77 if not devices() else unittest.main())
