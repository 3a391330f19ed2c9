"""SIGKILL after a random number of builds: nothing acknowledged is lost, nothing is there twice, the same best in the end."""
import json
import os
import random
import sys

from simulation import SimulatedTest, kill_session, main, until

KILLS = int(os.environ.get("CLATUNE_KILLS", "12"))
BUDGET = 900
BUILD_S, AHEAD = (0.002, 40) if KILLS < 50 else (0.03, 12)  # so that there is room for so many kills
OPTIONS = ("--searcher", "random", "--seed", "3", "--budget", str(BUDGET), "--workers", "2", "--prepare-ahead", "2")
IN_FLIGHT = 4


class Kill(SimulatedTest):
    def builds(self):
        path = self.folder / "faults.log"
        return path.read_bytes().count(b" a=") if path.exists() else 0

    def test_killed_at_random_moments(self):
        # As if compiled in earnest, so that a search is longer than it takes to start.
        self.simulate(time_s="1e-5 * (1 + 0.02 * abs(a - 17) + 0.03 * abs(b - 9))", build_s=BUILD_S)
        undisturbed = self.tune(*OPTIONS, "--store", "undisturbed.sqlite")
        self.inject({"at": "build", "do": "note"})
        moments = random.Random(11)
        kills, finished, known = 0, None, []
        while finished is None:
            process = self.start(*OPTIONS, "--store", "s.sqlite")
            if kills < KILLS:
                wanted = self.builds() + moments.randrange(AHEAD)
                if until(lambda: self.builds() >= wanted, process) and process.poll() is None:
                    kill_session(process)
                    kills += 1
                    rows = self.rows("s.sqlite")
                    self.assertEqual(rows[:len(known)], known, "something acknowledged is lost")
                    known = rows
                    continue
            out, errors = process.communicate()
            self.assertEqual(process.returncode, 0, errors)
            finished = json.loads(out)
        rows = self.rows("s.sqlite")
        configurations = [configuration for configuration, _, _ in rows]
        self.assertEqual(len(configurations), len(set(configurations)), "something was measured and kept twice")
        self.assertEqual(sorted(rows), sorted(self.rows("undisturbed.sqlite")))
        self.assertEqual(finished["best"]["configuration"], undisturbed["best"]["configuration"])
        builds = self.builds()
        print(f"{kills} kills, {builds} builds of {len(rows)} configurations", file=sys.stderr)
        finalists = 16 * (kills + 1)
        self.assertLessEqual(builds, len(rows) + kills * IN_FLIGHT + finalists)
        self.assertGreaterEqual(kills, KILLS if KILLS >= 50 else 1)


if __name__ == "__main__":
    main()
