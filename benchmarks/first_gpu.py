#!/usr/bin/env python3
"""Measures a GPU that is available for minutes, in two parts that each end in time, whatever hangs.

    benchmarks/first_gpu.py FOLDER --part A --minutes 8.5 --device gpu
    benchmarks/first_gpu.py FOLDER --part B --minutes 3.5 --device gpu

The steps of a part come in the order of their value. A step is ended with all its processes when its budget or the part's time is over,
and is skipped if there is too little time for it. After each, everything found is packed into the folder --packed: results.tar.gz, and the
stores with all runs, stores.tar.gz. The same command does again what is not finished. Nothing is computed that can be computed
from the results later: benchmarks/first_gpu_page.py does that. scripts/gpu-kit makes a folder with everything that a machine needs.
"""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import time

import tables

MINUTES = {"A": 8.5, "B": 220 / 60}
TO_KILL_S, TO_GIVE_UP_S = 4, 2  # after a process was told to end, and after it was killed: one that waits for the driver may never end
TO_PACK_S = 4
FULL = {"convolution": ("width=2048", "height=2048")}  # others as the problems have them
SMALL = {"convolution": ("width=128", "height=128"), "raycasting": ("width=32", "height=32", "volume_size=32"),
         "stereo": ("width=64", "height=64", "disparities=16", "window_radius=1")}


class Part:
    """The input of the steps, and the end of the part."""

    def __init__(self, options):
        self.end = time.monotonic() + 60 * (options.minutes or MINUTES[options.part])
        self.options, self.small, self.device, self.clatune = options, options.small, options.device, options.clatune
        self.folder = pathlib.Path(options.folder).resolve()
        self.packed = pathlib.Path(options.packed or self.folder / "packed").resolve()
        for folder in (self.folder / "steps", self.packed):
            folder.mkdir(parents=True, exist_ok=True)

    def left_s(self):
        return self.end - time.monotonic() - TO_KILL_S - TO_GIVE_UP_S - TO_PACK_S

    def path(self, name):
        return self.folder / name

    def problem(self, name):
        return tables.ROOT / f"kernels_cl/{name}.json"

    def subject(self, name):
        sizes = SMALL[name] if self.small else FULL.get(name, ())
        return [self.problem(name), "--device", self.device, *(x for size in sizes for x in ("--size", size))]


# --- the steps: the commands of each, given the seconds that there are ---

def script(p, name, *arguments):
    return [sys.executable, tables.ROOT / "benchmarks" / name, *arguments]


def step_of_its_own(name):
    return lambda p, s: [script(p, "gpu_steps.py", name, p.device, "--clatune", p.clatune, *(["--small"] if p.small else []))]


def pool(problem, n):
    def commands(p, s):
        store = ("--store", p.path("pools.sqlite"))
        return [[p.clatune, "sample", *p.subject(problem), *store, *tables.MEASURE.split(), "--seed", 1, "--samples", 120 if p.small else n,
                 "--time", max(1, s - 15), "--json", "--quiet"],
                [p.clatune, "record", *p.subject(problem), *store, "--stored-only", "--quiet", "-o", p.path(f"{problem}.json.gz")]]
    return commands


def of_pool(p, name, problem, store, *arguments):
    return [script(p, name, p.problem(problem), p.path(f"{problem}.json.gz"), "--build", p.options.build, "--device", p.device, "--store",
                   p.path(store), *arguments)]


def noise_floor(problem, n):
    return lambda p, s: of_pool(p, "noise_floor.py", problem, "again.sqlite", "--configurations", 10 if p.small else n)


def second_stage(problem, *rows):
    def commands(p, s):
        recording = p.path(f"{problem}.json.gz")
        most = len(tables.read_recording(recording)["results"]) if recording.exists() else 0
        fit = [n for n in rows if n <= most] or [max(1, most // 2)]
        return of_pool(p, "slowdown.py", problem, f"second-{problem}.sqlite", "--rows", ",".join(map(str, fit)), "--seconds",
                       "5,10" if p.small else "10,50,100", "--repeats", 3, "--time", s / 2, "--valid-only", "--finalists", 3, "--rounds", 2,
                       "--last-rounds", 3)
    return commands


def live(problem):
    return lambda p, s: [script(p, "live_kernel_tuner.py", "--build", p.options.build, "--device", p.device, "--problems", problem, "--tuners",
                                "clatune surrogate,genetic_algorithm,adaptive_tabu_greywolf,random_sample", "--budget", 6 if p.small else 60,
                                "--repeat", 1 if p.small else 2, "--time", s * 0.7, "--results", p.path("live.jsonl"), "--rounds", 31)]


STEPS = {  # name: budget in seconds, seconds without which it is not begun, commands
    "A": {"facts": (40, 0, step_of_its_own("facts")),
          "pool-convolution": (125, 30, pool("convolution", 1500)),
          "second-convolution": (95, 30, second_stage("convolution", 500, 1000)),
          "pool-stereo": (85, 30, pool("stereo", 900)),
          "pool-raycasting": (85, 30, pool("raycasting", 900)),
          "again-convolution": (20, 10, noise_floor("convolution", 60)),
          "again-stereo": (45, 20, noise_floor("stereo", 40)),
          "again-raycasting": (45, 20, noise_floor("raycasting", 40)),
          "second-stereo": (50, 25, second_stage("stereo", 500)),
          "second-raycasting": (60, 25, second_stage("raycasting", 500)),
          "isolation": (60, 15, step_of_its_own("isolation"))},
    "B": {"libraries": (100, 10, step_of_its_own("libraries")),
          "live": (110, 30, live("convolution"))},
}


# --- running them ---

def run(command, seconds, out, errors):
    """The exit status of a command, or None if it had to be ended. Its output is in files, since a pipe may be held by a process that hangs."""
    process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=errors, start_new_session=True)
    try:
        return process.wait(max(0.1, seconds))
    except subprocess.TimeoutExpired:
        pass
    for told, wait_s in ((signal.SIGTERM, TO_KILL_S), (signal.SIGKILL, TO_GIVE_UP_S)):
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, told)  # its children too, also when it has ended itself
            process.wait(wait_s)
    return None


