#!/usr/bin/env python3
"""Short searches by `surrogate` against an exhaustive one, on programs: the examples of the evaluator command. The winners are
timed again in rounds over all of them.

    benchmarks/command_search.py [examples/command/flags/flags.json ...] [--stores /somewhere/cmd]

Every search by surrogate may evaluate a tenth of the space, has a seed and a store of its own, and so knows nothing of what the
others measured. In a round each winner is built again in a folder of its own and run; rounds have new orders; what counts is
the median over the rounds. The exhaustive search's fastest few are timed again as well: the shortest of several hundred noisy
times is partly luck, and the target is the configuration that is the fastest of them when it is timed again.
"""
import json
import pathlib
import random
import statistics
import tempfile

import tables

EXAMPLES = [str(pathlib.Path(__file__).parent.parent / "examples/command" / p) for p in
            ("flags/flags.json", "blocks/blocks.json")]


def ask(options, command, problem, *how):
    return json.loads(tables.run([tables.clatune(options), command, problem, *map(str, how), "--json", "--quiet"]))


def tune(options, problem, store, *how):
    answer = ask(options, "tune", problem, "--store", store, *how)
    return {"configuration": answer["best"]["configuration"], "evaluations": answer["evaluations"]["total"],
            "wall_s": answer["wall_s"], "valid": answer["space"]["valid"]}


def fastest(options, problem, store, n):
    """The n fastest of an exhaustive search, from its store."""
    answer = ask(options, "sample", problem, "--store", store, "--samples", 10 ** 6)
    good = [r for r in answer["results"] if r["reason"] == "none"]
    return [r["configuration"] for r in sorted(good, key=lambda r: r["time_s"])[:n]]


def searches(options, problem, folder):
    stores = options.stores or f"{folder}/store"
    name = pathlib.Path(problem).stem
    everything = f"{stores}-{name}-exhaustive.sqlite"
    found = {"exhaustive": tune(options, problem, everything, "--searcher", "exhaustive")}
    budget = found["exhaustive"]["valid"] // 10
    for i, configuration in enumerate(fastest(options, problem, everything, options.fastest), 1):
        found[f"exhaustive, fastest {i}"] = {**found["exhaustive"], "configuration": configuration}
    for seed in range(1, options.repeat + 1):
        found[f"surrogate, seed {seed}"] = tune(options, problem, f"{stores}-{name}-{seed}.sqlite", "--searcher", "surrogate",
                                                "--budget", budget, "--seed", seed, "--tolerance", 0.005)
    return found


def retime(options, problem, found, folder):
    """{name: median over the rounds}"""
    chosen = list({tables.key(f["configuration"]): f["configuration"] for f in found.values()}.values())
    rounds = []
    for r in range(options.rounds):
        path = pathlib.Path(folder) / "order.json"
        path.write_text(json.dumps(random.Random(r).sample(chosen, len(chosen))))
        answer = ask(options, "sample", problem, "--no-store", "--configurations", path, "--builds", 1, "--max-run-time", 1000)
        rounds.append({tables.key(m["configuration"]): m["time_s"] for m in answer["results"]})
    return {name: statistics.median(r[tables.key(f["configuration"])] for r in rounds) for name, f in found.items()}


def report(problem, found, again):
    best = min(t for name, t in again.items() if name.startswith("exhaustive"))
    losses = [again[name] / best - 1 for name in found if name.startswith("surrogate")]
    rows = [[name, f["evaluations"], f"{f['wall_s']:.0f}", f"{1000 * again[name]:.4f}", f"{100 * (again[name] / best - 1):+.2f}"]
            for name, f in found.items() if not name.startswith("exhaustive, ")]
    rows.append(["the fastest of the exhaustive search, timed again", "", "", f"{1000 * best:.4f}", ""])
    print(f"\n{pathlib.Path(problem).stem}: {found['exhaustive']['valid']} configurations\n")
    print(tables.markdown(["search", "evaluations", "took, s", "winner, ms", "slower, %"], rows))
    print(f"\nsurrogate within 1 %: {sum(x <= 0.01 for x in losses)} of {len(losses)}; median {100 * statistics.median(losses):+.2f} %")


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("problems", nargs="*", default=EXAMPLES)
    parser.add_argument("--stores", help="prefix of the stores' paths (default: a temporary folder)")
    parser.add_argument("--repeat", type=int, default=5, help="searches with surrogate (default 5)")
    parser.add_argument("--fastest", type=int, default=5, help="how many of the fastest of the exhaustive search are timed again (default 5)")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    for problem in options.problems:
        with tempfile.TemporaryDirectory(prefix="clatune-search-") as folder:
            found = searches(options, problem, folder)
            report(problem, found, retime(options, problem, found, folder))


if __name__ == "__main__":
    main()
