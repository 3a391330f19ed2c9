#!/usr/bin/env python3
"""The picture of README.md from the tables of docs/notebook/search-quality.md: performance against evaluations of clatune's default searcher, of
Kernel Tuner's three strategies with the best scores, and of random search.

    benchmarks/search_picture.py [-o docs/pictures/search.svg]
"""
import argparse
import math
import pathlib
import re

import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, PICTURE = ROOT / "docs/notebook/search-quality.md", ROOT / "docs/pictures/search.svg"


def table(page, whose):
    """[[name, fraction after each number of evaluations ...]] in the table's order, which is that of the score; the numbers."""
    text = re.search(rf"^\| {whose} \|.*\n\|[- |]+\n((?:\|.*\n)+)", page, re.M)
    numbers = [int(n) for n in re.findall(r"\| (\d+) (?=\|)", text[0].splitlines()[0])]
    rows = [line.strip("| ").split(" | ") for line in text[1].splitlines()]
    return numbers, [[row[0], *map(float, row[1:1 + len(numbers)])] for row in rows]


def picture(page):
    numbers, ours = table(page, "clatune")
    _, theirs = table(page, "Kernel Tuner")
    by_name = {row[0]: row[1:] for row in ours}
    curves = {"clatune surrogate": by_name["surrogate"], **{f"Kernel Tuner {row[0]}": row[1:] for row in theirs[:3]}, "clatune random": by_name["random"]}
    first, last = math.log(numbers[0]), math.log(numbers[-1])
    places = [(math.log(n) - first) / (last - first) for n in numbers]
    return plots.lines("Optimum / best found, mean of fourteen recorded GPU spaces, 20 searches each", list(zip(places, numbers)),
                       {name: list(zip(places, values)) for name, values in curves.items()}, least=0.75, step=0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=PICTURE, help="the picture (default: docs/pictures/search.svg)")
    parser.parse_args().output.write_text(picture(PAGE.read_text()))


if __name__ == "__main__":
    main()
