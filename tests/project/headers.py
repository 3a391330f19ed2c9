"""Every public header compiles alone, as C11 -pedantic and as C++, without a warning: in a user's file, whatever the user has
switched on."""
import pathlib
import shutil
import subprocess
import sys

BOTH = ["-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wundef", "-Wcast-qual", "-Wcast-align",
        "-Wformat=2", "-Wdouble-promotion", "-Werror"]
C = ["-Wstrict-prototypes", "-Wmissing-prototypes", "-Wold-style-definition", "-Wc++-compat"]
CXX = ["-Wold-style-cast", "-Wzero-as-null-pointer-constant", "-Wnon-virtual-dtor"]


def compile_alone(command, header, root):
    # OpenCL's own headers say by a #pragma message which version they take if no define says it.
    text = f'#define CL_TARGET_OPENCL_VERSION 300\n#include <{header}>\n'
    run = subprocess.run([*command, *BOTH, f"-I{root}/include", "-fsyntax-only", "-"], input=text, text=True, capture_output=True)
    if run.returncode or run.stderr:
        print(f"{header} with {' '.join(command)}:\n{run.stderr}")
    return run.returncode or run.stderr != ""


def main(root, cc):
    commands = [[*cc, "-std=c11", *C, "-x", "c"]]
    if shutil.which("c++"):
        commands += [["c++", f"-std={standard}", *CXX, "-x", "c++"] for standard in ("c++11", "c++20")]
    headers = sorted(str(p.relative_to(root / "include")) for p in (root / "include").rglob("*.h"))
    failed = sum(compile_alone(c, h, root) for h in headers for c in commands)
    print(f"{len(headers)} headers, {len(commands)} languages, {failed} failed")
    return 1 if failed or len(headers) < 10 else 0


sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
