#!/usr/bin/env python3
"""How good are the choices in families of kernels? Measures each family on each device, and makes a table of `clatune family report`.

    benchmarks/families.py kernels_cl/families/*/*.family.json --devices pocl rusticl --inputs 30 --store families.sqlite \\
        [--page docs/notebook/families.md]

Measurements in the store are not repeated, so that a run that was stopped goes on. --inputs: so many to learn from and so many to judge
by. --summary: only the store's measurements.
"""
import json
import pathlib

import tables

CHOICES = {"time": "`time`", "svm": "`svm`", "pairwise": "`pairwise`", "measure the top two of time": "top two",
           "single best variant": "single best"}


def report(options, family, device):
    command = [tables.clatune(options), "family", "report", family, "--device", device, "--store", options.store, "--json", "--quiet"]
    return json.loads(tables.run(command))


def measure(options, family, device):
    given = [part for key in ("inputs", "tune_on", "budget") if (value := getattr(options, key))
             for part in (f"--{key.replace('_', '-')}", value)]
    tables.run([tables.clatune(options), "family", "measure", family, "--device", device, "--store", options.store, *given, "--quiet"])


def row(name, device, answer):
    found = {r["choice"]: r for r in answer["rows"]}
    chosen = found["time"]
    return [name, device, len(answer["arms"]), f"{answer['learnt_from']} / {answer['judged_by']}",
            *(f"{found[c]['mean']:.3f}" if c in found else "" for c in CHOICES),
            f"{chosen['gap_closed']:.2f}", f"{tables.percent(chosen['slower_than_single'])} %"]


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("families", nargs="+", type=pathlib.Path, help="family files")
    parser.add_argument("--devices", nargs="+", required=True, help="devices, as for clatune's --device")
    parser.add_argument("--store", required=True, help="store of the measurements")
    parser.add_argument("--inputs", type=int, help="training and test inputs per family (default: all)")
    parser.add_argument("--tune-on", type=int, help="inputs to tune each variant on (default: that of clatune)")
    parser.add_argument("--budget", type=int, help="evaluations per tuning (default: that of clatune)")
    parser.add_argument("--summary", action="store_true", help="only the table, from the store")
    parser.add_argument("--page", help="page that the table is also written to")
    options = parser.parse_args()
    rows = []
    for device in options.devices:
        for family in options.families:
            if not options.summary:
                measure(options, family, device)
            rows.append(row(family.name.split(".")[0], device, report(options, family, device)))
            print(" | ".join(str(x) for x in rows[-1]), flush=True)
    text = tables.markdown(["family", "device", "arms", "inputs", *CHOICES.values(), "gap closed", "slower than the single best"], rows)
    tables.publish(text, options.page, "families")


if __name__ == "__main__":
    main()
