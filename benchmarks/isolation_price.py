#!/usr/bin/env python3
"""The cost of the isolation of candidates in worker processes: the wall time of the same random configurations measured by one
worker and in the tuner's own process, in turns.

    benchmarks/isolation_price.py kernels_cl/convolution.json --device pocl --configurations 500 [--size width=512 ...]

Prints for each turn both times and their ratio. Nothing else may run on the machine meanwhile.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

EVALUATORS = {"worker": ("--evaluator", "opencl", "--workers", "1", "--prepare-ahead", "1"),
              "in-process": ("--evaluator", "in-process")}


def wall_s(options, evaluator, seed, n):
    command = [f"{options.build}/src/cli/clatune", "sample", options.problem, "--device", options.device, "--samples", str(n),
               "--seed", str(seed), "--no-store", "--quiet", "--json", *EVALUATORS[evaluator]]
    command += [a for size in options.size for a in ("--size", size)]
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "POCL_CACHE_DIR": folder}).stdout
        return time.monotonic() - began, json.loads(out)["evaluations"]["correct"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--size", action="append", default=[])
    parser.add_argument("--configurations", type=int, default=500)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--build", default="build")
    options = parser.parse_args()
    n = options.configurations // options.turns
    total = dict.fromkeys(EVALUATORS, 0.0)
    for turn in range(options.turns):
        order = list(EVALUATORS) if turn % 2 == 0 else list(EVALUATORS)[::-1]
        for evaluator in order:
            took, correct = wall_s(options, evaluator, turn + 1, n)
            total[evaluator] += took
            print(f"turn {turn + 1}: {evaluator} {took:.2f} s, {correct} of {n} correct", flush=True)
    print(f"worker / in-process: {total['worker'] / total['in-process']:.3f} over {n * options.turns} configurations")


if __name__ == "__main__":
    main()
