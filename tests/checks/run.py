"""Tunes the cases of tests/checks/cases and prints which incorrect kernels win and which correct ones are refused. Exit code 1: one
that KNOWN does not have.

  run.py [--device NAME] [--oclgrind] [--jobs N] [--one-of-each] [--cases MODULE.py ...] [NAME ...]"""
import argparse
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from case import cases, write  # noqa: E402

CLATUNE = os.environ.get("CLATUNE", str(HERE.parent.parent / "build" / "src" / "cli" / "clatune"))


# Incorrect kernels that win, each named in docs/explanation/trust.md.
KNOWN = {"maximum_of_sorted_rows", "missing_low_bits_of_sum", "special_nan_test_promised_away"}
# rusticl on llvmpipe ends loops after 65,536 iterations, so there the slow kernel is incorrect at large sizes or always.
KNOWN_ON = {"rusticl": {"row_by_float_division", "row_sums_in_16_bits", "gemv_constant_matrix_transposed", "waits_beyond_16_bits"}}


def load(files):
    for file in files:
        spec = importlib.util.spec_from_file_location(file.stem, file)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def tune(name, device, oclgrind, small=False):
    """The output of the tuning: the answer, and its warnings. small: no size grows beyond its default."""
    with tempfile.TemporaryDirectory(prefix="clatune-check-") as folder:
        write(name, folder, 32 if device == "rusticl" else None, small)
        run = subprocess.run([CLATUNE, "tune", "p.json", "--device", device, "--searcher", "exhaustive", "--budget", "2", "--workers", "1", "--json",
                              "--no-store", "--oclgrind", "auto" if oclgrind else "no"],
                             cwd=folder, text=True, capture_output=True, timeout=600,
                             env={**os.environ, "TMPDIR": folder})
        answer = json.loads(run.stdout) if run.stdout.startswith("{") else {}
        return answer, run.stderr, run.returncode


def judge(name, device, oclgrind, small=False):
    """(ok, text): ok is whether the correct configuration won."""
    answer, said, code = tune(name, device, oclgrind, small)
    wrong = cases[name]["wrong"]
    why = [line for line in said.splitlines() if "finalist" in line and "warning" in line]
    if not answer.get("best") and "at most 32 work-items" in said:
        return None, "does not run on this device"
    if not answer.get("best"):
        return None, f"exit code {code}: {said[-300:]}"
    fast = answer["best"]["configuration"]["fast"]
    if fast == 1:
        left = "; ".join(sorted({f"{c['inputs']}: {(c['why'] or '')[:90]}" for c in answer["checks"] if not c["passed"]}))
        return not wrong, f"fast=1 wins [{left}]"
    if wrong or why:
        return wrong, why[0][-220:] if why else "the fast one was refused in the search or is not faster"
    return None, "fast=1 is not faster"


def judge_again(name, device, oclgrind):
    """As judge, at large sizes only where they are the subject. On a busy machine the checks can run out of time, which says nothing
    about them: then again, and in the end it is unclear."""
    for _ in range(4):
        ok, text = judge(name, device, oclgrind, cases[name]["kind"] not in ("large-size", "right"))
        if ok is not False or not ("no time was left" in text or "takes too long" in text):
            return ok, text
    return None, text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--oclgrind", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cases", nargs="*", type=pathlib.Path, default=sorted((HERE / "cases").glob("*.py")))
    parser.add_argument("--one-of-each", action="store_true", help="only the first case of each kind, and the known ones never")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    load(arguments.cases)
    names = arguments.names or list(cases)
    if arguments.one_of_each:
        names = {cases[n]["kind"]: n for n in reversed(names) if n not in KNOWN}.values()
    counts, unknown, known = {}, [], KNOWN | KNOWN_ON.get(arguments.device, set())
    judges = judge_again if arguments.one_of_each else judge  # in the suite long nothing else runs
    with tempfile.TemporaryDirectory() as runtime, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        os.environ["XDG_RUNTIME_DIR"] = runtime  # these wait for each other's timings, and for nobody else's
        for name, (ok, text) in zip(names, pool.map(lambda n: judges(n, arguments.device, arguments.oclgrind), names)):
            if ok is False and name not in known:
                unknown.append(name)
            label = {True: "ok", False: "BAD", None: "UNCLEAR"}[ok]
            counts[(cases[name]["wrong"], label)] = counts.get((cases[name]["wrong"], label), 0) + 1
            print(f"{label:8}{'wrong' if cases[name]['wrong'] else 'right':6} {cases[name]['kind']:15} {name}: {text}", flush=True)
    for (wrong, label), n in sorted(counts.items()):
        print(f"{'wrong' if wrong else 'right'} kernels {label}: {n}")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
