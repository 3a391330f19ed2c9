"""Lets a Python function write the source of kernels: the other end of a problem file's "Generator"."""
from __future__ import annotations

import contextlib
import functools
import inspect
import json
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import IO, Any, Optional, Union

#: What a function returns: the source; a dict with "source" and, as far as it decides them, "global", "local", "options" and "kernel";
#: None if there is no kernel for the configuration. It gets the configuration and, if it takes two arguments, the sizes.
Source = Optional[Union[str, Mapping[str, Any]]]
Generator = Callable[..., Source]

#: Of a source: more is an error, before other threads wait for a search in it.
MOST_CHARACTERS = 16 << 20

#: The program that a problem file names. It passes questions to the process that tunes.
RELAY = '''"""Asks the process that tunes for the source of each configuration."""
import os
import socket
import sys

for question in sys.stdin.buffer:
    with socket.socket(socket.AF_UNIX) as asker:
        try:
            asker.connect(os.environ["CLATUNE_JUDGE"])
        except (KeyError, OSError):
            sys.exit("the Python function that writes the source cannot be reached; its process does not tune at present")
        asker.sendall(question)
        while reply := asker.recv(1 << 20):
            sys.stdout.buffer.write(reply)
            sys.stdout.buffer.flush()
'''


class Invalid(Exception):
    """Raised by a function that writes kernels: there is none for this configuration. The text says why."""


_KERNEL = re.compile(r"\b(?:__)?kernel\s+(?:__attribute__\s*\(\(.*?\)\)\)?\s*)*void\s+(?:__attribute__\s*\(\(.*?\)\)\)?\s*)*(\w+)", re.DOTALL)


def naming(function: Generator) -> Generator:
    """The function, with the name of the only kernel in the source that it returns."""
    @functools.wraps(function)
    def generate(*given: Any) -> Source:
        found = function(*given)
        reply = {"source": found} if isinstance(found, str) else found
        if not isinstance(reply, Mapping) or "source" not in reply or reply.keys() & {"kernel", "launches"}:
            return reply
        names = _KERNEL.findall(reply["source"][:MOST_CHARACTERS])
        if len(names) != 1:
            raise ValueError(f"the source has {len(names)} kernels; return a dict with \"source\" and \"kernel\", the name of the one to tune")
        return {**reply, "kernel": names[0]}
    return generate


def answer(function: Generator, question: str | bytes) -> bytes:
    """The line that answers a question of clatune. An exception of the function is a failure of the configuration."""
    reply: Mapping[str, Any]
    try:
        asked = json.loads(question)
        given = [asked["configuration"], asked["sizes"]]
        places = [one for one in inspect.signature(function).parameters.values()
                  if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL) and one.default is one.empty]
        found = function(*given[:2 if len(places) > 1 else 1])
        reply = {"source": found} if isinstance(found, str) else {"invalid": "the function returned None"} if found is None else found
        if not isinstance(reply, Mapping):
            raise TypeError(f"the function returned a '{type(reply).__name__}'; return the source, a dict with it, or None")
        if len(str(reply.get("source"))) > MOST_CHARACTERS:
            raise ValueError("the source has more than 16 MiB")
        return json.dumps(reply, default=_plain).encode() + b"\n"
    except Invalid as why:
        reply = {"invalid": str(why) or "the function raised Invalid"}
    except (Exception, SystemExit) as error:
        reply = {"error": _cause(error)}
    return json.dumps(reply).encode() + b"\n"


def _cause(error: BaseException) -> str:
    """What the function raised, in the first line, as often only that is shown; then where, without the frames of this file."""
    where = error.__traceback__
    while where is not None and where.tb_frame.f_code.co_filename == __file__:
        where = where.tb_next
    return "".join([*traceback.format_exception_only(type(error), error), *traceback.format_tb(where, limit=-8)])


def _plain(value: Any) -> Any:
    """numpy's numbers and arrays, and mappings, in the types of JSON."""
    if isinstance(value, Mapping):
        return dict(value)
    with contextlib.suppress(AttributeError):
        return value.tolist()
    raise TypeError(f"the function returned a '{type(value).__name__}', which is neither text, a number nor a list")


def serve(function: Generator, questions: IO[str] = sys.stdin, answers: IO[bytes] = sys.stdout.buffer) -> None:
    """Answers questions line by line until their end, in a program that a problem file names as its persistent Generator. What the
    function prints goes to standard error."""
    for question in questions:
        with contextlib.redirect_stdout(sys.stderr):
            reply = answer(function, question)
        answers.write(reply)
        answers.flush()
