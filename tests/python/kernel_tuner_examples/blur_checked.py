"""The others are compared with a simple kernel's result."""
import kernel_tuner
import numpy

width, height = 130, 70
image = numpy.random.rand(height, width).astype(numpy.float32)
weights = numpy.random.rand(25).astype(numpy.float32)
arguments = [numpy.zeros_like(image), image, weights, numpy.int32(width), numpy.int32(height)]

right = kernel_tuner.run_kernel("blur_simply", "blur.cl", (width, height), arguments, {"block_size_x": 16, "block_size_y": 4})
parameters = {"block_size_x": [8, 32], "block_size_y": [4], "tile_y": [1, 3]}
results, env = kernel_tuner.tune_kernel("blur", "blur.cl", (width, height), arguments, parameters, grid_div_x=["block_size_x"],
                                        grid_div_y=["block_size_y", "tile_y"], answer=[right[0], None, None, None, None], atol=1e-4)
EXPECTED = 4
