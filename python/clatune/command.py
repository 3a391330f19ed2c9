"""Finding the command `clatune`, running it, and its failures as exceptions.

The package has no compiled code. It runs the command and reads its JSON. ``clatune.run("space", "my.json")`` runs any command that the
package has no function for.
"""
from __future__ import annotations

import hashlib
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, NoReturn

_OWN = pathlib.Path(__file__).parent / "native" / "bin" / "clatune"  # in the wheel
_SITE = pathlib.Path(__file__).parents[1]  # PREFIX/lib/python3.11/site-packages
_REGISTRY = pathlib.Path("/etc/OpenCL/vendors")


class Error(Exception):
    """The command failed. The text is its message."""

    exit_code: int | None = None

    def __init__(self, message: str, exit_code: int | None = None, result: Any = None):
        super().__init__(message)
        self.exit_code = exit_code
        self.result = result  #: its answer, if it gave one: for example the result of a tuning without a correct configuration


class CommandNotFound(Error):
    """The command `clatune` was not found."""


class UsageError(Error):
    """An option or argument is invalid (exit code 2)."""


class DeviceError(Error):
    """No device matches, or several do (exit code 3)."""


class NoValidConfiguration(Error):
    """No configuration is valid, or none gave a correct result (exit code 4)."""


class VerificationFailed(Error):
    """A configuration's result differs from the reference (exit code 5)."""


class StoreError(Error):
    """The store cannot be used (exit code 6)."""


class Interrupted(KeyboardInterrupt):
    """A tuning was interrupted. Its measurements are stored; the same call continues from there."""

    def __init__(self, result: Any = None):
        super().__init__("interrupted; the same call continues from here")
        self.result = result  #: the result so far, or None


class ClatuneWarning(UserWarning):
    """A warning of the command."""


_BY_EXIT_CODE: Mapping[int, type[Error]] = {2: UsageError, 3: DeviceError, 4: NoValidConfiguration, 5: VerificationFailed,
                                            6: StoreError}


def find_command() -> str:
    """The path of the command: the value of the variable CLATUNE, the command of this package, or the first one on PATH."""
    named = os.environ.get("CLATUNE")
    if named:
        return named
    if _OWN.exists():
        return str(_OWN)
    for folder in os.get_exec_path():
        found = shutil.which("clatune", path=folder)
        if found and not _is_entry_point(found):
            return found
    raise CommandNotFound("the command 'clatune' was not found; install the package with 'pip install clatune', "
                          "put the command on PATH, or set the variable CLATUNE to its path")


def _is_entry_point(path: str) -> bool:
    """Whether the file is the script that starts main() below instead of the program."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!" and b"clatune.command" in file.read(1000)


def _pip_drivers() -> dict[str, str]:
    """OpenCL drivers from PyPI: {name of the .icd file: library}. The loader does not find them, as their .icd files lack the folder or
    name another one."""
    found = {}
    places = [(_SITE / "pyopencl/.libs", _SITE / "pyopencl/.libs")]
    if _SITE.parents[1].name.startswith("lib"):  # installed, not in a source tree
        places.append((_SITE.parents[2] / "etc/OpenCL/vendors", _SITE.parents[2] / "lib"))
    for icds, libraries in places:
        for icd in icds.glob("*.icd"):
            library = libraries / pathlib.PurePath(icd.read_text().strip()).name
            if library.is_file():
                found[icd.name] = str(library)
    return found


def environment() -> dict[str, str]:
    """The command's environment: OCL_ICD_VENDORS, unless it is set, adds drivers from PyPI to the system's."""
    values = dict(os.environ)
    drivers = {} if values.get("OCL_ICD_VENDORS") else _pip_drivers()
    if drivers:
        drivers = {icd.name: icd.read_text() for icd in _REGISTRY.glob("*.icd")} | drivers
        cache = pathlib.Path(values.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        folder = cache / "clatune" / f"drivers-{hashlib.sha256(json.dumps(drivers, sort_keys=True).encode()).hexdigest()[:16]}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, library in drivers.items():
            if not (folder / name).exists():
                partial = folder / f"{name}.{os.getpid()}"
                partial.write_text(library)
                partial.replace(folder / name)
        values["OCL_ICD_VENDORS"] = str(folder)
    return values


def main() -> NoReturn:
    """The program `clatune` of an installed package."""
    try:
        path = find_command()
        os.execve(path, [path, *sys.argv[1:]], environment())
    except (Error, OSError) as error:
        sys.exit(f"clatune: {error}")


def flags(options: Mapping[str, object]) -> list[str]:
    """Options in the form of the command line: ``{"time": "5m", "no_store": True, "learn_from": [a, b]}``. None and False are left out."""
    out: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                out.append(flag)
            elif one is not None and one is not False:
                out.append(f"{flag}={one}")
    return out


def size_flags(sizes: Mapping[str, int] | None) -> list[str]:
    return [f"--size={name}={int(value)}" for name, value in (sizes or {}).items()]


def _callers_level() -> int:
    """The stacklevel with which warnings.warn in message() below names the calling line outside of the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "clatune":
        level, frame = level + 1, frame.f_back
    return level


