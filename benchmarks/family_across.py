#!/usr/bin/env python3
"""Models of a device learnt on other devices: each device left out in turn, by 'clatune family report --sources' (docs/reference/family-file.md).

Tunes and measures the family on each device, then the portfolios of all devices on all of them, and probes them; all of it in one
store, so that a second run goes on from there. --simulated adds made-up devices (benchmarks/family_devices.json): their times are no
measurements but follow from a few figures each by formulas for the kernels of 'spmv' and of the probe, and their results are
not looked at. For that the family is copied into the folder of the store with a judge of its own; on true devices it compares with
the reference.

    benchmarks/family_across.py kernels_cl/families/spmv/spmv.family.json --devices pocl rusticl intel --simulated --store across.sqlite
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import tables

DESCRIPTION = pathlib.Path(__file__).with_name("family_devices.json")
JUDGE = """#include <clatune/module.h>
#include <math.h>
#include <stdlib.h>

/* A simulated device has no results. */
int judge(const clt_module_call *call) {
  if (getenv("CLATUNE_SIMULATED")) return 0;
  for (size_t r = 0; r < call->n_references; r++) {
    const clt_module_array *right = &call->references[r], *own = clt_module_find(call, right->name);
    for (size_t i = 0; i < right->bytes / sizeof(float); i++) {
      const float expected = ((const float *)right->data)[i], found = ((const float *)own->data)[i];
      if (!(fabsf(found - expected) <= 1e-4f + 1e-3f * fabsf(expected))) return 1;
    }
  }
  return 0;
}
"""


def copy_family(options):
    """The family's folder next to the store, with the judge in each problem."""
    family = pathlib.Path(options.family).resolve()
    folder = pathlib.Path(options.store + ".family").resolve() / "families" / family.parent.name
    if not folder.exists():
        shutil.copytree(family.parent, folder)
        for shared in [*family.parents[1].glob("*.h"), *family.parents[2].glob("*.h")]:  # that modules and kernels include
            shutil.copy(shared, folder.parents[0] if shared.parent == family.parents[1] else folder.parents[1])
        (folder / "judge.c").write_text(JUDGE)
        for path in folder.glob("*.json"):
            problem = json.loads(path.read_text())
            if "Reference" in problem:
                problem["Reference"]["Verify"] = {"Module": "judge.c", "Function": "judge"}
                for parameter in problem["ProblemParameters"] if options.simulated is not None else []:
                    parameter.pop("Macro", None)  # the driver knows sizes by -D alone
                path.write_text(json.dumps(problem))
    return folder / family.name


def run(options, simulated, *arguments):
    environment = dict(os.environ)
    if simulated:
        icd = pathlib.Path(options.store + ".icd").resolve()
        icd.mkdir(exist_ok=True)
        driver = next(path for path in pathlib.Path(options.build).resolve().glob("**/libclatune-simulated.so"))
        (icd / "simulated.icd").write_text(f"{driver}\n")
        environment.update(OCL_ICD_VENDORS=str(icd), CLATUNE_SIMULATED=str(DESCRIPTION))
    command = [str(x) for x in (tables.clatune(options), *arguments)]
    start = time.monotonic()
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE)
    print(f"{time.monotonic() - start:.0f} s: {' '.join(command[1:])}", file=sys.stderr, flush=True)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("family")
    parser.add_argument("--devices", nargs="*", default=[], help="devices, as for clatune's --device")
    parser.add_argument("--simulated", nargs="*", metavar="NAME", help="adds these simulated devices (default: the first six)")
    parser.add_argument("--store", required=True)
    parser.add_argument("--inputs", help="training and test inputs (default: all)")
    parser.add_argument("--portfolio", default="1", help="configurations per variant and device that are measured (default 1)")
    parser.add_argument("--arms", default="4", help="configurations per variant that models choose from (default 4)")
    parser.add_argument("--budget", default="40", help="evaluations per tuning (default 40)")
    parser.add_argument("--chooser", default="time")
    options = parser.parse_args()
    family = copy_family(options)
    devices = [(name, False) for name in options.devices]
    if options.simulated is not None:
        made_up = [device["name"] for device in json.loads(DESCRIPTION.read_text())["devices"]]
        devices += [(name, True) for name in options.simulated or made_up[:6]]
    part = ["--inputs", options.inputs] if options.inputs else []
    common = ["--store", options.store, "--portfolio", options.portfolio, "--quiet"]
    for name, simulated in devices:
        run(options, simulated, "devices", "--probe", "--device", name, "--store", options.store)
        run(options, simulated, "family", "measure", family, "--device", name, *common, *part, "--train-only", "--tune-on", "2", "--budget",
            options.budget)
    for name, simulated in devices:
        run(options, simulated, "family", "measure", family, "--device", name, *common, *part, "--sources", options.store)
    print(run(options, False, "family", "report", family, "--sources", options.store, "--portfolio", options.arms, "--chooser",
              options.chooser), end="")


if __name__ == "__main__":
    main()
