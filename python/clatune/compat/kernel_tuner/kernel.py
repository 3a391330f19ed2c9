"""Turns a call of Kernel Tuner into a problem of clatune."""
from __future__ import annotations

import math
import os
import pathlib
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from ...files import read_text
from ...judge import MODULE
from ...problem import Argument, Problem, Space, _type_of
from .tables import Parameters, expression, of_dict, plain, tabulate
from .util import default_block_size_names

Source = Union[str, os.PathLike[str], Callable[..., Any]]
RTOL = 1e-5  # of numpy.allclose, which Kernel Tuner compares with

_LANGUAGES = {"CUDA": "a CUDA kernel", "CUPY": "a CUDA kernel", "NVCUDA": "a CUDA kernel", "PYCUDA": "a CUDA kernel", "HIP": "a HIP kernel",
              "C": "a C function", "FORTRAN": "a Fortran function", "HYPERTUNER": "a strategy of Kernel Tuner's"}


def looks_like_a_filename(source: str) -> bool:
    """Whether a text is the name of a file rather than code."""
    return len(source) <= 250 and not any(sign in source for sign in "();{}\\\n") and \
        (os.path.isfile(source) or any(ending in source for ending in (".c", ".opencl")))


def check_language(lang: str | None, source: Any) -> None:
    """Raises NotImplementedError unless the language is OpenCL."""
    if lang is None:
        text = source_text(source) if not callable(source) else "__kernel"
        lang = "CUDA" if "__global__" in text else "OpenCL" if re.search(r"\b(__)?kernel\b", text) else "C"
    if lang.upper() == "OPENCL":
        return
    what = _LANGUAGES.get(lang.upper())
    if what is None:
        raise NotImplementedError(f"lang=\"{lang}\": clatune tunes OpenCL kernels; write lang=\"OpenCL\"")
    raise NotImplementedError(f"{what} (lang=\"{lang}\") cannot be tuned with this function, which takes OpenCL kernels; write a problem file with a "
                              "\"Command\" (see the page 'Your first program'), or use Kernel Tuner")


def source_text(source: Any) -> str:
    """The text of a source that does not depend on the configuration."""
    if isinstance(source, os.PathLike) or isinstance(source, str) and looks_like_a_filename(source):
        return read_text(source)
    if not isinstance(source, str):
        raise TypeError(f"kernel_source must be a string, the name of a file or a function, not of the type '{type(source).__name__}'")
    return source


def usual_parameters(tune_params: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The tuning parameters with values in Python's own types, without duplicates."""
    if not isinstance(tune_params, Mapping):
        raise TypeError("tune_params must be a dict of lists")
    parameters = {}
    for name, values in tune_params.items():
        if name in ("grid_size_x", "grid_size_y", "grid_size_z", "time"):
            raise ValueError(f"a tuning parameter must not have the name '{name}', which results use; rename it")
        if name.startswith(("nvml_", "tegra_", "ps_")) or name == "cuda_sm_percentage":
            raise NotImplementedError(f"the parameter '{name}' changes settings of the device, which clatune does not; "
                                      "set clocks and power limits yourself, and tune once per setting")
        parameters[name] = list(dict.fromkeys(plain(value) for value in values))
        if not parameters[name]:
            raise ValueError(f"the tuning parameter '{name}' has no values")
        for value in parameters[name]:
            if not isinstance(value, (bool, int, float, str)):
                raise TypeError(f"a value of the tuning parameter '{name}' is of the type '{type(value).__name__}'; values are numbers or strings")
            if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9_.+-]*", value):
                raise NotImplementedError(f"the value '{value}' of the tuning parameter '{name}' cannot be a build option; "
                                          "use a word instead, and test for it in the kernel with #if")
        if len({isinstance(value, str) for value in parameters[name]}) > 1:
            raise NotImplementedError(f"the values of the tuning parameter '{name}' are numbers and strings; write all as strings")
    return parameters


