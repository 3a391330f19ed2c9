#!/usr/bin/env python3
"""How much slower than the best known configuration the result of the two-stage search is, over N and M.

The first stage is drawn from a recorded pool (by replay), the model predicts the whole space, and only the second stage is
measured: every configuration that is among the predicted best of any N and repeat, once, into the store. A shorter second
stage is the beginning of a longer one. The best known is the best of everything measured, pool included.

The shortest of many noisy times is partly luck, which is why clatune tune times its finalists again, interleaved, before it
answers. So it is here: the fastest of each search and the best known are timed again at the end, in rounds over all of them
(each round a store of its own, STORE.round1 ...); a search's result is the one of its finalists with the shortest median. How fast
the results are is judged by the medians of further rounds over them and the best known (STORE.last1 ...).

    benchmarks/slowdown.py kernels_cl/convolution.json data/recorded/convolution-pocl-2048.json.gz \\
        --device pocl --store second-stage.sqlite

Prints the slowdown of the best of the second stage alone, as the paper has it, and of the best of both stages, which is what
clatune tune answers, first by the times of the search and then by those of the rounds; and the share of the second stage that fails,
with the validity model and without it.
"""
import concurrent.futures
import itertools
import json
import os
import random
import statistics
import tempfile
import time

import tables

NEAR_BEST = 20  # of everything measured, timed again


