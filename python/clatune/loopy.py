"""Tunes loop nests: transformations of loo.py (https://documen.tician.de/loopy) become tuning parameters, each configuration a kernel.

A nest is a kernel of loopy.make_kernel, or a list of kernels that run one after the other. Moves say what may be done with it:

    nest = lp.make_kernel("{[i,j,k]: 0<=i,j,k<n}", "c[i,j] = sum(k, a[i,k]*b[k,j])", name="matmul")
    moves = [Tile("i", [8, 16, 32], outer="g.1", inner="l.1"), Tile("j", [8, 16, 32], outer="g.0", inner="l.0"),
             Tile("k", [1, 8, 16]), Prefetch("a", ["i_inner", "k_inner"]), Prefetch("b", ["k_inner", "j_inner"])]
    problem = clatune.loopy.LoopProblem(nest, moves, sizes={"n": 1024}, arguments={"a": a, "b": b})
    best = clatune.tune(problem).best
    kernel, = problem.kernels(best)

Each move is applied to every kernel that has its loop or array, in the order of the list, so that a move can name what an earlier one made.
Moves with the same parameter share its value. The default configuration has the first value of each parameter. What loo.py refuses, because
it cannot do it or because it would break a dependency, fails as `not-generated`. Everything else is checked against the nest without any
move, compiled as C.
"""
from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import tuning
from .files import write_text
from .generator import Invalid
from .problem import _digest, _merge, _type_of, Argument, ArgumentLike, In, InOut, Permutation, Problem, Space, Value
from .result import Result

try:
    import loopy as lp  # type: ignore[import]
except ImportError as error:
    raise ImportError("clatune.loopy needs loo.py; install it with pip install 'clatune[loopy]'") from error

Values = Mapping[str, Any]
Parameters = dict[str, "Sequence[Value] | Permutation"]


class Move:
    """A transformation with tuning parameters. Transform makes one of any function."""

    iname: str | None = None  #: the loop that it is about

    def __init__(self, parameters: Parameters, constraints: Sequence[str] = ()):
        self.parameters = parameters
        self.constraints = list(constraints)

    def conditions(self, kernels: Sequence[Any]) -> list[str]:
        """The constraints between the parameters, for these kernels."""
        return self.constraints

    def concerns(self, kernel: Any) -> bool:
        """Whether the kernel has what the move is about."""
        return self.iname is None or self.iname in kernel.default_entrypoint.all_inames()

    def transform(self, kernel: Any, values: Values) -> Any:
        """The kernel, transformed as the values of the parameters say."""
        return kernel

    def apply(self, kernels: list[Any], values: Values) -> list[Any]:
        return [self.transform(kernel, values) if self.concerns(kernel) else kernel for kernel in kernels]


class Transform(Move):
    """``Transform(function, width=[1, 2, 4])`` calls ``function(kernel, width=2)``, which returns the transformed kernel. With `only`, the
    name of a kernel or several, it is not called for others."""

    def __init__(self, function: Callable[..., Any], *, only: str | Sequence[str] = (), constraints: Sequence[str] = (), **parameters: Sequence[Value]):
        super().__init__(dict(parameters), constraints)
        self.function, self.only = function, [only] if isinstance(only, str) else list(only)

    def concerns(self, kernel: Any) -> bool:
        return not self.only or bool(set(self.only) & set(_parts(kernel)))

    def transform(self, kernel: Any, values: Values) -> Any:
        return self.function(kernel, **{name: values[name] for name in self.parameters})


