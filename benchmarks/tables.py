"""Common parts of the scripts of this folder: options, running clatune and pool_model, tables."""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT if (ROOT / "bin/clatune").exists() else ROOT / "build"  # the first: as scripts/portable makes it
# How the pools were measured; second stages and repeats are measured alike, so that their times compare.
MEASURE = "--abandon-factor 0 --max-runs 5 --max-run-time 0.08"
MODELS = {  # options of the model 'ensemble'
    "paper": "hidden=30 hidden2=0 resources=no trainer=rprop iterations=1000 patience=1000",
    "default": "",
}


def parser(text):
    out = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    out.add_argument("--build", default=str(BUILD), help="build folder, or a tree with bin/clatune (default: build)")
    return out


def add_pool(out):
    out.add_argument("problem", help="problem file")
    out.add_argument("recording", help="recording of the problem (clatune record), the pool")


def add_device(out):
    out.add_argument("--device", required=True, help="the recording's device, as for clatune")
    out.add_argument("--store", required=True, help="store of the measurements; a second run continues from it")
    out.add_argument("--measure", default=MEASURE, help=f"options of the evaluator (default: {MEASURE})")


def numbers(text):
    return [int(x) for x in text.split(",")]


def model_options(name):
    """Options of pool_model, from a name of MODELS, "a=b c=d", or another model than the networks."""
    if name in ("trees", "average", "auto"):
        return ["-m", name]
    return [x for setting in MODELS.get(name, name).split() for x in ("-o", setting)]


def run(command, **more):
    try:
        done = subprocess.run([str(c) for c in command], text=True, capture_output=True, **more)
    except OSError as error:
        sys.exit(f"cannot run {command[0]}: {error.strerror}")
    if done.returncode:
        sys.exit(f"{' '.join(str(c) for c in command)}\n{done.stderr}")
    return done.stdout


def pool_model(options, action, *arguments):
    return run([pathlib.Path(options.build) / "benchmarks/pool_model", action, options.problem, options.recording,
                *arguments])


def read_recording(path):
    import gzip
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt") as file:
        return json.load(file)


def sizes_of(recording):
    """The --size options that a recording was made with."""
    return [x for p in recording["ProblemParameters"] for x in ("--size", f"{p['Name']}={p['Value']}")]


def key(configuration):
    return tuple(sorted((name, float(v) if not isinstance(v, str) else v) for name, v in configuration.items()))


def times_of(recording):
    """{configuration: seconds}, None if it failed."""
    out = {}
    for result in recording["results"]:
        time = next((m["value"] for m in result["measurements"] if m["name"] == "time"), None)
        out[key(result["configuration"])] = time / 1000 if result["invalidity"] == "correct" and time else None
    return out


def typed_sizes(options):
    return [x for size in options.size for x in ("--size", size)]


def typed_configuration(configuration):
    """As clatune's --configuration takes it."""
    return " ".join(f"{name}={int(v) if isinstance(v, bool) else v}" for name, v in configuration.items())


def measure(options, sizes, configurations, folder, store=None):
    """Times of a list of configurations on the device, {configuration: seconds}, None if it fails; configurations that the store
    knows are not measured again."""
    file = pathlib.Path(folder) / "configurations.json"
    file.write_text(json.dumps(configurations))
    answer = json.loads(run([clatune(options), "sample", options.problem, "--device",
                             options.device, *sizes, "--configurations", file, "--store", store or options.store,
                             *options.measure.split(), "--json", "--quiet"]))
    return {key(r["configuration"]): r["time_s"] for r in answer["results"]}


def read_csv(path, fields):
    """Rows of an earlier run, so that a script goes on where it was stopped."""
    path = pathlib.Path(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(",".join(fields) + "\n")
    with path.open() as file:
        return list(csv.DictReader(file))


def append_csv(path, row):
    with open(path, "a", newline="") as file:
        csv.writer(file).writerow(row)


def markdown(head, rows):
    lines = ["| " + " | ".join(str(x) for x in head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    return "\n".join(lines + ["| " + " | ".join(str(x) for x in row) + " |" for row in rows])


def percent(x):
    return f"{100 * x:.1f}"


def recordings(arguments):
    """Files, and the recordings in folders."""
    paths = [p for a in map(pathlib.Path, arguments)
             for p in (sorted(a.glob("*.json*")) if a.is_dir() else [a])]
    return paths or sys.exit("no recordings there")


def clatune(options):
    installed = pathlib.Path(options.build) / "bin/clatune"
    return installed if installed.exists() else pathlib.Path(options.build) / "src/cli/clatune"


def searchers(options):
    """Names of all searchers, or those asked for."""
    known = json.loads(run([clatune(options), "version", "--json"]))["searchers"]
    known = [s for s in known if s != "groups"]  # a recording states no groups: it would be exhaustive
    asked = options.searchers.split(",") if options.searchers else known
    unknown = [name for name in asked if name not in known]
    return sys.exit(f"no such searcher: {', '.join(unknown)}") if unknown else asked


def add_replay(out):
    out.add_argument("spaces", nargs="*", help="recordings, or folders of recordings (*.json, *.json.gz)")
    out.add_argument("--searchers", help="a,b,...: searchers whose rows are renewed (default: all)")
    out.add_argument("--repeat", type=int, default=20, help="searches per space, with seeds 1, 2, ... (default 20)")
    out.add_argument("--threads", type=int, default=0, help="searches at the same time (default: the number of processors)")


def replay(options, searcher, budget, *more):
    """The answer of `clatune replay --json` on all the spaces."""
    return json.loads(run([clatune(options), "replay", *recordings(options.spaces), "--searcher", searcher, "--budget",
                           budget, "--repeat", options.repeat, "--seed", 1, "--threads", options.threads, *more, "--json"]))


def replace_part(path, name, text):
    """Puts text between '<!-- NAME: begin -->' and '<!-- NAME: end -->' of a page."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    page = pathlib.Path(path).read_text()
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit(f"{path}: no part '{name}'")
    pathlib.Path(path).write_text(page[:page.index(begin) + len(begin)] + text + "\n" + page[page.index(end):])


def publish(text, page, part):
    """Prints text and, if a page is named, puts it into a part of it."""
    print(text)
    if page:
        replace_part(page, part, text)
