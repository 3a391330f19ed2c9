"""Every public header compiles alone, as C11 -pedantic and as C++, without a warning."""
import pathlib
import shutil
import subprocess
import sys


def compile_alone(command, header, root):
    text = f'#include <{header}>\n'
    run = subprocess.run([*command, "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{root}/include", "-fsyntax-only", "-"],
                         input=text, text=True, capture_output=True)
    if run.returncode:
        print(f"{header} with {' '.join(command)}:\n{run.stderr}")
    return run.returncode


def main(root, cc):
    commands = [[*cc, "-std=c11", "-x", "c"]]
    if shutil.which("c++"):
        commands.append(["c++", "-std=c++14", "-x", "c++"])
    headers = sorted(str(p.relative_to(root / "include")) for p in (root / "include").rglob("*.h"))
    failed = sum(compile_alone(c, h, root) != 0 for h in headers for c in commands)
    print(f"{len(headers)} headers, {len(commands)} languages, {failed} failed")
    return 1 if failed or len(headers) < 10 else 0


sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
