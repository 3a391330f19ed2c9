"""The lists of filterbank sizes are the script's draws, within the bounds, and have nothing in common."""
import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
import filterbank_sizes  # noqa: E402

assert sum(1 for _ in filterbank_sizes.all_sizes("gpu")) == 602
lists = {}
with tempfile.TemporaryDirectory() as folder:
    filterbank_sizes.draw(folder)
    for name, n in (("training", 50), ("unseen", 20)):
        drawn, kept = (pathlib.Path(p) / f"filterbank-{name}.json" for p in (folder, ROOT / "data"))
        assert drawn.read_bytes() == kept.read_bytes(), name
        lists[name] = json.loads(kept.read_text())
        assert len(lists[name]) == n
        assert all(0.02e9 < filterbank_sizes.operations(s) < 0.2e9 and 32 <= s["height"] <= 256 for s in lists[name])
together = [json.dumps(s) for s in lists["training"] + lists["unseen"]]
assert len(set(together)) == 70
