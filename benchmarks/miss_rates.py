#!/usr/bin/env python3
"""How often recorded searches missed something: the table of docs/notebook/miss-rates.md, and the one that clatune tune quotes.

Each searcher searches each recorded space with each budget, from 20 seeds (clatune replay). A search has missed something if
the optimum of the space is more than 2 % faster than its best; its loss is 1 - optimum / best found, mean of all searches.
Writes src/search/certainty_table.inc, which is compiled in, and the same figures into the page, with the names of the spaces.

    benchmarks/miss_rates.py SPACES [--searchers surrogate]

SPACES are recordings, or folders of them, that no searcher's settings were chosen on; those that were used for that are refused.
"""
import re
import sys

import tables

BUDGETS = (25, 50, 100, 200)
TABLE = tables.ROOT / "src/search/certainty_table.inc"
PAGE = tables.ROOT / "docs/notebook/miss-rates.md"
# A search reaches more on the spaces where its settings were chosen than elsewhere.
CHOSEN_ON = {"convmilo-a100", "convmilo-w6600", "convolution-rtx2080ti", "convolution-rtx3060laptop", "dedispersion-a100",
             "dedispersion-mi250x", "gemm-rtx2080ti", "gemm-rtx3060laptop", "pnpoly-rtx2080ti", "pnpoly-rtx3090",
             "convolution-pocl-2048"}
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


def names_of(options):
    """Of the spaces, none of which served for choosing."""
    names = [path.name.removesuffix(".gz").removesuffix(".json") for path in tables.recordings(options.spaces)]
    seen = sorted(CHOSEN_ON.intersection(names))
    return sys.exit(f"searchers' settings were chosen on {', '.join(seen)}") if seen else f"Spaces: {', '.join(names)}."


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
    names, rows = names_of(options), read(TABLE)
    if names not in PAGE.read_text():  # no searcher is compared with others on other spaces
        rows = []
    for searcher in tables.searchers(options):
        rows = [r for r in rows if r[0] != searcher] + [row(options, searcher, budget) for budget in BUDGETS]
        write(TABLE, sorted(rows))
        tables.replace_part(PAGE, "miss rates", f"{markdown(rows)}\n\n{names}")
    print(markdown(rows))


if __name__ == "__main__":
    main()
