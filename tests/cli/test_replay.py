"""clatune replay, on recordings made here: cache files of Kernel Tuner whose closing braces are missing."""
import gzip
import json
import math

from harness import CliTest, main

BLOCKS, TILES = [16, 32, 48, 64, 96, 128, 192, 256], [1, 2, 3, 4, 5, 6, 8, 10]


def time_ms(block, tile, shift):
    """A smooth bowl; large products fail."""
    if block * tile > 1200:
        return "RuntimeFailedConfig"
    return 1 + 0.3 * (math.log2(block) - 6 - shift) ** 2 + 0.2 * (math.log2(tile) - 1.5) ** 2


def recording(shift=0.0):
    entries = [f'"{b},{t}": ' + json.dumps({"block": b, "tile": t, "time": time_ms(b, t, shift)})
               for b in BLOCKS for t in TILES]
    head = {"device_name": "a GPU", "kernel_name": "bowl", "tune_params_keys": ["block", "tile"],
            "tune_params": {"block": BLOCKS, "tile": TILES}}
    return json.dumps(head)[:-1] + ', "cache": {\n' + ",\n".join(entries)


class Replay(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "near.json.gz").write_bytes(gzip.compress(recording().encode()))
        (self.folder / "far.json").write_text(recording(shift=1.0))

    def replay(self, *arguments):
        return self.clatune_json("replay", "near.json.gz", *arguments)

    def test_the_answer(self):
        answer = self.clatune_json("replay", "near.json.gz", "far.json", "--searcher", "surrogate", "--budget", "60",
                                   "--repeat", "3", "--seed", "5")
        self.assertEqual([r["space"] for r in answer["results"]], ["near", "far"])
        for result in answer["results"]:
            self.assertEqual(result["searcher"], "surrogate")
            for figure in ("fraction_of_optimum", "percentile_5", "standard_error"):
                self.assertEqual(list(result[figure]), ["10", "25", "50", "60"])
            fractions = list(result["fraction_of_optimum"].values())
            self.assertEqual(fractions, sorted(fractions))
            self.assertGreater(fractions[-1], 0.97)
            self.assertLessEqual(fractions[-1], 1)
            self.assertGreaterEqual(result["search_s"], 0)
        means = [r["fraction_of_optimum"]["50"] for r in answer["results"]]
        self.assertAlmostEqual(answer["mean"]["50"], sum(means) / 2)

    def test_the_optimum_is_the_recordings(self):
        best = min(t for b in BLOCKS for t in [time_ms(b, x, 0) for x in TILES] if not isinstance(t, str))
        self.assertAlmostEqual(self.replay("--budget", "5", "--repeat", "1")["results"][0]["optimum_s"], best / 1e3)

    def test_every_searcher(self):
        for searcher in ("random", "exhaustive", "two-stage", "surrogate"):
            result = self.replay("--searcher", searcher, "--budget", "64", "--repeat", "2")["results"][0]
            self.assertGreater(result["fraction_of_optimum"]["64"], 0.9, searcher)

    def test_the_whole_space_has_the_optimum(self):
        result = self.replay("--searcher", "exhaustive", "--budget", "100", "--repeat", "1")["results"][0]
        self.assertEqual(result["fraction_of_optimum"]["100"], 1)

    def test_failed_evaluations_count(self):
        times = [time_ms(b, t, 0) for b in BLOCKS for t in TILES]
        best = min(t for t in times if not isinstance(t, str))
        result = self.replay("--searcher", "exhaustive", "--budget", "10", "--repeat", "1")["results"][0]
        ten = min(t for t in times[:10] if not isinstance(t, str))
        self.assertAlmostEqual(result["fraction_of_optimum"]["10"], best / ten)

    def test_same_seed_same_answer_whatever_the_threads(self):
        def without_times(answer):
            for result in answer["results"]:
                del result["search_s"]
            return answer
        one = without_times(self.replay("--budget", "40", "--repeat", "4", "--threads", "1"))
        self.assertEqual(one, without_times(self.replay("--budget", "40", "--repeat", "4", "--threads", "3")))
        self.assertNotEqual(one, without_times(self.replay("--budget", "40", "--repeat", "4", "--seed", "9")))

    def test_options_of_the_searcher(self):
        result = self.replay("--searcher", "two-stage", "--budget", "40", "--repeat", "1", "--second-stage", "10")
        self.assertEqual(result["results"][0]["searcher"], "two-stage")
        self.assertIn("two-stage", self.clatune("replay", "far.json", "--searcher", "random", "--second-stage", "5",
                                                expect=2).stderr)

    def test_what_another_device_knows(self):
        """The source has its best where the target has; with it the first evaluations are the best ones there."""
        (self.folder / "sibling.json").write_text(recording(shift=0.05))
        cold = self.replay("--budget", "12", "--repeat", "6")["mean"]["10"]
        warm = self.replay("--budget", "12", "--repeat", "6", "--learn-from", "sibling.json", "far.json")["mean"]["10"]
        self.assertGreater(warm, 0.98)
        self.assertGreater(warm, cold)
        off = self.replay("--budget", "12", "--repeat", "6", "--no-transfer", "--learn-from", "sibling.json")
        self.assertEqual(off["mean"]["10"], cold)

    def test_a_recording_is_no_source_for_itself(self):
        cold = self.replay("--budget", "12", "--repeat", "3")["mean"]
        self.assertEqual(self.replay("--budget", "12", "--repeat", "3", "--learn-from", "near.json.gz")["mean"], cold)

    def test_a_source_that_does_not_fit_does_no_harm(self):
        (self.folder / "foreign.json").write_text(recording().replace("block", "width"))
        cold = self.replay("--budget", "12", "--repeat", "3")["mean"]
        self.assertEqual(self.replay("--budget", "12", "--repeat", "3", "--learn-from", "foreign.json")["mean"], cold)

    def test_what_was_missed(self):
        answer = self.replay("--searcher", "random", "--budget", "60", "--repeat", "10")
        result = answer["results"][0]
        missed = list(result["missed"].values())
        self.assertEqual(list(result["missed"]), ["10", "25", "50", "60"])
        self.assertEqual(missed, sorted(missed, reverse=True))
        self.assertTrue(0 < missed[0] <= 1 and missed[-1] < missed[0], missed)
        self.assertEqual(answer["tolerance"], 0.02)
        self.assertEqual(answer["mean_missed"], result["missed"])
        one = self.replay("--searcher", "random", "--budget", "30", "--repeat", "1")["results"][0]
        for evaluations, fraction in one["fraction_of_optimum"].items():
            self.assertEqual(one["missed"][evaluations], 1 if fraction < 1 / 1.02 else 0)

    def test_failures_are_counted(self):
        failed = sum(isinstance(time_ms(b, t, 0), str) for b in BLOCKS for t in TILES)
        result = self.replay("--searcher", "random", "--budget", "30", "--repeat", "1")["results"][0]
        self.assertEqual((result["configurations"], result["failed"]), (len(BLOCKS) * len(TILES), failed))
        self.assertNotIn("second_stage_measured", result)

    def test_the_second_stage_is_counted(self):
        failed = sum(isinstance(time_ms(b, t, 0), str) for b in BLOCKS for t in TILES)
        result = self.replay("--searcher", "two-stage", "--samples", "32", "--second-stage", "32", "--budget", "64",
                             "--repeat", "1")["results"][0]  # both stages are the whole space
        self.assertEqual(result["second_stage_measured"], 32)
        first = self.replay("--searcher", "two-stage", "--samples", "32", "--second-stage", "0", "--budget", "32",
                            "--repeat", "1")["results"][0]
        self.assertNotIn("second_stage_measured", first)
        self.assertTrue(0 < result["second_stage_failed"] <= failed, result)

    def test_the_curve(self):
        result = self.replay("--searcher", "random", "--budget", "30", "--repeat", "1", "--curve")["results"][0]
        curve = result["mean_best_s"]
        self.assertEqual(len(curve), 30)
        known = [x for x in curve if x is not None]
        self.assertEqual(known, sorted(known, reverse=True))
        self.assertAlmostEqual(result["optimum_s"] / curve[-1], result["fraction_of_optimum"]["30"])
        self.assertNotIn("mean_best_s", self.replay("--budget", "5", "--repeat", "1")["results"][0])

    def test_text(self):
        text = self.clatune("replay", "near.json.gz", "--budget", "12", "--repeat", "2").stdout
        self.assertIn("near", text)
        self.assertIn("mean", text)

    def test_mistakes(self):
        self.assertIn("nowhere.json", self.clatune("replay", "nowhere.json", expect=1).stderr)
        self.assertIn("--repeat", self.clatune("replay", "far.json", "--repeat", "0", expect=2).stderr)
        self.assertIn("'sorrugate'", self.clatune("replay", "far.json", "--searcher", "sorrugate", expect=2).stderr)


main()
