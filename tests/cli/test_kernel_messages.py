"""The compiler's words on PoCL: they name the kernel's own file and line; a kernel name that the file lacks is answered."""
import sys

from harness import CliTest, has_device, main

POCL = ("--device", "pocl")


class Messages(CliTest):
    def test_a_build_error_names_file_and_line(self):
        self.edit("scale.cl", "get_global_id(0)", "get_global_id(nonsense)")
        line = next(i for i, text in enumerate((self.folder / "scale.cl").read_text().splitlines(), 1) if "nonsense" in text)
        self.assertIn(f"scale.cl:{line}:", self.clatune("verify", "scale.json", *POCL, expect=5).stdout)
        defines = [word for name in ("block", "per_item", "fault", "n") for word in ("--define", f"{name}=1")]
        self.assertIn(f"scale.cl:{line}:", self.clatune("init", "scale.cl", *POCL, *defines, expect=1).stderr)

    def test_so_does_one_in_an_included_file(self):
        (self.folder / "part.h").write_text("\nint part(void) { return nonsense; }\n")
        text = (self.folder / "scale.cl").read_text()
        (self.folder / "scale.cl").write_text('#include "part.h"\n' + text)
        self.assertIn("part.h:2:", self.clatune("verify", "scale.json", *POCL, expect=5).stdout)

    def test_a_file_whose_name_cannot_be_quoted(self):
        (self.folder / 'a"b.cl').write_text((self.folder / "scale.cl").read_text())
        self.edit("scale.json", '"KernelFile": "scale.cl"', '"KernelFile": "a\\"b.cl"')
        self.clatune("verify", "scale.json", *POCL)

    def test_a_wrong_kernel_name(self):
        self.edit("scale.json", '"KernelName": "scale"', '"KernelName": "scael"')
        log = self.clatune_json("verify", "scale.json", *POCL, expect=5)["log"]
        self.assertIn("there is no kernel 'scael'; the file has 'scale'; did you mean 'scale'?", log)
        self.edit("scale.json", '"KernelName": "scael"', '"KernelName": "something_else"')
        log = self.clatune_json("verify", "scale.json", *POCL, expect=5)["log"]
        self.assertIn("there is no kernel 'something_else'; the file has 'scale'", log)
        self.assertNotIn("did you mean", log)

    def test_a_dry_run_of_init_writes_nothing(self):
        (self.folder / "my.cl").write_text("kernel void my(global float *x) { x[get_global_id(0)] = 1; }\n")
        self.assertIn('"KernelName": "my"', self.clatune("init", "my.cl", "--dry-run", *POCL).stdout)
        self.assertFalse((self.folder / "my.json").exists())


if not has_device("pocl"):
    sys.exit(77)
if __name__ == "__main__":
    main()
