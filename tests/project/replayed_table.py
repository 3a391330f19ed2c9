"""A small table comes out of a recorded pool: benchmarks/prediction_error.py, and the bounds of its figures."""
import csv
import pathlib
import subprocess
import sys
import tempfile


def table(root, build, recording, csv_path):
    script = [sys.executable, root / "benchmarks/prediction_error.py", root / "kernels_cl/convolution.json", recording,
              "--build", build, "--rows", "100,800", "--repeats", "1", "--unseen", "500", "--csv", csv_path]
    return subprocess.run([str(x) for x in script], text=True, capture_output=True, check=True, timeout=500).stdout


def error(rows, model, n):
    found, = (float(r["error"]) for r in rows if (r["model"], r["rows"]) == (model, str(n)))
    return found


def main(root, build):
    with tempfile.TemporaryDirectory(prefix="clatune-table-") as folder:
        path = pathlib.Path(folder) / "rows.csv"
        recording = root / "data/recorded/convolution-pocl-2048.json.gz"
        first = table(root, build, recording, path)
        text = path.read_text()
        second = table(root, build, recording, path)  # all of it comes from the file now
        assert first == second and path.read_text() == text, "the second run is not the first"
        rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 4 and all(int(r["unseen"]) == 500 for r in rows), rows
    for model in ("paper", "default"):
        few, many = error(rows, model, 100), error(rows, model, 800)
        print(f"{model}: {few:.3f} after 100 rows, {many:.3f} after 800")
        assert 0.02 < many < 0.75 * few and few < 0.6, "the error does not fall as it should"
    assert error(rows, "default", 800) < error(rows, "paper", 800), "the default is no better than the paper's network"


main(pathlib.Path(sys.argv[1]), sys.argv[2])
