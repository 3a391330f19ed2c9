"""The steps of benchmarks/first_gpu.py that are no benchmark of their own: facts, libraries, isolation. Each prints a JSON object per
line as soon as it is measured, so that a step that is ended early loses only its last lines; 'failed' says why there is none.

    benchmarks/gpu_steps.py NAME DEVICE [--clatune PROGRAM] [--small]
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import live_kernel_tuner
import several_devices
import tables

N = 2048  # pixels and elements in a direction
COPIED = N * N  # floats: 16 MiB
TUNING_S = 9  # of each of the four tunings, without the finalists
BUILD_S = 1.5  # for counting builds, and evaluations twice as long
FEW_DEFECTS = (("one_after", "far_after", "syntax"), ("infinite_loop",))  # one by one: what hangs the driver comes last


def say(name, work):
    """One line; the others may do if this one does not. Whether it did."""
    began = time.monotonic()
    try:
        found = work()
    except SystemExit as error:  # of tables.run: a sentence
        found = {"failed": str(error)[-300:]}
    except Exception as error:
        found = {"failed": f"{type(error).__name__}: {str(error).strip()[-300:]}"}
    print(json.dumps({"name": name, **found, "took_s": round(time.monotonic() - began, 1)}), flush=True)
    return "failed" not in found


def clatune(o, *arguments, statuses=(0,)):
    done = subprocess.run([str(a) for a in (o.clatune, *arguments, "--device", o.device, "--json", "--quiet")], text=True, capture_output=True)
    if done.returncode not in statuses:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def convolution(o):
    n = 128 if o.small else N
    return [tables.ROOT / "kernels_cl/convolution.json", "--size", f"width={n}", "--size", f"height={n}"]


def median(times_s):
    return {"least_us": round(1e6 * min(times_s), 2), "median_us": round(1e6 * statistics.median(times_s), 2)}


# --- facts: what the device's timing, transfers and builds cost ---

def copy(o, folder, cache):
    several_devices.write_problem(folder, 4)
    return clatune(o, "measure", folder / "copy.json", "--size", f"n={COPIED}", "--cache", cache, "--rounds", 8 if o.small else 64)


def opened(o):
    import pyopencl as cl
    context = cl.Context([live_kernel_tuner.platform_of(o.device)[1]])
    return cl, context, cl.CommandQueue(context)


def transfers(o):
    """Milliseconds of 16 MiB in each direction, by the host's clock."""
    import numpy
    cl, context, queue = opened(o)
    host = numpy.zeros(COPIED, numpy.float32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, host.nbytes)
    found = {}
    for name, ends in (("write", (buffer, host)), ("read", (host, buffer))):
        times = []
        for _ in range(10):
            began = time.perf_counter()
            cl.enqueue_copy(queue, *ends)
            queue.finish()
            times.append(time.perf_counter() - began)
        found[name] = median(times)
    return found


def build_job(o):
    """In a process of its own: builds one text after the other, all different."""
    cl, context, _ = opened(o)
    problem, n, end = live_kernel_tuner.Problem("convolution"), 0, time.monotonic() + BUILD_S
    configuration = {p["Name"]: p["Default"] for p in problem.json["ConfigurationSpace"]["TuningParameters"]}
    options = problem.options() + [f"-D{x}" for x in tables.typed_configuration(configuration).split()]
    began = time.monotonic()
    while time.monotonic() < end:
        cl.Program(context, f"{problem.source()}\n/* {os.getpid()} {n} */").build(options=options)
        n += 1
    print(n / (time.monotonic() - began))


