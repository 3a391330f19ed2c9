#!/usr/bin/env python3
"""Predicted against measured times of configurations that the model has not seen, as a plot; needs gnuplot, no device.

    benchmarks/scatter.py kernels_cl/convolution.json data/recorded/convolution-pocl-2048.json.gz \\
        -o docs/notebook/plots/convolution-pocl.svg --rows 100,1000,4000
"""
import pathlib
import subprocess
import tempfile

import tables

# One panel per number of rows: the diagonal is an exact prediction.
HEAD = """set terminal {terminal} size {width},400 {font}
set output '{output}'
set multiplot layout 1,{panels} title '{title}'
set logscale xy
set xlabel 'measured, ms'
set ylabel 'predicted, ms'
set grid lc rgb '#dddddd'
unset key
set size square
set xrange [{low}:{high}]
set yrange [{low}:{high}]
"""
PANEL = "set title 'trained on {n}: error {error} %'\nplot x lc rgb '#888888', '{file}' using ($1*1000):($2*1000) pt 7 ps 0.3 " \
        "lc rgb '#2060a0'\n"


def panel(options, n, folder):
    text = tables.pool_model(options, "scatter", "-n", n, "-r", options.repeat, "-u", options.unseen,
                             *tables.model_options(options.model))
    file = pathlib.Path(folder) / f"{n}.txt"
    file.write_text(text)
    pairs = [tuple(map(float, line.split())) for line in text.splitlines()]
    error = sum(abs(predicted / measured - 1) for measured, predicted in pairs) / len(pairs)
    return PANEL.format(n=n, error=tables.percent(error), file=file), pairs


def main():
    parser = tables.parser(__doc__)
    tables.add_pool(parser)
    parser.add_argument("-o", "--output", required=True, help="file of the plot, .svg or .png")
    parser.add_argument("--rows", type=tables.numbers, default=[100, 1000, 4000], help="N,N,...: numbers of training rows, one panel each")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--unseen", type=int, default=500, help="predicted rows, one point each (default 500)")
    parser.add_argument("--model", default="default", help="default, paper, or options of the model in quotes")
    options = parser.parse_args()
    recording = tables.read_recording(options.recording)
    title = f"{recording['General']['BenchmarkName']} on {recording['Device'].get('name', '?')}"
    with tempfile.TemporaryDirectory(prefix="clatune-scatter-") as folder:
        panels = [panel(options, n, folder) for n in options.rows]
        values = [1000 * x for _, pairs in panels for pair in pairs for x in pair]
        svg = options.output.endswith(".svg")
        pathlib.Path(options.output).parent.mkdir(parents=True, exist_ok=True)
        script = HEAD.format(terminal="svg" if svg else "png", font="font 'sans,11'" if svg else "", output=options.output,
                             width=380 * len(panels), panels=len(panels), title=title, low=min(values) / 1.2,
                             high=max(values) * 1.2) + "".join(p for p, _ in panels)
        subprocess.run(["gnuplot"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
