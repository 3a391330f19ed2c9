"""Incorrect kernels are rejected, correct ones are not: mutants of the shipped problems on PoCL, and many random configurations."""
import json
import os
import pathlib
import shutil
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import CliTest, has_device, main  # noqa: E402
from mutants import MUTANTS as ALL, SIZES  # noqa: E402

KERNELS = pathlib.Path(__file__).parent.parent.parent / "kernels_cl"
EACH = "CLATUNE_FIGURES" in os.environ  # in the suite long; else one in three
MUTANTS = {name: mutants if EACH else mutants[::3] for name, mutants in ALL.items()}
RIGHT = int(os.environ.get("CLATUNE_RIGHT", "2"))  # random configurations of each problem


def sizes(problem):
    return [a for name, value in SIZES[problem].items() for a in ("--size", f"{name}={value}")]


def with_mutants(text, mutants):
    """One source for all: `mutant` 0 is the original."""
    parts = [f"#if mutant == 0\n{text}"]
    for i, (old, new, _) in enumerate(mutants, 1):
        if old not in text:
            raise ValueError(f"mutant {i}: '{old}' is not in the kernel")
        parts.append(f"#elif mutant == {i}\n{text.replace(old, new)}")
    return "\n".join(parts) + "\n#endif\n"


class Mutants(CliTest):
    def write(self, name):
        mutants = MUTANTS[name]
        for file in KERNELS.glob("*.*"):
            shutil.copy(file, self.folder)
        problem = json.loads((self.folder / f"{name}.json").read_text())
        parameters = problem["ConfigurationSpace"]["TuningParameters"]
        parameters.append({"Name": "mutant", "Type": "int", "Values": list(range(len(mutants) + 1)), "Default": 0})
        (self.folder / "m.json").write_text(json.dumps(problem))
        text = (self.folder / f"{name}.cl").read_text()
        (self.folder / f"{name}.cl").write_text(with_mutants(text, mutants))
        default = {p["Name"]: p.get("Default", 0) for p in parameters}
        configurations = []
        for i, (_, _, changes) in enumerate(mutants, 1):
            configurations += [{**default, **changes, "mutant": mutant} for mutant in (0, i)]
        unique = list({json.dumps(c, sort_keys=True): c for c in configurations}.values())
        (self.folder / "c.json").write_text(json.dumps(unique))

    def reasons(self, store):
        connection = sqlite3.connect(self.folder / store)
        rows = connection.execute("select configuration, reason, log from measurement where kind = 'search'").fetchall()
        connection.close()
        return rows

    def test_all_mutants_are_rejected(self):
        n = 0
        for name in MUTANTS:
            self.write(name)
            store = f"{name}.sqlite"
            self.clatune("sample", "m.json", "--device", "pocl", "--configurations", "c.json", "--store", store, "--quiet",
                         *sizes(name))
            for configuration, reason, log in self.reasons(store):
                mutant = int(configuration.split("mutant=")[1].split()[0])
                with self.subTest(problem=name, mutant=mutant):
                    self.assertEqual(reason == "none", mutant == 0, f"{configuration}: {reason} {log}")
                n += mutant > 0
        self.assertGreaterEqual(n, 50 if EACH else 20)
        print(f"{n} mutants", file=sys.stderr)

    def test_no_right_configuration_is_rejected(self):
        n = 0
        for name in MUTANTS:
            store = f"{name}.sqlite"
            self.clatune("sample", str(KERNELS / f"{name}.json"), "--device", "pocl", "--samples", str(RIGHT), "--seed", "7",
                         "--store", store, "--quiet", *sizes(name))
            for configuration, reason, log in self.reasons(store):
                self.assertEqual(reason, "none", f"{name} {configuration}: {log}")
                n += 1
        print(f"{n} right configurations", file=sys.stderr)


if not has_device("pocl"):
    sys.exit(77)
main()
