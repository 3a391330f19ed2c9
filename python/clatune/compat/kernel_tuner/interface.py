"""tune_kernel and run_kernel."""
from __future__ import annotations

import contextlib
import datetime
import inspect
import logging
import math
import os
import pathlib
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import command
from ...files import read_text, write_text
from ...judge import Arrays, Judge
from ...optimizer import Optimizer
from ...problem import Space
from .cache import CacheFile, Entry, find_cache, key_of, read_cache
from .kernel import Kernel, Source, conditions, usual_parameters
from .metrics import Metrics, check_metrics, objective_text, process_metrics
from .observers.nvml import FORMULAS, Observed
from .strategies import Search, search_of
from .util import CompilationFailedConfig, InvalidConfig, RuntimeFailedConfig, get_best_config, get_config_string, get_objective_defaults

_MOST_RUNS = 64
_LONGEST_RUN_S = 60  # Kernel Tuner has no limit
_TIMES = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")
_BUILD_REASONS = {"compile-error": CompilationFailedConfig, "compile-crash": CompilationFailedConfig, "compile-timeout": CompilationFailedConfig,
                  "generator-failed": CompilationFailedConfig, "not-generated": InvalidConfig, "kernel-limit": InvalidConfig, "device-limit": InvalidConfig}
_INSTEAD = {
    "smem_args": "declare local memory in the kernel (__local float tile[block_size_x])",
    "cmem_args": "constant memory is an ordinary argument in OpenCL: declare it as '__constant float *filter', and put the array into arguments",
    "texmem_args": "OpenCL has images: make the argument an Image2D in a problem file (see the page 'The problem file'), and tune it with clatune.tune",
}


def _refuse_memory(given: Mapping[str, Any]) -> None:
    for name, instead in _INSTEAD.items():
        if given[name]:
            raise NotImplementedError(f"{name} is for CUDA; {instead}")


def _device(device: int | str, platform: int) -> str | None:
    """The device for clatune's option; None: CLATUNE_DEVICE decides, since the script has no choice of its own."""
    if isinstance(device, str):
        return device
    return None if (platform, device) == (0, 0) and os.environ.get("CLATUNE_DEVICE") else f"{platform}:{device}"


def _start_log(kernel_name: str, log: Any) -> None:
    if log:
        logging.basicConfig(filename=f"{kernel_name}{datetime.datetime.now():%Y%m%d-%H:%M:%S}.log", level=log)


