"""Every link of a page in the tree leads to a file that is there, and its anchor to a heading. Argument: the root."""
import functools
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")  # its text may span lines
ELSEWHERE = re.compile(r"[a-z]+:")


def lines(path):
    """Those outside of code blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def links(path):
    """The links outside of code blocks, with the numbers of the lines on which they begin. An empty line ends a link's text."""
    paragraph = []
    for number, line in [*lines(path), (None, "")]:
        if line.strip():
            paragraph.append((number, line))
            continue
        text = "\n".join(line for _, line in paragraph)
        for match in LINK.finditer(text):
            yield paragraph[text.count("\n", 0, match.start())][0], match[1]
        paragraph = []


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


@functools.cache
def anchors(path):
    found = {}
    for _, line in lines(path):
        if match := re.match(r"#+ (.*)", line):
            name = slug(match[1])
            found[name] = found.get(name, -1) + 1
    return {f"{name}-{i}" if i else name for name, n in found.items() for i in range(n + 1)}


def fault(page, link):
    """The error of a link, or None."""
    target, _, anchor = link.partition("#")
    path = (page.parent / target).resolve() if target else page
    if not path.exists():
        return "there is no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors(path):
        return f"{path.name} has no such heading; it has {', '.join(sorted(anchors(path)))}"
    return None


def main(root):
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=root, text=True, capture_output=True)
    if names.returncode:  # a source tarball
        pages = [p for p in root.glob("**/*.md") if not any(part.startswith("build") for part in p.relative_to(root).parts)]
    else:
        pages = [root / name for name in names.stdout.splitlines() if (root / name).exists()]
    faults, n = [], 0
    for page in pages:
        for number, link in links(page):
            if ELSEWHERE.match(link):
                continue
            n += 1
            if why := fault(page, link):
                faults.append(f"{page.relative_to(root)}:{number}: '{link}': {why}")
    print(*faults, f"{n} links on {len(pages)} pages, {len(faults)} faults", sep="\n")
    return 1 if faults or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
