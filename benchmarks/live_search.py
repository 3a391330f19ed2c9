#!/usr/bin/env python3
"""Short searches against a long one on a real device: several tunings by `surrogate` with few evaluations, one by `two-stage`
with many, and the winners timed again side by side, in several processes.

    benchmarks/live_search.py kernels_cl/convolution.json --device pocl --stores /somewhere/live

Every tuning has a store of its own (STORES-surrogate-1.sqlite ...), so that none knows what another measured; a second run
goes on from there. --two-stage-store takes a store in which the random samples of seed 1 are already, from `clatune sample
--seed 1`: then only the second stage is measured.
"""
import json
import random
import statistics

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


def retime(options, found):
    """{name: seconds}: the winners run in turns in one process, again and again in a new one. Machines and the pages that a
    process gets make all of a process faster or slower; so the result is the median over the processes of a winner's share
    of the process's median."""
    chosen = list({tables.key(f["configuration"]): f["configuration"] for f in found.values()}.values())
    shares, medians = {tables.key(c): [] for c in chosen}, []
    for r in range(1, options.processes + 1):
        order = random.Random(r).sample(chosen, len(chosen))
        answer = json.loads(tables.run([tables.clatune(options), "measure", options.problem, "--device", options.device,
                                        *tables.typed_sizes(options), *(x for c in order for x in ("--configuration", tables.typed_configuration(c))),
                                        "--json", "--quiet"]))
        times = {tables.key(m["configuration"]): m["time_s"] for m in answer["measurements"]}
        medians.append(statistics.median(times.values()))
        for name, time_s in times.items():
            shares[name].append(time_s / medians[-1])
    typical = statistics.median(medians)
    return {name: statistics.median(shares[tables.key(f["configuration"])]) * typical for name, f in found.items()}


def report(found, again):
    surrogates = [t for name, t in again.items() if name.startswith("surrogate")]
    reference = again["two-stage"]
    rows = [[name, f["evaluations"], f["measured"], f"{f['wall_s']:.0f}", f"{1000 * again[name]:.4f}",
             f"{100 * (again[name] / reference - 1):+.1f}"] for name, f in found.items()]
    print(tables.markdown(["search", "evaluations", "measured now", "took, s", "winner, ms", "against two-stage, %"], rows))
    print(f"\nmedian of surrogate against two-stage: {100 * (statistics.median(surrogates) / reference - 1):+.2f} %")


def add_tunings(parser):
    """The options of every comparison of live tunings."""
    parser.add_argument("problem", help="problem file")
    parser.add_argument("--device", required=True, help="the device, as for clatune")
    parser.add_argument("--size", action="append", default=[], help="NAME=N, a problem parameter; may be repeated")
    parser.add_argument("--stores", required=True, help="prefix of the stores' paths")
    parser.add_argument("--time", help="limit per tuning, as clatune's --time")
    parser.add_argument("--processes", type=int, default=7, help="processes that compare the winners (default 7)")


def main():
    parser = tables.parser(__doc__)
    add_tunings(parser)
    parser.add_argument("--two-stage-store", help="store that already has the samples of seed 1")
    parser.add_argument("--repeat", type=int, default=5, help="tunings with surrogate (default 5)")
    parser.add_argument("--budget", type=int, default=150, help="evaluations per tuning with surrogate (default 150)")
    parser.add_argument("--two-stage", type=tables.numbers, default=[2000, 200], help="N,M: sizes of the stages of two-stage (default 2000,200)")
    options = parser.parse_args()
    found = searches(options)
    report(found, retime(options, found))


if __name__ == "__main__":
    main()
