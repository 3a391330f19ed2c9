"""What drivers do with launches that they should refuse or do: each gets the correct reason, and no other configuration is affected."""
import json

from simulation import SimulatedTest, main

# Groups of x times y work-items.
X, Y = (1, 8, 32), (1, 2)


class Launches(SimulatedTest):
    def setUp(self):
        super().setUp()
        problem = json.loads((self.folder / "copy.json").read_text())
        problem["ProblemParameters"][0].update(Default=131072, Max=131072)
        parameters = problem["ConfigurationSpace"]["TuningParameters"]
        parameters[0].update(Name="x", Values=str(list(X)), Default=8)
        parameters[1].update(Name="y", Values=str(list(Y)), Default=1)
        problem["KernelSpecification"].update(GlobalSize={"X": "n", "Y": "y"}, LocalSize={"X": "x", "Y": "y"})
        (self.folder / "copy.json").write_text(json.dumps(problem))
        (self.folder / "copy.cl").write_text((self.folder / "copy.cl").read_text().replace("a + b", "x + y"))

    def reasons(self, **device):
        """{(x, y): reason} of all configurations; those that the device's limits exclude are not among them."""
        self.simulate(time_s="1e-5 * (1 + 1.0 / x)", **device)
        answer = self.tune("--searcher", "exhaustive", "--budget", "6", "--store", "s.sqlite", "--evaluations")
        rows = self.rows("s.sqlite")
        self.assertEqual(len(rows), answer["evaluations"]["measured"])
        (self.folder / "s.sqlite").unlink()
        return {tuple(int(part.split("=")[1]) for part in name.split()): reason for name, reason, _ in rows}

    def expect(self, reason, fails, **device):
        """All configurations for which fails(x, y) have the reason, all others are correct, and one of them wins."""
        self.assertEqual(self.reasons(**device), {(x, y): reason if fails(x, y) else "none" for x in X for y in Y})

    def why_the_default_fails(self, x):
        text = (self.folder / "copy.json").read_text().replace('"Default": 8', f'"Default": {x}')
        (self.folder / "copy.json").write_text(text)
        run = self.clatune("tune", *self.subject, "--searcher", "exhaustive", "--budget", "6", "--no-store")
        return run.stderr

    def test_outputs_that_nobody_wrote_are_wrong(self):
        self.expect("wrong-output", lambda x, y: x == 32, untouched="x == 32")
        self.expect("wrong-output", lambda x, y: x * y > 8, untouched="x * y > 8")
        self.assertIn("131072 of 131072 elements are incorrect: nothing was written", self.why_the_default_fails(32))

    def test_a_kernel_that_says_its_limit_is_not_launched_beyond_it(self):
        self.expect("kernel-limit", lambda x, y: x * y > 16, work_group_limit="16")

    def test_a_limit_that_no_driver_told_is_a_refused_launch(self):
        self.expect("launch", lambda x, y: x * y > 16, work_group_limit="16", stated_work_group_limit=1024)
        self.expect("launch-resources", lambda x, y: x * y > 16, work_group_limit="16",
                    stated_work_group_limit=1024, launch_status=-5)

    def test_on_nvidia_the_stated_limit_is_none(self):
        self.expect("launch-resources", lambda x, y: x * y > 16, work_group_limit="16", stated_work_group_limit=8,
                    launch_status=-5, extensions="cl_nv_compiler_options")

    def test_too_many_groups_are_a_refused_launch(self):
        for status, reason in ((-63, "launch"), (-5, "launch-resources")):  # 131072 work-items in groups of one
            self.expect(reason, lambda x, y: x == 1, max_groups=65535, launch_status=status)
        self.assertIn("131072 work-groups in one dimension", self.why_the_default_fails(1))

    def test_a_device_with_groups_of_one(self):
        self.expect("kernel-limit", lambda x, y: x * y > 1, work_group_limit="1")
        # The device's own limit is a constraint: none of the others is tried.
        self.assertEqual(self.reasons(max_work_item_sizes=[1, 1, 1]), {(1, 1): "none"})


if __name__ == "__main__":
    main()
