"""The results of tuning and looking up."""
from __future__ import annotations

import html
import importlib
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import command
from .files import read_text, write_text
from .problem import Problem, Value


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as a pandas.DataFrame."""
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("to_frame() needs pandas; install it with pip install pandas") from error
    return pandas.DataFrame(list(rows))


def seconds(time_s: float | None) -> str:
    """A time with a fitting unit."""
    if time_s is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if abs(time_s) * factor >= 1:
            return f"{time_s * factor:.4g} {unit}"
    return f"{time_s * 1e9:.4g} ns"


@dataclass(frozen=True)
class Launch:
    """A launch of a kernel: the arguments of clEnqueueNDRangeKernel."""

    kernel: str
    global_size: tuple[int, ...]  # work-items
    local_size: tuple[int, ...] | None  # None: the driver's choice
    repeat: int = 1
    group: int = 0  # consecutive launches with the same number above 0 are repeated together: a b a b


class Configuration(Mapping[str, Value]):
    """A configuration with everything that a program needs to use it. It maps tuning parameters to values: ``best["wg_x"]``."""

    def __init__(self, answer: Mapping[str, Any], value_text: str = ""):
        self.json: dict[str, Any] = dict(answer)  #: the whole answer (docs/reference/json.md)
        self._value_text = value_text
        self._values: dict[str, Value] = dict(answer["configuration"])
        self.options: str = answer.get("options") or ""  #: for clBuildProgram
        time_s = answer["time_s"] if "time_s" in answer else answer.get("expected_time_s")
        self.time_s: float | None = time_s  #: seconds per run; None if not known
        self.launches: tuple[Launch, ...] = tuple(
            Launch(one["kernel"], tuple(one["global"]), tuple(one["local"]) if one["local"] else None, one["repeat"], one["group"])
            for one in answer.get("launches") or ())  #: in order

    def __getitem__(self, name: str) -> Value:
        if name not in self._values and (near := [one for one in self._values if one.startswith(f"{name}_")]):
            raise KeyError(f"there is no parameter '{name}', but {', '.join(near[:3])}; if it is a permutation, "
                           f"Permutation.order('{name}', configuration) gives the order")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def global_size(self) -> tuple[int, ...]:
        """The global size, if there is a single launch."""
        return self._only_launch().global_size

    @property
    def local_size(self) -> tuple[int, ...] | None:
        """The work-group size, if there is a single launch. None: the driver's choice."""
        return self._only_launch().local_size

    def _only_launch(self) -> Launch:
        if len(self.launches) != 1:
            raise ValueError(f"the configuration has {len(self.launches)} launches; use the attribute launches instead")
        return self.launches[0]

    @property
    def text(self) -> str:
        """The configuration as on the command line: ``wg_x=16 wg_y=1``."""
        return configuration_text(self._values)

    def __repr__(self) -> str:
        value = self.json.get("value")  # of an objective that an Optimizer is told
        shown = self._value_text or self.json.get("summary")  # of a member of a front
        if not shown and value not in (None, self.time_s):
            shown = f"{value:.5g}"
        if not shown and self.time_s is not None:
            shown = seconds(self.time_s)
        return f"<{self.text}: {shown}>" if shown else f"<{self.text}>"


def configuration_text(values: Mapping[str, Value]) -> str:
    if not isinstance(values, Mapping):
        raise TypeError(f"a configuration is a dict of values by parameter, not {values!r}")
    return " ".join(f"{name}={int(value) if isinstance(value, bool) else value}" for name, value in values.items())


class Lookup(Configuration):
    """The best known configuration, and its basis."""

    def __init__(self, answer: Mapping[str, Any]):
        super().__init__(answer)
        self.tier: str = answer["tier"]  #: exact, other-driver, prediction, nearest-size, same-architecture or default
        self.stale: bool = answer["stale"]  #: worth tuning again
        self.public: bool = answer["public"]  #: from the public results that clatune is installed with
        self.unconfirmed: bool = answer["unconfirmed"]  #: only one agent of a shared database has measured it
        self.unchecked: bool = answer["unchecked"]  #: no check on other inputs or sizes is known
        self.source: str | None = answer["source"]  #: the kernel's, if a program or function writes it
        self.measured_on: str | None = answer["measured_on"]
        self.measured_at: str | None = answer["measured_at"]  #: the sizes


