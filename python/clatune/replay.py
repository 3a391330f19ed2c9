"""Judging searchers on recorded spaces, without a device."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import command
from .result import frame


class Replay:
    """The results of a searcher on recordings, compared with the recorded optimum."""

    def __init__(self, answer: Mapping[str, Any]):
        self.json: dict[str, Any] = dict(answer)  #: the whole answer (docs/reference/json.md)

    @property
    def mean(self) -> dict[int, float]:
        """By number of evaluations: optimum / best so far, as the mean over all runs and files."""
        return {int(n): value for n, value in self.json["mean"].items()}

    @property
    def missed(self) -> dict[int, float]:
        """By number of evaluations: the fraction of runs whose best is more than 2 % slower than the optimum."""
        return {int(n): value for n, value in self.json["mean_missed"].items()}

    def rows(self) -> list[dict[str, Any]]:
        """A row per file and number of evaluations."""
        return [{"space": one["space"], "searcher": one["searcher"], "evaluations": int(n), "fraction_of_optimum": value,
                 "percentile_5": one["percentile_5"][n], "standard_error": one["standard_error"][n], "missed": one["missed"][n]}
                for one in self.json["results"] for n, value in one["fraction_of_optimum"].items()]

    def to_frame(self) -> Any:
        """The rows as a pandas.DataFrame."""
        return frame(self.rows())

    def __repr__(self) -> str:
        return "<clatune.Replay: " + ", ".join(f"{value:.3f} after {n}" for n, value in self.mean.items()) + ">"


def replay(recordings: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *, searcher: str | None = None, budget: int | None = None,
           repeat: int | None = None, seed: int | None = None, objective: str | None = None, **options: object) -> Replay:
    """Runs a searcher on recordings: T4 files, Kernel Tuner's cache files, output of CLTune, KTT and CLBlast's tuners.

    repeat   runs per recording, with the seeds `seed`, `seed` + 1, ... (default 20)
    options  any other option of ``clatune replay`` and of the searcher, with ``_`` for ``-``
    """
    files = [recordings] if isinstance(recordings, (str, os.PathLike)) else list(recordings)
    run: dict[str, object] = {"searcher": searcher, "budget": budget, "repeat": repeat, "seed": seed, "objective": objective, **options}
    return Replay(command.run("replay", *files, *command.flags(run)))
