"""PolyBench's kernels as loop nests for clatune.loopy.

    python3 polybench.py gemm --device pocl --budget 100

Level 1 has what is done within a kernel: tiles, work-groups, local memory, vectors, unrolling, sums in parallel. Level 2 also has which
statements share a kernel, and their order. The nests compute what the problems in kernels_cl/polybench compute, with their sizes for CPUs.
fdtd-2d is missing: its source changes from step to step, and the launches of a nest do not know their step.
"""
import argparse

import clatune
import loopy as lp
import numpy as np
from clatune.loopy import Fuse, LoopProblem, Prefetch, Tile, Vector
from loopy.version import LOOPY_USE_LANGUAGE_VERSION_2018_2  # noqa: F401

SCALARS = {"alpha": np.float32(1.5), "beta": np.float32(1.2)}
WIDTHS, ROWS, UNROLL, POWERS = [1, 2, 4, 8, 16], [1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8, 16, 32, 64]


def nest(name, domain, statement, **shapes):
    """A kernel whose arrays have these shapes, of float."""
    arrays = [lp.GlobalArg(array, np.float32, shape=shape) for array, shape in shapes.items()]
    return lp.make_kernel(domain, statement, [*arrays, *(lp.ValueArg(one, np.float32) for one in SCALARS if one in statement), "..."], name=name)


def first(value, values):
    return [value, *(one for one in values if one != value)]


def grid(i, j, vector=True):
    """Work-items for rows i and columns j of a result: each has `rows` rows and a vector, whose arrays have j as their last index."""
    column = f"{j}_outer" if vector else j
    return [*([Vector(j, WIDTHS, name="vec")] if vector else []), Tile(i, ROWS, inner="ilp", name="rows"),
            Tile(f"{i}_outer", first(8, POWERS[:6]), outer="g.1", inner="l.1", name="wg_y"),
            Tile(column, first(32, POWERS), outer="g.0", inner="l.0", name="wg_x")]


def sum_over(k, a, i):
    """A sum over k in tiles; those of a[i,k] may be copied to local memory first."""
    return [Tile(k, [1, 8, 16, 32], name="tile_k"), Prefetch(a, [f"{i}_inner", f"{i}_outer_inner", f"{k}_inner"], name=f"local_{a[0]}"),
            Tile(f"{k}_inner", UNROLL, inner="unr", name="unroll")]


def row_sums(i, j):
    """Sums along rows: row_x work-items share a row, and row_y rows a work-group."""
    return [Tile(i, first(64, POWERS), outer="g.0", inner="l.1", name="row_y"), Tile(j, POWERS, inner="l.0", name="row_x"),
            Tile(f"{j}_outer", UNROLL, inner="unr", name="unroll")]


def column_sums(i, j):
    """Sums along columns: a work-item has a vector of columns, or column_y of them share it."""
    return [*columns(i, j)[:2], Tile(i, POWERS, inner="l.1", name="column_y"), Tile(f"{i}_outer", UNROLL, inner="unr", name="unroll")]


def columns(i, j):
    """A work-item has a vector of columns."""
    return [Vector(j, WIDTHS, name="vec"), Tile(f"{j}_outer", first(64, POWERS), outer="g.0", inner="l.0", name="column_x"),
            Tile(i, UNROLL, inner="unr", name="unroll")]


def product(n, height, width, depth, result, left, right, scale="", rest=""):
    """The nest and the moves of result = scale left right + rest. Its loops are i, j and k with the number n, so that they stay its own."""
    i, j, k = f"i{n}", f"j{n}", f"k{n}"
    kernel = nest(f"sum_{result}", f"{{[{i},{j},{k}]: 0<={i}<{height} and 0<={j}<{width} and 0<={k}<{depth}}}",
                  f"{result}[{i},{j}] = {scale}sum({k}, {left}[{i},{k}]*{right}[{k},{j}])" + rest.format(f"{result}[{i},{j}]"),
                  **{result: f"{height},{width}", left: f"{height},{depth}", right: f"{depth},{width}"})
    return kernel, grid(i, j) + sum_over(k, left, i)


def triangle(statement, **shapes):
    return nest("triangle", "{[i,j,k]: 0<=j<=i<n and 0<=k<m}", statement, **shapes)


