"""Search quality: only for searches like the recorded ones, without a warm start or other options."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402


class Certainty(SimulatedTest):
    def certainty(self, *options):
        return self.tune("--budget", "30", "--finalists", "0", *options)["certainty"]

    def test_said_of_a_search_that_begins_from_nothing(self):
        self.assertEqual(self.certainty("--no-store")["evaluations"], 25)
        self.assertIn("\nsearch quality ", self.clatune("tune", "copy.json", "--device", "Simulated", "--budget", "30",
                                                  "--finalists", "0", "--no-store").stdout)

    def test_not_of_one_that_learns_from_the_store(self):
        self.assertIsNotNone(self.certainty("--size", "n=1024"))
        self.assertIsNone(self.certainty("--size", "n=2048"))
        self.assertIsNotNone(self.certainty("--size", "n=4096", "--no-transfer"))

    def test_not_of_other_options(self):
        self.assertIsNone(self.certainty("--no-store", "--searcher", "hill-climb", "--rate", "0.5"))
        problem = json.loads((self.folder / "copy.json").read_text())
        for strategy, known in (({"Searcher": "hill-climb"}, True),
                                ({"Searcher": "hill-climb", "Options": {"rate": 0.5}}, False)):
            with self.subTest(strategy=strategy):
                (self.folder / "copy.json").write_text(json.dumps({**problem, "Strategy": strategy}))
                self.assertEqual(self.certainty("--no-store") is not None, known)


if __name__ == "__main__":
    main()
