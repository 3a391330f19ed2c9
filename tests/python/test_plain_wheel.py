"""The wheel: its content, and what its build backend refuses."""
import ctypes
import importlib.metadata
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import clatune
import pytest
from conftest import ROOT

NATIVE = pathlib.Path(clatune.__file__).parent / "native"


@pytest.fixture
def backend():
    specification = importlib.util.spec_from_file_location("clatune_build", ROOT / "python/clatune_build.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_what_is_in_it():
    for name in ("bin/clatune", "libexec/clatune-worker", "libexec/clatune/clatune-apply", "lib/libclatune.so.0"):
        assert os.access(NATIVE / name, os.X_OK), name
    for name in ("include/clatune/module.h", "include/clatune/clatune.h", "share/clatune/problems/convolution.json", "share/clatune/probe/probe.json"):
        assert (NATIVE / name).is_file(), name
    assert (NATIVE.parent / "py.typed").exists()


def test_the_layer_is_loaded():
    layer = NATIVE / "lib/clatune/libclatune-layer.so"
    assert hasattr(ctypes.CDLL(str(layer)), "clInitLayer")
    said = subprocess.run([NATIVE / "bin/clatune", "devices"], env={**os.environ, "OPENCL_LAYERS": str(layer)}, text=True, capture_output=True)
    assert said.returncode == 0 and "Simulated" in said.stdout and said.stderr == ""


def test_the_libraries_of_a_wheel_for_other_machines(backend):
    found = dict(backend.needed_libraries([NATIVE / "bin/clatune", NATIVE / "libexec/clatune-worker"]))
    assert {"lib/libfann.so.2", "lib/libjansson.so.4", "lib/libOpenCL.so.1"} <= set(found) and all(path.is_file() for path in found.values())
    assert not [name for name in found if name.startswith(("lib/libc.", "lib/libm.", "lib/libstdc++", "lib/libclatune"))]


def test_its_metadata(backend):
    about = importlib.metadata.metadata("clatune")
    assert about["Version"] == clatune.run_text("version").split()[1] == importlib.metadata.version("clatune")
    assert about.get_all("Requires-Dist") == ["numpy"]


def test_the_program_that_pip_installs():
    program = pathlib.Path(sys.executable).parent / "clatune"
    said = subprocess.run([program, "version"], text=True, capture_output=True)
    assert said.returncode == 0 and said.stdout.startswith("clatune ")
    assert subprocess.run([program, "space"], capture_output=True).returncode == 2


def test_the_tree_may_be_moved(tmp_path, scale):
    shutil.copytree(NATIVE, tmp_path / "moved")
    for command in (["space", scale(folder="here").path], ["sweep", "--help"], ["apply", "--help"]):
        said = subprocess.run([tmp_path / "moved/bin/clatune", *command], text=True, capture_output=True)
        assert said.returncode == 0, said.stderr


@pytest.mark.parametrize("settings, text", [({"biuld": "x"}, "'biuld'"), ({"build": "/nonexistent"}, "'/nonexistent' is no build folder"),
                                            ({"libraries": "maybe"}, "yes or no"), ({"libraries": "yes", "build": "x"}, "of its own")])
def test_settings_that_make_no_sense(backend, tmp_path, settings, text):
    with pytest.raises(backend.BuildError, match=text):
        backend.build_wheel(str(tmp_path), settings)
    assert not list(tmp_path.glob("*.whl"))
