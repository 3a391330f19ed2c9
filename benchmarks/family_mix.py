#!/usr/bin/env python3
"""Device features by what kernels consist of, without any measurement (P-DFS of Muralidharan et al., ASPLOS 2016, section 4.3). Where
the paper reads hardware counters, this counts instructions in the LLVM code that clang makes of the kernels.

    benchmarks/family_mix.py kernels_cl/families/spmv/spmv.family.json [--sources across.sqlite]

There is a proxy kernel for each kind of operation (global memory, local memory, arithmetic, atomics, barriers), at intensities 0 to 5: at
intensity 3, three of the five operations in its loop are of the kind, and two are arithmetic of integers. A variant has the intensity of
the proxy with the most similar share of the kind among its instructions. Each instruction counts once, however often a loop runs it. The
features of up to three kinds are chosen: those whose intensities differ most between the variants. With --sources, 'clatune family
report' judges them together with those that cross-validation chooses (CV-DFS); for a store of family_across.py, name the family's copy in
STORE.family.
"""
import json
import pathlib
import re
import shlex
import sys
import tempfile
import time

import tables

# For each kind: the feature of a device that tells how dear it is, the operation of its proxy, and its instructions.
KINDS = {
    "global memory": ("gather_per_byte", "x += data[x & 1023];", r"(load|store) .*addrspace\(1\)"),
    "local memory": ("local_share", "x += tile[x & 63];", r"(load|store) .*addrspace\(3\)"),
    "arithmetic": ("flops_per_byte", "f = f * 0.5f + 1.5f;", r"= (fadd|fsub|fmul|fdiv) |@llvm\.fmuladd|@_Z3(mad|fma)"),
    "atomics": ("atomic_share", "x += atomic_inc(&data[x & 1023]);", r"atomicrmw |@_Z\d+atom"),
    "barriers": ("barrier_kB", "barrier(CLK_LOCAL_MEM_FENCE);", r"@_Z7barrier")}
OTHER = "x = x * 3 + (x >> 5);"
PROXY = """kernel void proxy(global int *data, global float *out) {
  local int tile[64];
  int x = get_global_id(0);
  float f = x;
  tile[get_local_id(0)] = x;
  for (int i = 0; i < 1000; i++) { %s }
  data[x & 1023] = x;
  out[get_global_id(0)] = f;
}
"""
INSTRUCTION = re.compile(r"^  (%\S+ = |store |call |tail call |br |ret )")


def shares(source, options, clang):
    """The share of each kind among the instructions of all kernels in a source."""
    with tempfile.NamedTemporaryFile("w", suffix=".cl") as file:
        file.write(source)
        file.flush()
        words = [o for o in options if not o.startswith("-cl-nv-")]
        made = tables.run([clang, "--target=spir64", "-x", "cl", "-w", "-O2", *words, "-emit-llvm", "-S", "-o", "-", file.name])
    lines = [line for line in made.splitlines() if INSTRUCTION.match(line)]
    return {kind: sum(bool(re.search(pattern, line)) for line in lines) / len(lines) for kind, (_, _, pattern) in KINDS.items()}


def proxies(clang):
    """{kind: share of the kind in its proxy at intensities 0 to 5}"""
    return {kind: [shares(PROXY % " ".join(i * [operation] + (5 - i) * [OTHER]), (), clang)[kind] for i in range(6)]
            for kind, (_, operation, _) in KINDS.items()}


def main():
    parser = tables.parser(__doc__)
    parser.add_argument("family", type=pathlib.Path)
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--sources", help="store of the family's measurements on several devices (family_across.py)")
    options = parser.parse_args()
    if not options.family.name.endswith(".family.json") or not options.family.exists():
        sys.exit(f"family_mix.py: '{options.family}' is no family file; name one that ends in .family.json")
    start, family = time.monotonic(), json.loads(options.family.read_text())
    known, rows, intensities = proxies(options.clang), [], {kind: [] for kind in KINDS}
    for variant in family["Variants"]:
        plans = json.loads(tables.run([pathlib.Path(options.build) / "tests/kernels/gpu-configurations",
                                       options.family.parent / variant["Problem"], 1, "nvidia"]))
        found = shares(plans[0]["source"], shlex.split(plans[0]["options"]), options.clang)
        for kind in KINDS:
            intensities[kind].append(min(range(6), key=lambda i: abs(known[kind][i] - found[kind])))
        rows.append([variant["Name"], *(intensities[kind][-1] for kind in KINDS)])
    differs = {kind: max(values) - min(values) for kind, values in intensities.items()}
    chosen = [kind for kind in sorted(KINDS, key=lambda k: (-differs[k], -max(intensities[k]))) if differs[kind]][:3]
    print(tables.markdown(["variant", *KINDS], rows))
    features = ",".join(KINDS[kind][0] for kind in chosen)
    print(f"\ndevice features: {features or 'none differ'}, chosen in {time.monotonic() - start:.1f} s")
    if options.sources and features:
        means = []
        for more in ([], ["--device-features", features]):
            answer = json.loads(tables.run([tables.clatune(options), "family", "report", options.family, "--sources", options.sources,
                                            "--portfolio", 4, "--quiet", "--json", *more]))
            means.append([f"{row['mean']:.3f}" for row in answer["devices"]])
        print("\n" + tables.markdown(["device left out", "CV-DFS", "P-DFS"],
                                     [[row["device"], *pair] for row, *pair in zip(answer["devices"], *means)]))


if __name__ == "__main__":
    main()
