"""Tuning problems: a space of configurations, a kernel and its arguments."""
from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import math
import os
import pathlib
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from . import command
from .files import FileError, read_json, write_text
from .generator import RELAY, Generator, naming
from .judge import MODULE, Arrays, Judge

Value = Union[bool, int, float, str]
#: A number, or an expression over tuning parameters, sizes and properties of the device (docs/reference/expressions.md).
Expression = Union[int, float, str]
Sizes = Mapping[str, int]
Extent = Union[Expression, Sequence[Expression]]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPES = {"f2": "half", "f4": "float", "f8": "double", "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int",
          "u4": "uint", "i8": "long", "u8": "ulong", "b1": "bool", "c8": "float2", "c16": "double2"}
_DTYPES = {name: np.dtype(code) for code, name in _TYPES.items()}


def _plain(value: Any) -> Any:
    """A value in the types of JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} cannot be written to a problem file; use a finite number")
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return [_plain(one) for one in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if callable(value):
        raise TypeError("a function cannot be written to a problem file; write an expression as text, such as 'a * b <= 512'")
    return value


def _check_name(name: str, what: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name!r} is not a name in C; use letters, digits and '_', and no digit first")
    return name


def _values(name: str, values: Any) -> Any:
    """The values of a tuning parameter in the types of JSON: a list, or an expression."""
    if isinstance(values, str):
        return values
    if not isinstance(values, Iterable) or isinstance(values, (Mapping, Set, bytes)):
        raise TypeError(f"the values of '{name}' must be a list, not {values!r}")
    plain = [_plain(one) for one in values]
    if not plain:
        raise ValueError(f"the tuning parameter '{name}' has no values")
    for one in plain:
        if not isinstance(one, (int, float, str)):
            raise TypeError(f"the values of '{name}' must be numbers, booleans or strings, not {one!r}")
    return plain


def _by_name(entries: Any, what: str) -> None:
    if entries is not None and not isinstance(entries, Mapping):
        raise TypeError(f"{what} must be a dict by name, not {entries!r}")


def _type_of(dtype: npt.DTypeLike) -> str:
    """OpenCL's name of a numpy type. A string that numpy does not know is returned as it is."""
    if isinstance(dtype, str) and dtype not in np.sctypeDict:
        return dtype
    found = np.dtype(dtype)
    name = _TYPES.get(f"{found.kind}{found.itemsize}")
    if name is None:
        raise TypeError(f"numpy's type '{found}' has no counterpart in OpenCL; convert the array, or view its bytes as numpy.uint8")
    return name


class Permutation:
    """A tuning parameter that is an order of up to 100 items: names or numbers. A configuration has the position of each, from 0 on.

    >>> loops = Permutation(["i", "j", "k"])
    >>> Space({"loop": loops}, constraints=["loop_i < loop_j"], default={"loop": ["k", "i", "j"]})
    >>> loops.order("loop", {"loop_i": 1, "loop_j": 2, "loop_k": 0})
    ['k', 'i', 'j']
    """

    def __init__(self, items: Sequence[str | int]):
        self.items: list[str | int] = _plain(list(items))

    def names(self, name: str) -> list[str]:
        """The parameters of a configuration that have the items' positions."""
        return [f"{name}_{item}" for item in self.items]

    def order(self, name: str, configuration: Mapping[str, Any]) -> list[str | int]:
        """The items in the order that a configuration gives them."""
        return sorted(self.items, key=lambda item: int(configuration[f"{name}_{item}"]))


