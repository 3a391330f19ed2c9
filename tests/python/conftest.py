"""Every test has a store, a cache and temporary folders of its own."""
import json
import pathlib
import subprocess

import clatune
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

SCALE = """
kernel void scale(global const float *in, global float *out, float factor) {
  for (int i = 0; i < ppt; i++) {
    const int x = (get_group_id(0) * ppt + i) * wg + get_local_id(0);
    if (x < n) out[x] = factor * in[x];
  }
}"""


def pytest_sessionstart(session):
    try:
        names = json.loads(subprocess.run([clatune.find_command(), "devices", "--json"], capture_output=True).stdout)
    except ValueError:
        names = {}
    if not names.get("devices"):
        pytest.exit("there is no OpenCL device", returncode=77)


def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = 77  # a file whose module is missing


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    for name, folder in {"XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache", "XDG_RUNTIME_DIR": "run", "TMPDIR": "tmp"}.items():
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    for name in ("CLATUNE_DEVICE", "CLATUNE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def scale():
    """A function that makes a problem: out = factor * in."""
    def make(n=1 << 12, **more):
        data = np.linspace(-1, 1, n, dtype=np.float32)
        keywords = {"space": clatune.Space({"wg": [16, 32, 64, 128], "ppt": [1, 2, 4, 8]}, default={"wg": 32}),
                    "arguments": {"in": clatune.In(data), "out": clatune.Out(data), "factor": np.float32(2.5)},
                    "global_size": "(n + ppt - 1) // ppt", "local_size": "wg", "sizes": {"n": n}, "answer": {"out": 2.5 * data}}
        return clatune.Problem(SCALE, "scale", **{**keywords, **more})
    return make


@pytest.fixture
def synthetic():
    """Options of a tuning that computes its times: it takes a moment, and nothing fails."""
    return {"evaluator": "synthetic", "invalid": 0, "finalists": 0, "oclgrind": "no"}
