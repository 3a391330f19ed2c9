"""Every searcher on recordings of the project's own: how near it comes to the optimum with few evaluations.

The floors are the mean of optimum / best found over the three spaces and 40 seeds after 60 evaluations, less at least five
standard errors of the runs made here: a searcher below has become worse, not unlucky. Runs are the same every time.
A new searcher needs a line. With CLATUNE_FIGURES there are four times as many runs.
"""
import json
import os
import pathlib
import subprocess
import sys

SPACES = ["convolution-pocl-2048", "raycasting-pocl-256", "stereo-pocl-256"]
BUDGET = 60
# Searcher: runs a space, floor; behind them mean and standard error of 40 runs a space.
FLOORS = {
    "surrogate": (2, 0.88),    # 0.962, 0.006
    "two-stage": (1, 0.58),    # 0.827, 0.035 of 8 runs
    "hill-climb": (20, 0.80),  # 0.899, 0.011
    "annealing": (20, 0.80),   # 0.897, 0.008
    "genetic": (20, 0.74),     # 0.843, 0.013
    "ants": (20, 0.72),        # 0.828, 0.014
    "local": (20, 0.68),       # 0.789, 0.015
    "random": (20, 0.68),      # 0.787, 0.014
    "exhaustive": (1, 0.45),   # 0.480: the same whatever the seed
}
LEAST_AHEAD = 0.05  # of random, by the surrogate; 0.17 as it was measured


def mean_fraction(clatune, files, searcher, repeats):
    command = [clatune, "replay", *files, "--searcher", searcher, "--budget", str(BUDGET), "--repeat", str(repeats), "--json"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert [row["space"] for row in answer["results"]] == SPACES, answer["results"]
    return answer["mean"][str(BUDGET)]


def main(root, clatune):
    files = [str(root / "data/recorded" / f"{space}.json.gz") for space in SPACES]
    version = subprocess.run([clatune, "version", "--json"], check=True, capture_output=True).stdout
    searchers = set(json.loads(version)["searchers"]) - {"groups"}  # a recording states no groups
    assert searchers == set(FLOORS), f"searchers without a floor, or floors without one: {searchers ^ set(FLOORS)}"
    more = 4 if "CLATUNE_FIGURES" in os.environ else 1
    means = {s: mean_fraction(clatune, files, s, more * repeats) for s, (repeats, _) in FLOORS.items()}
    for searcher, (_, floor) in FLOORS.items():
        print(f"{searcher:12} {means[searcher]:.3f} (at least {floor})")
    worse = [s for s, (_, floor) in FLOORS.items() if means[s] < floor]
    assert not worse, f"below the floor: {worse}"
    assert means["surrogate"] > means["random"] + LEAST_AHEAD, "the surrogate is not ahead of random search"


main(pathlib.Path(sys.argv[1]), sys.argv[2])
