"""Kernel Tuner's results files, which list the best configurations per device and problem size, and C headers made from them."""
from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...files import read_json, read_text, write_text
from .kernel import looks_like_a_filename
from .util import NpEncoder, get_objective_defaults

_META = ("version_number", "kernel_name", "kernel_string", "objective", "objective_higher_is_better", "tunable_parameters")


def _device_name(name: str) -> str:
    return re.sub("[^0-9a-zA-Z]+", "_", name.strip())


def _size_text(problem_size: Any) -> str:
    if isinstance(problem_size, str):
        return problem_size
    return "x".join(str(one) for one in (problem_size if isinstance(problem_size, (list, tuple)) else (problem_size,)))


def _read(filename: str | os.PathLike[str]) -> dict[str, Any]:
    path = pathlib.Path(filename)
    if not path.is_file():
        raise ValueError(f"the results file '{path}' does not exist")
    found: dict[str, Any] = read_json(path)
    if found.get("version_number") != "1.0":
        raise ValueError(f"'{path}' is not a results file of version 1.0")
    for entry in found["data"]:
        missing = [name for name in ("device_name", "problem_size", "tunable_parameters", found["objective"]) if name not in entry]
        if missing:
            raise ValueError(f"an entry of the results file '{path}' lacks '{missing[0]}'")
    return found


def store_results(results_filename: str | os.PathLike[str], kernel_name: str, kernel_string: Any, tune_params: Mapping[str, Any], problem_size: Any,
                  results: Sequence[Mapping[str, Any]], env: Mapping[str, Any], top: float = 3, objective: str | None = None,
                  objective_higher_is_better: bool | None = None) -> None:
    """Writes the configurations within `top` per cent of the best one to a results file. They replace its entries for this device and
    problem size."""
    objective, higher = get_objective_defaults(objective, objective_higher_is_better)
    good = [entry for entry in results if objective in entry and "__error__" not in entry]
    if not good:
        raise ValueError(f"no result has a value of the objective '{objective}'")
    best = (max if higher else min)(entry[objective] for entry in good)
    margin = abs(best) * top / 100
    good = [entry for entry in good if abs(entry[objective] - best) <= margin]
    if os.path.isfile(results_filename):
        file = _read(results_filename)
        for name, mine in (("kernel_name", kernel_name), ("objective", objective)):
            if file[name] != mine:
                raise ValueError(f"the results file '{os.fspath(results_filename)}' has the {name} '{file[name]}', not '{mine}'; use another file")
        if not set(tune_params) <= set(file["tunable_parameters"]):
            raise ValueError(f"the results file '{os.fspath(results_filename)}' has other tunable parameters; use another file")
    else:
        file = {"version_number": "1.0", "kernel_name": kernel_name, "objective": objective, "objective_higher_is_better": higher,
                "tunable_parameters": list(tune_params), "data": []}
        if isinstance(kernel_string, str) and kernel_string:
            file["kernel_string"] = read_text(kernel_string) if looks_like_a_filename(kernel_string) else kernel_string
    here = {"device_name": _device_name(env["device_name"]), "problem_size": _size_text(problem_size)}
    file["data"] = [entry for entry in file["data"] if any(entry[name] != value for name, value in here.items())]
    file["data"] += [{**here, "tunable_parameters": {name: entry[name] for name in tune_params}, objective: entry[objective]} for entry in good]
    write_text(results_filename, json.dumps(file, cls=NpEncoder, indent=1))


class TuneResults:
    """A results file."""

    def __init__(self, results_filename: str | os.PathLike[str]):
        file = _read(results_filename)
        self.data: list[dict[str, Any]] = file["data"]
        if not self.data:
            raise ValueError(f"the results file '{os.fspath(results_filename)}' is empty")
        self.meta = {name: value for name, value in file.items() if name in _META}
        self.objective: str = file["objective"]
        self.objective_higher_is_better: bool = file.get("objective_higher_is_better", False)

    def get_best_config(self, gpu_name: str = "default", problem_size: Any = None) -> dict[str, Any]:
        """The best parameters on a device at a problem size. If the file has no such entries, the parameters that are listed most
        often."""
        name = _device_name(gpu_name)
        here = [entry for entry in self.data if entry["device_name"] == name]
        exact = [entry for entry in here if problem_size and entry["problem_size"] == _size_text(problem_size)]
        sign = -1 if self.objective_higher_is_better else 1
        if exact:
            return dict(min(exact, key=lambda entry: sign * float(entry[self.objective]))["tunable_parameters"])
        groups: dict[str, list[dict[str, Any]]] = {}
        for entry in here or self.data:
            groups.setdefault(json.dumps(entry["tunable_parameters"]), []).append(entry)
        best = min(groups.values(), key=lambda group: (-len(group), sum(sign * float(entry[self.objective]) for entry in group)))
        return dict(best[0]["tunable_parameters"])


def create_device_targets(header_filename: str | os.PathLike[str], results_filename: str | os.PathLike[str], objective: str | None = None,
                          objective_higher_is_better: bool | None = None) -> None:
    """Writes a C header that defines the parameters for each device of a results file (-DTARGET_NAME), and for other devices."""
    results = TuneResults(results_filename)
    lines = ["/* Best parameters by device, written by clatune. */", "#pragma once", "#ifndef kernel_tuner /* not while tuning */"]
    names = list(dict.fromkeys(entry["device_name"] for entry in results.data))
    for at, name in enumerate(names):
        lines += [f"#{'el' if at else ''}if defined(TARGET_{name})"] + _defines(results.get_best_config(name))
    lines += ["#else"] + _defines(results.get_best_config()) + ["#endif", "#endif"]
    write_text(header_filename, "\n".join(lines) + "\n")


def _defines(parameters: Mapping[str, Any]) -> list[str]:
    return [f"#define {name} {value}" for name, value in parameters.items()]