def conditions(restrictions: Any, parameters: Parameters) -> list[str]:
    """Restrictions as conditions of a problem."""
    out: list[str] = []
    for one in restrictions if isinstance(restrictions, list) else [] if restrictions is None else [restrictions]:
        names = None
        if isinstance(one, tuple) and len(one) >= 2 and callable(one[0]):
            one, names = one[0], list(one[1])
        found = expression(one, parameters) if isinstance(one, str) else one
        if isinstance(found, str):
            out.append(found)
            continue
        if not callable(found) or type(found).__module__.startswith("constraint"):
            raise NotImplementedError(f"the restriction {found!r} is of the type '{type(found).__name__}'; write it as a string, such as "
                                      "\"block_size_x * block_size_y <= 1024\", or as a function of a dict")
        table = tabulate(of_dict(found, parameters, names), parameters)
        table.raise_if_none()
        out += table.conditions()
    return out


class Kernel:
    """The description of a kernel that tune_kernel and run_kernel get."""

    def __init__(self, name: str, source: Any, problem_size: Any, arguments: Sequence[Any], tune_params: Mapping[str, Sequence[Any]], *,
                 grid_div: Sequence[Any], block_size_names: Sequence[str] | None, compiler_options: Any, defines: Mapping[str, Any] | None,
                 lang: str | None):
        self.sources = list(source) if isinstance(source, (list, tuple)) else [source]
        check_language(lang, self.sources[0])
        for other in self.sources[1:]:
            if not isinstance(other, (str, os.PathLike)) or not pathlib.Path(other).is_file():
                raise ValueError("if there are several kernel sources, all but the first must be names of files")
        self.name = name
        self.parameters = usual_parameters(tune_params)
        self.problem_size = problem_size
        self.arguments = list(arguments)
        self.grid_div = grid_div
        self.block_names = _block_names(block_size_names, self.parameters)
        self.options = shlex.split(compiler_options) if isinstance(compiler_options, str) else list(compiler_options or [])
        self.defines = defines
        self.error: Exception | None = None  #: the first that a function raised which writes the kernel's text
        for at, one in enumerate(self.arguments):
            if not isinstance(one, (np.ndarray, np.generic)):
                hint = {int: f"numpy.int32({one})", float: f"numpy.float32({one})"}.get(type(one), "a numpy array or a numpy scalar")
                raise TypeError(f"argument {at} is of the type '{type(one).__name__}'; pass {hint}")
        self._qualifiers = _qualifiers(name, "" if callable(self.sources[0]) else source_text(self.sources[0]), len(self.arguments))

    def array_names(self) -> list[str]:
        """The names of the arguments that the kernel may write."""
        return [f"arg{i}" for i, one in enumerate(self.arguments)
                if isinstance(one, np.ndarray) and not self._qualifiers[i] & {"const", "constant"}]

    # --- sizes ---

    def _number(self, value: Any) -> str:
        """An int, a string or a function as an expression."""
        if isinstance(value, str):
            value = expression(value, self.parameters)
        if callable(value):
            table = tabulate(of_dict(value, self.parameters), self.parameters).map(plain)
            table.raise_if_none()
            return table.number()
        return str(plain(value))

    def problem_sizes(self) -> list[str]:
        """Three expressions: the size of the problem in each dimension."""
        sizes = self.problem_size
        if callable(sizes):
            whole = tabulate(of_dict(sizes, self.parameters), self.parameters)
            whole.raise_if_none()
            return [whole.map(lambda found, at=d: self._size(found, at)).number() for d in range(3)]  # type: ignore[misc]
        listed = [sizes] if not isinstance(sizes, (list, tuple, np.ndarray)) else list(sizes)
        if not 1 <= len(listed) <= 3:
            raise ValueError(f"problem_size has {len(listed)} dimensions; a kernel has one to three")
        out = []
        for one in listed:
            if isinstance(one, str):
                out.append(f"int({self._number(one)})")
            elif isinstance(one, (int, np.integer)) and not isinstance(one, bool):
                out.append(str(int(one)))
            else:
                raise TypeError(f"problem_size must consist of whole numbers and strings, not '{type(one).__name__}'; write int({one!r})")
        return out + ["1"] * (3 - len(out))

    @staticmethod
    def _size(found: Any, at: int) -> int:
        listed = [found] if isinstance(found, (int, np.integer)) else list(found)
        if not all(isinstance(one, (int, np.integer)) for one in listed):
            raise TypeError("the function problem_size must return a whole number, or a tuple of them")
        return int(listed[at]) if at < len(listed) else 1

    def divisors(self, at: int) -> list[str]:
        """The expressions that divide the problem's size in a dimension."""
        given = self.grid_div[at]
        if given is None:
            return [self.block_names[at]] if self.block_names[at] in self.parameters else ["1"]
        if isinstance(given, (str, int, np.integer)) or callable(given):
            given = [given]
        texts = [f"int({self._number(one)})" if isinstance(one, str) else self._number(one) for one in given]
        return texts or ["1"]

    def local_size(self) -> list[str | int]:
        return [name if name in self.parameters else 1 if at else 256 for at, name in enumerate(self.block_names)]

    # --- text ---

    def _text(self, folder: pathlib.Path) -> str | Callable[[dict[str, Any]], str]:
        """The kernel's text; or, if it depends on the configuration or there are `defines`, the function that writes it."""
        source, defines = self.sources[0], self.defines
        if defines is None and not callable(source):
            return source_text(source) + "\n"
        for name in defines or {}:
            if not name.isidentifier():
                raise ValueError(f"'{name}' in defines is not a name in C")
        texts = {} if defines is None else {name: of_dict(value, self.parameters) if callable(value) else value for name, value in defines.items()}
        if not callable(source):
            (folder / f"{self.name}.text.cl").write_text(source_text(source))
        generate = of_dict(source, self.parameters) if callable(source) else lambda p: f'#include "{self.name}.text.cl"\n'

        def write(found: dict[str, Any]) -> str:
            configuration = {name: next(value for value in values if value == found[name]) for name, values in self.parameters.items()}
            lines = [] if defines is None else [f"#undef {name}" for name in (*self.parameters, *self.block_names, "kernel_tuner")]
            try:
                for name, value in texts.items():
                    text = str(value(configuration) if callable(value) else _replace(value, configuration))
                    lines += [f"#undef {name}", f"#define {name} " + text.replace("\n", "\\\n")]
                generated = generate(configuration)
                if not isinstance(generated, str):
                    raise TypeError(f"the function kernel_source returned '{type(generated).__name__}'; it must return a string")
            except Exception as error:
                self.error = self.error or error
                raise
            return "\n".join([*lines, "#line 1", generated]) + "\n"

        return write

    # --- the problem ---

    def problem(self, folder: pathlib.Path, *, constraints: Sequence[str] = (), answer: Sequence[Any] | None = None, atol: float | None = None,
                judged: Sequence[str] = (), x0: Sequence[Any] | None = None) -> Problem:
        """Writes the problem. `judged`: the arguments that a Judge checks."""
        text = self._text(folder)
        arguments = {f"arg{i}": self._argument(i, answer, atol, judged) for i in range(len(self.arguments))}
        if answer is not None:
            answer = [_as_stored(right, value) for right, value in zip(answer, self.arguments)]
        options = [_escape(one) for one in self.options]
        options += [f"-D{name}={1 if at else 256}" for at, name in enumerate(self.block_names) if name not in self.parameters]
        specification: dict[str, Any] = {"ProblemSize": self.problem_sizes(), **{f"GridDiv{axis}": self.divisors(at) for at, axis in enumerate("XYZ")}}
        if callable(text):
            specification["Generator"] = {"Macros": True}
        more: dict[str, Any] = {"KernelSpecification": specification}
        if judged:
            more["Reference"] = {"Module": os.fspath(MODULE), "Function": "keep", "Verify": {"Function": "judge"}}
        folders = [os.getcwd()] + [os.path.dirname(os.path.abspath(one)) for one in self.sources
                                   if isinstance(one, os.PathLike) or isinstance(one, str) and looks_like_a_filename(one)]
        return Problem(text, self.name, space=Space(self.parameters, constraints=constraints, default=dict(zip(self.parameters, x0 or []))),
                       arguments=arguments, local_size=self.local_size(), answer=answer if not judged else None, compiler_options=options,
                       include_paths=list(dict.fromkeys(folders)), more=more, folder=folder)

    def _argument(self, at: int, answer: Sequence[Any] | None, atol: float | None, judged: Sequence[str]) -> Argument:
        value = self.arguments[at]
        if isinstance(value, np.generic):
            number = value.item()
            if not isinstance(number, (bool, int, float)) or not math.isfinite(number):
                raise NotImplementedError(f"argument {at} is {number!r}, which cannot be passed by value; pass an array with one element")
            return Argument({"Type": _type_of(value.dtype), "MemoryType": "Scalar", "FillType": "Constant", "FillValue": number})
        if value.dtype.kind == "V":
            kind: dict[str, Any] = {"Type": "custom", "TypeSize": value.dtype.itemsize}
        else:
            kind = {"Type": _type_of(value.dtype)}
        entry = {**kind, "MemoryType": "Vector", "Size": value.size}
        if "constant" in self._qualifiers[at]:
            entry |= {"MemType": "Constant", "AccessType": "ReadOnly"}
        elif "const" in self._qualifiers[at]:
            entry |= {"AccessType": "ReadOnly"}
        else:
            wanted = f"arg{at}" in judged if judged else answer is not None and answer[at] is not None
            entry |= {"AccessType": "ReadWrite", "Output": int(wanted)}
            if wanted and not judged and atol is not None:
                entry |= {"AbsoluteTolerance": float(atol), "RelativeTolerance": RTOL}
        return Argument(entry, _as_stored(value, value))


