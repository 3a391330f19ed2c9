"""scripts/debian-package: its package installs into a bare root, runs there, and is removed without a trace."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("clatune", "clatune-capture", "clatune-family", "clatune-farm", "libclatune0", "libclatune-dev", "python3-clatune")
PROGRAMS = {"sweep": "clatune-farm", "family": "clatune-family", "capture": "clatune-capture", "apply": "clatune-capture"}
NOT_PASSED_ON = ("CLATUNE_WORKER", "CLATUNE_INCLUDE", "CLATUNE_DEVICE", "CLATUNE_SYSTEM_STORE", "LD_LIBRARY_PATH", "DESTDIR")


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-debian-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.environment = {k: v for k, v in os.environ.items() if k not in NOT_PASSED_ON}
        cls.environment.update(XDG_DATA_HOME=str(cls.folder / "data"), XDG_CACHE_HOME=str(cls.folder / "cache"))
        cls.said = cls.run_here([SOURCE / "scripts/debian-package", cls.folder / "out"])
        cls.root = cls.folder / "root"
        cls.root.mkdir()
        for name in PACKAGES:
            cls.run_here(["dpkg-deb", "--extract", cls.package(name), cls.root])

    @classmethod
    def package(cls, name):
        [path] = (cls.folder / "out").glob(f"{name}_*.deb")
        return path

    @classmethod
    def run_here(cls, command, statuses=(0,), **more):
        run = subprocess.run([str(word) for word in command], cwd=cls.folder, env={**cls.environment, **more}, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode not in statuses:
            raise AssertionError(f"{command}: status {run.returncode}\n{run.stdout}")
        return run.stdout

    def field(self, name, field):
        return self.run_here(["dpkg-deb", "--field", self.package(name), field]).strip()

    def library_path(self):
        [library] = self.root.glob("usr/lib/*/libclatune.so.0")
        return str(library.parent)

    def test_they_depend_on_what_they_use(self):
        for name in ("clatune", "libclatune0"):
            for library in ("libc6", "libfann2", "libjansson4", "liblapacke", "libsqlite3-0", "libxxhash0", "zlib1g", "libopencl1"):
                self.assertIn(library, self.field(name, "Depends"), name)
            self.assertIn("libpq5", self.field(name, "Recommends"), name)
        version = self.field("clatune", "Version")
        for name in set(PROGRAMS.values()):
            self.assertIn(f"clatune (= {version})", self.field(name, "Depends"))
        self.assertIn("libsvm3", self.field("clatune-family", "Depends"))
        self.assertNotIn("libsvm3", self.field("clatune", "Depends"))
        self.assertIn(f"libclatune0 (= {version})", self.field("libclatune-dev", "Depends"))
        self.assertIn("opencl-headers", self.field("libclatune-dev", "Depends"))

    def test_the_program_runs_where_it_was_unpacked(self):
        program = self.root / "usr/bin/clatune"
        self.assertRegex(self.run_here([program, "--version"]), r"^clatune \d")
        said = self.run_here([program, "devices"], statuses=(0, 3))
        self.assertNotIn("worker", said)
        convolution = self.root / "usr/share/clatune/problems/convolution.json"
        self.assertIn("131072", self.run_here([program, "space", convolution]))
        if "(POCL)" in said:  # the reference is compiled already
            said = self.run_here([program, "verify", convolution, "--device", "pocl", "--size", "width=64", "--size", "height=64"], CC="no-compiler")
            self.assertIn("verified        yes", said)

    def test_each_program_is_in_its_package(self):
        """Without it, clatune names the package."""
        alone = self.folder / "alone"
        alone.mkdir()
        self.run_here(["dpkg-deb", "--extract", self.package("clatune"), alone])
        listing = self.run_here([alone / "usr/bin/clatune", "--help"])
        for name, package in PROGRAMS.items():
            self.assertRegex(listing, rf"(?m)^  {name} +{package}$")
            self.assertIn(f"install the package {package}", self.run_here([alone / "usr/bin/clatune", name], statuses=(2,)))
            self.assertIn(f"usage: clatune {name} ", self.run_here([self.root / "usr/bin/clatune", name, "--help"]))

    def test_the_package_for_python(self):
        self.assertIn("python3-numpy", self.field("python3-clatune", "Depends"))
        code = "import clatune; print(clatune.__file__, clatune.run_text('version'))"
        said = self.run_here(["/usr/bin/python3", "-c", code], PYTHONPATH=str(self.root / "usr/lib/python3/dist-packages"), CLATUNE=str(self.root / "usr/bin/clatune"))
        self.assertRegex(said, rf"^{self.root}/\S+ clatune \d")

    def test_a_host_program(self):
        [pc] = self.root.glob("usr/lib/*/pkgconfig/clatune.pc")
        flags = self.run_here(["pkg-config", "--cflags", "--libs", "clatune"],
                              PKG_CONFIG_PATH=str(pc.parent)).split()
        self.run_here(["cc", SOURCE / "tests/install/host.c", "-o", "host", *flags])
        said = self.run_here(["./host", self.root / "usr/share/clatune/problems/convolution.json"],
                             LD_LIBRARY_PATH=self.library_path())
        self.assertRegex(said, r"^default: .*-Dwidth=2048")

    def test_nothing_of_the_build_is_in_them(self):
        for path in self.root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                self.assertNotIn(str(SOURCE).encode() + b"/", data, path)
                self.assertFalse(path.name == "meson.build" or "instruments" in path.parts, path)

    @unittest.skipUnless(os.geteuid() == 0, "dpkg --root needs root")
    def test_dpkg_installs_and_removes_them(self):
        root = self.folder / "bare"
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        (root / "var/lib/dpkg/status").touch()
        (root / "var/lib/dpkg/available").touch()
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless"]
        packages = [name for name in PACKAGES if name != "python3-clatune"]  # whose scripts compile in the system's folder
        self.run_here([*dpkg, "--install", *map(self.package, packages)])
        for name in packages:
            self.assertIn("install ok installed", self.run_here([*dpkg, "--status", name]))
        self.assertEqual(self.run_here([*dpkg, "--verify", *packages]), "")
        self.assertRegex(self.run_here([root / "usr/bin/clatune", "--version"]), r"^clatune \d")
        self.assertNotIn("worker", self.run_here([root / "usr/bin/clatune", "devices"], statuses=(0, 3)))
        self.run_here([*dpkg, "--purge", *packages])
        self.assertEqual([p for p in (root / "usr").rglob("*") if p.is_file()] if (root / "usr").exists() else [], [])


if shutil.which("dh_python3") is None or shutil.which("dpkg-buildpackage") is None:
    sys.exit(77)
if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=1)
    raise SystemExit(0 if program.result.wasSuccessful() and program.result.testsRun else 1)
