"""Kernel Tuner's RegisterObserver."""
from . import BenchmarkObserver


class RegisterObserver(BenchmarkObserver):
    instead = "add a metric with the expression \"registers\" to a problem file (see the page 'Objectives')"
