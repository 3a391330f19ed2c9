"""Kernel Tuner's helpers that scripts use, and its values for failed configurations."""
from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

default_block_size_names = ["block_size_x", "block_size_y", "block_size_z"]


class ErrorConfig(str):
    """Why a configuration failed: the value of ``__error__`` in its entry of the results."""

    def __str__(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return type(self).__name__


class InvalidConfig(ErrorConfig):
    """The configuration exceeds a limit of the device."""


class CompilationFailedConfig(ErrorConfig):
    """The configuration could not be built."""


class RuntimeFailedConfig(ErrorConfig):
    """The configuration failed at run time, or its result was incorrect."""


_ERRORS = {one.__name__: one for one in (ErrorConfig, InvalidConfig, CompilationFailedConfig, RuntimeFailedConfig)}

ERROR_NAMES = list(_ERRORS)


def error_of(name: str) -> ErrorConfig:
    """The object for the name of a failure in a cache file."""
    return _ERRORS.get(name, RuntimeFailedConfig)(name)


class NpEncoder(json.JSONEncoder):
    """JSON of results with numbers and arrays of numpy."""

    def default(self, o: Any) -> Any:
        return o.tolist() if isinstance(o, (np.generic, np.ndarray)) else super().default(o)


def without_nan(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of the results without NaN, which JSON does not have."""
    return {name: value for name, value in entry.items() if not (isinstance(value, float) and math.isnan(value))}


def get_config_string(params: Mapping[str, Any], keys: Iterable[str] | None = None, units: Mapping[str, str] | None = None) -> str:
    """A configuration, or an entry of the results, on one line."""
    wanted = list(keys) if keys else list(params)
    texts = []
    for name, value in params.items():
        if name in wanted:
            unit = (units or {}).get(name, "") if not isinstance(value, ErrorConfig) else ""
            texts.append(f"{name}={value:.3f}{unit}" if isinstance(value, float) else f"{name}={value}{unit}")
    return ", ".join(texts)


def get_instance_string(params: Mapping[str, Any]) -> str:
    """The values of a configuration with underscores between them."""
    return "_".join(str(value) for value in params.values())


#: Whether more is better, for the objectives that have a default.
objective_default_map = {"time": False, "energy": False, "cost": False, "loss": False, "fitness": True, "GFLOP/s": True, "TFLOP/s": True,
                         "GB/s": True, "TB/s": True, "GFLOPS/W": True, "TFLOPS/W": True, "GFLOP/J": True, "TFLOP/J": True}


def get_objective_defaults(objective: str | None, objective_higher_is_better: bool | None) -> tuple[str, bool]:
    """The objective, and whether more of it is better."""
    objective = objective or "time"
    if objective_higher_is_better is None:
        if objective not in objective_default_map:
            raise ValueError(f"the objective '{objective}' has no default direction; give objective_higher_is_better=True or False")
        objective_higher_is_better = objective_default_map[objective]
    return objective, objective_higher_is_better


def get_best_config(results: Sequence[dict[str, Any]], objective: str, objective_higher_is_better: bool = False) -> dict[str, Any]:
    """The entry of the results with the best value of the objective."""
    worst = -sys.float_info.max if objective_higher_is_better else sys.float_info.max

    def value_of(entry: dict[str, Any]) -> float:
        value = worst if "__error__" in entry else float(entry.get(objective, worst))
        return worst if math.isnan(value) else value

    return (max if objective_higher_is_better else min)(results, key=value_of)