class Space:
    """The configurations to choose from: tuning parameters with their values, and the constraints between them.

    >>> Space({"wg": [32, 64, 128], "ppt": "[2**i for i in range(4)]"}, constraints=["wg * ppt <= 512"], default={"wg": 64})

    parameters   the values of each parameter: a list, or an expression that gives one; or a Permutation
    constraints  expressions that are true for every valid configuration
    default      the configuration that is evaluated first and that speed-ups are relative to; parameters that it leaves out have their
                 first value
    aliases      (when, parameter, value): if the expression `when` is true, a configuration has the same effect as with this value
    """

    def __init__(self, parameters: Mapping[str, Sequence[Value] | npt.NDArray[Any] | str | Permutation], *, constraints: Sequence[str] = (),
                 default: Mapping[str, Value | Sequence[Value]] | None = None, aliases: Sequence[tuple[str, str, Value]] = ()):
        if isinstance(constraints, str) or callable(constraints):
            raise TypeError("the constraints must be a list; write each expression as text, such as ['a * b <= 512']")
        _by_name(parameters, "the tuning parameters")
        if not parameters:
            raise ValueError("a Space needs at least one tuning parameter")
        unknown = set(default or {}) - set(parameters)
        if unknown:
            raise ValueError(f"the default names '{min(unknown)}', which is not a tuning parameter; there are {', '.join(parameters)}")
        entries = []
        for name, values in parameters.items():
            entry: dict[str, Any] = {"Name": _check_name(name, "the tuning parameter")}
            if isinstance(values, Permutation):
                entry["Type"] = "permutation"
                values = values.items
            plain = _values(name, values)
            if isinstance(plain, list) and all(isinstance(one, bool) for one in plain):
                entry["Type"] = "bool"
                plain = [int(one) for one in plain]
            entry["Values"] = plain
            if default and name in default:
                entry["Default"] = _plain(default[name])
            entries.append(entry)
        self._json: dict[str, Any] = {"TuningParameters": entries}
        if constraints:
            self._json["Conditions"] = [{"Expression": str(_plain(one))} for one in constraints]
        if aliases:
            self._json["Aliases"] = [{"When": when, "Parameter": name, "Value": _plain(value)} for when, name, value in aliases]

    @classmethod
    def from_json(cls, section: Mapping[str, Any]) -> Space:
        """Makes a space from the section ConfigurationSpace of a problem file."""
        space = cls.__new__(cls)
        space._json = json.loads(json.dumps(section))
        return space

    def to_json(self) -> dict[str, Any]:
        """The section ConfigurationSpace of a problem file."""
        copy: dict[str, Any] = json.loads(json.dumps(self._json))
        return copy

    @property
    def names(self) -> list[str]:
        """The names of the tuning parameters, in order; for a permutation, those of its items' positions."""
        return [name for entry in self._json["TuningParameters"]
                for name in (Permutation(entry["Values"]).names(entry["Name"]) if entry.get("Type") == "permutation" and isinstance(entry["Values"], list) else [entry["Name"]])]

    def count(self, *, device: str | None = None, sizes: Sizes | None = None) -> int:
        """The number of valid configurations: those that satisfy the constraints and, with `device`, its limits."""
        with tempfile.TemporaryDirectory(prefix="clatune-") as folder:
            path = pathlib.Path(folder) / "space.json"
            path.write_text(json.dumps({"ProblemParameters": _size_entries(sizes), "ConfigurationSpace": self._json,
                                        "KernelSpecification": {"Language": "CUDA", "KernelFile": "-", "KernelName": "-"}}))  # only the constraints are read
            with _explaining(lambda message: _without_place(path, message)):
                answer = command.run("space", path, *command.flags({"device": device}))
            return int(answer["valid"])

    def __repr__(self) -> str:
        return f"Space({', '.join(self.names)})"


def _size_entries(sizes: Sizes | None, fixed: bool = False, source: str = "") -> list[dict[str, Any]]:
    """A name that the source declares itself, as an argument or a variable, does not become a macro."""
    _by_name(sizes, "the sizes")
    for name, value in (sizes or {}).items():
        if not isinstance(value, (int, float, np.number)) or value != int(value):
            raise TypeError(f"the size '{name}' must be a whole number, not {value!r}; what depends on parameters is an expression in an argument")
    return [{"Name": _check_name(name, "the size"), "Default": int(value), **({"Min": int(value), "Max": int(value)} if fixed else {}),
             **({"Macro": False} if re.search(rf"(?!return)\b[A-Za-z_]\w*[ *]+{name}\s*[,);=[]", source) else {})}
            for name, value in (sizes or {}).items()]


class Argument:
    """An argument of a kernel: its entry in the problem file (docs/reference/problem-file.md#arguments), and its content.

    In, Out, InOut, Local and Scalar make the usual ones. `entry` may have all keys of the problem file, for example for an image:
    ``Argument({"Type": "float", "MemoryType": "Image2D", "Size": ["width", "height"], "FillType": "Random", "FillValue": 1})``.
    """

    def __init__(self, entry: Mapping[str, Any], data: npt.NDArray[Any] | None = None):
        self.entry = dict(_plain(entry))
        self.data = data