def statistics(*statements):
    """Kernels over the columns of data, then the product of the data with itself."""
    shapes = {"data": "n,m", "mean": "m", "scale": "m"}
    kernels = [nest(name, "{[i,j]: 0<=i<n and 0<=j<m}", text, **{array: shape for array, shape in shapes.items() if array in text})
               for name, text in statements]
    kernels.append(nest("product", "{[i1,j1,k]: 0<=i1,j1<m and 0<=k<n}", "result[i1,j1] = sum(k, data$row[k,i1]*data[k,j1])", data="n,m", result="m,m"))
    return kernels, columns("i", "j") + [Tile("i1", ROWS, inner="ilp", name="rows")] + grid("i1", "j1", vector=False)[1:] + sum_over("k", "data$row", "i1")


def stencil(name, result, field, weights, is_solid=False):
    """The weighted sum of the neighbours of each inner point; weights: {(dz, dy, dx): weight}."""
    z = "z," if is_solid else ""
    terms = [f"{w:.6g}*{field}[{f'z+{dz + 1},' if is_solid else ''}y+{dy + 1},x+{dx + 1}]" for (dz, dy, dx), w in weights.items()]
    shape = ("depth+2," if is_solid else "") + "height+2,width+2"
    return nest(name, f"{{[{z}y,x]: {'0<=z<depth and ' if is_solid else ''}0<=y<height and 0<=x<width}}",
                f"{result}[{'z+1,' if is_solid else ''}y+1,x+1] = " + " + ".join(terms).replace("+ -", "- "), **{result: shape, field: shape})


def stencil_moves(*fields):
    return grid("y", "x", vector=False) + [Prefetch(field, ["y_inner", "y_outer_inner", "x_inner"], fetch_bounding_box=True, name="use_local") for field in fields]


def convolution(depths):
    return {(z, y, x): 0.05 + 0.1 * x - 0.2 * y + 0.3 * x * y + 0.4 * z for z in depths for y in (-1, 0, 1) for x in (-1, 0, 1)}


CROSS = {(0, y, x): 0.2 for y in (-1, 0, 1) for x in (-1, 0, 1) if x * x + y * y <= 1}
MATRIX_2D = "{[i,j]: 0<=i<m and 0<=j<n}"


def by_rows(text, **shapes):
    return nest("by_rows", "{[i1,j1]: 0<=i1<m and 0<=j1<n}", text, **shapes)


def by_columns(text, **shapes):
    return nest("by_columns", "{[i2,j2]: 0<=i2<m and 0<=j2<n}", text, **shapes)


