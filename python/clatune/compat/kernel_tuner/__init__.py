"""Kernel Tuner's interface: in a script for an OpenCL kernel only the import changes.

    from clatune.compat import kernel_tuner          # in place of: import kernel_tuner
    from clatune.compat.kernel_tuner import tune_kernel

Features that clatune does not have raise NotImplementedError, which says what to use instead. See docs/how-to/from-kernel-tuner.md.
"""
from __future__ import annotations

from typing import Any, NoReturn

from .integration import create_device_targets, store_results
from .interface import run_kernel, tune_cache, tune_kernel

__all__ = ["create_device_targets", "run_kernel", "store_results", "tune_cache", "tune_kernel", "tune_kernel_T1"]


def tune_kernel_T1(*arguments: Any, **options: Any) -> NoReturn:
    """Not available: clatune tunes T1 files directly."""
    raise NotImplementedError("clatune reads T1 files as problem files; use clatune.tune(FILE), or 'clatune tune FILE'")
