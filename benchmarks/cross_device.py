#!/usr/bin/env python3
"""The best configuration of each device run on the others: what performance portability a tuner gives back.

Each device is tuned first (two-stage, --budget evaluations, into the store, so that a second run goes on from there; a
pool in the store counts). Then every device runs every other's best configuration: the table has its time over the time
of the device's own best, or why it fails.

    benchmarks/cross_device.py kernels_cl/convolution.json --devices pocl intel rusticl --store cross.sqlite \\
        --size width=512 --size height=512
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import tables

SECONDS_A_COMMAND = 24 * 3600


def clatune(options, *arguments):
    command = [tables.clatune(options), arguments[0], options.problem, *arguments[1:], "--json",
               "--quiet"]
    for size in options.size:
        command += ["--size", size]
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, timeout=SECONDS_A_COMMAND)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{done.stderr}")


def tune(options, device):
    """Name of the device and its best configuration (None: no configuration is correct on it)."""
    answer = clatune(options, "tune", "--device", device, "--store", options.store, "--budget", str(options.budget))
    best = answer["best"]
    return answer["device"]["name"], best and best["configuration"], answer["reasons"]


def why_not(options, device, configuration):
    """None if it is correct on the device, else the reason in a few words."""
    answer = clatune(options, "verify", "--device", device, "--configuration", tables.typed_configuration(configuration))
    if answer["correct"]:
        return None
    line = next((x.strip() for x in (answer.get("log") or "").splitlines() if "error" in x.lower()), "")
    return answer.get("violation") or f"{answer['reason']}{': ' + line if line else ''}"[:120]


def time_of(options, device, configurations, folder):
    """Medians over the rounds, each a store of its own, so that the configurations take turns."""
    file = pathlib.Path(folder) / "configurations.json"
    file.write_text(json.dumps(configurations))
    rounds = []
    for i in range(options.rounds):
        answer = clatune(options, "sample", "--device", device, "--configurations", str(file), "--store",
                         f"{options.store}.round{i + 1}", *options.measure.split())
        rounds.append([r["time_s"] for r in sorted(answer["results"], key=lambda r: str(tables.key(r["configuration"])))])
    order = sorted(configurations, key=lambda c: str(tables.key(c)))
    median = [sorted(t for t in times if t)[len([t for t in times if t]) // 2] if any(times) else None
              for times in zip(*rounds)]
    return {tables.key(c): t for c, t in zip(order, median)}


def device_row(options, device, best, folder):
    unique = {tables.key(c): c for c in best.values() if c}
    problems = {k: why_not(options, device, c) for k, c in unique.items()}
    good = [c for k, c in unique.items() if problems[k] is None]
    times = time_of(options, device, good, folder) if good else {}
    own = times.get(tables.key(best[device])) if best[device] else None
    cells = []
    for other in best:
        k = best[other] and tables.key(best[other])
        time = times.get(k)
        cells.append("nothing to run" if k is None else problems[k] if problems[k] else "failed when timed" if not time
                     else f"{time / own:.2f} ({1000 * time:.3g} ms)" if own else f"{1000 * time:.3g} ms")
    return [device, *cells]


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("problem", help="problem file")
    parser.add_argument("--devices", nargs="+", required=True, help="devices, as for clatune's --device")
    parser.add_argument("--size", action="append", default=[], help="NAME=N, a problem parameter")
    parser.add_argument("--store", required=True, help="store of the measurements")
    parser.add_argument("--budget", type=int, default=1000, help="evaluations per device (default 1000)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", default="--abandon-factor 0", help="options of the evaluator (default: %(default)s)")
    options = parser.parse_args()
    best, names = {}, {}
    for device in options.devices:
        names[device], best[device], reasons = tune(options, device)
        print(f"- {device}: {names[device]}; best {tables.typed_configuration(best[device]) if best[device] else 'none'}; failures "
              f"{reasons or 'none'}", flush=True)
    with tempfile.TemporaryDirectory(prefix="clatune-cross-") as folder:
        rows = [device_row(options, device, best, folder) for device in options.devices]
    print("\n" + tables.markdown(["run on \\ best of", *options.devices], rows))


if __name__ == "__main__":
    main()