def _vector(data: npt.ArrayLike | None, shape: Sequence[int], dtype: npt.DTypeLike, access: str, more: Mapping[str, Any]) -> Argument:
    if 0 in shape:
        raise ValueError("an argument needs at least one element")
    extent = list(reversed(shape)) if 1 <= len(shape) <= 3 else [math.prod(shape)]
    entry: dict[str, Any] = {"Type": _type_of(dtype), "MemoryType": "Vector", "AccessType": access, "Size": extent}
    entry.update({key: value for key, value in more.items() if value is not None})
    return Argument(entry, None if data is None else np.asarray(data))


def In(array: npt.ArrayLike, *, constant: bool = False) -> Argument:
    """A buffer that the kernel only reads. `constant` puts it into constant memory."""
    data = np.asarray(array)
    return _vector(data, data.shape, data.dtype, "ReadOnly", {"MemType": "Constant" if constant else None})


def InOut(array: npt.ArrayLike, *, verify: bool = True, rtol: float | None = None, atol: float | None = None) -> Argument:
    """A buffer that the kernel reads and writes. Each run starts with the original content; the array itself is never changed."""
    data = np.asarray(array)
    return _vector(data, data.shape, data.dtype, "ReadWrite", {"Output": None if verify else 0, "RelativeTolerance": rtol, "AbsoluteTolerance": atol})


def Out(like: npt.NDArray[Any] | int | Sequence[int], dtype: npt.DTypeLike | None = None, *, verify: bool = True, rtol: float | None = None,
        atol: float | None = None) -> Argument:
    """A buffer that the kernel only writes: a shape with a type, or an array of that shape and type, whose content is not used."""
    if isinstance(like, np.ndarray):
        shape: Sequence[int] = like.shape
        dtype = like.dtype if dtype is None else dtype
    else:
        shape = [int(like)] if isinstance(like, (int, np.integer)) else list(like)
    if dtype is None:
        raise TypeError("Out needs a type with the shape, such as Out(n, numpy.float32), or an array")
    return _vector(None, shape, dtype, "WriteOnly", {"Output": None if verify else 0, "RelativeTolerance": rtol, "AbsoluteTolerance": atol})


def Local(size: Expression, dtype: npt.DTypeLike = np.float32) -> Argument:
    """Local memory of `size` elements: a number, or an expression over tuning parameters and sizes."""
    return Argument({"Type": _type_of(dtype), "MemoryType": "Local", "Size": size})


def Scalar(value: Expression, dtype: npt.DTypeLike) -> Argument:
    """A number that is passed by value: a constant, or an expression over tuning parameters and sizes. ``numpy.int32(5)`` is the same as
    ``Scalar(5, "int")``."""
    return Argument({"Type": _type_of(dtype), "MemoryType": "Scalar", "FillType": "Constant", "FillValue": value})


#: An argument. An array is taken as InOut, a numpy scalar as Scalar, and a mapping as an entry of the problem file.
ArgumentLike = Union[Argument, npt.NDArray[Any], "np.generic", Mapping[str, Any]]
Arguments = Union[Mapping[str, ArgumentLike], Sequence[ArgumentLike]]
ExpectedArrays = Union[Mapping[str, npt.ArrayLike], Sequence[Union[npt.ArrayLike, None]]]
Expected = Union[ExpectedArrays, Callable[..., Any]]


def _argument(name: str, value: ArgumentLike) -> Argument:
    if isinstance(value, Argument):
        return value
    if isinstance(value, np.ndarray):
        return InOut(value)
    if isinstance(value, np.generic):
        return Scalar(value.item(), value.dtype)
    if isinstance(value, Mapping):
        return Argument(value)
    hint = f"write numpy.int32({value!r})" if isinstance(value, int) else f"write numpy.float32({value!r})" if isinstance(value, float) else \
        "an argument is a numpy array, a numpy scalar, or In, Out, InOut, Local, Scalar or Argument"
    raise TypeError(f"argument '{name}' is of the type '{type(value).__name__}', which has no counterpart in OpenCL; {hint}")


def _write_array(folder: pathlib.Path, name: str, array: npt.NDArray[Any]) -> str:
    native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
    (folder / name).write_bytes(native.tobytes())
    return name


