"""Agents of a farm as jobs of Slurm: an array of them, and the effect of a signal, preemption and requeue: free leases, and nothing lost."""
import json
import pathlib
import sqlite3
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "reliability")]
import server  # noqa: E402
import slurm  # noqa: E402
from simulation import TIME_S, SimulatedTest, main, until  # noqa: E402

TUNINGS = 12


class Agents(slurm.Jobs, SimulatedTest):
    @classmethod
    def setUpClass(cls):
        cls.server = server.Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.use_slurm()
        self.database = self.server.database()
        self.clatune("store", "init", self.server.local_url(self.database))
        if not self.server.query("select 1 from pg_roles where rolname = 'agent'"):
            self.server.login("agent", "clatune_worker")
        passwords = self.folder / "pgpass"
        passwords.touch(mode=0o600)
        passwords.write_text(f"*:*:*:*:{server.PASSWORD}\n")
        self.environment["PGPASSFILE"] = str(passwords)
        self.url = self.server.url(self.database, "agent", password=None)
        self.simulate(name="Simulated", time_s=TIME_S, build_s=0.03)  # so that there is time for signals
        (self.folder / "plan.json").write_text(json.dumps({
            "Devices": "Simulated", "Problems": "copy.json", "Searchers": "random", "Budgets": 5, "Seeds": f"range(1, {TUNINGS + 1})",
            "Tuning": {"Finalists": 0}}))

    def value(self, sql):
        return self.server.value(sql, self.database)

    def submit(self, *options):
        return self.submit_job("plan.json", "--store", self.url, "--", *options)

    def begin(self):
        job = self.submit("--time=1:00:00")
        self.assertTrue(until(lambda: int(self.value("select count(*) from clatune.cell where state = 'done'")) >= 2))
        self.assertEqual(self.slurm.states(job), ["RUNNING"])
        return job

    def count(self, store):
        connection = sqlite3.connect(self.folder / store)
        try:
            return connection.execute("select count(*) from measurement").fetchone()[0]
        finally:
            connection.close()

    def results(self, *options):
        """The result of each tuning, by its seed."""
        answer = self.clatune_json("sweep", "plan.json", "--quiet", *options)
        self.assertEqual(answer["tunings"]["found"], TUNINGS)
        lines = [json.loads(line) for line in (self.folder / "plan.results.jsonl").read_text().splitlines()]
        (self.folder / "plan.results.jsonl").unlink()
        self.assertEqual(len(lines), TUNINGS)
        return {line["seed"]: (line["best_s"], line["configuration"], line["evaluations"]["total"]) for line in lines}

    def check(self):
        """Each tuning is done once, the server and the outboxes have the same records, and the results are those of one machine."""
        self.assertEqual(self.server.query("select state, count(*) from clatune.cell group by state", self.database), [["done", str(TUNINGS)]])
        outboxes = (self.folder / "share" / "clatune" / "outbox").glob("*.sqlite")
        self.clatune("store", "merge", *map(str, outboxes), "--store", "all.sqlite")
        n = self.count("all.sqlite")
        self.assertEqual(int(self.value("select count(*) from clatune.measurement")), n)
        self.clatune("store", "merge", self.url, "--store", "all.sqlite")
        self.assertEqual(self.count("all.sqlite"), n)
        found = self.results("--store", self.url)
        self.assertEqual(found, self.results("--store", "alone.sqlite"))

    def test_an_array(self):
        self.wait_for_job(self.submit("--array=1-3"), "COMPLETED")
        self.check()

    def test_a_signal_frees_the_lease(self):
        job = self.begin()
        self.slurm.run("scancel", "--signal=TERM", "--batch", str(job))
        signalled_s = time.monotonic()
        self.assertTrue(until(lambda: int(self.value("select count(*) from clatune.cell where state = 'running'")) == 0))
        self.figure("seconds until the lease is free", time.monotonic() - signalled_s, 1)
        self.wait_for_job(job, "FAILED")
        self.assertEqual(self.slurm.job(job)[0]["ExitCode"], "143:0")
        self.assertGreater(int(self.value("select count(*) from clatune.cell where state = 'open'")), 0)
        self.slurm.run("scontrol", "requeue", str(job))
        self.wait_for_job(job, "COMPLETED", restarts=1)
        self.check()

    def test_preempted(self):
        job = self.begin()
        self.preempt(job)
        self.wait_for_job(job, "COMPLETED")
        self.check()


if __name__ == "__main__":
    slurm.need()
    server.need()
    main()
