"""The documentation stays short: words of docs/ without the notebook, the manual pages and generated parts, and of the README, as
wc -w counts them. Argument: the root. --pages lists the words of each page."""
import pathlib
import re
import sys

MOST_IN_DOCS, MOST_IN_README = 26_430, 700
NOT_COUNTED = ("notebook", "man")
GENERATED = re.compile(r"^<!-- generated: .*?^<!-- generated: end -->$", re.M | re.S)


def words(path):
    return len(GENERATED.sub("", path.read_text()).split())


def main(root, show_pages):
    pages = {p: words(p) for p in sorted((root / "docs").rglob("*.md")) if p.relative_to(root / "docs").parts[0] not in NOT_COUNTED}
    if show_pages:
        for page, n in pages.items():
            print(f"{n:6} {page.relative_to(root)}")
    faults = 0
    for name, n, most in (("docs/", sum(pages.values()), MOST_IN_DOCS), ("README.md", words(root / "README.md"), MOST_IN_README)):
        print(f"{name}: {n} words, at most {most}")
        faults += not 0 < n <= most
    return 1 if faults else 0


sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), "--pages" in sys.argv[2:]))
