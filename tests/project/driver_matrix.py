"""One line for each driver that tests need (meson's suites driver-NAME), from testlog.json. Exit status 1 if none of a driver's
tests passed: all of them were skipped, or none was run. Intel's runtime, which Debian lacks, may be missing; its line says so."""
import collections
import json
import pathlib
import re
import sys

NEEDED = {"pocl", "rusticl", "oclgrind", "simulated"}
OPTIONAL = {"intel": "scripts/intel-runtime found none on this machine, and PyPI could not be reached"}
PASSED, SKIPPED = {"OK", "EXPECTEDFAIL"}, {"SKIP"}


def main(path):
    results = collections.defaultdict(list, {driver: [] for driver in NEEDED})
    for line in pathlib.Path(path).read_text().splitlines():
        test = json.loads(line)
        for driver in re.findall(r"[:+]driver-([^+ ]+)", test["name"].partition(" / ")[0]):
            results[driver].append(test["result"])
    missing = False
    for driver, seen in sorted(results.items()):
        passed, skipped = (sum(result in kind for result in seen) for kind in (PASSED, SKIPPED))
        untested = passed == 0 and driver not in OPTIONAL
        missing |= untested
        why = ""
        if untested:
            why = "; it is not tested"
        elif passed == 0 and skipped == len(seen):
            why = f": {OPTIONAL[driver]}"
        print(f"driver {driver}: {passed} passed, {len(seen) - passed - skipped} failed, {skipped} skipped{why}")
    return missing


sys.exit(main(sys.argv[1]))
