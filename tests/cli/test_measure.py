"""Configurations that are given: `measure`, `verify` of one and of a sample; messages about incorrect results and about defaults."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import TIME_S, SimulatedTest, main  # noqa: E402

COPY = ("copy.json", "--device", "Simulated")


def configurations(*texts):
    return [word for text in texts for word in ("--configuration", text)]


class Measure(SimulatedTest):
    def test_configurations_are_compared_with_the_first(self):
        answer = self.clatune_json("measure", *COPY, *configurations("a=17 b=9", "a=0"))
        first, second = answer["measurements"]
        self.assertEqual((first["configuration"], second["configuration"]), ({"a": 17, "b": 9}, {"a": 0, "b": 0}))
        self.assertAlmostEqual(first["time_s"], 1e-5)
        self.assertAlmostEqual(second["over_first"], 1.61, places=3)
        self.assertEqual((first["correct"], first["interval"], first["over_first"]), (True, 0, 1))
        self.assertEqual((first["interval_low"], first["interval_high"]), (first["time_s"], first["time_s"]))
        self.assertGreaterEqual(first["interval_confidence"], 0.95)
        self.assertFalse((self.folder / "share").exists())
        text = self.clatune("measure", *COPY, *configurations("a=17 b=9", "a=0 b=0"), "--rounds", "3").stdout
        self.assertIn("time            10 us +- 0 % (75 %), median of 3 interleaved rounds, device clock\n", text)
        self.assertIn("cost            1.61 times that of the first configuration\n", text)

    def test_the_default_where_none_is_given(self):
        self.assertIn("configuration   a=0 b=0\n", self.clatune("measure", *COPY, "--rounds", "1").stdout)

    def test_what_fails_is_said_beside_the_others(self):
        self.simulate(time_s=TIME_S, wrong="a == 2")
        answer = self.clatune_json("measure", *COPY, *configurations("a=1", "a=2"), "--quiet", expect=5)
        self.assertEqual([m["reason"] for m in answer["measurements"]], ["none", "wrong-output"])
        self.assertIn("of 1024 elements are incorrect", answer["measurements"][1]["log"])
        self.assertIsNone(answer["measurements"][1]["over_first"])

    def test_what_cannot_be_is_refused(self):
        self.clatune("measure", *COPY, *configurations("a=99"), expect=2)
        said = self.clatune("measure", *COPY, "a=1 b=2", expect=2).stderr
        self.assertIn("unexpected argument 'a=1 b=2'; did you mean --configuration \"a=1 b=2\"?", said)
        self.clatune("measure", *COPY, *configurations(*["a=1"] * 33), expect=2)
        self.edit("copy.json", '"TuningParameters"', '"Conditions": [{"Expression": "a + b < 30"}], "TuningParameters"')
        said = self.clatune("measure", *COPY, *configurations("a=0", "a=30 b=1"), "--quiet", expect=2).stderr
        self.assertIn("configuration 2 is not valid: ", said)


class Intervals(SimulatedTest):
    """The number after "+-" is the same wherever a finalist's time is shown: between order statistics of its rounds."""

    def tune_noisy(self, *options):
        self.simulate(time_s=TIME_S, noise={"sigma": 0.05, "seed": 4})
        return self.clatune_json("tune", *COPY, "--searcher", "random", "--budget", "12", "--seed", "1", "--quiet", *options)

    def test_json_text_and_report_agree(self):
        answer = self.tune_noisy()
        best, text = answer["best"], self.clatune("report", *COPY).stdout
        runs, median = sorted(best["runs_s"]), best["time_s"]
        self.assertGreaterEqual(len(runs), 7)
        self.assertGreaterEqual(best["interval_confidence"], 0.95)
        self.assertIn((runs.index(best["interval_low"]), best["interval_high"]), [(k, runs[-1 - k]) for k in range(len(runs) // 2)])
        self.assertAlmostEqual(best["interval"], max(best["interval_high"] / median - 1, 1 - best["interval_low"] / median))
        self.assertIn(f" +- {100 * best['interval']:.2g} % (95 %) (median of its interleaved runs;", text)
        self.assertIn(f" +- {100 * answer['default']['interval']:.2g} % (95 %)): a=0 b=0\n", text)
        row = self.clatune_json("report", *COPY)["tunings"][0]["best"]
        self.assertAlmostEqual(row["finalist_interval"], best["interval"])
        self.assertEqual(row["finalist_confidence"], best["interval_confidence"])
        self.assertRegex(self.clatune("tune", *COPY, "--searcher", "random", "--budget", "12", "--seed", "1", "--quiet").stdout,
                         r"(?m)^time +\S+ us \+- \S+ % \(95 %\), median of \d+ interleaved rounds, device clock$")

    def test_what_is_no_median_has_none(self):
        best = self.tune_noisy("--finalists", "0", "--no-store")["best"]
        self.assertEqual([best[key] for key in best if key.startswith("interval")], [None] * 4)
        text = self.clatune("tune", *COPY, "--finalists", "0", "--no-store", "--budget", "3", "--quiet").stdout
        self.assertRegex(text, r"(?m)^time +\S+ us, shortest of \d+ runs with a spread of \S+ %, device clock$")


class VerifySample(SimulatedTest):
    def test_a_sample_is_counted_and_its_wrong_ones_are_shown(self):
        self.write_problem(6, 1)
        self.simulate(time_s=TIME_S, wrong="a == 2 or a == 4")
        run = self.clatune("verify", *COPY, "--sample", "100", expect=5)
        self.assertIn("\nverified        4 of 6 random configurations;", run.stdout)
        self.assertEqual(sorted(line for line in run.stdout.splitlines() if line.startswith("configuration")),
                         ["configuration   a=2 b=0", "configuration   a=4 b=0"])
        answer = self.clatune_json("verify", *COPY, "--sample", "6", expect=5)
        self.assertEqual((answer["sample"], answer["correct"]), (6, 4))
        self.assertEqual({c["configuration"]["a"] for c in answer["configurations"] if not c["correct"]}, {2, 4})

    def test_the_seed_decides(self):
        drawn = [[c["configuration"] for c in self.clatune_json("verify", *COPY, "--sample", "3", "--seed", seed)["configurations"]]
                 for seed in ("1", "1", "2")]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        self.clatune("verify", *COPY, "--sample", "3", "--configuration", "a=1", expect=2)


class WrongResults(SimulatedTest):
    def tune_all(self):
        return self.clatune("tune", *COPY, "--no-store", "--searcher", "exhaustive", "--quiet").stderr

    def test_many_are_worth_a_warning(self):
        self.write_problem(12, 1)
        self.simulate(time_s=TIME_S, wrong="a > 1")
        self.assertRegex(self.tune_all(), r"10 of 12 evaluations gave an incorrect result, the first with a=([2-9]|1[01]) b=0"
                                          r": .*; 'clatune verify' lists")  # two workers: either may be first

    def test_a_parameter_that_may_change_the_work_of_an_item(self):
        self.write_problem(12, 1)
        self.simulate(time_s=TIME_S, wrong="a > 0")
        self.assertNotIn("GlobalSize", self.tune_all())  # nobody divides by 0
        self.edit("copy.json", '"list(range(12))", "Default": 0', '"list(range(1, 12))", "Default": 1')
        self.simulate(time_s=TIME_S, wrong="a > 1")
        hint = r'if a changes how much a work-item computes, the GlobalSize must depend on it, as in "n // a"; else the kernel has a bug'
        self.assertRegex(self.tune_all(), hint)
        self.edit("copy.json", '"GlobalSize": {"X": "n"}', '"GlobalSize": {"X": "n // (a + 1)"}')
        self.assertNotRegex(self.tune_all(), hint)
        self.assertIn(": the kernel has a bug", self.tune_all())

    def test_a_kernel_with_local_memory_may_lack_a_barrier(self):
        self.write_problem(12, 1)
        self.simulate(time_s=TIME_S, wrong="a > 0")
        for path in (self.folder / "bin/oclgrind", self.folder / "lib/liboclgrind-rt-icd.so"):
            path.parent.mkdir()
            path.write_text("")
            path.chmod(0o755)
        self.environment["PATH"] = f"{self.folder}/bin:{self.environment['PATH']}"
        hint = "elements; 'clatune verify PROBLEM --configuration \"...\" --oclgrind' finds missing barriers"
        self.assertNotIn("barrier", self.tune_all())
        self.edit("copy.cl", "{", "{ __local int tile[1];")
        self.assertIn(hint, self.tune_all())

    def test_none_where_other_failures_are_more(self):
        self.write_problem(12, 1)
        self.simulate(time_s=TIME_S, wrong="a == 1", fails={"build": "a > 8"})
        self.assertNotIn("incorrect result", self.tune_all())


class PutRight(SimulatedTest):
    def test_a_default_that_is_no_value(self):
        self.edit("copy.json", '"list(range(40))", "Default": 0', '"list(range(40))", "Default": 48')
        for command in (("verify",), ("tune", "--no-store", "--budget", "2"), ("measure",)):
            said = self.clatune(command[0], *COPY, *command[1:], "--quiet").stderr
            self.assertIn("the \"Default\" of 'a', 48, is not among its values; using 0 instead", said)

    def test_a_global_size_that_is_rounded(self):
        self.assertNotIn("rounded", self.clatune("verify", *COPY).stderr)
        self.edit("copy.json", '"GlobalSize": {"X": "n"}', '"GlobalSize": {"X": "n / 3"}')
        said = self.clatune("verify", *COPY).stderr
        self.assertIn("n / 3 is 341.3333333 for the default configuration and is rounded up to 342", said)
        self.assertNotIn("rounded", self.clatune("verify", *COPY, "--quiet").stderr)


main()
