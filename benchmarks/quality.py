#!/usr/bin/env python3
"""How near every searcher comes to the optimum of recorded spaces: tests/quality/results.csv and the table of docs/search.md.

Each searcher searches each space with a budget of 200 evaluations, from 20 seeds (clatune replay); the file has the mean of
optimum / best found after so many evaluations, and the mean's standard error over the seeds.

    benchmarks/quality.py SPACES [--searchers surrogate]

SPACES are recordings (cache files of Kernel Tuner, T4 files) or folders of them, e.g. those of the auto-tuning community's
benchmark hub. Rows of the file that belong to other searchers or other spaces stay as they are.
"""
import csv
import pathlib

import tables

FIELDS = ["space", "searcher", "evaluations", "fraction", "standard_error"]
SHOWN = (25, 50, 100, 200)


def rows_of(options, searcher):
    answer = tables.replay(options, searcher, options.budget)
    return [(r["space"], searcher, int(n), f"{fraction:.4f}", f"{r['standard_error'][n]:.4f}")
            for r in answer["results"] for n, fraction in r["fraction_of_optimum"].items()]


def old_rows(path, made):
    """What stays of an earlier run."""
    if not pathlib.Path(path).exists():
        return []
    with open(path, newline="") as file:
        rows = [tuple(row[f] for f in FIELDS) for row in csv.DictReader(file)]
    replaced = {row[:2] for row in made}
    return [(space, searcher, int(n), *rest) for space, searcher, n, *rest in rows if (space, searcher) not in replaced]


def write(path, rows):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(sorted(rows))


def mean(rows, searcher, evaluations):
    found = [float(r[3]) for r in rows if r[1] == searcher and r[2] == evaluations]
    error = sum(float(r[4]) ** 2 for r in rows if r[1] == searcher and r[2] == evaluations) ** 0.5 / max(len(found), 1)
    return f"{sum(found) / len(found):.3f} +-{error:.3f}" if found else "-"


def worst(rows, searcher):
    return min((r[3], r[0]) for r in rows if r[1] == searcher and r[2] == SHOWN[-1])


def table(rows):
    shown = sorted({r[1] for r in rows}, key=lambda s: mean(rows, s, SHOWN[-1]), reverse=True)
    head = ["searcher", *SHOWN, f"worst space at {SHOWN[-1]}"]
    lines = [[s, *(mean(rows, s, n) for n in SHOWN), "{1}, {0}".format(*worst(rows, s))] for s in shown]
    return tables.markdown(head, lines)


def main():
    parser = tables.parser(__doc__)
    tables.add_replay(parser)
    parser.add_argument("--budget", type=int, default=200, help="evaluations of a search (default 200)")
    parser.add_argument("--csv", default=tables.ROOT / "tests/quality/results.csv")
    parser.add_argument("--page", help="also puts the table into this page (docs/search.md)")
    options = parser.parse_args()
    made = [row for searcher in tables.searchers(options) for row in rows_of(options, searcher)]
    rows = made + old_rows(options.csv, made)
    write(options.csv, rows)
    text = table(rows)
    print(text)
    if options.page:
        tables.replace_part(options.page, "quality", text)


if __name__ == "__main__":
    main()
