#!/usr/bin/env python3
"""Predictive tuning of the filterbank correlation (docs/notebook/predictive.md), after Bergstra, Pinto and Cox (2012).

    benchmarks/predictive.py measure --device pocl --store /somewhere/filterbank.sqlite    # long; goes on where it was stopped
    benchmarks/predictive.py warm --device pocl --store /somewhere/filterbank.sqlite       # after it
    benchmarks/predictive.py tables                                                        # from data/recorded, no device

`measure` runs the reference, the grid and hill climbing at every training and unseen size, predicts the unseen sizes with each model
from the first 10, 25 and 50 training sizes, measures the predicted configurations, and compares the winners of a size in rounds. It writes
data/recorded/filterbank-*.json.gz. `warm` tunes the unseen sizes from scratch with 200 evaluations and with 20 after a warm start from
all the training sizes, and compares the winners in rounds. `tables` prints the figures from these files; models are fitted again
for the rank correlation.
"""
import gzip
import json
import pathlib
import statistics
import tempfile
import time

import live_search
import tables

PROBLEM = tables.ROOT / "kernels_cl/filterbank.json"
GRID = tables.ROOT / "kernels_cl/filterbank-grid.json"
CLIMBS = (25, 50, 75)
TRAINED_ON = (10, 25, 50)
MODELS = ("trees", "ensemble", "average")
SUGGESTIONS = 10  # measured on top of a prediction
WARM, COLD = 20, 200  # evaluations after a warm start, and from scratch


def sizes_in(options, name):
    return json.loads((tables.ROOT / f"data/filterbank-{name}.json").read_text())[:getattr(options, name)]


def trained_on(options):
    return [n for n in TRAINED_ON if n <= options.training] or [options.training]


def typed(size):
    return [x for name, value in size.items() for x in ("--size", f"{name}={value}")]


def recording_of(options, name, index):
    return pathlib.Path(options.data) / f"filterbank-{name}-{index:02}.json.gz"


def searches_file(options):
    return pathlib.Path(options.data) / "filterbank-searches.json.gz"


def warm_file(options):
    return pathlib.Path(options.data) / "filterbank-warm.json.gz"


def clatune(options, *arguments):
    return tables.run([tables.clatune(options), *arguments])


def on_device(options):
    return ["--device", options.device, "--store", options.store]


# --- measuring ---

def sweep(options, folder):
    """Reference, grid and hill climbing everywhere; returns clatune sweep's results of each tuning."""
    plan = {"Name": "filterbank", "Devices": [options.device], "Tuning": {"Finalists": 0},
            "Problems": [{"Problem": str(PROBLEM), "Sizes": sizes_in(options, name)} for name in ("training", "unseen")],
            "Searchers": [{"Name": "grid", "Configurations": str(GRID)}, {"Name": "climb", "Searcher": "hill-climb"}],
            "Budgets": list(CLIMBS)}
    path = pathlib.Path(folder) / "plan.json"
    path.write_text(json.dumps(plan))
    clatune(options, "sweep", path, "--store", options.store, "-o", options.store + ".results.jsonl", "--quiet", "--json")
    return [json.loads(line) for line in pathlib.Path(options.store + ".results.jsonl").read_text().splitlines()]


def record(options):
    for name in ("training", "unseen"):
        for index, size in enumerate(sizes_in(options, name)):
            clatune(options, "record", PROBLEM, *on_device(options), *typed(size), "--stored-only", "-o",
                    recording_of(options, name, index), "--quiet")


def store_of(options, folder, n):
    """A store that holds the first n training sizes, and knows their device."""
    store = f"{folder}/store-{n}.sqlite"
    if not pathlib.Path(store).exists():
        files = [recording_of(options, "training", i) for i in range(n)]
        clatune(options, "store", "import", *files, "--of", PROBLEM, "--store", store, "--quiet")
    return store


def device_of(options):
    return options.device or tables.read_recording(recording_of(options, "training", 0))["Device"]["name"]


def train(options, folder, model, n):
    """A model file fitted on the first n training sizes."""
    path = f"{folder}/{model}-{n}.model"
    told = json.loads(clatune(options, "train", PROBLEM, "--device", device_of(options), "--store", store_of(options, folder, n),
                              "--model", model, "-o", path, "--json"))
    return path, told


