#!/usr/bin/env python3
"""How much the times of a configuration differ when it is measured again, by the one and the other build in turns.

    benchmarks/timing_noise.py kernels_cl/filterbank.json data/filterbank-good.json --device pocl \\
        --size height=64 --size width=64 --size n_filters=32 --build BEFORE --build build

Every configuration of the list is measured once per round by each build, into a new store; a time is compared with the shortest of
that configuration in all of them.
"""
import argparse
import json
import pathlib
import statistics
import tempfile

import tables

FAR = 1.3  # times a configuration's shortest


def measure(options, build, folder, store):
    """{configuration: seconds} of those that are correct."""
    by = argparse.Namespace(problem=options.problem, device=options.device, measure="", build=build)
    times = tables.measure(by, tables.typed_sizes(options), json.loads(options.configurations.read_text()), folder, store)
    return {key: time_s for key, time_s in times.items() if time_s}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", help="problem file")
    parser.add_argument("configurations", type=pathlib.Path, help="JSON file with a list of configurations")
    parser.add_argument("--device", required=True, help="the device, as for clatune")
    parser.add_argument("--size", action="append", default=[], help="NAME=N, a problem parameter; may be repeated")
    parser.add_argument("--build", action="append", required=True, help="build folder; may be repeated")
    parser.add_argument("--rounds", type=int, default=6, help="rounds (default 6)")
    options = parser.parse_args()
    times = {build: [] for build in options.build}
    with tempfile.TemporaryDirectory(prefix="clatune-noise-") as folder:
        for number in range(options.rounds):
            for index, (build, measured) in enumerate(times.items()):
                measured.append(measure(options, build, folder, f"{folder}/{number}-{index}.sqlite"))
    least = {}
    for measured in times.values():
        for result in measured:
            for key, time_s in result.items():
                least[key] = min(time_s, least.get(key, time_s))
    rows = []
    for build, measured in times.items():
        relative = [time_s / least[key] for result in measured for key, time_s in result.items()]
        rows.append([build, len(relative), f"{statistics.median(relative):.3f}", f"{statistics.mean(relative):.3f}",
                     f"{100 * sum(r > FAR for r in relative) / len(relative):.1f}"])
    print(tables.markdown(["build", "times", "over the configuration's least, median", "mean", f"more than {FAR}, %"], rows))


if __name__ == "__main__":
    main()
