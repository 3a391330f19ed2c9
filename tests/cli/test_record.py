"""Lists that are measured, recordings of stored measurements, models: sample, record, train, predict, and two-stage's own model."""
import gzip
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402

COPY = ("copy.json", "--device", "Simulated")


class RecordTest(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(6, 4)
        self.edit("copy.json", '"TuningParameters"', '"Conditions": [{"Expression": "a * b <= 12"}], "TuningParameters"')


class Record(RecordTest):
    def configurations(self, *items):
        (self.folder / "list.json").write_text(json.dumps(items))
        return "--configurations", "list.json"

    def test_sample_measures_a_list_in_its_order(self):
        items = [{"a": 4, "b": 3}, {"configuration": {"a": 5, "b": 1}}]
        answer = self.clatune_json("sample", *COPY, "--workers", "1", *self.configurations(*items))
        self.assertEqual([r["configuration"]["a"] for r in answer["results"]], [4, 5])
        again = self.clatune_json("sample", *COPY, *self.configurations(*items))
        self.assertEqual(again["evaluations"]["reused"], 2)

    def test_sample_names_what_is_wrong_with_a_list(self):
        for item, part in (({"a": 9, "b": 1}, "'a'"), ({"a": 5, "b": 3}, "<= 12")):
            run = self.clatune("sample", *COPY, *self.configurations(item), expect=2)
            self.assertIn("configuration 0", run.stderr)
            self.assertIn(part, run.stderr)
        self.assertIn("must be a JSON list", self.clatune("sample", *COPY, *self.configurations(), expect=2).stderr)

    def test_record_writes_what_is_stored_or_everything(self):
        run = self.clatune("record", *COPY, "--stored-only", "-o", "a.json.gz", expect=1)
        self.assertIn("there is no store", run.stderr)
        self.clatune("sample", *COPY, *self.configurations({"a": 2, "b": 2}))
        answer = self.clatune_json("record", *COPY, "--stored-only", "-o", "a.json.gz")
        self.assertEqual((answer["configurations"], answer["valid"]), (1, 23))
        self.assertEqual(self.clatune_json("record", *COPY, "-o", "a.json.gz")["configurations"], 23)
        with gzip.open(self.folder / "a.json.gz") as file:
            recording = json.load(file)
        self.assertEqual(len(recording["results"]), 23)
        self.assertEqual(recording["ConfigurationSpace"]["TuningParameters"][1]["Values"], [0, 1, 2, 3])
        self.assertEqual(recording["ProblemParameters"], [{"Name": "n", "Value": 1024}])


class Model(RecordTest):
    def test_sample_train_predict_and_files_that_do_not_fit(self):
        answer = self.clatune_json("sample", *COPY, "--samples", "18")
        self.assertEqual(answer["evaluations"]["total"], 18)
        trained = self.clatune_json("train", *COPY, "-o", "copy.model")
        self.assertEqual(trained["rows"], 18)
        self.assertGreater(trained["mean_relative_error"], 0)
        predicted = self.clatune_json("predict", "copy.json", "--model", "copy.model", "--top", "5")["predictions"]
        self.assertEqual(len(predicted), 5)
        times = [p["time_s"] for p in predicted]
        self.assertEqual(times, sorted(times))
        fitted = self.clatune_json("predict", *COPY, "--top", "5")["predictions"]
        self.assertEqual(fitted[0]["configuration"], predicted[0]["configuration"])
        run = self.clatune("predict", "copy.json", "--model", "copy.model", "--size", "n=512", expect=1)
        self.assertIn("fitted at n=1024, not at n=512", run.stderr)
        whole = (self.folder / "copy.model").read_bytes()
        (self.folder / "copy.model").write_bytes(whole[:len(whole) // 2])
        self.assertIn("copy.model", self.clatune("predict", "copy.json", "--model", "copy.model", expect=1).stderr)

    def test_a_sweep_of_too_many_is_refused(self):
        order = '{"Name": "o", "Type": "permutation", "Values": [%s]}, ' % ", ".join(f'"i{i}"' for i in range(24))
        self.edit("copy.json", '"TuningParameters": [', '"TuningParameters": [' + order)
        run = self.clatune("predict", *COPY, "--sweep", expect=2)
        self.assertIn("more than 2^63 configurations are valid, too many to predict each; leave out --sweep", run.stderr)

    def test_training_on_nothing_is_an_error_that_says_so(self):
        self.assertIn("clatune sample", self.clatune("train", *COPY, "-o", "x", expect=1).stderr)

    def test_two_stage_reports_its_model(self):
        answer = self.tune("--finalists", "0", "--searcher", "two-stage", "--samples", "14", "--second-stage", "5", "--seed", "3")
        self.assertGreater(answer["model"]["mean_relative_error"], 0)
        self.assertEqual(answer["evaluations"]["total"], 20)
        self.assertGreater(answer["best"]["time_s"], 0)
        self.assertIn("-Da=", answer["best"]["options"])


if __name__ == "__main__":
    main()