class Tile(Move):
    """Splits a loop into ``i_outer`` and ``i_inner``, as loopy.split_iname: `sizes` are the lengths of the inner one. Tags make them groups
    ("g.0") and work-items ("l.0"), unroll them ("unr"), or compute all iterations of the inner one side by side ("ilp", for registers). The
    inner loop of a sum with "l.0" makes work-items add in parallel. The parameter is ``tile_i``, or `name`; `more` goes to split_iname."""

    def __init__(self, iname: str, sizes: Sequence[int], *, outer: str | None = None, inner: str | None = None, name: str | None = None, **more: Any):
        self.iname, self.inner, self.name = iname, inner, name or f"tile_{iname}"
        self.more = {"outer_tag": outer, "inner_tag": inner, **more}
        super().__init__({self.name: sizes})

    def transform(self, kernel: Any, values: Values) -> Any:
        sums, inner = _reduction_inames(kernel), f"{self.iname}_inner"
        in_parallel = self.iname in sums and (self.inner or "").startswith("l.")
        vectors = any(kernel.default_entrypoint.iname_tags_of_type(one, lp.kernel.data.VectorizeTag) for one in kernel.default_entrypoint.all_inames())
        if in_parallel and vectors and values[self.name] == 1:  # loo.py cannot add vectors in local memory, not even one
            return lp.rename_iname(kernel, self.iname, f"{self.iname}_outer")
        kernel = lp.split_iname(kernel, self.iname, int(values[self.name]), **self.more)
        if in_parallel:
            return lp.split_reduction_outward(kernel, inner)
        if self.iname not in sums and (self.inner or "").startswith("ilp"):  # otherwise loo.py may compute one sum after the other
            for one in sorted(sums):
                kernel = lp.prioritize_loops(kernel, f"{one},{inner}")
        return kernel


class Vector(Move):
    """Computes `widths` neighbouring iterations as an OpenCL vector such as float4: splits the loop into ``j_outer`` and ``j_inner``, and those
    arrays into vectors whose last index is the loop. A width must divide their rows; with 1, there is no ``j_inner``. The parameter is
    ``vector_j``."""

    def __init__(self, iname: str, widths: Sequence[int], *, name: str | None = None):
        self.iname, self.name = iname, name or f"vector_{iname}"
        super().__init__({self.name: widths})

    def transform(self, kernel: Any, values: Values) -> Any:
        width = int(values[self.name])
        if width == 1:
            return lp.rename_iname(kernel, self.iname, f"{self.iname}_outer")
        arrays = {name: len(one.shape) for name, one in kernel.default_entrypoint.arg_dict.items()
                  if isinstance(one, lp.ArrayArg) and self.iname in _last_indices(kernel, name)}
        for name, axes in arrays.items():
            if int(kernel.default_entrypoint.arg_dict[name].shape[-1]) % width:
                raise lp.diagnostic.LoopyError(f"rows of '{name}' are no multiple of {width}")
            kernel = lp.split_array_dim(kernel, [(name, axes - 1)], width, auto_split_inames=False)
            kernel = lp.tag_array_axes(kernel, name, ",".join([*(f"N{axis}" for axis in reversed(range(axes))), "vec"]))
        return lp.split_iname(kernel, self.iname, width, inner_tag="vec")


class Tag(Move):
    """Tags a loop: one of `tags`, for example ``Tag("k_inner", ["for", "unr"])``. The parameter is ``tag_k_inner``."""

    def __init__(self, iname: str, tags: Sequence[str], *, name: str | None = None):
        self.iname, self.name = iname, name or f"tag_{iname}"
        super().__init__({self.name: tags})

    def transform(self, kernel: Any, values: Values) -> Any:
        return lp.tag_inames(kernel, {self.iname: values[self.name]})


