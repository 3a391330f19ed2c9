#!/usr/bin/env python3
"""The picture of README.md from the table of docs/notebook/search-quality.md: performance against evaluations of clatune's default searcher, of the
three other searchers that are the fastest after 100 evaluations, and of random search.

    benchmarks/search_picture.py [-o docs/pictures/search.svg]
"""
import argparse
import math
import pathlib
import re

import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE, PICTURE = ROOT / "docs/notebook/search-quality.md", ROOT / "docs/pictures/search.svg"


def table(page):
    """[name, fraction after each number of evaluations ...] in the table's order, the best after 100 first; the numbers."""
    part = page[page.index("<!-- peers: begin -->"):page.index("<!-- peers: end -->")]
    text = re.search(r"^\| searcher \|.*\n\|[- |]+\n((?:\|.*\n)+)", part, re.M)
    numbers = [int(n) for n in re.findall(r"\| (\d+) (?=\|)", text[0].splitlines()[0])]
    rows = [line.strip("| ").split(" | ") for line in text[1].splitlines()]
    return numbers, [[row[0], *(float(cell.split()[0]) for cell in row[1:1 + len(numbers)])] for row in rows]


def picture(page):
    numbers, rows = table(page)
    curves = {row[0]: row[1:] for row in rows}
    others = [name for name in curves if not name.startswith(("clatune", "plain"))]
    first, last = math.log(numbers[0]), math.log(numbers[-1])
    places = [(math.log(n) - first) / (last - first) for n in numbers]
    return plots.lines("Optimum / best found, mean of fourteen recorded GPU spaces", list(zip(places, numbers)),
                       {name: list(zip(places, curves[name])) for name in ["clatune surrogate", *others[:3], "plain random"]}, least=0.75, step=0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=PICTURE, help="the picture (default: docs/pictures/search.svg)")
    parser.parse_args().output.write_text(picture(PAGE.read_text()))


if __name__ == "__main__":
    main()