def tune_kernel(
        kernel_name: str, kernel_source: Source | Sequence[Any], problem_size: Any, arguments: Sequence[Any], tune_params: Mapping[str, Sequence[Any]],
        grid_div_x: Any = None, grid_div_y: Any = None, grid_div_z: Any = None, restrictions: Any = None, answer: Sequence[Any] | None = None,
        atol: float = 1e-6, verify: Callable[..., Any] | None = None, verbose: bool = False, lang: str | None = None, device: int | str = 0,
        platform: int = 0, smem_args: Any = None, cmem_args: Any = None, texmem_args: Any = None, compiler: str | None = None,
        compiler_options: Sequence[str] | str | None = None, defines: Mapping[str, Any] | None = None, log: Any = None, iterations: int = 7,
        block_size_names: Sequence[str] | None = None, quiet: bool = False, strategy: Any = None, strategy_options: Mapping[str, Any] | None = None,
        cache: str | os.PathLike[str] | None = None, metrics: Metrics | None = None, simulation_mode: bool | None = None,
        parallel: bool | int | None = None, observers: Sequence[Any] | None = None, objective: Any = None, objective_higher_is_better: Any = None,
        objectives: Mapping[str, bool] | None = None, seed: int | None = None) -> tuple[list[Entry], dict[str, Any]]:
    """Tunes an OpenCL kernel like Kernel Tuner's function of this name, with the same parameters in the same order, and with the same
    defaults and meaning. docs/how-to/from-kernel-tuner.md lists the differences.

    Returns the results and a dict. The results are a list of dicts, one per configuration in the order of evaluation: its parameters,
    ``time`` and ``times`` in milliseconds, metrics, and the time of each step of the evaluation; ``__error__`` if it exceeds a limit of the
    device. The dict describes the device; ``best_config`` is the best configuration, ``failed`` lists the failed ones.
    """
    began = time.perf_counter()
    _start_log(kernel_name, log)
    _refuse_memory({"smem_args": smem_args, "cmem_args": cmem_args, "texmem_args": texmem_args})
    observed = Observed(observers)
    if objectives:
        objective, objective_higher_is_better = list(objectives), list(objectives.values())
    if isinstance(objective, (list, tuple)):
        if len(objective) != 1:
            raise NotImplementedError("clatune optimises one objective; tune once per objective, or for a metric that combines them")
        objective = objective[0]
        if isinstance(objective_higher_is_better, (list, tuple)):
            objective_higher_is_better = objective_higher_is_better[0]
    objective, higher = get_objective_defaults(objective, objective_higher_is_better)
    check_metrics(metrics)
    if answer is not None and len(answer) != len(arguments):
        raise TypeError(f"answer has {len(answer)} entries, but the kernel has {len(arguments)} arguments; use None for arguments that are not compared")
    if answer is not None and verify is None:
        for at, (right, value) in enumerate(zip(answer, arguments)):
            if right is not None and np.size(right) != np.size(value):
                raise TypeError(f"entry {at} of answer has {np.size(right)} elements, but the argument has {np.size(value)}; for other comparisons use verify")
        if not any(isinstance(value, np.ndarray) and right is not None for right, value in zip(answer, arguments)):
            answer = None
    if iterations < 1:
        raise ValueError("iterations must be at least 1")
    if iterations > _MOST_RUNS:
        warnings.warn(f"iterations={iterations}: clatune runs a configuration at most {_MOST_RUNS} times", stacklevel=2)
    search = search_of(strategy, strategy_options)
    report = _Report(list(tune_params), metrics, objective, observed, quiet, verbose)
    if simulation_mode:
        if cache is None:
            raise ValueError("simulation_mode needs cache=, the name of a cache file with all configurations")
        results, env = _simulate(find_cache(cache), kernel_name, tune_params, restrictions, search, seed, report, objective, higher)
    else:
        kernel = Kernel(kernel_name, kernel_source, problem_size, arguments, tune_params, grid_div=(grid_div_x, grid_div_y, grid_div_z),
                        block_size_names=block_size_names, compiler_options=compiler_options, defines=defines, lang=lang)
        options: dict[str, object] = {"device": _device(device, platform), "seed": seed,
                                      "workers": parallel if parallel and parallel is not True else None}
        goal = None
        if search.searcher not in ("exhaustive", "random") or objective == "energy":
            goal = "energy" if objective == "energy" and not higher else None if objective == "time" and not higher else \
                objective_text(objective, higher, metrics, list(tune_params), {name: FORMULAS[name] for name in FORMULAS if name in observed.names})
        with _Tuning(kernel, report, answer, atol, verify, restrictions, search) as tuning:
            results, env = tuning.run(options | {"objective": goal}, min(iterations, _MOST_RUNS), cache)
        env |= {"iterations": iterations, "compiler_options": compiler_options}
    if results:
        env["best_config"] = get_best_config(results, objective, higher)
        if not quiet:
            print(f"\nBest of {len(results)} configuration{'s' if len(results) != 1 else ''} by {objective}:\n" + get_config_string(
                env["best_config"], [*tune_params, "time", objective, *(metrics or {})], {"time": "ms"}))
    elif not quiet:
        print("No configuration is valid.")
    for name in _TIMES:
        env["total_" + name] = sum(entry.get(name) or 0 for entry in results)
    # Configurations are built in parallel, so that the sum of their times can exceed the elapsed time.
    env["overhead_time"] = max(0.0, 1000 * (time.perf_counter() - began) - sum(env["total_" + name] for name in _TIMES))
    return results, env


