"""The checks that a winner must pass in addition to the search: another size, and --oclgrind (docs/explanation/sessions.md)."""
import json
import re

from simulation import TIME_S, SimulatedTest, main


class Winner(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(3, 1)
        self.edit("copy.json", ', "Max": 65536', "")

    def tune(self, *options, expect=0, **more):
        return super().tune("--searcher", "exhaustive", "--no-store", *options, expect=expect, **more)

    def test_a_winner_that_is_wrong_at_another_size_is_out(self):
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n < 1024 and a == 2")
        answer = self.tune()
        self.assertEqual(answer["best"]["configuration"]["a"], 1)
        self.assertRegex(answer["second_size"], r"^n=\d+$")
        said = self.clatune("tune", "copy.json", "--device", "Simulated", "--searcher", "exhaustive", "--store", "s.sqlite").stderr
        self.assertRegex(said, r"finalist a=2 b=0: the result differs from the reference: at n=\d+: ")
        self.assertIn("; 'clatune verify PROBLEM --configuration \"a=2 b=0\"' shows the failure\n", said)
        self.clatune("verify", "copy.json", "--device", "Simulated", "--configuration", "a=2 b=0", expect=5)
        why = "the best of the search, a=2 b=0 (3.333 us), failed as a finalist: the result differs from the reference"
        self.assertIn(why, answer["notes"])
        self.assertIn(why, self.clatune("tune", "copy.json", "--device", "Simulated", "--searcher", "exhaustive", "--no-store").stdout)

    def test_a_winner_that_is_wrong_at_a_larger_size_is_out(self):
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n > 1024 and a == 2")
        self.assertEqual(self.tune()["best"]["configuration"]["a"], 1)

    def test_a_winner_that_is_right_at_even_sizes_only_is_out(self):
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n % 2 and a")
        self.assertEqual(self.tune()["best"]["configuration"]["a"], 0)
        said = self.clatune("tune", "copy.json", "--device", "Simulated", "--searcher", "exhaustive", "--no-store", "--size", "n=1000").stderr
        self.assertEqual(re.findall("--configuration.*' shows the failure", said), ["--configuration \"a=2 b=0\" --size n=1000' shows the failure"])

    def test_what_the_default_gets_wrong_too_is_held_against_nobody(self):
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n != 1024")
        answer = self.tune()
        self.assertEqual(answer["best"]["configuration"]["a"], 2)
        self.assertIsNone(answer["second_size"])
        passed = [c for c in answer["checks"] if c["passed"]]
        self.assertTrue(passed and all(c["sizes"] == "n=1024" for c in passed))  # all inputs, at the tuning's size
        failed = [c["why"] for c in answer["checks"] if not c["passed"]]
        self.assertTrue(failed and all(why == "the default configuration fails at these sizes" for why in failed))

    def without_reference(self):
        described = json.loads((self.folder / "copy.json").read_text())
        del described["Reference"]
        (self.folder / "copy.json").write_text(json.dumps(described))

    def test_without_a_reference_the_default_judges(self):
        self.without_reference()
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n < 1024 and a == 2")
        answer = self.tune()
        self.assertEqual(answer["best"]["configuration"]["a"], 1)
        self.assertTrue(answer["checks"] and all(c["judge"] == "default" for c in answer["checks"]))
        self.assertFalse([note for note in answer["notes"] if "agree" in note])

    def test_two_that_agree_against_the_default_are_told(self):
        self.without_reference()
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n < 1024 and a == 0")
        answer = self.tune()
        self.assertEqual(answer["best"]["configuration"]["a"], 0)
        self.assertTrue([note for note in answer["notes"] if "the default configuration may be the incorrect one" in note],
                        answer["notes"])

    def test_checks_that_pass_stay_those_of_the_winner(self):
        """The fastest passes; a later candidate that fails does not take its checks away."""
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n != 1024 and a == 2")
        answer = self.tune()
        self.assertEqual(answer["best"]["configuration"]["a"], 1)
        self.assertGreater(sum(c["passed"] for c in answer["checks"]), 15)
        self.assertTrue(any(c["opposite_order"] for c in answer["checks"]))

    def test_sizes_that_cannot_be_are_left_out(self):
        self.edit("copy.json", '"Min": 1', '"Min": 1024, "Max": 1024')
        self.simulate(time_s="1e-5 / (1 + a)", wrong="n != 1024")
        answer = self.tune()
        self.assertEqual((answer["best"]["configuration"]["a"], answer["second_size"]), (2, None))

    def test_without_memory_for_large_sizes_the_small_ones_are_tried_in_the_usual_order_too(self):
        self.simulate(time_s="1e-5 / (1 + a)", global_memory_bytes=65536)
        checks = self.tune()["checks"]
        self.assertTrue(any(c["why"] == "it needs too much memory" for c in checks))
        orders = {c["opposite_order"] for c in checks if c["passed"] and c["sizes"] != "n=1024"}
        self.assertEqual(orders, {True, False})

    def test_what_was_not_checked_is_said(self):
        self.simulate(time_s=TIME_S)
        answer = self.tune()
        self.assertEqual((answer["verified_on_one_input"], answer["race_check"]), (False, "not checked"))
        answer = self.tune("--finalists", "0")
        self.assertEqual((answer["verified_on_one_input"], answer["second_size"]), (True, None))
        arguments = ("tune", "copy.json", "--device", "Simulated", "--no-store")
        text = self.clatune(*arguments, "--finalists", "0").stdout
        self.assertRegex(text, "verified +on one input only\nraces +not checked with Oclgrind\n")
        text = self.clatune(*arguments).stdout
        self.assertRegex(text, r"verified +on 1 other input at n=1024, 1\d other inputs at n=\d+ in the opposite order, "
                               r"1 other input at n=\d+, in a fresh process\nraces +not checked with Oclgrind\n")

    def test_oclgrind_that_is_asked_for_is_needed(self):
        for choice, code in (("yes", 3), ("perhaps", 2)):
            run = self.clatune("tune", "copy.json", "--device", "Simulated", "--oclgrind", choice, expect=code, PATH="/nowhere")
            self.assertIn("--oclgrind", run.stderr)
        self.tune("--oclgrind", "no")


main()
