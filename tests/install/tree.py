"""The installed project, in a folder of its own, for the tests of this folder. The environment says where the build is."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD, SOURCE = pathlib.Path(os.environ["CLATUNE_BUILD"]), pathlib.Path(__file__).resolve().parents[2]
MESON = os.environ["MESON"]
NOT_PASSED_ON = ("CLATUNE_WORKER", "CLATUNE_INCLUDE", "CLATUNE_DEVICE", "CLATUNE_SYSTEM_STORE", "LD_LIBRARY_PATH", "DESTDIR")


class TreeTest(unittest.TestCase):
    """self.prefix: an installed tree, moved away from the prefix that it was built for."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.environment = {k: v for k, v in os.environ.items() if k not in NOT_PASSED_ON}
        cls.environment.update(XDG_DATA_HOME=str(cls.folder / "data"), XDG_CACHE_HOME=str(cls.folder / "cache"),
                               TMPDIR=str(cls.folder), OCL_ICD_VENDORS=str(BUILD / "tests/pocl.icd"))
        cls.run_here([MESON, "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.folder / "root"])
        built_for = pathlib.Path(os.environ["CLATUNE_PREFIX"])
        cls.prefix = cls.folder / "moved"
        (cls.folder / "root" / built_for.relative_to("/")).rename(cls.prefix)
        [cls.pkg_config_folder] = [p.parent for p in cls.prefix.rglob("clatune.pc")]
        cls.library_folder = cls.pkg_config_folder.parent
        cls.environment.update(PKG_CONFIG_PATH=str(cls.pkg_config_folder), LD_LIBRARY_PATH=str(cls.library_folder))

    @classmethod
    def run_here(cls, command, folder=None, **more):
        run = subprocess.run([str(word) for word in command], cwd=folder or cls.folder, env={**cls.environment, **more}, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode:
            raise AssertionError(f"{command}: status {run.returncode}\n{run.stdout}")
        return run.stdout

    def pkg_config(self, *options):
        return self.run_here(["pkg-config", *options, "clatune"]).split()


def main():
    program = unittest.main(exit=False, verbosity=1)
    raise SystemExit(0 if program.result.wasSuccessful() and program.result.testsRun else 1)