class Prefetch(Move):
    """Copies to local memory first what the loops of `sweep` read of an array, or not: ``prefetch_a`` is 0 or 1. "a$row" means the accesses that
    are written ``a$row[i,k]``. The copy is made within all other loops around the access that are not work-items. Loops that a kernel lacks
    are left out of `sweep`."""

    def __init__(self, array: str, sweep: Sequence[str], *, name: str | None = None, **more: Any):
        self.array, self.sweep, self.name, self.more = array, list(sweep), name or "prefetch_" + array.replace("$", "_"), {"default_tag": "l.auto", **more}
        super().__init__({self.name: [0, 1]})

    def concerns(self, kernel: Any) -> bool:
        return self.array.split("$")[0] in _read(kernel) and bool(set(self.sweep) & kernel.default_entrypoint.all_inames())

    def transform(self, kernel: Any, values: Values) -> Any:
        if not values[self.name]:
            return kernel
        inner = kernel.default_entrypoint
        around = frozenset().union(*(one.within_inames | one.reduction_inames() for one in inner.instructions
                                     if self.array.split("$")[0] in one.read_dependency_names()))
        tags = (lp.kernel.data.LocalInameTagBase, lp.kernel.data.IlpBaseTag, lp.kernel.data.VectorizeTag)
        side_by_side = {iname for iname in around if inner.iname_tags_of_type(iname, tags)}
        sweep = [one for one in self.sweep if one in inner.all_inames()]
        kernel = lp.add_prefetch(kernel, self.array, sweep, fetch_outer_inames=around - set(sweep) - side_by_side,
                                 prefetch_insn_id=self.name, temporary_address_space=lp.AddressSpace.LOCAL, **self.more)
        return lp.add_inames_for_unused_hw_axes(kernel, f"id:{self.name}")


class Order(Move):
    """The order of loops, the outermost first, as loopy.prioritize_loops: a permutation named `name`. Loops that a kernel lacks are left out."""

    def __init__(self, inames: Sequence[str], *, name: str = "order", constraints: Sequence[str] = ()):
        self.name, self.permutation = name, Permutation(inames)
        super().__init__({name: self.permutation}, constraints)

    def transform(self, kernel: Any, values: Values) -> Any:
        present = [one for one in self.permutation.order(self.name, values) if one in kernel.default_entrypoint.all_inames()]
        return lp.prioritize_loops(kernel, ",".join(map(str, present))) if len(present) > 1 else kernel


class Fuse(Move):
    """Which statements share a kernel, and in which order they run. `kernels` are names of kernels of the nest that follow each other: the
    permutation ``fuse_order`` is their order, as far as one does not need another's results, and ``fuse_1`` to ``fuse_N`` say whether the
    first and the second, the second and the third ... share a kernel. Loops of the same name then become one. It must be the first move."""

    def __init__(self, kernels: Sequence[str], *, reorder: bool = True, name: str = "fuse"):
        self.names, self.name, self.order = list(kernels), name, Permutation(kernels) if reorder else None
        super().__init__({**({f"{name}_order": self.order} if self.order else {}), **{f"{name}_{i}": [0, 1] for i in range(1, len(kernels))}})

    def conditions(self, kernels: Sequence[Any]) -> list[str]:
        """One kernel comes before another if one of them writes what the other one uses."""
        named = {_name(kernel): kernel for kernel in kernels}
        if missing := [name for name in self.names if name not in named]:
            raise ValueError(f"the nest has no kernel '{missing[0]}'; it has {', '.join(named)}")
        return [f"{self.name}_order_{a} < {self.name}_order_{b}" for a, b in itertools.combinations(self.names, 2)
                if self.order and (_written(named[a]) & _used(named[b]) or _written(named[b]) & _used(named[a]))]

    def apply(self, kernels: list[Any], values: Values) -> list[Any]:
        named = {kernel.default_entrypoint.name: kernel for kernel in kernels}
        names = [str(one) for one in self.order.order(f"{self.name}_order", values)] if self.order else self.names
        groups = [[named[names[0]]]]
        for i, name in enumerate(names[1:], 1):
            if values[f"{self.name}_{i}"]:
                groups[-1].append(named[name])
            else:
                groups.append([named[name]])
        first = min(kernels.index(named[name]) for name in names)
        rest = [kernel for kernel in kernels if kernel.default_entrypoint.name not in names]
        return rest[:first] + [_fused(group) for group in groups] + rest[first:]


def _parts(kernel: Any) -> list[str]:
    """The names of the nest's kernels in a kernel."""
    name: str = kernel.default_entrypoint.name
    return name.split("_and_")


def _reduction_inames(kernel: Any) -> set[str]:
    return set().union(*(one.reduction_inames() for one in kernel.default_entrypoint.instructions))


