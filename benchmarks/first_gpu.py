#!/usr/bin/env python3
"""Half an hour on a GPU: everything that docs/notebook/results.md says of one, in steps. Needs nothing but Python and clatune.

    benchmarks/first_gpu.py FOLDER --device gpu                # about 25 minutes; the same command goes on where it was stopped
    benchmarks/first_gpu.py FOLDER --report                    # only the tables, from what the folder has

Each step writes FOLDER/steps/NAME.json as soon as it is done, and is then not done again; one that fails says so, and the
others go on. Measurements are in FOLDER's stores, from which an interrupted step goes on. At the end, or with
--report, the tables go to FOLDER/report.md and, of a GPU, into the section of docs/notebook/results.md (--page); those of other
devices stay. A machine without packages gets the output of scripts/portable: bin/clatune, and this script next to it.
"""
import argparse
import contextlib
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import time

import first_gpu_page
import tables

PROBLEMS = ("convolution", "raycasting", "stereo", "filterbank")
EXAMPLES = ("matmul/matmul", "t1/matmul", "tutorial/transpose", "reduction/sum", "reduction/partial", "pipeline/blur")
SMALL = {"convolution": ("width=128", "height=128"), "raycasting": ("width=32", "height=32", "volume_size=32"),
         "stereo": ("width=64", "height=64", "disparities=16", "window_radius=1"),
         "filterbank": ("width=32", "height=32", "depth=4", "n_filters=8", "filter_height=3", "filter_width=3")}
LEAST = 60  # configurations of a pool, however long they take
ROWS = (100, 200, 500, 1000, 2000, 4000)
FEW_DEFECTS = ("none", "one_after", "far_after", "infinite_loop", "syntax")  # if there is no time for all
TO_END_S = 15  # for a process that is told to end


class StepFailed(Exception):
    pass


