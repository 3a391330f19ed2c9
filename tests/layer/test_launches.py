"""The layer's use "apply": which launches are tuned, in an application that launches a kernel in every way there is."""
import json
import os
import re
import sys
import unittest

from applications import Folder, devices

CLATUNE, LAYER, APP = (os.environ[name] for name in ("CLATUNE", "CLATUNE_TEST_LAYER", "APP_LAUNCHES"))
TUNED = {"plain", "again", "retained", "recreated", "built-twice", "second-queue", "chain", "unordered", "gate",
         "sub-buffer", "in-place"}
# The application's kernel; the "tuned" one adds 1000, so that it is seen where it ran.
SOURCE = "kernel void add(global const float *in, global float *out, const int number) {\n" \
         "  out[get_global_id(0)] = in[get_global_id(0)] + number + EXTRA;\n}\n"
ARGUMENTS = [{}, {"written": True, "type": "float", "bytes": 1024, "absolute": 1e-6, "relative": 1e-4, "scaled": True},
             {"number": "05000000"}]

DEVICES = devices()


class Launches(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def labels(self, output):
        pairs = [line.split() for line in output.splitlines()]
        return [(label, float(value)) for label, value in pairs]

    def write_untuned(self):
        """A folder c with a problem that says that it was captured."""
        (self.folder.path / "c").mkdir()
        (self.folder.path / "c" / "k.cl").write_text(SOURCE)
        problem = {"ConfigurationSpace": {"TuningParameters": [{"Name": "EXTRA", "Values": [0]}]},
                   "KernelSpecification": {"KernelName": "none", "KernelFile": "k.cl", "GlobalSize": {"X": 1},
                                           "Arguments": []}, "Capture": {"Program": "none", "Global": [1], "Local": None}}
        (self.folder.path / "c" / "k.json").write_text(json.dumps(problem))

    def known_program(self):
        """The hash of the program that most launches are of, from the report on an application that is not tuned."""
        self.write_untuned()
        run = self.folder.run(CLATUNE, "apply", "c", "--json", "--store", "none.sqlite", "--", APP)
        self.assertIn("no tuned configuration of 'c/k.json' in the store", run.stderr)
        self.assert_tuned(self.labels("\n".join(line for line in run.stderr.splitlines() if "clatune:" not in line)), ())
        counts = {}
        for row in json.loads(run.stdout)["passed"]:
            if row["kernel"] == "add" and row["program"]:
                counts[row["program"]] = counts.get(row["program"], 0) + row["launches"]
        return max(counts, key=counts.get)

    def entry(self, **changes):
        return {"problem": "c/k.json", "program": self.program, "kernel": "add", "platform": self.device["platform_name"],
                "device": self.device["name"], "driver": self.device["driver_version"], "global": [256], "local": [16],
                "source": SOURCE, "options": "-DEXTRA=1000", "tuned_global": [256], "tuned_local": [64],
                "arguments": ARGUMENTS, **changes}

    def run_tuned(self, *entries, **more):
        instructions = {"use": "apply", "check": False, "times": False, "entries": entries, **more}
        (self.folder.path / "layer.json").write_text(json.dumps(instructions))
        run = self.folder.run(APP, OPENCL_LAYERS=LAYER, CLATUNE_LAYER="layer.json")
        return self.labels(run.stdout), run.stderr

    def assert_tuned(self, labels, tuned):
        for label, value in labels:
            if not label.startswith("threads"):
                self.assertEqual(value, 1000 * (label in tuned) * (1 + (label == "chain")), label)

    def test_launches(self):
        self.device = DEVICES[0]
        self.program = self.known_program()
        gate = {"global": [64], "tuned_global": [64]}
        labels, said = self.run_tuned(self.entry(), self.entry(**gate), times=True)
        self.assertEqual(said, "")
        self.assert_tuned(labels, TUNED)
        self.assertEqual({label: value for label, value in labels if label.startswith("threads")},
                         {"threads-0": 160, "threads-1000": 160, "threads-wrong": 0})
        # An incorrect one is found; a correct one is not, and a launch that cannot be waited for does not hang.
        labels, said = self.run_tuned(self.entry(), self.entry(**gate, options="-DEXTRA=0"), check=True)
        self.assert_tuned(labels, ())
        self.assertRegex(said, r"\Aclatune: c/k\.json: kernel 'add' is launched untuned: its result in argument 1 "
                         r"differs .* in 256 of 256 elements, first in element 0 by 1000\n\Z")
        # A kernel that cannot be built or launched leaves the application as it is.
        labels, said = self.run_tuned(
            self.entry(options="-DEXTRA=nothing"), self.entry(**gate, tuned_local=[7]),
            self.entry(kernel="other", source=SOURCE.replace("add", "other"), arguments=ARGUMENTS[:2]))
        self.assert_tuned(labels, ())
        for message in (r"cannot be built \(OpenCL error -11\) with -DEXTRA=nothing", r"cannot be launched \(OpenCL error -",
                        "another number of arguments"):
            self.assertEqual(len(re.findall(message, said)), 1, said)
        # Local memory grows with the work-group, for launches that ask for as much as the captured one.
        room = {"kernel": "scratch", "arguments": [*ARGUMENTS, {"local": 256, "asked": 64}],
                "source": SOURCE.replace("add", "scratch").replace("number)", "number, local float *room)")}
        labels, _ = self.run_tuned(self.entry(**room))
        self.assert_tuned(labels, {"local"})
        # An included file must be unchanged: this one was empty, which has this hash.
        included = {"path": "header.h", "bytes": 0, "hash": 0x2d06800538d394c2}
        for content, tuned in ((None, ()), ("", TUNED - {"gate"}), ("x", ())):
            if content is not None:
                (self.folder.path / "header.h").write_text(content)
            labels, said = self.run_tuned(self.entry(included=[included]))
            self.assert_tuned(labels, tuned)
            self.assertEqual(said, "")
        # The records of other launches.
        other = ({"program": "0" * 32}, {"device": "another"}, {"driver": "another"}, {"platform": "another"},
                 {"compute_units": self.device["compute_units"] + 1},
                 {"kernel": "none"}, {"local": [8]}, {"arguments": [*ARGUMENTS[:2], {"number": "08000000"}]})
        labels, said = self.run_tuned(*(self.entry(**change) for change in other))
        self.assert_tuned(labels, {"other-group"})
        self.assertEqual(said, "")

    def test_how_an_application_ends(self):
        self.write_untuned()
        for script, code in (("exit 7", 7), ("kill -KILL $$", 137), ("kill -TERM $PPID; while :; do :; done", 143)):
            run = self.folder.run(CLATUNE, "apply", "c", "--", "sh", "-c", script, expect=code)
            self.assertIn("the application did not load the layer", run.stderr)
        for words, code, message in ((("c", "--", "./none"), 1, "cannot run './none'"), (("c",), 2, "name the application"),
                                     (("none", "--", "true"), 1, "cannot read the folder 'none'"),
                                     (("--write", "f", "c", "--", "true"), 2, "--write runs nothing")):
            self.assertIn(message, self.folder.run(CLATUNE, "apply", *words, expect=code).stderr)
        problem = (self.folder.path / "c" / "k.json").read_text()
        (self.folder.path / "c" / "cut.json").write_text(problem[:-10])
        self.assertRegex(self.folder.run(CLATUNE, "apply", "c", "--", "true").stderr, r"warning: left out c/cut\.json:1: premature end of input")
        (self.folder.path / "empty").mkdir()
        self.assertIn("there is no captured problem in 'empty'",
                      self.folder.run(CLATUNE, "apply", "empty", "--", "true", expect=1).stderr)

    def test_bad_instructions(self):
        for text, said in (("{", "cannot read CLATUNE_LAYER"), ('{"use": "none"}', '"use" must be "capture" or "apply"'),
                           ('{"use": "apply", "entries": [{}]}', "entry 1 is invalid; write the file again with 'clatune apply --write'")):
            (self.folder.path / "layer.json").write_text(text)
            run = self.folder.run(APP, OPENCL_LAYERS=LAYER, CLATUNE_LAYER="layer.json")
            self.assertIn(said, run.stderr)
            self.assert_tuned(self.labels(run.stdout), ())


if __name__ == "__main__":
    sys.exit(77 if not DEVICES else unittest.main())
