"""The time that the OpenCL layer adds to an application's calls: with it (apply, with an entry for another kernel) and without, in turns.

On the driver that --driver FILE or OCL_ICD_VENDORS names; on the simulated one, whose calls are the shortest, the differences
are the clearest. Medians of the rounds, in ns a call."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="build/benchmarks/layer_calls")
    parser.add_argument("layer", help="build/src/layer/libclatune-layer.so")
    parser.add_argument("--driver", help="library of the OpenCL driver")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=20000)
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        if typed.driver:
            with open(os.path.join(folder, "driver.icd"), "w") as file:
                file.write(os.path.abspath(typed.driver) + "\n")
            environment["OCL_ICD_VENDORS"] = folder
            environment["CLATUNE_SIMULATED"] = os.path.join(folder, "devices.json")
            with open(environment["CLATUNE_SIMULATED"], "w") as file:
                json.dump({"devices": [{"time_s": "1e-7"}]}, file)
        entry = {"problem": "p", "program": "0" * 32, "kernel": "none", "platform": "", "device": "", "driver": "", "global": [1],
                 "local": None, "source": "", "options": "", "tuned_global": [1], "tuned_local": None, "arguments": []}
        path = os.path.join(folder, "layer.json")
        with open(path, "w") as file:
            json.dump({"use": "apply", "check": False, "times": False, "entries": [entry]}, file)
        worst = 0
        print(f"{'':44} threads   without      with     more (ns a call)")
        for threads in (1, 8):
            taken = {False: {}, True: {}}
            for turn in range(2 * typed.rounds):
                layered = bool((turn + turn // 2) % 2)
                more = {"OPENCL_LAYERS": os.path.abspath(typed.layer), "CLATUNE_LAYER": path} if layered else {}
                run = subprocess.run([typed.program, str(typed.calls), str(threads)], env={**environment, **more}, check=True,
                                     text=True, stdout=subprocess.PIPE)
                for line in run.stdout.splitlines():
                    name, _, ns = line.split()
                    taken[layered].setdefault(name, []).append(float(ns))
            for name in taken[False]:
                without, within = (statistics.median(taken[layered][name]) for layered in (False, True))
                print(f"{name:44} {threads:7} {without:9.0f} {within:9.0f} {within - without:8.0f}")
                worst = max(worst, within - without)
        print(f"most: {worst:.0f} ns a call")


if __name__ == "__main__":
    main()
