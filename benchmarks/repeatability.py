#!/usr/bin/env python3
"""Whether tunings with different seeds come to the same speed: each with a store of its own, the winners timed again side by
side, in several processes.

    benchmarks/repeatability.py kernels_cl/convolution.json --device pocl --size width=512 --size height=512 \\
        --stores /somewhere/repeat --repeat 10 --budget 200

Prints each winner's time, and by how much the slowest is slower than the fastest.
"""
import live_search
import tables


def main():
    parser = tables.parser(__doc__)
    live_search.add_tunings(parser)
    parser.add_argument("--searcher", default="surrogate")
    parser.add_argument("--repeat", type=int, default=10, help="tunings, with seeds 1, 2, ... (default 10)")
    parser.add_argument("--budget", type=int, default=200, help="evaluations per tuning (default 200)")
    options = parser.parse_args()
    found = {f"seed {seed}": live_search.tune(options, f"{options.stores}-{seed}.sqlite", seed, "--searcher", options.searcher,
                                              "--budget", options.budget) for seed in range(1, options.repeat + 1)}
    again = live_search.retime(options, found)
    best = min(again.values())
    rows = [[name, f"{1000 * again[name]:.4f}", f"{100 * (again[name] / best - 1):+.1f}",
             " ".join(f"{k}={v}" for k, v in found[name]["configuration"].items())] for name in found]
    print(tables.markdown(["tuning", "winner, ms", "over the best, %", "configuration"], rows))
    print(f"\nslowest over fastest: {100 * (max(again.values()) / best - 1):+.1f} %")


if __name__ == "__main__":
    main()