def builds(o, processes):
    children = [subprocess.Popen([sys.executable, __file__, "builds", o.device], stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    rates = [float(child.communicate()[0]) for child in children]
    return {"a_second": round(sum(rates), 1)}


def evaluations(o, workers):
    answer = clatune(o, "sample", *convolution(o), "--samples", 1000, "--time", 2 * BUILD_S, "--workers", workers, "--seed", 11, "--no-store",
                     *tables.MEASURE.split(), statuses=(0, 4))
    total = answer["evaluations"]["total"]
    return {"a_second": round(total / answer["wall_s"], 1), "evaluations": total, "phases": answer["phases"]}


def nvidia_smi(o):
    asked = "clocks.sm,clocks.max.sm,clocks.mem,power.draw,power.limit,temperature.gpu,compute_mode"
    return {"asked": asked, "says": tables.run(["nvidia-smi", f"--query-gpu={asked}", "--format=csv,noheader"], timeout=10).strip()}


def facts(o):
    say("devices", lambda: clatune(o, "devices"))
    say("measure", lambda: clatune(o, "measure", *convolution(o), "--rounds", 64, statuses=(0, 5)))
    with tempfile.TemporaryDirectory(prefix="clatune-gpu-") as folder:
        for cache in ("warm", "cold"):
            say(f"copy of 16 MiB, {cache}", lambda: copy(o, pathlib.Path(folder), cache))
        say("transfers of 16 MiB", lambda: transfers(o))
        for n in (1, 2) if o.small else (1, 4, 16):
            say(f"builds, {n} processes", lambda: builds(o, n))
        for n in (1, 2) if o.small else (1, 4, 16):
            say(f"evaluations, {n} workers", lambda: evaluations(o, n))
        say("nvidia-smi", lambda: nvidia_smi(o))
        say("probe", lambda: clatune(o, "devices", "--probe", "--store", pathlib.Path(folder) / "probe.sqlite"))


# --- libraries: tuned kernels against the vendor's ---

def tuned(o, problem, *sizes):
    """What is best warm is not best cold."""
    found = {}
    for cache in ("warm", "cold"):
        answer = clatune(o, "tune", problem, *sizes, "--budget", 3 if o.small else 100, "--time", TUNING_S, "--seed", 1, "--cache", cache, "--no-store")
        found[cache] = {"median_us": round(1e6 * answer["best"]["time_s"], 2), "configuration": answer["best"]["configuration"],
                        "evaluations": answer["evaluations"]["total"], "tuning_s": round(answer["wall_s"], 1), "phases": answer["phases"]}
    return found


def first_problem(*names):
    return next(path for path in (tables.ROOT / name for name in names) if path.exists())


def sizes_of(problem, n):
    """--size options for matrices of n x n."""
    names = [p["Name"] for p in json.loads(problem.read_text())["ProblemParameters"]]
    return [x for name in names if name.lower() in ("m", "n", "k") for x in ("--size", f"{name}={n}")]


def alone(run, synchronise, event, elapsed_ms, flush):
    """Times of single launches between two events, with the data in the cache and with other data there."""
    found = {}
    for cache, before in (("warm", lambda: None), ("cold", flush)):
        times = []
        for _ in range(55):
            before()
            synchronise()
            first = event()
            run()
            last = event()
            synchronise()
            times.append(1e-3 * elapsed_ms(first, last))
        found[cache] = median(times[5:])
    return found


def torch_steps(o):
    import torch
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    other = torch.empty(1 << 27, device="cuda")  # 512 MiB: more than any cache

    def timed(run):
        def event():
            made = torch.cuda.Event(enable_timing=True)
            made.record()
            return made
        return alone(run, torch.cuda.synchronize, event, lambda a, b: a.elapsed_time(b), other.sum)
    image, weights = torch.rand(1, 1, N + 4, N + 4, device="cuda"), torch.full((1, 1, 5, 5), 1 / 25, device="cuda")
    a, b, c = (torch.rand(N, N, device="cuda") for _ in range(3))
    one = torch.zeros(1, device="cuda")
    say("PyTorch: one element", lambda: timed(lambda: one.add_(1)))
    say("PyTorch: copy of 16 MiB", lambda: timed(lambda: c.copy_(a)))
    say("cuDNN (PyTorch): convolution", lambda: timed(lambda: torch.nn.functional.conv2d(image, weights)))
    say("cuBLAS (PyTorch): product", lambda: timed(lambda: torch.mm(a, b, out=c)))
    return {"version": torch.__version__}


def cupy_steps(o):
    import cupy
    import cupyx.scipy.ndimage
    x, y = cupy.random.rand(N, N, dtype=cupy.float32), cupy.empty((N, N), cupy.float32)
    a, b, c = (cupy.random.rand(N, N, dtype=cupy.float32) for _ in range(3))
    other = cupy.empty(1 << 27, cupy.float32)

    def timed(run):
        def event():
            made = cupy.cuda.Event()
            made.record()
            return made
        return alone(run, cupy.cuda.Device().synchronize, event, cupy.cuda.get_elapsed_time, lambda: other.fill(1))
    say("CuPy: uniform_filter", lambda: timed(lambda: cupyx.scipy.ndimage.uniform_filter(x, 5, output=y, mode="nearest")))
    say("cuBLAS (CuPy): product", lambda: timed(lambda: cupy.matmul(a, b, out=c)))
    return {"version": cupy.__version__}


def library(name):
    for version in (13, 12, 11):
        with contextlib.suppress(OSError):
            return ctypes.CDLL(f"lib{name}.so.{version}")
    return ctypes.CDLL(f"lib{name}.so")


def cublas(o):
    """The vendor's library itself, where neither PyTorch nor CuPy is installed."""
    cuda, blas = library("cudart"), library("cublas")

    def done(status):
        if status:
            raise RuntimeError(f"status {status}")
    handle, one, zero = ctypes.c_void_p(), ctypes.c_float(1), ctypes.c_float(0)
    matrices, other = [ctypes.c_void_p() for _ in range(3)], ctypes.c_void_p()
    done(blas.cublasCreate_v2(ctypes.byref(handle)))
    for pointer, n_bytes in ((other, 1 << 29), *((m, 4 * N * N) for m in matrices)):
        done(cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(n_bytes)))
        done(cuda.cudaMemset(pointer, 0, ctypes.c_size_t(n_bytes)))

    def run():
        a, b, c = matrices
        done(blas.cublasSgemm_v2(handle, 0, 0, N, N, N, ctypes.byref(one), a, N, b, N, ctypes.byref(zero), c, N))

    def event():
        made = ctypes.c_void_p()
        done(cuda.cudaEventCreate(ctypes.byref(made)))
        done(cuda.cudaEventRecord(made, None))
        return made

    def elapsed_ms(first, last):
        found = ctypes.c_float()
        done(cuda.cudaEventElapsedTime(ctypes.byref(found), first, last))
        return found.value
    return alone(run, cuda.cudaDeviceSynchronize, event, elapsed_ms, lambda: done(cuda.cudaMemset(other, 1, ctypes.c_size_t(1 << 29))))


def libraries(o):
    wide = first_problem("kernels_cl/convolution_wide.json", "kernels_cl/convolution.json")
    gemm = first_problem("kernels_cl/gemm.json", "examples/matmul/matmul.json")
    say(f"clatune: convolution 5 x 5 ({wide.name})", lambda: tuned(o, wide, *convolution(o)[1:]))
    torch = say("PyTorch", lambda: torch_steps(o))
    say(f"clatune: product ({gemm.name})", lambda: tuned(o, gemm, *sizes_of(gemm, 128 if o.small else N)))
    if not say("CuPy", lambda: cupy_steps(o)) and not torch:
        say("cuBLAS: product", lambda: cublas(o))


# --- isolation: what one process does to another ---

def sampling(o, *more):
    return [str(a) for a in (o.clatune, "sample", *convolution(o), "--device", o.device, "--samples", 20 if o.small else 80, "--seed", 7, "--no-store",
                             "--json", "--quiet", *tables.MEASURE.split(), *more)]


def start(command):
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def answer_of(process):
    out, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"exit status {process.returncode}: {errors.strip()}")
    return json.loads(out)


