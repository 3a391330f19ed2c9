#!/usr/bin/env python3
"""How near every searcher comes to the optimum of recorded spaces: tests/quality/results.csv and the table of docs/notebook/search-quality.md.

Each searcher searches each space with a budget of 200 evaluations, from 20 seeds (clatune replay); the file has the mean of
optimum / best found after so many evaluations, and the mean's standard error over the seeds.

    benchmarks/quality.py SPACES [--searchers surrogate]

    benchmarks/quality.py --edges all [--searchers surrogate]

SPACES are recordings (cache files of Kernel Tuner, T4 files) or folders of them, e.g. those of the auto-tuning community's
benchmark hub. Rows of the file that belong to other searchers or other spaces stay as they are. With --edges the spaces are
landscapes of the evaluator "synthetic" whose optimum is next to the failing configurations, and the table says which searcher is worse than random
search, by more than two standard errors of the difference.
"""
import csv
import json
import pathlib
import tempfile

import tables

FIELDS = ["space", "searcher", "evaluations", "fraction", "standard_error"]
SHOWN = (25, 50, 100, 200)
# Values of each parameter, share that fails, landscapes, each with edges of one, two and three parameters. Searchers were improved on
# the first; the ones kept apart were looked at once.
MENDED = [([8, 5, 4, 4, 4, 3, 2], 0.5, (2,)), ([12, 10, 4, 4, 2, 2, 2], 0.8, (2,))]
APART = [([8, 5, 4, 4, 4, 3, 2], 0.2, (11,)), ([6, 6, 5, 4, 2, 2, 2, 2], 0.5, (12,)), ([16, 12, 10, 8], 0.8, (13,))]


def rows_of(options, searcher):
    answer = tables.replay(options, searcher, options.budget)
    return [(r["space"], searcher, int(n), f"{fraction:.4f}", f"{r['standard_error'][n]:.4f}")
            for r in answer["results"] for n, fraction in r["fraction_of_optimum"].items()]


def old_rows(path, made):
    """The results kept from an earlier run."""
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


def record_edge(options, folder, n_values, invalid, edge, landscape):
    """All configurations of a landscape with an edge, as a cache file of Kernel Tuner."""
    values = {f"p{i}": [2 ** k for k in range(n)] for i, n in enumerate(n_values)}
    problem = {"General": {"FormatVersion": 1, "BenchmarkName": "edge"}, "Command": {"Run": ["true"]},
               "ConfigurationSpace": {"TuningParameters": [{"Name": n, "Type": "int", "Values": v} for n, v in values.items()]}}
    file = folder / "problem.json"
    file.write_text(json.dumps(problem))
    answer = json.loads(tables.run([
        tables.clatune(options), "tune", file, "--evaluator", "synthetic", "--edge", edge, "--landscape", landscape, "--invalid",
        invalid, "--noise", 0, "--runs", 1, "--searcher", "exhaustive", "--finalists", 0, "--store", folder / "store.sqlite",
        "--evaluations", "--json", "--quiet"]))
    cache = {",".join(map(str, r["configuration"].values())):
             {**r["configuration"], "time": 1000 * r["time_s"] if r["reason"] == "none" else "RuntimeFailedConfig"}
             for r in answer["results"]}
    path = folder / f"{'x'.join(map(str, n_values))}-edge{edge}-landscape{landscape}.json"
    path.write_text(json.dumps({"device_name": "synthetic", "kernel_name": "edge", "problem_size": 1, "cache": cache,
                                "tune_params_keys": list(values), "tune_params": values}))
    return path


def beside_random(rows, searcher, spaces):
    """Mean at the end, spaces where it is worse than random search, and the space where it is least ahead."""
    end = {(r[0], r[1]): (float(r[3]), float(r[4])) for r in rows if r[2] == SHOWN[-1]}
    ahead = {s: end[s, searcher][0] - end[s, "random"][0] for s in spaces}
    error = {s: (end[s, searcher][1] ** 2 + end[s, "random"][1] ** 2) ** 0.5 for s in spaces}
    least = min(spaces, key=lambda s: ahead[s] / max(error[s], 1e-9)) if searcher != "random" else None
    return [f"{sum(end[s, searcher][0] for s in spaces) / len(spaces):.3f}",
            sum(ahead[s] < -2 * error[s] for s in spaces), f"{ahead[least]:+.3f} +-{error[least]:.3f}" if least else "-"]


def edges_table(options):
    head, cells = ["searcher"], {}
    for name, groups in (("", MENDED), (", kept apart", APART)):
        if options.edges == "mended" and groups is APART:
            continue
        with tempfile.TemporaryDirectory(prefix="clatune-edges-") as folder:
            options.spaces = [record_edge(options, pathlib.Path(folder), n_values, invalid, edge, landscape)
                              for n_values, invalid, landscapes in groups for edge in (1, 2, 3) for landscape in landscapes]
            rows = [row for searcher in {"random", *tables.searchers(options)} for row in rows_of(options, searcher)]
        spaces = sorted({r[0] for r in rows})
        head += [f"{len(spaces)} spaces{name}", "worse", "least ahead"]
        for searcher in {r[1] for r in rows}:
            cells.setdefault(searcher, []).extend(beside_random(rows, searcher, spaces))
    return tables.markdown(head, [[s, *c] for s, c in sorted(cells.items(), key=lambda x: x[1][0], reverse=True)])


def main():
    parser = tables.parser(__doc__)
    tables.add_replay(parser)
    parser.add_argument("--edges", choices=["mended", "all"], help="synthetic spaces instead of SPACES: those that searchers "
                        "were improved on (mended), or also those that were kept apart (all)")
    parser.add_argument("--budget", type=int, default=200, help="evaluations per search (default 200)")
    parser.add_argument("--csv", default=tables.ROOT / "tests/quality/results.csv")
    parser.add_argument("--page", help="page that the table is also written to (docs/notebook/search-quality.md)")
    options = parser.parse_args()
    if options.edges:
        return print(edges_table(options))
    made = [row for searcher in tables.searchers(options) for row in rows_of(options, searcher)]
    rows = made + old_rows(options.csv, made)
    write(options.csv, rows)
    text = table(rows)
    tables.publish(text, options.page, "quality")


if __name__ == "__main__":
    main()
