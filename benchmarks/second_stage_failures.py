#!/usr/bin/env python3
"""The failures that the validity model saves the two-stage search: the share of failures in the second stage with and without it.

    benchmarks/second_stage_failures.py SPACES

SPACES are recordings or folders of them; those where fewer than 5 % of the configurations failed are left out. The two-stage
search by `clatune replay`, 20 seeds, for several sizes of both stages; in brackets optimum / best found.
"""
import json
import sys

import tables

LEAST_FAILURES = 0.05  # of a space's configurations, that it is shown
STAGES = ((50, 100), (100, 100), (200, 100), (500, 100), (500, 1000))


def replay(options, spaces, *arguments):
    return json.loads(tables.run([tables.clatune(options), "replay", *spaces, *arguments, "--json"]))["results"]


def with_failures(options):
    paths = tables.recordings(options.spaces)
    looks = replay(options, paths, "--searcher", "random", "--budget", 1, "--repeat", 1)
    return [p for p, look in zip(paths, looks) if look["failed"] >= LEAST_FAILURES * look["configurations"]]


def stage(options, spaces, samples, second, validity):
    return replay(options, spaces, "--searcher", "two-stage", "--samples", samples, "--second-stage", second,
                  f"--validity={validity}", "--budget", samples + second, "--repeat", options.repeat, "--threads",
                  options.threads)


def cell(result, budget):
    failed = result["second_stage_failed"] / result["second_stage_measured"]
    return f"{tables.percent(failed)} ({result['fraction_of_optimum'][str(budget)]:.3f})"


def main():
    parser = tables.parser(__doc__)
    tables.add_replay(parser)
    parser.add_argument("--page", help="page that the table is also written to (docs/notebook/two-stage.md)")
    options = parser.parse_args()
    if "two-stage" not in tables.searchers(options):
        return
    spaces = with_failures(options) or sys.exit("no recording with failures")
    lines = []
    for samples, second in STAGES:
        with_it, without = (stage(options, spaces, samples, second, v) for v in ("yes", "no"))
        lines += [[a["space"], f"{samples} + {second}", cell(a, samples + second), cell(b, samples + second)]
                  for a, b in zip(with_it, without)]
    head = ["space", "stages", "failed, % (found), with", "without the validity model"]
    text = tables.markdown(head, sorted(lines, key=lambda x: x[0]))
    tables.publish(text, options.page, "second-stage failures")


if __name__ == "__main__":
    main()
