"""Renews the parts of the pages that are generated, from help texts, schemas and headers: what is between the lines
'<!-- generated: NAME -->' and '<!-- generated: end -->' becomes the text that the function of that name returns.
Argument: the program clatune (default: build/src/cli/clatune)."""
import json
import pathlib
import re
import sys
import textwrap

DOCS = pathlib.Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS / "man"))
import help as clatune_help  # noqa: E402

PART = re.compile(r"^(<!-- generated: (?!end)([\w-]+) -->\n)((?:(?!<!-- generated:).)*)(^<!-- generated: end -->$)", re.M | re.S)
PARTS = {}
NAMES = re.compile(r"'(clatune [^'\n]*)'|(?<![\w-])(--[a-z][\w-]*|CLT_E_\.\.\.|[A-Z][A-Z0-9]*_[A-Z0-9_]+|clt_\w+|\w+/\w+\.h)(?![\w*])")


def part(name):
    def add(function):
        PARTS[name] = function
        return function
    return add


# --- Markdown ---

def slug(heading):
    """The rule of tests/project/links.py."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").strip().lower()).replace(" ", "-")


def escape(text):
    return re.sub(r"([\\`*_\[\]])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;")


def code(text):
    fence = "``" if "`" in text else "`"
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def prose(text):
    """Text that is no Markdown: commands, options and names in it become code."""
    out, at = "", 0
    for match in NAMES.finditer(text):
        out += escape(text[at:match.start()]) + code(match[1] or match[2])
        at = match.end()
    return out + escape(text[at:])


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |\n" for line in lines)


def fenced(text, language=""):
    return f"```{language}\n{text.rstrip()}\n```\n"


# --- tables of the C sources ---

def c_table(path, name):
    """The rows of an X-macro's table: lists of words and texts."""
    text = (ROOT / path).read_text()
    body = re.search(rf"#define {name}\(X\)((?:.*\\\n)*.*)", text)[1].replace("\\\n", " ")
    string = r'"((?:[^"\\]|\\.)*)"'
    rows = re.findall(r'X\(((?:"(?:[^"\\]|\\.)*"|[^()"])*)\)', body)
    assert rows, name
    return [[a.replace('\\"', '"') or b for a, b in re.findall(string + r"|([\w-]+)", row)] for row in rows]


@part("exit-codes")
def exit_codes(_):
    return table(["code", "meaning"], [[value, prose(text)] for _, value, text in c_table("src/cli/arguments.h", "CLI_EXIT_TABLE")])


@part("errors")
def errors(_):
    rows = c_table("include/clatune/error.h", "CLT_ERROR_TABLE")
    return table(["code", "value", "text"], [[code(name), value, escape(text)] for name, value, text in rows])


@part("reasons")
def reasons(_):
    kinds = dict(c_table("include/clatune/measurement.h", "CLT_INVALIDITY_TABLE"))
    rows = c_table("include/clatune/measurement.h", "CLT_REASON_TABLE")
    out = table(["reason", "T4 invalidity", "meaning"], [[code(name), code(kinds[kind]), escape(text)] for _, kind, name, text in rows])
    names = {row[0]: row[2] for row in rows}
    known = re.findall(r'\{"(\w+)", (CLT_REASON_\w+)\}', (ROOT / "src/format/recording.c").read_text())
    return out + "\nImported results get the reason in the second column:\n\n" + table(
        ["word of a file", "reason"], [[code(word), code(names[reason])] for word, reason in known])


@part("device-properties")
def device_properties(_):
    fields = re.search(r"fields\[\] = \{(.*?)\n\};", (ROOT / "src/device/device.c").read_text(), re.S)[1]
    comments, described = {}, re.search(r"typedef struct clt_device_info \{(.*?)\n\} ", (ROOT / "include/clatune/device.h").read_text(), re.S)
    for members, comment in re.findall(r"^ *\w+ ([^;]*);(?: +/\* (.*?) \*/)?", described[1], re.M):
        comments.update((re.sub(r"\[\d+\]", "", member.strip()), comment) for member in members.split(","))
    kinds = {"TEXT": "text", "BOOL": "boolean", "TYPE": "text", "REAL": "number", "INT": "integer", "U32": "integer", "U64": "integer"}
    rows = []
    for kind, name in re.findall(r'(TEXT|FIELD_\w+)[(,] ?"?(\w+)', fields):
        comment = comments.get(name, "") if kind != "FIELD_TYPE" else "cpu, gpu, accelerator or other"
        rows.append([code("device." + name), kinds[kind.removeprefix("FIELD_")], prose(comment)])
    return table(["property", "type", ""], rows)


# --- the program's help ---

def help_table(title, rows):
    return table([title, "meaning"], [[code(name), prose(text)] for name, text in rows])


