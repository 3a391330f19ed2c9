"""Functions for sizes and divisors, names of one's own, definitions in place of parameters."""
import numpy
from kernel_tuner import run_kernel, tune_kernel

KERNEL = """
__kernel void transpose(__global float *out, __global const float *in) {
    const int x = get_group_id(0) * TILE + get_local_id(0);
    for (int k = 0; k < TILE; k += STEP) {
        const int y = get_group_id(1) * TILE + get_local_id(1) + k;
        out[x * ROWS + y] = in[y * COLUMNS + x];
    }
}
"""
rows, columns = 96, 192
matrix = numpy.random.rand(rows, columns).astype(numpy.float32)
arguments = [numpy.zeros((columns, rows)).astype(numpy.float32), matrix]
defines = {"TILE": "wide", "STEP": lambda p: p["high"], "ROWS": str(rows), "COLUMNS": columns}
options = {"grid_div_x": lambda p: p["wide"], "grid_div_y": lambda p: p["wide"], "block_size_names": ["wide", "high"], "defines": defines}

parameters = {"wide": [8, 16], "high": [4, 16]}

out = run_kernel("transpose", KERNEL, (columns, rows), arguments, {"wide": 8, "high": 4}, **options)
assert numpy.array_equal(out[0], matrix.T) and numpy.array_equal(out[1], matrix)
results, env = tune_kernel("transpose", KERNEL, lambda p: (columns, rows), arguments, parameters,
                           restrictions=lambda p: p["high"] <= p["wide"], answer=[matrix.T.copy(), None], quiet=True, **options)
EXPECTED = 3
