#!/usr/bin/env python3
"""How well a time repeats: configurations of a pool measured again, and the mean relative difference.

No model can be better than that on one measurement of each. Repeated measurements go into a store of their own, and a
second run goes on from there.

    benchmarks/noise_floor.py kernels_cl/convolution.json data/recorded/convolution-pocl-2048.json.gz \\
        --device pocl --store again.sqlite
"""
import json
import random
import statistics
import tempfile

import tables


def choose(recording, n, seed):
    correct = [r["configuration"] for r in recording["results"] if r["invalidity"] == "correct"]
    return random.Random(seed).sample(correct, min(n, len(correct)))


def main():
    parser = tables.parser(__doc__)
    tables.add_pool(parser)
    tables.add_device(parser)
    parser.add_argument("--configurations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    recording = tables.read_recording(options.recording)
    chosen = choose(recording, options.configurations, options.seed)
    first = tables.times_of(recording)
    with tempfile.TemporaryDirectory(prefix="clatune-noise-") as folder:
        again = tables.measure(options, tables.sizes_of(recording), chosen, folder)
    pairs = [(first[tables.key(c)], again.get(tables.key(c))) for c in chosen]
    ratios = [b / a - 1 for a, b in pairs if b]
    differences = [abs(r) for r in ratios]
    print(json.dumps({"configurations": len(ratios), "failed_now": len(pairs) - len(ratios),
                      "mean_relative_difference": round(statistics.fmean(differences), 5),
                      "median": round(statistics.median(differences), 5), "mean_shift": round(statistics.fmean(ratios), 5)}))


if __name__ == "__main__":
    main()
