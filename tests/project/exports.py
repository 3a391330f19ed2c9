"""libclatune.so exports the functions that the public headers declare and the version script lists: no more, no less.

exports.py ROOT CC... --library FILE     compares the three
exports.py ROOT CC... --write            writes a new src/libclatune.map from the headers
"""
import pathlib
import re
import shutil
import subprocess
import sys

HEAD = """/* What libclatune.so exports: the functions of include/clatune/, and nothing else. tests/project/exports.py compares, and with
 * --write makes this list anew. A function that is taken away, or means something else, needs a new soversion. */
CLATUNE_0 {
  global:
"""
TAIL = """  local:
    *;
};
"""
PROTOTYPE = re.compile(r"\b(clt_\w+)\s*\((?!\s*\*)")


def without_bodies(text):
    """The text without the content of braces, except those of extern "C"."""
    text = re.sub(r'extern\s+"C"\s*\{', "", text)
    while True:
        shorter = re.sub(r"\{[^{}]*\}", ";", text)
        if shorter == text:
            return text
        text = shorter


def declared(root, cc):
    """Names of the functions that the headers declare and do not define."""
    headers = sorted(p.relative_to(root / "include") for p in (root / "include").rglob("*.h"))
    text = "".join(f"#include <{h}>\n" for h in headers)
    command = [*cc, "-E", "-DCL_TARGET_OPENCL_VERSION=300", f"-I{root}/include", "-x", "c", "-"]
    expanded = subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout
    names, ours = set(), []
    for line in expanded.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            inside = "/include/clatune/" in marker[1]
        elif inside:
            ours.append(line)
    for statement in without_bodies("\n".join(ours)).split(";"):
        prototype = PROTOTYPE.search(statement)
        if prototype and not re.search(r"\b(typedef|static)\b", statement):
            names.add(prototype[1])
    return names


def listed(root):
    text = re.sub(r"/\*.*?\*/", "", (root / "src/libclatune.map").read_text(), flags=re.S)
    return set(re.findall(r"^\s+(\w+);$", text.split("local:")[0], re.M))


def exported(library):
    lines = subprocess.run(["nm", "--dynamic", "--defined-only", library], text=True, capture_output=True, check=True).stdout
    symbols = [line.split()[1:] for line in lines.splitlines()]
    return {name.split("@")[0] for kind, name in symbols if kind != "A"}


def complain(names, text):
    for name in sorted(names):
        print(f"{name} {text}")
    return len(names)


def compare(root, cc, library):
    headers, script, symbols = declared(root, cc), listed(root), exported(library)
    n = complain(headers - script, "is declared in include/clatune, but src/libclatune.map does not list it")
    n += complain(script - headers, "is listed in src/libclatune.map, but no public header declares it")
    n += complain(script - symbols, "is listed in src/libclatune.map, but the library does not export it")
    n += complain(symbols - headers, "is exported, but no public header declares it")
    if n:
        print("tests/project/exports.py --write makes the list anew")
    print(f"{len(headers)} functions declared, {len(symbols)} symbols exported, {n} differences")
    return 1 if n or len(headers) < 50 else 0


def main(arguments):
    root, what = pathlib.Path(arguments[0]).resolve(), arguments.index("--library" if "--library" in arguments else "--write")
    cc = arguments[1:what]
    if arguments[what] == "--write":
        names = sorted(declared(root, cc))
        (root / "src/libclatune.map").write_text(HEAD + "".join(f"    {name};\n" for name in names) + TAIL)
        return 0
    if shutil.which("nm") is None:
        return 77
    return compare(root, cc, arguments[what + 1])


sys.exit(main(sys.argv[1:]))
