"""clatune verify --oclgrind: finds what no guard band sees, and nothing in the shipped problems. 77 without Oclgrind."""
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import CliTest, main  # noqa: E402

ROOT = pathlib.Path(__file__).parent.parent.parent
CORPUS = ROOT / "tests" / "instruments" / "bad_kernels" / "defects.json"
SMALL = {
    "convolution": (["width=20", "height=12", "filter_radius=1"],
                    ["", "use_local=1", "use_local=1 pad=1 interleave=1", "pad=1 unroll=1 ppt_x=4 ppt_y=2"]),
    "raycasting": (["width=12", "height=10", "volume_size=8"],
                   ["", "local_tf=1", "local_tf=1 constant_tf=1 unroll=4", "interleave=1 ppt_x=2 ppt_y=2"]),
    "stereo": (["width=20", "height=10", "disparities=4", "window_radius=1"],
               ["", "local_left=1 local_right=1", "ppt_x=4 local_right=1", "unroll_disparity=4 unroll_dx=2 unroll_dy=2"]),
    # Without the image: what is read from any image counts as never written.
    "filterbank": (["height=11", "width=14", "depth=18", "n_filters=6", "filter_height=3", "filter_width=4"],
                   ["use_tex1d=0", "use_tex1d=0 block_w=4 n_filter_rows=2 n_output_4s=1 spill=1",
                    "use_tex1d=0 block_h=4 block_w=16 n_filter_rows=all pad_shared=0 imul_fast=0 fast_math=1"]),
}


class Oclgrind(CliTest):
    def verify(self, problem, configuration, sizes, expect):
        return self.clatune_json("verify", str(problem), "--oclgrind", "--configuration", configuration, "--quiet",
                                 *(a for s in sizes for a in ("--size", s)), expect=expect)

    def defaults(self, name, changes):
        problem = json.loads((ROOT / "kernels_cl" / f"{name}.json").read_text())
        values = {p["Name"]: p["Default"] for p in problem["ConfigurationSpace"]["TuningParameters"]}
        if "wg_x" in values:
            values.update(wg_x=4, wg_y=2)
        values.update(c.split("=") for c in changes.split())
        return " ".join(f"{k}={v}" for k, v in values.items())

    def test_shipped_problems_are_clean(self):
        for name, (sizes, changes) in SMALL.items():
            for change in changes:
                with self.subTest(problem=name, change=change):
                    answer = self.verify(ROOT / "kernels_cl" / f"{name}.json", self.defaults(name, change), sizes, 0)
                    self.assertEqual((answer["correct"], answer["oclgrind"]), (True, ""))

    def test_defects_are_found(self):
        for defect in ("race", "one_after", "one_before"):
            with self.subTest(defect=defect):
                answer = self.verify(CORPUS, f"defect={defect} block=16", ["n=256"], 5)
                self.assertTrue(answer["oclgrind"] or not answer["correct"])
        answer = self.verify(CORPUS, "defect=none block=16", ["n=256"], 0)
        self.assertEqual(answer["oclgrind"], "")


if shutil.which("oclgrind") is None:
    sys.exit(77)
main()
