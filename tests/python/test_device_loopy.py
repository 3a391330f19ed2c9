"""Loop nests of loo.py as problems. Skipped without loopy, which is no package of Debian's."""
import clatune
import numpy as np
import pytest

lp = pytest.importorskip("loopy")
from clatune.loopy import Fuse, LoopProblem, Order, Prefetch, Tag, Tile, Transform, Vector, tune  # noqa: E402
from loopy.version import LOOPY_USE_LANGUAGE_VERSION_2018_2  # noqa: E402, F401

N = 32
RANDOM = np.random.default_rng(1)
A, B, X = RANDOM.random((N, N), dtype=np.float32), RANDOM.random((N, N), dtype=np.float32), RANDOM.random(N, dtype=np.float32)


def matmul():
    return lp.make_kernel("{[i,j,k]: 0<=i,j,k<n}", "c[i,j] = sum(k, a[i,k]*b[k,j])", name="matmul")


def problem(moves, **more):
    return LoopProblem(matmul(), moves, sizes={"n": N}, arguments={"a": A, "b": B}, **more)


ITEMS = [Tile("i", [4, 8], outer="g.1", inner="l.1"), Tile("j", [8, 16], outer="g.0", inner="l.0")]


def check(problem, *configurations):
    """Raises VerificationFailed if the result of one of them differs from that of the nest in C."""
    assert len(clatune.measure(problem, configurations, device="pocl", rounds=1)) == len(configurations)


def test_parameters_and_constraints():
    loops = problem([*ITEMS, Tile("k", [1, 8]), Prefetch("a", ["i_inner", "k_inner"]), Order(["k_outer", "k_inner"], constraints=["order_k_outer < order_k_inner"])])
    assert loops.space.names == ["tile_i", "tile_j", "tile_k", "prefetch_a", "order_k_outer", "order_k_inner"]
    assert [one["Expression"] for one in loops.space.to_json()["Conditions"]] == ["order_k_outer < order_k_inner", "tile_j * tile_i <= device.max_work_group_size"]
    assert loops.count() == 16


def test_each_transformation_computes_the_same():
    loops = problem([Vector("j", [1, 4]), Tile("i", [1, 2], inner="ilp", name="rows"), Tile("i_outer", [4], outer="g.1", inner="l.1"),
                     Tile("j_outer", [8], outer="g.0", inner="l.0"), Tile("k", [8]), Prefetch("a", ["i_inner", "i_outer_inner", "k_inner"]), Tag("k_inner", ["for", "unr"])])
    configurations = [{"vector_j": vector, "rows": rows, "tile_i_outer": 4, "tile_j_outer": 8, "tile_k": 8, "prefetch_a": prefetch, "tag_k_inner": tag}
                      for vector, rows, prefetch, tag in ((1, 1, 0, "for"), (4, 1, 0, "unr"), (1, 2, 1, "for"), (4, 2, 1, "unr"))]
    for one in configurations:
        source = loops.generate(one)["source"]
        assert ("float4" in source) == (one["vector_j"] == 4) and ("__local" in source) == one["prefetch_a"] and ("++k_inner" in source) == (one["tag_k_inner"] == "for")
    check(loops, *configurations)


def test_sums_in_parallel():
    nest = lp.make_kernel("{[i,j]: 0<=i,j<n}", "y[i] = sum(j, a[i,j]*x[j])", name="rows")
    loops = LoopProblem(nest, [Tile("i", [4], outer="g.0", inner="l.1"), Tile("j", [8], inner="l.0")], sizes={"n": N}, arguments={"a": A, "x": X})
    answer = loops.generate(dict(tile_i=4, tile_j=8))
    assert "barrier" in answer["source"] and answer["launches"] == [{"kernel": "rows", "arguments": ["a", "x", "y"], "global": [64, 4], "local": [8, 4]}]
    check(loops, {"tile_i": 4, "tile_j": 8})


def two_sums():
    """Kernels that may share one, since a work-item needs only what it has computed itself; and one that needs all of x."""
    domain = "{[i,j]: 0<=i,j<n}"
    return [lp.make_kernel(domain, "a[i,j] = 2*a[i,j]", name="twice"), lp.make_kernel(domain, "x[j] = sum(i, a[i,j])", name="sum"),
            lp.make_kernel("{[k,l]: 0<=k,l<n}", "y[k] = sum(l, a[k,l]*x[l])", name="last")]


