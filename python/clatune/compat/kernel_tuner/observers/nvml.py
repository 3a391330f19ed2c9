"""Kernel Tuner's NVMLObserver."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import BenchmarkObserver, refuse

_POWER = ("power_readings", "nvml_power", "nvml_energy")
_OTHERS = ("core_freq", "mem_freq", "temperature", "gr_voltage")
#: The observables that clatune measures if the device has an energy counter, as clatune's expressions.
FORMULAS = {"nvml_energy": "energy_J", "nvml_power": "(energy_J / time_s)"}


class NVMLObserver(BenchmarkObserver):
    """Measures energy and power with the device's energy counter (docs/reference/objectives.md). Other observables are NaN in the
    results.

    `continuous_duration` is the time in seconds over which energy is measured. `device` is ignored, since the GPU is that of the tuning;
    so are the options that set clocks.
    """

    def __init__(self, observables: Sequence[str], device: int | None = None, save_all: bool = False, nvidia_smi_fallback: str | None = None,
                 use_locked_clocks: bool = False, continuous_duration: float = 1):
        for name in observables:
            if name not in _POWER + _OTHERS:
                raise ValueError(f"NVMLObserver: '{name}' is not supported; there are {', '.join(_POWER + _OTHERS)}")
        others = [name for name in observables if name not in _POWER]
        if save_all:
            others += [name + "s" for name in others]
        power = [name for name in observables if name in _POWER]
        #: The keys of the results.
        self.names = power + others + (["pwr_" + name for name in others] if power else [])
        self.duration_s = float(continuous_duration)


class Observed:
    """The values that the observers of a tuning add to its results."""

    def __init__(self, observers: Sequence[Any] | None):
        self.names: list[str] = []
        self.duration_s: float | None = None
        self.why = ""  #: why there is no energy
        for one in observers or []:
            if type(one) is not NVMLObserver:
                refuse(getattr(one, "__name__", type(one).__name__), BenchmarkObserver.instead)
            self.names += one.names
            self.duration_s = max(one.duration_s, self.duration_s or 0)

    def goals(self, goal: object) -> list[object]:
        """Objectives in the order in which to try them: the given one with energy if observers ask for it, then without."""
        if not set(self.names) & set(FORMULAS):
            return [goal]
        text = "minimise time_s" if goal is None else "minimise energy_J" if goal == "energy" else goal
        return [f"{text} + 0 * energy_J", goal]

    def values(self, energy_J: float | None, time_ms: float) -> dict[str, float]:
        """The values for an entry of the results, NaN if not measured."""
        known = {} if energy_J is None else {"nvml_energy": energy_J, "nvml_power": 1000 * energy_J / time_ms}
        return {name: known.get(name, math.nan) for name in self.names}

    def missing(self) -> str:
        """A message about the observables that are not measured; "" if all are."""
        names = [name for name in self.names if self.why or name not in FORMULAS]
        return f"not measured, and NaN: {', '.join(names)}; " + (self.why or "clatune measures only nvml_energy and nvml_power") if names else ""
