#!/usr/bin/env python3
"""How much faster one tuning is over several equal devices than on one: on simulated ones, whose evaluations wait.

    benchmarks/several_devices.py [--devices 4] [--configurations 256] [--launch 0.06] [--build build]

Records a whole space, which is nothing but evaluations, and searches it by the standard searcher, with finalists, which are all on
the first device. Times are the clock's, with starting the program.
"""
import json
import os
import pathlib
import tempfile
import time

import tables

KERNEL = "kernel void copy(global const float *in, global float *out) { out[get_global_id(0)] = in[get_global_id(0)]; }\n" \
         "constant int tuned = a + b;\n"
VECTOR = {"Type": "float", "MemoryType": "Vector", "Size": "n"}


def problem(n):
    return {"General": {"BenchmarkName": "copy"}, "ProblemParameters": [{"Name": "n", "Default": 1024}],
            "ConfigurationSpace": {"TuningParameters": [
                {"Name": "a", "Type": "int", "Values": f"list(range({(n + 3) // 4}))", "Default": 0},
                {"Name": "b", "Type": "int", "Values": [0, 1, 2, 3], "Default": 0}]},
            "KernelSpecification": {"Language": "OpenCL", "KernelName": "copy", "KernelFile": "copy.cl",
                                    "GlobalSize": {"X": "n"}, "LocalSize": {"X": "256"}, "Arguments": [
                                        {"Name": "in", "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 1.0, **VECTOR},
                                        {"Name": "out", "AccessType": "WriteOnly", **VECTOR}]}}


def write_problem(folder, n):
    """copy.json, with n configurations that all do the same."""
    (folder / "copy.cl").write_text(KERNEL)
    (folder / "copy.json").write_text(json.dumps(problem(n)))


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("--devices", type=int, default=4, help="number of devices that are compared with one (default 4)")
    parser.add_argument("--configurations", type=int, default=256, help="configurations of the space (default 256)")
    parser.add_argument("--launch", type=float, default=0.06, help="seconds that a launch of the fastest configuration takes (default 0.06)")
    options = parser.parse_args()
    n, most = options.configurations, options.devices
    optimum = {"a": n // 8, "b": 2}
    time_s = f"{options.launch} * (1 + {4 / n} * abs(a - {optimum['a']}) + 0.2 * abs(b - 2))"
    rows = []
    with tempfile.TemporaryDirectory(prefix="clatune-devices-") as name:
        folder = pathlib.Path(name)
        (folder / "icd").mkdir()
        driver = next(pathlib.Path(options.build).resolve().rglob("libclatune-simulated.so"))
        (folder / "icd" / "simulated.icd").write_text(f"{driver}\n")
        write_problem(folder, n)
        device = {"name": "Simulated", "time_s": time_s, "waits": True}
        (folder / "devices.json").write_text(json.dumps({"devices": [device] * most}))
        environment = {**os.environ, "OCL_ICD_VENDORS": str(folder / "icd"), "XDG_RUNTIME_DIR": name, "TMPDIR": name,
                       "CLATUNE_SIMULATED": str(folder / "devices.json")}

        tune = ["tune", "copy.json", "--budget", n // 2, "--oclgrind", "no"]
        for what, command in (("record", ["record", "copy.json", "-o", "all.json"]), ("tune", tune),
                              ("tune --finalists 0", [*tune, "--finalists", 0])):
            took_s = {}
            for k in (1, most):
                began_s = time.monotonic()
                answer = json.loads(tables.run(
                    [tables.clatune(options).resolve(), *command, "--device", "0:0" if k == 1 else "gpu:all", "--store",
                     f"{what}-{k}.sqlite", "--json", "--quiet"], cwd=folder, env=environment))
                took_s[k] = time.monotonic() - began_s
                if what == "record":
                    times = tables.times_of(tables.read_recording(folder / "all.json"))
                    best, total = dict(min(times, key=times.get)), len(times)
                else:
                    best, total = answer["best"]["configuration"], answer["evaluations"]["total"]
                rows.append([what, k, total, f"{took_s[k]:.1f}", f"{took_s[k] / total:.3f}", f"{took_s[1] / took_s[k]:.2f}",
                             " ".join(f"{key}={value:g}" for key, value in sorted(best.items()))])
    print(tables.markdown(["", "devices", "evaluations", "wall, s", "s an evaluation", "speed-up", "best"], rows))
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
