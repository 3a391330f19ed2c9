"""Prints clatune(1) as scdoc, from the program's own help and docs/environment.md. Arguments: the program, the page."""
import pathlib
import re
import subprocess
import sys

HEAD = """clatune(1) "" "clatune"

# NAME

clatune - finds the fastest configuration of an OpenCL kernel

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

0 found; 1 failure; 2 usage; 3 no such device; 4 no valid configuration; 5 verification failed; 6 the store cannot be used; 130, 143,
129 interrupted by SIGINT, SIGTERM, SIGHUP: what was measured is kept, and the same command goes on.

# SEE ALSO

*libclatune*(3), *clatune-problem*(5), *clatune-plan*(5)
"""


def help_of(*words):
    return subprocess.run([sys.argv[1], *words, "--help"], text=True, capture_output=True, check=True).stdout


def plain(text):
    """Text that scdoc takes as it is."""
    escaped = re.sub(r"([\\_*~<>#])", r"\\\1", re.sub(r"^ +", "", text, flags=re.M))
    return re.sub(r"^([-|!\[])", r"\\\1", escaped, flags=re.M)


def options(lines):
    """Two-column lines as a list of terms; a line that begins further right goes on with the one before."""
    terms = []
    for line in lines:
        match = re.match(r"  (\S.*?)(?:  +(.*))?$", line)
        if match and not line.startswith("   "):
            terms.append([match[1], match[2] or ""])
        elif terms:
            terms[-1][1] += " " + line.strip()
    return "".join(f"*{plain(name)}*\n\t{plain(text.strip())}\n\n" for name, text in terms)


def command(name):
    usage, description, *sections = help_of(name).rstrip().split("\n\n")
    out = f"## {usage.removeprefix('usage: ')}\n\n{plain(description)}\n\n"
    for section in sections:
        title, *lines = section.splitlines()
        if not title.endswith(":"):
            out += plain(section) + "\n\n"
            continue
        if title != "options:":
            out += f"{plain(title)}\n\n"
        out += options(lines)
    return out


def environment(path):
    """The rows of the page's table."""
    out = ""
    for name, purpose, otherwise in re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| [^|]* \|$", pathlib.Path(path).read_text(), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", f"{purpose}. Where it is not set: {otherwise}.").replace("`", "")
        out += f"*{name}*\n\t{plain(text[0].upper() + text[1:])}\n\n"
    return out


def plug_ins(commands):
    """What `clatune help NAME` says of all that the commands' help lists."""
    out, seen = "# SEARCHERS, EVALUATORS AND MODELS\n\n", set()
    for name in commands:
        for section in help_of(name).rstrip().split("\n\n"):
            title, *lines = section.splitlines()
            found = re.findall(r"^  ([\w-]+) ", "\n".join(lines), re.M) if "clatune help NAME" in title else []
            for plug_in in [n for n in found if n not in seen and n not in commands]:
                seen.add(plug_in)
                for part in help_of("help", plug_in).rstrip().split("\n\n"):
                    head, *rest = part.splitlines()
                    out += options(rest) if head == "options:" else f"## {plain(part)}\n\n"
    return out


names = re.findall(r"^  (\w+) ", help_of().split("commands:")[1].split("\n\n")[0], re.M)
print(HEAD + "\n" + "".join(command(name) for name in names) + plug_ins(names) + TAIL.lstrip("\n").replace("ENVIRONMENT_TABLE\n", environment(sys.argv[2])), end="")
