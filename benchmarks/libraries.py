#!/usr/bin/env python3
"""Tuned kernels against libraries on a CPU: gemm against OpenBLAS, convolution_wide against OpenCV's filter2D.

Tunes each kernel, and then times it and its library in turns, on one thread (PoCL with one compute unit) and on all.
A figure is the library's time divided by the kernel's: above 1, the kernel is faster. Each turn takes the median of its
runs; the table has the median of the turns, and the least and the greatest.

    python3 -m venv venv && venv/bin/pip install numpy opencv-python-headless      # numpy comes with OpenBLAS
    venv/bin/python benchmarks/libraries.py --evaluations 300 --turns 9
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import tables

PROBLEMS = {"gemm": ("m", "n", "k"), "convolution_wide": ("width", "height")}  # with the sizes that --sizes sets
LIBRARIES = {"gemm": "OpenBLAS", "convolution_wide": "filter2D"}


def time_library(problem, size, threads, runs):
    """Prints the median of a library's runs, in a process of its own, because OpenBLAS reads its threads when loaded."""
    import numpy
    draw = numpy.random.default_rng(1)
    if problem == "gemm":
        a, b = (draw.random((size, size), dtype=numpy.float32) for _ in range(2))
        c = numpy.empty_like(a)
        call = lambda: numpy.matmul(a, b, out=c)
    else:
        import cv2
        cv2.setNumThreads(threads)
        image, weights = draw.random((size, size), dtype=numpy.float32), draw.random((5, 5), dtype=numpy.float32)
        out = numpy.empty_like(image)
        call = lambda: cv2.filter2D(image, -1, weights, dst=out, borderType=cv2.BORDER_REPLICATE)
    times = []
    for _ in range(runs + 2):  # the first two warm up
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    print(statistics.median(times[2:]))


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--problem", choices=PROBLEMS, action="append", help="default: both")
    parser.add_argument("--sizes", type=tables.numbers, default=[512, 1024, 2048], help="sides of the matrices and images")
    parser.add_argument("--threads", type=tables.numbers, default=[1, os.cpu_count()])
    parser.add_argument("--evaluations", type=int, default=300)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--runs", type=int, default=20, help="of a turn")
    parser.add_argument("--store", help="keeps the tunings, so that a second run needs none (default: a new one)")
    parser.add_argument("--library", nargs=3, help="internal: PROBLEM SIZE THREADS")
    options = parser.parse_args()
    if options.library:
        problem, size, threads = options.library
        return time_library(problem, int(size), int(threads), options.runs)
    clatune = tables.clatune(options)
    print("| problem | size | threads | clatune, ms | library, ms | library / clatune | least to greatest |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="clatune-libraries-") as folder:
        store = options.store or f"{folder}/store.sqlite"
        for problem in options.problem or PROBLEMS:
            for size in options.sizes:
                for threads in options.threads:
                    compare(options, clatune, store, problem, size, threads)
    return 0


def compare(options, clatune, store, problem, size, threads):
    here = [tables.ROOT / f"kernels_cl/{problem}.json", "--device", options.device,
            *(x for name in PROBLEMS[problem] for x in ("--size", f"{name}={size}"))]
    # One compute unit is another device for the store, and may have another best configuration.
    of_threads = {**os.environ, "POCL_MAX_PTHREAD_COUNT": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}
    tuned = json.loads(tables.run([clatune, "tune", *here, "--budget", options.evaluations, "--store", store, "--quiet", "--json"],
                           env=of_threads))
    best = tables.typed_configuration(tuned["best"]["configuration"])
    own, other = [], []
    for _ in range(options.turns):
        measured = json.loads(tables.run([clatune, "measure", *here, "--configuration", best, "--rounds", options.runs, "--quiet", "--json"],
                                  env=of_threads))
        own.append(measured["measurements"][0]["time_s"])
        other.append(float(tables.run([sys.executable, __file__, "--library", problem, size, threads, "--runs", options.runs], env=of_threads)))
    ratios = [theirs / ours for theirs, ours in zip(other, own)]
    print(f"| {problem}, {LIBRARIES[problem]} | {size} | {threads} | {1e3 * statistics.median(own):.3f} | {1e3 * statistics.median(other):.3f} |"
          f" {statistics.median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f} |", flush=True)
    print(f"{problem} {size} {threads}: {best}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
