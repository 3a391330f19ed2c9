"""One dimension, a kernel in the script, results in the T4 format."""
import numpy
from kernel_tuner import tune_kernel
from kernel_tuner.file_utils import store_metadata_file, store_output_file

KERNEL = """
__kernel void saxpy(__global float *y, __global const float *x, float a, int n) {
    int i = get_group_id(0) * block_size_x + get_local_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
n = 100000
x = numpy.random.rand(n).astype(numpy.float32)
y = numpy.random.rand(n).astype(numpy.float32)
parameters = {"block_size_x": [64, 256, 1024]}

results, env = tune_kernel("saxpy", KERNEL, n, [y, x, numpy.float32(2), numpy.int32(n)], parameters)

store_output_file("saxpy.json", results, parameters)
store_metadata_file("saxpy-metadata.json")
EXPECTED = 3
