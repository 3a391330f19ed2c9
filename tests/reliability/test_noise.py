"""A noisy device: the configuration that is chosen is, in truth, within 2 % of the best of those that were measured."""
import os
import sys

from simulation import SimulatedTest, main

SEEDS = int(os.environ.get("CLATUNE_SEEDS", "7"))
NOISE = {"sigma": 0.2, "slowed_share": 0.1, "slowed_by": 1.3}
# Half a per cent to a few from one configuration to the next.
TIME_S = "1e-5 * (1 + 0.01 * abs(a - 17) + 0.015 * abs(b - 9))"


def true_s(a, b):
    return 1e-5 * (1 + 0.01 * abs(int(a) - 17) + 0.015 * abs(int(b) - 9))


class Noise(SimulatedTest):
    def test_the_choice_is_right_in_truth(self):
        good, losses = 0, []
        for seed in range(1, SEEDS + 1):
            self.simulate(time_s=TIME_S, noise={**NOISE, "seed": seed})
            store = f"{seed}.sqlite"
            answer = self.tune("--searcher", "random", "--budget", "100", "--seed", str(seed), "--store", store)
            measured = [true_s(*(p.split("=")[1] for p in configuration.split())) for configuration, _, _ in self.rows(store)]
            chosen = answer["best"]["configuration"]
            losses.append(true_s(chosen["a"], chosen["b"]) / min(measured) - 1)
            good += losses[-1] <= 0.02
        # Seven seeds are too few for 95 %: where 195 of 200 are right, four or fewer of seven are once in two thousand runs.
        print(f"{good} of {SEEDS} within 2 %; worst {100 * max(losses):.1f} %", file=sys.stderr)
        self.assertGreaterEqual(good, 95 if SEEDS == 100 else 0.7 * SEEDS)


if __name__ == "__main__":
    main()
