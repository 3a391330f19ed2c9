"""Two dimensions, tiles, a kernel in a file."""
from collections import OrderedDict

import kernel_tuner
import numpy

width, height = 200, 150
image = numpy.random.rand(height, width).astype(numpy.float32)
weights = numpy.random.rand(25).astype(numpy.float32)
arguments = [numpy.zeros_like(image), image, weights, numpy.int32(width), numpy.int32(height)]
parameters = OrderedDict()
parameters["block_size_x"] = [8 * i for i in range(1, 3)]
parameters["block_size_y"] = [4]
parameters["tile_y"] = [1, 3]

with open("blur.cl") as file:
    results, env = kernel_tuner.tune_kernel("blur", file.read(), (width, height), arguments, parameters, grid_div_x=["block_size_x"],
                                            grid_div_y=["block_size_y", "tile_y"], verbose=True)
EXPECTED = 4
