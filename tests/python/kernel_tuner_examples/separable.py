"""A large space, of which a part is looked at; restrictions as texts and as functions."""
import numpy
from kernel_tuner import tune_kernel

KERNEL = """
#if use_padding
#define WIDTH (block_size_x + 2 * radius + 1)
#else
#define WIDTH (block_size_x + 2 * radius)
#endif
__kernel void rows(__global float *out, __global const float *in, int n) {
    __local float tile[WIDTH];
    const int left = get_group_id(0) * block_size_x;
    for (int i = get_local_id(0); i < block_size_x + 2 * radius; i += block_size_x) tile[i] = in[clamp(left + i - radius, 0, n - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int i = 0; i <= 2 * radius; i++) sum += tile[get_local_id(0) + i];
    if (left + get_local_id(0) < n) out[left + get_local_id(0)] = sum / (2 * radius + 1);
}
"""
n = 30000
parameters = {"radius": [1, 2, 3, 4], "block_size_x": [16 * i for i in range(1, 65)], "use_padding": [0, 1]}
restrictions = [lambda p: p["block_size_x"] >= 32 and (p["radius"] < 3 or not p["use_padding"]), "use_padding == 0 or block_size_x % 32 != 0"]
arguments = [numpy.zeros(n).astype(numpy.float32), numpy.random.rand(n).astype(numpy.float32), numpy.int32(n)]
results, env = tune_kernel("rows", KERNEL, n, arguments, parameters, restrictions=restrictions, strategy="random_sample",
                           strategy_options={"max_fevals": 4}, seed=5)
assert all(entry["use_padding"] == 0 or entry["block_size_x"] % 32 for entry in results)
assert all(entry["block_size_x"] >= 32 and (entry["radius"] < 3 or not entry["use_padding"]) for entry in results)
EXPECTED = 4