def second_stages(options):
    """{repeat: {(model, N, repeat, smallest probability to be valid): configurations in the order of their predicted times}}"""
    keys = list(itertools.product(options.models, options.rows, range(1, options.repeats + 1), (0.5,) if options.valid_only else (0.5, 0)))

    def predict(key):
        model, n, repeat, min_p_valid = key
        text = tables.pool_model(options, "best", "-n", n, "-r", repeat, "-k", max(options.seconds), "-v", min_p_valid,
                                 *tables.model_options(model))
        return [c["configuration"] for c in json.loads(text)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(zip(keys, pool.map(predict, keys)))
    return {r: {key: stage for key, stage in found if key[2] == r} for r in range(1, options.repeats + 1)}


def measure(options, recording, folder):
    """The second stages, those without the validity model, and the times of everything; options.repeats: how many there was
    time for."""
    stages, bare, times, found_of = {}, {}, tables.times_of(recording), second_stages(options)
    began = time.monotonic()
    for repeat, found in found_of.items():
        took = time.monotonic() - began
        if options.time and repeat > 1 and took / (repeat - 1) * repeat > options.time:
            options.repeats = repeat - 1
            break
        for (*key, min_p_valid), stage in found.items():
            (stages if min_p_valid else bare)[tuple(key)] = stage
        # A pool's configuration may be measured again; then the newer time counts, as for all others.
        times.update(tables.measure(options, tables.sizes_of(recording), union(*found.values()), folder))
    return stages, bare, times


def first_stage(options, n, repeat):
    text = tables.pool_model(options, "sample", "-n", n, "-r", repeat)
    return [c["configuration"] for c in json.loads(text)]


def union(*lists):
    """Each configuration once, in an order that mixes the lists, so that a drift of the device falls on all."""
    out = {tables.key(c): c for stage in lists for c in stage}
    chosen = [out[k] for k in sorted(out, key=str)]
    random.Random(1).shuffle(chosen)
    return chosen


def fastest(times, configurations, n):
    """The n fastest."""
    found = sorted((times[tables.key(c)], str(tables.key(c)), i) for i, c in enumerate(configurations)
                   if times.get(tables.key(c)))
    return [configurations[i] for _, _, i in found[:n]]


def finalists(options, times, stages, with_first):
    """{(model, N, M): for each repeat its fastest configurations}"""
    out = {}
    for (model, n, repeat), stage in stages.items():
        first = first_stage(options, n, repeat) if with_first else []
        for m in options.seconds:
            out.setdefault((model, n, m), []).append(fastest(times, stage[:m] + first, options.finalists))
    return out


def near_best(recording, times, n):
    """The n fastest of those timed, as configurations."""
    names = list(recording["results"][0]["configuration"])
    fastest_keys = sorted((t, str(k), dict(k)) for k, t in times.items() if t)[:n]
    return [{name: c[name] for name in names} for _, _, c in fastest_keys]


def retime(options, recording, chosen, rounds, folder):
    """Medians over rounds that have names."""
    again = union(chosen)
    found = [tables.measure(options, tables.sizes_of(recording), random.Random(name).sample(again, len(again)), folder,
                            f"{options.store}.{name}") for name in rounds]
    medians = {}
    for c in again:
        values = [r[tables.key(c)] for r in found if r.get(tables.key(c))]
        if values:
            medians[tables.key(c)] = statistics.median(values)
    return medians


def winners(times, cells):
    """{cell: for each repeat the fastest of its finalists}"""
    return {cell: [fastest(times, found, 1)[0] for found in searches if fastest(times, found, 1)]
            for cell, searches in cells.items()}


def compare(options, recording, times, both, folder):
    """Times that say how fast the winners are, and who won. The rounds that choose a winner do not judge it."""
    finalists_of_all = [c for cells in both.values() for searches in cells.values() for found in searches for c in found]
    rounds = [f"round{r}" for r in range(1, options.rounds + 1)]
    chosen = retime(options, recording, finalists_of_all + near_best(recording, times, NEAR_BEST), rounds, folder)
    won = {k: winners(chosen, cells) for k, cells in both.items()}
    judged = [c for cells in won.values() for found in cells.values() for c in found]
    rounds = [f"last{r}" for r in range(1, options.last_rounds + 1)]
    return retime(options, recording, judged + near_best(recording, chosen, NEAR_BEST), rounds, folder), won


def slowdowns(times, won):
    best = min(t for t in times.values() if t)
    found = [times[tables.key(c)] / best - 1 for c in won if times.get(tables.key(c))]
    return tables.percent(statistics.fmean(found)) if found else "-"


def failed_share(times, stages):
    flat = [times.get(tables.key(c)) for stage in stages for c in stage]
    return tables.percent(sum(t is None for t in flat) / len(flat))


def report(options, recording, times, stages, bare, folder):
    both = {with_first: finalists(options, times, stages, with_first) for with_first in (True, False)}
    print("By the times of the search:\n")
    show(options, times, {k: winners(times, cells) for k, cells in both.items()})
    shares = [[n, *(failed_share(times, [s for (_, m, _), s in x.items() if m == n]) for x in (stages, bare) if x)]
              for n in options.rows]
    print(tables.markdown(["% of the second stage that fails, N", "with validity model", *(["without"] if bare else [])], shares), flush=True)
    if options.rounds:
        print("\nBy the medians of the rounds:\n")
        show(options, *compare(options, recording, times, both, folder))


def show(options, compared, won):
    titles = ((False, "second stage alone"), (True, "both stages"))
    for model, (with_first, title) in itertools.product(options.models, titles):
        rows = [[n, *(slowdowns(compared, won[with_first][model, n, m]) for m in options.seconds)] for n in options.rows]
        print(f"slowdown in %, {title}, mean of {options.repeats}, model {model}\n")
        print(tables.markdown(["N \\ M", *options.seconds], rows), "\n")
    values = [t for t in compared.values() if t]
    print(f"best known: {1000 * min(values):.4f} ms; {len(compared)} configurations timed\n")


def main():
    parser = tables.parser(__doc__)
    tables.add_pool(parser)
    tables.add_device(parser)
    parser.add_argument("--rows", type=tables.numbers, default=[100, 200, 500, 1000, 2000], help="N,N,...: sizes of the first stage")
    parser.add_argument("--seconds", type=tables.numbers, default=[10, 50, 100, 200], help="M,M,...: sizes of the second stage")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--time", type=float, help="seconds after which no second stage is measured; the rounds are extra")
    parser.add_argument("--valid-only", action="store_true", help="no second stages without the validity model, whose failures are counted")
    parser.add_argument("--models", type=lambda text: text.split(","), default=["default"],
                        help="a,b,...: default, paper, trees, average, auto or options in quotes, compared in the same rounds")
    parser.add_argument("--finalists", type=int, default=10, help="finalists per search, which are timed again (default 10)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds that compare the finalists; 0: only the times of the search (default 5)")
    parser.add_argument("--last-rounds", type=int, default=10, help="rounds that compare the winners (default 10)")
    options = parser.parse_args()
    recording = tables.read_recording(options.recording)
    with tempfile.TemporaryDirectory(prefix="clatune-slowdown-") as folder:
        stages, bare, times = measure(options, recording, folder)
        report(options, recording, times, stages, bare, folder)


if __name__ == "__main__":
    main()
