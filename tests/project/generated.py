"""The generated parts of the pages are what docs/generate.py writes; the site's menu has every page. Arguments: the root, the program
clatune."""
import pathlib
import re
import sys

ROOT, PROGRAM = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests/project")]
import generate  # noqa: E402
import links  # noqa: E402


def main():
    faults, used = [], []
    for page in generate.pages():
        name, text = page.relative_to(ROOT / "docs"), page.read_text()
        parts = [match[2] for match in generate.PART.finditer(text)]
        used += parts
        if text.count("<!-- generated:") != 2 * len(parts):
            faults.append(f"{name}: '<!-- generated: NAME -->' and '<!-- generated: end -->' must take turns")
        elif generate.fill(text, PROGRAM) != text:
            faults.append(f"{name}: a generated part is out of date: python3 docs/generate.py {PROGRAM}")
        if parts:
            faults += [f"{name}: 'The {kind} have options'" for kind in re.findall(r"The \[?(\w+).* have options of their own", text)
                       if kind not in ("searchers", "evaluators", "models")]
            anchors = links.anchors(page)
            twice = sorted(anchor for anchor in anchors if re.search(r"-\d+$", anchor) and re.sub(r"-\d+$", "", anchor) in anchors)
            faults += [f"{name}: two headings have the anchor '{re.sub('-[0-9]+$', '', anchor)}'" for anchor in twice]
    menu = re.findall(r"- (\S+\.md)$", (ROOT / "docs/site/mkdocs.yml").read_text(), re.M)
    there = [page.relative_to(ROOT / "docs").as_posix() for page in generate.pages()]
    faults += [f"docs/site/mkdocs.yml: the menu lacks {name}" for name in there if name not in menu]
    faults += [f"docs/site/mkdocs.yml: there is no {name}" for name in menu if name not in there]
    faults += [f"no page has the part '{part}'" for part in generate.PARTS if part not in used]
    faults += [f"two pages have the part '{part}'" for part in generate.PARTS if used.count(part) > 1]
    print(*faults, f"{len(used)} generated parts, {len(faults)} faults", sep="\n")
    return 1 if faults or not used else 0


sys.exit(main())
