#!/usr/bin/env python3
"""Tunings by Kernel Tuner's best strategies and by clatune on the same device, winners timed side by side by a third program.

The problems are the shipped ones and those of the examples that one kernel launch makes up, without images, which Kernel Tuner's
OpenCL backend does not have. Both sides choose among the same configurations, those that satisfy the problem's conditions and
the device's limits, and make the same number of evaluations; Kernel Tuner verifies nothing, which costs it no time. The third
program (pyopencl) has the same input, builds all winners of a problem, and runs them in rounds, each round in a new order, the
driver's threads where the system puts them; the result is the median over the rounds of a winner's share of the round's median.
In a round each winner runs once untimed and then seven times, as Kernel Tuner does, and winners whose arrays have the same size
share them: with memory for each and two runs, what was compared was how much of another winner's memory a cache still held.

    python3 -m venv venv && venv/bin/pip install kernel_tuner pyopencl
    venv/bin/python benchmarks/live_kernel_tuner.py --device pocl --results live.jsonl [--page docs/notebook/results.md]

Each tuning is a line of --results as soon as it has ended, with the time of each evaluation, so that a run goes on where it was
stopped; the rounds are run again.
The table has, for each problem, the median over the seeds of each tuner's winners, relative to the fastest winner of all.
"""
import contextlib
import ctypes
import functools
import io
import itertools
import json
import math
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import tables

# Sizes are those of the recorded pools, else the problems' own.
PROBLEMS = {
    "convolution": ("kernels_cl/convolution.json", {"width": 2048, "height": 2048}, {"use_image": 0}),
    "raycasting": ("kernels_cl/raycasting.json", {"width": 256, "height": 256, "volume_size": 128},
                   {"image_data": 0, "image_tf": 0}),
    "stereo": ("kernels_cl/stereo.json", {"width": 256, "height": 256, "disparities": 16, "window_radius": 1},
               {"image_left": 0, "image_right": 0}),
    "matmul": ("examples/matmul/matmul.json", {}, {}),
    "blur": ("examples/pipeline/blur.json", {}, {}),
    "transpose": ("examples/tutorial/transpose.json", {}, {}),
}
TYPES = {"float": "float32", "uchar": "uint8", "int": "int32", "uint": "uint32"}
BLOCKS = ("block_x", "block_y")  # Kernel Tuner's work-group, if that is no tuning parameter


# --- a problem, as Kernel Tuner and the third program need it ---

@functools.cache
def compiled(expression):
    return compile(expression, expression, "eval")


