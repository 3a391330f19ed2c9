"""Reading and writing the files that a user names."""
from __future__ import annotations

import json
import os
import stat
from typing import Any

from .command import Error

_MOST_BYTES = 1 << 30


class FileError(Error, OSError):
    """A file cannot be read or written. The text names it and the reason."""

    def __init__(self, path: str | os.PathLike[str], what: str, why: str):
        super().__init__(f"cannot {what} '{os.fspath(path)}': {why}")
        self.path = os.fspath(path)


def _reason(error: Exception) -> str:
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error)


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a regular file. FIFOs and devices, which might never end, are refused."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise FileError(path, "read", "not a regular file")
            if info.st_size > _MOST_BYTES:
                raise FileError(path, "read", f"larger than {_MOST_BYTES} bytes")
            return file.read(info.st_size).decode()
    except FileError:
        raise
    except UnicodeDecodeError as error:
        raise FileError(path, "read", "not UTF-8 text") from error
    except (OSError, ValueError) as error:  # ValueError: the path has a zero byte
        raise FileError(path, "read", _reason(error)) from error


def read_json(path: str | os.PathLike[str]) -> Any:
    """The JSON value in a regular file."""
    try:
        return json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FileError(path, "read", f"not JSON: {error}") from error


def write_text(path: str | os.PathLike[str], text: str, mode: str = "w") -> None:
    """Writes a text, or with mode "a" adds it."""
    try:
        with open(path, mode, encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise FileError(path, "write", _reason(error)) from error