class _Report:
    """Adds observed values and metrics to the entries of the results, and prints them."""

    def __init__(self, names: Sequence[str], metrics: Metrics | None, objective: str, observed: Observed, quiet: bool, verbose: bool):
        self._keys = [*names, "time", *([objective] if objective != "time" else []), *(metrics or {})]
        self._metrics, self._objective, self.observed = metrics, objective, observed
        self._quiet = quiet
        self.verbose = verbose

    def compute(self, entry: Entry, energy_J: float | None = None, known: bool = False) -> None:
        """Adds the observers' values, unless a known entry has them already, and the metrics."""
        values = self.observed.values(energy_J, entry["time"])
        entry |= {name: value for name, value in values.items() if not known or name not in entry}
        process_metrics(entry, self._metrics)
        value = entry.get(self._objective)
        if isinstance(value, float) and math.isnan(value) and self.observed.missing():
            raise NotImplementedError(f"the objective '{self._objective}' has no value: {self.observed.missing()}")

    def device(self, name: str, n: int, simulated: bool = False) -> None:
        if not self._quiet:
            print(("Simulating: " if simulated else "Using: ") + name)
        if self.verbose:
            print(f"The space has {n} configuration{'s' if n != 1 else ''}.")

    def entry(self, entry: Entry, reason: str = "") -> None:
        if "__error__" not in entry:
            if not self._quiet:
                print(get_config_string(entry, self._keys, {"time": "ms"}), flush=True)
        elif self.verbose:
            print(get_config_string(entry, self._keys) + f" failed: {reason or entry['__error__']}", flush=True)


