"""Kernels in two variants, to test what clatune checks of a winner. A case is one problem with the tuning parameter `fast`:
0 is correct and slow, 1 is faster, and correct in a RIGHT case and incorrect in a WRONG one."""
import json
import math
import pathlib

# Work whose result is never used, which the compiler cannot see: some 10 times the time of the rest.
SLOW = ("float z_ = (float)get_global_id(0); for (int q_ = 0; q_ < {work}; q_++) z_ = z_ * 1.0000001f + 1e-9f; "
        "if (z_ == -1.0f) {sink} = 0;\n")

cases = {}


def case(name, *, wrong, kind, sizes, arguments, body, reference=None, reference_kernel=None, global_size, local_size=None,
         work=400, sink=None, files=None, options=None, launches=None, prelude="", more=None):
    """Registers a case.

    wrong      True: fast=1 gives incorrect results for some input, size or launch that the problem's description allows
    kind       the class of mistake, one of the table's; for correct kernels "right"
    sizes      {"n": 65536}: the problem's sizes, which are macros in the kernel; {} for none. A value may be a dict with
               "Default", "Min", "Max"
    arguments  list of entries of "Arguments", as in a problem file
    body       the kernel's source, with one or several kernels; the first (or launches) is named k. It uses `fast`, and
               begins the slow branch with SLOW (the macro below), which wastes time
    work       iterations that SLOW wastes
    sink       an assignable element of an output that SLOW mentions: "out[0]"
    reference  C function's body (text after `int ref(const clt_module_call *call) {`), with arrays and sizes declared as
               A(float, in), N(in, 0) (an extent) and S(n) (a size or a scalar argument)
    reference_kernel  {"KernelFile": ..., ...}, the "Reference" of the problem instead; its file is in files
    files      {name: bytes or text} that are written next to the problem
    launches   "Launches" instead of one kernel named k
    more       further members of the problem file, merged into it at the top; "KernelSpecification" is merged too
    """
    assert name not in cases, name
    cases[name] = dict(locals())


MODULE = """#include <clatune/module.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define A(type, name) type *name = clt_module_find(call, #name)->data; (void)name
#define N(name, d) ((long)clt_module_find(call, #name)->extent[d])
#define S(name) clt_module_value(call, #name, 0)
"""


def with_groups_of(sizes, most):
    """Local sizes of at most so many work-items in all, by halving the first dimensions."""
    sizes = list(sizes)
    for d in range(len(sizes)):
        while isinstance(sizes[d], int) and sizes[d] > 1 and product(sizes) > most:
            sizes[d] //= 2
    return sizes


def product(sizes):
    return math.prod(s for s in sizes if isinstance(s, int))


def write(name, folder, most_items=None, small=False):
    """Writes the files of a case; returns the path of its problem file. most_items: work-groups of at most so many
    work-items, if the kernel's text does not mention its own number. small: no size grows beyond its default."""
    c = cases[name]
    local = c["local_size"] or []
    if most_items and product(local) > most_items and not any(str(s) in c["body"] for s in local if isinstance(s, int) and s > 1):
        c = {**c, "local_size": with_groups_of(local, most_items)}
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    parameters = [{"Name": n, **(v if isinstance(v, dict) else {"Default": v})} for n, v in c["sizes"].items()]
    for size in parameters if small else ():
        size["Max"] = size["Default"]
    kernel = {"Language": "OpenCL", "KernelName": "k", "KernelFile": "k.cl", "Arguments": c["arguments"]}
    if c["launches"]:
        kernel["Launches"] = c["launches"]
    else:
        kernel["GlobalSize"] = c["global_size"]
        if c["local_size"]:
            kernel["LocalSize"] = c["local_size"]
    if c["options"]:
        kernel["CompilerOptions"] = c["options"]
    problem = {"General": {"BenchmarkName": name}, "ProblemParameters": parameters,
               "ConfigurationSpace": {"TuningParameters": [{"Name": "fast", "Type": "int", "Values": "[0, 1]", "Default": 0}]},
               "KernelSpecification": kernel}
    if c["reference"]:
        problem["Reference"] = {"Module": "ref.c", "Function": "ref"}
        (folder / "ref.c").write_text(MODULE + "int ref(const clt_module_call *call) {\n" + c["reference"] + "\nreturn 0; }\n")
    elif c["reference_kernel"]:
        problem["Reference"] = c["reference_kernel"]
    for key, value in (c["more"] or {}).items():
        if isinstance(value, dict) and key in problem:
            problem[key].update(value)
        else:
            problem[key] = value
    slow = SLOW.format(work=c["work"], sink=c["sink"] or "out[0]")
    (folder / "k.cl").write_text(c["prelude"] + "#define SLOW " + slow.replace("\n", " ") + "\n" + c["body"])
    for file, content in (c["files"] or {}).items():
        path = folder / file
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)
    path = folder / "p.json"
    path.write_text(json.dumps(problem, indent=1))
    return path
