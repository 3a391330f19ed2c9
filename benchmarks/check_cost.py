#!/usr/bin/env python3
"""The time that the checks of the finalists add to a tuning, by two builds in turns.

    benchmarks/check_cost.py OLD_BUILD [PROBLEM...] [--device pocl] [--evaluations 100] [--turns 3]

The old build tunes each problem once into an empty store. Then both tune it again in turns, each with a copy of that store (which the
new build may convert): no configuration is measured again, so the time is that of finalists and checks. Prints the time of the
whole tuning, the shortest times of both, and their difference as a share of the whole. Without problems: all that the package
ships. Nothing else may run on the machine meanwhile.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = [ROOT / "kernels_cl" / f"{name}.json" for name in ("convolution", "raycasting", "stereo")] + \
    sorted((ROOT / "kernels_cl/polybench").glob("*.json"))


def tune(build, problem, store, options):
    began = time.monotonic()
    run = subprocess.run([f"{build}/src/cli/clatune", "tune", problem, "--device", options.device, "--searcher", "random",
                          "--budget", str(options.evaluations), "--store", store, "--quiet", "--json"],
                         stdout=subprocess.PIPE, text=True)
    took = time.monotonic() - began
    if run.returncode:
        raise SystemExit(f"{build}: {problem}: exit code {run.returncode}")
    return took, json.loads(run.stdout).get("checks_s", 0.0)


def cost(problem, options, folder):
    """The whole tuning's time, and the fastest of the old and the new build's finalists and checks, in seconds."""
    full, again = folder / "full.sqlite", folder / "again.sqlite"
    whole, _ = tune(options.old, problem, full, options)
    took, checks = {"old": [], "new": []}, 0.0
    for turn in range(options.turns):
        for name in ("old", "new") if turn % 2 == 0 else ("new", "old"):
            shutil.copy(full, again)
            took_s, checks_s = tune(getattr(options, name), problem, again, options)
            took[name].append(took_s)
            checks = max(checks, checks_s)
    return whole, min(took["old"]), min(took["new"]), checks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("problems", nargs="*", default=SHIPPED)
    parser.add_argument("--new", default=ROOT / "build")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--evaluations", type=int, default=100)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_intermixed_args()
    for problem in options.problems:
        with tempfile.TemporaryDirectory() as folder:
            whole, old, new, checks = cost(problem, options, pathlib.Path(folder))
        print(f"{pathlib.Path(problem).stem:>12}: whole {whole:6.1f} s, of which checks {checks:4.1f} s; finalists and checks: "
              f"old {old:5.2f} s, new {new:5.2f} s; {100 * (new - old) / whole:+5.1f} %", flush=True)


if __name__ == "__main__":
    main()
