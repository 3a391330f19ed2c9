"""Every error, warning and note that users can read is in messages.txt, as the sources write it. People review that list.

Arguments: the root of the sources; --write renews the list. A line has the file and the text. Texts that one call
chooses from or puts together are separated by " | "; a constant that is no text is written as <NAME>."""
import ast
import difflib
import pathlib
import re
import sys

LIST = pathlib.Path("tests", "project", "messages.txt")
RENEW = "python3 tests/project/messages.py --write"

# --- C: texts given to functions that report, or printed on standard error ---

REPORTING = set("fail vfail failed failure usage die warn warning note log mistake message report refuse reject damaged "
                "setback lost say tell complain error problem excuse".split())
TEMPLATES = {"clt_fail_errno": "cannot {} '...': ...", "clt_node_fail_name": 'there is no {} "..."'}
CHOOSING = {"return", "?", ":"}
HELP = {"summary", "description", "examples", "arguments"}  # members of structures, shown by --help
STREAMS = {"fprintf", "vfprintf", "fputs", "fputc", "dprintf"}
MAKING = {"snprintf", "clt_snprintf", "clt_format", "clt_text_printf", "clt_text_add", "strdup"}  # of later reports
TABLES = ("CLT_ERROR_TABLE", "CLT_INVALIDITY_TABLE", "CLT_REASON_TABLE")
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|[A-Za-z_]\w*|\s+|.', re.S)
NO_WORDS = re.compile(r"%[-+ #0-9.*]*[a-z]+|\{[^}]*\}|\b(?:clatune|warning)\b")
SENTENCE = re.compile(r"(?:[a-z]{2,}'?s?,? (?:['\"(]?%\w+['\")]?,? )?){2}")
NO_SENTENCE = re.compile(r"[{}<@]|\b(?:SELECT|INSERT|FROM|WHERE|TABLE|static|const|return|int|void|typedef)\b|#(?:if|def|inc|end)")


def tokens(text):
    text = re.sub(r"\\\n", " ", text)
    return [t for t in TOKEN.findall(text) if not t.isspace() and not t.startswith(("/*", "//"))]


def closing(words, at):
    """Where the bracket that opens at a place is closed."""
    depth = 0
    for i in range(at, len(words)):
        depth += (words[i] in "([{") - (words[i] in ")]}")
        if depth == 0:
            return i
    return len(words)


def is_text(word):
    return word.startswith('"')


def texts(words):
    """The texts in a row of words: literals that follow each other are one, with the macros between them."""
    found, i = [], 0
    while i < len(words):
        if not is_text(words[i]):
            i += 1
            continue
        text = ""
        while i < len(words) and (is_text(words[i]) or (
                re.fullmatch(r"[A-Z][A-Z0-9_]+|PRI\w+", words[i]) and (i + 1 == len(words) or is_text(words[i + 1])))):
            text += words[i][1:-1] if is_text(words[i]) else f"<{words[i]}>"
            i += 1
        if re.search("[A-Za-z]", re.sub(r"%[-+ #0-9.*]*(?:ll|l|z|j|h)?[a-zA-Z]|<\w+>|\\.", "", text)):
            found.append(text)
    return found


def is_sentence(text):
    return SENTENCE.search(text + " ") and not NO_SENTENCE.search(text)


def reports(name):
    return bool(REPORTING & set(name.lower().split("_"))) or name in TEMPLATES


def of_c(text):
    words = tokens(text)
    i, end = 0, 0  # end: of the last call that reports
    while i + 1 < len(words):
        name = words[i]
        i += 1
        if i >= end and (name in CHOOSING or name == "=" and words[i - 2] not in HELP) and is_text(words[i]):
            yield from filter(is_sentence, texts(words[i:])[:1])
        if words[i] != "(" or not re.match(r"[A-Za-z_]", name):
            continue
        arguments = words[i + 1:closing(words, i)]
        called = name in STREAMS | MAKING or reports(name)
        end = max(end, i + 1 + len(arguments) if called else 0)
        for k in range(len(arguments) - 1, -1, -1):  # a report within a report is one of its own
            if k + 1 < len(arguments) and arguments[k + 1] == "(" and reports(arguments[k]):
                del arguments[k + 2:closing(arguments, k + 1)]
        found = texts(arguments)
        if name in TEMPLATES and found:
            yield " | ".join(TEMPLATES[name].format(part) for part in found)
        elif reports(name) or name in STREAMS and ("stderr" in arguments or arguments[:1] == ["2"]):
            if any(" " in part for part in found):
                yield " | ".join(found)
        elif name in MAKING:
            yield from filter(is_sentence, found)


def of_tables(text):
    for table in TABLES:
        for body in re.findall(rf"#define {table}\((?:\\\n|[^\n])*", text):
            yield from (found for found in texts(tokens(body)) if " " in found)


# --- Python ---

def shown(node):
    """A text as it is written, with {...} for inserted values; None: it is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(shown(part) or "{" + ast.unparse(part.value) + "}" for part in node.values)
    return None


def python_texts(node):
    text = shown(node)
    if text is not None:
        yield text
        return
    for child in ast.iter_child_nodes(node):
        yield from python_texts(child)


def is_report(node):
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Raise)
    called = ast.unparse(node.func)
    return called in ("warnings.warn", "sys.exit") or called == "print" and "stderr" in ast.unparse(node)


def of_python(text):
    tree = ast.parse(text)
    tables = {target.id: node.value for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
              if isinstance(target, ast.Name)}
    used = set()
    for node in ast.walk(tree):
        if is_report(node):
            found = [part for part in python_texts(node) if " " in part]
            if found:
                yield " | ".join(found)
            used |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    for name in used & set(tables):
        yield from (part for part in python_texts(tables[name]) if SENTENCE.search(part))


# --- the list ---

def messages(root):
    lines = set()
    for folder, pattern, read in (("src", "*.[ch]", of_c), ("include", "*.h", of_tables), ("python/clatune", "*.py", of_python)):
        for path in (root / folder).rglob(pattern):
            name = path.relative_to(root).as_posix()
            lines |= {f"{name}: {text}".replace("\r", "\\r").replace("\n", "\\n") for text in read(path.read_text())
                      if re.search("[A-Za-z]{3}", NO_WORDS.sub("", text))}
    return sorted(lines)


def main(arguments):
    root = pathlib.Path(next((a for a in arguments if a != "--write"), "."))
    path, now = root / LIST, messages(root)
    if "--write" in arguments:
        path.write_text("\n".join(now) + "\n")
    old = path.read_text().splitlines() if path.exists() else []
    difference = [line for line in difflib.unified_diff(old, now, str(LIST), "the sources", lineterm="", n=0)
                  if not line.startswith("@@")]
    print(*difference, sep="\n")
    print(f"{len(now)} messages" + (f"; review the difference, and renew the list: {RENEW}" if difference else ""))
    return 1 if difference or len(now) < 500 else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
