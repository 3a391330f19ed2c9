#!/usr/bin/env python3
"""Short searches against a long one on a real device: several tunings by `surrogate` with few evaluations, one by `two-stage`
with many, and the winners timed again in rounds over all of them.

    benchmarks/live_search.py kernels_cl/convolution.json --device pocl --stores /somewhere/live

Every tuning has a store of its own (STORES-surrogate-1.sqlite ...), so that none knows what another measured; a second run
goes on from there. --two-stage-store takes a store in which the random samples of seed 1 are already, from `clatune sample
--seed 1`: then only the second stage is measured. In a round each winner is built and timed once more, in a new order; what
counts is the median over the rounds.
"""
import json
import random
import statistics
import tempfile

import tables


def tune(options, store, seed, *how):
    answer = json.loads(tables.run([tables.clatune(options), "tune", options.problem, "--device", options.device,
                                    *tables.typed_sizes(options), "--store", store, "--seed", seed, "--no-transfer", *how,
                                    *(["--time", options.time] if options.time else []), "--json", "--quiet"]))
    return {"configuration": answer["best"]["configuration"], "time_s": answer["best"]["time_s"],
            "evaluations": answer["evaluations"]["total"], "measured": answer["evaluations"]["measured"],
            "wall_s": answer["wall_s"]}


def searches(options):
    found = {}
    for seed in range(1, options.repeat + 1):
        found[f"surrogate, seed {seed}"] = tune(options, f"{options.stores}-surrogate-{seed}.sqlite", seed, "--searcher",
                                                "surrogate", "--budget", options.budget)
    samples, second = options.two_stage
    found["two-stage"] = tune(options, options.two_stage_store or f"{options.stores}-two-stage.sqlite", 1, "--searcher",
                              "two-stage", "--samples", samples, "--second-stage", second)
    return found


def retime(options, found, folder):
    """{name: median over the rounds}"""
    chosen = [f["configuration"] for f in found.values()]
    chosen = list({tables.key(c): c for c in chosen}.values())
    rounds = []
    for r in range(1, options.rounds + 1):
        order = random.Random(r).sample(chosen, len(chosen))
        rounds.append(tables.measure(options, tables.typed_sizes(options), order, folder, f"{folder}/round{r}.sqlite"))
    return {name: statistics.median(r[tables.key(f["configuration"])] for r in rounds) for name, f in found.items()}


def report(found, again):
    surrogates = [t for name, t in again.items() if name.startswith("surrogate")]
    reference = again["two-stage"]
    rows = [[name, f["evaluations"], f["measured"], f"{f['wall_s']:.0f}", f"{1000 * again[name]:.4f}",
             f"{100 * (again[name] / reference - 1):+.1f}"] for name, f in found.items()]
    print(tables.markdown(["search", "evaluations", "measured now", "took, s", "winner, ms", "against two-stage, %"], rows))
    print(f"\nmedian of surrogate against two-stage: {100 * (statistics.median(surrogates) / reference - 1):+.2f} %")


def add_tunings(parser):
    """What every comparison of live tunings takes."""
    parser.add_argument("problem", help="problem file")
    parser.add_argument("--device", required=True, help="as clatune's --device")
    parser.add_argument("--size", action="append", default=[], help="NAME=N, as clatune's; may be repeated")
    parser.add_argument("--stores", required=True, help="how the names of the stores begin")
    parser.add_argument("--time", help="of each tuning at most, as clatune's")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--measure", default="", help="how the winners are measured in a round: options of clatune sample")


def main():
    parser = tables.parser(__doc__)
    add_tunings(parser)
    parser.add_argument("--two-stage-store", help="a store that has the samples of seed 1 already")
    parser.add_argument("--repeat", type=int, default=5, help="tunings by surrogate (default 5)")
    parser.add_argument("--budget", type=int, default=150, help="evaluations of each (default 150)")
    parser.add_argument("--two-stage", type=tables.numbers, default=[2000, 200], help="N,M (default 2000,200)")
    options = parser.parse_args()
    found = searches(options)
    with tempfile.TemporaryDirectory(prefix="clatune-live-") as folder:
        report(found, retime(options, found, folder))


if __name__ == "__main__":
    main()
