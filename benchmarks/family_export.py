#!/usr/bin/env python3
"""How long the exported function of a family's model takes for one choice within the range of the training, and whether it chooses as the
library does: 10^6 random vectors of features, by the program of the test 'family'. The shortest of three runs.

    benchmarks/family_export.py spmv.model.json ...
"""
import json
import pathlib
import subprocess
import tempfile

import tables

WRAPPER = """#include "chosen.h"
int chosen(const double *features, int *arm);
int chosen(const double *features, int *arm) {
  FAMILY_config c;
  const int outside = FAMILY_select(features, &c);
  *arm = c.arm;
  return outside;
}
"""


def time_of(options, path, model, level):
    with tempfile.TemporaryDirectory() as folder:
        tables.run([tables.clatune(options), "family", "export", path, "--c", "-o", f"{folder}/chosen.h"])
        pathlib.Path(folder, "w.c").write_text(WRAPPER.replace("FAMILY", model["Family"]))
        subprocess.run([options.cc, level, "-std=c99", "-ffp-contract=off", "-shared", "-fPIC", "-o", "w.so", "w.c", "-lm"], cwd=folder,
                       check=True)
        compare = pathlib.Path(options.build) / "tests/family/compare-select"
        runs = [tables.run([compare, path, f"{folder}/w.so"]).split() for _ in range(3)]
        return min(int(run[3]) for run in runs)


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--cc", default="cc", help="the compiler (default: cc)")
    options = parser.parse_args()
    rows = []
    for path in options.models:
        model = json.loads(path.read_text())
        rows.append([model["Family"], model["Chooser"], len(model["Features"]), len(model["Arms"]),
                     *(time_of(options, path, model, level) for level in ("-O2", "-O3"))])
    print(tables.markdown(["family", "chooser", "features", "arms", "ns, -O2", "ns, -O3"], rows))


if __name__ == "__main__":
    main()
