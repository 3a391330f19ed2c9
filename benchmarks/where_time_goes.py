#!/usr/bin/env python3
"""Where the time of a tuning goes: milliseconds an evaluation by phase, from a store, and model and search from the
answers of clatune tune --json.

    benchmarks/where_time_goes.py store.sqlite [--problem convolution] [--answers tune.json ...]

Build, first launch, runs and verification are summed over the workers, which prepare side by side; waiting is for the
device while another worker times something. Wall is the clock between the first record of a batch and the last; a pause
of more than --pause seconds between two records ends a batch.
"""
import argparse
import json
import pathlib
import sqlite3

import tables

PHASES = ["build", "first_launch", "runs", "verify", "wait"]
QUERY = f"""SELECT problem.name, problem.sizes, device.key, measurement.created_s, measurement.reason,
{', '.join(f'coalesce(measurement.{p}_s, 0)' for p in PHASES)}
FROM measurement JOIN key ON key.id = measurement.key JOIN problem ON problem.id = key.problem JOIN device ON device.id = key.device
WHERE measurement.kind = 'search' ORDER BY measurement.id"""


def read_store(path):
    """{(problem, sizes, device): rows}"""
    out = {}
    connection = sqlite3.connect(f"{pathlib.Path(path).resolve().as_uri()}?mode=ro", uri=True)
    for name, sizes, device, *row in connection.execute(QUERY):
        out.setdefault((name, sizes, device.split("|")[1]), []).append(row)
    return out


def wall_s(moments, pause_s):
    return sum(b - a for a, b in zip(moments, moments[1:]) if 0 <= b - a <= pause_s)


def store_row(key, rows, pause_s):
    n = len(rows)
    sums = [sum(row[2 + i] for row in rows) for i in range(len(PHASES))]
    failed = sum(row[1] != "none" for row in rows)
    wall = wall_s([row[0] for row in rows], pause_s)
    return [f"{key[0]} ({key[1]}) on {key[2]}", n, failed, *(f"{1000 * s / n:.1f}" for s in sums), f"{1000 * wall / n:.1f}"]


def answer_row(path):
    answer = json.loads(pathlib.Path(path).read_text())
    model, n, phases = answer["model"] or {}, answer["evaluations"]["total"], answer["phases"]
    fit, predict = model.get("fit_s", 0) or 0, model.get("predict_s", 0) or 0
    return [answer["problem"], n, answer["evaluations"]["measured"], f"{answer['wall_s']:.1f}",
            *(f"{phases[p + '_s']:.1f}" for p in PHASES), f"{fit:.2f}", f"{predict:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", help="stores of clatune")
    parser.add_argument("--problem", help="only this problem")
    parser.add_argument("--pause", type=float, default=60, help="a longer pause between records, in seconds, ends a batch (default 60)")
    parser.add_argument("--answers", nargs="*", default=[], help="files with the output of clatune tune --json")
    options = parser.parse_args()
    found = [(k, rows) for s in options.stores for k, rows in read_store(s).items() if options.problem in (None, k[0])]
    if found:
        print(tables.markdown(["ms an evaluation", "evaluations", "failed", "build", "first launch", "runs", "verification",
                               "waiting", "wall"], [store_row(k, rows, options.pause) for k, rows in found]), "\n")
    if options.answers:
        print(tables.markdown(["seconds of a tuning", "evaluations", "measured", "wall", "build", "first launch", "runs",
                               "verification", "waiting", "model", "search"], [answer_row(a) for a in options.answers]))


if __name__ == "__main__":
    main()
