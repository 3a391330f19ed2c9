"""Kernel Tuner's earlier name for the module of NVMLObserver."""
from .observers.nvml import NVMLObserver

__all__ = ["NVMLObserver"]
