"""The tree that 'meson install' makes is complete, in the correct folders, and works after a move."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from tree import BUILD, SOURCE, TreeTest, main

HOST = SOURCE / "tests/install/host.c"
PROBLEMS = ("convolution", "raycasting", "stereo")
PROGRAMS = [path.name.removeprefix("clatune-") for path in BUILD.glob("src/*/clatune-*") if path.is_file() and os.access(path, os.X_OK)]


class Install(TreeTest):
    def there(self, *names):
        for name in names:
            self.assertTrue((self.prefix / name).is_file(), name)

    def clatune(self, *arguments, expect=0):
        run = subprocess.run([self.prefix / "bin/clatune", *arguments], cwd=self.folder, env=self.environment, text=True,
                             capture_output=True)
        self.assertEqual(run.returncode, expect, run.stdout + run.stderr)
        return run.stdout + (run.stderr if expect else "")

    def test_everything_is_in_its_folder(self):
        self.there("bin/clatune", "libexec/clatune-worker", *(f"libexec/clatune/clatune-{name}" for name in PROGRAMS), "share/bash-completion/completions/clatune.bash",
                   "share/zsh/site-functions/_clatune", "share/fish/vendor_completions.d/clatune.fish")
        self.there(*(f"share/clatune/problems/{name}.{end}" for name in PROBLEMS for end in ("json", "cl", "c")),
                   "share/clatune/probe/probe.json", "share/clatune/probe/probe.cl")
        self.there("share/clatune/results/nvidia-h100.sqlite")
        found = json.loads(self.clatune("lookup", "stereo.json", "--device", "H100", "--json"))
        self.assertEqual((found["tier"], found["public"]), ("exact", True))
        self.there(*(f"share/clatune/problems/polybench/{name}" for name in ("gemm.json", "products.cl", "product.h", "references.c")))
        self.there(*(f"share/clatune/problems/families/{name}" for name in ("vectors.h", "spmv/spmv.family.json", "spmv/sell.json", "spmv/matrix.c")))
        self.there(*(f"share/clatune/examples/tutorial/{p.name}" for p in (SOURCE / "examples/tutorial").iterdir()))
        self.there(*(f"share/clatune/schema/{name}.json" for name in ("problem", "plan", "family")),
                   *(f"share/clatune/schema/answers/{p.name}" for p in (SOURCE / "schema/answers").glob("*.json")))
        headers = {p.relative_to(SOURCE / "include") for p in (SOURCE / "include").rglob("*.h")}
        self.assertEqual({p.relative_to(self.prefix / "include") for p in (self.prefix / "include").rglob("*.h")}, headers)
        if shutil.which("scdoc"):
            self.there("share/man/man1/clatune.1", "share/man/man3/libclatune.3", "share/man/man5/clatune-problem.5",
                       "share/man/man5/clatune-plan.5")

    def test_nothing_of_the_tests_or_the_inside_is_installed(self):
        names = [p.name for p in self.prefix.rglob("*") if p.is_file()]
        self.assertFalse([n for n in names if "internal" in n or "test" in n or "bench" in n or n == "meson.build"])

    def test_the_library_has_its_soname(self):
        real = (self.library_folder / "libclatune.so").resolve()
        self.assertEqual(os.readlink(self.library_folder / "libclatune.so"), "libclatune.so.0")
        self.assertRegex(real.name, r"^libclatune\.so\.0\.\d+\.\d+$")
        said = self.run_here(["readelf", "--dynamic", real])
        self.assertIn("[libclatune.so.0]", said)
        self.assertNotIn("PATH", said)

    @unittest.skipUnless(shutil.which("man") and shutil.which("scdoc"), "no man or no scdoc")
    def test_the_manual_names_the_environment(self):
        page = (SOURCE / "docs/reference/environment.md").read_text()
        read, _, _ = page.partition("| variable in workers |")  # that table lists the variables that drivers read, not those that clatune reads
        names = [line.split("`")[1] for line in read.splitlines() if line.startswith("| `")]
        self.assertIn("CLATUNE_DEVICE", names)
        text = self.run_here(["man", "-P", "cat", self.prefix / "share/man/man1/clatune.1"], MANWIDTH="100", LC_ALL="C.UTF-8")
        for name in names:
            self.assertIn(name, text)

    def test_the_program_runs(self):
        self.assertRegex(self.clatune("--version"), r"^clatune \d")
        for name in PROBLEMS:
            self.assertIn(name, self.clatune("space", str(self.prefix / f"share/clatune/problems/{name}.json")))

    def test_it_finds_its_programs(self):
        for name in PROGRAMS:
            self.assertIn(f"usage: clatune {name} ", self.clatune(name, "--help"))
            self.assertIn(f"usage: clatune {name} ", self.clatune("help", name))
        self.assertIn("no command 'nothing'", self.clatune("nothing", expect=2))

    def test_programs_find_the_worker_and_the_layer(self):
        if "sweep" in PROGRAMS:
            (self.folder / "plan.json").write_text(json.dumps({"Problems": [str(self.prefix / "share/clatune/problems/stereo.json")]}))
            script = self.clatune("sweep", "plan.json", "--slurm", "--dry-run")
            self.assertIn(f"set -- '{self.prefix}/bin/clatune' sweep ", script)
            said = self.clatune("sweep", "plan.json", "--device", "nothing", "--dry-run", expect=3)
            self.assertNotIn("worker", said)
        if "capture" in PROGRAMS:
            said = self.clatune("capture", "--list", "--", "/nonexistent", expect=1)
            self.assertIn("cannot run '/nonexistent'", said)

    def test_it_finds_its_worker_and_its_headers(self):
        devices = subprocess.run([self.prefix / "bin/clatune", "devices"], env=self.environment, text=True, capture_output=True)
        self.assertIn(devices.returncode, (0, 3), devices.stderr)
        self.assertNotIn("worker", devices.stderr)
        if devices.returncode == 0 and "(POCL)" in devices.stdout:
            said = self.clatune("verify", str(self.prefix / "share/clatune/problems/convolution.json"), "--device", "pocl", "--size",
                                "width=64", "--size", "height=64")
            self.assertIn("verified        yes", said)

    def test_shipped_modules_need_no_compiler(self):
        problems, modules = self.prefix / "share/clatune/problems", self.prefix / "libexec/clatune/modules"
        simulated = {"OCL_ICD_VENDORS": str(BUILD / "tests/instruments/libclatune-simulated.so"), "CC": "no-compiler",
                     "CLATUNE_SIMULATED": json.dumps({"devices": [{"name": "Simulated"}]})}
        command = [self.prefix / "bin/clatune", "verify", "convolution.json", "--size", "width=64", "--size", "height=64"]
        for expected in ("cannot compile module", "(wrong-output)"):  # the driver's result, against the reference of a module
            run = subprocess.run(command, cwd=self.folder, env={**self.environment, **simulated}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertIn(expected, run.stdout)
            self.run_here([BUILD / "kernels_cl/ship-modules", modules, problems / "convolution.c"], CLATUNE_INCLUDE=str(self.prefix / "include"))
        self.assertEqual([path.stat().st_mode & 0o777 for path in modules.iterdir()], [0o755])
        shutil.rmtree(modules)

    def test_a_host_program(self):
        cc = os.environ.get("CC", "cc").split()
        self.run_here([*cc, "-Wall", "-Werror", HOST, "-o", "host", *self.pkg_config("--cflags", "--libs")])
        said = self.run_here(["./host", self.prefix / "share/clatune/problems/convolution.json"])
        self.assertRegex(said, r"^default: .*-Dwidth=2048")

    def test_a_host_program_without_installing(self):
        where = {"PKG_CONFIG_PATH": str(BUILD / "meson-uninstalled"), "LD_LIBRARY_PATH": str(BUILD)}
        flags = self.run_here(["pkg-config", "--cflags", "--libs", "clatune"], **where).split()
        self.assertIn(f"-L{BUILD}", flags)
        self.run_here([*os.environ.get("CC", "cc").split(), HOST, "-o", "uninstalled", *flags])
        said = self.run_here(["./uninstalled", SOURCE / "kernels_cl/convolution.json"], **where)
        self.assertRegex(said, r"^default: .*-Dwidth=2048")

    def test_pkg_config_says_what_is_needed(self):
        self.assertEqual(self.pkg_config("--modversion")[0], self.clatune("version").split()[1])
        [prefix] = self.pkg_config("--variable=prefix")  # at its new place
        self.assertEqual(pathlib.Path(prefix).resolve(), self.prefix.resolve())
        self.assertEqual([w for w in self.pkg_config("--libs") if w.startswith("-l")], ["-lclatune"])
        self.assertIn("-lOpenCL", self.pkg_config("--static", "--libs"))
        [worker] = self.pkg_config("--variable=worker")
        self.assertTrue(os.access(worker, os.X_OK), worker)


if __name__ == "__main__":
    main()
