#!/usr/bin/env python3
"""How many correct configurations are lost to timeouts while others use the processors: random configurations are measured next to
busy processes, and every failure is counted.

    benchmarks/under_load.py kernels_cl/convolution.json --device pocl --configurations 1500 --load 8 [--size width=512 ...]

Prints the failures by reason, and how often a configuration was given more time. Exit status 1 if one was lost to a timeout.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--size", action="append", default=[])
    parser.add_argument("--configurations", type=int, default=1500)
    parser.add_argument("--load", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", default="build")
    parser.add_argument("--tune-option", action="append", default=[], help="option of 'clatune tune', as --tune-option=--lock=no; may be repeated")
    options = parser.parse_args()
    n = str(options.configurations)
    command = [f"{options.build}/src/cli/clatune", "tune", options.problem, "--device", options.device, "--searcher", "random",
               "--budget", n, "--seed", str(options.seed), "--finalists", "0", "--no-store", "--quiet", "--json", *options.tune_option]
    command += [a for size in options.size for a in ("--size", size)]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.load)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True,
                                 env={**os.environ, "POCL_CACHE_DIR": folder}).stdout
    finally:
        for process in busy:
            process.kill()
            process.wait()
    answer = json.loads(out)
    lost = sum(count for reason, count in answer["reasons"].items() if reason.endswith("-timeout"))
    print(f"{answer['evaluations']['total']} configurations beside a load of {options.load}: {lost} lost to timeouts,"
          f" {answer['machine_busy']} steps given more time, {answer['wall_s']:.0f} s; failures {answer['reasons']}")
    return lost > 0


if __name__ == "__main__":
    sys.exit(main())
