#!/usr/bin/env python3
"""Mean relative error of the model on configurations that it has not seen, from a recorded pool; needs no device.

For every number of training rows and every repeat the pool is shuffled by the repeat's number, the first rows are trained
on and the last are predicted: |predicted - measured| / measured. One line of the table a model; a model is a name (paper:
the paper's network with FANN's own trainer, on parameters alone; default: as clatune tunes; trees, average, auto) or its options in quotes.

    benchmarks/prediction_error.py kernels_cl/convolution.json data/recorded/convolution-pocl-2048.json.gz
    benchmarks/prediction_error.py PROBLEM RECORDING --models "default,hidden2=15,hidden2=15 decay=0.1"

Rows go to --csv as they are made; with the same file a second run makes only those that it lacks.
"""
import collections
import tempfile
import time

import tables

FIELDS = ["problem", "model", "rows", "repeat", "unseen", "error", "median", "log_rms", "out_of_fold", "fit_s", "predict_s"]


def points(options, csv_path):
    name = tables.read_recording(options.recording)["General"]["BenchmarkName"]
    known = {(r["problem"], r["model"], int(r["rows"]), int(r["repeat"])): r for r in tables.read_csv(csv_path, FIELDS)}
    end = time.monotonic() + (options.time or float("inf"))
    for repeat in range(1, options.repeats + 1):
        for n in options.rows:
            if time.monotonic() > end:
                return
            for model in options.models.split(","):
                row = known.get((name, model, n, repeat))
                if row is None:
                    line = tables.pool_model(options, "error", "-n", n, "-r", repeat, "-u", options.unseen,
                                             *tables.model_options(model))
                    row = dict(zip(FIELDS, [name, model, *line.strip().split(",")]))
                    tables.append_csv(csv_path, row.values())
                yield row


def table(rows, sizes, timed):
    found = collections.defaultdict(list)
    for row in rows:
        found[row["model"], int(row["rows"])].append(row)

    def mean(model, n, field):
        values = [float(row[field]) for row in found[model, n]]
        return sum(values) / len(values) if values else None

    def line(model, title, show):
        return [title, *(show(model, n) if (model, n) in found else "-" for n in sizes)]
    models = dict.fromkeys(model for model, _ in found)
    if timed:
        return tables.markdown(["seconds to fit / to predict the unseen", *sizes], [line(
            m, m, lambda m, n: f"{mean(m, n, 'fit_s'):.3g} / {mean(m, n, 'predict_s'):.3g}") for m in models])
    return tables.markdown(["error in %, trained on", *sizes], [line(
        m, f"{m}, {what}", lambda m, n, f=field: tables.percent(mean(m, n, f)))
        for m in models for what, field in (("mean", "error"), ("median", "median"))])


def main():
    parser = tables.parser(__doc__)
    tables.add_pool(parser)
    parser.add_argument("--rows", type=tables.numbers, default=[100, 200, 500, 1000, 2000, 4000], help="N,N,...: numbers of training rows")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--unseen", type=int, default=1000, help="predicted rows (default 1000)")
    parser.add_argument("--models", default="paper,default", help="names or options of models, separated by commas (default: %(default)s)")
    parser.add_argument("--time", type=float, help="seconds after which no further model is trained")
    parser.add_argument("--times", action="store_true", help="also prints the times of training and prediction")
    parser.add_argument("--csv", help="file with the results, which a second run completes (default: none)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clatune-error-") as folder:
        rows = list(points(options, options.csv or f"{folder}/rows.csv"))
    print(table(rows, options.rows, False))
    if options.times:
        print()
        print(table(rows, options.rows, True))


if __name__ == "__main__":
    main()
