#!/usr/bin/env python3
"""clatune's `surrogate` and the searchers of other tuners on the same recorded spaces, with the same number of evaluations. Nothing runs on a device.

Each search is given 200 evaluations. A configuration that failed costs one, one that was asked for before costs nothing, and neither does
one that the constraints rule out. A search ends early after ten times as many proposals, or when its processor time is over. Every tuner
has its own default settings. It is told the constraints by the means that it has: pyATF as its constraints, SMAC as a forbidden clause and Kernel
Tuner as a restriction, so that they propose valid configurations only; Optuna as a constraint that a trial violates. OpenTuner has no such means: to it
they are errors, as failed configurations are. Parameters with numbers are ordinal, others categorical, where a tuner makes the difference. Kernel Tuner
runs in its own simulation mode, which answers from the recording.

    sudo apt-get install swig      # for SMAC
    python3 -m venv venv && venv/bin/pip install kernel_tuner smac optuna opentuner pyatf
    venv/bin/python benchmarks/peers.py SPACES --results peers.csv [--searchers smac,kernel_tuner:pso] [--page docs/notebook/search-quality.md]

SPACES are cache files of Kernel Tuner (plain or gzip) or folders of them. The searches are kept in --results, so that a run goes on where it
was stopped.
"""
import collections
import contextlib
import gzip
import importlib.metadata
import importlib.util
import inspect
import io
import json
import math
import os
import pathlib
import random
import resource
import signal
import statistics
import sys
import tempfile
import time
import warnings

import tables

