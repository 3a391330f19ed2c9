"""scripts/portable: its output runs in a root folder that has a shell and glibc and nothing else, and first_gpu.py runs with it."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE = pathlib.Path(os.environ["CLATUNE_BUILD"]), pathlib.Path(__file__).resolve().parents[2]
SYSTEM = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux")
MAX_BYTES = 64 << 20
ENTER = [shutil.which("unshare") or "unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount"]
SIMULATED = json.dumps({"devices": [{"name": "Simulated", "type": "gpu"}]})


def libraries(program):
    said = subprocess.run(["ldd", program], text=True, capture_output=True, check=True).stdout
    return [word for word in said.split() if word.startswith("/")]


class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = pathlib.Path(tempfile.mkdtemp(prefix="clatune-portable-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        cls.tree = cls.root / "clatune"
        subprocess.run([SOURCE / "scripts/portable", cls.root / "clatune.tar.gz", BUILD], check=True)
        subprocess.run(["tar", "-C", cls.root, "-xzf", cls.root / "clatune.tar.gz"], check=True)
        for path in {p for program in ("/bin/sh", BUILD / "src/cli/clatune") for p in libraries(program)} | {"/bin/sh"}:
            if path == "/bin/sh" or os.path.basename(path).startswith(SYSTEM):
                there = cls.root / path.lstrip("/")
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, there)
        for name in ("tmp", "icd", "dev", "proc"):
            (cls.root / name).mkdir()
        (cls.root / "dev/null").touch()
        [driver] = cls.tree.rglob("libclatune-simulated.so")
        (cls.root / "icd/simulated.icd").write_text(f"/{driver.relative_to(cls.root)}\n")
        shutil.copy(SOURCE / "data/recorded/convolution-pocl-2048.json.gz", cls.root / "pool.json.gz")

    def bare(self, *command, statuses=(0,)):
        """Runs a command in the bare root."""
        run = subprocess.run([str(x) for x in (*ENTER, "--root", self.root, *command)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             env={"OCL_ICD_VENDORS": "/icd", "CLATUNE_SIMULATED": SIMULATED, "PATH": "/nothing"})
        self.assertIn(run.returncode, statuses, run.stdout)
        return run.stdout

    def test_the_program_runs(self):
        self.assertRegex(self.bare("/clatune/bin/clatune", "--version"), r"^clatune \d")
        self.assertIn("Simulated", self.bare("/clatune/bin/clatune", "devices"))

    def test_modules_are_compiled_already(self):
        for problem in ("/clatune/kernels_cl/stereo.json", "/clatune/kernels_cl/convolution.json"):
            said = self.bare("/clatune/bin/clatune", "verify", problem, "--size", "width=64", "--size", "height=64", statuses=(5,))
            self.assertIn("(wrong-output)", said)  # against the reference, which is a module's

    def test_models_are_trained(self):
        said = self.bare("/clatune/benchmarks/pool_model", "error", "/clatune/kernels_cl/convolution.json", "/pool.json.gz", "-n", "50")
        self.assertRegex(said, r"^50,1,1000,0\.\d+")

    def test_first_gpu_runs_with_it(self):
        (self.root / "icd-outside").mkdir()
        (self.root / "icd-outside/simulated.icd").write_text(f"{next(self.tree.rglob('libclatune-simulated.so'))}\n")
        environment = {"OCL_ICD_VENDORS": str(self.root / "icd-outside"), "CLATUNE_SIMULATED": SIMULATED, "PATH": "/usr/bin:/bin",
                       "TMPDIR": str(self.root / "tmp"), "HOME": str(self.root / "tmp")}
        subprocess.run([sys.executable, self.tree / "benchmarks/first_gpu.py", self.root / "results", "--part", "A", "--steps", "facts", "--small"],
                       check=True, env=environment)
        self.assertIn('"name": "devices"', (self.root / "results/steps/facts.out").read_text())

    def test_its_size(self):
        self.assertLess(sum(p.stat().st_size for p in self.tree.rglob("*") if p.is_file()), MAX_BYTES)


if shutil.which("unshare") is None or subprocess.run([*ENTER, "true"], capture_output=True).returncode:
    sys.exit(77)
if __name__ == "__main__":
    unittest.main()
