"""Looking up after a tuning: every format, and a header that compiles and chooses."""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402

PROGRAM = """#include "copy.h"

int main(int argc, char **argv) {
  char options[256];
  (void)argc;
  const clatune_copy_entry *e = clatune_copy_find(argv[1], 1500);
  if (e == NULL) {
    clatune_copy_options(options, sizeof options, e, 1500);
    printf("-1 %s\\n", options);
    return 0;
  }
  int needed = clatune_copy_options(options, 4, e, 1500); /* cut */
  if (clatune_copy_options(options, sizeof options, e, 1500) != needed || strlen(options) != (size_t)needed) return 1;
  printf("%lld|%s|%lld|%lld|%s|%s\\n", e->n, e->configuration, e->values.a, e->values.b, e->options, options);
  return 0;
}
"""
# Sizes and parameters that mean something in C, C++ or the header, and values of every type.
NAMES = """#include "copy.h"

int main(int argc, char **argv) {
  const clatune_copy_entry *e = clatune_copy_find(argv[argc - 1], 7, 1024, 2, 3);
  char options[512];
  if (e == NULL) return 1;
  clatune_copy_options(options, sizeof options, e, 7, 2048, 5, 6);
  const long long whole = e->values.a, yes = e->values.class_, least = e->values.least;
  const double real = e->values.device;
  const char *text = e->values.text;
  printf("%lld|%lld|%lld|%.17g|%s|%lld|%lld|%s\\n", whole, yes, least, real, text, e->i_, e->device_, options);
  return 0;
}
"""
MACROS = """#include "copy.h"
int a = CLATUNE_COPY_a, b = CLATUNE_COPY_b;
"""
WARN = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
STRICT = ["cc", "-std=c11", *WARN]
STRICT_CXX = ["c++", "-std=c++17", "-x", "c++", *WARN]


def compilers():
    return [STRICT, *([STRICT_CXX] if shutil.which("c++") else [])]


def device_of(header):
    """The name of the first entry's device."""
    return [line for line in header.splitlines() if line.startswith("    {")][0].split('"')[1]


