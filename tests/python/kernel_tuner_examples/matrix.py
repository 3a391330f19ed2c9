"""Restrictions, a metric that is the objective, the name of a file, options of the compiler."""
import json
from collections import OrderedDict

import kernel_tuner
import numpy

size = 64
a = numpy.random.rand(size, size).astype(numpy.float32)
b = numpy.random.rand(size, size).astype(numpy.float32)
parameters = {"block_size_x": [8, 16], "block_size_y": [2, 4, 8, 16], "rows_each": [2, 4]}
metrics = OrderedDict()
metrics["GFLOP/s"] = lambda p: 2 * size**3 / 1e9 / (p["time"] / 1e3)
metrics["per_item"] = "time * block_size_y / rows_each"

results, env = kernel_tuner.tune_kernel("multiply", "matrix.cl", (size, size), [numpy.zeros_like(a), a, b], parameters,
                                        grid_div_y=["block_size_y", "rows_each"], restrictions=["block_size_x == block_size_y * rows_each"],
                                        answer=[numpy.dot(a, b), None, None], atol=1e-3, metrics=metrics, objective="GFLOP/s",
                                        compiler_options=["-DSIZE=64", "-cl-mad-enable"])
with open("matrix.json", "w") as file:
    json.dump(results, file)
assert env["best_config"]["GFLOP/s"] == max(entry["GFLOP/s"] for entry in results)
EXPECTED = 4
