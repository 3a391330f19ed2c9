"""Converts a configuration file of Giles' generic tuner (M. B. Giles, "Auto-tuning", 2010) to a problem file.

    python3 -m clatune.compat.giles tune.conf > tune.json

Write the problem file to the folder of the configuration file, because every evaluation gets a copy of the files next to it.
"""
from __future__ import annotations

import difflib
import errno
import json
import pathlib
import re
import sys
from dataclasses import dataclass
from typing import Any, Union

KEYS = ("PARAMS", "CONDITIONS", "EVALUATION", "CHECK", "FIGURE_OF_MERIT_FILE", "PARAMETERS_FILE", "PARAMETERS_FORMAT", "FILES", "LINKS",
        "STRATEGY", "BUDGET")
SHELL_SIGNS = ("|", "||", "&", "&&", ">", ">>", "<", "2>", "2>&1", "&>")
_BETWEEN = re.compile(r"[\s;]*")
_NAME = re.compile(r"([A-Za-z0-9_]+)[ \t]*")
_WORD = re.compile(r"""(?:[^\s;'"]|'[^']*'|"[^"]*")+|[;'"]""")


@dataclass(frozen=True)
class Entry:
    """NAME = value, or NAME = { value } over several lines; the value has no outer braces."""
    name: str
    value: str
    line: int


class Mistake(ValueError):
    """A mistake in the configuration file, with its line."""

    def __init__(self, place: Union[Entry, int], text: str):
        super().__init__(f"{place.name}: {text}" if isinstance(place, Entry) else text)
        self.line = place.line if isinstance(place, Entry) else place