os.environ |= {"OMP_NUM_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}  # threads of scikit-learn's cost more than they gain
SHOWN = (25, 50, 100, 200)
FIELDS = ["searcher", "space", "seed", "evaluations", "proposals", "cpu_s", "found"]
AHEAD = 0.005  # a peer's lead that is listed
STRATEGIES = ("adaptive_tabu_greywolf,basinhopping,bayes_opt,diff_evo,dual_annealing,firefly_algorithm,genetic_algorithm,greedy_ils,greedy_mls,"
              "hybrid_vndx,minimize,mls,ordered_greedy_mls,pso,random_sample,simulated_annealing").split(",")


class Space:
    """A cache file: what Kernel Tuner needs of it, and the times by configuration (None: failed)."""

    def __init__(self, path):
        self.path, self.name = path, path.name.removesuffix(".gz").removesuffix(".json")
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
            cache = json.loads(closed(file.read()))
        self.head = {key: value for key, value in cache.items() if key != "cache"}
        self.names, self.parameters = cache["tune_params_keys"], cache["tune_params"]
        self.cache = {key: {**{n: e[n] for n in self.names}, "time": e["time"]} for key, e in cache["cache"].items()}
        self.times = {tuple(e[n] for n in self.names): seconds(e) for e in self.cache.values()}
        correct = [t for t in self.times.values() if t is not None]
        self.optimum, self.worst = min(correct), max(correct)

    def ordinal(self, name):
        return all(isinstance(v, (int, float)) for v in self.parameters[name])


def closed(text):
    """The text of a cache file whose writer was interrupted, with its closing braces."""
    text = text.strip().rstrip(",")
    return text if text.endswith("}\n}") or text.count("{") == text.count("}") else text + "}}"


def seconds(entry):
    time_ms = entry["time"]
    return time_ms if isinstance(time_ms, (int, float)) and 0 < time_ms < 1e20 else None


class Over(BaseException):
    """The search has used what it was given. No Exception, because searchers handle those."""


class Replay:
    """Answers a searcher from the recording until its budget is spent."""

    def __init__(self, space, budget):
        self.space, self.budget, self.seen, self.proposals = space, budget, {}, 0

    def __call__(self, values):
        """The time; None if the configuration fails or is invalid."""
        self.proposals += 1
        if values in self.space.times:
            self.seen.setdefault(values, self.space.times[values])
        if len(self.seen) == self.budget or self.proposals == 10 * self.budget:
            raise Over
        return self.space.times.get(values)

    def found(self):
        """[(evaluations, optimum / best found)], one for each improvement."""
        out = []
        for count, found in enumerate(self.seen.values(), 1):
            if found is not None and (not out or self.space.optimum / found > out[-1][1]):
                out.append((count, self.space.optimum / found))
        return out


# --- the tuners: each searches until Over ---

def uniform(space, replay, seed, _):
    order = list(space.times)
    random.shuffle(order)
    for configuration in order:
        replay(configuration)


def smac(space, replay, seed, _):
    import ConfigSpace
    import numpy
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory import StatusType, TrialValue
    made = ConfigSpace.ConfigurationSpace(seed=seed)
    default = random.choice(list(space.times))  # it must be valid
    made.add([(ConfigSpace.OrdinalHyperparameter if space.ordinal(n) else ConfigSpace.CategoricalHyperparameter)(n, space.parameters[n], default_value=value)
              for n, value in zip(space.names, default)])

    sizes = [len(space.parameters[n]) for n in made]
    valid = numpy.zeros(sizes, dtype=bool)  # by the positions of the values, of which ConfigSpace's vectors consist
    for values in space.times:
        by_name = dict(zip(space.names, values))
        valid[tuple(space.parameters[n].index(by_name[n]) for n in made)] = True

    class Invalid(ConfigSpace.ForbiddenAndConjunction):
        """All that is not in the recording. The components that it is made of have no influence."""
        def is_forbidden_value(self, values):
            return tuple(values[n] for n in space.names) not in space.times

        def is_forbidden_vector(self, vector):
            return not valid[tuple(vector.astype(int))]

        def is_forbidden_vector_array(self, vectors):
            return ~valid[tuple(vectors.astype(int))]

    made.add(Invalid(*(ConfigSpace.ForbiddenInClause(made[n], v) for n, v in space.parameters.items())))
    made.to_json = lambda *_: None  # SMAC keeps it in a file, and cannot write this clause
    scenario = Scenario(made, deterministic=True, n_trials=replay.budget, seed=seed, output_directory=pathlib.Path("smac"))
    facade = HyperparameterOptimizationFacade(scenario, lambda config, seed: 0, overwrite=True, logging_level=50)
    while True:
        trial = facade.ask()
        found = replay(tuple(trial.config[n] for n in space.names))
        facade.tell(trial, TrialValue(found) if found else TrialValue(space.worst, status=StatusType.CRASHED))


def optuna(space, replay, seed, _):
    import optuna as library
    library.logging.set_verbosity(library.logging.ERROR)
    study = library.create_study(sampler=library.samplers.TPESampler(seed=seed))
    while True:
        trial = study.ask()
        values = tuple(v[trial.suggest_int(n, 0, len(v) - 1)] if space.ordinal(n) else trial.suggest_categorical(n, v)
                       for n, v in space.parameters.items())
        found = replay(values)
        trial.set_constraint("correct", 0 if found else 1)
        study.tell(trial, found or space.worst)


def opentuner(space, replay, seed, _):
    import logging
    import opentuner as library
    from opentuner.api import TuningRunManager
    from opentuner.measurement.interface import DefaultMeasurementInterface
    logging.disable(logging.WARNING)
    manipulator = library.ConfigurationManipulator()
    for n, v in space.parameters.items():
        manipulator.add_parameter(library.IntegerParameter(n, 0, len(v) - 1) if space.ordinal(n) else library.EnumParameter(n, range(len(v))))
    arguments = library.default_argparser().parse_args(["--database", "sqlite://", "--parallelism", "1", "--no-dups"])
    manager = TuningRunManager(DefaultMeasurementInterface(args=arguments, manipulator=manipulator), arguments)
    while True:
        asked = manager.get_next_desired_result()
        if asked is None:
            replay(None)
            continue
        found = replay(tuple(v[asked.configuration.data[n]] for n, v in space.parameters.items()))
        result = library.resultsdb.models.Result(time=found) if found else library.resultsdb.models.Result(state="ERROR", time=math.inf)
        manager.report_result(asked, result)


def pyatf(space, replay, seed, _):
    from pyatf import TP, Set, Tuner
    from pyatf.tuning_data import CostFunctionError

    def parameter(at, name):
        known = {values[:at + 1] for values in space.times}

        def recorded(**values):
            return tuple(values[n] for n in space.names[:at + 1]) in known
        recorded.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in space.names[:at + 1]])
        return TP(name, Set(*space.parameters[name]), recorded)

    def cost(configuration):
        found = replay(tuple(configuration[n] for n in space.names))
        if found is None:
            raise CostFunctionError("failed")
        return found

    Tuner().tuning_parameters(*(parameter(at, n) for at, n in enumerate(space.names))).verbosity(0).tune(cost)


def read_once(known):
    """Kernel Tuner reads the cache file and builds the search space again in every run, which takes longer than the search."""
    import kernel_tuner.searchspace
    import kernel_tuner.util
    builder = "_Searchspace__build_searchspace"
    read, build = kernel_tuner.util.read_cache, getattr(kernel_tuner.searchspace.Searchspace, builder)

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


SIMULATED = {}  # of the space that was searched last: its name, cache file and search space