def predict(options, folder, model, n, size, top):
    return json.loads(clatune(options, "predict", PROBLEM, "--device", device_of(options), "--store", store_of(options, folder, n),
                              "--model", f"{folder}/{model}-{n}.model", *typed(size), "--top", top, "--json"))["predictions"]


def look_up(options, folder, size):
    """The answer without a model: the best at the nearest training size."""
    answer = json.loads(clatune(options, "lookup", PROBLEM, "--device", device_of(options), "--store",
                                store_of(options, folder, trained_on(options)[-1]), *typed(size), "--json"))
    return answer["configuration"] if answer["tier"] == "nearest-size" else None


def best_of(results, size, label, budget=None):
    """The configuration that a tuning of the sweep found."""
    for r in results:
        if r["sizes"] == size and r["searcher"] == label and budget in (None, r["budget"]) and r.get("configuration"):
            return r["configuration"]
    return None


def found_at(options, results, folder, size):
    """{what: configuration} that are compared at an unseen size; measures the predicted ones."""
    found = {"reference": json.loads(GRID.read_text())[0], "grid": best_of(results, size, "grid")}
    found |= {f"HC{n}": best_of(results, size, "climb", n) for n in CLIMBS}
    found["nearest size"] = look_up(options, folder, size)
    for model in MODELS:
        for n in trained_on(options):
            predicted = [p["configuration"] for p in predict(options, folder, model, n, size, SUGGESTIONS)]
            found[f"{model} {n}"] = predicted[0]
            times = tables.measure(options, typed(size), predicted, folder)
            best = min((c for c in predicted if times.get(tables.key(c))), key=lambda c: times[tables.key(c)], default=None)
            found[f"{model} {n} + {SUGGESTIONS}"] = best
    return {what: {"configuration": c} for what, c in found.items() if c}


def measure(options):
    options.problem, options.size = PROBLEM, []
    with tempfile.TemporaryDirectory(prefix="clatune-predictive-") as folder:
        results = sweep(options, folder)
        record(options)
        fits = {f"{m} {n}": train(options, folder, m, n)[1] for n in trained_on(options) for m in MODELS}
        compared = []
        for size in sizes_in(options, "unseen"):
            found = found_at(options, results, folder, size)
            options.size = [f"{name}={value}" for name, value in size.items()]
            again = live_search.retime(options, found)
            compared.append({"size": size, "found": {w: f["configuration"] for w, f in found.items()}, "time_s": again})
        record(options)
    with gzip.open(searches_file(options), "wt") as file:
        json.dump({"fits": fits, "compared": compared}, file, indent=1)


# --- warm start ---

def trained_store(options):
    """A store that has the training sizes alone and a model of them, as a user's would."""
    path = pathlib.Path(options.store + ".trained")
    if not path.exists():
        files = [recording_of(options, "training", i) for i in range(options.training)]
        clatune(options, "store", "import", *files, "--of", PROBLEM, "--store", path, "--quiet")
    clatune(options, "train", PROBLEM, "--device", options.device, "--store", path, "--model", "auto", "--quiet")
    return path


def tune(options, store, size, budget, *how):
    answer = json.loads(clatune(options, "tune", PROBLEM, "--device", options.device, *typed(size), "--store", store, "--seed", 1,
                                "--budget", budget, *how, "--json", "--quiet"))
    return {"configuration": answer["best"]["configuration"], "time_s": answer["best"]["time_s"], "wall_s": answer["wall_s"],
            "evaluations": answer["evaluations"]["total"]}


def known_cold(options):
    """The results of earlier searches from scratch, by size: they are not made again."""
    known = json.loads(gzip.open(warm_file(options)).read()) if warm_file(options).exists() else []
    return {json.dumps(k["size"]): k["found"]["cold"] for k in known}


def warm(options):
    options.problem, options.size = PROBLEM, []
    store, known, out = trained_store(options), known_cold(options), []
    for size in sizes_in(options, "unseen"):
        found = {"warm": tune(options, store, size, WARM, "--warm-start"),
                 "cold": known.get(json.dumps(size)) or tune(options, options.store + ".cold", size, COLD, "--no-transfer")}
        options.size = [f"{name}={value}" for name, value in size.items()]
        out.append({"size": size, "found": found, "time_s": live_search.retime(options, found)})
    with gzip.open(warm_file(options), "wt") as file:
        json.dump(out, file, indent=1)