def _closing_brace(text: str, begin: int) -> int:
    """The place of the brace that closes the one at a place; -1: there is none."""
    depth = 0
    for at in range(begin, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at
    return -1


def _entries(text: str) -> dict[str, Entry]:
    text = re.sub(r"(?<!\S)#[^\n]*", "", text)  # comments
    found: dict[str, Entry] = {}
    at = _end(_BETWEEN, text, 0)
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        named = _NAME.match(text, at)
        if named is None:
            raise Mistake(line, "needs a name: NAME = value")
        if text[named.end():named.end() + 1] != "=":
            raise Mistake(line, "needs '=' after the name")
        begin = _end(re.compile(r"[ \t]*"), text, named.end() + 1)
        if text[begin:begin + 1] == "{":
            end = _closing_brace(text, begin)
            if end < 0:
                raise Mistake(line, "the '{' is never closed")
            value = text[begin + 1:end].strip()
        else:
            end = _end(re.compile(r"[^\n]*"), text, begin)
            value = text[begin:end].rstrip(" \t\r;")
        entry = Entry(named[1], value, line)
        if entry.name in found:
            raise Mistake(entry, f'"{entry.name}" is already set on line {found[entry.name].line}')
        found[entry.name] = entry
        at = _end(_BETWEEN, text, end + 1)
    return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The end of a pattern that also matches the empty text."""
    match = pattern.match(text, at)
    return match.end() if match else len(text)


def _groups(params: Entry) -> tuple[list[Any], list[str]]:
    """The nested groups of PARAMS, and the names of the parameters in their order."""
    names: list[str] = []
    groups: list[Any] = []
    outer = [groups]
    for token in re.findall(r"[{}]|[^{},\s]+", params.value):
        if token == "{":
            outer[-1].append([])
            outer.append(outer[-1][-1])
        elif token == "}":
            outer.pop()
            if not outer:
                raise Mistake(params, "has a '}' without its '{'")
        elif not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", token):
            raise Mistake(params, f'"{token}" is not a valid name; use letters, digits and \'_\'')
        elif token in KEYS:
            raise Mistake(params, f'"{token}" is a key and cannot be a parameter')
        else:
            outer[-1].append(token)
            names.append(token)
    if not names:
        raise Mistake(params, "needs the name of a parameter")
    return groups, names


def _check_names(entries: dict[str, Entry], names: list[str]) -> None:
    """Every entry is a key or a parameter of PARAMS, and every parameter has values."""
    missing = [name for name in (*names, *KEYS) if name not in entries]
    for entry in entries.values():
        if entry.name not in KEYS and entry.name not in names:
            near = difflib.get_close_matches(entry.name, missing, 1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise Mistake(entry, f'"{entry.name}" is neither a key nor a parameter of PARAMS{hint}')
    for name in names:
        if name not in entries:
            raise Mistake(entries["PARAMS"], f'"{name}" has no values; add a line such as {name} = {{1, 2, 4}}')


def _text(piece: str) -> str:
    piece = piece.strip()
    return piece[1:-1] if len(piece) >= 2 and piece[0] in "'\"" and piece[-1] == piece[0] else piece


def _number(piece: str) -> Union[int, float, str]:
    """A number, unless it is quoted or none; then a text."""
    if re.fullmatch(r"[+-]?\d+", piece):
        return int(piece)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", piece):
        return float(piece)
    return _text(piece)


def _pieces(entry: Entry) -> list[str]:
    """Between commas, or between spaces if there is no comma."""
    if "," not in entry.value:
        return entry.value.split()
    pieces = [piece.strip() for piece in entry.value.split(",")]
    if "" in pieces:
        raise Mistake(entry, "an item is missing between two commas or at the end")
    return pieces


def _values(entry: Entry) -> Union[str, list[Union[int, float, str]]]:
    """A list, or an expression such as [2**i for i in range(4)]."""
    return entry.value if entry.value.startswith("[") else [_number(piece) for piece in _pieces(entry)]


def _commands(entry: Entry) -> list[list[str]]:
    """"make; ./executable": [["make"], ["./executable"]]. Quoted spaces do not split a word, and quotes are removed."""
    commands: list[list[str]] = [[]]
    for word in _WORD.findall(entry.value):
        if word in ("'", '"'):
            raise Mistake(entry, f"the quote {word} is never closed")
        if word in SHELL_SIGNS:
            raise Mistake(entry, f"'{word}' needs a shell, but commands run without one; put them into a script")
        if word == ";":
            commands.append([])
        else:
            commands[-1].append(re.sub("'([^']*)'|\"([^\"]*)\"", lambda quoted: quoted[1] or quoted[2] or "", word))
    commands = [words for words in commands if words]
    if not commands:
        raise Mistake(entry, "needs a command")
    return commands


def _strategy(entry: Entry) -> dict[str, Any]:
    """"brute_force parallel:4\""""
    searcher, *options = [_text(piece) for piece in _pieces(entry)] or [":"]
    if ":" in searcher:
        raise Mistake(entry, "must begin with the name of a strategy, such as brute_force")
    for option in options:
        if ":" not in option:
            raise Mistake(entry, f'needs name:value instead of "{option}"')
    return {"Searcher": "exhaustive" if searcher == "brute_force" else searcher,
            "Options": dict(option.split(":", 1) for option in options)}


def convert(text: str, name: str) -> dict[str, Any]:
    """The problem file's content for the text of a configuration file; name: of the problem."""
    entries = _entries(text)
    if "PARAMS" not in entries:
        raise Mistake(1, "needs PARAMS = {name, name, {name, name}}")
    groups, names = _groups(entries["PARAMS"])
    _check_names(entries, names)
    if "EVALUATION" not in entries:
        raise Mistake(1, "needs EVALUATION = { make; ./program }")

    space: dict[str, Any] = {"TuningParameters": [{"Name": one, "Values": _values(entries[one])} for one in names], "Groups": groups}
    if "CONDITIONS" in entries:  # between ';', as they may contain commas
        space["Conditions"] = [_text(one) for one in entries["CONDITIONS"].value.split(";") if one.strip()]

    *build, run = _commands(entries["EVALUATION"])
    command: dict[str, Any] = {"Files": "*", "Run": run}
    if build:
        command["Build"] = build
    if "CHECK" in entries:
        command["Check"], *more = _commands(entries["CHECK"])
        if more:
            raise Mistake(entries["CHECK"], "needs a single command")
    for key, member in (("FILES", "Files"), ("LINKS", "Links")):
        if key in entries:
            command[member] = [_text(piece) for piece in _pieces(entries[key])]
    for key, member in (("PARAMETERS_FILE", "ParametersFile"), ("PARAMETERS_FORMAT", "ParametersFormat")):
        if key in entries:
            command[member] = _text(entries[key].value)
    if "FIGURE_OF_MERIT_FILE" in entries:
        command["Figure"] = {"From": "file", "File": _text(entries["FIGURE_OF_MERIT_FILE"].value)}

    problem: dict[str, Any] = {"General": {"BenchmarkName": name}, "ConfigurationSpace": space, "Command": command}
    if "STRATEGY" in entries:
        problem["Strategy"] = _strategy(entries["STRATEGY"])
    if "BUDGET" in entries:
        problem["Budget"] = [{"Type": "ConfigurationCount", "BudgetValue": _number(entries["BUDGET"].value)}]
    return problem


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, end="", file=sys.stdout if arguments in (["--help"], ["-h"]) else sys.stderr)
        return 0 if arguments in (["--help"], ["-h"]) else 2
    path = pathlib.Path(arguments[0])
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "not a regular file")
        problem = convert(path.read_text(encoding="utf-8"), path.stem)
    except Mistake as mistake:
        print(f"{path}:{mistake.line}: {mistake}", file=sys.stderr)
    except UnicodeDecodeError:
        print(f"{path}: is not UTF-8 text", file=sys.stderr)
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
    else:
        json.dump(problem, sys.stdout, indent=2)
        print()
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
