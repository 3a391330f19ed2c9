"""The shipped kernels compile for GPUs: test_gpu_compilers.py FOLDER GPU-CONFIGURATIONS [N [PART]]. No GPU is asked and nothing runs.
N (1) sampled configurations of each OpenCL problem in FOLDER's kernels_cl and examples (with PART: of those with it in their path),
in addition to its default one and its reference's kernel, with the options that clatune would build them with on such a GPU, go through clang
and libclc: for NVIDIA's to PTX, for AMD's to assembly. If N is not stated, all but the default one is for one of the GPUs, in turn. At least 99 of 100 must compile, for each problem and GPU, and symbols left to
be linked can only be images, which libclc does not have for these GPUs. If there is ptxas, PTX without images goes through it too.
77: no clang or no libclc."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT, CONFIGURATIONS = pathlib.Path(sys.argv[1]), sys.argv[2]
N = int(sys.argv[3]) if len(sys.argv) > 3 else 1
PART = sys.argv[4] if len(sys.argv) > 4 else ""
LIBCLC = [pathlib.Path(p) for p in ("/usr/lib/clc", "/usr/share/clc")]
HANGS_S = 600  # a compiler that takes longer

Gpu = collections.namedtuple("Gpu", "name maker triple features bitcode")
GPUS = (Gpu("sm_75", "nvidia", "nvptx64--nvidiacl", "+ptx63", "nvptx64--nvidiacl.bc"),
        Gpu("sm_90", "nvidia", "nvptx64--nvidiacl", "+ptx78", "nvptx64--nvidiacl.bc"),
        Gpu("gfx90a", "amd", "amdgcn--amdhsa", "+wavefrontsize64", "amdgcn--amdhsa.bc"))
# By the functions with which a kernel reads images, as clang writes the names (_Z11read_imagef...), and how a sampler in the source is made.
IMAGES = re.compile(r"_Z\d+(read_image|get_image_)|__translate_sampler_initializer$")
PROBE = "float missing(float);\n__kernel void probe(__global float *p) { p[get_global_id(0)] = %s(p[0]); }\n"


def library(gpu):
    return next((folder / gpu.bitcode for folder in LIBCLC if (folder / gpu.bitcode).exists()), None)


def command(clang, gpu, source, options):
    """How a compiler is called. The options that only NVIDIA's has are for ptxas."""
    return [clang, f"--target={gpu.triple}", "-x", "cl", "-nogpulib", "-w", "-D__IMAGE_SUPPORT__=1", "-O3",
            *(word for flag in ("-target-cpu", gpu.name, "-target-feature", gpu.features, "-mlink-builtin-bitcode",
                                str(library(gpu))) for word in ("-Xclang", flag)),
            *(o for o in options if not o.startswith("-cl-nv-")), "-S", "-o", "-", str(source)]


def call(words, **how):
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=HANGS_S, **how)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"error: not done after {HANGS_S} s")


def largest(pattern, text):
    return max((int(n) for n in re.findall(pattern, text)), default=0)


def compile_one(clang, gpu, source, options):
    """The error, in words, or None; whether images are left to be linked; registers and bytes of spills of a work-item."""
    made = call(command(clang, gpu, source, options))
    if made.returncode:
        said = [line for line in made.stderr.splitlines() if "error:" in line] or made.stderr.splitlines()[:3]
        return " ".join(said[:2]) or f"status {made.returncode}", False, 0, 0
    amd = gpu.maker == "amd"
    left = set(re.findall(r"([\w.$]+)@(?:gotpc)?rel32" if amd else r"\.extern \.func .*?(\w+)\s*(?:\(|$)", made.stdout, re.M))
    if amd:  # its own functions are called in the same way
        left -= set(re.findall(r"^([\w.$]+):", made.stdout, re.M))
    unknown = sorted(name for name in left if not IMAGES.match(name))
    if unknown:
        return f"is left to be linked: {', '.join(unknown)}", bool(left), 0, 0
    if amd:
        return None, bool(left), largest(r"\.vgpr_count:\s+(\d+)", made.stdout), 4 * largest(r"\.vgpr_spill_count:\s+(\d+)", made.stdout)
    if left or not shutil.which("ptxas"):
        return None, bool(left), 0, 0
    limit = [f"--maxrregcount={o.partition('=')[2]}" for o in options if o.startswith("-cl-nv-maxrregcount=")]
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as ptx:
        ptx.write(made.stdout)
        ptx.flush()
        made = call(["ptxas", f"-arch={gpu.name}", "-v", "-c", *limit, "-o", os.devnull, ptx.name])
    if made.returncode:
        return " ".join(made.stderr.splitlines()[:2]), False, 0, 0
    return None, False, largest(r"Used (\d+) registers", made.stderr), largest(r"(\d+) bytes spill stores", made.stderr)


