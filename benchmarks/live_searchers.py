#!/usr/bin/env python3
"""How much faster than the default is what each searcher of a plan finds, problem by problem, on a real device?

    benchmarks/live_searchers.py examples/plans/polybench.json --device pocl --store live.sqlite --results live.jsonl \\
        [--page docs/notebook/kernels.md]

Runs `clatune sweep` on the plan, which goes on where it was stopped, or with --summary only takes what is finished. The table has the
medians over the seeds of the default's time and of the speed-ups; winner and default took turns.
"""
import json
import pathlib
import statistics

import tables


def sweep(options):
    """The sweep's lines, with the default's time in them."""
    return json.loads(tables.run([tables.clatune(options), "sweep", options.plan, "--device", options.device, "--store", options.store,
                                  "--output", options.results, *(["--summary"] if options.summary else []), "--format", "json",
                                  "--quiet"]))["table"]


def table(lines):
    searchers = list(dict.fromkeys(line["searcher"] for line in lines))
    rows, of_searcher = [], {searcher: [] for searcher in searchers}
    for problem in dict.fromkeys(line["problem"] for line in lines):
        found = {line["searcher"]: line for line in lines if line["problem"] == problem and line["speedup_over_default"]}
        if not found:
            continue
        default_s = statistics.median(line["default_s"] for line in found.values())
        rows.append([problem, f"{1000 * default_s:.3f}", *(f"{found[s]['speedup_over_default']:.2f}" if s in found else "" for s in searchers)])
        for searcher, line in found.items():
            of_searcher[searcher].append(line["speedup_over_default"])
    whole = {s: speedups for s, speedups in of_searcher.items() if len(speedups) == len(rows)}
    rows.append(["geometric mean", "", *(f"{statistics.geometric_mean(whole[s]):.2f}" if whole.get(s) else "" for s in searchers)])
    return tables.markdown(["problem", "default, ms", *searchers], rows)


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("plan", type=pathlib.Path, help="plan with one device, one size per problem and one budget")
    parser.add_argument("--device", required=True, help="the device, as for clatune")
    parser.add_argument("--store", required=True, help="store of the measurements")
    parser.add_argument("--results", required=True, help="file with the finished tunings")
    parser.add_argument("--summary", action="store_true", help="only the table, from the finished tunings")
    parser.add_argument("--page", help="page that the table is also written to")
    options = parser.parse_args()
    text = table(sweep(options))
    tables.publish(text, options.page, options.plan.stem)


if __name__ == "__main__":
    main()
