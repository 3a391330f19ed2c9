"""Lets a Python function compute or judge the results of configurations: the other end of judge.c."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import select
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import command
from .generator import Generator, answer

Arrays = dict[str, npt.NDArray[Any]]
#: numpy's types of OpenCL's numbers.
DTYPES = {name: np.dtype(code) for name, code in (("scalar", "f8"), ("half", "f2"), ("float", "f4"), ("double", "f8"), ("char", "i1"), ("uchar", "u1"), ("short", "i2"),
                                                  ("ushort", "u2"), ("int", "i4"), ("uint", "u4"), ("long", "i8"), ("ulong", "u8"))}
WAITING_S = 0.5  #: between two signs of life
MODULE = pathlib.Path(__file__).with_name("judge.c")


class Judge:
    """A context in which worker processes can ask `function`. It gets arrays and scalars by name. A judge returns why the results are
    incorrect, or an empty string; a reference returns the correct results by name. An exception counts as incorrect, and is raised at the
    end. Arrays get the shapes and types of `shapes` where these have as many bytes. `generate` writes the kernel's source."""

    def __init__(self, folder: pathlib.Path, shapes: Mapping[str, npt.NDArray[Any]], function: Callable[[Arrays], Union[str, Arrays]] | None,
                 generate: Generator | None = None):
        self._place = os.path.abspath(folder)  # a worker may run in another folder
        self._shapes = shapes
        self._function = function
        self._generate = generate
        self._turn = threading.Lock()
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
        if self.error is not None and error is not self.error and (error is None or isinstance(error, command.Error)):
            raise self.error from error

    def _serve(self) -> None:
        while True:
            try:
                asker, _ = self._socket.accept()
            except OSError:  # it was shut down
                return
            with asker, asker.makefile("rb") as stream:
                arrays: Arrays = {}
                line = stream.readline().decode().strip()
                if self._generate and line.startswith("{"):
                    threading.Thread(target=self._write_source, args=(self._generate, asker.dup(), line), daemon=True).start()
                    continue
                while line:
                    name, kind, *numbers = line.split()
                    *extent, n = map(int, numbers)
                    arrays[name] = self._array(name, kind, extent, stream.read(n))
                    line = stream.readline().decode().strip()
                try:
                    reply = self._function(arrays) if self._function else ""
                except BaseException as error:  # it is raised where the tuning was called
                    self.error = self.error or error
                    reply = f"the Python function raised {type(error).__name__}"
                try:
                    if isinstance(reply, str):
                        asker.sendall(" ".join(reply.split()).encode()[:200] + b"\n")
                    else:
                        asker.sendall(b"".join(b"%s %d\n%s" % (name.encode(), one.nbytes, one.tobytes()) for name, one in reply.items()) + b"\n")
                except OSError:  # the worker's time was up meanwhile
                    pass

    def _write_source(self, generate: Generator, asker: socket.socket, question: str) -> None:
        """Answers when it is its turn, since functions may not be called side by side. Meanwhile, empty lines keep the worker waiting. A call
        that is still under way when the worker's time is up, and may never return, is left alone."""
        def call() -> None:
            with contextlib.suppress(OSError):
                asker.sendall(answer(generate, question))

        with contextlib.suppress(OSError), asker:
            while not self._turn.acquire(timeout=WAITING_S):
                asker.sendall(b"\n")
            try:
                asker.sendall(b"\n")
                thread = threading.Thread(target=call, daemon=True)
                thread.start()
                while thread.is_alive() and not select.select([asker], [], [], 0)[0]:  # it can only be closed
                    thread.join(0.1)
            finally:
                self._turn.release()

    def _array(self, name: str, kind: str, extent: list[int], content: bytes) -> npt.NDArray[Any]:
        like = self._shapes.get(name)
        if like is not None and (like.nbytes == len(content) or kind == "scalar"):
            array = np.frombuffer(content, np.float64).astype(like.dtype) if kind == "scalar" else np.frombuffer(content, like.dtype)
            return array.reshape(like.shape, order="F" if like.flags.fnc else "C").copy("K")
        base, lanes = re.fullmatch(r"([a-z]+)(\d*)", kind).groups()  # type: ignore[union-attr]
        shape = [n for n in reversed(extent)]
        while len(shape) > 1 and shape[0] == 1:
            del shape[0]
        return np.frombuffer(content, DTYPES[base]).reshape(*shape, *([-1] if lanes else [])).copy()
