"""Kernel Tuner's PMTObserver."""
from . import BenchmarkObserver


class PMTObserver(BenchmarkObserver):
    instead = "measure energy with objective=\"energy\" if the system has an energy counter (see the page 'Objectives')"