def kernel_tuner(space, replay, seed, strategy):
    import kernel_tuner as library
    from kernel_tuner.runners.simulation import SimulationRunner
    if not SIMULATED:
        read_once(SIMULATED)
        SimulationRunner.recorded_run = SimulationRunner.run
    if SIMULATED.get("name") != space.name:
        SIMULATED.clear()
        SIMULATED["name"] = space.name

    def recorded(p):  # a plain function: lambdas are taken apart
        return tuple(p[n] for n in space.names) in space.times

    def run(self, configurations, options):
        for one in configurations:
            replay(tuple(one))
        return self.recorded_run(configurations, options)

    SimulationRunner.run = run
    cache = pathlib.Path(f"{space.name}.json").resolve()
    if not cache.exists():
        cache.write_text(json.dumps({**space.head, "cache": space.cache}, indent=0))
    library.tune_kernel(space.head["kernel_name"], "", space.head["problem_size"], [], space.parameters, restrictions=[recorded], lang="CUDA",
                        cache=str(cache), simulation_mode=True, strategy=strategy, strategy_options={"max_fevals": replay.budget}, quiet=True, verbose=False)


TUNERS = {  # by name: what it is called, its package, its function, its searchers
    "kernel_tuner": ("Kernel Tuner", "kernel_tuner", kernel_tuner, STRATEGIES),
    "smac": ("SMAC", "smac", smac, ["forest"]),
    "optuna": ("Optuna", "optuna", optuna, ["tpe"]),
    "opentuner": ("OpenTuner", "opentuner", opentuner, ["bandit"]),
    "pyatf": ("pyATF", "pyatf", pyatf, ["bandit"]),
    "plain": ("plain", None, uniform, ["random"]),
    "clatune": ("clatune", None, None, ["surrogate"]),
}


# --- searches ---

def limit_reached(*_):
    raise Over


def search(space, tuner, strategy, seed, options):
    """A row of the results, after the names."""
    random.seed(seed)
    if TUNERS[tuner][1]:
        import numpy
        numpy.random.seed(seed)
        importlib.import_module(TUNERS[tuner][1])  # which takes no time of the search
    replay, began = Replay(space, options.budget), time.process_time()
    signal.signal(signal.SIGPROF, limit_reached)
    signal.setitimer(signal.ITIMER_PROF, options.limit, 1)  # again each second: a destructor swallows the exception
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TUNERS[tuner][2](space, replay, seed, strategy)
    except Over:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return len(replay.seen), replay.proposals, time.process_time() - began, replay.found()


