#!/usr/bin/env python3
"""Ants that search the transformations of a loop compiler, as in the paper "Coding Ants": PolyBench's kernels as loop nests (examples/loopy),
searched by ants and by others, on a real device.

    venv/bin/python benchmarks/coding_ants.py --device pocl --folder ants [--limit 20] [--page docs/notebook/coding-ants.md]

The Python that runs it needs loo.py ('clatune[loopy]'). FOLDER keeps the store, the finished searches and the times; a second run goes on
from there. All searches share a store, so that each configuration has one time, whoever asks for it. At the end, or after LIMIT minutes of
searching, the winners of each kernel take turns with its default configuration, which is the plain parallel kernel: tiles of work-items,
nothing else. The winner of the problem in kernels_cl/polybench and the plain nest in C (cc -O3 -march=native -fopenmp, the outer loops in
parallel) are timed before and after them.
"""
import ctypes
import json
import os
import pathlib
import re
import statistics
import sys
import time
import warnings

import tables

sys.path[:0] = [str(tables.ROOT / "python"), str(tables.ROOT / "examples/loopy")]
import clatune  # noqa: E402
import numpy as np  # noqa: E402
import polybench  # noqa: E402

SEARCHES = ["kernel", "level", "searcher", "seed", "evaluations", "configuration"]
TIMES = ["kernel", "level", "what", "time_s"]


def typed(configuration):
    return json.dumps(dict(configuration), sort_keys=True)


def search(options, problems):
    """Runs the searches that are missing, seed by seed, until the time is over. Each searcher of a seed has its turn to be first."""
    path, until = options.folder / "searches.csv", time.monotonic() + 60 * options.limit if options.limit else float("inf")
    done = {tuple(row[name] for name in SEARCHES[:-1]) for row in tables.read_csv(path, SEARCHES)}
    for seed in range(1, options.seeds + 1):
        for kernel, level in problems:
            order = options.searchers[seed % len(options.searchers):] + options.searchers[:seed % len(options.searchers)]
            for searcher, evaluations in ((s, e) for e in options.evaluations for s in order):
                row = (kernel, str(level), searcher, str(seed), str(evaluations))
                if row in done or time.monotonic() > until:
                    continue
                found = clatune.tune(problems[kernel, level], device=options.device, searcher=searcher, budget=evaluations, seed=seed, finalists=0,
                                     oclgrind="no", no_transfer=True, store=options.folder / "store.sqlite", progress=False)
                # Not found.best, which may be what an earlier search with this store has found.
                best = min((one for one in found.evaluations if one["reason"] == "none"), key=lambda one: one["time_s"])
                tables.append_csv(path, [*row, typed(best["configuration"])])
                print(*row, f"{1000 * best['time_s']:.3f} ms", flush=True)
    return tables.read_csv(path, SEARCHES)


# --- the plain nest in C ---