class Problem:
    def __init__(self, name, device_limits=(1 << 30, 1 << 30)):
        path, sizes, self.fixed = PROBLEMS[name]
        self.name, self.folder = name, (tables.ROOT / path).parent
        self.json = json.loads((tables.ROOT / path).read_text())
        self.kernel = self.json["KernelSpecification"]
        self.sizes = {p["Name"]: sizes.get(p["Name"], p["Default"]) for p in self.json["ProblemParameters"]}
        self.parameters = {p["Name"]: self.values_of(p) for p in self.json["ConfigurationSpace"]["TuningParameters"]}
        self.conditions = [c["Expression"] for c in self.json["ConfigurationSpace"].get("Conditions", [])]
        self.most_items, self.most_local_bytes = device_limits

    def values_of(self, parameter):
        if parameter["Name"] in self.fixed:
            return [self.fixed[parameter["Name"]]]
        values = parameter["Values"]
        return list(eval(values)) if isinstance(values, str) else values

    def value(self, expression, configuration):
        """Expressions of problem files in PROBLEMS mean the same in Python."""
        return eval(compiled(str(expression)), {}, {**self.sizes, **configuration})

    def launch(self, configuration):
        """(global, local)"""
        axes = [a for a in "XYZ" if a in self.kernel["GlobalSize"]]
        local = [int(self.value(self.kernel["LocalSize"][a], configuration)) for a in axes]
        items = [int(self.value(self.kernel["GlobalSize"][a], configuration)) for a in axes]
        return [-(-n // l) * l for n, l in zip(items, local)], local

    def valid(self, configuration):
        if not all(self.value(c, configuration) for c in self.conditions):
            return False
        local = self.launch(configuration)[1]
        used = self.value(self.kernel.get("Resources", {}).get("LocalMemoryBytes", 0), configuration)
        return min(local) >= 1 and math.prod(local) <= self.most_items and used <= self.most_local_bytes

    def configurations(self):
        product = itertools.product(*self.parameters.values())
        return [c for c in (dict(zip(self.parameters, values)) for values in product) if self.valid(c)]

    def source(self):
        return (self.folder / self.kernel["KernelFile"]).read_text()

    def options(self):
        standard = self.kernel.get("OpenCLStandard", "CL1.2")
        return [f"-D{n}={v}" for n, v in self.sizes.items()] + [f"-cl-std={standard}", f"-I{self.folder}"]

    def fill(self, argument, shape, dtype):
        import numpy
        if "Generator" not in argument:
            low_to_high = numpy.random.default_rng(1).random(shape)
            return (low_to_high * argument.get("FillValue", 0)).astype(dtype)
        data = numpy.zeros(shape, dtype)
        module = compile_module(self.folder / self.json["Reference"]["Module"])
        extent = list(reversed(shape))
        generate(module, argument, extent, data, self.sizes)
        return data

    def arguments(self, configuration, room_for=()):
        """Arrays and scalars for a configuration, with a border that suffices for all of room_for."""
        import numpy
        made = []
        for a in self.kernel["Arguments"]:
            if not self.value(a.get("When", "1"), configuration):
                continue
            lanes = int(a["Type"][-1]) if a["Type"][-1].isdigit() else 1
            dtype = TYPES[a["Type"].rstrip("0123456789")]
            if a["MemoryType"] == "Scalar":
                made.append(numpy.dtype(dtype).type(self.value(a["FillValue"], configuration)))
                continue
            size = a["Size"] if isinstance(a["Size"], list) else [a["Size"]]
            extent = [int(self.value(s, configuration)) for s in size]
            data = self.fill(a, [*reversed(extent), *([lanes] if lanes > 1 else [])], dtype)
            if "Border" in a:
                borders = [[int(self.value(b, c)) for b in a["Border"]] for c in (room_for or [configuration])]
                most = [max(b) for b in zip(*borders)]
                data = numpy.pad(data, [(b, b) for b in reversed(most)], mode="edge")
            made.append(numpy.ascontiguousarray(data))
        return made

    def write(self, folder):
        """The problem file with its fixed parameters fixed, and its other files named by their full paths."""
        problem = json.loads(json.dumps(self.json))
        for parameter in problem["ConfigurationSpace"]["TuningParameters"]:
            if parameter["Name"] in self.fixed:
                parameter["Values"] = [self.fixed[parameter["Name"]]]

        def absolute(node):
            for key, value in node.items() if isinstance(node, dict) else []:
                if key in ("KernelFile", "Module"):
                    node[key] = str(self.folder / value)
                absolute(value)
        absolute(problem)
        path = pathlib.Path(folder) / f"{self.name}.json"
        path.write_text(json.dumps(problem, indent=1))
        return path


# --- input of the problems' own generators (clatune/module.h) ---

class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("extent", ctypes.c_size_t * 3),
                ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Scalar(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


class Call(ctypes.Structure):
    _fields_ = [("arrays", ctypes.POINTER(Array)), ("n_arrays", ctypes.c_size_t), ("scalars", ctypes.POINTER(Scalar)),
                ("n_scalars", ctypes.c_size_t), ("target", ctypes.POINTER(Array)), ("seed", ctypes.c_uint64),
                ("references", ctypes.POINTER(Array)), ("n_references", ctypes.c_size_t), ("configuration", ctypes.c_char_p),
                ("message", ctypes.c_char_p)]


def compile_module(path):
    if path.with_suffix(".so").exists():  # a portable tree, for a machine without a compiler
        return ctypes.CDLL(str(path.with_suffix(".so")))
    with tempfile.TemporaryDirectory(prefix="clatune-module-") as folder:
        library = pathlib.Path(folder) / "module.so"
        tables.run([*shlex.split(os.environ.get("CC", "cc")), "-O3", "-fopenmp", "-shared", "-fPIC", f"-I{tables.ROOT / 'include'}", path,
                    "-o", library, "-lm"])
        return ctypes.CDLL(str(library))


def generate(module, argument, extent, data, sizes):
    scalars = (Scalar * len(sizes))(*(Scalar(n.encode(), v) for n, v in sizes.items()))
    lanes = argument["Type"][-1].isdigit()
    extent = extent[1:] if lanes else extent
    target = Array(argument["Name"].encode(), argument["Type"].encode(), (ctypes.c_size_t * 3)(*(extent + [1, 1])[:3]),
                   data.ctypes.data, data.nbytes)
    call = Call(None, 0, scalars, len(sizes), ctypes.pointer(target), 1, None, 0, None, None)
    if getattr(module, argument["Generator"])(ctypes.byref(call)):
        sys.exit(f"the generator {argument['Generator']} fails")


# --- the two tuners, and the third program: each in a process of its own ---

def platform_of(device):
    import pyopencl
    for index, platform in enumerate(pyopencl.get_platforms()):
        devices = platform.get_devices()
        gpus = [d for d in devices if d.type & pyopencl.device_type.GPU]
        if device == "gpu" and gpus:
            return index, gpus[0]
        if device.lower() in (platform.name + platform.vendor).lower() or (device == "pocl" and "Portable" in platform.name):
            return index, devices[0]
    sys.exit(f"no OpenCL platform fits '{device}'")


def limited(name, device):
    return Problem(name, (device.max_work_group_size, device.local_mem_size))


def kernel_tuner_job(job):
    import kernel_tuner
    platform, device = platform_of(job["device"])
    problem = limited(job["problem"], device)
    valid = problem.configurations()
    parameters = {**problem.parameters}
    blocks, named = [], list(problem.kernel["LocalSize"].values())
    for axis, local in enumerate(named):
        blocks.append(local if local in parameters else BLOCKS[axis])
        parameters.setdefault(blocks[-1], sorted({problem.launch(c)[1][axis] for c in valid}))
    allowed = {tuple(c.values()) for c in valid}

    def is_valid(p):  # a plain function: lambdas are taken apart
        configuration = {n: p[n] for n in problem.parameters}
        return tuple(configuration.values()) in allowed and (blocks == named or
                                                             [p[b] for b in blocks] == problem.launch(configuration)[1])

    def items(p):
        return tuple(problem.launch({n: p[n] for n in problem.parameters})[0])

    begin = time.perf_counter()
    random.seed(job["seed"])
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            problem.kernel["KernelName"], problem.source(), items, problem.arguments(valid[0], valid), parameters,
            block_size_names=list(blocks), restrictions=[is_valid], lang="OpenCL", platform=platform,
            compiler_options=problem.options(), strategy=job["tuner"],
            strategy_options={"max_fevals": job["budget"]}, seed=job["seed"], verbose=False, quiet=True)
    correct = [r for r in results if isinstance(r["time"], float)]
    best = min(correct, key=lambda r: r["time"])
    return {"configuration": {n: int(best[n]) for n in problem.parameters}, "time_s": best["time"] / 1000,
            "evaluations": len(results), "correct": len(correct), "wall_s": time.perf_counter() - begin,
            "times_s": [r["time"] / 1000 if isinstance(r["time"], float) else None for r in results]}


def clatune_job(options, job, folder):
    problem = Problem(job["problem"])
    sizes = [x for n, v in problem.sizes.items() for x in ("--size", f"{n}={v}")]
    answer = json.loads(tables.run([tables.clatune(options), "tune", problem.write(folder), "--device", options.device, *sizes,
                                    "--no-store", "--seed", job["seed"], "--budget", job["budget"], "--searcher",
                                    job["tuner"].removeprefix("clatune "), "--evaluations", "--json", "--quiet"]))
    return {"configuration": answer["best"]["configuration"], "time_s": answer["best"]["time_s"],
            "evaluations": answer["evaluations"]["total"], "correct": answer["evaluations"]["correct"],
            "wall_s": answer["wall_s"], "times_s": [r["time_s"] for r in answer["results"]]}


def rounds_job(job):
    """Each one's time, in the order of the configurations."""
    import pyopencl as cl
    device = platform_of(job["device"])[1]
    problem = limited(job["problem"], device)
    context = cl.Context([device])
    queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    times, ready, buffers = [], [], {}

    def buffer(index, array):
        size = (index, array.shape, array.dtype.str)  # of which the content is a function
        if size not in buffers:
            buffers[size] = cl.Buffer(context, flags, hostbuf=array)
        return buffers[size]

    for c in job["configurations"]:
        options = problem.options() + [f"-D{x}" for x in tables.typed_configuration(c).split()]
        kernel = getattr(cl.Program(context, problem.source()).build(options=options), problem.kernel["KernelName"])
        arguments = [buffer(i, a) if getattr(a, "ndim", 0) else a for i, a in enumerate(problem.arguments(c))]
        ready.append((kernel, *problem.launch(c), arguments))
        times.append([])

    def run(i):
        kernel, items, local, arguments = ready[i]
        event = kernel(queue, items, local, *arguments)
        event.wait()
        return (event.profile.end - event.profile.start) / 1e9

    for _ in range(job["rounds"]):
        for i in random.sample(range(len(ready)), len(ready)):
            run(i)
            times[i].append(statistics.median(run(i) for _ in range(7)))
    # Of a round, only how the winners compare counts: the machine is faster or slower in the next.
    typical = [statistics.median(r) for r in zip(*times)]
    return [statistics.median(t / m for t, m in zip(ts, typical)) * statistics.median(typical) for ts in times]


def in_a_process(job):
    """A driver's crash ends one tuning only. It begins with nothing compiled."""
    with tempfile.TemporaryDirectory(prefix="clatune-pocl-") as cache:
        done = subprocess.run([sys.executable, __file__, "--job", json.dumps(job)], text=True, capture_output=True,
                              env={**os.environ, "PYOPENCL_NO_CACHE": "1", "POCL_CACHE_DIR": cache})
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    print(f"{job['problem']}, {job.get('tuner', 'rounds')}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return None


# --- all of them ---

def tune_all(options, folder):
    path = pathlib.Path(options.results)
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {json.dumps(r["job"], sort_keys=True): r for r in known}
    found, end = [], time.monotonic() + options.time
    # Tuners take turns, so that other load of the machine affects all.
    for problem, seed, tuner in itertools.product(options.problems, range(1, options.repeat + 1), options.tuners):
        job = {"kind": "tune", "problem": problem, "tuner": tuner, "seed": seed, "budget": options.budget,
               "device": options.device}
        key = json.dumps(job, sort_keys=True)
        if key not in done:
            if time.monotonic() > end:
                continue
            result = clatune_job(options, job, folder) if tuner.startswith("clatune") else in_a_process(job)
            if result is None:
                continue
            done[key] = {"job": job, "result": result}
            with path.open("a") as file:
                file.write(json.dumps(done[key]) + "\n")
        found.append(done[key])
    return found


def rows_of(options, problem, found):
    mine = [r for r in found if r["job"]["problem"] == problem]
    winners = list({tables.key(r["result"]["configuration"]): r["result"]["configuration"] for r in mine}.values())
    medians = winners and in_a_process({"kind": "rounds", "problem": problem, "device": options.device, "configurations": winners,
                            "rounds": options.rounds})
    if not medians:
        return []
    at = {tables.key(c): t for c, t in zip(winners, medians)}
    best, rows = min(medians), []
    for tuner in options.tuners:
        results = [r["result"] for r in mine if r["job"]["tuner"] == tuner]
        ratios = [at[tables.key(r["configuration"])] / best for r in results]
        if ratios:
            rows.append([problem, tuner, f"{1000 * best:.4f}", f"{statistics.median(ratios):.2f}", f"{max(ratios):.2f}",
                         f"{statistics.median(r['wall_s'] for r in results):.0f}"])
    return rows


def geometric(rows, tuner):
    medians = [float(r[3]) for r in rows if r[1] == tuner]
    return f"{tuner} {statistics.geometric_mean(medians):.2f}" if medians else f"{tuner} -"


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("--job", help="internal: one tuning with Kernel Tuner, or the rounds of a problem")
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--problems", default=",".join(PROBLEMS), help="a,b,... (default: all)")
    parser.add_argument("--tuners", default="clatune surrogate,genetic_algorithm,adaptive_tabu_greywolf",
                        help="Kernel Tuner's strategies and clatune's searchers (default: %(default)s)")
    parser.add_argument("--budget", type=int, default=100, help="evaluations per tuning (default 100)")
    parser.add_argument("--repeat", type=int, default=5, help="tunings per tuner and problem, with seeds 1, 2, ... (default 5)")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--time", type=float, default=math.inf, help="seconds after which no tuning begins (default: none)")
    parser.add_argument("--results", default="live-kernel-tuner.jsonl", help="file with the finished tunings (default: %(default)s)")
    parser.add_argument("--page", help="page that the table is also written to")
    options = parser.parse_args()
    if options.job:
        job = json.loads(options.job)
        print("\n" + json.dumps(rounds_job(job) if job["kind"] == "rounds" else kernel_tuner_job(job)), flush=True)
        os._exit(0)  # drivers crash in their exit handlers
    options.problems, options.tuners = options.problems.split(","), options.tuners.split(",")
    with tempfile.TemporaryDirectory(prefix="clatune-live-") as folder:
        found = tune_all(options, folder)
    rows = [row for problem in options.problems for row in rows_of(options, problem, found)]
    if not rows:
        sys.exit("no winner was timed")
    head = ["problem", "tuner", "fastest winner, ms", "median over it", "worst over it", "a tuning, s"]
    means = ", ".join(geometric(rows, tuner) for tuner in options.tuners)
    text = f"{tables.markdown(head, rows)}\n\nGeometric means of the medians: {means}."
    tables.publish(text, options.page, "live kernel tuner")


if __name__ == "__main__":
    main()
