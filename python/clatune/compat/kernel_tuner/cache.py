"""Kernel Tuner's cache files."""
from __future__ import annotations

import json
import numbers
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from ...files import read_text, write_text
from .util import ERROR_NAMES, ErrorConfig, NpEncoder, error_of, without_nan

Entry = dict[str, Any]


def find_cache(name: str | os.PathLike[str]) -> pathlib.Path:
    text = os.fspath(name)
    return pathlib.Path(text if text.endswith(".json") else text + ".json")


def key_of(configuration: Mapping[str, Any], names: Sequence[str]) -> str:
    """The key of a configuration in the file."""
    return ",".join(str(configuration[name]) for name in names)


def read_cache(path: pathlib.Path) -> dict[str, Any]:
    """Reads a cache file, also an incomplete one whose writer was interrupted."""
    text = read_text(path).strip()
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = _read_open(path, text)
    except RecursionError as error:
        raise ValueError(f"'{path}' is not JSON: nested too deeply") from error
    if not isinstance(data, dict) or not isinstance(data.get("cache"), dict):
        raise ValueError(f"'{path}' is not a cache file of Kernel Tuner: it has no \"cache\"")
    for entry in data["cache"].values():
        failed = next((value for value in (entry.get("__error__"), *entry.values()) if value in ERROR_NAMES), None)
        if failed is not None:
            entry["__error__"] = error_of(failed)
    return data


def _read_open(path: pathlib.Path, text: str) -> Any:
    """Reads a file without its closing braces, whose last line may be incomplete."""
    lines = text.split("\n")
    while lines:
        try:
            return json.loads("\n".join(lines).rstrip().rstrip(",") + "}\n}")
        except json.JSONDecodeError:
            lines.pop()
    raise ValueError(f"'{path}' is not JSON")


class CacheFile:
    """A cache file that results are added to. `add` returns after writing."""

    def __init__(self, path: pathlib.Path, header: Mapping[str, Any]):
        self._path = path
        self.entries: dict[str, Entry] = {}
        if path.exists():
            found = read_cache(path)
            _check_same(path, found, header)
            self.entries = found["cache"]
            header = {name: value for name, value in found.items() if name != "cache"}
        self._header = dict(header)
        self._write(closed=False)

    def _write(self, closed: bool) -> None:
        text = json.dumps({**self._header, "cache": {}}, cls=NpEncoder, indent="")[:-len("}\n}")]
        text += ",".join("\n" + _entry_text(key, entry) for key, entry in self.entries.items())
        temporary = self._path.with_name(self._path.name + ".new")
        write_text(temporary, text + ("}\n}" if closed else "," if self.entries else ""))
        temporary.replace(self._path)

    def add(self, key: str, entry: Entry) -> None:
        self.entries[key] = entry
        write_text(self._path, "\n" + _entry_text(key, entry) + ",", "a")

    def close(self, entries: Mapping[str, Entry]) -> None:
        """Rewrites the file with the final entries."""
        self.entries.update(entries)
        self._write(closed=True)


def _entry_text(key: str, entry: Entry) -> str:
    out = {name: str(value) if isinstance(value, ErrorConfig) else value for name, value in without_nan(entry).items()}
    return json.dumps({key: out}, cls=NpEncoder)[1:-1]


def _check_same(path: pathlib.Path, found: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    for name, what in (("device_name", "device"), ("kernel_name", "kernel"), ("problem_size", "problem_size"),
                       ("tune_params_keys", "tunable parameters")):
        there, here = found.get(name), header.get(name)
        if name == "problem_size" and not isinstance(here, str):
            there, here = ([one] if isinstance(one, (numbers.Integral, str)) else list(one or []) for one in (there, here))
        if name in found and there != here and here != "callable":
            raise ValueError(f"the cache file '{path}' has another {what}: {found[name]!r}, not {header.get(name)!r}; use another file")
