"""Makes the PoCL that the tests run on: the installed one with fewer built-in functions. Each process that builds a kernel reads all 23,000
of them, and each build 14,500 declarations, nine tenths of its time; here only those that a source calls, for the vector types of its folder.
Arguments: the source tree, the .icd file to write, its depfile. Where this cannot be done, the .icd file is the installed one."""
import collections
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys

KERNELS = ("tests", "examples", "kernels_cl", "src", "docs", "benchmarks")  # folders
SUFFIXES = {".c", ".cl", ".h", ".hpp", ".cpp", ".json", ".md", ".py"}
DATA = "../../share/pocl"  # from the library's folder
INSTALLED = pathlib.Path("/etc/OpenCL/vendors/pocl.icd")
# The library for each kind of processor, and its feature in /proc/cpuinfo, as PoCL chooses. A wrong choice costs time only.
PROCESSORS = {"avx512": "avx512f", "avx_fma4": "fma4", "avx2": "avx2", "avx_f16c": "f16c", "avx": "avx", "sse41": "sse4_1", "ssse3": "ssse3",
              "sse2": "sse2"}
STEM = re.compile(r"(\w+_(?=[a-z]+\d*$)|[a-z]+(?=\d+$))")  # of convert_float4 and vload4: sources paste the rest to it
FUNCTION = r'@("[^"]+"|[\w.$]+)'
DECLARATION = re.compile(r"(?m)^[\w ]+[ *]__ovld[^;()]*?(\w+)\([^;]*\);\n")  # in opencl-c.h
CALLED = re.compile(r"([A-Za-z_]\w+)\s*(?:\(|##)|##\s*([A-Za-z_]\w+)")
VECTOR = re.compile(r"\b(?:u?(?:char|short|int|long)|float|double|half)(?:2|3|4|8|16)\b")
SCALARS = dict(zip(["c", "h", "s", "t", "i", "j", "l", "m", "f", "d", "Dh"],  # in C++'s names
                   ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"]))


def loaded():
    """Where PoCL is, and the version of its LLVM."""
    ctypes.CDLL(INSTALLED.read_text().strip())
    maps = pathlib.Path("/proc/self/maps").read_text()
    return pathlib.Path(re.search(r"(/\S+/libpocl\.so\S*)", maps)[1]), re.search(r"/libLLVM-(\d+)\.so", maps)[1]


def find_uses(files, declared):
    """The functions that sources call, with the vector types of these sources' folders. A source that pastes names together may call whatever
    it names, for vectors of all its types and those of their comparisons."""
    names, vectors = collections.defaultdict(set), collections.defaultdict(set)
    for path in files:
        text = path.read_text(errors="replace")
        called = {name for found in CALLED.findall(text) for name in found}
        vectors[path.parent] |= set(VECTOR.findall(text))
        if path.suffix == ".cl" and "##" in text:
            called = set(re.findall(r"\w+", text))
            kinds = called.intersection(SCALARS.values())
            vectors[path.parent] |= {kind + width for kind in kinds | {kind.removeprefix("u") for kind in kinds} for width in ("2", "3", "4", "8", "16")}
        names[path.parent] |= declared.intersection(called)
    uses = collections.defaultdict(set)
    for folder, called in names.items():
        for name in called:
            uses[name] |= vectors[folder]
    return uses


def may_be_called(name, vectors, uses):
    stem = STEM.match(name)
    return any(vectors <= uses[n] for n in (name, stem and stem[1]) if n in uses)


def is_named(function, uses):
    """Whether a source may call it: by its name, which C++'s rules extend by the types; or PoCL itself does."""
    length = re.match(r"_Z(\d+)", function)
    if length is None:
        return re.match("Sleef_|__pocl_(?!print)", function) is None  # those are called by others
    name = function[length.end():][:int(length[1])].removeprefix("_cl_")
    vectors = {SCALARS.get(kind, "") + width for width, kind in re.findall(r"Dv(\d+)_(Dh|\w)", function)}
    return name.startswith("__to_") or may_be_called(name, vectors, uses)


def extract(text, uses):
    """The part of a module that the named functions need."""
    head, *parts = re.split(r"(?m)^(?=define )", text)
    bodies, tail = {}, []
    for part in parts:
        body, end, rest = part.partition("\n}\n")
        bodies[re.match("define .*?" + FUNCTION + r"\(", body)[1]] = body + end
        tail.append(rest)
    kept, wanted = set(), [name for name, body in bodies.items() if not body.startswith("define internal") and is_named(name, uses)]
    while wanted:
        name = wanted.pop()
        if name in bodies and name not in kept:
            kept.add(name)
            wanted += re.findall(FUNCTION, bodies[name])
    return head + "".join(body for name, body in bodies.items() if name in kept) + "".join(tail)


def make(folder, library, version, uses):
    """A tree with PoCL, which finds its files relative to its library; returns the library."""
    data, installed = folder / "share/pocl", library.parent / DATA
    shutil.rmtree(folder, ignore_errors=True)
    (data / "include").mkdir(parents=True)
    (folder / "lib/pocl").mkdir(parents=True)
    for here, there in [(folder / "lib/pocl" / library.name, library), (folder / "lib/pocl/pocl", library.parent / "pocl"),
                        *((data / path.relative_to(installed), path) for path in [*installed.glob("*.bc"), *installed.glob("include/*")])]:
        here.symlink_to(there)
    declarations = data / "include/opencl-c.h"
    text = DECLARATION.sub(lambda found: found[0] if may_be_called(found[1], set(VECTOR.findall(found[0])), uses) else "", declarations.read_text())
    declarations.unlink()
    declarations.write_text(text)
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    whole, = data.glob(f"kernel-*-{next(kind for kind, flag in PROCESSORS.items() if flag in flags)}.bc")
    clang = [f"clang-{version}", "-x", "ir", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-o", "-"]
    text = subprocess.run([*clang, "-S", whole], check=True, capture_output=True, text=True).stdout
    part = subprocess.run([*clang, "-c", "-"], check=True, capture_output=True, input=extract(text, uses).encode()).stdout
    whole.unlink()
    whole.write_bytes(part)
    return folder / "lib/pocl" / library.name


def main(root, icd, depfile):
    files = [path for folder in KERNELS for path in sorted((root / folder).rglob("*")) if path.suffix in SUFFIXES and path.is_file()]
    depfile.write_text(f"{icd}: " + " ".join(str(path).replace(" ", "\\ ") for path in files) + "\n")
    names = icd.with_suffix(".names")
    try:
        library, version = loaded()
        declared = re.findall(r"\w+", (library.parent / DATA / "include/opencl-c.h").read_text())
        declared += [stem[1] for stem in map(STEM.match, declared) if stem]
        uses = find_uses(files, set(declared))
        used = json.dumps([str(library), {name: sorted(vectors) for name, vectors in sorted(uses.items())}])
        if icd.exists() and names.exists() and names.read_text() == used:
            return  # the file keeps its time: whatever depends on it is up to date
        icd.write_text(f"{make(icd.with_suffix('').absolute(), library, version, uses)}\n")
        names.write_text(used)
    except (OSError, TypeError, StopIteration, ValueError, subprocess.CalledProcessError) as error:
        print(f"tests/small_pocl.py: the tests run on PoCL as it is installed, which is slower: {error}", file=sys.stderr)
        icd.write_text(INSTALLED.read_text() if INSTALLED.exists() else "libpocl.so.2\n")


main(*map(pathlib.Path, sys.argv[1:]))
