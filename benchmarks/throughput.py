#!/usr/bin/env python3
"""How fast worker processes share a device, and where each second of each worker went.

On the simulated driver: a GPU whose builds take 0.25 s without a processor, and a kernel that copies a buffer. With 16
workers, 64 evaluations a second are possible. Several commands (a build before a change and one after it) are measured in
turns, and with --generator the same kernel from a file and from a generator that takes 1 ms for each.

    benchmarks/throughput.py [--clatune build/src/cli/clatune ...] [--mib 1 16] [--workers 1 16] [--turns 3] [--samples 12]
                             [--generator] [--build 0.25]

Columns: evaluations a second; then the share of the workers' time that went into builds, first launches with their
uploads, timed runs, verification, and the rest: waiting for the device or for work, starting, messages. Last, how long a
configuration waited for the device, at the gate before its first launch and for its turn to be timed; the worker may have
built another one meanwhile.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/reliability"))
PHASES = ["build", "first_launch", "runs", "verify"]
# Its text is another one for each configuration, so that each is measured.
GENERATOR = """import json, sys, time
for line in sys.stdin:
    time.sleep(0.001)
    values = json.loads(line)["configuration"]
    print(json.dumps({"source": open("copy.cl").read() + f"/* {values} */", "options": " ".join(f"-D{name}={value}" for name, value in values.items())}), flush=True)
"""


def prepare(folder, driver, build_s):
    """The problem of the tests on the simulated driver, on a device with slow builds; with the kernel's file, and with a generator."""
    os.environ.setdefault("CLATUNE_SIMULATED_DRIVER", driver)
    os.environ.setdefault("CLATUNE_FAULT_LAYER", "")
    os.environ.setdefault("CLATUNE", "")
    import simulation
    (folder / "simulated.icd").write_text(driver + "\n")
    (folder / "copy.cl").write_text(simulation.KERNEL)
    (folder / "copy.c").write_text(simulation.MODULE)
    problem = simulation.problem(40, 25)
    del problem["ProblemParameters"][0]["Max"]
    (folder / "copy.json").write_text(json.dumps(problem))
    (folder / "generate.py").write_text(GENERATOR)
    del problem["KernelSpecification"]["KernelFile"]
    problem["KernelSpecification"]["Generator"] = {"Command": ["python3", "-IS", "generate.py"], "Persistent": True}
    (folder / "generated.json").write_text(json.dumps(problem))
    (folder / "devices.json").write_text(json.dumps({"devices": [
        {"name": "Simulated", "build_s": build_s, "time_s": simulation.TIME_S}]}))
    os.environ["OCL_ICD_VENDORS"] = str(folder)
    os.environ["CLATUNE_SIMULATED"] = str(folder / "devices.json")


def measure(clatune, problem, mib, workers, samples):
    """(evaluations a second, shares of the workers' time by phase and rest, seconds that a configuration waited)"""
    began = time.perf_counter()
    answer = json.loads(subprocess.run(
        [clatune, "sample", problem, "--device", "Simulated", "--size", f"n={mib << 18}", "--samples",
         str(samples), "--workers", str(workers), "--no-store", "--quiet", "--json"], check=True, capture_output=True,
        text=True).stdout)
    wall_s = time.perf_counter() - began
    assert answer["evaluations"]["correct"] == samples, answer["evaluations"]
    phases = answer["phases"]
    shares = [phases[f"{p}_s"] / (workers * wall_s) for p in PHASES]
    return samples / wall_s, [*shares, 1 - sum(shares)], phases["wait_s"] / samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clatune", nargs="+", default=[str(ROOT / "build/src/cli/clatune")])
    parser.add_argument("--driver", default=str(ROOT / "build/tests/instruments/libclatune-simulated.so"))
    parser.add_argument("--mib", type=int, nargs="+", default=[1, 16], help="of each of the two buffers")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--samples", type=int, default=12, help="evaluations for each worker")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--generator", action="store_true", help="measures a generated kernel in turns with one from a file")
    parser.add_argument("--build", type=float, default=0.25, help="seconds of a build")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="clatune-throughput-") as name:
        folder = pathlib.Path(name)
        prepare(folder, options.driver, options.build)
        subjects = [(clatune, folder / name) for clatune in options.clatune for name in ["copy.json"] + ["generated.json"] * options.generator]
        for mib in options.mib:
            for workers in options.workers:
                turns = [[measure(*subject, mib, workers, options.samples * workers) for subject in subjects]
                         for _ in range(options.turns)]
                for i, (clatune, problem) in enumerate(subjects):
                    rates = [turn[i][0] for turn in turns]
                    shares = [statistics.mean(turn[i][1][p] for turn in turns) for p in range(len(PHASES) + 1)]
                    wait_s = statistics.mean(turn[i][2] for turn in turns)
                    rows.append([clatune, "generated" if problem.stem == "generated" else "file", mib, workers, f"{statistics.median(rates):.1f}",
                                 *(f"{s:.0%}" for s in shares), f"{1000 * wait_s:.0f}"])
    print(tables.markdown(["command", "kernel", "MiB", "workers", "evaluations/s", "build", "first launch", "runs", "verification",
                           "rest", "a wait, ms"], rows))


if __name__ == "__main__":
    main()
