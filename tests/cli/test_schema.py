"""The schemas for editors: they accept what clatune reads, and refuse the unknown keys and wrong types that clatune refuses."""
import concurrent.futures
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import CLATUNE, CliTest, answer_schema, check_answer, has_program, main

try:
    import jsonschema
except ImportError:
    jsonschema = None

SOURCE = pathlib.Path(__file__).parent.parent.parent
SAMPLES = pathlib.Path(__file__).parent / "schema"
PROGRAMS = {"plan": "sweep", "family": "family"}  # that read them
KINDS = {key: kind for key, kind in (("Problems", "plan"), ("Variants", "family"), ("ConfigurationSpace", "problem"))
         if kind not in PROGRAMS or has_program(PROGRAMS[kind])}
FOLDERS = ("kernels_cl", "examples", "tests/cli", "tests/instruments", "tests/fuzz/corpus/plan", "tests/family", "benchmarks")
# Of the loaders' messages those about keys and types.
ABOUT_FORM = re.compile(r"there is no key|needs (an object|a list|a string|a number|a whole number$|true or false|a text|the |one of)|is no key")
WHOLE = "CLATUNE_FIGURES" in os.environ  # in the suite long: at each place each of these mistakes, else one of them
WRONG = ({"Surprise": [[]]}, [[[]]], "a b", True, 7)


def kind_of(content):
    return next((kind for key, kind in KINDS.items() if isinstance(content, dict) and key in content), None)


def load(path):
    try:
        return json.loads(path.read_text())
    except (ValueError, UnicodeDecodeError):
        return None  # a file that a test wants broken


def places(node, path=()):
    """The path of each member and item."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if not (isinstance(key, str) and key[0] in "$/"):
            yield (*path, key)
            if isinstance(value, (dict, list)):
                yield from places(value, (*path, key))


def at(node, path):
    for key in path:
        node = node[key]
    return node


def changed(content):
    """(the change, the content with one mistake)."""
    for i, path in enumerate([(), *places(content)]):
        for wrong in (WRONG if WHOLE else [WRONG[i % len(WRONG)]]) if path else ():
            other = copy.deepcopy(content)
            at(other, path[:-1])[path[-1]] = wrong
            yield f"{path} = {wrong}", other
        if isinstance(at(content, path), dict):
            other = copy.deepcopy(content)
            at(other, path)["Surprise"] = [[]]
            yield f"{path} has a key Surprise", other


def command(kind, path):
    return {"problem": ["space", path], "plan": ["sweep", path, "--dry-run"], "family": ["family", "report", path]}[kind]


@unittest.skipUnless(jsonschema, "python3-jsonschema is not installed")
class Schema(CliTest):
    def setUp(self):
        super().setUp()
        self.schemas = {kind: json.loads((SOURCE / "schema" / f"{kind}.json").read_text()) for kind in KINDS.values()}
        self.environment["OCL_ICD_VENDORS"] = str(self.folder / "none")
        self.samples = [path for path in sorted(SAMPLES.iterdir()) if kind_of(load(path))]
        for sample in self.samples:
            shutil.copy(sample, self.folder)

    def mistake(self, kind, content):
        found = next(jsonschema.Draft7Validator(self.schemas[kind]).iter_errors(content), None)
        return found and f"{list(found.absolute_path)}: {found.message}"

    def said(self, kind, name):
        """clatune's error for a file; None: none."""
        run = subprocess.run([CLATUNE, *command(kind, name)], cwd=self.folder, env=self.environment, text=True, capture_output=True)
        line = next((line for line in run.stderr.splitlines() if line.startswith(f"clatune: {name}:")), None)
        return line and line.partition(f"{name}:")[2]

    def test_the_schemas_are_schemas(self):
        for path in (SOURCE / "schema").rglob("*.json"):
            jsonschema.Draft7Validator.check_schema(load(path))

    def test_an_answer_is_checked(self):
        """clatune_json does, in all tests of the command line."""
        answer = self.clatune_json("space", "scale.json")
        path = answer_schema(("space", "scale.json"))
        for wrong in ({**answer, "valid": "23"}, {**answer, "surprise": 1}, {**answer, "sizes": {"n": 0.5}}, [{}]):
            with self.assertRaises(jsonschema.ValidationError):
                check_answer(path, wrong)

    def test_the_projects_files_pass(self):
        files = [path for folder in FOLDERS for path in sorted((SOURCE / folder).rglob("*.json"))]
        counts = dict.fromkeys(self.schemas, 0)
        for path in files:
            content = load(path)
            kind = kind_of(content)
            if kind:
                counts[kind] += 1
                self.assertIsNone(self.mistake(kind, content), path)
        self.assertGreater(counts["problem"], 50)
        self.assertGreater(min(counts.values()), 5)

    def test_the_samples_load_and_have_every_key(self):
        used = dict.fromkeys(self.schemas, frozenset())
        for sample in self.samples:
            content = load(sample)
            kind = kind_of(content)
            self.assertIsNone(self.said(kind, sample.name))
            used[kind] |= {key for path in places(content) for key in path if isinstance(key, str)}
        for kind, schema in self.schemas.items():
            known = {name for properties in self.properties(schema) for name in properties}
            self.assertFalse(known - used[kind], kind)

    def properties(self, node):
        for key, value in node.items():
            if isinstance(value, dict):
                if key == "properties":
                    yield value
                yield from self.properties(value)

    def test_what_clatune_refuses_the_schema_refuses(self):
        cases = []
        for sample in self.samples:
            content = load(sample)
            kind = kind_of(content)
            for what, other in changed(content):
                if self.mistake(kind, other) is None:
                    name = f"{len(cases)}.{sample.name}"
                    (self.folder / name).write_text(json.dumps(other))
                    cases.append((kind, name, what))
        self.assertGreater(len(cases), 50)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            messages = list(pool.map(lambda case: self.said(*case[:2]), cases))
        missed = [f"{name}: {what}: {message}" for (_, name, what), message in zip(cases, messages)
                  if message and ABOUT_FORM.search(message)]
        self.assertFalse(missed, "\n".join(missed))

    def test_the_schemas_refuse_what_clatune_refuses_first(self):
        for kind, sample, key in (("problem", "kernel.json", "General"), ("plan", "sweep.plan.json", "Tuning"),
                                  ("family", "rows.family.json", "Inputs")):
            if kind not in self.schemas:
                continue
            content = load(SAMPLES / sample)
            content[key]["Surprise"] = 1
            self.assertIn("Surprise", self.mistake(kind, content))
            content[key] = []
            self.assertIn("is not of type 'object'", self.mistake(kind, content))


if __name__ == "__main__":
    main()
