"""What is installed: the wheel's tree and program, and the drivers from PyPI that its command finds."""
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import clatune
import pytest
from clatune import command
from conftest import ROOT

NATIVE = pathlib.Path(clatune.__file__).parent / "native"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_what_is_in_it():
    for name in ("bin/clatune", "libexec/clatune-worker", "libexec/clatune/clatune-apply"):
        assert os.access(NATIVE / name, os.X_OK), name
    for name in ("include/clatune/module.h", "include/clatune/clatune.h", "share/clatune/problems/convolution.json", "share/clatune/probe/probe.json"):
        assert (NATIVE / name).is_file(), name
    assert list(NATIVE.rglob("libclatune.so.0")) and (NATIVE.parent / "py.typed").exists()


def test_the_layer_is_loaded():
    layer, = NATIVE.rglob("libclatune-layer.so")
    assert hasattr(ctypes.CDLL(str(layer)), "clInitLayer")
    said = subprocess.run([NATIVE / "bin/clatune", "devices"], env={**os.environ, "OPENCL_LAYERS": str(layer)}, text=True, capture_output=True)
    assert said.returncode == 0 and "Simulated" in said.stdout and said.stderr == ""


def test_its_metadata():
    assert (PROJECT["name"], PROJECT["dependencies"], PROJECT["dynamic"]) == ("clatune", ["numpy"], ["version"])
    oldest = tuple(map(int, re.findall(r"\d+", PROJECT["requires-python"])))
    assert oldest <= sys.version_info


def test_the_program_that_pip_makes(tmp_path):
    module, _, function = PROJECT["scripts"]["clatune"].partition(":")
    program = tmp_path / "clatune"
    program.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    said = subprocess.run([sys.executable, program, "version"], text=True, capture_output=True)
    assert said.returncode == 0 and said.stdout.startswith("clatune ")
    assert subprocess.run([sys.executable, program, "space"], capture_output=True).returncode == 2


@pytest.fixture
def simulated(tmp_path, monkeypatch):
    """The library of the simulated driver, which no .icd file names yet; the site-packages and the registry are of this test."""
    library = pathlib.Path(os.environ["OCL_ICD_VENDORS"])
    monkeypatch.delenv("OCL_ICD_VENDORS")
    monkeypatch.setattr(command, "_SITE", tmp_path / "venv/lib/python3/site-packages")
    monkeypatch.setattr(command, "_REGISTRY", tmp_path / "vendors")
    for folder in ("venv/lib/python3/site-packages/pyopencl/.libs", "venv/etc/OpenCL/vendors", "vendors"):
        (tmp_path / folder).mkdir(parents=True)
    return library


@pytest.mark.parametrize("icds, libraries, text", [
    ("venv/lib/python3/site-packages/pyopencl/.libs", "venv/lib/python3/site-packages/pyopencl/.libs", "driver.so"),
    ("venv/etc/OpenCL/vendors", "venv/lib", "/where/it/was/built/driver.so")])
def test_drivers_from_pypi_join_the_systems(simulated, tmp_path, icds, libraries, text):
    assert "OCL_ICD_VENDORS" not in command.environment()
    (tmp_path / icds / "pip.icd").write_text(text + "\n")
    assert "OCL_ICD_VENDORS" not in command.environment()  # the library is not there
    (tmp_path / libraries / "driver.so").symlink_to(simulated)
    assert [device["name"] for device in clatune.devices()] == ["Simulated"]
    (tmp_path / "vendors/system.icd").write_text("/system/driver.so")
    folder = pathlib.Path(command.environment()["OCL_ICD_VENDORS"])
    assert {icd.name: icd.read_text() for icd in folder.iterdir()} == {"pip.icd": str(tmp_path / libraries / "driver.so"), "system.icd": "/system/driver.so"}


def test_the_variable_takes_precedence(simulated, tmp_path, monkeypatch):
    (tmp_path / "venv/lib/python3/site-packages/pyopencl/.libs/pip.icd").write_text(simulated.name)
    (tmp_path / "venv/lib/python3/site-packages/pyopencl/.libs" / simulated.name).symlink_to(simulated)
    monkeypatch.setenv("OCL_ICD_VENDORS", "/chosen")
    assert command.environment()["OCL_ICD_VENDORS"] == "/chosen"


def test_the_tree_may_be_moved(tmp_path, scale):
    for part in (NATIVE.parent, NATIVE.parent.with_name("clatune.libs")):  # the second in a wheel for other machines
        if part.exists():
            shutil.copytree(part, tmp_path / part.name)
    for words in (["space", scale(folder="here").path], ["sweep", "--help"], ["apply", "--help"]):
        said = subprocess.run([tmp_path / "clatune/native/bin/clatune", *words], text=True, capture_output=True)
        assert said.returncode == 0, said.stderr