class Result:
    """The result of a tuning. Notebooks show it as clatune's report."""

    def __init__(self, problem: Problem, answer: Mapping[str, Any], run: Mapping[str, Any]):
        self.problem = problem
        self.json: dict[str, Any] = dict(answer)  #: the whole answer (docs/reference/json.md)
        self._run = dict(run)  # the options that the report needs as well
        self._page: str | None = None

    @property
    def found(self) -> bool:
        """Whether any configuration gave a correct result."""
        return self.json["best"] is not None

    @property
    def best(self) -> Configuration:
        """The winner. Raises NoValidConfiguration if there is none."""
        if self.json["best"] is None:
            raise command.NoValidConfiguration("no configuration gave a correct result", 4, self.json)
        return Configuration(self.json["best"], self._objective_text())

    def _objective_text(self) -> str:
        objective = self.json["objective"]
        if objective["name"] == "time" or objective["value"] is None:
            return ""
        return f"{objective['name']}: {objective['value']:.5g} {objective['unit']}".rstrip()

    @property
    def front(self) -> tuple[Configuration, ...]:
        """Of several objectives: the configurations that no other one dominates, by the first objective; ``json["values"]`` has their values."""
        return tuple(Configuration(one) for one in self.json["front"])

    @property
    def default(self) -> Configuration | None:
        """The default configuration as it was measured; None if it is not valid here."""
        return Configuration(self.json["default"]) if self.json["default"] else None

    @property
    def speedup(self) -> float | None:
        """Over the default configuration."""
        speedup: float | None = self.json["best"] and self.json["best"]["speedup_over_default"]
        return speedup

    @property
    def device(self) -> str | None:
        """The device's name."""
        name: str | None = (self.json["device"] or {}).get("name")
        return name

    @property
    def notes(self) -> list[str]:
        """Sentences that belong to the result, such as about disturbances of the measurements."""
        return list(self.json["notes"])

    @property
    def evaluations(self) -> list[dict[str, Any]]:
        """Each evaluation in its order: configuration, time_s, reason ("none": it was correct), metrics, value, known."""
        return list(self.json.get("results", []))

    def to_frame(self) -> Any:
        """The evaluations as a pandas.DataFrame: a column for each tuning parameter, then time_s, reason, value, known and metrics."""
        return frame([{**one["configuration"], "time_s": one["time_s"], "reason": one["reason"], "value": one["value"], "known": one["known"],
                       **{metric["name"]: metric["value"] for metric in one["metrics"]}} for one in self.evaluations])

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report as a single HTML page, made from the store. With `path` it is also written to that file."""
        if self.json["store"] is None:
            raise command.Error("a report needs stored measurements; tune without no_store")
        if self._page is None:
            with tempfile.TemporaryDirectory(prefix="clatune-") as folder:
                page = pathlib.Path(folder) / "report.html"
                devices = self.json["devices"]
                command.run_text("report", self.problem.path, "--quiet", f"--output={page}", f"--store={self.json['store']}",
                                 *command.flags({"device": devices[0] if devices else None, "objective": self._run.get("objective")}),
                                 *command.size_flags(self.json["sizes"]))
                self._page = read_text(page)
        if path is not None:
            write_text(path, self._page)
        return self._page

    def _rows(self) -> list[tuple[str, str]]:
        """The summary, as pairs of label and text."""
        counts = self.json["evaluations"]
        rows = [("problem", f"{self.json['problem']} on {self.device or 'no device'}")]
        if self.found:
            interval = self.json["best"].get("interval")
            more = f" +- {100 * interval:.{2 if interval < 1 else 3}g} %" if interval is not None else ""
            rows += [("best", self.best.text), ("options", self.best.options), ("time", seconds(self.best.time_s) + more)]
            if self._objective_text():
                rows += [("objective", f"{self.json['objective']['goal']} {self._objective_text()}")]
        else:
            rows += [("best", "none: no configuration gave a correct result")]
        if self.speedup is not None and self.default:
            rows += [("speed-up", f"{self.speedup:.3g} over the default configuration ({seconds(self.default.time_s)})")]
        rows += [("evaluations", f"{counts['total']}: {counts['measured']} measured, {counts['reused']} already known; {counts['correct']} correct")]
        rows += [("failed", f"{n} {reason}") for reason, n in self.json["reasons"].items()]
        return rows + [("note", note) for note in self.notes]

    def __str__(self) -> str:
        return "\n".join(f"{name:<12} {text}" for name, text in self._rows())

    def __repr__(self) -> str:
        return f"<clatune.Result: {self.best!r}>" if self.found else "<clatune.Result: no configuration gave a correct result>"

    def _repr_html_(self) -> str:
        try:
            page = self.report()
        except command.Error:  # nothing is stored, or the problem's folder is gone
            rows = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
                           for name, text in self._rows())
            return f"<table>{rows}</table>"
        return f'<iframe srcdoc="{html.escape(page)}" style="width:100%;height:640px;border:0" sandbox="allow-scripts"></iframe>'