class _Tuning:
    """A tuning in a temporary folder."""

    def __init__(self, kernel: Kernel, report: _Report, answer: Sequence[Any] | None, atol: float, verify: Callable[..., Any] | None,
                 restrictions: Any, search: Search):
        self._kernel, self._report, self._search = kernel, report, search
        self._stack = contextlib.ExitStack()
        self._folder = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="clatune-")))
        self._names = list(kernel.parameters)
        judged: list[str] = []
        if verify is not None:
            judged = [name for i, name in enumerate(f"arg{i}" for i in range(len(kernel.arguments)))
                      if name in kernel.array_names() and (answer is None or answer[i] is not None)]
            if not judged:
                raise ValueError("verify has nothing to check: answer is None for all arguments that the kernel writes")
        self._problem = kernel.problem(self._folder, constraints=conditions(restrictions, kernel.parameters), answer=answer, atol=atol, judged=judged,
                                       x0=search.x0)
        self._judge: Judge | None = None
        if verify is not None or self._problem.generate:
            self._judge = Judge(self._folder, _shapes(kernel, judged), _judgement(kernel, answer, atol, verify) if verify else None, self._problem.generate)
        self._entries: dict[str, Entry] = {}
        self._energies_J: dict[str, float] = {}
        self._reasons: dict[str, str] = {}
        self._started: dict[str, Any] = {}

    def __enter__(self) -> _Tuning:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.close()

    def _configuration(self, found: Mapping[str, Any]) -> Entry:
        """A configuration with the values in the types that the script gave."""
        return {name: next(value for value in self._kernel.parameters[name] if value == found[name]) for name in self._names}

    def run(self, options: dict[str, object], runs: int, cache: str | os.PathLike[str] | None) -> tuple[list[Entry], dict[str, Any]]:
        store = self._folder / "store.sqlite"
        self._device = command.flags({"device": options["device"]})
        place = self._device + command.flags({"store": store})
        with warnings.catch_warnings():
            if not self._report.verbose:
                warnings.simplefilter("ignore", command.ClatuneWarning)
            space = command.run("space", self._problem, *command.flags({"device": options["device"] or os.environ.get("CLATUNE_DEVICE")}))
            self._report.device(space["device"], space["valid"])
            kept = self._cache(cache, space["device"]) if cache is not None else None
            known = dict(kept.entries) if kept else {}
            if kept and known:
                copy = self._folder / "known.json"
                write_text(copy, read_text(find_cache(cache or "")))
                command.run_text("store", "import", copy, "--quiet", *command.flags({"of": self._problem.path, "store": store}))
            arguments = ["tune", os.fspath(self._problem.path), *place, *command.flags({
                "searcher": self._search.searcher, "time": self._search.time, "space_fraction": self._search.fraction,
                "budget": self._search.budget or (space["cartesian"] if self._search.fraction is None else None),
                "seed": options["seed"], "workers": options["workers"], **self._search.options,
                "min_runs": runs, "max_runs": runs, "max_run_time": 1e6, "abandon_factor": 1e6, "run_timeout": _LONGEST_RUN_S,
                "run_timeout_factor": "0", "finalists": "0", "oclgrind": "no", "no_transfer": True, "evaluations": True,
                "energy_time": self._report.observed.duration_s})]
            logging.debug("%s", " ".join(arguments))

            def each(event: dict[str, Any]) -> None:
                if self._judge and self._judge.error:
                    raise self._judge.error
                self._see(event, known, kept)

            try:
                with self._judge or contextlib.nullcontext():
                    self._measure(arguments, options["objective"], each)
            except command.NoValidConfiguration as error:  # if configurations failed, _split reports the reason
                if self._kernel.error and all(isinstance(entry["__error__"], CompilationFailedConfig) for entry in self._entries.values()):
                    raise self._kernel.error from error
                if not self._entries and command.run("space", self._problem)["valid"]:
                    raise RuntimeError(str(error)) from error  # the device is too small
            finally:
                self._complete(place, known, kept)
        missing = self._report.observed.missing()
        if missing:
            warnings.warn(f"NVMLObserver: {missing}", stacklevel=3)
        results, failed = self._split()
        device = self._started.get("device") or {"name": space["device"]}
        env = {name: device.get(key) for name, key in (("platform_name",) * 2, ("platform_version",) * 2, ("device_name", "name"),
                                                       ("device_version",) * 2, ("opencl_c_version",) * 2, ("driver_version",) * 2)}
        if failed:
            env["failed"] = failed
        return results, env

    def _measure(self, arguments: Sequence[str], goal: object, each: Callable[[dict[str, Any]], None]) -> None:
        """Runs the tuning: with energy if observers ask for it, and without if the device has no energy counter."""
        *energy, plainly = self._report.observed.goals(goal)
        for goal in energy:
            try:
                command.events([*arguments, f"--objective={goal}"], each)
                return
            except command.Error as error:
                if self._entries or isinstance(error, command.NoValidConfiguration):
                    raise
                self._report.observed.why = str(error)
        command.events([*arguments, *command.flags({"objective": plainly})], each)

    def _cache(self, cache: str | os.PathLike[str], device: str) -> CacheFile:
        size = self._kernel.problem_size
        header = {"device_name": device, "kernel_name": self._kernel.name, "problem_size": "callable" if callable(size) else size,
                  "tune_params_keys": self._names, "tune_params": self._kernel.parameters, "objective": "time"}
        return CacheFile(find_cache(cache), header)

    def _see(self, event: dict[str, Any], known: Mapping[str, Entry], kept: CacheFile | None) -> None:
        if event["event"] == "started":
            self._started = event
        if event["event"] != "evaluation":
            return
        entry = self._configuration(event["configuration"])
        key = key_of(entry, self._names)
        if key in self._entries:
            return
        self._entries[key] = entry
        energy_J = next((one["value"] for one in event.get("metrics") or [] if one["name"] == "energy"), None)
        if energy_J is not None:
            self._energies_J[key] = energy_J
        if key in known:
            entry |= known[key] | {name: 0 for name in _TIMES}
        elif event["reason"] == "none":
            entry["time"] = 1000 * float(np.mean(event["runs_s"] or event["time_s"]))  # as in _complete
            entry |= {} if energy_J is None else {"energy": energy_J}
        else:
            self._reasons[key] = event["reason"]
            entry["__error__"] = _BUILD_REASONS.get(event["reason"], RuntimeFailedConfig)(event["reason"])
        if "__error__" not in entry:
            self._report.compute(entry, energy_J, key in known)
        at = datetime.datetime.fromtimestamp(self._started.get("started_s", 0) + event["elapsed_s"], datetime.timezone.utc)
        entry["timestamp"] = str(at)
        if key not in known:
            self._report.entry(entry, event["reason"])
            if kept:
                kept.add(key, entry)

    def _complete(self, place: Sequence[str], known: Mapping[str, Entry], kept: CacheFile | None) -> None:
        """Adds what events lack: the times of all runs and of the steps of each evaluation. 'time' becomes the mean of the runs, as in Kernel
        Tuner."""
        if self._entries:
            path = self._folder / "measured.json"
            command.run_text("record", self._problem.path, "--stored-only", "--format=kernel-tuner", "--quiet", "-o", path, *place)
            for found in read_cache(path)["cache"].values():
                key = key_of(self._configuration(found), self._names)
                entry = self._entries.get(key)
                if entry is None or key in known:
                    continue
                entry |= {name: found.get(name) or 0 for name in _TIMES}
                if "__error__" not in entry:
                    entry |= {"time": float(np.mean(found["times"])), "times": found["times"]}
                    self._report.compute(entry, self._energies_J.get(key))
            for entry in self._entries.values():
                for name in _TIMES:
                    entry.setdefault(name, 0)
        if kept:
            kept.close({key: entry for key, entry in self._entries.items() if key not in known})

    def _split(self) -> tuple[list[Entry], list[Entry]]:
        """The results, and the failed configurations, which would have ended Kernel Tuner. Raises RuntimeError if all failed."""
        failed = {key: entry for key, entry in self._entries.items() if "__error__" in entry and not isinstance(entry["__error__"], InvalidConfig)}
        if all("__error__" in entry for entry in self._entries.values()):  # all are too large for the device
            failed = self._entries
        results = [entry for key, entry in self._entries.items() if key not in failed]
        if not failed:
            return results, []
        key = next((key for key in failed if self._reasons.get(key) == "wrong-output"), next(iter(failed)))
        reason, text = self._reasons.get(key, str(failed[key]["__error__"])), get_config_string(failed[key], self._names)
        if any("__error__" not in entry for entry in results):
            warnings.warn(f"{len(failed)} of {len(self._entries)} configurations failed, for example {text} ({reason}); env[\"failed\"] lists them", stacklevel=4)
        elif reason == "wrong-output":
            raise RuntimeError(f"Kernel result verification failed for: {text}")
        else:
            raise RuntimeError(f"all configurations failed; {text} failed with {reason}: {self._log(key)}")
        return results, [entry | {"reason": self._reasons.get(key, "known from the cache")} for key, entry in failed.items()]

    def _log(self, key: str) -> str:
        entry = self._entries[key]
        try:
            text = " ".join(f"{name}={entry[name]}" for name in self._names)
            with self._judge or contextlib.nullcontext():
                command.run("verify", self._problem.path, f"--configuration={text}", *self._device)
        except command.Error as error:
            return str((error.result or {}).get("log") or error) if isinstance(error.result, dict) else str(error)
        return "no message"


