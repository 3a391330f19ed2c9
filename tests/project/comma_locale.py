"""Runs programs of the unit tests as host programs whose locale has a decimal comma: tests/locale.c takes it. They tune with
every searcher, look up, and write and read problems, recordings, models and stores. Skipped where the locale is not to be had."""
import concurrent.futures
import json
import locale
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED, LOCALE = 77, "de_DE.UTF-8"
NAMES = {"base", "utilities", "space-expressions", "space-values", "space-use", "load", "plan", "data", "objective", "measurement",
         "format-recording", "format-t4", "format-problem-recording", "format-others", "store-conformance", "store-space",
         "model_file", "lookup", "predicted", "session-session", "session-online", "worker-pool", "sweep plan",
         "report", "eval-figure", "array", "giles"}


def make_locale(folder):
    """The variables with which programs find it; None: there is no way."""
    try:
        locale.setlocale(locale.LC_ALL, LOCALE)
        return {}
    except locale.Error:
        pass
    try:
        done = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/{LOCALE}"], capture_output=True)
    except OSError:
        return None
    return {"LOCPATH": folder} if done.returncode == 0 else None


def main(build):
    with tempfile.TemporaryDirectory() as folder:
        variables = make_locale(folder)
        if variables is None:
            print(f"skipped: no locale {LOCALE} (Debian has it in the package 'locales')")
            return SKIPPED
        tests = [t for t in json.loads((build / "meson-info/intro-tests.json").read_text()) if t["name"] in NAMES]
        failed = NAMES - {t["name"] for t in tests}

        def run(test):
            env = {**os.environ, **test["env"], **variables, "CLATUNE_TEST_LOCALE": LOCALE}
            return subprocess.run(test["cmd"], env=env, cwd=test["workdir"] or build, capture_output=True, text=True,
                                  errors="replace")

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for test, done in zip(tests, pool.map(run, tests)):
                if done.returncode:
                    failed.add(test["name"])
                    print(test["name"], done.stdout[-3000:], done.stderr[-3000:], sep="\n")
    print(f"{len(tests)} programs under {LOCALE}; failed: {sorted(failed)}")
    return 1 if failed else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
