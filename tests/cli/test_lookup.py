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
#include <stdio.h>

int main(int argc, char **argv) {
  (void)argc;
  const clatune_copy_entry *e = clatune_copy_find(argv[1], 1500);
  printf("%lld %s\\n", e ? e->n : -1, e ? e->configuration : "");
  return 0;
}
"""
MACROS = """#include "copy.h"
int a = CLATUNE_COPY_a, b = CLATUNE_COPY_b;
"""


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
        strict = ["-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["cc", *strict, "p.c", "-o", "p"], cwd=self.folder, check=True)
        device = [line for line in header.splitlines() if line.startswith("    {")][0].split('"')[1]
        said = subprocess.run(["./p", device], cwd=self.folder, text=True, capture_output=True, check=True).stdout
        self.assertEqual(said.split(), ["1024", f"a={small['a']}", f"b={small['b']}"])
        said = subprocess.run(["./p", "none"], cwd=self.folder, text=True, capture_output=True, check=True).stdout
        self.assertEqual(said.split(), ["-1"])
        for entry, configuration in enumerate((small, large)):
            done = subprocess.run(["cc", *strict, f"-DCLATUNE_COPY_ENTRY={entry}", "-E", "m.c"], cwd=self.folder, text=True,
                                  capture_output=True, check=True)
            self.assertIn(f"int a = {configuration['a']}, b = {configuration['b']};", done.stdout)

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
