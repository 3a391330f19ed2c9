"""scripts/release: all files name the same version, there are notes, and nothing is released otherwise."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SAYERS = ("meson.build", "include/clatune/version.h", "packaging/debian/changelog", "CHANGELOG.md")


class Release(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-release-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("scripts/release", *SAYERS):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / name, self.folder / name)
        self.version = re.search(r"^  version: '(.*)',", (SOURCE / "meson.build").read_text(), re.M)[1]

    def check(self, *options):
        return subprocess.run([self.folder / "scripts/release", *(options or ["--check"])], text=True, capture_output=True)

    def test_it_is_ready(self):
        run = self.check()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(run.stdout.startswith(f"clatune {self.version}\n"))
        self.assertGreater(len(run.stdout.splitlines()), 5)
        self.assertNotIn("\n## ", run.stdout)

    def test_another_version_in_one_place_is_named(self):
        for name in SAYERS[1:]:
            with self.subTest(name):
                path = self.folder / name
                text = path.read_text()
                path.write_text(text.replace(self.version, "9.8.7"))
                run = self.check()
                self.assertEqual(run.returncode, 1)
                self.assertIn(f"{name} says '9.8.7'", run.stderr)
                path.write_text(text)

    def test_what_is_not_committed_is_not_released(self):
        if shutil.which("git") is None:
            self.skipTest("no git")
        subprocess.run(["git", "init", "-q", self.folder], check=True)
        run = self.check("--no-try", str(self.folder / "out"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("not committed", run.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_options(self):
        self.assertEqual(self.check("--nonsense").returncode, 2)


if __name__ == "__main__":
    unittest.main()
