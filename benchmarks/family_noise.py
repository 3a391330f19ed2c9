#!/usr/bin/env python3
"""How well the times of a family's arms are known, from a store in which 'clatune family measure' has measured the close ones five times.

    benchmarks/family_noise.py families.sqlite

Three of the five measurements of each arm give its time, in one of several ways. The arm that is the fastest by these times is judged by
the other two measurements: the column 'fastest' is the time of the arm that is the fastest by them, divided by the time of the chosen
one, on average over inputs and over the ten ways to take three. 'pairs' is the median difference between the ratio of two arms' times by
the three and by the two. 'slower' is how often the chosen arm is more than 5 % slower than the single best arm by the two: a chooser that
knows the three measurements of each arm can hardly do better.
"""
import argparse
import collections
import contextlib
import itertools
import json
import math
import pathlib
import sqlite3
import statistics

import tables

WAYS = {"one measurement": lambda times: times[0], "shortest": min, "median": statistics.median,
        "mean of the faster half": lambda times: statistics.mean(sorted(times)[:(len(times) + 1) // 2])}


def read(path):
    """{family: {device and input: {arm: times in the order of measuring}}}"""
    families = collections.defaultdict(lambda: collections.defaultdict(lambda: collections.defaultdict(list)))
    parameters = {}  # of an input, by folder
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        for device, name, problem, sizes, configuration, time_s in connection.execute(
                "select k.device, p.name, p.path, p.sizes, m.configuration, m.time_s from measurement m join key k on k.id = m.key "
                "join problem p on p.id = k.problem "
                "where m.kind = 'search' and m.reason = 'none' and p.path like '%.json' order by m.id"):
            folder = pathlib.Path(problem).parent
            if folder not in parameters:
                family = next(folder.glob("*.family.json"), None)
                parameters[folder] = family and json.loads(family.read_text())["Inputs"]["Parameters"]
            if parameters[folder]:
                own = tuple(size for size in sizes.split() if size.split("=")[0] in parameters[folder]) or sizes
                families[folder.name][device, own][name, configuration].append(time_s)
    return families


def single_best(inputs):
    """The arm with the lowest mean log time relative to the fastest, of those that were measured on nine inputs in ten."""
    relative = collections.defaultdict(list)
    for arms in inputs:
        least = min(min(times) for times in arms.values())
        for arm, times in arms.items():
            relative[arm].append(math.log(min(times) / least))
    return min((arm for arm, all_of_it in relative.items() if len(all_of_it) >= 0.9 * len(inputs)),
               key=lambda arm: statistics.mean(relative[arm]), default=None)


def judge(way, arms, single):
    """(difference of a pair, ...), (fraction of the best, ...), how often the choice is more than 5 % slower than the single best arm"""
    pairs, fractions, slower = [], [], 0
    for three in itertools.combinations(range(5), 3):
        known = {arm: way([times[i] for i in three]) for arm, times in arms.items()}
        other = {arm: statistics.mean(times[i] for i in range(5) if i not in three) for arm, times in arms.items()}
        chosen = other[min(known, key=known.get)]
        fractions.append(min(other.values()) / chosen)
        slower += chosen > 1.05 * other.get(single, math.inf)
        pairs += [abs(math.log(known[a] / known[b] * other[b] / other[a])) for a, b in itertools.combinations(arms, 2)]
    return pairs, fractions, slower / len(fractions)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="+")
    rows = []
    for store in parser.parse_args().stores:
        for family, inputs in read(store).items():
            close = [{arm: times[:5] for arm, times in arms.items() if len(times) >= 5} for arms in inputs.values()]
            close = [arms for arms in close if len(arms) > 1]
            single = single_best(inputs.values())
            for name, way in WAYS.items() if close else ():
                judged = [judge(way, arms, single) for arms in close]
                rows.append([family, len(close), name, f"{statistics.median(p for pairs, *_ in judged for p in pairs):.3f}",
                             f"{statistics.mean(statistics.mean(fractions) for _, fractions, _ in judged):.3f}",
                             f"{100 * sum(slower for *_, slower in judged) / len(inputs):.1f} %"])
    print(tables.markdown(["family", "inputs with close arms", "time of an arm", "pairs", "fastest", "slower"], rows))


if __name__ == "__main__":
    main()
