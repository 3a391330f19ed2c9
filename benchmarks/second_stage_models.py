#!/usr/bin/env python3
"""Which model would choose best for a second stage, without a device: of a pool's configurations that it has not seen, the K that it
predicts to be the fastest are "measured"; how much slower their best is than the best of all that it has not seen.

    benchmarks/second_stage_models.py kernels_cl/raycasting.json data/recorded/raycasting-pocl-256.json.gz [--models trees]

Means over the repeats, in %, and in how many repeats the best of all was met earlier than by the first model, and later.
"""
import statistics

import tables


def order_of(options, model, repeat):
    """Measured times of the configurations that were not trained on, in the order of the predicted ones."""
    text = tables.pool_model(options, "scatter", "-n", options.rows, "-r", repeat, "-u", options.unseen,
                             *tables.model_options(model))
    pairs = [tuple(map(float, line.split())) for line in text.splitlines()]
    return [measured for measured, _ in sorted(pairs, key=lambda p: p[1])]


def main():
    parser = tables.parser(__doc__)
    tables.add_pool(parser)
    parser.add_argument("--models", default="default,average,trees", help="names or options of models, separated by commas (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=2000, help="training rows (default 2000)")
    parser.add_argument("--unseen", type=int, default=3000, help="configurations to choose from (default 3000)")
    parser.add_argument("--chosen", type=tables.numbers, default=[3, 6, 12, 25], help="K,K,...: sizes of the second stage (default 3,6,12,25)")
    parser.add_argument("--repeats", type=int, default=8)
    options = parser.parse_args()
    models, first, lines = options.models.split(","), None, []
    for model in models:
        orders = [order_of(options, model, repeat) for repeat in range(1, options.repeats + 1)]
        ranks = [order.index(min(order)) for order in orders]
        first = first or ranks
        means = [statistics.fmean(min(order[:k]) / min(order) - 1 for order in orders) for k in options.chosen]
        lines.append([model, *map(tables.percent, means), sum(a < b for a, b in zip(ranks, first)),
                      sum(a > b for a, b in zip(ranks, first))])
    print(tables.markdown(["model \\ K", *options.chosen, "earlier", "later"], lines))


if __name__ == "__main__":
    main()
