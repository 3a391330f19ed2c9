"""A CMake project finds the installed library by pkg-config."""
import shutil
import sys

from tree import SOURCE, TreeTest, main

CMAKE = """cmake_minimum_required(VERSION 3.16)
project(host C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CLATUNE REQUIRED IMPORTED_TARGET clatune)
add_executable(host host.c)
target_link_libraries(host PRIVATE PkgConfig::CLATUNE)
"""


class CMake(TreeTest):
    def test_a_host_project(self):
        source = self.folder / "host"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(CMAKE)
        (source / "host.c").write_text((SOURCE / "tests/install/host.c").read_text())
        # CMake calls pkg-config without --define-variable.
        pc = self.pkg_config_folder / "clatune.pc"
        lines = [f"prefix={self.prefix}" if line.startswith("prefix=") else line for line in pc.read_text().splitlines()]
        pc.write_text("\n".join(lines) + "\n")
        self.run_here(["cmake", "-S", source, "-B", source / "build"])
        self.run_here(["cmake", "--build", source / "build"])
        problem = self.prefix / "share/clatune/problems/convolution.json"
        self.assertRegex(self.run_here([source / "build/host", problem]), r"^default: .*-Dwidth=2048")


if shutil.which("cmake") is None or shutil.which("make") is None:
    sys.exit(77)
if __name__ == "__main__":
    main()
