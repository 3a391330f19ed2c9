#!/usr/bin/env python3
"""Tables and pictures from what benchmarks/first_gpu.py measured on a GPU; needs no device.

    benchmarks/first_gpu_page.py RESULTS... [--page docs/notebook/results.md] [--pictures docs/pictures]

RESULTS are the packed files of one device (of each machine its results.tar.gz), or the folder of its measurements. Without --page the text is
printed; with it, it becomes the device's part of the page's section GPUs, where the parts of other devices stay.
"""
import json
import math
import pathlib
import re
import statistics
import sys
import tarfile
import tempfile

import first_gpu
import plots
import tables

BEGIN, END = "<!-- GPUs: begin -->\n", "<!-- GPUs: end -->"
PROBLEMS = ("convolution", "stereo", "raycasting")
ROWS = (100, 200, 500, 1000, 2000, 4000)
# Falch and Elster 2015, of a Tesla K40: mean relative error in % after 4,000 rows, and slowdown in %.
PAPER_ERROR, PAPER_SLOWDOWN = "12.5 to 14.7", "8.7"


class Results:
    def __init__(self, folder, build):
        self.folder, self.build = folder, build
        self.device = json.loads((folder / "device.json").read_text())

    def step(self, name):
        path = self.folder / f"steps/{name}.json"
        return json.loads(path.read_text()) if path.exists() else {"why": "no time was left"}

    def text(self, name):
        path = self.folder / f"steps/{name}.out"
        return path.read_text() if path.exists() else ""

    def lines(self, name):
        """{name: fact} of a step that prints a JSON object per line; the last line may be cut off."""
        out = {}
        for line in self.text(name).splitlines():
            try:
                fact = json.loads(line)
            except ValueError:
                continue
            out[fact["name"]] = fact
        return out

    def recordings(self):
        """{problem: path}"""
        paths = {name: self.folder / f"{name}.json.gz" for name in PROBLEMS}
        return {name: path for name, path in paths.items() if path.exists()}

    def script(self, name, *arguments):
        """The output of another script of this folder."""
        try:
            out = tables.run([sys.executable, tables.ROOT / "benchmarks" / name, *arguments, "--build", self.build])
        except SystemExit as failure:
            return f"Not measured: {str(failure).strip().splitlines()[-1]}."
        return "\n".join(line.rstrip() for line in out.strip().splitlines())

    def absent(self, name):
        return f"{name}: not measured ({self.step(name)['why'] or 'no output'})."


def told(values):
    return " / ".join(f"{1000 * t:.3g}" for t in (min(values), statistics.median(values), max(values)))


# --- the parts of the text: each a list of paragraphs ---

def facts(r):
    found = r.lines("facts")

    def figure(name, show):
        fact = found.get(name, {"failed": r.step("facts")["why"] or "no output"})
        return f"not measured: {fact['failed'].splitlines()[-1]}" if "failed" in fact else show(fact)

    def measured(fact):
        first = fact["measurements"][0]
        return f"{1e6 * first['time_s']:.2f} us" if first["time_s"] else f"`{first['reason']}`"

    def copied(fact):
        return f"{measured(fact)}, {2 * 4 * fact['sizes']['n'] / fact['measurements'][0]['time_s'] / 1e9:.0f} GB/s read and written"

    def probed(fact):
        units = {"stream_GB_s": "GB/s streamed", "single_GFLOP_s": "GFLOP/s", "launch_us": "us a launch"}
        return ", ".join(f"{fact['devices'][0]['features'].get(key, math.nan):,.1f} {unit}" for key, unit in units.items())
    shows = {"measure": ("convolution, default configuration", measured), "copy of 16 MiB, warm": (None, copied), "copy of 16 MiB, cold": (None, copied),
             "transfers of 16 MiB": (None, lambda f: ", ".join(f"{w} {f[w]['median_us'] / 1000:.2f} ms" for w in ("write", "read"))),
             "probe": ("`clatune devices --probe`", probed), "nvidia-smi": (None, lambda f: f"{f['asked']}: {f['says']}")}
    counted = [name for name in found if name.startswith(("builds", "evaluations"))]
    rows = [[title or name, figure(name, show)] for name, (title, show) in shows.items()]
    rows += [[name, figure(name, lambda f: f"{f['a_second']} a second")] for name in counted or ["builds and evaluations per second"]]
    return ["**Facts**", tables.markdown(["what", "measured"], rows)]


