"""House rules that a machine can check: files under 500 lines, functions under 80, no banned calls."""
import pathlib
import re
import sys

MAX_FILE_LINES, MAX_FUNCTION_LINES = 500, 80
BANNED = re.compile(r"(?<![\w.>])(strtok|gets|sprintf|vsprintf|strcat|system|popen|tmpnam|mktemp|rand|srand|alloca|atoi|atof)\s*\(")
PRINTING = re.compile(r"(?<![\w.>])(printf|puts|putchar|exit|abort)\s*\(")
PROGRAMS = ("cli", "farm", "family")
MAY_PRINT = (*PROGRAMS, "worker", "layer")
BY_LOCALE = re.compile(r"(?<![\w.>])(strto[df]|strtold|atof|v\w*printf|asprintf)\s*\(|\bsetlocale\b")
FORMATTED = re.compile(r"(?<![\w.>])\w*(printf|scanf)\s*\(")
REAL = re.compile(r"%[-+ #0-9.*]*(l|L)?[aefgAEFG]")


def by_locale(text, prints):
    """Lines that read or write numbers as the locale says. Our programs have C's, and may print; the library has its host's."""
    bare = re.sub(r'"(\\.|[^"\\\n])*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', text)
    bare = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), bare, flags=re.S)
    found = [m.start() for m in BY_LOCALE.finditer(bare) if not (prints and "printf" in m[0])]
    for m in FORMATTED.finditer(bare):
        end, depth = m.end(), 1
        while depth and end < len(bare):
            depth += {"(": 1, ")": -1}.get(bare[end], 0)
            end += 1
        if not m[0].startswith("clt_") and not prints and REAL.search(text[m.end():end]):
            found.append(m.start())
    return [text.count("\n", 0, at) + 1 for at in found]


def functions(lines):
    """(first line, length) of each function: from an unindented line that ends in '{' to the '}' in column 0."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and re.match(r"[A-Za-z_].*\{$", line) and "=" not in line and not line.startswith(
                ("typedef", "enum", "union", "extern")) and "(" in "".join(lines[max(0, number - 4):number]):
            start = number
        elif start is not None and line.startswith("}"):
            yield start, number - start + 1
            start = None


def check(path, room):
    lines = path.read_text().splitlines()
    if len(lines) > MAX_FILE_LINES:
        yield f"{path}: {len(lines)} lines"
    for first, length in functions(lines):
        if length > MAX_FUNCTION_LINES:
            yield f"{path}:{first}: a function of {length} lines"
    for number, line in enumerate(lines, 1):
        code = re.sub(r'"(\\.|[^"\\])*"', '""', line)
        if code.lstrip().startswith(("*", "/*", "//")):
            continue
        if BANNED.search(code):
            yield f"{path}:{number}: banned call: {line.strip()}"
        if room not in MAY_PRINT and path.parent.name != "parse" and PRINTING.search(code):
            yield f"{path}:{number}: the library prints nothing and never exits: {line.strip()}"


def check_numbers(path, room):
    text = path.read_text()
    prints = room in PROGRAMS or path.parent.name in ("child", "parse", "programs")
    for number in [] if path.match("src/base/print.c") else by_locale(text, prints):
        yield f"{path}:{number}: follows the locale; use clt_strtod, clt_snprintf or clt_vsnprintf (base/base.h)"


def main(root):
    files = sorted((root / "src").rglob("*.[ch]"))
    problems = [p for f in files for rule in (check, check_numbers) for p in rule(f, f.relative_to(root / "src").parts[0])]
    print(*problems, sep="\n")
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems or len(files) < 20 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
