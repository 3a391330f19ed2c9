"""A function writes the kernel of each configuration."""
import json

import numpy
from kernel_tuner import tune_kernel


def write_kernel(p):
    lines = [f"        if (i + {k} < n) y[i + {k}] += a * x[i + {k}];" for k in range(p["per_item"])]
    return "\n".join(["__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {",
                      f"    int i = get_global_id(0) * {p['per_item']};", "    if (i < n) {", *lines, "    }", "}"])


n = 50000
x = numpy.random.rand(n).astype(numpy.float32)
y = numpy.random.rand(n).astype(numpy.float32)
parameters = {"block_size_x": [64, 128], "per_item": [1, 5]}

results, env = tune_kernel("saxpy", write_kernel, n, [y, x, numpy.float32(2), numpy.int32(n)], parameters, lang="OpenCL",
                           grid_div_x=["block_size_x", "per_item"], answer=[y + 2 * x, None, None, None])

with open("generated.json", "w") as file:
    json.dump(results, file)
EXPECTED = 4