def _last_indices(kernel: Any, array: str) -> set[str]:
    """The names that are the last index of an array somewhere in the kernel."""
    found: set[str] = set()

    class Collect(lp.symbolic.WalkMapper):  # type: ignore[misc]
        def map_subscript(self, one: Any) -> None:
            if one.aggregate.name == array:
                found.add(str(one.index_tuple[-1]))
            super().map_subscript(one)

    for statement in kernel.default_entrypoint.instructions:
        for expression in (*statement.assignees, statement.expression):
            Collect()(expression)
    return found


def _written(kernel: Any) -> set[str]:
    return set(kernel.default_entrypoint.get_written_variables())


def _read(kernel: Any) -> set[str]:
    inner = kernel.default_entrypoint
    return set(inner.get_read_variables()) & set(inner.arg_dict)


def _used(kernel: Any) -> set[str]:
    return _read(kernel) | _written(kernel)


def _fused(group: Sequence[Any]) -> Any:
    if len(group) == 1:
        return group[0]
    flow = []
    for (i, a), (j, b) in itertools.combinations(enumerate(group), 2):
        flow += [(name, i, j) for name in _written(a) & _read(b)]
        if _written(b) & _used(a) - _written(a) & _read(b):
            raise lp.diagnostic.LoopyError(f"{b.default_entrypoint.name} overwrites what {a.default_entrypoint.name} reads, so they cannot share a kernel")
    return lp.fuse_kernels(list(group), data_flow=flow)


class LoopProblem(Problem):
    """A nest with its moves as a problem for clatune.tune.

    nest         a kernel of loopy.make_kernel, or a list of kernels that run in this order
    moves        the transformations (see above)
    sizes        values of the nest's integer parameters; the kernels are generated for these
    arguments    content of arrays and values of scalars, as for Problem (default of arrays: random numbers)
    repeat       how many times the whole nest runs, for example time steps
    constraints  further conditions between the tuning parameters
    default      values of the default configuration, if they are not the first ones
    name, folder, compiler_options, more: as for Problem
    """

    def __init__(self, nest: Any, moves: Sequence[Move], *, sizes: Mapping[str, int], arguments: Mapping[str, ArgumentLike] | None = None,
                 repeat: int = 1, constraints: Sequence[str] = (), default: Mapping[str, Any] | None = None, name: str | None = None,
                 folder: str | os.PathLike[str] | None = None, compiler_options: Sequence[str | Mapping[str, Any]] = (), more: Mapping[str, Any] | None = None):
        given = dict(arguments or {})
        self.nest, self.moves, self.repeat = _prepared(nest, sizes, given, lp.OpenCLTarget()), list(moves), repeat
        _check_shapes(self.nest, given)
        in_c = _in_c(_prepared(nest, sizes, given, lp.CTarget()), repeat)
        space = Space(_parameters(moves), default=default, constraints=[*constraints, *(one for move in moves for one in move.conditions(self.nest)),
                                                                        *_work_group_limits(self.nest, moves)])
        sections: dict[str, Any] = {"KernelSpecification": {"Generator": {"Version": _digest_of(lp.version.VERSION_TEXT, in_c, *moves)}}}
        _merge(sections, more or {})
        super().__init__(self._source, "nest", space=space, arguments=_arguments(self.nest, given), reference={"Module": "nest.c", "Function": "clt_nest"},
                         name=name or "_and_".join(map(_name, self.nest)), folder=folder, compiler_options=compiler_options, more=sections)
        write_text(self.path.parent / "nest.c", in_c)

    def kernels(self, configuration: Values) -> list[Any]:
        """The transformed kernels of a configuration, to use with loo.py. Raises what loo.py raises if it refuses."""
        kernels = list(self.nest)
        for move in self.moves:
            kernels = move.apply(kernels, configuration)
        return kernels

    def _source(self, configuration: dict[str, Any]) -> dict[str, Any]:
        """The source of a configuration and its launches, as the generator of a problem file answers."""
        preambles, programs, launches = [], [], []
        try:
            with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):  # loo.py prints what it refuses
                for kernel in map(_scheduled, self.kernels(configuration)):
                    code = lp.generate_code_v2(kernel)
                    preambles += code.device_preambles
                    programs += [str(program.ast) for program in code.device_programs]
                    launches += _launches(kernel)
        except Exception as error:  # of many kinds, also TypeError, RuntimeError and pytools' own
            raise Invalid(f"{type(error).__name__}: {error}") from error
        return {"source": "".join(lp.codegen.result.process_preambles(preambles)) + "\n" + "\n\n".join(programs) + "\n", "launches": launches * self.repeat}


