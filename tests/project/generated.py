"""docs/generate.py runs, and fills each marker of the pages; links to headings of the filled pages lead somewhere; the site's menu has
every page. Arguments: the root, the program clatune."""
import pathlib
import re
import sys
import tempfile

ROOT, PROGRAM = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests/project")]
import generate  # noqa: E402
import links  # noqa: E402


def main(folder):
    faults, used = [], []
    generate.main(PROGRAM, folder)
    for page in generate.pages():
        name = page.relative_to(ROOT / "docs")
        marked, filled = page.read_text(), folder / "docs" / name
        used += generate.MARKER.findall(marked)
        text = filled.read_text()
        if "<!-- generated:" in text:
            faults.append(f"{name}: {re.search('<!-- generated:.*', text)[0]} is not filled")
        if marked == text:
            continue
        faults += [f"{name}: 'The {kind} have options'" for kind in re.findall(r"The \[?(\w+).* have options of their own", text)
                   if kind not in ("searchers", "evaluators", "models")]
        twice = {anchor for anchor in links.anchors(filled) if re.search(r"-\d+$", anchor) and re.sub(r"-\d+$", "", anchor) in links.anchors(filled)}
        faults += [f"{name}: two headings have the anchor '{re.sub('-[0-9]+$', '', anchor)}'" for anchor in sorted(twice)]
        for number, line in links.lines(filled):
            for link in links.LINK.findall(line):
                if link.startswith("#") and (why := links.fault(filled, link)):
                    faults.append(f"{name}, filled, line {number}: '{link}': {why[:100]}")
    menu = re.findall(r"- (\S+\.md)$", (ROOT / "docs/site/mkdocs.yml").read_text(), re.M)
    there = [page.relative_to(ROOT / "docs").as_posix() for page in generate.pages()]
    faults += [f"docs/site/mkdocs.yml: the menu lacks {name}" for name in there if name not in menu]
    faults += [f"docs/site/mkdocs.yml: there is no {name}" for name in menu if name not in there]
    faults += [f"no page has the part '{part}'" for part in generate.PARTS if part not in used]
    faults += [f"two pages have the part '{part}'" for part in generate.PARTS if used.count(part) > 1]
    print(*faults, f"{len(used)} generated parts, {len(faults)} faults", sep="\n")
    return 1 if faults or not used else 0


with tempfile.TemporaryDirectory() as temporary:
    sys.exit(main(pathlib.Path(temporary) / "site"))
