"""The inputs of a shipped family: how many there are, each once, and that they can be made. test_families.py FAMILY [N]: N sampled
configurations of each variant on small inputs of all kinds, too, by the tool. 77: no device."""
import ctypes
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent.parent
FAMILY, N = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
FOLDER = ROOT / "kernels_cl" / "families" / FAMILY

# How many inputs there are to train on and to test on, and small inputs with the variants that are not for them.
FAMILIES = {
    "transpose": (194, 1000, [({"rows": 60, "columns": 84}, ["tall"]), ({"rows": 101, "columns": 37}, ["wide"]), ({"rows": 48, "columns": 300}, ["tall"]),
                              ({"rows": 1, "columns": 70}, ["tall"]), ({"rows": 2048, "columns": 64}, ["wide"])]),
    "bfs": (20, 138, [({"kind": kind, "size": 300, "degree": degree, "seed": 7}, []) for kind, degree in enumerate((6, 4, 5, 7, 8))]),
    "solvers": (26, 100, [({"kind": kind, "size": 203, "spread": 2, "dominance": 100, "contrast": 1, "seed": 7},
                           ["cg-jacobi", "cg-blocks", "cg-inverse"] if kind > 3 else []) for kind in range(6)]),
}


class Scalar(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_double)]


class Array(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("extent", ctypes.c_size_t * 3), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t)]


class Call(ctypes.Structure):  # clt_module_call
    _fields_ = [("arrays", ctypes.c_void_p), ("n_arrays", ctypes.c_size_t), ("scalars", ctypes.POINTER(Scalar)), ("n_scalars", ctypes.c_size_t),
                ("target", ctypes.POINTER(Array)), ("seed", ctypes.c_uint64), ("references", ctypes.c_void_p),
                ("n_references", ctypes.c_size_t), ("configuration", ctypes.c_char_p), ("message", ctypes.c_char_p)]


def derive(library, derived, given):
    """The numbers that follow from an input."""
    numbers = (ctypes.c_double * len(derived["Names"]))()
    scalars = (Scalar * len(given))(*(Scalar(name.encode(), value) for name, value in given.items()))
    target = Array(b"derived", b"double", (len(numbers), 1, 1), ctypes.cast(numbers, ctypes.c_void_p), ctypes.sizeof(numbers))
    call = Call(None, 0, scalars, len(given), ctypes.pointer(target), 1)
    assert library[derived["Function"]](ctypes.byref(call)) == 0, given
    return {name: int(number) for name, number in zip(derived["Names"], numbers)}


def expand(entries):
    """The inputs of a family file's list."""
    inputs = []
    for entry in entries:
        here = [{}]
        for name, values in entry.items():
            values = list(eval(values, {"range": range})) if isinstance(values, str) else values if isinstance(values, list) else [values]
            here = [{**one, name: value} for one in here for value in values]
        inputs += here
    return inputs


def verify(variant, sizes, n, seed):
    """Whether n sampled configurations are correct, and the default one, in a small work-group if a work-group was too large."""
    declared = [parameter["Name"] for parameter in json.loads((FOLDER / variant["Problem"]).read_text())["ProblemParameters"]]
    command = [os.environ["CLATUNE"], "verify", str(FOLDER / variant["Problem"]), "--json",
               *(word for name in declared for word in ("--size", f"{name}={sizes[name]}"))]
    done = subprocess.run([*command, "--sample", str(n), "--seed", str(seed)], capture_output=True, text=True)
    if done.returncode == 3:
        print(done.stderr)
        sys.exit(77)
    # Only known once it is built: how large a work-group the driver can run a kernel in.
    if done.returncode == 5 and all(one["correct"] or one["reason"] == "kernel-limit" for one in json.loads(done.stdout)["configurations"]):
        done = subprocess.run([*command, "--configuration", "wg=16"], capture_output=True, text=True)
    if done.returncode:
        print(f"{variant['Name']} of {sizes}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.returncode == 0


family = json.loads((FOLDER / f"{FAMILY}.family.json").read_text())
n_train, n_test, small = FAMILIES[FAMILY]
train, test = (expand(family["Inputs"][part]) for part in ("Train", "Test"))
assert (len(train), len(test)) == (n_train, n_test), (len(train), len(test))
assert len({json.dumps(i, sort_keys=True) for i in train + test}) == n_train + n_test
assert all(list(i) == family["Inputs"]["Parameters"] for i in train + test)
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-shared", "-fPIC", "-I", str(ROOT / "include"), "-o", f"{folder}/module.so",
                    str(FOLDER / family["Module"]), "-lm"], check=True)
    library = ctypes.CDLL(f"{folder}/module.so")
    wrong = 0
    for v, variant in enumerate(family["Variants"]):
        for_it = [given for given, left_out in small if variant["Name"] not in left_out]
        for i, given in enumerate(for_it if N else []):
            if FAMILY == "transpose":  # whose inputs are numbers of a draw
                sizes = {**given, "divisor": math.gcd(given["rows"], given["columns"])}
            else:
                sizes = {**given, **derive(library, family["Inputs"]["Derived"], given)}
            wrong += not verify(variant, sizes, N, 10 * v + i + 1)
    for given in (train[0], train[-1]):  # those that are meant to be measured exist
        derive(library, family["Inputs"]["Derived"], given)
assert wrong == 0, wrong
