"""Kernel Tuner's arguments that depend on the configuration. clatune does not have them."""
from __future__ import annotations

from typing import Any

from .observers import OutputObserver


class Tunable:
    """An argument whose array is selected by a parameter."""

    def __init__(self, *arguments: Any, **options: Any):
        raise NotImplementedError(f"{type(self).__name__} is not supported; pass all of the arrays and select one in the kernel with #if, or write a "
                                  "problem file in which the argument has an entry with \"When\" per array (see the page 'The problem file')")


class TunablePrecision(Tunable):
    pass


class AccuracyObserver(OutputObserver):
    pass