class Process:
    """A running command: its standard output line by line, and at the end its exit code and messages."""

    def __init__(self, arguments: Sequence[str | os.PathLike[str]], *, stdin: bool = False, cwd: str | os.PathLike[str] | None = None):
        path = find_command()
        try:
            # A separate session, so that Ctrl-C reaches the command only through stop(): a second signal would end it at once.
            self._process = subprocess.Popen([path, *(os.fspath(one) for one in arguments)], stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=cwd, env=environment(), start_new_session=True,
                                             text=True, encoding="utf-8", errors="replace")
        except OSError as error:
            raise CommandNotFound(f"cannot run '{path}': {error.strerror}") from error
        except ValueError as error:  # a zero byte in an argument
            raise UsageError(str(error), 2) from error
        self._said: list[str] = []
        self._reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._reader.start()

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        self._said.extend(self._process.stderr)

    @property
    def stdin(self) -> IO[str]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def stop(self) -> None:
        """Interrupts the command. A tuning then returns its result so far."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Ends the command at once."""
        if self._process.poll() is None:
            self._process.kill()
        self.wait()

    def wait(self) -> int:
        """Waits for the end; returns the exit code."""
        code = self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        return code

    def message(self) -> str:
        """The messages on standard error. Warnings become Python warnings; their details, from the second line on, may explain an error."""
        kept, *records = re.split("^clatune: ", "".join(self._said), flags=re.MULTILINE)
        self._said = []
        for text in records:
            if text.startswith("warning: "):
                warnings.warn(text.removeprefix("warning: ").rstrip(), ClatuneWarning, stacklevel=_callers_level())
                text = text.partition("\n")[2]
            kept += text
        return kept.strip()


def failure(code: int, message: str, result: Any = None) -> Error:
    """The exception for an exit code."""
    if code < 0:
        message = f"the signal {signal.Signals(-code).name} ended clatune" + (f": {message}" if message else "")
    return _BY_EXIT_CODE.get(code, Error)(message or f"clatune ended with the exit code {code}", code, result)


def run_text(*arguments: str | os.PathLike[str], cwd: str | os.PathLike[str] | None = None) -> str:
    """Runs the command and returns its standard output. Raises Error if it fails."""
    process = Process(arguments, cwd=cwd)
    try:
        out = process.stdout.read()
    except KeyboardInterrupt:  # it stores its results first
        process.stop()
        process.wait()
        raise
    except BaseException:
        process.close()
        raise
    code = process.wait()
    message = process.message()
    if code:
        raise failure(code, message, out)
    return out


def run(*arguments: str | os.PathLike[str], cwd: str | os.PathLike[str] | None = None) -> Any:
    """Runs the command with ``--json`` and returns its answer. Raises Error if it fails; the exception's ``result`` is the answer if there
    was one."""
    try:
        return json.loads(run_text(*arguments[:1], "--json", "--quiet", *arguments[1:], cwd=cwd))  # not at the end: arguments after "--" belong to another program
    except Error as error:
        try:
            error.result = json.loads(error.result)
        except (TypeError, ValueError):
            error.result = None
        raise


def events(arguments: Sequence[str | os.PathLike[str]], each: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Runs a tuning, calls `each` with every event (docs/reference/json.md#events), and returns the result. KeyboardInterrupt, also
    from `each`, stops the tuning and becomes Interrupted, with the result so far."""
    process = Process([*arguments, "--events=-", "--quiet"])
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:  # in a thread, since a signal during a read would lose a part of the line
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    result: dict[str, Any] | None = None
    error = ""
    interrupted = ended = False
    try:
        while not ended:
            try:
                line = lines.get()
                ended = line is None
                if line is None:
                    continue
                event = json.loads(line)
                if event["event"] == "finished":
                    result, error = event["result"], event["error"] or ""
                if not interrupted:
                    each(event)
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                process.stop()
    except BaseException:
        process.close()
        raise
    finally:
        reader.join()
    code = process.wait()
    message = process.message() or error
    if interrupted or code in (129, 130, 143):
        raise Interrupted(result)
    if code or result is None:
        raise failure(code, message, result)
    return result
