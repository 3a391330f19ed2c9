"""Each struct, enum and union of the sources has a name of its own, so that a search for it finds one type."""
import collections
import pathlib
import re
import sys

KNOWN = set()  # names that are still defined twice
TYPE = re.compile(r"^(?:typedef\s+)?(?:struct|enum|union)\s+(\w+)\s*\{", re.M)


def main(root):
    files = collections.defaultdict(set)
    for top in ("src", "include"):
        for path in sorted((root / top).rglob("*.[ch]")):
            for name in TYPE.findall(path.read_text()):
                files[name].add(str(path.relative_to(root)))
    twice = {name: where for name, where in files.items() if len(where) > 1}
    for name in sorted(twice.keys() - KNOWN):
        print(f"the type '{name}' is defined in {', '.join(sorted(twice[name]))}: rename one")
    for name in sorted(KNOWN - twice.keys()):
        print(f"the type '{name}' is defined once now: take it out of the list")
    print(f"{len(files)} types")
    return 1 if twice.keys() ^ KNOWN or len(files) < 100 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
