"""The examples of the evaluator command, by the commands that their page documents. With --device also the OpenCL one."""
import os
import pathlib
import shutil
import sys
import unittest

from harness import CliTest, convert_giles, main

EXAMPLES = pathlib.Path(os.environ["COMMAND_EXAMPLES"])
WITH_DEVICE = "--device" in sys.argv
if WITH_DEVICE:
    sys.argv.remove("--device")


class Examples(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(EXAMPLES, self.folder / "command")

    def tune(self, path, *options):
        options = ("--finalists", "0", *options)  # they run their programs more often than the search does
        answer = self.clatune_json("tune", f"command/{path}", "--quiet", *options)
        self.assertGreater(answer["best"]["time_s"], 0)
        self.assertEqual(self.clatune_json("tune", f"command/{path}", "--quiet", *options)["evaluations"]["measured"], 0)
        return answer

    @unittest.skipIf(WITH_DEVICE or os.uname().machine != "x86_64", "names x86-64")
    def test_flags(self):
        answer = self.tune("flags/flags.json", "--budget", "6")
        self.assertEqual((answer["space"]["valid"], answer["evaluations"]["correct"]), (288, 6))

    @unittest.skipIf(WITH_DEVICE, "needs none")
    def test_blocks(self):
        answer = self.tune("blocks/blocks.json", "--budget", "6")
        self.assertEqual((answer["space"]["valid"], answer["evaluations"]["correct"]), (828, 6))

    @unittest.skipIf(WITH_DEVICE, "needs none")
    def test_a_wrong_product_is_noticed(self):
        (self.folder / "command/blocks/right.txt").write_text("1\n")
        self.clatune("tune", "command/blocks/blocks.json", "--quiet", "--budget", "2", expect=4)

    @unittest.skipIf(WITH_DEVICE, "needs none")
    def test_shell_script(self):
        answer = self.tune("shell/sort.json", "--size", "lines=3000")
        self.assertEqual(answer["evaluations"]["correct"], 24)

    @unittest.skipIf(WITH_DEVICE, "needs none")
    def test_giles(self):
        folder = self.folder / "command/giles"
        (folder / "tune.json").write_text(convert_giles(folder / "tune.conf"))
        answer = self.tune("giles/tune.json", "--searcher", "groups")
        self.assertEqual((answer["space"]["valid"], answer["evaluations"]["total"]), (144, 3 * (6 + 7)))
        self.assertEqual(self.tune("giles/tune.json", "--budget", "5")["searcher"], "exhaustive")

    @unittest.skipIf(WITH_DEVICE, "needs none")
    def test_cuda(self):
        """With a stand-in for nvcc: its programs take BLOCK x PER_THREAD us, fail with 1024 threads, and are incorrect with 8 elements."""
        nvcc = self.folder / "bin/nvcc"
        nvcc.parent.mkdir()
        nvcc.write_text("""#!/bin/sh
[ "$1 $2 $5 $6 $7" = "-O3 -arch=native -o saxpy saxpy.cu" ] && [ -s saxpy.cu ] || exit 1
block=${3#-DBLOCK=} per_thread=${4#-DPER_THREAD=}
cat > saxpy <<END
#!/bin/sh
[ $block != 1024 ] || { echo "too many resources requested for launch" >&2; exit 1; }
[ $per_thread != 8 ] && touch correct
echo "$((block * per_thread))e-3 ms"
END
chmod +x saxpy
""")
        nvcc.chmod(0o755)
        self.environment["PATH"] = f"{nvcc.parent}:{os.environ['PATH']}"
        answer = self.tune("cuda/saxpy.json", "--searcher", "exhaustive")
        self.assertEqual(answer["best"]["configuration"], {"BLOCK": 64, "PER_THREAD": 1})
        self.assertAlmostEqual(answer["best"]["time_s"], 64e-6)
        self.assertEqual(answer["reasons"], {"exit-status": 4, "check-failed": 4})

    @unittest.skipUnless(WITH_DEVICE, "needs an OpenCL device")
    def test_batch(self):
        answer = self.tune("batch/transpose.json", "--searcher", "random", "--budget", "8")
        self.assertGreaterEqual(answer["evaluations"]["correct"], 4)
        self.assertLessEqual(set(answer["reasons"]), {"refused"})


if __name__ == "__main__":
    main()
