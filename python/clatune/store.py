"""The store of measurements."""
from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

from . import command
from .result import Configuration, frame

if TYPE_CHECKING:
    from .tuning import ProblemLike

#: A Store, its path, the URL of a database (postgresql://HOST/DATABASE), or None for the user's store.
StoreLike = Union["Store", str, "os.PathLike[str]", None]


def store_flag(store: StoreLike) -> str | None:
    return store.place if isinstance(store, Store) else None if store is None else os.fspath(store)


class Store:
    """A store of measurements: a file, created with the first measurement, or a database that several machines share."""

    def __init__(self, place: str | os.PathLike[str] | None = None):
        self.place: str = os.fspath(place) if place is not None else command.run("store", "where")["store"]  #: its path or URL

    def _run(self, action: str, *arguments: str, **options: object) -> Any:
        return command.run("store", action, *arguments, *command.flags({"store": self.place, **options}))

    def contents(self) -> list[dict[str, Any]]:
        """An entry per problem, sizes, device and driver, with the number of measurements."""
        found: list[dict[str, Any]] = self._run("list")
        return found

    def best(self, problem: ProblemLike) -> list[Configuration]:
        """The best configuration per device and size, which are in ``one.json["device"]`` and ``one.json["sizes"]``."""
        return [Configuration(one) for one in self._run("show", os.fspath(problem))]

    def measurements(self, *, problem: str | None = None, device: str | None = None) -> list[dict[str, Any]]:
        """All measurements, as dicts with an entry per parameter. `problem` is a name; `device` is a part of the device's name."""
        text = command.run_text("report", self.place, "--csv", "--quiet", *command.flags({"problem": problem, "device": device}))
        return [{name: _number(cell) for name, cell in row.items()} for row in csv.DictReader(text.splitlines())]

    def to_frame(self, *, problem: str | None = None, device: str | None = None) -> Any:
        """The measurements as a pandas.DataFrame."""
        return frame(self.measurements(problem=problem, device=device))

    def merge(self, *stores: StoreLike) -> int:
        """Adds the measurements of other stores that this one lacks; returns their number."""
        return _count(self._run("merge", *(store_flag(store) or "" for store in stores)))

    def read(self, problem: ProblemLike, *recordings: str | os.PathLike[str], **options: object) -> int:
        """Adds recordings of a problem: T4 files, Kernel Tuner's cache files, output of CLTune, KTT and CLBlast's tuners. Returns the number of
        measurements."""
        return _count(self._run("import", *(os.fspath(one) for one in recordings), of=os.fspath(problem), **options))

    def export(self, path: str | os.PathLike[str], **selection: object) -> int:
        """Writes the selected measurements (problem, device, older_than in days) to a new store; returns their number."""
        return _count(self._run("export", output=os.fspath(path), **selection))

    def prune(self, *, dry_run: bool = False, **selection: object) -> int:
        """Deletes the selected measurements permanently; returns their number."""
        return _count(self._run("prune", dry_run=dry_run, **selection))

    def check(self) -> bool:
        """Whether the file is undamaged."""
        try:
            return bool(self._run("check")["whole"])
        except command.StoreError as error:
            if error.result is None:
                raise
            return False

    def repair(self) -> dict[str, Any]:
        """Recovers the readable measurements of a damaged file, and renames the damaged one."""
        answer: dict[str, Any] = self._run("repair")
        return answer

    def __repr__(self) -> str:
        return f"Store({self.place!r})"


def _count(answer: Mapping[str, Any]) -> int:
    return next(int(value) for value in answer.values() if isinstance(value, int))


def _number(cell: str) -> Any:
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell or None
