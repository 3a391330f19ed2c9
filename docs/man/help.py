"""Reads the program's own help texts, for the man page and the site."""
import re
import subprocess


def text_of(program, *words):
    return subprocess.run([program, *words, "--help"], text=True, capture_output=True, check=True).stdout


def terms(lines):
    """Two-column lines as pairs of a term and its text; a line that is indented further continues the one before."""
    found = []
    column = min((len(line) - len(line.lstrip()) for line in lines if line.startswith("    ")), default=0)  # of the texts
    for line in lines:
        match = re.match(r"  (\S.*?)(?:  +(.*))?$", line)
        if match and not line.startswith("   "):
            is_full = column and len(line) > column and line[column - 2:column].strip() and line[column - 1] == " "
            found.append([line[:column].strip(), line[column:]] if is_full else [match[1], match[2] or ""])
        elif found:
            found[-1][1] += " " + line.strip()
    return [(name, " ".join(text.split())) for name, text in found]


def names(program):
    """The commands, in the order of 'clatune --help'."""
    return re.findall(r"^  (\w+) ", text_of(program).split("commands:")[1].split("\n\n")[0], re.M)


def command(program, name):
    """The usage, the description, and the sections: a title with a colon and lines, or a text and no lines."""
    usage, description, *sections = text_of(program, name).rstrip().split("\n\n")
    parts = []
    for section in sections:
        title, *lines = section.splitlines()
        parts.append((title, lines) if title.endswith(":") else (section, []))
    return " ".join(usage.removeprefix("usage: ").split()), description, parts


def lists_plug_ins(title):
    return "clatune help NAME" in title and title.endswith(":")


def plug_ins(program):
    """What 'clatune help NAME' says of every searcher, evaluator and model: kind, name, summary, options."""
    found, commands = {}, names(program)
    for owner in commands:
        for title, lines in command(program, owner)[2]:
            for name, _ in terms(lines) if lists_plug_ins(title) else []:
                if name in found or name in commands:
                    continue
                head, *rest = text_of(program, "help", name).rstrip().split("\n\n")
                match = re.fullmatch(r"(\w+) (\S+): (.*)", " ".join(head.split()))
                options = [term for part in rest if part.startswith("options:") for term in terms(part.splitlines()[1:])]
                texts = [part for part in rest if not part.startswith("options:")]
                found[name] = (match[1], name, " ".join([match[3], *texts]), options)
    return list(found.values())