def problems():
    """By name: the kernels, their moves, the sizes, and further arguments of LoopProblem."""
    both = row_sums("i1", "j1") + column_sums("i2", "j2")
    mean, centre = ("mean", "mean[j] = sum(i, data[i,j])/n"), "data[i,j] = (data[i,j]-mean[j])"
    ab, e = product(1, "ni", "nj", "nk", "ab", "a", "b", scale="alpha*"), product(1, "ni", "nj", "nk", "e", "a", "b")
    d, f = product(2, "ni", "nl", "nj", "d", "ab", "c", rest=" + beta*{}"), product(2, "nj", "nl", "nm", "f", "c", "d")
    g, c = product(3, "ni", "nl", "nj", "g", "e", "f"), product(1, "ni", "nj", "nk", "c", "a", "b", scale="alpha*", rest=" + beta*{}")
    sizes = {"ni": 160, "nj": 192, "nk": 224, "nl": 256, "nm": 208}
    return {
        "2dconv": ([stencil("convolve", "out", "image", convolution([0]))], stencil_moves("image"), {"width": 1024, "height": 768}, {}),
        "2mm": ([ab[0], d[0]], ab[1] + d[1], sizes, {}),
        "3dconv": ([stencil("convolve", "out", "image", convolution([-1, 0, 1]), is_solid=True)],
                   [Tile("z", [1], outer="g.2", name="plane"), *stencil_moves()], {"width": 128, "height": 96, "depth": 64}, {}),
        "3mm": ([e[0], f[0], g[0]], e[1] + f[1] + g[1], sizes, {}),
        "atax": ([by_rows("ax[i1] = sum(j1, a[i1,j1]*x[j1])", a="m,n", x="n", ax="m"), by_columns("y[j2] = sum(i2, a[i2,j2]*ax[i2])", a="m,n", ax="m", y="n")],
                 both, {"m": 1024, "n": 1280}, {}),
        "bicg": ([by_rows("q[i1] = sum(j1, a[i1,j1]*p[j1])", a="m,n", p="n", q="m"), by_columns("s[j2] = sum(i2, a[i2,j2]*r[i2])", a="m,n", r="m", s="n")],
                 both, {"m": 1024, "n": 1280}, {}),
        "correlation": (*statistics(mean, ("deviation", "scale[j] = 1/sqrt(sum(i, (data[i,j]-mean[j])*(data[i,j]-mean[j])))"), ("centre", centre + "*scale[j]")),
                        {"n": 256, "m": 192}, {}),
        "covariance": (*statistics(mean, ("centre", centre + "/sqrt(n-1.0)")), {"n": 256, "m": 192}, {}),
        "gemm": ([c[0]], c[1], {"ni": 192, "nj": 256, "nk": 224}, {}),
        "gemver": ([nest("update", "{[i,j]: 0<=i,j<n}", "a[i,j] = a[i,j] + u1[i]*v1[j] + u2[i]*v2[j]", a="n,n", u1="n", v1="n", u2="n", v2="n"),
                    nest("by_columns", "{[i,j]: 0<=i,j<n}", "x[j] = z[j] + beta*sum(i, a[i,j]*y[i])", a="n,n", x="n", y="n", z="n"),
                    nest("by_rows", "{[i1,j1]: 0<=i1,j1<n}", "w[i1] = alpha*sum(j1, a[i1,j1]*x[j1])", a="n,n", x="n", w="n")],
                   columns("i", "j") + row_sums("i1", "j1"), {"n": 1024}, {}),
        "gesummv": ([nest("first", "{[i,j]: 0<=i,j<n}", "y[i] = alpha*sum(j, a[i,j]*x[j])", a="n,n", x="n", y="n"),
                     nest("second", "{[i,j]: 0<=i,j<n}", "y[i] = y[i] + beta*sum(j, b[i,j]*x[j])", b="n,n", x="n", y="n")], row_sums("i", "j"), {"n": 1024}, {}),
        "jacobi-2d": ([stencil("there", "b", "a", CROSS), stencil("back", "a", "b", CROSS)], stencil_moves("a", "b"), {"width": 512, "height": 384},
                      {"repeat": 10}),
        "mvt": ([by_rows("x1[i1] = x1[i1] + sum(j1, a[i1,j1]*y1[j1])", a="m,n", x1="m", y1="n"),
                 by_columns("x2[j2] = x2[j2] + sum(i2, a[i2,j2]*y2[i2])", a="m,n", x2="n", y2="m")], both, {"m": 1024, "n": 1024}, {}),
        "syr2k": ([triangle("c[i,j] = beta*c[i,j] + alpha*sum(k, a$row[i,k]*b[j,k] + b[i,k]*a[j,k])", a="n,m", b="n,m", c="n,n")],
                  grid("i", "j", vector=False) + sum_over("k", "a$row", "i"), {"n": 256, "m": 192}, {}),
        "syrk": ([triangle("c[i,j] = beta*c[i,j] + alpha*sum(k, a$row[i,k]*a[j,k])", a="n,m", c="n,n")],
                 grid("i", "j", vector=False) + sum_over("k", "a$row", "i"), {"n": 256, "m": 192}, {}),
    }


def problem(name, level=1, **more):
    kernels, moves, sizes, further = problems()[name]
    if level == 2 and len(kernels) > 1:
        moves = [Fuse([kernel.default_entrypoint.name for kernel in kernels]), *moves]
    used = {argument for kernel in kernels for argument in kernel.default_entrypoint.arg_dict}
    return LoopProblem(kernels, moves, sizes=sizes,
                       arguments={scalar: value for scalar, value in SCALARS.items() if scalar in used},
                       constraints=["vec == 1 or column_y == 1"] if any("column_y" in move.parameters for move in moves) else [], name=f"{name}-loops-{level}", **further, **more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", choices=problems())
    parser.add_argument("--level", type=int, choices=[1, 2], default=1)
    parser.add_argument("--device", default="pocl")
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--searcher", default="surrogate")
    options = parser.parse_args()
    loops = problem(options.problem, options.level)
    result = clatune.tune(loops, device=options.device, budget=options.budget, searcher=options.searcher)
    print(f"{result.speedup:.2f} times as fast as the default: {dict(result.best)}")
    print(loops.generate(result.best)["source"])


if __name__ == "__main__":
    main()
