#!/usr/bin/env python3
"""Runs the scripts of tests/python/kernel_tuner_examples by Kernel Tuner and, with another import, by clatune, and compares the results.

    venv/bin/python benchmarks/kernel_tuner_examples.py [NAME...] [--folder FOLDER]

The venv has kernel_tuner and pyopencl; the command clatune is on PATH or named by CLATUNE. For each script: how many configurations
both have after restrictions; the median of clatune's time over Kernel Tuner's, of the configurations that both measured, by the shortest
of the runs; and how far the best of each is from the best in the other's results. --folder: other scripts, which have `results`
when they end.
"""
import argparse
import contextlib
import io
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))


def run(script, with_clatune):
    """The results of a script, by the configuration."""
    text = script.read_text()
    if with_clatune:
        text = re.sub(r"^import kernel_tuner$", "from clatune.compat import kernel_tuner", text, flags=re.M)
        text = re.sub(r"^from kernel_tuner\b", "from clatune.compat.kernel_tuner", text, flags=re.M)
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kernel in script.parent.glob("*.cl"):
            shutil.copy(kernel, folder)
        os.chdir(folder)
        try:
            variables = {}
            copy = pathlib.Path(folder) / script.name  # Kernel Tuner looks for the text of lambdas
            copy.write_text(text)
            exec(compile(text, str(copy), "exec"), variables)
        finally:
            os.chdir(before)
    times = {}
    for entry in variables["results"]:
        key = " ".join(f"{name}={entry[name]}" for name in variables["parameters"])
        times[key] = min(entry["times"]) if "__error__" not in entry else None
    return times


def compare(name, theirs, ours):
    both = [key for key in ours if ours[key] and theirs.get(key)]
    ratio = statistics.median(ours[key] / theirs[key] for key in both) if both else float("nan")
    row = [name, len(theirs), len(ours), f"{ratio:.2f}"]
    for mine, other in ((ours, theirs), (theirs, ours)):
        best = min((key for key in mine if mine[key]), key=mine.__getitem__)
        row.append(f"{other[best] / min(filter(None, other.values())):.2f}" if other.get(best) else "-")
    print("| " + " | ".join(map(str, row)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "tests/python/kernel_tuner_examples")
    arguments = parser.parse_args()
    print("| script | configurations, Kernel Tuner | clatune | time of clatune's over Kernel Tuner's, median | clatune's best, in Kernel Tuner's results "
          "| Kernel Tuner's best, in clatune's |\n" + "| --- " * 6 + "|")
    for script in sorted(arguments.folder.glob("*.py")):
        if not arguments.names or script.stem in arguments.names:
            compare(script.stem, run(script, False), run(script, True))


if __name__ == "__main__":
    main()