def do_step(p, name, seconds, commands):
    """Runs the commands of a step one after the other, the next ones also after a failure: they may find enough."""
    began, why = time.monotonic(), None
    with open(p.path(f"steps/{name}.out"), "w") as out, open(p.path(f"steps/{name}.log"), "w+") as log:
        commands = commands(p, round(seconds))
        for i, command in enumerate(commands):
            left = seconds - (time.monotonic() - began) - 8 * (len(commands) - 1 - i)
            status = run(command, left, out, log)
            if status is None:
                why = why or "ended, as its time was over"
            elif status not in (0, 4):  # 4: the time that clatune was given is over
                log.seek(0)
                why = why or f"exit status {status}: {(log.read().strip().splitlines() or [''])[-1]}"
    result = {"why": why, "took_s": round(time.monotonic() - began, 1), "budget_s": seconds, "part": p.options.part}
    p.path(f"steps/{name}.json").write_text(json.dumps(result))
    return result


def is_done(p, name):
    path = p.path(f"steps/{name}.json")
    return path.exists() and json.loads(path.read_text())["why"] is None


def pack(p):
    """The results, and the stores, which are larger and have every run."""
    files = [f for f in sorted(p.folder.rglob("*")) if f.is_file() and p.packed not in f.parents]
    for name, wanted in (("results", False), ("stores", True)):
        new = p.packed / f"{name}.tar.gz.new"
        with tarfile.open(new, "w:gz", compresslevel=3) as tar:
            for file in files:
                if (".sqlite" in file.name) == wanted and not file.name.endswith("-shm"):
                    with contextlib.suppress(FileNotFoundError):  # of a process that has just ended
                        tar.add(file, file.relative_to(p.folder))
        new.replace(p.packed / f"{name}.tar.gz")


def find_device(p):
    """Notes what is measured; a folder has the results of one device."""
    with open(p.path("device.out"), "w+") as out, open(p.path("device.log"), "w+") as log:
        status = run([p.clatune, "devices", "--device", p.device, "--json"], min(30, p.left_s()), out, log)
        out.seek(0), log.seek(0)
        devices = json.loads(out.read())["devices"] if status == 0 else []
        if not devices:
            sys.exit(f"first_gpu.py: no device '{p.device}': {log.read().strip() or 'the driver does not answer'}")
    device = {key: devices[0][key] for key in ("name", "driver_version", "platform_name")}
    path = p.path("device.json")
    if not path.exists():
        version = subprocess.run([p.clatune, "--version"], text=True, capture_output=True, timeout=20).stdout.strip()
        path.write_text(json.dumps({**device, "clatune": version, "small": p.small, "date": datetime.date.today().isoformat()}))
    was = json.loads(path.read_text())
    for key, now in (*device.items(), ("small", p.small)):
        if was[key] != now:
            sys.exit(f"first_gpu.py: the results in '{p.folder}' have {key} '{was[key]}', not '{now}': choose another folder")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="folder of the measurements; a separate one per device")
    parser.add_argument("--part", choices=STEPS, required=True, help=f"A: {', '.join(STEPS['A'])}; B: {', '.join(STEPS['B'])}")
    parser.add_argument("--minutes", type=float, help="the part ends after so many (default: 8.5 for A, 3.7 for B)")
    parser.add_argument("--device", default="gpu", help="the device, as for clatune (default: gpu)")
    parser.add_argument("--build", default=str(tables.BUILD), help="build folder, or a tree with bin/clatune (default: build)")
    parser.add_argument("--small", action="store_true", help="small problem sizes and few configurations, for tests")
    parser.add_argument("--steps", help="a,b,...: only these steps of the part")
    parser.add_argument("--packed", help="folder of the packed results (default: FOLDER/packed)")
    options = parser.parse_args()
    options.clatune = tables.clatune(options)
    if shutil.which(options.clatune) is None:
        parser.error(f"there is no program '{options.clatune}'; name its folder with --build")
    wanted = options.steps.split(",") if options.steps else list(STEPS[options.part])
    if unknown := set(wanted) - set(STEPS[options.part]):
        parser.error(f"part {options.part} has no step {', '.join(sorted(unknown))}")
    p = Part(options)
    find_device(p)
    for name, (budget_s, least_s, commands) in STEPS[options.part].items():
        if name not in wanted or is_done(p, name):
            continue
        if p.left_s() < least_s:
            print(f"{name}: skipped, {max(0, p.left_s()):.0f} s are left", flush=True)
            continue
        result = do_step(p, name, min(budget_s, p.left_s()), commands)
        print(f"{name}: {result['why'] or 'done'}, {result['took_s']:.0f} of {budget_s} s; {max(0, p.left_s()):.0f} s are left", flush=True)
        pack(p)
    return 0 if all(is_done(p, name) for name in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