def compile_probe(clang, gpu, function):
    with tempfile.NamedTemporaryFile("w", suffix=".cl") as source:
        source.write(PROBE % function)
        source.flush()
        return compile_one(clang, gpu, source.name, [])[0]


def find_problems():
    """Files that tell how an OpenCL kernel is tuned. If N is not stated: of the problems of a kernel file in kernels_cl, the first."""
    seen = set()
    for path in sorted((ROOT / "kernels_cl").rglob("*.json")) + sorted((ROOT / "examples").rglob("*.json")):
        about = json.loads(path.read_text())
        kernel = about.get("KernelSpecification", {"Language": "none"}) if isinstance(about, dict) else {"Language": "none"}
        if kernel.get("Language", "OpenCL") != "OpenCL" or "Generator" in kernel:
            continue
        file = path.parent / kernel["KernelFile"]
        if len(sys.argv) > 3 or path.is_relative_to(ROOT / "examples") or file not in seen:
            yield path
        seen.add(file)


def find_compiler():
    """The clang that knows most of the GPUs and can read the libclc that is installed, and those GPUs."""
    if not any(library(gpu) for gpu in GPUS):
        return None, [], "libclc is not installed (scripts/install-packages --with-gpu-compilers)"
    found = []
    for clang in filter(shutil.which, ("clang-16", "clang-17", "clang-18", "clang-19", "clang-20", "clang", "clang-15")):
        known = [gpu for gpu in GPUS if library(gpu) and compile_probe(clang, gpu, "exp") is None]
        found.append((len(known), -len(found), clang, known))
        if len(known) == len(GPUS):
            break
    if not found or max(found)[0] == 0:
        return None, [], "no clang that compiles for GPUs with the libclc that is installed (scripts/install-packages --with-gpu-compilers)"
    return *max(found)[2:], ""


clang, gpus, why_not = find_compiler()
if clang is None:
    print(f"skipped: {why_not}")
    sys.exit(77)
for gpu in GPUS:
    if gpu not in gpus:
        print(f"left out: {gpu.name}, which {clang} or its libclc does not know")
if len(sys.argv) <= 3:  # the suite long has both of NVIDIA's
    gpus = [gpu for gpu in gpus if gpu.name != "sm_75" or gpus[-1] == gpu]
for gpu in gpus:  # errors are seen
    assert "missing" in compile_probe(clang, gpu, "missing") and "unheard_of" in compile_probe(clang, gpu, "unheard_of")
if not shutil.which("ptxas"):
    print("no ptxas (CUDA): PTX is not assembled, and there are no registers of NVIDIA's")
problems = [path for path in find_problems() if PART in str(path.relative_to(ROOT))]
assert len(problems) >= (1 if PART else 17), problems
wrong = []
print(f"{'problem':<32} {'GPU':<7} {'compiled':>9} {'images':>7} {'registers: median':>18} {'largest':>8} {'spilling':>9}")
with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool, tempfile.TemporaryDirectory() as folder:
    for turn, problem in enumerate(problems):
        name = str(problem.relative_to(ROOT).with_suffix(""))
        asked = {}
        for maker in {gpu.maker for gpu in gpus}:
            answer = subprocess.run([CONFIGURATIONS, str(problem), str(N), maker], capture_output=True, text=True, check=False)
            assert answer.returncode == 0, answer.stderr
            asked[maker] = json.loads(answer.stdout)
        for gpu in gpus:
            jobs, whole = [], len(sys.argv) > 3 or gpu == gpus[turn % len(gpus)]
            for i, one in enumerate(asked[gpu.maker] if whole else asked[gpu.maker][:1]):
                source = pathlib.Path(folder) / f"{i}.cl"
                source.write_text(one["source"])
                jobs.append((one, pool.submit(compile_one, clang, gpu, source, shlex.split(one["options"]))))
            failed, images, used, spilling = [], 0, [], 0
            for one, job in jobs:
                why, has_images, registers, spilled = job.result()
                if why:
                    failed.append(f"  {one['configuration']}: {why}")
                images += has_images
                if not why and not has_images and registers:
                    used.append(registers)
                    spilling += spilled > 0
            figures = (f"{statistics.median(used):>18g} {max(used):>8} {spilling:>9}") if used else ""
            print(f"{name:<32} {gpu.name:<7} {len(jobs) - len(failed):>4}/{len(jobs):<4} {images:>7} {figures}", flush=True)
            for line in failed:
                print(line)
            if len(failed) * 100 > len(jobs):
                wrong.append(f"{name} for {gpu.name}: {len(failed)} of {len(jobs)} do not compile")
assert not wrong, wrong