def _shapes(kernel: Kernel, names: Sequence[str]) -> dict[str, Any]:
    return {f"arg{i}": value for i, value in enumerate(kernel.arguments) if isinstance(value, np.ndarray)}


def _judgement(kernel: Kernel, answer: Sequence[Any] | None, atol: float, verify: Callable[..., Any]) -> Callable[[Arrays], str]:
    """Kernel Tuner's verify as a function for Judge."""
    takes_atol = "atol" in inspect.signature(verify).parameters

    def judge(arrays: Arrays) -> str:
        results: list[Any] = []
        for i, value in enumerate(kernel.arguments):
            wanted = isinstance(value, np.ndarray) and (answer is None or answer[i] is not None)
            results.append(arrays.get(f"arg{i}", value) if wanted else None)
        right = verify(answer, results, atol=atol) if takes_atol else verify(answer, results)
        return "" if np.all(right) else "verify() returned False"

    return judge


def run_kernel(
        kernel_name: str, kernel_source: Source | Sequence[Any], problem_size: Any, arguments: Sequence[Any], params: Mapping[str, Any],
        grid_div_x: Any = None, grid_div_y: Any = None, grid_div_z: Any = None, lang: str | None = None, device: int | str = 0, platform: int = 0,
        smem_args: Any = None, cmem_args: Any = None, texmem_args: Any = None, compiler: str | None = None,
        compiler_options: Sequence[str] | str | None = None, defines: Mapping[str, Any] | None = None,
        block_size_names: Sequence[str] | None = None, quiet: bool = False, log: Any = None) -> list[Any]:
    """Runs a kernel once, with one value per parameter, and returns its arguments afterwards, like Kernel Tuner's function of this
    name."""
    _start_log(kernel_name, log)
    _refuse_memory({"smem_args": smem_args, "cmem_args": cmem_args, "texmem_args": texmem_args})
    kernel = Kernel(kernel_name, kernel_source, problem_size, arguments, {name: [value] for name, value in params.items()},
                    grid_div=(grid_div_x, grid_div_y, grid_div_z), block_size_names=block_size_names, compiler_options=compiler_options,
                    defines=defines, lang=lang)
    written: Arrays = {}

    def take(arrays: Arrays) -> str:
        if not written:
            written.update(arrays)
        return ""

    with tempfile.TemporaryDirectory(prefix="clatune-") as name:
        folder = pathlib.Path(name)
        judged = kernel.array_names()
        problem = kernel.problem(folder, judged=judged)
        with warnings.catch_warnings(), Judge(folder, _shapes(kernel, judged), take, problem.generate):
            warnings.simplefilter("ignore", command.ClatuneWarning)
            try:
                command.run("verify", problem.path, *command.flags({"device": _device(device, platform)}))
            except command.VerificationFailed as error:
                found = error.result if isinstance(error.result, dict) else {}
                if not written:
                    raise RuntimeError(f"the kernel '{kernel_name}' failed: {found.get('reason', '')} {found.get('log') or error}".strip()) from error
    return [value if isinstance(value, np.generic) else written.get(f"arg{i}", value.copy()) for i, value in enumerate(kernel.arguments)]


