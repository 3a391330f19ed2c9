"""Includes run downhill only: a component may include the components below it, never its siblings or those above."""
import pathlib
import re
import sys

LEVELS = [["base"], ["space", "device"], ["problem"], ["measurement"], ["format"],
          ["opencl"], ["worker"], ["eval", "store"], ["model"], ["search"], ["lookup"], ["session"],
          ["choice"], ["report"], ["cli"], ["farm", "family", "layer"]]
LEVEL = {component: level for level, components in enumerate(LEVELS) for component in components}

# The component that each public header belongs to.
HEADERS = {"clatune": "session", "error": "base", "version": "base", "value": "base", "rng": "base", "log": "base", "sys/option": "base", "space": "space",
           "device": "device", "problem": "problem", "module": "problem", "measurement": "measurement", "objective": "measurement",
           "recording": "format", "sys/evaluator": "worker", "store": "store", "sys/store": "store",
           "model": "model", "sys/model": "model", "sys/searcher": "search", "online": "session", "tune_kernel": "session", "lookup": "lookup",
           "tune": "session", "family": "choice"}

def component_of_include(name):
    if name.startswith("clatune/"):
        key = name[len("clatune/"):-len(".h")]
        return HEADERS.get(key, f"unlisted public header {name}")
    return name.split("/")[0] if "/" in name else None


def fits(component, other):
    return other == component or (other in LEVEL and LEVEL[other] < LEVEL[component])


def check(path, component):
    problems = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+["<]([^">]+)[">]', line)
        name = match and match.group(1)
        if not name or not (name.startswith("clatune/") or '"' in line):
            continue
        other = component_of_include(name)
        if other and not fits(component, other):
            problems.append(f"{path}:{number}: component '{component}' includes '{name}' of '{other}'")
        # The tuner's end of the workers makes no OpenCL call; the table of timing defaults is none.
        if component == "worker" and path.parent.name != "child" and other == "opencl" and name != "opencl/timing.h":
            problems.append(f"{path}:{number}: '{name}' in the library's end of the workers; only src/worker/child uses OpenCL")
    return problems


def main(root):
    problems, files = [], 0
    for path in sorted((root / "src").rglob("*.[ch]")):
        component = path.relative_to(root / "src").parts[0]
        files += 1
        if component not in LEVEL:
            problems.append(f"{path}: no such component in tests/project/layers.py")
            continue
        problems += check(path, component)
    for path in sorted((root / "include/clatune").rglob("*.h")):
        key = str(path.relative_to(root / "include/clatune"))[:-len(".h")]
        files += 1
        if key not in HEADERS:
            problems.append(f"{path}: not listed in tests/project/layers.py")
            continue
        problems += check(path, HEADERS[key])
    print(*problems, sep="\n")
    print(f"{files} files, {len(problems)} problems")
    return 1 if problems or files < 20 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
