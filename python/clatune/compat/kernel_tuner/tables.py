"""Python functions of a configuration as expressions of clatune.

Kernel Tuner calls functions of the script for restrictions, sizes, divisors of the grid and generated code. clatune's problem files
contain expressions and cannot call Python. So a function becomes a table: it is called with all values of the parameters that it
reads, and its results are written as an expression over these parameters.
"""
from __future__ import annotations

import ast
import inspect
import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

Parameters = Mapping[str, Sequence[Any]]
Function = Callable[[dict[str, Any]], Any]

MOST_ENTRIES = 1 << 20  # of a table: a few seconds of calls
_MOST_CHARACTERS = 60000  # of an expression; clatune's limit is 65,536


class Failed:
    """Replaces a value if the function raised an exception."""

    def __init__(self, error: Exception):
        self.error = error


class _Watched(dict[str, Any]):
    """A configuration that notes which of its parameters are read."""

    def __init__(self, values: Mapping[str, Any], read: set[str]):
        super().__init__(values)
        self._read = read

    def _all(self) -> None:
        self._read.update(super().keys())

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        if name in self:
            self._read.add(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:  # also keeps dict(p) and f(**p) from going past __getitem__
        self._all()
        return super().__iter__()

    def keys(self) -> Any:
        self._all()
        return super().keys()

    def values(self) -> Any:
        self._all()
        return super().values()

    def items(self) -> Any:
        self._all()
        return super().items()

    def copy(self) -> dict[str, Any]:
        self._all()
        return dict(super().items())

    def pop(self, name: str, *default: Any) -> Any:
        self._read.add(name)
        return super().pop(name, *default)

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __eq__(self, other: object) -> bool:
        return bool(self.copy() == other)

    def __repr__(self) -> str:
        return repr(self.copy())


class Table:
    """The results of a function by the values of the parameters that it reads."""

    def __init__(self, parameters: Parameters, names: Sequence[str], entries: Mapping[tuple[Any, ...], Any]):
        self.names = list(names)
        self.entries = dict(entries)
        self._values = [parameters[name] for name in self.names]

    def map(self, change: Callable[[Any], Any]) -> Table:
        """The table of change(value); failures stay."""
        table = Table({}, [], {})
        table.names, table._values = self.names, self._values
        for key, value in self.entries.items():
            try:
                table.entries[key] = value if isinstance(value, Failed) else change(value)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                table.entries[key] = Failed(error)
        return table

    def raise_if_none(self) -> None:
        """Raises the function's exception if every call failed."""
        if all(isinstance(value, Failed) for value in self.entries.values()):
            raise next(iter(self.entries.values())).error

    def _tree(self, prefix: tuple[Any, ...]) -> Any:
        """The table as a decision tree: a value, or a list of (parameter, some of its values, the tree for these)."""
        depth = len(prefix)
        if depth == len(self.names):
            value = self.entries[prefix]
            return 0 if isinstance(value, Failed) else value
        groups: list[tuple[list[Any], Any]] = []
        for value in self._values[depth]:
            below = self._tree((*prefix, value))
            for values, other in groups:
                if other == below and type(other) is type(below):
                    values.append(value)
                    break
            else:
                groups.append(([value], below))
        return groups[0][1] if len(groups) == 1 else [(self.names[depth], values, below) for values, below in groups]

    def number(self) -> str:
        """An expression with the table's numbers; 0 if the function failed."""
        text = _sum(self._tree(()))
        if len(text) > _MOST_CHARACTERS:
            raise ValueError(f"a function of {', '.join(self.names)} has too many different values for an expression; "
                             "write it as a string, such as \"block_size_x * tile_size_x\"")
        return text

    def conditions(self) -> list[str]:
        """Conditions that are all true exactly if the table's value is true."""
        return list(_conditions(self.map(bool)._tree(()), ""))


def _literal(value: Any) -> str:
    value = plain(value)
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _is_one_of(name: str, values: Sequence[Any], negated: bool = False) -> str:
    return f"{name} {'not in' if negated else 'in'} [{', '.join(_literal(value) for value in values)}]"


def _sum(tree: Any) -> str:
    if not isinstance(tree, list):
        return _literal(tree)
    terms = [f"({_is_one_of(name, values)}) * ({_sum(below)})" for name, values, below in tree if isinstance(below, list) or below != 0]
    return " + ".join(terms)


def _any(tree: Any) -> str:
    if not isinstance(tree, list):
        return "True" if tree else "False"
    return " or ".join(_is_one_of(name, values) + ("" if below is True else f" and ({_any(below)})")
                       for name, values, below in tree if below)


def _conditions(tree: Any, unless: str) -> Iterator[str]:
    if tree is True:
        return
    text = unless + (_any(tree) or "False")
    if len(text) <= _MOST_CHARACTERS or not isinstance(tree, list):
        yield text
        return
    for name, values, below in tree:
        yield from _conditions(below if isinstance(below, list) else bool(below), f"{unless}{_is_one_of(name, values, True)} or ")


def tabulate(function: Function, parameters: Parameters) -> Table:
    """Calls the function with all values of the parameters that it reads; the others have their first value. Calling it shows which
    parameters it reads."""
    names: list[str] = []
    while True:
        read: set[str] = set(names)
        entries = {}
        for key in itertools.product(*(parameters[name] for name in names)):
            configuration = {name: values[0] for name, values in parameters.items()} | dict(zip(names, key))
            try:
                entries[key] = function(_Watched(configuration, read))
            except (ArithmeticError, LookupError, TypeError, ValueError, AssertionError) as error:
                entries[key] = Failed(error)
            if len(read) > len(names):
                break
        else:
            return Table(parameters, names, entries)
        names = [name for name in parameters if name in read]
        if read - set(names):
            raise KeyError(f"a function reads '{min(read - set(names))}', which is not a tuning parameter; there are {', '.join(parameters)}")
        if math.prod(len(parameters[name]) for name in names) > MOST_ENTRIES:
            raise ValueError(f"a function reads {', '.join(names)}, which have more than {MOST_ENTRIES:,} combinations of values; "
                             "write it as strings, such as [\"block_size_x * block_size_y <= 1024\"]")


def plain(value: Any) -> Any:
    """The value in Python's own types."""
    return value.item() if isinstance(value, np.generic) else value


_FUNCTIONS = {"min", "max", "sum", "any", "all", "gcd", "len", "abs", "fabs", "int", "float", "bool", "round", "floor", "ceil", "trunc",
              "sqrt", "exp", "log", "log2", "log10", "pow"}
_SYNTAX = (ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow,
           ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.Invert, ast.IfExp,
           ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.List, ast.Tuple, ast.Load)


def _is_known(node: ast.AST, names: set[str]) -> bool:
    """Whether clatune's expressions support all of the node."""
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (bool, int, float, str))
    if isinstance(node, ast.Call):
        function = node.func
        named = function.id if isinstance(function, ast.Name) else \
            function.attr if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and \
            function.value.id in ("math", "np", "numpy") else ""
        return named in _FUNCTIONS and not node.keywords and all(_is_known(one, names) for one in node.args)
    return isinstance(node, _SYNTAX) and all(_is_known(one, names) for one in ast.iter_child_nodes(node))


