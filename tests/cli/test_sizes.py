"""Models over sizes: train on some, then predict, look up and tune at an unmeasured one."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402

SIZES = (1024, 1536, 2048, 3072, 4096, 6144, 8192)
# The best a grows with the size, from 4 to 28; b has its optimum at 9 everywhere.
TIME_S = "1e-9 * n * (1 + 0.02 * abs(a - n / 292) + 0.03 * abs(b - 9))"


class Sizes(SimulatedTest):
    stores = {}  # by what was measured

    def setUp(self):
        super().setUp()
        self.simulate(time_s=TIME_S)
        self.common = ("copy.json", "--device", "Simulated", "--store", "s.sqlite")

    def measure(self, sizes=SIZES, budget=60):
        """Once for all tests."""
        store = self.folder / "s.sqlite"
        if (sizes, budget) in self.stores:
            store.write_bytes(self.stores[sizes, budget])
            return
        for n in sizes:
            self.clatune("sample", *self.common, "--size", f"n={n}", "--samples", str(budget), "--quiet")
        self.stores[sizes, budget] = store.read_bytes()

    def train(self, *options):
        return self.clatune_json("train", *self.common, *options)

    def time_of(self, configuration, n):
        return 1e-9 * n * (1 + 0.02 * abs(configuration["a"] - n / 292) + 0.03 * abs(configuration["b"] - 9))

    def assertGood(self, configuration, n):
        self.assertLess(self.time_of(configuration, n), 1.1 * 1e-9 * n)

    def test_a_size_never_measured_is_predicted(self):
        self.measure()
        trained = self.train()
        self.assertEqual((trained["sizes"], trained["rows"]), (len(SIZES), 60 * len(SIZES)))
        self.assertLess(trained["calibrated_error"], 0.1)
        self.assertTrue(pathlib.Path(self.folder / trained["model"]).is_file())
        best = self.clatune_json("predict", *self.common, "--size", "n=5000", "--top", "1")["predictions"][0]
        self.assertGood(best["configuration"], 5000)
        self.assertAlmostEqual(best["time_s"] / self.time_of(best["configuration"], 5000), 1, delta=0.3)
        for model in ("ensemble", "trees", "average"):
            best = self.clatune_json("predict", *self.common, "--size", "n=5000", "--top", "1", "--model",
                                     model)["predictions"][0]
            self.assertGood(best["configuration"], 5000)

    def test_a_look_up_uses_the_model(self):
        self.measure()
        at = ("--size", "n=5000")
        self.assertEqual(self.clatune_json("lookup", *self.common, *at)["tier"], "nearest-size")
        model = self.folder / self.train()["model"]
        answer = self.clatune_json("lookup", *self.common, *at)
        self.assertEqual((answer["tier"], answer["stale"]), ("prediction", False))
        self.assertGood(answer["configuration"], 5000)
        self.assertAlmostEqual(answer["expected_time_s"] / self.time_of(answer["configuration"], 5000), 1, delta=0.3)
        self.assertIn("-Dn=5000", answer["options"])
        self.assertEqual(self.clatune_json("lookup", *self.common, "--size", "n=2048")["tier"], "exact")
        text = model.read_text()
        model.write_text(text[:-9] + "x" + text[-8:])
        self.assertEqual(self.clatune_json("lookup", *self.common, *at)["tier"], "nearest-size")
        self.assertIn("train the model again", self.clatune("predict", *self.common, *at, expect=1).stderr)

    def test_a_model_that_errs_too_much_is_not_believed(self):
        self.simulate(time_s=TIME_S, noise={"sigma": 0.5})
        self.measure(budget=20)
        self.assertGreater(self.train()["calibrated_error"], 0.1)
        self.assertEqual(self.clatune_json("lookup", *self.common, "--size", "n=5000")["tier"], "nearest-size")

    def test_a_changed_kernel_has_no_model(self):
        self.measure(SIZES[:2])
        self.train()
        self.edit("copy.cl", "copy(", "copy( ")
        stderr = self.clatune("predict", *self.common, expect=1).stderr
        self.assertIn("has no measurements", stderr)

    def test_tuning_begins_with_what_the_model_suggests(self):
        self.measure()
        self.train()
        warm = self.clatune_json("tune", *self.common, "--size", "n=5000", "--searcher", "random", "--budget", "9",
                                 "--warm-start", "--no-transfer")
        self.assertEqual(warm["evaluations"]["total"], 9)
        self.assertGood(warm["best"]["configuration"], 5000)
        warm = self.clatune_json("tune", *self.common, "--size", "n=7000", "--budget", "12", "--warm-start")
        self.assertEqual((warm["evaluations"]["total"], warm["evaluations"]["measured"]), (12, 12))
        self.assertLess(self.time_of(warm["best"]["configuration"], 7000), 1.02 * 1e-9 * 7000)
        self.assertIn("reads a model from the store", self.clatune("tune", *self.common[:3], "--no-store", "--warm-start", expect=2).stderr)

    def test_a_model_of_one_size_is_for_it_alone(self):
        self.measure(SIZES[:2])
        self.assertEqual(self.train("--size", "n=1024", "-o", "one")["sizes"], 1)
        self.clatune("predict", *self.common, "--size", "n=1024", "--model", "one")
        self.assertIn("fitted at n=1024", self.clatune("predict", *self.common, "--size", "n=1536", "--model", "one",
                                                       expect=1).stderr)


if __name__ == "__main__":
    main()
