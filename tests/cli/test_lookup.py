"""Looking up after a tuning: every format, and a header that compiles and chooses."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import CLATUNE, SimulatedTest, main, problem  # noqa: E402

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
# Says of each size whether the first entry is valid there, and how it is launched.
SIZES = """#include "copy.h"

int main(void) {
  static const long long sizes[][2] = {@};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const clatune_copy_entry *e = &clatune_copy_entries[0];
    const long long n = sizes[k][0], m = sizes[k][1];
    clatune_copy_launch launches[4];
    const size_t n_launches = clatune_copy_launches(launches, 4, e, n, m);
    if ((clatune_copy_find(e->device, n, m) != NULL) != clatune_copy_valid(e, n, m)) return 1;
    printf("%d", clatune_copy_valid(e, n, m));
    for (size_t l = 0; l < n_launches && l < 4; l++) {
      printf(" %s %u %u", launches[l].kernel, launches[l].repeat, launches[l].group);
      for (unsigned d = 0; d < launches[l].n_dimensions; d++)
        printf(" %lu/%lu", (unsigned long)launches[l].global[d], (unsigned long)launches[l].local[d]);
    }
    puts("");
  }
  return clatune_copy_valid(NULL, 1, 1) != 0;
}
"""
FIND = """#include <stdlib.h>
#include "copy.h"

int main(int argc, char **argv) {
  const clatune_copy_entry *e = clatune_copy_find(argv[1], atoi(argv[argc - 1]), 8);
  printf("%lld\\n", e ? e->values.a : -1);
  return 0;
}
"""
# True at n = 96, m = 8 with a = 4, b = 3 and x = 0.5; each group is one problem's.
CONDITIONS = (
    ["n % (a * 8) == 0", "m // b < 40", "n / m >= x"],
    ["n ** 2 >= m ** 3 or m in [5, 7]", "not (n < m)", "(n & (a - 1)) == 0 or n & 1 and m >> 1 == 2"],
    ["64 <= n * m // a <= 4096", "-n // 5 % 3 != 2 || m << 2 > n", "n ^ m | 1 != 3", "~m < 0", "!(m == 9) && n != 97"],
    ["ceil(n / (a * b)) * 3 >= floor(m / 2)", "round(n / 7) % 2 == 0", "int(n * x) > abs(m - 20)", "trunc(m / 3) < 9"],
    ["min(n, m, 50) >= b", "max(n / 2, m) <= 300", "sum([n, m, a]) % 2 == 0", "any([n > 64, m > 64])", "all([n, m])"],
    ["gcd(n, m, 24) >= a", "n in range(0, 1000, b)", "m not in range(100, 0, -7)", "bool(m)", "float(n) / 3 != 1"],
    ["sqrt(n * m) < 60", "log2(m) == 3 or log(n, 2) < 6.5", "exp(m / 100) < 2.5", "log10(n) > 1", "pow(m, 0.5) < 9.5"],
    ["(n if m > 4 else m) % b == 0", "(m > 9 ? 1 : n) >= 1", "1000 // (n - 33) > 0", "n % 64 > 7.5 % m", "+n > -m"],
    ["m != 5 and n % (m - 5) < 3 or m == 5", "n * n * n * n * n * n * n > 0", "fabs(m - 10.5) > 0.6"],
    ["'fast' in mode and (mode == 'fast' or n > 9)", "len(mode) == 4 or n < 0", "n // 2.5 % 3 < 2.5", "device.local_memory_bytes > n"],
)
STEP = 1 if "CLATUNE_FIGURES" in os.environ else 5  # in the suite long all sizes, by each compiler
WARN = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
STRICT = ["cc", "-std=c11", *WARN]
STRICT_CXX = ["c++", "-std=c++17", "-x", "c++", *WARN]


def compilers():
    return [STRICT, *([STRICT_CXX] if shutil.which("c++") else [])]


def device_of(header):
    """The name of the first entry's device."""
    return [line for line in header.splitlines() if line.startswith("    {")][0].split('"')[1]


