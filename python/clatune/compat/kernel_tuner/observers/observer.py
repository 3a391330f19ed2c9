"""Kernel Tuner's name for the module of the base classes."""
from . import BenchmarkObserver, ContinuousObserver, IterationObserver, OutputObserver, PrologueObserver

__all__ = ["BenchmarkObserver", "ContinuousObserver", "IterationObserver", "OutputObserver", "PrologueObserver"]
