"""docs/reference/environment.md names every variable that src/ reads with getenv, and no other."""
import pathlib
import re
import sys

CALL = re.compile(r"\b(?:secure_)?getenv\(([^)]*)\)")


def helpers(text):
    """Functions of a file that pass a parameter on to getenv."""
    return set(re.findall(r"^[a-z][\w *]*?\b(\w+)\(const char \*(\w+)\) \{\n[^}]*getenv\(\2\)", text, re.M))


def read_by_code(root):
    """{variable: components}, and the calls whose variable cannot be seen."""
    found, unknown = {}, []
    for path in sorted((root / "src").rglob("*.[ch]")):
        text, component = path.read_text(), path.relative_to(root / "src").parts[0]
        passing = helpers(text)
        arguments = [(a, "getenv") for a in CALL.findall(text)]
        for name, _ in passing:
            arguments += [(a, name) for a in re.findall(rf"\b{name}\(([^)]*)\)", text) if not a.startswith("const char")]
        for argument, _ in arguments:
            literal = re.fullmatch(r'"(\w+)"', argument)
            if literal:
                found.setdefault(literal[1], set()).add(component)
            elif argument not in {parameter for _, parameter in passing}:
                unknown.append(f"{path}: getenv({argument})")
    return found, unknown


def documented(root):
    return set(re.findall(r"^\| `(\w+)` \|", (root / "docs/reference/environment.md").read_text(), re.M))


def main(root):
    (code, problems), page = read_by_code(root), documented(root)
    problems += [f"{name} is read by {', '.join(sorted(code[name]))}, but docs/reference/environment.md does not name it" for name in code
                 if name not in page]
    problems += [f"{name} is in docs/reference/environment.md, but nothing reads it" for name in page if name not in code]
    print(*problems, sep="\n")
    print(f"{len(code)} variables, {len(problems)} problems")
    return 1 if problems or len(code) < 8 else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