def expression(text: str, parameters: Parameters) -> str | Function:
    """The text itself if clatune's expressions support it, otherwise a function that evaluates it in Python."""
    text = " ".join(text.split())
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ValueError(f"'{text}' is not an expression: {error.msg}") from error
    if _is_known(tree.body, set(parameters)):
        return text
    code = compile(tree, "<expression>", "eval")
    unknown = [name for name in code.co_names if name in parameters]

    def evaluate(configuration: dict[str, Any]) -> Any:
        return eval(code, {"math": math, "np": np, "numpy": np, **{name: configuration[name] for name in unknown}})

    return evaluate


def of_dict(function: Callable[..., Any], parameters: Parameters, names: Sequence[str] | None = None) -> Function:
    """Turns a function of named parameters, or of all values, into a function of a configuration as a dict."""
    if names is not None:
        listed = list(names)
        return lambda p: function(*(p[name] for name in listed))
    try:
        wanted = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a function written in C
        return function
    kinds = {one.kind for one in wanted}
    if inspect.Parameter.VAR_POSITIONAL in kinds and len(wanted) == 1:
        return lambda p: function(*p.values())
    if inspect.Parameter.VAR_KEYWORD in kinds and len(wanted) == 1:
        return lambda p: function(**p)
    if wanted and all(one.name in parameters for one in wanted):
        return lambda p: function(**{one.name: p[one.name] for one in wanted})
    return function