# --- tables ---

def timed(function, *arguments):
    begin = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - begin


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0] * len(values)
    for rank, index in enumerate(order):
        out[index] = rank
    return out


def correlation(a, b):
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 2 else float("nan")


def rank_correlations(options, folder, model, n):
    """Spearman's, of predicted and measured times of all that was measured at each unseen size."""
    out = []
    for index, size in enumerate(sizes_in(options, "unseen")):
        measured = tables.times_of(tables.read_recording(recording_of(options, "unseen", index)))
        predicted = {tables.key(p["configuration"]): p["time_s"] for p in predict(options, folder, model, n, size, 1000000)}
        both = [(predicted[c], t) for c, t in measured.items() if t and c in predicted]
        out.append(correlation([p for p, _ in both], [t for _, t in both]))
    return out


def print_warm(options):
    if not warm_file(options).exists():
        return
    sizes = json.loads(gzip.open(warm_file(options)).read())
    speeds = sorted(s["time_s"]["cold"] / s["time_s"]["warm"] for s in sizes)
    walls = [statistics.median(s["found"][how]["wall_s"] for s in sizes) for how in ("warm", "cold")]
    print(f"\n{WARM} evaluations after a warm start against {COLD} from scratch, at {len(sizes)} unseen sizes: speed a median of "
          f"{statistics.median(speeds):.3f} (from {speeds[0]:.3f} to {speeds[-1]:.3f}), at least 0.98 at "
          f"{sum(s >= 0.98 for s in speeds)}; took {walls[0]:.0f} s and {walls[1]:.0f} s")


def print_tables(options):
    searches = json.loads(gzip.open(searches_file(options)).read())
    names = list(dict.fromkeys(what for c in searches["compared"] for what in c["time_s"]))
    rows = []
    for what in names:
        here = [c["time_s"] for c in searches["compared"] if what in c["time_s"]]
        speedups = [t["reference"] / t[what] for t in here]
        share = [t["HC75"] / t[what] for t in here if "HC75" in t]
        rows.append([what, f"{statistics.mean(speedups):.2f}"] +
                    [f"{f(share):.3f}" for f in (statistics.mean, statistics.geometric_mean, statistics.median)])
    print(tables.markdown(["chosen by", "speed-up over the reference, mean", "speed over HC75's, mean", "geometric mean", "median"], rows))
    with tempfile.TemporaryDirectory(prefix="clatune-predictive-") as folder:
        rows = []
        for n in trained_on(options):
            for model in MODELS:
                told = train(options, folder, model, n)[1]
                predicting = statistics.median(timed(predict, options, folder, model, n, size, 1) for size in sizes_in(options, "unseen"))
                rows.append([model, n, told["rows"], f"{100 * told['calibrated_error']:.1f}", f"{told['fit_s']:.2f}",
                             f"{predicting:.3f}", f"{statistics.mean(rank_correlations(options, folder, model, n)):.3f}",
                             ", ".join(f"{k} {100 * v:.0f}" for k, v in told["importance"].items() if v >= 0.02)])
    print()
    print(tables.markdown(["model", "training sizes", "rows", "error between configurations, %", "fit, s", "`clatune predict`, s",
                           "rank correlation", "what matters, %"], rows))
    print_warm(options)


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("action", choices=["measure", "warm", "tables"])
    parser.add_argument("--device", help="the device, as for clatune; tables: the device of the recordings, which need not be available")
    parser.add_argument("--store", help="measure, warm: store of the measurements")
    parser.add_argument("--data", default=str(tables.ROOT / "data/recorded"), help="folder of the recordings (default: data/recorded)")
    parser.add_argument("--training", type=int, default=50, help="only the first N training sizes (default 50)")
    parser.add_argument("--unseen", type=int, default=20, help="only the first N unseen sizes (default 20)")
    parser.add_argument("--processes", type=int, default=7, help="processes that compare the winners of a size (default 7)")
    parser.add_argument("--measure", default="", help="options of clatune sample")
    options = parser.parse_args()
    if options.action != "tables" and not (options.store and options.device):
        parser.error(f"{options.action} needs --device and --store")
    {"measure": measure, "warm": warm, "tables": print_tables}[options.action](options)


if __name__ == "__main__":
    main()
