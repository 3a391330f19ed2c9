"""Whether a tuned kernel takes as long inside of its application as the tuning said.

Captures the applications of the tests, tunes the kernel that takes the most time, runs each with the best configuration, and holds
the median of its launches (by the device's clock; else the check's, by the host's) against the tuning's interval. Run it
while nothing else runs:

  OCL_ICD_VENDORS=pocl.icd benchmarks/application_times.py build [--budget N] [APPLICATION...]"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

SIZES = {"stencil": ("1024", "1024", "60"), "reduction": ("4000000", "30"), "image_filter": ("512", "384", "30"),
         "gemm": ("256", "256", "256", "30")}


def text(seconds):
    return "-" if seconds is None else f"{1e6 * seconds:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("applications", nargs="*")
    parser.add_argument("--budget", default="30")
    typed = parser.parse_intermixed_args()
    build = typed.build.resolve()
    clatune, n_inside, n = str(build / "src/cli/clatune"), 0, 0
    print(f"{'kernel':16} {'untuned us':>10} {'tuned us':>10} {'from':>10} {'to':>10}   tuning us {'from':>10} {'to':>10}")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_DATA_HOME": folder}

        def run(*command):
            return subprocess.run(command, cwd=folder, env=environment, check=True, text=True, stdout=subprocess.PIPE).stdout

        for name in typed.applications or SIZES:
            program = build / "tests/layer" / f"app-{name}"
            if not program.exists():
                continue
            run(clatune, "capture", "-o", name, "--", program, *SIZES[name])
            for problem in sorted(pathlib.Path(folder, name).glob("*/*.json")):
                run(clatune, "tune", problem, "--budget", typed.budget, "--quiet")
            report = json.loads(run(clatune, "apply", "--check", "--json", name, "--", program, *SIZES[name]))
            for row in report["launches"]:
                by_device = row["time_s"] is not None
                time_s, low, high = ((row["time_s"], row["interval_low"], row["interval_high"]) if by_device
                                     else (row["check_tuned_s"], None, None))
                told = row["tuning_interval_low"], row["tuning_interval_high"]
                known = time_s is not None and told[0] is not None
                inside = known and (low or time_s) <= told[1] and (high or time_s) >= told[0]
                n_inside, n = n_inside + bool(inside), n + 1
                print(f"{row['kernel']:16} {text(row['check_untuned_s']):>10} {text(time_s):>10} {text(low):>10} {text(high):>10}  "
                      f"{text(row['tuning_time_s']):>10} {text(told[0]):>10} {text(told[1]):>10}   "
                      f"{'within' if inside else 'apart' if known else 'not known'}{'' if by_device else ' (host)'}", flush=True)
    print(f"{n_inside} of {n} within the tuning's interval")


if __name__ == "__main__":
    main()
