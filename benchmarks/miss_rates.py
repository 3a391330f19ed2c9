#!/usr/bin/env python3
"""How often recorded searches missed something: the table of docs/certainty.md, and the one that clatune tune quotes.

Each searcher searches each recorded space with each budget, from 20 seeds (clatune replay). A search has missed something if
the optimum of the space is more than 2 % faster than its best; its loss is 1 - optimum / best found, mean of all searches.
Writes src/search/certainty_table.inc, which is compiled in, and the same figures into the page.

    benchmarks/miss_rates.py SPACES [--searchers surrogate]
"""
import re

import tables

BUDGETS = (25, 50, 100, 200)
TABLE = tables.ROOT / "src/search/certainty_table.inc"
PAGE = tables.ROOT / "docs/certainty.md"
HEAD = "/* Written by benchmarks/miss_rates.py: searcher, evaluations, spaces, searches, tolerance, missed, mean loss. */\n"
ROW = re.compile(r'\{"([\w-]+)", (\d+), (\d+), (\d+), ([\d.]+), ([\d.]+), ([\d.]+)\},')


def row(options, searcher, budget):
    answer = tables.replay(options, searcher, budget)
    spaces, at = len(answer["results"]), str(budget)
    return (searcher, budget, spaces, spaces * options.repeat, answer["tolerance"], round(answer["mean_missed"][at], 4),
            round(1 - answer["mean"][at], 4))


def read(path):
    kinds = (str, int, int, int, float, float, float)
    return [tuple(kind(x) for kind, x in zip(kinds, found)) for found in ROW.findall(path.read_text())]


def write(path, rows):
    lines = [f'{{"{r[0]}", {r[1]}, {r[2]}, {r[3]}, {r[4]:g}, {r[5]:.4f}, {r[6]:.4f}}},\n' for r in rows]
    path.write_text(HEAD + "".join(lines))


def markdown(rows):
    """A line a searcher, best first: missed / mean loss in % for each budget."""
    at = {(r[0], r[1]): r for r in rows}
    names = sorted({r[0] for r in rows}, key=lambda s: at[s, BUDGETS[-1]][6])
    cells = [[f"{tables.percent(at[s, b][5])} / {tables.percent(at[s, b][6])}" for b in BUDGETS] for s in names]
    return tables.markdown(["missed / mean loss, %", *BUDGETS], [[s, *c] for s, c in zip(names, cells)])


def main():
    parser = tables.parser(__doc__)
    tables.add_replay(parser)
    options = parser.parse_args()
    rows = read(TABLE)
    for searcher in tables.searchers(options):
        rows = [r for r in rows if r[0] != searcher] + [row(options, searcher, budget) for budget in BUDGETS]
        write(TABLE, sorted(rows))
    tables.replace_part(PAGE, "miss rates", markdown(rows))
    print(markdown(rows))


if __name__ == "__main__":
    main()
