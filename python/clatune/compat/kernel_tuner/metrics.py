"""User-defined metrics, and objectives made of them."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .kernel import _replace

Metrics = Mapping[str, Any]
_NOT_MEASURED = ("'{name}', which is not measured; there are the tuning parameters, 'time' (ms), 'times', the metrics above, and with "
                 "objective=\"energy\" 'energy' (J)")


def process_metrics(params: dict[str, Any], metrics: Metrics | None) -> dict[str, Any]:
    """Adds the metrics to an entry of the results. A metric is an expression over parameters and results, or a function of the entry."""
    for name, metric in (metrics or {}).items():
        try:
            params[name] = _value(metric, params)
        except (KeyError, NameError) as error:
            missing = error.args[0] if isinstance(error, KeyError) else error.name
            raise NotImplementedError(f"the metric '{name}' reads " + _NOT_MEASURED.format(name=missing)) from error
    return params


def _value(metric: Any, params: Mapping[str, Any]) -> Any:
    if callable(metric):
        return metric(params)
    if not isinstance(metric, str):
        raise ValueError("a metric must be a string or a function")
    return eval(_replace(metric, params), {"math": math, "np": np, "numpy": np, "nan": math.nan, "inf": math.inf})


class _Formula:
    """A value that is not known yet. Operators on it return expressions."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _join(self, operator: str, other: Any, swapped: bool = False) -> _Formula:
        if not isinstance(other, (_Formula, bool, int, float, np.generic)):
            raise TypeError(f"it combines a measured value with '{type(other).__name__}' by '{operator}'")
        texts = [self.text, other.text if isinstance(other, _Formula) else repr(other.item() if isinstance(other, np.generic) else other)]
        return _Formula(f"({texts[swapped]} {operator} {texts[not swapped]})")

    def __add__(self, other: Any) -> _Formula:
        return self._join("+", other)

    def __radd__(self, other: Any) -> _Formula:
        return self._join("+", other, True)

    def __sub__(self, other: Any) -> _Formula:
        return self._join("-", other)

    def __rsub__(self, other: Any) -> _Formula:
        return self._join("-", other, True)

    def __mul__(self, other: Any) -> _Formula:
        return self._join("*", other)

    def __rmul__(self, other: Any) -> _Formula:
        return self._join("*", other, True)

    def __truediv__(self, other: Any) -> _Formula:
        return self._join("/", other)

    def __rtruediv__(self, other: Any) -> _Formula:
        return self._join("/", other, True)

    def __floordiv__(self, other: Any) -> _Formula:
        return self._join("//", other)

    def __rfloordiv__(self, other: Any) -> _Formula:
        return self._join("//", other, True)

    def __pow__(self, other: Any) -> _Formula:
        return self._join("**", other)

    def __rpow__(self, other: Any) -> _Formula:
        return self._join("**", other, True)

    def __neg__(self) -> _Formula:
        return _Formula(f"(-{self.text})")

    def sqrt(self) -> _Formula:  # numpy.sqrt calls these
        return _Formula(f"sqrt({self.text})")

    def log(self) -> _Formula:
        return _Formula(f"log({self.text})")

    def log2(self) -> _Formula:
        return _Formula(f"log2({self.text})")

    def log10(self) -> _Formula:
        return _Formula(f"log10({self.text})")

    def __bool__(self) -> bool:
        raise TypeError("it decides on a measured value")

    def __float__(self) -> float:
        raise TypeError("it calls a function outside of numpy on a measured value")


def objective_text(objective: str, higher_is_better: bool, metrics: Metrics | None, parameters: Sequence[str],
                   observed: Mapping[str, str] | None = None) -> str:
    """The objective in the form of clatune's option. `observed`: the formulas of the observers' values."""
    goal = "maximise" if higher_is_better else "minimise"
    known: dict[str, Any] = {name: _Formula(name) for name in parameters}
    known |= {"time": _Formula("(time_s * 1000)"), "energy": _Formula("energy_J")}
    known |= {name: _Formula(text) for name, text in (observed or {}).items()}
    for name, metric in (metrics or {}).items():
        if objective in known:
            break
        try:
            found = metric(known) if callable(metric) else _Formula(f"({_replace(metric, known)})")
            known[name] = found if isinstance(found, _Formula) else _Formula(repr(float(found)))
        except (TypeError, ValueError, LookupError, AttributeError, NameError, SyntaxError) as error:
            if name == objective:
                raise NotImplementedError(
                    f"the objective '{objective}' cannot be written as a formula of time and parameters ({error}), which all strategies but "
                    "brute_force need; write the metric as a string, such as \"2e-9 * n / time\"") from error
    if objective not in known:
        raise NotImplementedError(f"the objective is " + _NOT_MEASURED.format(name=objective))
    return f"{goal} {known[objective].text}"


def check_metrics(metrics: Any) -> None:
    """Raises ValueError unless metrics is None or a dict of strings and functions."""
    if metrics is None:
        return
    if not isinstance(metrics, Mapping):
        raise ValueError("metrics must be a dict")
    for name, metric in metrics.items():
        if not isinstance(metric, str) and not callable(metric):
            raise ValueError(f"the metric '{name}' must be a string or a function, not of the type '{type(metric).__name__}'")
