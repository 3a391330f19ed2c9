"""Stores of other tuners' measurements, and replays."""
import json
import shutil

import clatune
import pytest
from conftest import ROOT

RECORDED = ROOT / "data/recorded"


@pytest.fixture
def filled(tmp_path):
    """A store with 12 measurements, imported from a cache file of Kernel Tuner, and their problem."""
    problem = clatune.Problem("kernel void copy(global float *a) { a[0] = wg * ppt; }", "copy", global_size=64, local_size="wg", name="copy",
                              space={"wg": [16, 32, 64], "ppt": [1, 2, 4, 8]}, folder=tmp_path / "copy",
                              arguments={"a": clatune.Argument({"Type": "float", "MemoryType": "Vector", "Size": 64, "FillType": "Constant",
                                                                "FillValue": 1})})
    configurations = [(wg, ppt) for wg in (16, 32, 64) for ppt in (1, 2, 4, 8)]
    cache = {"device_name": "Some GPU", "kernel_name": "copy", "problem_size": "64", "tune_params_keys": ["wg", "ppt"],
             "tune_params": {"wg": [16, 32, 64], "ppt": [1, 2, 4, 8]}, "objective": "time",
             "cache": {f"{wg},{ppt}": {"wg": wg, "ppt": ppt, "time": 1 + wg / ppt, "times": [1 + wg / ppt]} for wg, ppt in configurations}}
    (tmp_path / "cache.json").write_text(json.dumps(cache))
    store = clatune.Store(tmp_path / "own.sqlite")
    assert store.read(problem, tmp_path / "cache.json") == 12
    return store, problem


def test_contents(filled):
    store, problem = filled
    entry, = store.contents()
    assert entry["problem"] == "copy" and entry["records"] == 12 and "Some GPU" in entry["device"]
    best, = store.best(problem)
    assert dict(best) == {"wg": 16, "ppt": 8} and best.time_s == pytest.approx(3e-3)
    rows = store.measurements(problem="copy")
    assert len(rows) == 12 and min(rows, key=lambda row: row["time_s"])["ppt"] == 8 and rows[0]["energy"] is None
    table = store.to_frame()
    assert table.time_s.min() == pytest.approx(3e-3) and {"wg", "ppt", "reason"} <= set(table.columns)


def test_lookup_of_a_device_that_is_not_here(filled):
    store, problem = filled
    found = clatune.lookup(problem, device="Some GPU", store=store)
    assert found.tier == "exact" and not found.stale and dict(found) == {"wg": 16, "ppt": 8} and found.time_s == pytest.approx(3e-3)
    assert found.global_size == (64,) and found.local_size == (16,) and "Some GPU" in found.measured_on
    unknown = clatune.lookup(problem, store="empty.sqlite", quiet=True)
    assert unknown.tier == "default" and dict(unknown) == {"wg": 16, "ppt": 1} and unknown.time_s is None and unknown.measured_on is None


def test_between_stores(filled, tmp_path):
    store, _ = filled
    other = clatune.Store(tmp_path / "other.sqlite")
    assert other.merge(store) == 12 and other.merge(store) == 0
    assert store.export(tmp_path / "part.sqlite", problem="copy") == 12
    assert other.prune(problem="copy", dry_run=True) == 12 and other.prune(problem="copy") == 12 and other.contents() == []
    assert store.check() and store.repair() == {"damaged": False, "saved": 0, "lost": 0, "set_aside": None}
    with pytest.raises(clatune.UsageError, match="prune"):
        store.prune()


def test_a_damaged_store(filled, tmp_path):
    store, _ = filled
    damaged = tmp_path / "damaged.sqlite"
    shutil.copy(store.place, damaged)
    content = bytearray(damaged.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    damaged.write_bytes(content)
    assert clatune.Store(damaged).check() is False


def test_the_users_store(tmp_path):
    assert clatune.Store().place == str(tmp_path / "data/clatune/store.sqlite")
    assert clatune.Store().contents() == []


def test_replay():
    found = clatune.replay([RECORDED / "filterbank-training-00.json.gz"], searcher="random", budget=20, repeat=4)
    assert found.mean.keys() == found.missed.keys() == {10, 20} and 0 < found.mean[10] <= found.mean[20] <= 1
    assert [row["evaluations"] for row in found.rows()] == [10, 20] and list(found.to_frame().evaluations) == [10, 20]
    again = clatune.replay(RECORDED / "filterbank-training-00.json.gz", searcher="random", budget=20, repeat=4)
    assert again.mean == found.mean
    with pytest.raises(clatune.Error, match="nothing.json"):
        clatune.replay("nothing.json")
