"""Slow configurations: those that are far behind the best cost a small part of what they would cost without limits."""
import os

from simulation import SimulatedTest, main

OPTIONS = ("--searcher", "exhaustive", "--workers", "1", "--prepare-ahead", "1", "--finalists", "0", "--no-store")
WITHOUT = ("--abandon-factor", "0", "--run-timeout-factor", "0")
FIGURES = os.environ.get("CLATUNE_FIGURES")  # they are held against their limits; else all there is to see is that nothing is lost


class Deadlines(SimulatedTest):
    def wall_s(self, n_slow, *more):
        """One fast configuration, which is measured first, and n that take a hundred times as long."""
        self.write_problem(1 + n_slow, 1)
        answer = self.tune(*OPTIONS, "--budget", str(1 + n_slow), *more)
        self.assertEqual(answer["evaluations"]["total"], 1 + n_slow)
        return answer["wall_s"]

    def share(self, best_s, n_slow, n_without):
        """The cost of a slow one with the limits, relative to its cost without them."""
        self.simulate(time_s=f"{best_s} if a == 0 else {100 * best_s}", waits=True)
        alone = self.wall_s(0)
        with_limits = (self.wall_s(n_slow) - alone) / n_slow
        without = (self.wall_s(n_without, *WITHOUT) - alone) / n_without
        return with_limits / without

    def test_a_hundred_slow_configurations(self):
        """Runs of a second, ended at the floor of 0.25 s."""
        self.figure("share of 1 s runs that is spent", self.share(10e-3, *((100, 3) if FIGURES else (4, 1))), 0.15)

    def test_those_below_the_floor_run_once(self):
        self.figure("share of 0.2 s runs that is spent", self.share(2e-3, *((20, 5) if FIGURES else (4, 1))), 0.25)


if __name__ == "__main__":
    main()