def _merge(into: dict[str, Any], more: Mapping[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, Mapping) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = _plain(value)


class Problem:
    """A kernel to tune, written as a problem file to a folder: a temporary one, which is deleted with the object, or `folder`, where
    KERNEL.json and its data files are replaced.

    source            the kernel's text, or the path of its file (a pathlib.Path, or a str that ends in ``.cl``); or a function of the
                      configuration (a dict), and of the sizes if it takes two arguments, that returns the text, or a dict with "source" and
                      perhaps "global", "local", "options", "kernel". It raises clatune.Invalid if there is no kernel for a configuration
    kernel            the name of the kernel (default, for a function only: that of the only kernel in the source)
    space             a Space, or its parameters
    arguments         in the kernel's order, by name or as a list: numpy arrays and scalars, In, Out, InOut, Local, Scalar, Argument
    global_size       the number of work-items, as expressions: ``("width", "height")``
    local_size        the size of a work-group (default: ``block_size_x/y/z`` if these are tuning parameters, otherwise the driver's choice)
    sizes             problem parameters for expressions and the kernel: ``{"width": 1024}``
    answer            the correct results, by argument name or as a list with None for arguments that are not compared; or a function of the
                      arguments and sizes that it names, which returns them by name, or the only one. Checks then use other inputs, too
    reference         the section Reference of a problem file, for example a simple kernel: ``{"KernelName": "naive", "GlobalSize": ["n"]}``
                      (default without `answer`: the result of the default configuration is taken as correct)
    compiler_options  ``["-cl-mad-enable", {"Option": "-DFAST", "When": "wg > 32"}]``
    include_paths     folders of included files
    name              the problem's name in the store (default: the kernel's name)
    more              further sections of the problem file (docs/reference/problem-file.md): ``{"Timing": {"Cache": "cold"}}``
    """

    def __init__(self, source: str | os.PathLike[str] | Generator, kernel: str | None = None, *, space: Space | Mapping[str, Any], arguments: Arguments,
                 global_size: Extent | None = None, local_size: Extent | None = None, sizes: Sizes | None = None,
                 answer: Expected | None = None, reference: Mapping[str, Any] | None = None,
                 compiler_options: Sequence[str | Mapping[str, Any]] = (), include_paths: Sequence[str | os.PathLike[str]] = (),
                 name: str | None = None, more: Mapping[str, Any] | None = None, folder: str | os.PathLike[str] | None = None):
        if kernel is None and not callable(source):
            raise TypeError("the kernel's name is missing")
        kernel, is_named = kernel or _NAME.search(getattr(source, "__name__", "kernel"))[0], kernel is not None  # type: ignore[index]
        at = pathlib.Path(tempfile.mkdtemp(prefix="clatune-") if folder is None else folder)
        at.mkdir(parents=True, exist_ok=True)
        if folder is None:
            weakref.finalize(self, shutil.rmtree, at, ignore_errors=True)
        listed = arguments if isinstance(arguments, Mapping) else {f"arg{i}": one for i, one in enumerate(arguments)}
        named = {name: _argument(name, value) for name, value in listed.items()}
        has_data = any(one.data is not None for one in named.values())  # data from arrays fits one size only
        self.space = space if isinstance(space, Space) else Space(space)
        self.generate: Generator | None = None  #: writes the source
        if callable(source):
            self.generate = source if is_named else naming(source)
        self._likes: dict[str, npt.NDArray[Any]] = {}
        specification: dict[str, Any] = {
            "Language": "OpenCL", "KernelName": _check_name(kernel, "the kernel") if is_named else None, **_write_kernel(at, source, kernel),
            "CompilerOptions": _plain(list(compiler_options)),
            "IncludePaths": [os.path.abspath(one) for one in include_paths],
            "GlobalSize": _extent(global_size), "LocalSize": _extent(local_size),
            "Arguments": [_write_argument(at, name, one) for name, one in named.items()],
        }
        document: dict[str, Any] = {"General": {"BenchmarkName": name or kernel}, "ProblemParameters": _size_entries(sizes, has_data, "" if self.generate else
                                                                             (at / specification["KernelFile"]).read_text(encoding="utf-8", errors="replace")),
                                    "ConfigurationSpace": self.space.to_json(),
                                    "KernelSpecification": {key: value for key, value in specification.items() if value not in (None, [])}}
        self._answer: Callable[[Arrays], Arrays] | None = None
        if callable(answer):
            if reference is not None:
                raise TypeError("give either an answer or a reference")
            self._answer = _answer_function(answer, specification["Arguments"])
            self._likes |= {name: np.asarray(one.data, order="C") for name, one in named.items() if one.data is not None}
            self._likes |= {one["Name"]: np.zeros((), _DTYPES[one["Type"]]) for one in specification["Arguments"]
                            if one.get("MemoryType") == "Scalar" and one.get("Type") in _DTYPES}
            self._likes |= {name: np.zeros((), np.int64) for name in sizes or {}}
            # Another function is another problem to the store.
            write_text(at / "answer.c", f"/* {_digest(answer)} */\n" + MODULE.read_text(encoding="utf-8"))
            document["Reference"] = {"Module": "answer.c", "Function": "answer"}
        elif answer is not None:
            document["ReferenceArguments"] = _write_answer(at, answer, specification["Arguments"])
        if reference is not None:
            document["Reference"] = _plain(reference)
        _merge(document, more or {})
        self._is_written = True  # not by the user
        self.document = document  #: the problem file's content
        self.path = at / f"{kernel}.json"  #: the problem file
        write_text(self.path, json.dumps(document, indent=2, allow_nan=False) + "\n")

    def answering(self) -> Judge | contextlib.AbstractContextManager[None]:
        """A context in which workers can ask the functions that are the answer and that write the source."""
        asked = self._answer or self.generate
        return Judge(self.path.parent, self._likes, self._answer, self.generate) if asked else contextlib.nullcontext()

    def explain(self, message: str) -> str:
        """A message of the command about this problem, without the place in a file that its user has not written."""
        return _without_place(self.path, message) if self._is_written else message

    def explaining(self) -> contextlib.AbstractContextManager[None]:
        """A context that explains the command's errors."""
        return _explaining(self.explain)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Reads an existing problem file."""
        problem = cls.__new__(cls)
        problem._is_written, problem._answer, problem.generate = False, None, None
        problem.path = pathlib.Path(path)
        problem.document = read_json(problem.path)
        if not isinstance(problem.document, dict):
            raise FileError(path, "read", "not a problem file, which is a JSON object")
        problem.space = Space.from_json(problem.document.get("ConfigurationSpace", {"TuningParameters": []}))
        return problem

    @property
    def name(self) -> str:
        """The name of the problem."""
        return str(self.document.get("General", {}).get("BenchmarkName", self.path.stem))

    def count(self, *, device: str | None = None, sizes: Sizes | None = None) -> int:
        """The number of valid configurations: those that satisfy the constraints and, with `device`, its limits."""
        with self.explaining():
            answer = command.run("space", self.path, *command.flags({"device": device}), *command.size_flags(sizes))
        return int(answer["valid"])

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"Problem({self.name!r}, {os.fspath(self.path)!r})"


def _without_place(path: pathlib.Path, message: str) -> str:
    message = re.sub(rf"{re.escape(os.fspath(path))}(:\d+)?: ([\w.\[\]]+: )?", "", message)
    return re.sub(r'write "Type": "(\w+)"', lambda found: f"convert it with astype(numpy.{_DTYPES[found[1]]})" if found[1] in _DTYPES else found[0], message)


@contextlib.contextmanager
def _explaining(explain: Callable[[str], str]) -> Iterator[None]:
    try:
        yield
    except command.Error as error:
        error.args = (explain(str(error)),)
        raise


def _extent(extent: Extent | None) -> list[Expression] | None:
    if extent is None:
        return None
    return [_plain(one) for one in ([extent] if isinstance(extent, (int, float, str, np.generic)) or callable(extent) else extent)]


def _write_kernel(folder: pathlib.Path, source: str | os.PathLike[str] | Generator, kernel: str) -> dict[str, Any]:
    """The kernel's source in the problem file. A given file is not copied, since it may include others by relative paths."""
    if callable(source):
        write_text(folder / "generate.py", RELAY)
        # Another function is another problem to the store.
        return {"Generator": {"Command": ["python3", "-IS", "generate.py"], "Persistent": True, "Version": _digest(source)}}
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"the kernel's source must be text, a path or a function, not {source!r}")
    if not isinstance(source, str) or (source.endswith(".cl") and "\n" not in source):
        path = pathlib.Path(source)
        if not path.is_file():
            raise FileNotFoundError(f"the kernel file '{path}' does not exist")
        return {"KernelFile": os.path.abspath(path)}
    write_text(folder / f"{kernel}.cl", source)
    return {"KernelFile": f"{kernel}.cl"}


