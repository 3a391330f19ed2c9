"""The schemas match the loaders: the same keys, the same names to choose from. Given the root of the sources."""
import json
import pathlib
import re
import sys

ROOMS = {"problem": "problem", "plan": "farm", "family": "family"}
LIST = r"CLT_NAMES\(([^()]*)\)"
KEYS = re.compile(r"clt_read_object\(\s*&?\w+,\s*" + LIST)
CHOICE = re.compile(r'clt_read_choice\(\s*&?\w+,\s*"(\w+)",\s*' + LIST)
VARYING = re.compile(r'clt_load_option\([^;]*"(\w+)"\)')  # the values over which the name of a key varies
REFUSED = {"Script", "BinaryHDF", "Symbol"}  # T1's, read only to say why they are not possible


def names(text):
    return [part.strip().strip('"') for part in text.split(",")], '"' in text and all('"' in part for part in text.split(","))


def of_sources(folder):
    """The keys of each object that a loader reads, and (key, names to choose from)."""
    objects, choices = set(), set()
    for path in sorted(folder.glob("*.c")):
        code = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        for found in KEYS.finditer(code):
            keys, literal = names(found[1])
            if literal:
                objects.add(frozenset(keys))
            else:
                objects.update(frozenset([name, "When"]) for name in VARYING.findall("".join(
                    other.read_text() for other in folder.glob("*.c"))))
        choices.update((found[1], frozenset(names(found[2])[0]) - REFUSED) for found in CHOICE.finditer(code))
    return objects, choices


def of_schema(root):
    objects, choices = set(), set()

    def resolve(node):
        return root["definitions"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node

    def walk(node):
        if isinstance(node, list):
            for item in node:
                walk(item)
        if not isinstance(node, dict):
            return
        if node.get("additionalProperties") is False:
            objects.add(frozenset(node["properties"]))
        for key, value in node.get("properties", {}).items():
            named = resolve(value) if isinstance(value, dict) else {}
            if "enum" in named and all(isinstance(item, str) for item in named["enum"]):
                choices.add((key, frozenset(named["enum"])))
        for value in node.values():
            walk(value)

    walk(root)
    return objects, choices


def undescribed(node, at=""):
    """Places of properties without a description."""
    for key, value in node.items():
        if key == "properties" and "then" not in at and "else" not in at and "/if" not in at and "/not" not in at:
            yield from (f"{at}/{name}" for name, property in value.items() if "description" not in property)
        if isinstance(value, dict):
            yield from undescribed(value, f"{at}/{key}")


def main(source):
    problems, n = [], 0
    for name, room in ROOMS.items():
        path = source / "schema" / f"{name}.json"
        schema = json.loads(path.read_text())
        read, known = of_sources(source / "src" / room), of_schema(schema)
        for kind, of_source, of_file in zip(("keys", "names to choose from"), read, known):
            n += len(of_source)
            if not of_source and kind == "keys":
                problems.append(f"{path}: no loader was found in src/{room}")
            for difference, what in ((of_source - of_file, f"src/{room} reads {kind} that {path} lacks"),
                                     (of_file - of_source, f"{path} has {kind} that src/{room} does not read")):
                problems += [f"{what}: {sorted(item) if kind == 'keys' else (item[0], sorted(item[1]))}" for item in difference]
    for path in (source / "schema").rglob("*.json"):
        problems += [f"{path}: no description: {place}" for place in undescribed(json.loads(path.read_text()))]
    print(*problems, sep="\n")
    print(f"{n} lists of names, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(pathlib.Path(sys.argv[1])))