def pools(r):
    rows, missing = [], []
    for name in PROBLEMS:
        path = r.recordings().get(name)
        if path is None:
            missing.append(r.absent(f"pool-{name}"))
            continue
        recording = tables.read_recording(path)
        times = [t for t in tables.times_of(recording).values() if t]
        reasons, n = {}, len(recording["results"])
        for result in recording["results"]:
            if result["invalidity"] != "correct":
                reasons[result["invalidity"]] = reasons.get(result["invalidity"], 0) + 1
        rows.append([name, f"{n:,}", ", ".join(f"{k:,} {reason}" for reason, k in sorted(reasons.items())) or "0",
                     f"{n / r.step(f'pool-{name}').get('took_s', math.nan):.1f}", told(times) if times else "-"])
    head = ["pool", "configurations", "failed", "a second", "times, ms: least / median / most"]
    return ["**Pools**", *([tables.markdown(head, rows)] if rows else []), *missing]


def errors(r):
    out = ["**Prediction error**"]
    for name in PROBLEMS:
        path = r.recordings().get(name)
        if path is None:
            out.append(r.absent(f"pool-{name}"))
            continue
        results = tables.read_recording(path)["results"]
        correct = sum(x["invalidity"] == "correct" for x in results)
        unseen = min(1000, correct // 3)
        rows = [n for n in ROWS if n <= len(results) - unseen] or [max(1, correct // 2)]
        again = json.loads(r.text(f"again-{name}") or "null")
        floor = f"noise floor {tables.percent(again['mean_relative_difference'])}, in the median {tables.percent(again['median'])}" if again \
            else f"noise floor not measured ({r.step(f'again-{name}')['why']})"
        out += [f"{name}, {unseen} configurations not trained on; {floor}; the paper {PAPER_ERROR} on its NVIDIA GPU:",
                r.script("prediction_error.py", tables.ROOT / f"kernels_cl/{name}.json", path, "--rows", ",".join(map(str, rows)), "--unseen", unseen)]
    return out


def slowdowns(r):
    out = ["**Slowdown of the two-stage search**"]
    for name in PROBLEMS:
        before, _, after = r.text(f"second-{name}").partition("By the medians of the rounds:")
        found = after if "best known" in after else before
        if "best known" not in found:
            out.append(r.absent(f"second-{name}"))
            continue
        out += [f"{name}; the paper {PAPER_SLOWDOWN} on its NVIDIA GPU:", "\n".join(line.rstrip() for line in found.strip().splitlines())]
    return out


def replays(r):
    paths = list(r.recordings().values())
    if not paths:
        return ["**Replays of all searchers**", "Not measured: there are no pools."]
    with tempfile.TemporaryDirectory(prefix="clatune-gpu-") as folder:
        text = r.script("quality.py", *paths, "--csv", f"{folder}/results.csv", "--repeat", 5 if r.device["small"] else 20)
    return ["**Replays of all searchers** (optimum / best found after so many evaluations)", text]


def libraries(r):
    found = r.lines("libraries")
    rows = [[name, *(f"{fact[cache]['median_us']} us" for cache in ("warm", "cold"))] for name, fact in found.items() if "warm" in fact]
    missing = [f"{name}: not measured ({fact['failed'].splitlines()[-1]})." for name, fact in found.items() if "failed" in fact]
    return ["**Against the vendor's libraries** (2048 x 2048; medians)" if not r.device["small"] else "**Against the vendor's libraries**",
            *([tables.markdown(["", "warm", "cold"], rows)] if rows else [r.absent("libraries")]), *missing]


def live(r):
    text = r.text("live").strip()
    return ["**Live against Kernel Tuner**", text if text.startswith("|") else r.absent("live")]


def isolation(r):
    found, rows = r.lines("isolation"), []
    shows = {"two at once": lambda f: f"alone {f['alone_s']} s, both {f['two_s']} s; times over those alone: median {f['median_ratio']}, "
                                      f"most {f['most']}; correct: {f['correct']}",
             "a worker is killed": lambda f: f"{f['correct']} of {f['evaluations']} correct, in {f['wall_s']} s",
             "bad kernels": lambda f: ", ".join(f"{defect} {block}: `{reason}`" for defect, block, reason in f["reasons"])}
    for part, show in shows.items():
        for name in [name for name in found if name.startswith(part)] or [part]:
            fact = found.get(name, {"failed": r.step("isolation")["why"] or "no output"})
            rows.append([name, f"not measured: {fact['failed'].splitlines()[-1]}" if "failed" in fact else show(fact)])
    return ["**Isolation**", tables.markdown(["what", "measured"], rows)]


# --- the picture ---

def curves(r):
    """{tuner: [median over the seeds of fastest of all / fastest so far, after each evaluation]}, from the tunings of the step live."""
    path, times = r.folder / "live.jsonl", {}
    for line in path.read_text().splitlines() if path.exists() else []:
        tuning = json.loads(line)
        times.setdefault(tuning["job"]["tuner"], []).append(tuning["result"]["times_s"])
    found = [t for tunings in times.values() for tuning in tunings for t in tuning if t]
    out = {}
    for tuner, tunings in times.items():
        n = min(map(len, tunings))
        best = [[min((t for t in tuning[:i + 1] if t), default=math.inf) for i in range(n)] for tuning in tunings]
        out[tuner] = [statistics.median(min(found) / b[i] for b in best) for i in range(n)]
    return out


def picture(r, folder):
    """Performance against evaluations, as SVG; the paragraph that shows it."""
    found = curves(r)
    if not found:
        return ["Performance against evaluations: not measured."]
    most = max(map(len, found.values()))
    title = f"Convolution on {r.device['name']}: best of all / best found"
    ticks = [(i / most, i) for i in range(0, most + 1, max(1, most // 6))]
    drawn = {tuner if tuner.startswith("clatune") else f"Kernel Tuner {tuner}": [((i + 1) / most, y) for i, y in enumerate(values)]
             for tuner, values in found.items()}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{re.sub(r'[^a-z0-9]+', '-', r.device['name'].lower()).strip('-')}.svg"
    path.write_text(plots.lines(title, ticks, drawn))
    return [f"![Performance against evaluations on {name_of(r.device)}](../pictures/{path.name})"]


# --- the page ---

def name_of(device):
    return re.sub(r"[^\w .,:()@+-]", "", device["name"]).strip()


def part(r, pictures):
    device, took = r.device, {}
    for path in sorted((r.folder / "steps").glob("*.json")):
        step = json.loads(path.read_text())
        took[step["part"]] = took.get(step["part"], 0) + step["took_s"]
    said = [f"### {name_of(device)}", f"`scripts/gpu-kit`, parts {', '.join(f'{p} ({s:.0f} s)' for p, s in sorted(took.items()))}"
            f"{', small sizes' if device['small'] else ''}: driver {device['driver_version']} ({device['platform_name']}), {device['clatune']}, "
            f"{device['date']}."]
    for paragraphs in (facts, pools, errors, slowdowns, replays, libraries, live):
        said += paragraphs(r)
    said += picture(r, pictures) if pictures else []
    said += isolation(r)
    unfinished = [f"{name} ({r.step(name)['why']})" for steps in first_gpu.STEPS.values() for name in steps if r.step(name)["why"]]
    return "\n\n".join(said + ([f"Not finished: {'; '.join(unfinished)}."] if unfinished else [])) + "\n"


def replace_part(page, name, text):
    """The page's text with this device's part; the other devices' parts stay, and text of no device goes."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise SystemExit(f"first_gpu_page.py: the page has no '{BEGIN.strip()}' and '{END}'")
    before, rest = page.split(BEGIN)
    inside, after = rest.split(END)
    parts = {p.splitlines()[0][4:]: p.strip() + "\n" for p in re.split(r"^(?=### )", inside, flags=re.M) if p.startswith("### ")}
    parts[name] = text
    return before + BEGIN + "\n" + "\n".join(parts[n] for n in sorted(parts)) + "\n" + END + after


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("results", nargs="+", type=pathlib.Path, help="packed files, or a folder of measurements")
    parser.add_argument("--page", type=pathlib.Path, help="page whose section 'GPUs' the text is written to")
    parser.add_argument("--pictures", type=pathlib.Path, help="folder of the pictures (default: none are made)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clatune-gpu-") as name:
        folder = options.results[0] if options.results[0].is_dir() else pathlib.Path(name)
        for path in options.results if folder == pathlib.Path(name) else []:
            with tarfile.open(path) as tar:
                tar.extraction_filter = getattr(tarfile, "data_filter", None)  # older versions of Python 3.11 have none
                tar.extractall(folder)
        if not (folder / "device.json").exists():
            raise SystemExit(f"first_gpu_page.py: '{options.results[0]}' holds no results of benchmarks/first_gpu.py")
        r = Results(folder.resolve(), options.build)
        text = part(r, options.pictures)
    if options.page:
        options.page.write_text(replace_part(options.page.read_text(), name_of(r.device), text))
    else:
        print(text)


if __name__ == "__main__":
    main()
