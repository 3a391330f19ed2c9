"""A host program with the static library, by pkg-config --static: it needs no libclatune.so."""
import os

from tree import MESON, SOURCE, TreeTest, main


class Static(TreeTest):
    def test_a_host_program(self):
        prefix = self.folder / "prefix"
        self.run_here([MESON, "setup", "static", SOURCE, "-Ddefault_library=static", "-Dtests=false", "--prefix", prefix, "--libdir", "lib"])
        self.run_here([MESON, "compile", "-C", "static"])
        self.run_here([MESON, "install", "-C", "static", "--no-rebuild"])
        self.assertTrue((prefix / "lib/libclatune.a").exists())
        self.assertFalse(list(prefix.rglob("libclatune.so*")))
        where = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "LD_LIBRARY_PATH": ""}
        words = self.run_here(["pkg-config", "--static", "--cflags", "--libs", "clatune"], **where).split()
        for library in ("-ljansson", "-lsqlite3", "-lz", "-lxxhash", "-llapacke", "-lOpenCL"):
            self.assertIn(library, words)
        cc = os.environ.get("CC", "cc").split()
        self.run_here([*cc, "-Wall", "-Werror", SOURCE / "tests/install/host.c", "-o", "host", *words])
        said = self.run_here(["./host", prefix / "share/clatune/problems/convolution.json"], **where)
        self.assertRegex(said, r"^default: .*-Dwidth=2048")


if __name__ == "__main__":
    main()