class Lookup(SimulatedTest):
    turn = 0  # of the compilers

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

    def test_what_was_no_finalist_is_not_known_to_be_checked_elsewhere(self):
        unchecked = "no check on other inputs or sizes is known"
        tune = ("--searcher", "random", "--budget", "30", "--size", "n=1024", "--store", "s.sqlite")
        ask = ("--device", "Simulated", "--size", "n=1024")
        for finalists, said in ("0", True), ("5", False):  # without finalists, the store is as after an interrupted search
            self.tune(*tune, "--finalists", finalists)
            self.assertEqual(self.on_device("--size", "n=1024")["unchecked"], said)
            self.assertEqual(self.on_device("--size", "n=512")["unchecked"], said)
            for form, out, error in (("text", said, False), ("options", False, said), ("cmake", said, said)):
                found = self.clatune("lookup", "copy.json", "--store", "s.sqlite", *ask, "--format", form)
                self.assertEqual((unchecked in found.stdout, unchecked in found.stderr), (out, error), form)
            header = self.look_up("--format", "header")
            first = header[:header.index("    {\"")].splitlines()[-1]
            self.assertEqual(first == f"    /* {unchecked} */", said, header)
            report = self.clatune("report", "s.sqlite", "--text").stdout
            self.assertEqual(unchecked in report, said, report)

    def test_a_default_size_may_depend_on_the_device(self):
        described = problem(4, 3)
        described["ProblemParameters"][0]["Default"] = "2048 if device.type == 'gpu' else 512"
        (self.folder / "copy.json").write_text(json.dumps(described))
        for kind, n in ("gpu", 2048), ("cpu", 512):
            self.simulate(name=f"Simulated {kind}", type=kind, time_s="1e-5 * (1 + a + b)")
            tuned = self.clatune_json("tune", *self.subject, "--budget", "6", "--store", "s.sqlite")
            self.assertEqual(tuned["sizes"], {"n": n})
            answer = self.on_device("--store", "s.sqlite")
            self.assertEqual((answer["tier"], answer["sizes_text"]), ("exact", f"n={n}"))
            self.assertIn(f"-Dn={n}", answer["options"])
        report = self.clatune("report", "s.sqlite", "--text").stdout
        self.assertIn("n=2048", report)
        self.assertIn("n=512", report)

    def test_a_changed_problem_file_is_named_as_the_cause(self):
        self.tuned(1024)
        self.edit("copy.json", '"FillValue": 1.0', '"FillValue": 2.0')
        cause = "(stale: measured with another version of the kernel or problem file; tune it again)"
        self.assertIn(f"nearest-size {cause}", self.look_up("--device", "Simulated"))
        self.assertNotIn("problem file", self.look_up("--device", "Simulated", "--size", "n=2048"))

    def test_a_kernel_that_is_missing_is_named_with_its_key(self):
        (self.folder / "copy.cl").unlink()
        for command in ("lookup", "tune"):
            self.assertRegex(self.clatune(command, "copy.json", "--device", "Simulated", expect=1).stderr,
                             r"copy.json:1: KernelSpecification.KernelFile: cannot open '.*/copy.cl': No such file")

    def test_a_reference_kernel_that_is_missing_is_named_with_its_key(self):
        self.edit("copy.json", '"Module": "copy.c", "Function": "copy"',
                  '"KernelFile": "ref.cl", "KernelName": "copy", "GlobalSize": ["n"]')
        said = self.clatune("lookup", "copy.json", "--device", "Simulated", expect=1).stderr
        self.assertRegex(said, r"copy.json:1: Reference.KernelFile: cannot open '.*/ref.cl': No such file")

    def test_a_tuning_names_what_is_looked_up(self):
        tune = ("tune", *self.subject, "--searcher", "random", "--budget", "30", "--store", "s.sqlite", "--fresh")
        self.assertNotIn("earlier tuning", self.clatune(*tune).stdout)
        finalist = self.on_device()["configuration"]
        self.simulate(time_s="1e-5 * (1 + 0.02 * abs(a - 2) + 0.03 * abs(b - 20))")
        answer = self.clatune_json(*tune, "--finalists", "0", "--seed", "2")  # a search alone is no comparison
        self.assertEqual(answer["best"]["configuration"], finalist)
        self.assertIn("the best known configuration is from an earlier tuning; this one found", answer["notes"][0])
        answer = self.clatune_json(*tune, "--seed", "3")
        self.assertNotEqual(answer["best"]["configuration"], finalist)
        self.assertEqual(self.on_device()["configuration"], answer["best"]["configuration"])

    def test_a_default_that_is_not_valid_is_no_answer(self):
        self.write_sizes_problem(["n % a == 0"])
        self.edit("copy.json", '"Name": "a", "Values": [4]', '"Name": "a", "Values": [4, 2], "Default": 4')
        for n, a in ((96, 4), (98, 2)):
            answer = self.on_device("--size", f"n={n}")
            self.assertEqual((answer["tier"], answer["configuration"]["a"]), ("default", a))
        said = self.clatune("lookup", "copy.json", "--device", "Simulated", "--size", "n=99", expect=4).stderr
        self.assertIn("none of the 2 configurations satisfies the constraints: 'n % a == 0'", said)

    def test_formats(self):
        best = self.tuned(1024)["best"]
        device = ("--device", "Simulated")
        self.assertEqual(self.look_up(*device, "--format", "options").strip(), best["options"])
        cmake = self.look_up(*device, "--format", "cmake")
        self.assertIn(f"set(CLATUNE_COPY_OPTIONS [==[{best['options']}]==])", cmake)
        self.assertIn(f"set(CLATUNE_COPY_a [==[{best['configuration']['a']}]==])", cmake)
        self.assertIn("exact", self.look_up(*device))
        self.assertIn("--format needs text", self.clatune("lookup", "copy.json", "--format", "xml", expect=2).stderr)

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
        self.assertNotRegex(header, r"\b(\w{4,})\1")  # of the text that is repeated for each size
        (self.folder / "copy.h").write_text(header)
        (self.folder / "p.c").write_text(NAMES.replace("e->device_", "e->device__"))
        for compiler in compilers():
            subprocess.run([*compiler, "p.c", "-o", "p"], cwd=self.folder, check=True)
            *values, options = self.run_program("./p", device_of(header)).split("|")
            self.assertEqual(values, ["3", "1", str(-2 ** 63), "0.10000000000000001", "a_%d", "7", "2"])
            self.assertEqual(options, "-Di=7 -Dn=2048 -Ddevice_=5 -De=6 -Da=3 -Db=4 -Dclass=1 -Ddevice=0.1 "
                             f"-Dleast={-2 ** 63} -Dtext=a_%d -DN=1024 -cl-mad-enable")

    def write_sizes_problem(self, conditions, **kernel):
        problem = json.loads((self.folder / "copy.json").read_text())
        problem["ProblemParameters"] = [{"Name": "n", "Default": 96, "Min": 2}, {"Name": "m", "Default": 8, "Max": 1000}]
        problem["ConfigurationSpace"] = {
            "TuningParameters": [
                {"Name": "a", "Values": [4]}, {"Name": "b", "Values": [3]}, {"Name": "x", "Values": [0.5]},
                {"Name": "mode", "Type": "string", "Values": ["fast"]}],
            "Conditions": [{"Expression": text} for text in conditions]}
        problem["KernelSpecification"].update(kernel)
        for key in [key for key, value in kernel.items() if value is None]:
            del problem["KernelSpecification"][key]
        (self.folder / "copy.json").write_text(json.dumps(problem))

    def tune_anew(self):
        for path in self.folder.glob("s.sqlite*"):
            path.unlink()
        self.tune("--budget", "1", "--store", "s.sqlite")

    def ask_header(self, sizes):
        """The header's answer for each size: ["1", kernel, repeat, group, "global/local" ...], or ["0"]."""
        (self.folder / "copy.h").write_text(self.look_up("--format", "header"))
        rows = ", ".join("{%d, %d}" % size for size in sizes)
        (self.folder / "p.c").write_text(SIZES.replace("@", rows))
        answers, every = [], [*compilers(), ["cc", "-std=c99", *WARN]]
        self.turn += 1
        for compiler in every if STEP == 1 else [every[self.turn % len(every)]]:
            subprocess.run([*compiler, "p.c", "-lm", "-o", "p"], cwd=self.folder, check=True)
            answers.append([line.split() for line in self.run_program("./p").splitlines()])
        self.assertTrue(all(answer == answers[0] for answer in answers))
        return answers[0]

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_a_header_never_answers_with_what_is_invalid(self):
        sizes = [(n, m) for n in (1, 2, 33, 64, 96, 97, 192, 999) for m in (0, 5, 8, 9, 600, 1001)][1::STEP]
        counts = {"0": 0, "1": 0}
        for conditions in CONDITIONS:
            self.write_sizes_problem(conditions)
            self.tune_anew()
            for size, answer in zip(sizes, self.ask_header(sizes)):
                asked = ("--device", "Simulated", "--size", f"n={size[0]}", "--size", f"m={size[1]}", "--json")
                if size[0] < 2 or size[1] > 1000:  # beyond Min and Max, which the command refuses
                    self.assertEqual(answer, ["0"], (conditions, size))
                    continue
                answers = {"0": 0, "1": 1}
                run = subprocess.run([CLATUNE, "space", "copy.json", *asked], cwd=self.folder, env=self.environment,
                                     text=True, capture_output=True)
                valid = json.loads(run.stdout)["valid"] if run.returncode == 0 else 0  # it cannot be evaluated
                self.assertEqual(answers[answer[0]], valid, (conditions, size, run.stderr))
                counts[answer[0]] += 1
        self.assertGreater(min(counts.values()), 20 // STEP)

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_a_header_goes_on_to_what_is_valid_as_the_library_does(self):
        """The best, a = 64, is none at sizes that 64 does not divide."""
        self.write_sizes_problem(["n % a == 0"])
        self.edit("copy.json", '"Name": "a", "Values": [4]', '"Name": "a", "Values": [1, 2, 4, 8, 16, 32, 64]')
        self.simulate(time_s="1e-5 * (1 + 1.0 / a)")
        self.tune("--size", "n=256", "--budget", "7", "--store", "s.sqlite")
        header = self.look_up("--format", "header")
        (self.folder / "copy.h").write_text(header)
        (self.folder / "p.c").write_text(FIND)
        subprocess.run([*STRICT, "p.c", "-lm", "-o", "p"], cwd=self.folder, check=True)
        for n in (256, 200, 192, 100, 98, 333):
            expected = self.on_device("--size", f"n={n}")["configuration"]["a"]
            self.assertEqual(n % expected, 0)
            self.assertEqual(self.run_program("./p", device_of(header), str(n)), str(expected))
        # The same if tiles may not be larger than the sizes.
        self.edit("copy.json", "n % a == 0", "a <= n")
        (self.folder / "copy.h").write_text(self.look_up("--format", "header"))
        subprocess.run([*STRICT, "p.c", "-lm", "-o", "p"], cwd=self.folder, check=True)
        for n, expected in ((256, 64), (64, 64), (63, 32), (5, 4), (2, 2)):
            self.assertEqual(self.run_program("./p", device_of(header), str(n)), str(expected))

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_launches_are_those_of_the_library(self):
        sizes = [(n, m) for n in (2, 31, 96, 100, 4096) for m in (1, 8, 21)][2::STEP]
        kernels = ({"GlobalSize": {"X": "n"}, "LocalSize": {"X": "a * 8"}},
                   {"GlobalSize": {"X": "n / b", "Y": "m + 1"}, "LocalSize": {"X": "a", "Y": "b"}},
                   {"GlobalSize": {"X": "n"}, "LocalSize": None},
                   {"GlobalSize": {"X": "n // a + 1", "Y": "2"}, "GlobalSizeType": "CUDA", "LocalSize": {"X": "32"}},
                   {"Launches": [{"KernelName": "copy", "Repeat": "m"},
                                 {"KernelName": "copy", "When": "n % 2 == 0", "GlobalSize": {"X": "n"}}]})
        for kernel in kernels:
            self.write_problem(40, 25)
            self.write_sizes_problem(["n % 3 != 1"], **kernel)
            self.tune_anew()
            for (n, m), answer in zip(sizes, self.ask_header(sizes)):
                if n % 3 == 1:
                    self.assertEqual(answer, ["0"])
                    continue
                expected = ["1"]
                for launch in self.on_device("--size", f"n={n}", "--size", f"m={m}")["launches"]:
                    expected += [launch["kernel"], str(launch["repeat"]), str(launch["group"])]
                    local = launch["local"] or [0] * len(launch["global"])
                    expected += [f"{x}/{y}" for x, y in zip(launch["global"], local)]
                self.assertGreater(len(expected), 3)
                self.assertEqual(answer, expected, (kernel, n, m))
        self.assertRegex(self.look_up("--device", "Simulated"), r"launch +copy: global 96, local 32, 8 times")

    @unittest.skipUnless(shutil.which("cc"), "no compiler")
    def test_what_c_cannot_say_holds_at_measured_sizes_alone(self):
        for why, change in (("depend on sizes", {"values": "[n // 24]"}), ("types that depend", {"conditions": [
                "('even' if n % 2 == 0 else 'odd') == 'even'"]}),
                            ("depends on sizes", {"CompilerOptions": ["-DSTRIDE={n + 1}"]})):
            self.write_problem(40, 25)
            options = {key: value for key, value in change.items() if key[0].isupper()}
            self.write_sizes_problem(change.get("conditions", []), **options)
            if "values" in change:
                self.edit("copy.json", '"Name": "a", "Values": [4]', f'"Name": "a", "Values": "{change["values"]}"')
            self.tune_anew()
            answers = self.ask_header([(96, 8), (96, 9), (100, 8)])
            self.assertEqual([answer[0] for answer in answers], ["1", "0", "0"])
            self.assertEqual(answers[0], ["1", "copy", "1", "0", "96/32"])
            self.assertIn(why, (self.folder / "copy.h").read_text())

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
        self.assertIn("1000 valid on this device, 30 in the store", text)

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
        self.assertEqual((run["tier"], run["public"]), ("exact", False))

    def test_public_results_answer_last(self):
        self.tuned(1024)
        (self.folder / "results").mkdir()
        self.clatune("store", "export", "--public", "--store", "s.sqlite", "-o", "results/a.sqlite")
        (self.folder / "results" / "read-me.md").write_text("no store")
        best = self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", "s.sqlite")
        self.environment["CLATUNE_PUBLIC_RESULTS"] = str(self.folder / "results")
        ask = ("lookup", "copy.json", "--device", "Simulated")
        found = self.clatune_json(*ask)
        self.assertEqual((found["tier"], found["public"], found["configuration"]), ("exact", True, best["configuration"]))
        self.assertRegex(self.clatune(*ask).stdout, "known from +exact: Simulated device, n=1024; from the public results\n")
        # A store's other sizes come before the public results of these; a store that is named is the only one.
        self.clatune("tune", "copy.json", "--device", "Simulated", "--size", "n=2048", "--budget", "3")
        found = self.clatune_json(*ask)
        self.assertEqual((found["tier"], found["public"]), ("nearest-size", False))
        self.assertEqual(self.clatune_json(*ask, "--store", "none.sqlite")["tier"], "default")
        (self.folder / "share" / "clatune" / "store.sqlite").unlink()
        # Without the device, its description in the public results is enough.
        self.environment["OCL_ICD_VENDORS"] = "/nonexistent"
        self.assertTrue(self.clatune_json(*ask)["public"])


if __name__ == "__main__":
    main()
