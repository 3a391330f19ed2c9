"""Kernel Tuner's TegraObserver."""
from . import BenchmarkObserver


class TegraObserver(BenchmarkObserver):
    instead = "measure energy with objective=\"energy\" if the system has an energy counter (see the page 'Objectives')"
