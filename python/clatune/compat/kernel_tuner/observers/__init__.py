"""Kernel Tuner's observers. NVMLObserver is supported; the others raise an exception that says what to use instead."""
from __future__ import annotations

from typing import Any


class BenchmarkObserver:
    """Not available: kernels run in worker processes without Python."""

    instead = "clatune measures time, and energy with objective=\"energy\" or NVMLObserver; compute other values from these in metrics"

    def __init__(self, *arguments: Any, **options: Any):
        refuse(type(self).__name__, self.instead)


class IterationObserver(BenchmarkObserver):
    pass


class ContinuousObserver(BenchmarkObserver):
    pass


class PrologueObserver(BenchmarkObserver):
    pass


class OutputObserver(BenchmarkObserver):
    instead = "check the output with verify=, which takes a Python function"


def refuse(name: str, instead: str) -> None:
    raise NotImplementedError(f"{name} is not supported; {instead}")
