"""Plans that say until when they learn: a farm finds what one machine finds with the same seeds and the same sources, whatever is measured, or
arrives late, meanwhile, and whatever the clocks of the measuring agents say."""
import os
import sqlite3
import subprocess
import unittest

from farm import CLATUNE, FAKETIME, FarmTest, run

HOUR_S = 3600
SEARCH = {"Searchers": ["surrogate"], "Budgets": 8, "Evaluator": {"Evaluator": "opencl", "Options": {"workers": 1, "prepare-ahead": 1}}}
N_TUNINGS = 4


class Frozen(FarmTest):
    def measure(self, store, n, seed, budget, clock_s=0):
        """On a machine whose clock is so far off."""
        more = {"LD_PRELOAD": FAKETIME, "FAKETIME": f"{clock_s:+d}", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"} if clock_s else {}
        self.clatune("tune", *self.subject, "--size", f"n={n}", "--searcher", "random", "--budget", str(budget), "--seed", str(seed),
                     "--finalists", "0", "--store", store, **more)

    def shift(self, store, by_s):
        with sqlite3.connect(self.folder / store) as connection:
            connection.execute("update measurement set created_s = created_s + ?", (by_s,))
        connection.close()

    def merge(self, store, into):
        self.clatune("store", "merge", store, "--store", into)

    def plan(self, transfer):
        self.write_plan(N_TUNINGS, **SEARCH, Tuning={"Finalists": 0, "Transfer": transfer})

    def check_equal(self):
        self.until_finished()
        self.stop_agents()
        self.assertEqual(self.states(), {"done": N_TUNINGS})
        _, found = self.collect()
        self.assertEqual(found, self.on_one_machine())
        (self.folder / "alone.jsonl").unlink()
        (self.folder / "alone.sqlite").unlink()
        self.assertNotEqual(found, self.on_one_machine(), "nothing was learnt")

    @unittest.skipIf(FAKETIME is None, "there is no libfaketime (scripts/install-packages --with-farm)")
    @unittest.skipIf(os.environ.get("CLATUNE_SANITIZED"), "a sanitizer must be the first library")
    def test_at_submission(self):
        """Earlier records count though their clock was ahead; later ones do not though their clock, and agents', are behind."""
        self.measure("sources.sqlite", 2048, 1, budget=12, clock_s=HOUR_S)
        self.measure("late.sqlite", 4096, 2, budget=400, clock_s=-HOUR_S)
        self.merge("sources.sqlite", self.url)
        self.plan("submission")
        self.submit()
        submitted_s = int(self.value("select floor(extract(epoch from submitted)) from clatune.plan"))
        self.merge("late.sqlite", self.url)
        for clock_s in (-HOUR_S, HOUR_S, 0):
            self.agent(clock_s=clock_s, build_s=0.02)
        os.utime(self.folder / "plan.json", (submitted_s, submitted_s))
        self.shift("sources.sqlite", -2 * HOUR_S)
        self.merge("sources.sqlite", "alone.sqlite")
        self.check_equal()

    def test_at_a_time(self):
        self.measure("sources.sqlite", 2048, 1, budget=12)
        self.measure("late.sqlite", 4096, 2, budget=400)
        self.shift("sources.sqlite", -30 * 24 * HOUR_S)
        for store in ("sources.sqlite", "late.sqlite"):
            self.merge(store, self.url)
            self.merge(store, "alone.sqlite")
        at = self.value("select to_char((now() - interval '10 days') at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')")
        self.plan(at)
        self.submit()
        for _ in range(2):
            self.agent(build_s=0.02)
        self.check_equal()


if __name__ == "__main__":
    run()
