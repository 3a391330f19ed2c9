"""scripts/wheel: the wheel of the last commit works in a fresh virtual environment, with its own libraries and without a compiler. It needs
PyPI."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

BUILD, SOURCE = pathlib.Path(os.environ["CLATUNE_BUILD"]), pathlib.Path(__file__).resolve().parents[2]
SYSTEM = ("linux-vdso", "ld-linux", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libz.", "libgcc_s.", "libstdc++.")  # of every Linux


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.environment = {"PATH": str(cls.folder / "venv/bin"), "HOME": str(cls.folder), "OCL_ICD_VENDORS": str(BUILD / "tests/instruments/libclatune-simulated.so"),
                           "CLATUNE_SIMULATED": json.dumps({"devices": [{"name": "Simulated"}]})}
        subprocess.run([SOURCE / "scripts/wheel", cls.folder / "out"], env={**os.environ, "PYTHON": sys.executable}, check=True)
        [cls.wheel] = (cls.folder / "out").glob("*.whl")
        cls.bin = cls.folder / "venv/bin"
        subprocess.run([sys.executable, "-m", "venv", cls.folder / "venv"], check=True)
        subprocess.run([cls.bin / "pip", "install", "--quiet", cls.wheel, "pandas", "pytest"], check=True)
        [cls.site] = (cls.folder / "venv/lib").glob("python3*/site-packages")

    def run_here(self, *command, status=0):
        run = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, status, run.stdout)
        return run.stdout

    def test_the_names(self):
        version = self.run_here(self.bin / "clatune", "version").split()[1]
        self.assertRegex(self.wheel.name, rf"^clatune-{version}-cp3\d+-abi3-manylinux_2_\d+_\w+\.whl$")
        with tarfile.open(self.folder / f"out/clatune-{version}.tar.gz") as sdist:
            self.assertLessEqual({f"clatune-{version}/{name}" for name in ("pyproject.toml", "meson.build", "PKG-INFO")}, set(sdist.getnames()))

    def test_the_metadata(self):
        code = "import importlib.metadata as m; print(m.version('clatune')); print(*m.requires('clatune'), sep='\\n')"
        version, *needs = self.run_here(self.bin / "python", "-c", code).splitlines()
        self.assertIn(version, self.run_here(self.bin / "clatune", "version"))
        self.assertIn("numpy", needs)
        self.assertTrue([one for one in needs if one.startswith("intel-opencl-rt") and one.endswith('extra == "cpu"')], needs)

    def test_it_has_its_libraries(self):
        programs = [p for p in (self.site / "clatune/native").rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreater(len(programs), 15)
        for line in subprocess.run(["ldd", *programs], text=True, capture_output=True, check=True).stdout.splitlines():
            if "=>" in line and not line.strip().startswith(SYSTEM):
                self.assertIn(f" => {self.site}/", line)
        licences = {p.name for p in self.site.glob("clatune-*.dist-info/licenses/*")}
        self.assertLessEqual({"LICENSE", "libfann2", "libjansson4", "liblapack3"}, licences)

    def test_shipped_problems_need_no_compiler(self):
        self.assertIsNone(shutil.which("cc", path=self.environment["PATH"]))
        for problem in ("convolution.json", "stereo.json"):
            said = self.run_here(self.bin / "clatune", "verify", problem, "--size", "width=64", "--size", "height=64", status=5)
            self.assertIn("(wrong-output)", said)  # against the reference, which is a module's

    def test_the_tests_of_the_package(self):
        tests = SOURCE / "tests/python"
        self.run_here(self.bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, f"--ignore-glob={tests}/test_device_*.py")


if shutil.which("git") is None or not (SOURCE / ".git").exists():
    sys.exit(77)
if __name__ == "__main__":
    unittest.main()