class Bench:
    """The input of the steps: the command, the device, the folder, and the time available."""

    def __init__(self, options):
        self.options, self.folder = options, pathlib.Path(options.folder).resolve()
        self.limit_s, self.patience_s = 0, 180  # the time that a step should take, and the time after which a command of it is ended
        self.scale = options.minutes / 25
        self.fewer = min(1, self.scale)
        self.problems = pathlib.Path(options.problems).resolve()

    def path(self, name):
        return self.folder / name

    def count(self, n, least):
        """As many of n as there is time for."""
        return max(least, round(n * self.fewer))

    def sizes(self, problem):
        return [x for size in (SMALL.get(problem, ()) if self.options.small else ()) for x in ("--size", size)]

    def subject(self, problem):
        return [self.problems / f"{problem}.json", "--device", self.options.device, *self.sizes(problem)]

    def run(self, command, statuses=(0,)):
        """The output of a command. It is ended if it takes far longer than the step has."""
        process = self.start(command)
        try:
            out, errors = process.communicate(timeout=self.patience_s)
        except subprocess.TimeoutExpired:
            raise StepFailed(f"ended after {self.patience_s:.0f} s: {shown(command)}") from None
        finally:
            end(process)
        if process.returncode not in statuses:
            said = [line for line in errors.splitlines() if line.strip()]
            raise StepFailed(f"{shown(command)}: exit status {process.returncode}: {' / '.join(said[-2:])}")
        return out

    def start(self, command, **more):
        return subprocess.Popen([str(c) for c in command], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True, **more)

    def clatune(self, *arguments, statuses=(0,)):
        return json.loads(self.run([tables.clatune(self.options), *arguments, "--json"], statuses))

    def script(self, name, *arguments):
        """The output of another script of this folder."""
        out = self.run([sys.executable, tables.ROOT / "benchmarks" / name, *arguments, "--build", self.options.build])
        return "\n".join(line.rstrip() for line in out.strip().splitlines())

    def pool(self, problem):
        path = self.path(f"{problem}.json.gz")
        if not path.exists():
            raise StepFailed(f"there is no pool of {problem}")
        return path

    def training(self, problem):
        """How many rows of the pool are predicted, and how many are trained on."""
        results = tables.read_recording(self.pool(problem))["results"]
        correct = sum(r["invalidity"] == "correct" for r in results)
        if correct < 20:
            raise StepFailed(f"the pool of {problem} has {correct} correct configurations, too few")
        unseen = min(1000, correct // 3)
        return unseen, [n for n in ROWS if n <= len(results) - unseen] or [correct // 2]


def shown(command):
    return " ".join(str(c) for c in command if str(c) != sys.executable)


def end(process):
    """Ends a process and its children; clatune keeps its measurements."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            try:
                os.killpg(process.pid, sent)
                process.communicate(timeout=TO_END_S)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


def table(title, head, *rows, text=""):
    return {"title": title, "head": head, "rows": [[str(cell) for cell in row] for row in rows], "text": text}


def listed(reasons):
    return ", ".join(f"{n:,} `{name}`" for name, n in sorted(reasons.items(), key=lambda x: -x[1])) or "0"


# --- the steps: each returns its tables ---

def choose_device(b):
    """The facts about the device, kept in the folder, which is of one device and one choice of sizes."""
    known = b.path("device.json")
    device = b.clatune("sample", *b.subject("convolution"), "--samples", 1, "--dry-run", "--no-store")["device"]
    if not known.exists():
        known.write_text(json.dumps({**device, "clatune": b.clatune("version")["version"], "minutes": b.options.minutes,
                                     "small": b.options.small, "date": datetime.date.today().isoformat()}))
    was = json.loads(known.read_text())
    if any(was[key] != device[key] for key in ("name", "driver_version")):
        sys.exit(f"first_gpu.py: '{b.folder}' is of '{was['name']}', driver {was['driver_version']}, not of '{device['name']}', driver "
                 f"{device['driver_version']}: choose another folder")
    if was["small"] != b.options.small:
        sys.exit(f"first_gpu.py: '{b.folder}' is of {'small' if was['small'] else 'full'} sizes (--small): choose another folder")


def facts(b):
    device = json.loads(b.path("device.json").read_text())
    host = f"{os.cpu_count()} processors, {platform.system()} {platform.release()}, load {os.getloadavg()[0]:.1f}"
    rows = [["compute units, clock", f"{device['compute_units']}, {device['clock_mhz']} MHz"],
            ["memory, local memory", f"{device['global_memory_bytes'] / 2**30:.1f} GiB, {device['local_memory_bytes'] / 1024:.0f} KiB"],
            ["largest work-group, warp", f"{device['max_work_group_size']}, {device['warp_size'] or 'unknown'}"],
            ["images", "yes" if device["images"] else "no"],
            ["OpenCL, its C", f"{device['device_version']}, {device['opencl_c_version']}"],
            ["timer resolution, by the driver", f"{1e9 * device['timer_resolution_s']:.0f} ns"], ["host", host]]
    if shutil.which("nvidia-smi"):
        asked = "clocks.sm,clocks.max.sm,clocks.mem,power.limit,compute_mode"
        rows.append([f"nvidia-smi: {asked}", b.run(["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"], range(256)).strip()])
    return [table("The device", ["", "as it says itself"], *rows)]


def verdict(b, *words):
    """The result of 'clatune verify', in a word or two, or why it cannot look."""
    try:
        answer = b.clatune("verify", *words, statuses=(0, 5))
    except StepFailed as failure:
        return str(failure).rpartition("clatune: ")[2]
    if "sample" in answer:
        return f"{answer['correct']} of {answer['sample']}"
    return "right" if answer["correct"] else f"`{answer['reason']}`"


def verify(b):
    sample = ("--sample", b.count(30, 2), "--seed", 3)
    rows = [[name, verdict(b, *b.subject(name)), verdict(b, *b.subject(name), *sample)] for name in PROBLEMS]
    if b.options.problems == str(tables.ROOT / "kernels_cl"):
        rows += [[f"`examples/{name}`", verdict(b, tables.ROOT / f"examples/{name}.json", "--device", b.options.device), "-"]
                 for name in EXAMPLES]
    return [table("Results are right", ["problem", "default configuration", "random ones that are right"], *rows)]


def pool(b, problem):
    store = ("--seed", 1, *tables.MEASURE.split(), "--store", b.path("pools.sqlite"))
    b.clatune("sample", *b.subject(problem), "--samples", LEAST, *store, statuses=(0, 4))
    answer = b.clatune("sample", *b.subject(problem), "--samples", 5100, "--time", b.limit_s, *store, statuses=(0, 4))
    b.clatune("record", *b.subject(problem), "--store", b.path("pools.sqlite"), "--stored-only", "-o", b.path(f"{problem}.json.gz"))
    n, measured, phases = answer["evaluations"]["total"], max(answer["evaluations"]["measured"], 1), answer["phases"]
    times = [t for t in tables.times_of(tables.read_recording(b.pool(problem))).values() if t]
    spread = " / ".join(f"{1000 * t:.3g}" for t in (min(times), statistics.median(times), max(times))) if times else "-"
    return [table("Pools", ["problem", "configurations", "failed", "configurations a second", "times, ms: least / median / most",
                            "ms of work each: build, first launch, runs, verification"],
                  [problem, f"{n:,}", listed(answer["reasons"]), f"{measured / max(answer['wall_s'], 1e-9):.1f}", spread,
                   ", ".join(f"{1000 * phases[p + '_s'] / measured:.1f}" for p in ("build", "first_launch", "runs", "verify"))])]


def timer(b):
    """The time that all runs of the pools are multiples of, by the clock that they were timed with. Short ones are timed together: those
    that take a hundred ticks are not."""
    alone_ns = 1e11 * json.loads(b.path("device.json").read_text())["timer_resolution_s"]
    connection, found = sqlite3.connect(f"{b.path('pools.sqlite').as_uri()}?mode=ro", uri=True), {}
    for number, clock, runs in connection.execute("SELECT id, clock, runs FROM measurement WHERE reason = 'none'"):
        times_s = [time_s for time_s, in struct.iter_unpack("<d", runs or b"") if time_s > 0]
        if times_s:
            found.setdefault(clock, {})[number] = [1e9 * time_s for time_s in times_s]
    connection.close()
    rows = []
    for clock, configurations in found.items():
        runs = [ns for times in configurations.values() for ns in times]
        whole = [round(ns) for ns in runs if ns >= alone_ns and abs(ns - round(ns)) < 0.05]
        spreads = [max(times) / min(times) - 1 for times in configurations.values() if len(times) > 1]
        rows.append([clock, f"{len(runs):,}", f"{math.gcd(*whole)} ns ({len(whole):,})" if whole else "-",
                     f"{min(runs) / 1000:.1f} us", f"{tables.percent(statistics.median(spreads))} %" if spreads else "-"])
    if not rows:
        raise StepFailed("the pools have no correct configuration")
    return [table("The timer", ["clock", "runs", "multiples of (how many were timed alone)", "shortest run",
                                "slowest over fastest run of a configuration, median"],
                  *rows)]


def floor(b, problem):
    out = json.loads(b.script("noise_floor.py", b.problems / f"{problem}.json", b.pool(problem), "--device", b.options.device,
                              "--store", b.path("again.sqlite"), "--configurations", b.count(200, 10)))
    return [table("The noise floor: measured again", ["problem", "configurations", "mean difference, %", "median, %"],
                  [problem, out["configurations"], tables.percent(out["mean_relative_difference"]), tables.percent(out["median"])])]


def error(b, problem):
    unseen, rows = b.training(problem)
    text = b.script("prediction_error.py", b.problems / f"{problem}.json", b.pool(problem), "--rows", ",".join(map(str, rows)),
                    "--unseen", unseen, "--time", b.limit_s, "--csv", b.path("errors.csv"))
    return [table(f"Prediction error: {problem}", None, text=f"On {unseen} configurations not trained on.\n\n{text}")]


def slowdown(b, problem):
    _, rows = b.training(problem)
    rows = [n for n in rows if n in (100, 500, 2000)] or rows[:1]
    seconds = [m for m in (10, 50, 100, 200) if m <= max(10, 200 * b.fewer)]
    text = b.script("slowdown.py", b.problems / f"{problem}.json", b.pool(problem), "--device", b.options.device, "--store",
                    b.path("second-stage.sqlite"), "--rows", ",".join(map(str, rows)), "--seconds", ",".join(map(str, seconds)),
                    "--repeats", 3, "--time", b.limit_s / 2, "--finalists", 4, "--rounds", 3, "--last-rounds", b.count(5, 2))
    return [table(f"Slowdown of the two-stage search: {problem}", None, text=text)]


def searches(b):
    store, budget = b.path("live-two-stage.sqlite"), b.count(150, 10)
    samples = max(20, b.training("convolution")[1][-1])
    if not store.exists():
        shutil.copy(b.path("pools.sqlite"), b.path("copied.sqlite"))
        b.path("copied.sqlite").rename(store)
    text = b.script("live_search.py", *b.subject("convolution"), "--stores", b.path("live"), "--two-stage-store", store, "--budget",
                    budget, "--two-stage", f"{min(samples, 2000)},{b.count(200, 10)}", "--time", round(b.patience_s / 8), "--processes",
                    b.count(5, 2))
    return [table("Five searches against a long one: convolution", None, text=text)]


def sampling(b, *more):
    return [tables.clatune(b.options), "sample", *b.subject("convolution"), "--samples", b.count(100, 40), "--seed", 7, "--no-store", "--json",
            "--quiet", *more]


def times_in(answer):
    return {tables.key(r["configuration"]): r["time_s"] for r in answer["results"] if r["time_s"]}


def cache(b):
    """The same configurations, their buffers in the cache and not."""
    if "--cache" not in b.run([tables.clatune(b.options), "sample", "--help"]):
        return []  # an earlier clatune
    cold, warm = (times_in(json.loads(b.run(sampling(b, "--cache", how, *tables.MEASURE.split())))) for how in ("cold", "warm"))
    both = sorted(set(cold) & set(warm), key=warm.get)
    by_cold = sorted(both, key=cold.get)
    ratios = [cold[c] / warm[c] for c in both]
    return [table("Cold and warm cache", ["configurations of convolution", "time cold / warm: least / median / most",
                                          "rank cold of the fastest warm", "how far it is behind the fastest cold, %"],
                  [len(both), f"{min(ratios):.2f} / {statistics.median(ratios):.2f} / {max(ratios):.2f}", by_cold.index(both[0]) + 1,
                   tables.percent(cold[both[0]] / cold[by_cold[0]] - 1)])]


def two_at_once(b):
    """The times of two tuners that share the device, against those of one alone."""
    alone = json.loads(b.run(sampling(b, *tables.MEASURE.split())))
    both = [b.start(sampling(b, *tables.MEASURE.split())) for _ in range(2)]
    try:
        outs = [process.communicate(timeout=b.patience_s) for process in both]
    except subprocess.TimeoutExpired:
        raise StepFailed("two processes at once do not end") from None
    finally:
        for process in both:
            end(process)
    rows = [["alone", f"{alone['wall_s']:.1f}", alone["evaluations"]["correct"], "", ""]]
    for i, (process, (out, errors)) in enumerate(zip(both, outs)):
        if process.returncode:
            raise StepFailed(f"one of two: exit status {process.returncode}: {errors.strip()[-200:]}")
        answer, first = json.loads(out), times_in(alone)
        ratios = [t / first[c] for c, t in times_in(answer).items() if c in first]
        rows.append([f"{'first' if i == 0 else 'second'} of two", f"{answer['wall_s']:.1f}", answer["evaluations"]["correct"],
                     f"{statistics.median(ratios):.3f}", f"{max(ratios):.2f}"])
    return [table("Two processes at once", ["the same configurations of convolution", "seconds", "correct", "time over that alone, median",
                                            "most"], *rows)]


def workers_of(process):
    """The numbers of the worker processes of a tuner."""
    out = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            number, name, rest = path.read_text().replace(" (", ") (", 1).split(") ", 2)
        except (OSError, ValueError):
            continue
        if name.startswith("(clatune-worker") and int(rest.split()[1]) == process.pid:
            out.append(int(number.rstrip(")")))
    return out


def killed_worker(b):
    """A worker of a tuner is killed once the first configuration is measured."""
    events = b.path("events.jsonl")
    events.unlink(missing_ok=True)
    process, killed, deadline = b.start(sampling(b, "--events", events)), 0, time.monotonic() + b.patience_s
    try:
        while killed == 0 and process.poll() is None and time.monotonic() < deadline:
            if events.exists() and '"evaluation"' in events.read_text():
                for worker in workers_of(process)[:1]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
                        killed += 1
            time.sleep(0.005)
        out, errors = process.communicate(timeout=b.patience_s)
    except subprocess.TimeoutExpired:
        raise StepFailed("it does not end") from None
    finally:
        end(process)
    if process.returncode or killed == 0:
        raise StepFailed(f"{'' if killed else 'it was done before a worker was killed; '}exit status {process.returncode}: {errors.strip()[-200:]}")
    answer = json.loads(out)
    return [table("A worker is killed", ["convolution", "configurations", "correct", "failed", "seconds"],
                  ["one worker killed", answer["evaluations"]["total"], answer["evaluations"]["correct"], listed(answer["reasons"]),
                   f"{answer['wall_s']:.1f}"])]


def bad_kernels(b):
    """The reasons that kernels with a defect get; correct ones come last."""
    folder = tables.ROOT / "tests/instruments/bad_kernels"
    values = json.loads((folder / "defects.json").read_text())["ConfigurationSpace"]["TuningParameters"][0]["Values"]
    names = [name for name in values.strip("[]").replace("'", "").split(", ") if b.scale >= 0.5 or name in FEW_DEFECTS]
    chosen = [{"defect": name, "block": 16} for name in names] + [{"defect": "none", "block": block} for block in (8, 32)]
    b.path("defects.json").write_text(json.dumps(chosen))
    answer = b.clatune("sample", folder / "defects.json", "--device", b.options.device, "--configurations", b.path("defects.json"), "--no-store",
                       "--workers", 1, "--compile-timeout", 20, "--run-timeout", 3, statuses=(0, 4))
    called = {}
    for result in answer["results"]:
        called.setdefault("right" if result["reason"] == "none" else f"`{result['reason']}`", []).append(result["configuration"]["defect"])
    return [table("Bad kernels", ["called", "defects"], *([reason, ", ".join(sorted(set(defects)))]
                                                           for reason, defects in sorted(called.items())))]


# Name, purpose, and its share of 25 minutes in seconds. Steps that may harm the device come last.
STEPS = [("facts", facts, 5), ("verify", verify, 90)]
for _name, _seconds in (("convolution", (240, 30, 150)), ("raycasting", (90, 20, 45)), ("stereo", (90, 20, 45))):
    for _what, _s in zip((pool, floor, error), _seconds):
        STEPS.append((f"{_what.__name__}-{_name}", lambda b, what=_what, name=_name: what(b, name), _s))
STEPS += [("timer", timer, 5), ("slowdown-convolution", lambda b: slowdown(b, "convolution"), 300), ("searches", searches, 220),
          ("cache", cache, 40), ("two-at-once", two_at_once, 50), ("killed-worker", killed_worker, 25), ("bad-kernels", bad_kernels, 60)]


def do_step(b, name, step, seconds):
    """Whether it is done."""
    path, began = b.path(f"steps/{name}.json"), time.monotonic()
    b.limit_s, b.patience_s = max(1, round(seconds * b.scale)), 2 * seconds * max(1, b.scale) + 120
    try:
        result = {"state": "done", "tables": step(b)}
    except StepFailed as failure:
        result = {"state": "failed", "why": str(failure), "tables": []}
    except Exception as failure:  # an answer that is not as expected; the other steps may do
        result = {"state": "failed", "why": f"{type(failure).__name__}: {failure}", "tables": []}
    if "why" in result:  # paths of this machine say nothing to others
        for folder in (b.folder, b.problems, tables.ROOT):
            result["why"] = result["why"].replace(f"{folder}/", "")
    result["took_s"] = round(time.monotonic() - began, 1)
    partial = path.with_suffix(".new")
    partial.write_text(json.dumps({"step": name, **result}, indent=1))
    partial.replace(path)
    print(f"{name}: {result['state']} in {result['took_s']:.0f} s{': ' + result['why'] if 'why' in result else ''}", file=sys.stderr, flush=True)
    return result["state"] == "done"


def is_done(b, name):
    path = b.path(f"steps/{name}.json")
    return path.exists() and json.loads(path.read_text())["state"] == "done"


def build_of(program):
    """The folder that the other scripts call --build, of a clatune."""
    found = shutil.which(program)
    if found is None:
        sys.exit(f"first_gpu.py: there is no program '{program}'; name it with --clatune")
    path = pathlib.Path(found).resolve()
    return str(path.parents[1 if path.parent.name == "bin" else 2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="folder of the results; a separate one per device")
    parser.add_argument("--device", default="gpu", help="the device, as for clatune (default: gpu)")
    parser.add_argument("--minutes", type=float, default=25, help="approximate duration (default 25)")
    parser.add_argument("--clatune", help="the command clatune (default: from this script's tree, otherwise from PATH)")
    parser.add_argument("--small", action="store_true", help="small problem sizes, for tests and CPUs")
    parser.add_argument("--steps", help=f"a,b,... (default: all): {', '.join(name for name, _, _ in STEPS)}")
    parser.add_argument("--problems", default=str(tables.ROOT / "kernels_cl"), help="folder with the problems (default: kernels_cl)")
    parser.add_argument("--page", help="page whose section 'GPUs' the tables are written to (default for GPUs: docs/notebook/results.md)")
    parser.add_argument("--report", action="store_true", help="only the tables, from the folder")
    options = parser.parse_args()
    names = [name for name, _, _ in STEPS]
    wanted = options.steps.split(",") if options.steps else names
    if unknown := [name for name in wanted if name not in names]:
        parser.error(f"no such step: {', '.join(unknown)}")
    b = Bench(options)
    b.path("steps").mkdir(parents=True, exist_ok=True)
    failed = []
    if not options.report:
        options.build = str(tables.BUILD)
        if options.clatune or not tables.clatune(options).exists():
            options.build = build_of(options.clatune or "clatune")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            choose_device(b)
        except StepFailed as failure:
            sys.exit(f"first_gpu.py: {failure}")
        failed = [name for name, step, seconds in STEPS if name in wanted and not is_done(b, name) and not do_step(b, name, step, seconds)]
    first_gpu_page.write(b.folder, names, options.page)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("first_gpu.py: interrupted; the same command goes on from here")