def _write_argument(folder: pathlib.Path, name: str, argument: Argument) -> dict[str, Any]:
    entry = {"Name": _check_name(name, "the argument"), **argument.entry}
    if argument.data is not None:
        entry.update({"FillType": "BinaryRaw", "DataSource": _write_array(folder, f"{name}.bin", argument.data)})
    return entry


def _names(code: Any) -> set[str]:
    """The names that a function's code, with the functions in it, looks up."""
    return set(getattr(code, "co_names", ())).union(*(_names(one) for one in getattr(code, "co_consts", ()) if hasattr(one, "co_names")))


def _digest(function: Callable[..., Any], seen: tuple[Any, ...] = ()) -> str:
    """Of its text, and of what tells it from others with the same text: two in one line, other values around them, other functions and
    numbers of its module that it uses."""
    code = getattr(function, "__code__", None)
    around = [one.cell_contents for one in getattr(function, "__closure__", None) or ()]
    text = repr([getattr(code, "co_code", None), [one for one in (*getattr(code, "co_consts", ()), *around) if isinstance(one, (int, float, str))]])
    with contextlib.suppress(OSError, TypeError):  # typed in, or built in
        text += inspect.getsource(function)
    for name in sorted(_names(code)):
        used = getattr(function, "__globals__", {}).get(name)
        if isinstance(used, (int, float, str)):
            text += repr(used)
        elif inspect.isfunction(used) and used.__module__ == function.__module__ and used is not function and used not in seen:
            text += _digest(used, (*seen, function))
    return hashlib.sha256(text.encode()).hexdigest()