def _parameters(moves: Sequence[Move]) -> Parameters:
    found: Parameters = {}
    for name, values in (one for move in moves for one in move.parameters.items()):
        if found.setdefault(name, values) is not values and found[name] != values:
            raise ValueError(f"two moves have the parameter '{name}' with different values; give one of them another name")
    return found


def _digest_of(*things: Any) -> str:
    """What tells moves from others with the same parameters, for the store's key."""
    def text(thing: Any) -> str:
        if isinstance(thing, (list, tuple)):
            return repr([text(one) for one in thing])
        if isinstance(thing, (Move, Permutation)):
            return type(thing).__name__ + text(sorted((name, text(value)) for name, value in vars(thing).items()))
        return _digest(thing) if callable(thing) else repr(thing)
    return hashlib.sha256(text(things).encode()).hexdigest()


def _scheduled(kernel: Any) -> Any:
    """As loopy.linearize, which however asks at the terminal when it finds no schedule."""
    kernel = lp.preprocess_program(kernel)
    schedules = lp.schedule.generate_loop_schedules(kernel.default_entrypoint, kernel.callables_table, debug_args={"interactive": False})
    return kernel.with_kernel(next(iter(schedules)))


def _launches(kernel: Any) -> list[dict[str, Any]]:
    """The launches of a scheduled kernel: one, or several if it has global barriers."""
    found, inner = [], kernel.default_entrypoint
    for part, statements in lp.kernel.tools.get_subkernel_to_insn_id_map(inner).items():
        groups, items = inner.get_grid_sizes_for_insn_ids_as_exprs(statements, kernel.callables_table)
        sizes = [(int(n), int(local)) for n, local in itertools.zip_longest(groups, items, fillvalue=1)] or [(1, 1)]
        found.append({"kernel": part, "arguments": list(lp.schedule.tools.get_subkernel_arg_info(inner, part).passed_arg_names),
                      "global": [n * local for n, local in sizes], "local": [local for _, local in sizes]})
    return found


def _name(kernel: Any) -> str:
    return str(kernel.default_entrypoint.name)


def _prepared(nest: Any, sizes: Mapping[str, int], given: Mapping[str, ArgumentLike], target: Any) -> list[Any]:
    """The kernels for these sizes. Arrays without a type have that of the given argument, or of an earlier kernel."""
    arrays = {name: one.data if isinstance(one, Argument) else one for name, one in given.items()}
    types = {name: one.dtype for name, one in arrays.items() if isinstance(one, (np.ndarray, np.generic))}
    prepared = []
    for kernel in nest if isinstance(nest, (list, tuple)) else [nest]:
        inner = kernel.default_entrypoint
        untyped = {name: types[name] for name, one in inner.arg_dict.items() if one.dtype is None and name in types}
        kernel = lp.add_dtypes(kernel.copy(target=target), untyped)
        kernel = lp.fix_parameters(kernel, **{name: int(size) for name, size in sizes.items() if name in inner.all_params()})
        prepared.append(lp.infer_unknown_types(kernel, expect_completion=True))
        types = {one.name: one.dtype.numpy_dtype for one in prepared[-1].default_entrypoint.args} | types
    return prepared


def _check_shapes(nest: Sequence[Any], given: Mapping[str, ArgumentLike]) -> None:
    """An array must have one layout everywhere, but loo.py infers it for each kernel from what its statements read."""
    arrays = {name: one.data if isinstance(one, Argument) else one for name, one in given.items()}
    known = {name: (one.shape, "the given array") for name, one in arrays.items() if isinstance(one, np.ndarray)}
    for kernel in nest:
        for argument in kernel.default_entrypoint.args:
            if not isinstance(argument, lp.ArrayArg):
                continue
            shape = tuple(map(int, argument.shape))
            other, where = known.setdefault(argument.name, (shape, f"the kernel '{_name(kernel)}'"))
            if shape != other:
                raise ValueError(f"'{argument.name}' has the shape {other} in {where}, but {shape} in the kernel '{_name(kernel)}', as far as loo.py knows; "
                                 f"state it in make_kernel, as in [lp.GlobalArg('{argument.name}', shape='n,n'), '...']")


