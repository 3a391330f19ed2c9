"""Kernel Tuner's NCUObserver."""
from . import BenchmarkObserver


class NCUObserver(BenchmarkObserver):
    instead = "profile the best configuration; clatune.tune() returns its build options"
