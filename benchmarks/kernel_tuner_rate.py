#!/usr/bin/env python3
"""Evaluations per second of clatune and of Kernel Tuner, side by side in one run.

Both measure the same list of valid convolution configurations on PoCL, the same number of runs each, with verification of
every configuration. clatune goes first and last, so that a drift of the machine shows. Kernel Tuner has no images in its
OpenCL backend, so the list is drawn from the half of the space with use_image = 0.

    python3 -m venv venv && venv/bin/pip install kernel_tuner pyopencl
    venv/bin/python benchmarks/kernel_tuner_rate.py --clatune build/src/cli/clatune
"""
import argparse
import collections
import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZE = 512
RADIUS = 2
Split = collections.namedtuple("Split", "rate wall_s evaluations correct build_s first_launch_s runs_s other_s")


def problem_without_images(folder):
    """convolution.json with use_image fixed at 0, its files named by their full paths."""
    problem = json.loads((ROOT / "kernels_cl/convolution.json").read_text())
    for parameter in problem["ConfigurationSpace"]["TuningParameters"]:
        if parameter["Name"] == "use_image":
            parameter.update(Values="[0]")
    problem["KernelSpecification"]["KernelFile"] = str(ROOT / "kernels_cl/convolution.cl")
    problem["Reference"]["Module"] = str(ROOT / "kernels_cl/convolution.c")
    path = folder / "convolution-buffers.json"
    path.write_text(json.dumps(problem, indent=1))
    return path


def run_clatune(options, problem, folder):
    store = folder / f"store-{time.monotonic_ns()}.sqlite"
    command = [options.clatune, "sample", problem, "--device", options.device, "--size", f"width={SIZE}", "--size",
               f"height={SIZE}", "--samples", options.configurations, "--seed", options.seed, "--workers", options.workers,
               "--min-runs", options.runs, "--max-runs", options.runs, "--abandon-factor", 0, "--store", store, "--quiet",
               "--json"]
    begin = time.perf_counter()
    answer = json.loads(subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout)
    wall_s = time.perf_counter() - begin
    phases, n = answer["phases"], answer["evaluations"]["total"]
    # Phases are summed over the workers: seconds of work, not of waiting.
    return answer["results"], Split(n / wall_s, wall_s, n, answer["evaluations"]["correct"], phases["build_s"],
                                    phases["first_launch_s"], phases["runs_s"], phases["verify_s"])


def box_filter(image):
    import numpy as np
    padded = np.pad(image.astype(np.float64), RADIUS, mode="edge")
    total = sum(padded[y:y + SIZE, x:x + SIZE] for y in range(2 * RADIUS + 1) for x in range(2 * RADIUS + 1))
    return (total / (2 * RADIUS + 1)**2).astype(np.float32)


def tune_half(options, configurations, pad, image, expected):
    """Kernel Tuner gives every configuration the same arguments, so padded and plain input are two calls."""
    import kernel_tuner
    import numpy as np
    chosen = [c for c in configurations if bool(c["pad"]) == pad]
    if not chosen:
        return []
    names = list(chosen[0])
    allowed = {tuple(int(c[n]) for n in names) for c in chosen}
    parameters = {n: sorted({int(c[n]) for c in chosen}) for n in names}
    stored = np.pad(image, RADIUS, mode="edge") if pad else image
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            "convolution", str(ROOT / "kernels_cl/convolution.cl"), (SIZE, SIZE),
            [np.ascontiguousarray(stored), np.zeros_like(image)], parameters,
            grid_div_x=["wg_x", "ppt_x"], grid_div_y=["wg_y", "ppt_y"], block_size_names=["wg_x", "wg_y"],
            restrictions=[f"({', '.join(names)}) in {sorted(allowed)}"],
            answer=[None, expected], atol=1e-5, lang="OpenCL", iterations=options.runs, platform=options.platform,
            compiler_options=[f"-Dwidth={SIZE}", f"-Dheight={SIZE}", f"-Dfilter_radius={RADIUS}", "-cl-std=CL1.2"],
            verbose=False, quiet=True)
    return results


def run_kernel_tuner(options, configurations):
    import numpy as np
    image = np.random.default_rng(1).random((SIZE, SIZE), dtype=np.float32)
    expected = box_filter(image)
    begin = time.perf_counter()
    results = [r for pad in (False, True) for r in tune_half(options, configurations, pad, image, expected)]
    wall_s = time.perf_counter() - begin
    total = {key: sum(r.get(key, 0) for r in results) / 1000
             for key in ("compile_time", "verification_time", "benchmark_time", "framework_time", "strategy_time")}
    correct = sum(isinstance(r["time"], float) for r in results)
    # Its own account of the time, without the construction of the search space: to its advantage.
    own_s = total["compile_time"] + total["verification_time"] + total["benchmark_time"]
    return Split(len(results) / own_s, wall_s, len(results), correct, total["compile_time"], total["verification_time"],
                 total["benchmark_time"], total["framework_time"] + total["strategy_time"])


def platform_of(device):
    import pyopencl
    for index, platform in enumerate(pyopencl.get_platforms()):
        if device.lower() in (platform.name + platform.vendor).lower() or "Portable" in platform.name:
            return index
    raise SystemExit(f"no OpenCL platform fits '{device}'")


def show(name, s):
    n = max(s.evaluations, 1)
    print(f"{name:22} {s.rate:8.2f} {s.wall_s:8.1f} {s.correct:4}/{s.evaluations:<4}"
          f" {1000 * s.build_s / n:8.1f} {1000 * s.first_launch_s / n:13.1f} {1000 * s.runs_s / n:8.1f}"
          f" {1000 * s.other_s / n:8.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clatune", default=str(ROOT / "build/src/cli/clatune"))
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--configurations", type=int, default=100)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    with tempfile.TemporaryDirectory(prefix="clatune-rate-") as name:
        folder = pathlib.Path(name)
        os.environ["POCL_CACHE_DIR"] = str(folder / "pocl")  # neither side begins with anything compiled
        options.platform = platform_of(options.device)
        problem = problem_without_images(folder)
        results, first = run_clatune(options, problem, folder)
        peer = run_kernel_tuner(options, [r["configuration"] for r in results])
        _, second = run_clatune(options, problem, folder)
    print(f"{'':22} {'eval/s':>8} {'wall s':>8} {'correct':>9} {'build':>8} {'first launch':>13} {'runs':>8} {'rest':>8}"
          "   (ms a configuration)")
    show("clatune", first)
    show("Kernel Tuner", peer)
    show("clatune again", second)
    print("Kernel Tuner's first launch is its verification run; clatune's rest is verification.")
    print(f"ratio: {first.rate / peer.rate:.2f} and {second.rate / peer.rate:.2f}")


if __name__ == "__main__":
    main()