@part("commands")
def commands(program):
    out = ""
    for name in clatune_help.names(program):
        usage, description, sections = clatune_help.command(program, name)
        out += f"### {name}\n\n{fenced(usage)}\n{prose(description)}\n\n"
        for title, lines in sections:
            if clatune_help.lists_plug_ins(title):
                out += f"The [{title.split()[0]}](searchers.md#options) have options of their own.\n\n"
            elif title == "examples:":
                out += fenced("\n".join(line.removeprefix("  ") for line in lines)) + "\n"
            elif lines:
                out += help_table(title.removesuffix("s:"), clatune_help.terms(lines)) + "\n"
            else:
                out += prose(title) + "\n\n"
    return out


@part("plugins")
def plug_ins(program):
    out = ""
    for kind, name, summary, options in clatune_help.plug_ins(program):
        out += f"### {kind.capitalize()} {name}\n\n{prose(summary[0].upper() + summary[1:])}.\n\n"
        out += help_table("option", options) + "\n" if options else ""
    return out


# --- schemas ---

class Schema:
    """A schema as Markdown: a table for each object, and one for the kinds of values that have names."""
    WORDS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean", "null": "null", "object": "object", "array": "list"}

    def __init__(self, path, prefix="", parts=None, before=""):
        self.root, self.prefix, self.parts, self.before = json.loads(path.read_text()), prefix, parts, before
        self.values, self.expanding = {}, []  # named kinds of values that the tables refer to; names that kind() is in

    def named(self, reference):
        """The name, the definition and the schema of a reference."""
        where, _, name = reference.partition("#/definitions/")
        schema = self.parts if where else self
        return name, schema.root["definitions"][name], schema

    def heading(self, node):
        title = node["title"]
        if self.prefix:
            return f"{self.prefix}: {title[0].lower() + title[1:]}"
        return title if "properties" not in node else self.before + title

    def kind(self, node):
        """What values a node allows, in words."""
        if "$ref" in node:
            name, definition, schema = self.named(node["$ref"])
            if "title" not in definition and "properties" in definition:
                return "object with " + ", ".join(code(key) for key in definition["properties"])
            if "properties" in definition:
                return f"[{definition['title'].lower()}](#{slug(schema.heading(definition))})"
            if name == "expression":
                return "[expression](expressions.md)"
            if "description" in definition and name != "real":
                schema.values[definition["title"]] = definition
                return f"[{definition['title'].lower()}](#{slug(schema.heading({'title': 'Kinds of values'}))})"
            if name in schema.expanding:
                return "lists of these"
            schema.expanding.append(name)
            words = schema.kind(definition)
            schema.expanding.pop()
            return words
        if "allOf" in node:
            return self.kind(node["allOf"][0])
        if "enum" in node or "const" in node:
            return ", ".join(code(json.dumps(v) if not isinstance(v, str) else v) for v in node.get("enum", [node.get("const")]))
        if "anyOf" in node:
            return " or ".join(dict.fromkeys(self.kind(option) for option in node["anyOf"]))
        types = node.get("type", [])
        types = types if isinstance(types, list) else [types]
        if types == ["array"] and "items" in node:
            return f"list of: {self.kind(node['items'])}"
        return " or ".join(self.WORDS[t] for t in types) or "any"

    def object(self, node):
        rows = []
        for key, value in node["properties"].items():
            text = prose(value["description"]) if "description" in value else ""
            if "default" in value and "Default:" not in text:
                default = value["default"]
                text += f" Default: {code(default if isinstance(default, str) else json.dumps(default))}."
            rows.append([code(key), self.kind(value), ("Required. " if key in node.get("required", []) and not self.prefix else "") + text])
        return table(["member" if self.prefix else "key", "value", "meaning"], rows)

    def objects(self, node, seen):
        """The named objects that a node refers to, in their order; those of another file are left to that one."""
        for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
            reference = value.get("$ref") if isinstance(value, dict) else None
            if isinstance(reference, str) and reference.startswith("#") and reference not in seen:
                seen.append(reference)
                definition = self.named(reference)[1]
                if "properties" in definition and "title" in definition:
                    yield definition
                yield from self.objects(definition, seen)
            elif isinstance(value, (dict, list)):
                yield from self.objects(value, seen)

    def sections(self, start, without=()):
        """The object 'start' (None: the whole file), then what it refers to; not the definitions 'without'."""
        node = self.root["definitions"][start] if start else {k: v for k, v in self.root.items() if k != "definitions"}
        seen = [f"#/definitions/{name}" for name in without]
        out = self.object(node) + "\n" if "properties" in node else ""
        for definition in self.objects(node, seen):
            out += f"### {self.heading(definition)}\n\n"
            out += prose(definition["description"]) + "\n\n" if "description" in definition else ""
            out += self.object(definition) + "\n"
        return out + self.kinds()

    def kinds(self):
        if not self.values:
            return ""
        rows, n = [], 0
        while n < len(self.values):  # grows as kinds name others
            title, node = list(self.values.items())[n]
            rows.append([escape(title), self.kind(node), prose(node["description"])])
            n += 1
        return f"### {self.heading({'title': 'Kinds of values'})}\n\n" + table(["kind", "value", ""], rows) + "\n"