class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("extent", ctypes.c_size_t * 3), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Scalar(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


class Call(ctypes.Structure):
    """clt_module_call, as far as a reference reads it."""
    _fields_ = [("arrays", ctypes.POINTER(Array)), ("n_arrays", ctypes.c_size_t), ("scalars", ctypes.POINTER(Scalar)), ("n_scalars", ctypes.c_size_t)]


def in_parallel(text):
    """The outer loops of each function with OpenMP; its variables are of the iterations."""
    def function(match):
        body = match[0]
        own = ", ".join(re.findall(r"^  \w+ (\w+);$", body, re.M))
        return re.sub(r"^  for ", f"#pragma omp parallel for{f' private({own})' if own else ''}\n  for ", body, flags=re.M)
    nests, end = text.split("int clt_nest", 1)
    return re.sub(r"^static void.*?^}", function, nests, flags=re.M | re.S) + "int clt_nest" + end


def c_times(options, problem, runs=15):
    """Seconds of the plain nest in C, whose result is compared with that of one thread."""
    source = options.folder / f"{problem.name}.c"
    source.write_text(in_parallel((problem.path.parent / "nest.c").read_text()))
    library = source.with_suffix(".so")
    tables.run([os.environ.get("CC", "cc").split()[-1], "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", "-I", tables.ROOT / "include", source, "-lm", "-o", library])
    arguments = problem.document["KernelSpecification"]["Arguments"]
    generator = np.random.default_rng(1)
    plain = {one["Name"]: generator.random(one["Size"], dtype=np.float32) for one in arguments if one["MemoryType"] == "Vector"}
    scalars = {one["Name"]: one["FillValue"] for one in arguments if one["MemoryType"] == "Scalar"}
    nest = ctypes.CDLL(str(library.resolve())).clt_nest

    def call(arrays):
        listed = (Array * len(arrays))(*(Array(name=name.encode(), data=one.ctypes.data) for name, one in arrays.items()))
        values = (Scalar * max(1, len(scalars)))(*(Scalar(name.encode(), value) for name, value in scalars.items()))
        before = time.perf_counter()
        nest(ctypes.byref(Call(listed, len(arrays), values, len(scalars))))
        return time.perf_counter() - before

    threads = ctypes.CDLL("libgomp.so.1").omp_set_num_threads
    results = []
    for count in (1, os.cpu_count()):
        threads(count)
        results.append({name: one.copy() for name, one in plain.items()})
        call(results[-1])
    for name, one in results[0].items():
        if not np.allclose(one, results[1][name], rtol=1e-4, atol=1e-5):
            sys.exit(f"{source}: with OpenMP, '{name}' differs from the result of one thread")
    return statistics.median(call({name: one.copy() for name, one in plain.items()}) for _ in range(runs))


# --- winners side by side ---

def default_of(problem):
    """The first value of each parameter; of an order, that of the nest."""
    found = {}
    for one in problem.space.to_json()["TuningParameters"]:
        found |= {f"{one['Name']}_{item}": at for at, item in enumerate(one["Values"])} if one.get("Type") == "permutation" else {one["Name"]: one["Values"][0]}
    return found


def measure_winners(options, problems, searches):
    """The times of each kernel's winners that are still missing."""
    path = options.folder / "times.csv"
    done = {(row["kernel"], row["level"], row["what"]) for row in tables.read_csv(path, TIMES)}
    for (kernel, level), problem in problems.items():
        found = {row["configuration"] for row in searches if (row["kernel"], row["level"]) == (kernel, str(level))}
        if not found or {(kernel, str(level), one) for one in found} <= done:
            continue
        hand = tables.ROOT / f"kernels_cl/polybench/{kernel}.json"
        written = clatune.tune(hand, device=options.device, budget=max(options.evaluations), store=options.folder / "store.sqlite", finalists=0, oclgrind="no",
                               progress=False).best
        others = {"C": lambda: c_times(options, problem),
                  "hand-written": lambda: clatune.measure(hand, [written], device=options.device, rounds=5)[0].time_s}
        around = {what: [measure()] for what, measure in others.items()}
        listed = [json.loads(one) for one in sorted(found)]
        times = [one.time_s for one in clatune.measure(problem, [default_of(problem), *listed], device=options.device, rounds=9)]
        for what, measure in others.items():
            around[what].append(measure())
        rows = {"plain": times[0], **{typed(one): time_s for one, time_s in zip(listed, times[1:])}, **{what: min(both) for what, both in around.items()}}
        for what, time_s in rows.items():
            tables.append_csv(path, [kernel, level, what, time_s])
        print(kernel, level, f"plain {1000 * times[0]:.3f} ms, best {1000 * min(times):.3f}, hand-written {1000 * rows['hand-written']:.3f}, C {1000 * rows['C']:.3f}", flush=True)
    return {(row["kernel"], int(row["level"]), row["what"]): float(row["time_s"]) for row in tables.read_csv(path, TIMES)}


def compare(factors, one, other):
    """A sentence on the kernels where the winners of two searches differ by more than 2 %."""
    both = {kernel: factors[one][kernel] / factors[other][kernel] for kernel in factors.get(one, {}) if kernel in factors.get(other, {})}
    slower, faster = ([k for k, ratio in both.items() if ratio < 0.98], [k for k, ratio in both.items() if ratio > 1.02])
    return both and (f"By more than 2 %, the winners of *{one}* are slower than those of *{other}* on {', '.join(slower) or 'no kernel'}, "
                     f"and faster on {', '.join(faster) or 'no kernel'}; in the geometric mean they have {statistics.geometric_mean(both.values()):.2f} times the speed.")


def table(options, level, searches, times):
    """How many times as fast as the plain kernel; of a searcher, the median over its seeds."""
    columns = [(searcher, evaluations) for evaluations in options.evaluations for searcher in options.searchers]
    rows, factors = [], {}
    for kernel in dict.fromkeys(row["kernel"] for row in searches if row["level"] == str(level)):
        plain = times.get((kernel, level, "plain"))
        if plain is None:
            continue
        row = {}
        for searcher, evaluations in columns:
            found = [times[kernel, level, one["configuration"]] for one in searches
                     if (one["kernel"], one["level"], one["searcher"], one["evaluations"]) == (kernel, str(level), searcher, str(evaluations))]
            if found:
                row[f"{searcher}, {evaluations}"] = plain / statistics.median(found)
        row |= {what: plain / times[kernel, level, what] for what in ("hand-written", "C")}
        for what, factor in row.items():
            factors.setdefault(what, {})[kernel] = factor
        rows.append((kernel, plain, row))
    heads = [*(f"{searcher}, {evaluations}" for searcher, evaluations in columns), "hand-written", "C"]
    lines = [[kernel, f"{1000 * plain:.3f}", *(f"{row[head]:.2f}" if head in row else "" for head in heads)] for kernel, plain, row in rows]
    complete = {head: factors[head].values() for head in heads if len(factors.get(head, ())) == len(rows)}
    lines.append(["geometric mean", "", *(f"{statistics.geometric_mean(complete[head]):.2f}" if complete.get(head) else "" for head in heads)])
    said = [compare(factors, f"ants, {evaluations}", f"surrogate, {evaluations}") for evaluations in options.evaluations]
    return "\n\n".join([tables.markdown(["kernel", "plain, ms", *heads], lines), *filter(None, said)])


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("--device", default="pocl", help="the device, as for clatune (default: pocl)")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="folder of the store and the results")
    parser.add_argument("--kernels", type=lambda text: text.split(","), help="a,b,...: kernels (default: all)")
    parser.add_argument("--levels", type=tables.numbers, default=[1, 2], help="1,2: levels of transformations (default: both)")
    parser.add_argument("--searchers", type=lambda text: text.split(","), default=["ants", "surrogate", "random"], help="default: ants,surrogate,random")
    parser.add_argument("--evaluations", type=tables.numbers, default=[100], help="N,M,...: evaluations of a search (default: 100)")
    parser.add_argument("--seeds", type=int, default=1, help="searches of each kind, with the seeds 1, 2, ... (default: 1)")
    parser.add_argument("--limit", type=float, help="minutes after which no search begins")
    parser.add_argument("--page", help="page that the tables are also written to")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait take no processor from those of other programs
    os.environ.setdefault("CLATUNE", str(tables.clatune(options)))
    warnings.simplefilter("ignore", clatune.ClatuneWarning)
    problems = {}
    for kernel in options.kernels or polybench.problems():
        for level in options.levels:
            if level == 1 or len(polybench.problems()[kernel][0]) > 1:  # one statement has nothing to share
                problems[kernel, level] = polybench.problem(kernel, level, folder=options.folder / f"{kernel}-{level}")
    searches = search(options, problems)
    times = measure_winners(options, problems, searches)
    text = "\n\n".join(f"Level {level}:\n\n{table(options, level, searches, times)}" for level in options.levels)
    tables.publish(text, options.page, "coding-ants")


if __name__ == "__main__":
    main()
