"""clatune from Python: tunes OpenCL kernels. See docs/how-to/python.md."""
from .command import (ClatuneWarning, CommandNotFound, DeviceError, Error, Interrupted, NoValidConfiguration, StoreError, UsageError,
                      VerificationFailed, find_command, run, run_text)
from .files import FileError
from .generator import Invalid
from .optimizer import Failed, Optimizer
from .problem import Argument, In, InOut, Local, Out, Permutation, Problem, Scalar, Space
from .replay import Replay, replay
from .result import Configuration, Launch, Lookup, Result
from .store import Store
from .tuning import devices, export, lookup, measure, tune, verify

__all__ = ["Argument", "ClatuneWarning", "CommandNotFound", "Configuration", "DeviceError", "Error", "Failed", "FileError", "In", "InOut", "Interrupted", "Invalid", "Launch",
           "Local", "Lookup", "NoValidConfiguration", "Optimizer", "Out", "Permutation", "Problem", "Replay", "Result", "Scalar", "Space", "Store", "StoreError",
           "UsageError", "VerificationFailed", "devices", "export", "find_command", "lookup", "measure", "replay", "run", "run_text", "tune", "verify"]