def of_schema(name, start=None, without=(), before=""):
    return Schema(ROOT / "schema" / f"{name}.json", before=before).sections(start, without)


@part("problem-keys")
def problem_keys(_):
    text = of_schema("problem", None, ("command",))
    return text.replace("(#command)", "(program-problems.md)")


@part("command-keys")
def command_keys(_):
    text = of_schema("problem", "command", ("resources",), "Keys of ")  # the page has sections of the same names
    return text.replace("(#keys-of-resources)", "(problem-file.md#resources)")


@part("plan-keys")
def plan_keys(_):
    return of_schema("plan")


@part("family-keys")
def family_keys(_):
    return of_schema("family")


ANSWERS = ROOT / "schema" / "answers"
COMMANDS = {"serve": "serve --stdio", "tune-dry-run": "tune --dry-run --json"}  # of schemas that are not named after a command


def answer(name, common, prefix):
    schema = Schema(ANSWERS / f"{name}.json", prefix, common)
    out = prose(schema.root["title"]) + ". " + prose(schema.root.get("description", "")) + "\n\n"
    if "properties" not in schema.root:
        out += f"One of: {schema.kind({k: v for k, v in schema.root.items() if k != 'definitions'})}.\n\n"
    return out + schema.sections(None).replace("### " + prefix, "#### " + prefix)


@part("answers")
def answers(_):
    common, out = Schema(ANSWERS / "common.json"), ""
    for name in sorted(path.stem for path in ANSWERS.glob("*.json") if path.stem not in ("common", "events")):
        command = name.replace("-", " ")
        out += f"### clatune {COMMANDS.get(name, command + ' --json')}\n\n" + answer(name, common, command)
    out += "### Common parts\n\n"
    for node in common.root["definitions"].values():
        if "properties" in node:
            out += f"#### {node['title']}\n\n{common.object(node)}\n"
    return out + common.kinds().replace("### ", "#### ")


@part("events")
def events(_):
    return answer("events", Schema(ANSWERS / "common.json"), "event").replace("#### ", "### ")


# --- headers ---

def comment_text(comment):
    """The text of a comment; indented lines are code."""
    lines = [re.sub(r"^ ?\* ?", "", line) for line in comment.removeprefix("/*").removesuffix("*/").strip().splitlines()]
    blocks, last = [], None
    for line in lines:
        kind = "code" if line.startswith("  ") else "text" if line else None
        if kind and kind == last:
            blocks[-1][1].append(line)
        elif kind:
            blocks.append((kind, [line]))
        last = kind
    text = "\n\n".join(fenced(textwrap.dedent("\n".join(block)), "c") if kind == "code" else prose("\n".join(block)) for kind, block in blocks)
    return re.sub(r"docs/(reference/)?([\w-]+)\.md", lambda m: f"[{m[2]}]({'' if m[1] else '../'}{m[2]}.md)", text)


@part("headers")
def headers(_):
    folder = ROOT / "include" / "clatune"
    paths = [folder / "clatune.h", *sorted(p for p in folder.glob("*.h") if p.name not in ("clatune.h", "version.h")), *sorted(folder.glob("sys/*.h"))]
    skipped = re.compile(r"^(?:#(?:ifndef|define|endif|include|ifdef|undef|else)\b(?!.*\()[^\n]*|CLT_(?:BEGIN|END)_C|extern \"C\" \{|\})$")
    out = ""
    for path in paths:
        name = path.relative_to(ROOT / "include").as_posix()
        text = path.read_text()
        first = re.match(r"/\*.*?\*/", text, re.S)[0]
        about = comment_text(re.sub(r"^/\* *\S+ - ", "/* ", first))
        out += f"### {name}\n\n{about[0].upper() + about[1:]}\n\n"
        for chunk in re.split(r"\n\n+", text[len(first):].strip()):
            if all(skipped.match(line) for line in chunk.splitlines()):
                continue
            comment = re.match(r"/\*.*?\*/(?=\n)", chunk, re.S)
            out += comment_text(comment[0]) + "\n\n" if comment else ""
            rest = chunk[comment.end():].strip("\n") if comment else chunk
            out += fenced(rest, "c") + "\n" if rest else ""
    return out


# --- the pages ---

def fill(text, program):
    return PART.sub(lambda match: f"{match[1]}\n{PARTS[match[2]](program).strip()}\n\n{match[4]}", text)


def pages():
    return sorted(p for p in DOCS.rglob("*.md") if "site" not in p.relative_to(DOCS).parts)


def main(program):
    for page in pages():
        text = page.read_text()
        filled = fill(text, program)
        if filled != text:
            page.write_text(filled)
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/src/cli/clatune"))