def test_kernels_are_fused_where_no_dependency_breaks():
    loops = LoopProblem(two_sums(), [Fuse(["twice", "sum", "last"]), Tile("j", [8], outer="g.0", inner="l.0"), Tile("k", [8], outer="g.0", inner="l.0")],
                        sizes={"n": N}, arguments={"a": A})
    assert loops.count() == 4  # each needs what the one before writes
    order = {"fuse_order_twice": 0, "fuse_order_sum": 1, "fuse_order_last": 2, "tile_j": 8, "tile_k": 8}
    together = {**order, "fuse_1": 1, "fuse_2": 0}
    assert [one["kernel"] for one in loops.generate(together)["launches"]] == ["twice_and_sum", "last"]
    with pytest.raises(clatune.Invalid, match="global barrier"):
        loops.generate({**order, "fuse_1": 0, "fuse_2": 1})
    result = clatune.tune(loops, device="pocl", searcher="exhaustive", finalists=0, oclgrind="no", progress=False)
    assert {(one["configuration"]["fuse_1"], one["configuration"]["fuse_2"]): one["reason"] for one in result.evaluations} == \
        {(0, 0): "none", (1, 0): "none", (0, 1): "not-generated", (1, 1): "not-generated"}


def test_independent_kernels_in_either_order():
    domain = "{[i]: 0<=i<n}"
    loops = LoopProblem([lp.make_kernel(domain, "y[i] = 2*x[i]", name="first"), lp.make_kernel(domain, "z[i] = x[i] + 1", name="second")],
                        [Fuse(["first", "second"]), Tile("i", [8], outer="g.0", inner="l.0")], sizes={"n": N}, arguments={"x": X})
    answer = loops.generate({"fuse_order_first": 1, "fuse_order_second": 0, "fuse_1": 0, "tile_i": 8})
    assert [one["kernel"] for one in answer["launches"]] == ["second", "first"]


def test_any_function_and_repetition():
    nest = lp.make_kernel("{[i]: 0<=i<n}", "x[i] = 2*x[i]", name="twice")
    split = Transform(lambda kernel, width: lp.split_iname(kernel, "i", width, outer_tag="g.0", inner_tag="l.0"), width=[4, 8])
    loops = LoopProblem(nest, [split], sizes={"n": N}, arguments={"x": X}, repeat=3)
    assert len(loops.generate({"width": 8})["launches"]) == 3
    check(loops, {"width": 8})
    assert loops.kernels({"width": 8})[0].default_entrypoint.all_inames() == {"i_outer", "i_inner"}
    other = LoopProblem(nest, [Transform(lambda kernel, width: lp.split_iname(kernel, "i", width, outer_tag="g.0"), width=[4, 8])], sizes={"n": N}, arguments={"x": X})
    assert other.document["KernelSpecification"]["Generator"]["Version"] != loops.document["KernelSpecification"]["Generator"]["Version"]


def test_tune():
    result = tune(matmul(), ITEMS, sizes={"n": N}, arguments={"a": A, "b": B}, device="pocl", budget=4, progress=False)
    assert result.best["tile_i"] in (4, 8) and len(result.evaluations) == 4
    assert "matmul" in str(result.problem.kernels(result.best)[0])
    found = clatune.lookup(result.problem, device="pocl")
    assert found.source == result.problem.generate(found)["source"] and found.global_size == (N, N) and found.local_size == (found["tile_j"], found["tile_i"])


@pytest.mark.parametrize("moves, more, message", [
    ([*ITEMS, Tile("k", [2, 4], name="tile_i")], {}, "two moves have the parameter 'tile_i'"),
    (ITEMS, {"arguments": {"a": A, "b": B, "d": X}}, "the nest has no argument 'd'"),
    ([Fuse(["matmul", "other"])], {}, "the nest has no kernel 'other'")])
def test_mistakes(moves, more, message):
    with pytest.raises(ValueError, match=message):
        LoopProblem(matmul(), moves, **{"sizes": {"n": N}, "arguments": {"a": A, "b": B}, **more})


def test_an_array_has_one_shape():
    floats = [lp.GlobalArg("a", np.float32, shape=lp.auto), "..."]
    rows = lp.make_kernel("{[i,j]: 0<=i,j<n}", "y[i,j] = a[i,j+1]", floats, name="rows")
    last = lp.make_kernel("{[i,j]: 0<=i,j<n}", "y[i,j] = a[i,j]", floats, name="last")
    with pytest.raises(ValueError, match=r"'a' has the shape \(32, 32\) in the given array, but \(31, 32\) in the kernel 'rows'"):
        LoopProblem(rows, ITEMS, sizes={"n": N - 1}, arguments={"a": A})
    with pytest.raises(ValueError, match=r"'a' has the shape \(31, 32\) in the kernel 'rows', but \(31, 31\) in the kernel 'last'"):
        LoopProblem([rows, last], ITEMS, sizes={"n": N - 1})


def test_a_scalar_without_a_value():
    nest = lp.make_kernel("{[i]: 0<=i<n}", "y[i] = alpha*x[i]", [lp.ValueArg("alpha", np.float32), "..."])
    with pytest.raises(ValueError, match="'alpha' has no value"):
        LoopProblem(nest, [Tile("i", [8], outer="g.0", inner="l.0")], sizes={"n": N}, arguments={"x": X})