def _simulate(path: pathlib.Path, kernel_name: str, tune_params: Mapping[str, Sequence[Any]], restrictions: Any, search: Search,
              seed: int | None, report: _Report, objective: str, higher: bool) -> tuple[list[Entry], dict[str, Any]]:
    """A search whose results come from a cache file."""
    if not path.is_file():
        raise ValueError(f"simulation_mode needs a cache file, but '{path}' does not exist")
    found = read_cache(path)
    names = list(tune_params)
    if found.get("tune_params_keys") != names:
        raise ValueError(f"the cache file '{path}' has the parameters {found.get('tune_params_keys')}, not {names} in this order")
    if found.get("kernel_name") != kernel_name:
        raise ValueError(f"the cache file '{path}' is for the kernel '{found.get('kernel_name')}', not '{kernel_name}'")
    parameters = usual_parameters(tune_params)
    space = Space(parameters, constraints=conditions(restrictions, parameters), default=dict(zip(names, search.x0 or [])))
    results: list[Entry] = []
    report.observed.why = f"the cache file '{path}' does not have them"
    spent = 0.0
    options: dict[str, Any] = {"searcher": search.searcher, "seed": seed, **search.options,
                               "objective": {"name": "objective", "goal": "maximise" if higher else "minimise"}}
    with Optimizer(space, budget=search.budget or math.prod(len(values) for values in parameters.values()), **options) as optimizer:
        n = optimizer.json["valid"]
        report.device(found.get("device_name", ""), n, True)
        most = n if search.fraction is None else math.ceil(search.fraction * n)
        while len(results) < most and (search.time is None or spent < 1000 * search.time) and (asked := optimizer.ask()) is not None:
            configuration = {name: next(value for value in parameters[name] if value == asked[name]) for name in names}
            entry = found["cache"].get(key_of(configuration, names))
            if entry is None:
                raise ValueError(f"the cache file '{path}' has no {get_config_string(configuration)}; a simulation needs all configurations")
            result = configuration | entry
            if "__error__" not in result:
                report.compute(result, known=True)
                if objective not in result:
                    raise ValueError(f"the cache file '{path}' has no values of the objective '{objective}'")
            if "__error__" not in result and result[objective] > 0:
                optimizer.tell(asked, float(result[objective]))
            else:
                optimizer.tell(asked, reason="unknown")
            spent += sum(result.get(name) or 0 for name in _TIMES[:3])
            report.entry(result)
            results.append(result)
    return results, {"device_name": found.get("device_name"), "simulation": True, "simulated_time": spent}


def tune_cache(cache_path: str | os.PathLike[str], restrictions: list[Any] | None = None, **kwargs: Any) -> tuple[list[Entry], dict[str, Any]]:
    """A simulated search among the configurations of a cache file that did not fail."""
    found = read_cache(find_cache(cache_path))
    names = found["tune_params_keys"]
    valid = {tuple(entry[name] for name in names) for entry in found["cache"].values() if "__error__" not in entry}
    if restrictions is not None and not isinstance(restrictions, list):
        raise ValueError("restrictions must be a list")
    usual = {"kernel_name": found["kernel_name"], "kernel_source": "", "problem_size": found["problem_size"], "arguments": [],
             "tune_params": found["tune_params"]}
    return tune_kernel(**(usual | kwargs), cache=cache_path, simulation_mode=True,
                       restrictions=[*(restrictions or []), lambda *values: values in valid])