def _as_stored(array: Any, like: Any) -> Any:
    """The elements in the order in which `like` has them in memory, which Kernel Tuner passes as it is."""
    return np.reshape(array, like.shape).ravel("F") if array is not None and like.flags.fnc else array


def _block_names(given: Sequence[str] | None, parameters: Parameters) -> list[str]:
    if given is not None:
        if not isinstance(given, (list, tuple)) or len(given) > 3 or not all(isinstance(name, str) for name in given):
            raise ValueError("block_size_names must be a list of up to three names")
        names = list(given)
    else:  # BLOCK_SIZE_X counts as block_size_x
        names = sorted((name for name in parameters if name.lower() in default_block_size_names and name not in default_block_size_names),
                       key=str.casefold)
    return names + default_block_size_names[len(names):]


def _qualifiers(kernel: str, text: str, n: int) -> list[set[str]]:
    """The qualifiers const and constant of each argument, as far as a search in the kernel's text finds them."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    for found in re.finditer(rf"\b{re.escape(kernel)}\s*\(([^()]*)\)", text):
        pieces = found.group(1).split(",")
        if len(pieces) == n:
            return [{"const" if word == "const" else "constant" for word in re.findall(r"\w+", piece.partition("*")[0])
                     if word in ("const", "constant", "__constant")} for piece in pieces]
    return [set() for _ in range(n)]


def _escape(option: Any) -> str:
    text = str(option)
    if text.startswith("-I") and len(text) > 2:  # the compiler works in another folder
        text = "-I" + os.path.abspath(text[2:].strip())
    return text.replace("{", "{{").replace("}", "}}")


def _replace(text: Any, configuration: Mapping[str, Any]) -> str:
    """A text with the names of parameters replaced by their values."""
    return "".join(str(configuration[word]) if word in configuration else word for word in re.split(r"(\w+)", str(text)))
