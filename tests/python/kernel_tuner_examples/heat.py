"""A stencil over two dimensions, by the usual names of the work-group's sizes."""
import kernel_tuner
import numpy

KERNEL = """
__kernel void heat(__global float *after, __global float *before) {
    int x = get_group_id(0) * block_size_x + get_local_id(0);
    int y = get_group_id(1) * block_size_y + get_local_id(1);
    if (x > 0 && x < 255 && y > 0 && y < 127)
        after[y * 256 + x] = 0.25f * (before[y * 256 + x - 1] + before[y * 256 + x + 1] + before[(y - 1) * 256 + x] + before[(y + 1) * 256 + x]);
}
"""
before = numpy.random.rand(256 * 128).astype(numpy.float32)
parameters = {"block_size_x": [16 * i for i in range(2, 4)], "block_size_y": [2, 128]}
results, env = kernel_tuner.tune_kernel("heat", KERNEL, (256, 128), [numpy.copy(before), before], parameters, grid_div_x=["block_size_x"],
                                        grid_div_y=["block_size_y"], iterations=3)
EXPECTED = 3  # work-groups have at most 4096 work-items on PoCL
