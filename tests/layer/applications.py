"""The applications of apps/, run in a folder of their own; and their expected results, in Python."""
import array
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile

APPS = {name: os.environ.get(f"APP_{name.upper()}") for name in ("stencil", "reduction", "image_filter", "gemm")}


def floats(path):
    return array.array("f", pathlib.Path(path).read_bytes())


def difference(a, b):
    """The largest difference of two results, relative to the largest number."""
    assert len(a) == len(b) and len(a) > 0, (len(a), len(b))
    return max(abs(x - y) for x, y in zip(a, b)) / max(max(map(abs, b)), 1e-30)


def fill(n, seed):
    out = []
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) % 2**32
        out.append((seed >> 8) / 16777216)
    return out


def stencil(width, height, steps):
    plate, power = fill(width * height, 1), fill(width * height, 2)
    for _ in range(steps):
        old = plate[:]
        for y in range(height):
            for x in range(width):
                west, east = old[y * width + max(x - 1, 0)], old[y * width + min(x + 1, width - 1)]
                north, south = old[max(y - 1, 0) * width + x], old[min(y + 1, height - 1) * width + x]
                here = old[y * width + x]
                new = here + 0.2 * (west + east + north + south - 4 * here) + 0.01 * power[y * width + x]
                plate[y * width + x] = new * (0.98 if x in (0, width - 1) or y in (0, height - 1) else 1)
    return plate


def reduction(n, rounds):
    return [math.fsum(fill(n, 3))] * rounds


def image_filter(width, height, times):
    span = range(-3, 4)
    total = sum(math.exp(-0.3 * (x * x + y * y)) for x in span for y in span)
    pixels = fill(width * height * 4, 4)
    for _ in range(times):
        old = pixels
        pixels = [sum(math.exp(-0.3 * (dx * dx + dy * dy)) / total *
                      old[(min(max(y + dy, 0), height - 1) * width + min(max(x + dx, 0), width - 1)) * 4 + c]
                      for dx in span for dy in span)
                  for y in range(height) for x in range(width) for c in range(4)]
    return pixels


def gemm(m, n, k, _times):
    a, b = fill(m * k, 5), fill(k * n, 6)
    return [sum(a[i * k + l] * b[l * n + j] for l in range(k)) for i in range(m) for j in range(n)]


def devices():
    """The driver's, as clatune sees them."""
    run = subprocess.run([os.environ["CLATUNE"], "devices", "--json"], capture_output=True, text=True)
    return json.loads(run.stdout or "{}").get("devices")


class Folder:
    """A temporary folder, which a unittest removes."""

    def __init__(self, test):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="clatune-layer-"))
        test.addCleanup(shutil.rmtree, self.path, ignore_errors=True)

    def run(self, *command, expect=0, **environment):
        run = subprocess.run(command, cwd=self.path, env={**os.environ, "XDG_RUNTIME_DIR": self.path, **environment}, text=True, capture_output=True,
                             timeout=280)
        if run.returncode == 77:
            raise Skipped(run.stderr)
        assert run.returncode == expect, f"{command}: {run.returncode}\n{run.stdout}\n{run.stderr}"
        return run


class Skipped(Exception):
    """The application found no device that it can use."""
