#!/usr/bin/env python3
"""How long the exported function of a family's model takes for one choice, on random features within the range of the training.

    benchmarks/family_export.py spmv.model.json ...
"""
import json
import math
import pathlib
import random
import subprocess
import tempfile

import tables

PROGRAM = """#include <stdio.h>
#include <time.h>
int choose(const double *features);
static const double features[64][@FEATURES@] = {@NUMBERS@};
int main(void) {
  double least_ns = 1e9;
  long sum = 0;
  for (int round = 0; round < 200; round++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 2048; i++) sum += choose(features[i % 64]);
    clock_gettime(CLOCK_MONOTONIC, &b);
    const double ns = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / 2048;
    if (ns < least_ns) least_ns = ns;
  }
  printf("%.0f\\n", least_ns);
  return sum < 0;
}
"""
CHOOSE = """#include "chosen.h"
int choose(const double *features) {
  @FAMILY@_config c;
  @FAMILY@_select(features, &c);
  return c.arm;
}
"""


def within(scale, share):
    least, most, offset = scale[:3]
    if offset < 0:
        return least + (most - least) * share
    return min(most, max(least, math.exp(math.log(least + offset) * (1 - share) + math.log(most + offset) * share) - offset))


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--cc", default="cc", help="the compiler (default: cc)")
    options = parser.parse_args()
    numbers, rows = random.Random(1), []
    for path in options.models:
        model = json.loads(path.read_text())
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tables.run([tables.clatune(options), "family", "export", path, "--c", "-o", folder / "chosen.h"])
            values = ",".join("{" + ",".join(repr(within(f["Scale"], numbers.random())) for f in model["Features"]) + "}" for _ in range(64))
            (folder / "p.c").write_text(PROGRAM.replace("@FEATURES@", str(len(model["Features"]))).replace("@NUMBERS@", values))
            (folder / "c.c").write_text(CHOOSE.replace("@FAMILY@", model["Family"]))
            took = []
            for level in ("-O2", "-O3"):
                subprocess.run([options.cc, level, "-std=gnu11", "-ffp-contract=off", "-o", "p", "p.c", "c.c", "-lm"], cwd=folder, check=True)
                took.append(subprocess.run(["./p"], cwd=folder, check=True, text=True, capture_output=True).stdout.strip())
        rows.append([model["Family"], model["Chooser"], len(model["Features"]), len(model["Arms"]), *took])
    print(tables.markdown(["family", "chooser", "features", "arms", "ns, -O2", "ns, -O3"], rows))


if __name__ == "__main__":
    main()
