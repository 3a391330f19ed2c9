"""Kernel Tuner's PowerSensorObserver."""
from . import BenchmarkObserver


class PowerSensorObserver(BenchmarkObserver):
    instead = "measure energy with objective=\"energy\" if the system has an energy counter (see the page 'Objectives')"
