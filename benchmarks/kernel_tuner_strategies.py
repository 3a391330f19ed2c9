#!/usr/bin/env python3
"""Kernel Tuner's strategies and clatune's searchers on the same recorded spaces, with the same budgets, side by side.

Kernel Tuner runs in its own simulation mode, which answers from a cache file; clatune by `clatune replay`. Both are given 200
evaluations from 20 seeds; a configuration that failed costs one, one that was asked for before costs nothing. A table has the
mean of optimum / best found after so many evaluations, and the score of the auto-tuning community: by how much of the way from
random search to the optimum the mean best time is ahead of random search, (random's expected best - ours) / (random's expected
best - optimum), mean over the evaluations 1 .. 200, then over the spaces (F.-J. Willemsen et al., "A methodology for comparing
optimization algorithms for auto-tuning", Future Generation Computer Systems 159, 2024; there the budget is one of
time). Random's expected best comes from the recorded times exactly. 0 is random search, 1 the optimum at once.

    python3 -m venv venv && venv/bin/pip install kernel_tuner
    venv/bin/python benchmarks/kernel_tuner_strategies.py SPACES [--strategies pso,diff_evo] [--searchers surrogate]

SPACES are cache files of Kernel Tuner (plain or gzip) or folders of them. Kernel Tuner's figures are kept in --results, space
by space, so that a run goes on where it was stopped.
"""
import contextlib
import gzip
import io
import json
import math
import pathlib
import random
import tempfile
import warnings

import tables

SHOWN = (25, 50, 100, 200)
STRATEGIES = ("adaptive_tabu_greywolf,hybrid_vndx,pso,diff_evo,genetic_algorithm,simulated_annealing,random_sample,"
              "dual_annealing,greedy_ils,greedy_mls,firefly_algorithm")


# --- a recorded space ---

class Space:
    """The parts of a cache file that Kernel Tuner needs, and the times by configuration (None: failed)."""

    def __init__(self, path):
        self.name = path.name.removesuffix(".gz").removesuffix(".json")
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
            cache = json.loads(closed(file.read()))
        self.head = {key: value for key, value in cache.items() if key != "cache"}
        self.names = cache["tune_params_keys"]
        self.cache = {key: {**{n: e[n] for n in self.names}, "time": e["time"]} for key, e in cache["cache"].items()}
        self.times = {tuple(e[n] for n in self.names): seconds(e) for e in self.cache.values()}
        self.optimum = min(t for t in self.times.values() if t is not None)

    def write(self, folder):
        """A cache file with no more than is needed: it is read again for every run."""
        path = pathlib.Path(folder) / f"{self.name}.json"
        path.write_text(json.dumps({**self.head, "cache": self.cache}, indent=0))
        return path


def closed(text):
    """The text of a cache file whose writer was interrupted, with its closing braces."""
    text = text.strip().rstrip(",")
    return text if text.endswith("}\n}") or text.count("{") == text.count("}") else text + "}}"


def seconds(entry):
    time = entry["time"]
    return time if isinstance(time, (int, float)) and 0 < time < 1e20 else None


# --- Kernel Tuner ---

def read_once():
    """Kernel Tuner reads the cache file and builds the search space again in every run, which takes longer than the search."""
    import kernel_tuner.searchspace
    import kernel_tuner.util
    builder = "_Searchspace__build_searchspace"
    read, build = kernel_tuner.util.read_cache, getattr(kernel_tuner.searchspace.Searchspace, builder)
    known = {}

    def read_cache(*arguments, **named):
        if "cache" not in known:
            known["cache"] = read(*arguments, **named)
        return known["cache"]

    def build_searchspace(self, *arguments):
        if "space" not in known:
            known["space"] = *build(self, *arguments), self.restrictions, self._modified_restrictions
        configurations, index, size, self.restrictions, self._modified_restrictions = known["space"]
        return list(configurations), index, size

    kernel_tuner.util.read_cache = read_cache
    setattr(kernel_tuner.searchspace.Searchspace, builder, build_searchspace)

    def forget():
        kernel_tuner.util.read_cache = read
        setattr(kernel_tuner.searchspace.Searchspace, builder, build)
    return forget


def simulate(space, path, strategy, budget, seed):
    """The times of the configurations that were evaluated, in order."""
    import kernel_tuner
    import numpy

    def recorded(p):  # a plain function: lambdas are taken apart
        return tuple(p[n] for n in space.names) in space.times

    random.seed(seed)
    numpy.random.seed(seed)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = kernel_tuner.tune_kernel(
            space.head["kernel_name"], "", space.head["problem_size"], [], space.head["tune_params"],
            restrictions=[recorded], lang="CUDA", cache=str(path), simulation_mode=True,
            strategy=strategy, strategy_options={"max_fevals": budget}, quiet=True, verbose=False)
    order = dict.fromkeys(tuple(r[n] for n in space.names) for r in results if r)
    return [space.times[c] for c in order][:budget]