def _arguments(nest: Sequence[Any], given: Mapping[str, ArgumentLike]) -> dict[str, ArgumentLike]:
    """The arguments of all kernels of the nest by name. An array that one of them writes is ReadWrite, since it may write a part only."""
    written = set().union(*map(_written, nest))
    listed: dict[str, ArgumentLike] = {}
    for argument in (one for kernel in nest for one in kernel.default_entrypoint.args):
        one = given.get(argument.name)
        if isinstance(argument, lp.ValueArg):
            if one is None:
                raise ValueError(f"'{argument.name}' has no value; add it to sizes if it is a size, otherwise to arguments as numpy.float32(2) or so")
        elif one is None:
            one = {"Type": _type_of(argument.dtype.numpy_dtype), "MemoryType": "Vector",
                   "AccessType": "ReadWrite" if argument.name in written else "ReadOnly", "Size": [int(n) for n in reversed(argument.shape)], "FillType": "Random", "FillValue": 1.0}
        elif isinstance(one, np.ndarray):
            one = InOut(one) if argument.name in written else In(one)
        listed[argument.name] = one
    if unknown := given.keys() - listed.keys():
        raise ValueError(f"the nest has no argument '{min(unknown)}'; it has {', '.join(listed)}")
    return listed


def _work_group_limits(nest: Sequence[Any], moves: Sequence[Move]) -> list[str]:
    """The constraints that keep the work-items of each kernel within the device's limit, as far as tiles give their number."""
    limits = {}
    for kernel in nest:
        loops = kernel.default_entrypoint.all_inames()
        tiles = [one for one in moves if isinstance(one, Tile) and (one.inner or "").startswith("l.")
                 and re.sub("_(outer|inner).*", "", str(one.iname)) in loops]
        axes = [[one.name for one in tiles if one.inner == axis] for axis in sorted({str(one.inner) for one in tiles})]
        limits.update(dict.fromkeys(" * ".join(names) + " <= device.max_work_group_size" for names in itertools.product(*axes) if names))
    return list(limits)


def _in_c(nest: Sequence[Any], repeat: int) -> str:
    """The nest without any move as a reference in C."""
    codes = [lp.generate_code_v2(kernel) for kernel in nest]
    calls = []
    for kernel, code in zip(nest, codes):
        values = [f'clt_module_value(call, "{one.name}", 0)' if isinstance(one, lp.ValueArg) else f'clt_module_find(call, "{one.name}")->data'
                  for one in kernel.default_entrypoint.args]
        calls.append(f"    {code.device_programs[0].name}({', '.join(values)});")
    lines = ["#include <clatune/module.h>", *lp.codegen.result.process_preambles([one for code in codes for one in code.device_preambles]),
             *(f"static {program.ast}" for code in codes for program in code.device_programs),
             "int clt_nest(const clt_module_call *call) {", f"  for (int step = 0; step < {repeat}; step++) {{", *calls, "  }", "  return 0;", "}"]
    return "\n".join(lines) + "\n"


def tune(nest: Any, moves: Sequence[Move], *, sizes: Mapping[str, int], arguments: Mapping[str, ArgumentLike] | None = None, **more: Any) -> Result:
    """Tunes a nest: the arguments of LoopProblem, and those of clatune.tune. ``result.problem.kernels(result.best)`` are the transformed kernels."""
    own = {name: more.pop(name) for name in ("repeat", "constraints", "default", "name", "folder", "compiler_options", "more") if name in more}
    return tuning.tune(LoopProblem(nest, moves, sizes=sizes, arguments=arguments, **own), **more)
