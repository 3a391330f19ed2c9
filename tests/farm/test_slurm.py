"""clatune sweep --slurm on a real Slurm of one node: arrays, the end of a job's time, signals, preemption and requeue. What was measured is
kept, no tuning is done twice, and no signal is taken for a configuration that fails."""
import collections
import json
import pathlib
import sqlite3
import sys

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "reliability")]
import slurm  # noqa: E402
from simulation import SimulatedTest, main  # noqa: E402

PLAN = {"Devices": ["Simulated"], "Problems": {"Problem": "copy.json", "Sizes": [{"n": 1024}, {"n": 2048}]}, "Searchers": "random",
        "Seeds": "range(1, 9)", "Budgets": 15, "Tuning": {"Finalists": 0}}
TUNINGS = 2 * 8


class Sweep(slurm.Jobs, SimulatedTest):
    def setUp(self):
        super().setUp()
        self.use_slurm()
        (self.folder / "plan.json").write_text(json.dumps(PLAN))

    def submit(self, *options):
        return self.submit_job("plan.json", *options)

    def lines(self):
        path = self.folder / "plan.results.jsonl"
        return path.read_text().splitlines() if path.exists() else []

    def wait_for_lines(self, job, n):
        self.slurm.until(lambda: len(self.lines()) >= n, f"no {n} tunings are finished: {self.output()}")
        self.assertEqual(set(self.slurm.states(job)), {"RUNNING"})

    def slow(self):
        self.simulate({"name": "Simulated", "time_s": "1e-5", "build_s": 0.01})

    def check_all_done_once(self, *stores):
        keys = collections.Counter(json.loads(line)["tuning"] for line in self.lines())
        self.assertEqual((len(keys), set(keys.values())), (TUNINGS, {1}), self.output())
        for store in stores:
            connection = sqlite3.connect(self.folder / store)
            measured = collections.Counter(connection.execute("select key, configuration, reason from measurement").fetchall())
            connection.close()
            self.assertEqual({reason for _, _, reason in measured}, {"none"})
            self.assertEqual(set(measured.values()), {1})

    def test_an_array_of_shards(self):
        job = self.submit("--shard", "%a/4", "--store", "%a.sqlite")
        self.wait_for_job(job, "COMPLETED")
        self.check_all_done_once(*(f"{i}.sqlite" for i in range(1, 5)))
        self.assertEqual(len(self.slurm.job(job)), 4)
        self.clatune("store", "merge", *(f"{i}.sqlite" for i in range(1, 5)))
        self.assertEqual(self.clatune_json("sweep", "plan.json", "--summary")["tunings"]["before"], TUNINGS)

    def test_preempted_and_requeued(self):
        self.slow()
        job = self.submit("--store", "store.sqlite")
        self.wait_for_lines(job, 2)
        self.preempt(job)
        self.wait_for_job(job, "COMPLETED")
        self.check_all_done_once("store.sqlite")
        self.assertRegex(self.output(), rf"(?s) to do .*{TUNINGS} finished \(\d+ before\)")  # it had time to stop

    def test_a_signal(self):
        self.slow()
        job = self.submit("--store", "store.sqlite")
        self.wait_for_lines(job, 2)
        self.slurm.run("scancel", "--signal=TERM", "--batch", str(job))
        self.wait_for_job(job, "FAILED")
        self.assertEqual(self.slurm.job(job)[0]["ExitCode"], "143:0")
        self.assertRegex(self.output(), "to do")
        self.assertLess(len(self.lines()), TUNINGS)
        self.wait_for_job(self.submit("--store", "store.sqlite"), "COMPLETED")
        self.check_all_done_once("store.sqlite")

    def test_nothing_is_begun_near_the_end_of_the_time(self):
        """Of one minute, nothing is left before the signal."""
        self.wait_for_job(self.submit("--", "--time=1"), "COMPLETED")
        self.assertEqual(self.lines(), [])
        self.assertIn(f"{TUNINGS} to do", self.output())
        self.wait_for_job(self.submit("--", "--time=30"), "COMPLETED")
        self.check_all_done_once()

    def test_what_slurm_refuses(self):
        run = self.clatune("sweep", "plan.json", "--slurm", "--", "--partition=nowhere", expect=1)
        self.assertRegex(run.stderr, "clatune: sbatch ended with exit code 1: .*[Ii]nvalid partition")


if __name__ == "__main__":
    slurm.need()
    main()
