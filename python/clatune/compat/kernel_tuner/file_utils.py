"""Results as files in the T4 format (docs/reference/file-formats.md)."""
from __future__ import annotations

import json
import os
import pathlib
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from ... import command
from ...files import write_text
from .util import CompilationFailedConfig, InvalidConfig, NpEncoder, without_nan

_VERSION = "1.0.0"
_TIMES = {"compilation": "compile_time", "benchmark": "benchmark_time", "framework": "framework_time", "search_algorithm": "strategy_time",
          "validation": "verification_time"}


def _path(name: str | os.PathLike[str]) -> pathlib.Path:
    text = os.fspath(name)
    path = pathlib.Path(text if text.endswith(".json") else text + ".json")
    path.parent.mkdir(exist_ok=True)
    return path


def _invalidity(entry: Mapping[str, Any]) -> str:
    error = entry.get("__error__")
    if error is None:
        return "correct"
    return "compile" if isinstance(error, CompilationFailedConfig) else "constraints" if isinstance(error, InvalidConfig) else "runtime"


def get_t4_results(results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any], objective: str = "time") -> dict[str, Any]:
    """The results of tune_kernel in the T4 format."""
    if not isinstance(objective, str):
        raise ValueError("the T4 format has one objective; give one name")
    left_out = {*tune_params, *_TIMES.values(), "timestamp", "times", "__error__"}
    out = []
    for entry in results:
        times = {name: entry.get(key) or 0 for name, key in _TIMES.items()} | {"runtimes": list(entry.get("times") or [])}
        measurements = [{"name": name, "value": value, "unit": "ms" if name.startswith("time") else ""}
                        for name, value in without_nan(entry).items() if name not in left_out]
        out.append({"timestamp": entry.get("timestamp", ""), "configuration": {name: entry[name] for name in tune_params if name in entry},
                    "times": times, "invalidity": _invalidity(entry), "correctness": 1, "measurements": measurements, "objectives": [objective]})
    return {"results": out, "schema_version": _VERSION, "metadata": {"timeunit": "milliseconds"}}


def store_output_file(output_filename: str | os.PathLike[str], results: Sequence[Mapping[str, Any]], tune_params: Mapping[str, Any],
                      objective: str = "time") -> None:
    """Writes the results of tune_kernel as a T4 file."""
    write_text(_path(output_filename), json.dumps(get_t4_results(results, tune_params, objective), cls=NpEncoder))


def get_t4_metadata() -> dict[str, Any]:
    """The machine and its software in the T4 format."""
    packages = [f"{name}=={metadata.version(name)}" for name in ("clatune", "numpy") if _is_installed(name)]
    return {"metadata": {"operating_system": platform.system(),
                         "hardware": {"hardware_description": command.run("devices")["devices"], "operating_system": platform.platform()},
                         "environment": {"device_query": {}, "requirements": [f"python=={sys.version.split()[0]}", *packages]}},
            "schema_version": _VERSION}


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def store_metadata_file(metadata_filename: str | os.PathLike[str]) -> None:
    """Writes a description of the machine as a T4 metadata file."""
    write_text(_path(metadata_filename), json.dumps(get_t4_metadata(), indent=2))
