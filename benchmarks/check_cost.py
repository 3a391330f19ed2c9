#!/usr/bin/env python3
"""What the checks of the finalists cost: the wall time of the same tuning by two builds, in turns.

    benchmarks/check_cost.py OLD_BUILD [PROBLEM...] [--device pocl] [--evaluations 100] [--turns 2]

Both builds measure the same random configurations, so only what follows them differs: the checks. Prints for each problem the
times of both, their ratio, and what the new build says its checks took. Without problems: all that the package ships. Nothing
else may run on the machine meanwhile.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = [ROOT / "kernels_cl" / f"{name}.json" for name in ("convolution", "raycasting", "stereo")] + \
    sorted((ROOT / "kernels_cl/polybench").glob("*.json"))


def tune(build, problem, options, seed):
    with tempfile.TemporaryDirectory() as cache:
        began = time.monotonic()
        run = subprocess.run([f"{build}/src/cli/clatune", "tune", problem, "--device", options.device, "--searcher", "random",
                              "--budget", str(options.evaluations), "--seed", str(seed), "--no-store", "--quiet", "--json"],
                             stdout=subprocess.PIPE, text=True, env={**os.environ, "POCL_CACHE_DIR": cache})
        took = time.monotonic() - began
    if run.returncode:
        raise SystemExit(f"{build}: {problem}: exit code {run.returncode}")
    return took, json.loads(run.stdout).get("checks_s", 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("problems", nargs="*", default=SHIPPED)
    parser.add_argument("--new", default=ROOT / "build")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--turns", type=int, default=2)
    options = parser.parse_intermixed_args()
    everything = {"old": 0.0, "new": 0.0}
    for problem in options.problems:
        total = {"old": 0.0, "new": 0.0}
        checks = 0.0
        for turn in range(options.turns):
            for name in ("old", "new") if turn % 2 == 0 else ("new", "old"):
                took, checked = tune(getattr(options, name), problem, options, turn + 1)
                total[name] += took
                checks += checked if name == "new" else 0
        print(f"{pathlib.Path(problem).stem:>12}: old {total['old']:6.1f} s, new {total['new']:6.1f} s, "
              f"ratio {total['new'] / total['old']:.3f}; checks {checks:.1f} s", flush=True)
        for name in total:
            everything[name] += total[name]
    print(f"all: old {everything['old']:.1f} s, new {everything['new']:.1f} s, ratio {everything['new'] / everything['old']:.3f}")


if __name__ == "__main__":
    main()