def search_clatune(space, searcher, seed, options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(tables.run([tables.clatune(options), "replay", space.path, "--searcher", searcher, "--budget", options.budget, "--repeat", 1,
                                  "--seed", seed, "--threads", 1, "--curve", "--json"]))["results"][0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {told["optimum_s"] / best: count for count, best in reversed(list(enumerate(told["mean_best_s"], 1))) if best}
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return options.budget, options.budget, cpu_s, sorted((count, fraction) for fraction, count in found.items())


def asked_for(options):
    """[(tuner, searcher)] of the options, or all of the tuners that are installed."""
    known = [(tuner, s) for tuner, (_, package, _, searchers) in TUNERS.items() for s in searchers if not package or importlib.util.find_spec(package)]
    if not options.searchers:
        return known
    out = []
    for name in options.searchers.split(","):
        tuner, _, searcher = name.partition(":")
        found = [(tuner, searcher)] if tuner == "clatune" and searcher else [one for one in known if one[0] == tuner and searcher in ("", one[1])]
        out += found or sys.exit(f"{name}: no such searcher, or its tuner is not installed; known are {', '.join(f'{t}:{s}' for t, s in known)}")
    return out


def search_all(options):
    done = {tuple(row[name] for name in FIELDS[:3]) for row in tables.read_csv(options.results, FIELDS)}
    spaces = [Space(path.resolve()) for path in tables.recordings(options.spaces)]
    options.build = pathlib.Path(options.build).resolve()
    with tempfile.TemporaryDirectory(prefix="clatune-peers-") as folder, contextlib.chdir(folder):  # some tuners write into the working folder
        for seed in range(1, options.seeds + 1):
            for space in spaces:
                for tuner, searcher in asked_for(options):
                    row = (f"{tuner}:{searcher}", space.name, str(seed))
                    if row in done:
                        continue
                    evaluations, proposals, cpu_s, found = (search_clatune(space, searcher, seed, options) if tuner == "clatune" else
                                                            search(space, tuner, searcher, seed, options))
                    typed = " ".join(f"{count}:{fraction:.5f}" for count, fraction in found)
                    tables.append_csv(options.results, [*row, evaluations, proposals, f"{cpu_s:.3f}", typed])
                    print(*row, evaluations, proposals, f"{cpu_s:.1f} s", typed.rpartition(":")[2], flush=True)


# --- tables ---

def fraction(row, evaluations):
    """Optimum / best found of a search after so many evaluations, 0 before the first correct one."""
    known = [pair.split(":") for pair in row["found"].split()]
    return max((float(value) for count, value in known if int(count) <= evaluations), default=0)


def title(searcher):
    tuner, _, name = searcher.partition(":")
    return f"{TUNERS[tuner][0]} {name}"


def mean_error(by_space):
    """The mean of the spaces' means, and its standard error over the seeds, None if there is one seed."""
    mean = statistics.mean(statistics.mean(values) for values in by_space)
    if min(map(len, by_space)) < 2:
        return mean, None
    return mean, math.sqrt(sum(statistics.variance(values) / len(values) for values in by_space)) / len(by_space)


def typed(mean, error):
    return f"{mean:.3f}" + (f" +-{error:.3f}" if error is not None else "")


def line(searcher, by_space):
    means = [mean_error([[fraction(row, n) for row in rows] for rows in by_space.values()]) for n in SHOWN]
    worst, at = min((statistics.mean(fraction(row, SHOWN[-1]) for row in rows), space) for space, rows in by_space.items())
    evaluations, cpu_s = (statistics.mean(float(row[name]) for rows in by_space.values() for row in rows) for name in ("evaluations", "cpu_s"))
    seeds = min(map(len, by_space.values()))
    return [title(searcher), *(typed(*one) for one in means), f"{at}, {worst:.3f}", f"{evaluations:.0f}", f"{cpu_s:.2f}", seeds]


def table(searchers):
    lines = sorted((line(name, by_space) for name, by_space in searchers.items()), key=lambda x: x[3], reverse=True)
    return tables.markdown(["searcher", *SHOWN, f"worst space at {SHOWN[-1]}", "evaluations", "processor time, s", "seeds"], lines)


def behind(searchers):
    """The recordings where the mean of a peer is ahead of that of surrogate."""
    ours, lines = searchers.get("clatune:surrogate", {}), []
    for space in ours:
        for n in SHOWN[-2:]:
            mean = {name: mean_error([[fraction(row, n) for row in by_space[space]]]) for name, by_space in searchers.items()}
            ahead = sorted((name for name in mean if mean[name][0] > mean["clatune:surrogate"][0] + AHEAD), key=lambda x: -mean[x][0])
            if ahead:
                lines.append([space, n, typed(*mean["clatune:surrogate"]), ", ".join(f"{title(name)} {typed(*mean[name])}" for name in ahead)])
    return tables.markdown(["recording", "evaluations", "surrogate", f"ahead of it by more than {AHEAD:.3f}"], lines)


def versions(searchers):
    tuners = {name.partition(":")[0] for name in searchers}
    packages = [(title, package) for name, (title, package, *_) in TUNERS.items() if name in tuners and package]
    return "Versions: " + ", ".join(f"{title} {importlib.metadata.version(package)}" for title, package in packages if importlib.util.find_spec(package))


def report(options):
    spaces = {path.name.removesuffix(".gz").removesuffix(".json") for path in tables.recordings(options.spaces)}
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in tables.read_csv(options.results, FIELDS):
        if row["space"] in spaces:
            found[row["searcher"]][row["space"]].append(row)
    complete = {name: by_space for name, by_space in found.items() if len(by_space) == len(spaces)}
    return "\n\n".join(filter(None, [versions(complete), table(complete), behind(complete)]))


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("spaces", nargs="+", help="recordings, or folders of recordings (*.json, *.json.gz)")
    parser.add_argument("--results", type=pathlib.Path, required=True, help="CSV file of the searches; a second run goes on from there")
    parser.add_argument("--searchers", help="a,b:c,...: tuners, or searchers of tuners (default: all of the tuners that are installed); none: only the tables")
    parser.add_argument("--seeds", type=int, default=5, help="searches on each space, with the seeds 1, 2, ... (default: 5)")
    parser.add_argument("--budget", type=int, default=SHOWN[-1], help=f"evaluations of a search (default: {SHOWN[-1]})")
    parser.add_argument("--limit", type=float, default=60, help="seconds of processor time of a search (default: 60)")
    parser.add_argument("--page", help="page that the tables are also written to (docs/notebook/search-quality.md)")
    options = parser.parse_args()
    options.results = options.results.resolve()
    if options.searchers != "none":
        search_all(options)
    text = report(options)
    tables.publish(text, options.page, "peers")


if __name__ == "__main__":
    main()