def best_so_far(times, budget):
    """The shortest time after 1 .. budget evaluations; infinite before the first correct one."""
    best, out = math.inf, []
    for k in range(budget):
        if k < len(times) and times[k] is not None:
            best = min(best, times[k])
        out.append(best)
    return out


def of_strategy(space, path, strategy, options):
    forget = read_once()
    runs = [best_so_far(simulate(space, path, strategy, options.budget, seed), options.budget)
            for seed in range(1, options.repeat + 1)]
    forget()
    means = []
    for k in range(options.budget):
        finite = [run[k] for run in runs if run[k] < math.inf]
        means.append(sum(finite) / len(finite) / space.optimum if finite else None)
    return {"fraction": {n: sum(space.optimum / run[n - 1] for run in runs) / len(runs) for n in SHOWN if n <= options.budget},
            "mean_best": means}


# --- scores ---

def random_expected(space, budget):
    """Of the best of k configurations drawn without repeats, given that one is correct: its expected time / the optimum."""
    times, n = sorted(t for t in space.times.values() if t is not None), len(space.times)
    out = []
    for k in range(1, budget + 1):
        none, expected = 1.0, 0.0  # none: P(none of the i fastest is among the k)
        for i, time in enumerate(times):
            more = none * max(n - k - i, 0) / (n - i)
            expected += time * (none - more)
            none = more
            if none < 1e-12:
                break
        out.append(expected / (1 - none) / space.optimum)
    return out


def score(mean_best, expected):
    points = [(r - b) / (r - 1) for b, r in zip(mean_best, expected) if b is not None and r > 1]
    return sum(points) / len(points)


# --- tables ---

def line(name, by_space, expected):
    mean = [sum(r["fraction"][n] for r in by_space.values()) / len(by_space) for n in SHOWN]
    scores = [score(r["mean_best"], expected[space]) for space, r in by_space.items()]
    worst = min(r["fraction"][SHOWN[-1]] for r in by_space.values())
    return [name, *(f"{x:.3f}" for x in mean), f"{worst:.3f}", f"{sum(scores) / len(scores):.3f}"]


def table(whose, lines):
    lines.sort(key=lambda x: float(x[-1]), reverse=True)
    return tables.markdown([whose, *SHOWN, f"worst space at {SHOWN[-1]}", "score"], lines)


def of_clatune(options, searcher):
    answer = tables.replay(options, searcher, options.budget, "--curve")
    return {r["space"]: {"fraction": {int(n): f for n, f in r["fraction_of_optimum"].items()},
                         "mean_best": [b and b / r["optimum_s"] for b in r["mean_best_s"]]} for r in answer["results"]}


def kernel_tuner_results(options, spaces):
    path = pathlib.Path(options.results)
    known = json.loads(path.read_text()) if path.exists() else {}
    with tempfile.TemporaryDirectory(prefix="clatune-strategies-") as folder:
        for strategy in options.strategies.split(","):
            for space in spaces:
                key = f"{strategy} {space.name} {options.budget} {options.repeat}"
                if key not in known:
                    known[key] = of_strategy(space, space.write(folder), strategy, options)
                    path.write_text(json.dumps(known))
    out = {}
    for strategy in options.strategies.split(","):
        out[strategy] = {}
        for space in spaces:
            found = known[f"{strategy} {space.name} {options.budget} {options.repeat}"]
            out[strategy][space.name] = {**found, "fraction": {int(n): f for n, f in found["fraction"].items()}}
    return out


def main():
    parser = tables.parser(__doc__)
    tables.add_replay(parser)
    parser.add_argument("--strategies", default=STRATEGIES, help=f"strategies of Kernel Tuner (default: {STRATEGIES})")
    parser.add_argument("--results", default="kernel-tuner-strategies.json", help="file with Kernel Tuner's results (default: %(default)s)")
    parser.add_argument("--page", help="page that the tables are also written to (docs/notebook/search-quality.md)")
    parser.set_defaults(budget=SHOWN[-1])
    options = parser.parse_args()
    spaces = [Space(path) for path in tables.recordings(options.spaces)]
    expected = {space.name: random_expected(space, options.budget) for space in spaces}
    peers = kernel_tuner_results(options, spaces) if options.strategies else {}
    text = table("clatune", [line(s, of_clatune(options, s), expected) for s in tables.searchers(options)])
    text += "\n\n" + table("Kernel Tuner", [line(s, by_space, expected) for s, by_space in peers.items()])
    print(text)
    if options.page:
        tables.replace_part(options.page, "kernel tuner", text)


if __name__ == "__main__":
    main()