class Lookup(SimulatedTest):
    def tuned(self, n):
        return self.tune("--searcher", "random", "--budget", "30", "--size", f"n={n}", "--store", "s.sqlite")

    def look_up(self, *options, **more):
        return self.clatune("lookup", "copy.json", "--store", "s.sqlite", *options, **more).stdout

    def on_device(self, *options):
        return json.loads(self.look_up("--device", "Simulated", *options, "--json"))

    def test_tiers(self):
        self.assertEqual(self.on_device()["tier"], "default")
        self.assertFalse((self.folder / "s.sqlite").exists())
        best = self.tuned(1024)["best"]
        answer = self.on_device("--size", "n=1024")
        self.assertEqual((answer["tier"], answer["stale"]), ("exact", False))
        self.assertEqual(answer["configuration"], best["configuration"])
        self.assertEqual(answer["options"], best["options"])
        self.assertAlmostEqual(answer["expected_time_s"], best["time_s"])
        answer = self.on_device("--size", "n=2048")
        self.assertEqual((answer["tier"], answer["measured_at"]), ("nearest-size", "n=1024"))
        self.assertIsNone(answer["expected_time_s"])
        self.assertIn("-Dn=2048", answer["options"])

    def test_formats(self):
        best = self.tuned(1024)["best"]
        device = ("--device", "Simulated")
        self.assertEqual(self.look_up(*device, "--format", "options").strip(), best["options"])
        cmake = self.look_up(*device, "--format", "cmake")
        self.assertIn(f"set(CLATUNE_COPY_OPTIONS [==[{best['options']}]==])", cmake)
        self.assertIn(f"set(CLATUNE_COPY_a [==[{best['configuration']['a']}]==])", cmake)
        self.assertIn("exact", self.look_up(*device))
        self.assertIn("--format is text", self.clatune("lookup", "copy.json", "--format", "xml", expect=2).stderr)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_a_header_compiles_and_chooses(self):
        small, large = self.tuned(1024)["best"]["configuration"], self.tuned(4096)["best"]["configuration"]
        header = self.look_up("--format", "header")
        (self.folder / "copy.h").write_text(header)
        (self.folder / "p.c").write_text(PROGRAM)
        (self.folder / "m.c").write_text(MACROS)
        device = device_of(header)
        for compiler in compilers():
            subprocess.run([*compiler, "p.c", "-o", "p"], cwd=self.folder, check=True)
            tuned = f"-Da={small['a']} -Db={small['b']}"
            self.assertEqual(self.run_program("./p", device).split("|"),
                             ["1024", f"a={small['a']} b={small['b']}", str(small["a"]), str(small["b"]), tuned,
                              f"-Dn=1500 {tuned}"])
            self.assertEqual(self.run_program("./p", "none"), "-1 -Dn=1500 ")
        for entry, configuration in enumerate((small, large)):
            done = subprocess.run([*STRICT, f"-DCLATUNE_COPY_ENTRY={entry}", "-E", "m.c"], cwd=self.folder, text=True,
                                  capture_output=True, check=True)
            self.assertIn(f"int a = {configuration['a']}, b = {configuration['b']};", done.stdout)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_values_of_every_type_under_any_name(self):
        problem = json.loads((self.folder / "copy.json").read_text())
        problem["ProblemParameters"] = [{"Name": name, "Default": default} for name, default in
                                        (("i", 7), ("n", 1024), ("device", 2), ("e", 3))]
        problem["ConfigurationSpace"]["TuningParameters"] = [
            {"Name": "a", "Type": "int", "Values": [3]}, {"Name": "b", "Type": "int", "Values": [4]},
            {"Name": "class", "Type": "bool", "Values": [True]}, {"Name": "device", "Values": [0.1]},
            {"Name": "least", "Values": "[-2**62 * 2]"},
            {"Name": "text", "Type": "string", "Values": ["a_%d"]}]
        problem["KernelSpecification"]["CompilerOptions"] = ["-DN={n}", "-cl-mad-enable"]
        problem["ProblemParameters"][2]["Name"] = "device_"
        (self.folder / "copy.json").write_text(json.dumps(problem))
        self.tune("--budget", "1", "--store", "s.sqlite")
        header = self.look_up("--format", "header")
        (self.folder / "copy.h").write_text(header)
        (self.folder / "p.c").write_text(NAMES.replace("e->device_", "e->device__"))
        for compiler in compilers():
            subprocess.run([*compiler, "p.c", "-o", "p"], cwd=self.folder, check=True)
            *values, options = self.run_program("./p", device_of(header)).split("|")
            self.assertEqual(values, ["3", "1", str(-2 ** 63), "0.10000000000000001", "a_%d", "7", "2"])
            self.assertEqual(options, "-Di=7 -Dn=2048 -Ddevice_=5 -De=6 -Da=3 -Db=4 -Dclass=1 -Ddevice=0.1 "
                             f"-Dleast={-2 ** 63} -Dtext=a_%d -DN=1024 -cl-mad-enable")

    def run_program(self, *command):
        run = subprocess.run(command, cwd=self.folder, text=True, capture_output=True, check=True)
        return run.stdout.rstrip("\n")

    def test_a_device_cannot_smuggle_text_into_a_header(self):
        self.simulate(name='x"}; */ #error ?\n', time_s="1e-5")
        self.tuned(1024)
        header = self.look_up("--format", "header")
        self.assertNotIn("#error ?", header)
        (self.folder / "h.c").write_text(header)
        if shutil.which("cc"):
            subprocess.run(["cc", "-fsyntax-only", "h.c"], cwd=self.folder, check=True)

    def test_a_dry_run_measures_nothing_and_makes_no_file(self):
        plan = self.tune("--dry-run", "--store", "s.sqlite")
        self.assertEqual((plan["known"], plan["space"]["valid"], plan["default"]), (0, 1000, {"a": 0, "b": 0}))
        self.assertFalse((self.folder / "s.sqlite").exists())
        self.tuned(1024)
        self.assertEqual(self.tune("--dry-run", "--store", "s.sqlite")["known"], 30)
        text = self.clatune("tune", "copy.json", "--device", "Simulated", "--dry-run", "--store", "s.sqlite").stdout
        self.assertIn("1000 valid on this device, 30 known already", text)

    def test_a_report_of_the_store(self):
        self.tuned(1024)
        text = self.clatune("report", "copy.json", "--device", "Simulated", "--store", "s.sqlite").stdout
        self.assertIn("30 configurations, 30 correct, of 1000 valid ones", text)
        self.assertIn("a explains", text)

    def test_a_system_store_lies_below_the_users(self):
        self.tuned(1024)
        (self.folder / "system").mkdir()
        (self.folder / "s.sqlite").rename(self.folder / "system" / "store.sqlite")
        run = self.clatune_json("lookup", "copy.json", "--device", "Simulated",
                                CLATUNE_SYSTEM_STORE=str(self.folder / "system" / "store.sqlite"))
        self.assertEqual(run["tier"], "exact")


if __name__ == "__main__":
    main()
