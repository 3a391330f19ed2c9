"""examples/tutorial, as docs/tutorials/first-kernel.md goes through it: tuned, made a header, and run by a host program."""
import os
import pathlib
import shutil
import subprocess
import sys

from harness import CliTest, has_device, main

FOLDER = pathlib.Path(__file__).parent.parent.parent / "examples" / "tutorial"
# Builds only for the sizes that the program runs at, not those that were tuned.
CHECK = """#if size_width != 100 || size_height != 33
#error "built for other sizes"
#endif
"""


class Tutorial(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(FOLDER, self.folder, dirs_exist_ok=True)
        self.edit("transpose.json", '"Min": 1', '"Min": 1, "Max": 1024')  # large sizes take the check plan seconds

    def build_host(self, *options):
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "host.c", *options, "-lOpenCL", "-o",
                        "host"], cwd=self.folder, check=True)

    def run_host(self, width, height):
        run = subprocess.run(["./host", str(width), str(height)], cwd=self.folder, text=True, capture_output=True, timeout=280,
                             env={**self.environment, "LD_LIBRARY_PATH": os.environ.get("CLATUNE_BUILD", "")})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        known, timed = run.stdout.splitlines()
        self.assertRegex(timed, f"^{width} x {height}: .* 0 of {width * height} numbers are incorrect$")
        return known

    def test_from_tuning_to_a_host_program(self):
        best = self.clatune_json("tune", "transpose.json", "--device", "pocl", "--budget", "6", "--finalists", "2", "--workers", "1", "--size", "size_width=256",
                                 "--size", "size_height=128")["best"]["configuration"]
        said = self.clatune("lookup", "transpose.json", "--format", "header", "-o", "transpose.h").stderr
        self.assertEqual(said, "clatune: wrote transpose.h\n")
        said = self.clatune("lookup", "transpose.json", "--device", "pocl", "--size", "size_width=256", "--size", "size_height=128").stdout
        self.assertRegex(said, r"known from        exact: [^|]+, size_width=256 size_height=128\n")
        self.build_host()
        chosen = " ".join(f"{name}={value}" for name, value in best.items())
        self.assertEqual(self.run_host(256, 128), f"header: {chosen}")
        kernel = (self.folder / "transpose.cl").read_text()
        (self.folder / "transpose.cl").write_text(CHECK + kernel)
        self.assertEqual(self.run_host(100, 33), f"header: {chosen}")
        (self.folder / "transpose.cl").write_text(kernel)
        if "CLATUNE_BUILD" in os.environ and shutil.which("pkg-config"):
            self.build_host("-DWITH_LIBCLATUNE", *self.flags())
            self.assertEqual(self.run_host(256, 128), f"libclatune (exact): {chosen}")
            self.assertRegex(self.run_host(100, 33), r"^libclatune \((nearest-size|default)\): TILE=")

    def flags(self):
        """Those of a library that is not installed, as docs/how-to/link-the-library.md has them."""
        environment = {**os.environ, "PKG_CONFIG_PATH": os.environ["CLATUNE_BUILD"] + "/meson-uninstalled"}
        return subprocess.run(["pkg-config", "--cflags", "--libs", "clatune"], env=environment, text=True,
                              capture_output=True, check=True).stdout.split()


if not has_device("pocl") or not shutil.which("cc"):
    sys.exit(77)
if __name__ == "__main__":
    main()
