"""A cache file, a search that goes on from it, and a simulation of another search."""
import numpy
from kernel_tuner import create_device_targets, store_results, tune_kernel

KERNEL = """
__kernel void scale(__global float *x, int n) {
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) x[i] *= FACTOR;
}
"""
n = 20000
arguments = [numpy.random.rand(n).astype(numpy.float32), numpy.int32(n)]
parameters = {"block_size_x": [32, 64], "per_item": [1, 4]}


def tune(**options):
    return tune_kernel("scale", KERNEL, n, arguments, parameters, grid_div_x=["block_size_x", "per_item"], compiler_options=["-DFACTOR=2"],
                       cache="scale_cache", **options)


first, _ = tune(strategy="genetic_algorithm", strategy_options={"max_fevals": 1})
results, env = tune()
times = {(entry["block_size_x"], entry["per_item"]): entry["time"] for entry in results}
assert all(times[entry["block_size_x"], entry["per_item"]] == entry["time"] for entry in first)
simulated, _ = tune(strategy="random_sample", strategy_options={"fraction": 0.5}, simulation_mode=True)
assert len(simulated) == 2 and all(times[entry["block_size_x"], entry["per_item"]] == entry["time"] for entry in simulated)
store_results("scale_results.json", "scale", KERNEL, parameters, n, results, env, top=10)
create_device_targets("scale.h", "scale_results.json")
EXPECTED = 4
