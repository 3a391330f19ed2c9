"""A CMake project finds the installed library, which was moved, by its CMake package and by pkg-config."""
import shutil
import sys

from tree import SOURCE, TreeTest, main

CMAKE = """cmake_minimum_required(VERSION 3.16)
project(host C)
%s
add_executable(host host.c)
target_link_libraries(host PRIVATE %s)
"""
BY_PACKAGE = ("find_package(clatune 0.2 REQUIRED)", "clatune::clatune")
BY_PKG_CONFIG = ("find_package(PkgConfig REQUIRED)\npkg_check_modules(CLATUNE REQUIRED IMPORTED_TARGET clatune)", "PkgConfig::CLATUNE")


class CMake(TreeTest):
    def build(self, name, lines, *options):
        source = self.folder / name
        source.mkdir()
        (source / "CMakeLists.txt").write_text(CMAKE % lines)
        (source / "host.c").write_text((SOURCE / "tests/install/host.c").read_text())
        self.run_here(["cmake", "-S", source, "-B", source / "build", *options])
        self.run_here(["cmake", "--build", source / "build"])
        problem = self.prefix / "share/clatune/problems/convolution.json"
        self.assertRegex(self.run_here([source / "build/host", problem]), r"^default: .*-Dwidth=2048")

    def test_by_the_package(self):
        self.build("package", BY_PACKAGE, f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_by_pkg_config(self):
        self.build("pkg-config", BY_PKG_CONFIG)

    def test_another_major_version_is_not_taken(self):
        with self.assertRaisesRegex(AssertionError, "compatible"):
            self.build("later", ("find_package(clatune 1.0 REQUIRED)", "clatune::clatune"), f"-DCMAKE_PREFIX_PATH={self.prefix}")


if shutil.which("cmake") is None or shutil.which("make") is None:
    sys.exit(77)
if __name__ == "__main__":
    main()