def two_at_once(o):
    """The times of two tuners that share the device, relative to those of one alone."""
    answer = answer_of(start(sampling(o)))
    first = {tables.key(r["configuration"]): r["time_s"] for r in answer["results"] if r["time_s"]}
    found = {"alone_s": round(answer["wall_s"], 1), "correct": [answer["evaluations"]["correct"]], "two_s": [], "median_ratio": [], "most": []}
    for answer in [answer_of(p) for p in [start(sampling(o)) for _ in range(2)]]:
        ratios = [r["time_s"] / first[tables.key(r["configuration"])] for r in answer["results"]
                  if r["time_s"] and tables.key(r["configuration"]) in first]
        found["correct"].append(answer["evaluations"]["correct"])
        found["two_s"].append(round(answer["wall_s"], 1))
        found["median_ratio"].append(round(statistics.median(ratios), 3))
        found["most"].append(round(max(ratios), 2))
    return found


def workers_of(process):
    """The numbers of the worker processes of a tuner."""
    out = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            number, name, rest = path.read_text().replace(" (", ") (", 1).split(") ", 2)
            if name.startswith("(clatune-worker") and int(rest.split()[1]) == process.pid:
                out.append(int(number.rstrip(")")))
    return out


def killed_worker(o):
    """A worker of a tuner is killed once the first configuration is measured."""
    with tempfile.TemporaryDirectory(prefix="clatune-gpu-") as folder:
        events, killed = pathlib.Path(folder) / "events.jsonl", 0
        process = start(sampling(o, "--events", events, "--samples", 200))
        while killed == 0 and process.poll() is None:
            if events.exists() and '"evaluation"' in events.read_text():
                for worker in workers_of(process)[:1]:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)
                        killed += 1
            time.sleep(0.005)
        answer = answer_of(process)
    if killed == 0:
        raise RuntimeError("it was done before a worker was killed")
    return {"evaluations": answer["evaluations"]["total"], "correct": answer["evaluations"]["correct"], "reasons": answer["reasons"],
            "wall_s": round(answer["wall_s"], 1)}


def bad_kernels(o, defects):
    """The reasons that kernels with a defect get; correct ones come last."""
    folder = tables.ROOT / "tests/instruments/bad_kernels"
    chosen = [{"defect": name, "block": 16} for name in defects] + [{"defect": "none", "block": block} for block in (8, 32)]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(chosen, file)
        file.flush()
        answer = clatune(o, "sample", folder / "defects.json", "--configurations", file.name, "--no-store", "--workers", 1, "--compile-timeout", 20,
                         "--run-timeout", 3, statuses=(0, 4))
    return {"reasons": [[r["configuration"]["defect"], r["configuration"]["block"], r["reason"]] for r in answer["results"]]}


def isolation(o):
    say("two at once", lambda: two_at_once(o))
    say("a worker is killed", lambda: killed_worker(o))
    for defects in FEW_DEFECTS:
        say(f"bad kernels: {', '.join(defects)}", lambda: bad_kernels(o, defects))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = {"facts": facts, "libraries": libraries, "isolation": isolation, "builds": build_job}
    parser.add_argument("name", choices=steps)
    parser.add_argument("device", help="as for clatune; gpu for the first GPU")
    parser.add_argument("--clatune", help="the command clatune")
    parser.add_argument("--small", action="store_true")
    o = parser.parse_args()
    steps[o.name](o)


if __name__ == "__main__":
    main()
