"""benchmarks/peers.py on a small recording, with what needs no package: what counts as an evaluation, a run that goes on where it was stopped, the tables."""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

EVALUATIONS = 60  # all that is valid in the recording


def recording(path):
    """Three parameters; a times b is at most 8, and what has c = "z" and b = 4 fails."""
    entries = {}
    for a, b, c in itertools.product([1, 2, 4, 8], [1, 2, 4, 8], ["w", "x", "y", "z", "v", "u"]):
        if a * b <= 8:
            time = "RuntimeFailedConfig" if (b, c) == (4, "z") else 1 + abs(a - 4) + 0.1 * b + 0.01 * "vwxyzu".index(c)
            entries[f"{a},{b},{c}"] = {"a": a, "b": b, "c": c, "time": time}
    assert len(entries) == EVALUATIONS
    head = {"device_name": "none", "kernel_name": "k", "problem_size": [1], "tune_params_keys": ["a", "b", "c"],
            "tune_params": {"a": [1, 2, 4, 8], "b": [1, 2, 4, 8], "c": ["w", "x", "y", "z", "v", "u"]}, "objective": "time"}
    path.write_text(json.dumps({**head, "cache": entries}))


def check_replay(peers, path):
    space = peers.Space(path)
    replay = peers.Replay(space, 4)
    asked = [(8, 8, "w"), (1, 4, "z"), (1, 1, "v"), (1, 1, "v"), (4, 1, "v")]
    assert [replay(one) for one in asked] == [None, None, 4.1, 4.1, 1.1], "not the recorded times"
    assert (len(replay.seen), replay.proposals) == (3, 5), "an invalid or repeated configuration counts, or a failed one does not"
    assert replay.found() == [(2, 1.1 / 4.1), (3, 1)], replay.found()
    row = {"found": "2:0.5 3:1"}
    assert [peers.fraction(row, n) for n in (1, 2, 3, 200)] == [0, 0.5, 1, 1]
    for proposals in ([(8, 1, "x")], [(8, 8, "w")] * 35):
        try:
            for one in proposals:
                replay(one)
        except peers.Over:
            continue
        raise AssertionError("the search goes on without end")
    assert not space.ordinal("c") and space.ordinal("a")


def run(root, build, path, results):
    script = [sys.executable, root / "benchmarks/peers.py", path, "--results", results, "--build", build, "--searchers", "plain,clatune:surrogate,clatune:random",
              "--seeds", "2", "--budget", str(EVALUATIONS)]
    return subprocess.run([str(x) for x in script], text=True, capture_output=True, check=True).stdout


def main(root, build):
    sys.path.insert(0, str(root / "benchmarks"))
    import peers
    with tempfile.TemporaryDirectory(prefix="clatune-peers-") as folder:
        path, results = pathlib.Path(folder) / "space.json", pathlib.Path(folder) / "results.csv"
        recording(path)
        check_replay(peers, path)
        first = run(root, build, path, results)
        rows = results.read_text().splitlines()
        assert len(rows) == 7, rows
        for row in rows[1:]:
            fields = dict(zip(peers.FIELDS, row.split(",")))
            assert fields["evaluations"] == str(EVALUATIONS) and fields["found"].endswith(":1.00000"), f"did not find the optimum in everything: {row}"
        results.write_text("\n".join(rows[:-1]) + "\n")
        again = run(root, build, path, results)
        assert rows[-1].split(",")[:3] == results.read_text().splitlines()[-1].split(",")[:3], "the missing search was not made"
        assert again.count("\nclatune:") + again.count("\nplain:") + again.startswith(("clatune:", "plain:")) == 1, f"more than the missing search was made: {again}"
    for text in ("| clatune surrogate |", "| plain random |", "| recording | evaluations | surrogate |"):
        assert text in first, first


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
