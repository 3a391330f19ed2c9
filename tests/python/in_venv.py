"""Runs tests in a virtual environment that has the package as its users have it, with the programs of a build folder.

    in_venv.py BUILD MODULE ARGUMENT...     python -m MODULE ARGUMENT... in it; {package} is the folder of the installed package

It is made once for each state of the programs and the package (scripts/python-venv). The tests' dependencies come with Debian's packages.
"""
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"
NEEDED = ("numpy", "pandas", "pytest", "mypy")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def missing():
    code = f"import importlib.util; print(*[m for m in {NEEDED} if not importlib.util.find_spec(m)])"
    try:
        return subprocess.run([PYTHON, "-c", code], text=True, capture_output=True, check=True).stdout.split()
    except OSError:
        return [PYTHON]


def state(build):
    """Another text once the programs or the package are others."""
    files = [build / "src/cli/clatune", build / "src/worker/child/clatune-worker", *build.glob("src/layer/*.so"), *(f for f in build.glob("src/*/clatune-*") if f.is_file()),
             *sorted((ROOT / "python").rglob("*.py")), *sorted((ROOT / "python").rglob("*.c")), ROOT / "scripts/python-venv"]
    seen = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    return hashlib.sha256(repr(seen).encode()).hexdigest()


def environment(build):
    """The venv's folder, brought up to date."""
    folder = build / "tests/python/venv"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / "venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp, now = folder / "state", state(build)
        if not stamp.exists() or stamp.read_text() != now:
            subprocess.run([ROOT / "scripts/python-venv", folder, build], check=True)
            stamp.write_text(now)
    return folder


def main(build, module, *arguments):
    lacking = missing()
    if lacking:
        skip(f"{PYTHON} has no {', '.join(lacking)} (scripts/install-packages --with-python)")
    folder = environment(pathlib.Path(build))
    for name in ("CLATUNE", "CLATUNE_WORKER", "PYTHONPATH"):
        os.environ.pop(name, None)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    package, = folder.glob("lib/python3.*/site-packages/clatune")
    python = str(folder / "bin/python")
    os.execv(python, [python, "-m", module, *(one.replace("{package}", str(package)) for one in arguments)])


main(*sys.argv[1:])
