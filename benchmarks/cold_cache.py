#!/usr/bin/env python3
"""How the ranking of two ways to compute the same changes with the content of the cache: a table of 1 MiB is read, or its numbers are
computed again.

    benchmarks/cold_cache.py --device pocl
"""
import json
import pathlib
import tempfile

import tables

N = 1 << 18  # floats of a table of 1 MiB
LINES = N // 16  # one number of each is read
EACH = 16  # by a work-item
KERNEL = """kernel void look(global const float *table, global float *out) {
  float sum = 0;
  for (uint j = 0; j < %(each)d; j++) {
    const uint k = ((uint)get_global_id(0) * %(each)d + j) * 2654435761u %% %(lines)du * 16;
#if computed
    float x = k;
    for (int i = 0; i < steps; i++) x = 0.5f * x + 1;
    sum += x;
#else
    sum += table[k];
#endif
  }
  out[get_global_id(0)] = sum;
}
""" % {"lines": LINES, "each": EACH}
VECTOR = {"Type": "float", "MemoryType": "Vector"}


def problem(steps):
    return {"ConfigurationSpace": {"TuningParameters": [{"Name": "computed", "Type": "int", "Values": [0, 1]}]},
            "ProblemParameters": [{"Name": "steps", "Default": steps}],
            "KernelSpecification": {
                "Language": "OpenCL", "KernelName": "look", "KernelFile": "look.cl",
                "GlobalSize": {"X": LINES // EACH}, "LocalSize": {"X": 64},
                "Arguments": [{"Name": "table", "AccessType": "ReadOnly", "FillType": "Generator",
                               "DataSource": "2 + (i - 2) * 0.5 ** steps", "Size": N, **VECTOR},
                              {"Name": "out", "AccessType": "WriteOnly", "Size": LINES // EACH, **VECTOR}]}}


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("--device", required=True, help="the device, as for clatune")
    parser.add_argument("--steps", type=int, default=10, help="steps of computing a number (default 10)")
    parser.add_argument("--rounds", type=int, default=64, help="interleaved rounds (default 64)")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="clatune-cold-") as folder:
        (pathlib.Path(folder) / "look.cl").write_text(KERNEL)
        (pathlib.Path(folder) / "look.json").write_text(json.dumps(problem(options.steps)))
        for cache in ("warm", "cold", "warm", "cold"):
            answer = json.loads(tables.run(
                [tables.clatune(options), "measure", f"{folder}/look.json", "--device", options.device, "--cache", cache,
                 "--rounds", options.rounds, "--configuration", "computed=0", "--configuration", "computed=1", "--json"]))
            table_s, computed_s = (m["time_s"] for m in answer["measurements"])
            rows.append([cache, f"{1e6 * table_s:.0f}", f"{1e6 * computed_s:.0f}", f"{table_s / computed_s:.2f}"])
    print(tables.markdown(["cache", "table, us", "computed, us", "table / computed"], rows))


if __name__ == "__main__":
    main()