def _answer_function(answer: Callable[..., Any], entries: Sequence[Mapping[str, Any]]) -> Callable[[Arrays], Arrays]:
    """The user's function as the reference of a Judge."""
    outputs = {str(one["Name"]): _DTYPES.get(str(one["Type"])) for one in entries
               if one.get("MemoryType") not in ("Scalar", "Local", "Sampler") and one.get("AccessType", "ReadWrite") != "ReadOnly" and one.get("Output", 1)}
    wanted = inspect.signature(answer).parameters
    takes_all = any(one.kind is one.VAR_KEYWORD for one in wanted.values())

    def compute(arrays: Arrays) -> Arrays:
        missing = [name for name, one in wanted.items() if name not in arrays and one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
        if missing:
            raise TypeError(f"the answer's function takes '{missing[0]}', which is neither an argument nor a size; there are {', '.join(arrays)}")
        found = answer(**{name: one if one.shape else one[()] for name, one in arrays.items() if takes_all or name in wanted})
        if not isinstance(found, Mapping) and len(outputs) == 1:
            found = {next(iter(outputs)): found}
        lacking = [name for name in outputs if not isinstance(found, Mapping) or name not in found]
        if lacking:
            raise ValueError(f"the answer's function must return a dict with '{lacking[0]}'; if it is not compared, use verify=False for that argument")
        results = {name: np.ascontiguousarray(found[name], outputs[name] or arrays[name].dtype) for name in outputs}
        for name, one in results.items():
            if one.nbytes != arrays[name].nbytes:
                raise ValueError(f"the answer's function returned {one.size} elements for '{name}', which has {arrays[name].size}")
        return results

    return compute


def _write_answer(folder: pathlib.Path, answer: ExpectedArrays, entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    names = [entry["Name"] for entry in entries]
    if not isinstance(answer, Mapping):
        if len(answer) != len(names):
            raise ValueError(f"the answer has {len(answer)} entries, but the kernel has {len(names)} arguments; give None for arguments that are not compared")
        answer = {name: one for name, one in zip(names, answer) if one is not None}
    out = []
    for name, expected in answer.items():
        entry = next((entry for entry in entries if entry["Name"] == name), None)
        if entry is None:
            raise ValueError(f"the answer names '{name}', which is not an argument; there are {', '.join(names)}")
        array = np.asarray(expected)
        dtype = _DTYPES.get(str(entry.get("Type")), array.dtype)
        if not np.can_cast(array.dtype, dtype, "same_kind"):
            raise TypeError(f"the answer for '{name}' is of the type '{array.dtype}', but the argument is of the type '{dtype}'")
        array, extent = array.astype(dtype), entry.get("Size")
        if isinstance(extent, list) and all(isinstance(one, int) for one in extent) and array.size != math.prod(extent):
            raise ValueError(f"the answer for '{name}' has {array.size} elements, but the argument has {math.prod(extent)}")
        out.append({"Name": f"{name}_expected", "TargetName": name, "FillType": "BinaryRaw",
                    "DataSource": _write_array(folder, f"{name}.expected.bin", array)})
    return out
