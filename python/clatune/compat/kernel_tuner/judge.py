"""Lets a Python function check the results of configurations: the other end of judge.c."""
from __future__ import annotations

import os
import pathlib
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
MODULE = pathlib.Path(__file__).with_name("judge.c")


class Judge:
    """A context in which worker processes can ask `function`. It gets the arrays of one configuration by name, and returns why they are
    incorrect, or an empty string. An exception counts as incorrect and is kept in `error`."""

    def __init__(self, folder: pathlib.Path, shapes: Mapping[str, npt.NDArray[Any]], function: Callable[[Arrays], str]):
        self._place = os.fspath(folder)
        self._shapes = shapes
        self._function = function
        self.error: BaseException | None = None

    def __enter__(self) -> Judge:
        # A socket's path has at most 107 bytes.
        self._folder = tempfile.TemporaryDirectory(prefix="judge-", dir=self._place if len(os.fsencode(self._place)) < 80 else "/tmp")
        self._path = os.path.join(self._folder.name, "socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self._path)
        self._socket.listen(64)
        self._before = os.environ.get("CLATUNE_JUDGE")
        os.environ["CLATUNE_JUDGE"] = self._path
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()
        self._folder.cleanup()
        if self._before is None:
            os.environ.pop("CLATUNE_JUDGE", None)
        else:
            os.environ["CLATUNE_JUDGE"] = self._before
        if error is None and self.error is not None:
            raise self.error

    def _serve(self) -> None:
        while True:
            try:
                asker, _ = self._socket.accept()
            except OSError:  # it was shut down
                return
            with asker, asker.makefile("rb") as stream:
                arrays: Arrays = {}
                while line := stream.readline().strip():
                    name, n = line.split()
                    like = self._shapes[name.decode()]
                    arrays[name.decode()] = np.frombuffer(stream.read(int(n)), dtype=like.dtype).reshape(like.shape).copy()
                try:
                    why = self._function(arrays)
                except BaseException as error:  # it is raised where the tuning was called
                    self.error = self.error or error
                    why = f"the verify function raised {type(error).__name__}"
                try:
                    asker.sendall(" ".join(why.split()).encode()[:200] + b"\n")
                except OSError:  # the worker's time was up meanwhile
                    pass
