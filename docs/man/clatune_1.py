"""Prints clatune(1) as scdoc, from the program's own help, docs/reference/environment.md and the table of exit codes. Arguments: the
program, the page, src/cli/arguments.h."""
import pathlib
import re
import sys

import help as clatune_help

HEAD = """clatune(1) "" "clatune"

# NAME

clatune - searches for the fastest configuration of an OpenCL kernel or of any program

# SYNOPSIS

*clatune* _COMMAND_ [OPTION...] [ARGUMENT...]

# DESCRIPTION

Given a problem file (*clatune-problem*(5)) and a device, *clatune tune* measures some configurations, learns from them which others are
promising, measures those and prints the best. Every measurement is kept in a store. Candidates are built and run in worker
processes, and their results are compared with a reference. Answers go to standard output, progress and warnings to standard
error; every command that answers takes *--json*.

# COMMANDS
"""
TAIL = """
# DEVICES

*--device*, or the environment's CLATUNE_DEVICE, takes P:D (the numbers of platform and device), a UUID, a type (cpu, gpu,
accelerator), an ICD suffix (pocl, mesa, intel, nv), or part of a platform, vendor or device name, without regard to case.

# ENVIRONMENT

ENVIRONMENT_TABLE
# EXIT STATUS

EXIT_TABLE
# SEE ALSO

*libclatune*(3), *clatune-problem*(5), *clatune-plan*(5)
"""


def plain(text):
    """Text that scdoc takes as it is."""
    escaped = re.sub(r"([\\_*~<>#])", r"\\\1", re.sub(r"^ +", "", text, flags=re.M))
    return re.sub(r"^([-|!\[])", r"\\\1", escaped, flags=re.M)


def options(terms):
    return "".join(f"*{plain(name)}*\n\t{plain(text)}\n\n" for name, text in terms)


def command(name):
    usage, description, sections = clatune_help.command(PROGRAM, name)
    out = f"## {usage}\n\n{plain(description)}\n\n"
    for title, lines in sections:
        if title != "options:":
            out += f"{plain(title)}\n\n"
        out += options(clatune_help.terms(lines))
    return out


def environment(path):
    """The rows of the page's table."""
    out = ""
    for name, purpose, otherwise in re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", pathlib.Path(path).read_text(), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", f"{purpose}. If not set: {otherwise}.").replace("`", "")
        out += f"*{name}*\n\t{plain(text[0].upper() + text[1:])}\n\n"
    return out


def exit_codes(path):
    rows = re.findall(r'X\(CLI_\w+, (\d+), "([^"]*)"\)', pathlib.Path(path).read_text())
    return "".join(f"*{code}*\n\t{plain(text)}\n\n" for code, text in rows)


def plug_ins():
    out = "# SEARCHERS, EVALUATORS AND MODELS\n\n"
    for kind, name, summary, terms in clatune_help.plug_ins(PROGRAM):
        out += f"## {kind} {name}\n\n{plain(summary[0].upper() + summary[1:])}.\n\n{options(terms)}"
    return out


PROGRAM, PAGE, EXITS = sys.argv[1:]
tail = TAIL.lstrip("\n").replace("ENVIRONMENT_TABLE\n", environment(PAGE)).replace("EXIT_TABLE\n", exit_codes(EXITS))
print(HEAD + "\n" + "".join(command(name) for name in clatune_help.names(PROGRAM)) + plug_ins() + tail, end="")
