"""The command line without a device: help, space, usage mistakes, broken problem files."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

from harness import CLATUNE, CliTest, main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs"))
import generate  # noqa: E402
from generate import clatune_help  # noqa: E402


class Help(CliTest):
    def test_every_command_explains_itself(self):
        listing = self.clatune("--help").stdout
        for command in ("devices", "space", "tune", "sample", "train", "predict", "record", "replay", "verify", "version"):
            self.assertIn(command, listing)
            self.assertIn(f"usage: clatune {command}", self.clatune(command, "--help").stdout)

    def test_every_command_and_option_is_in_the_pages(self):
        """The page of the site and the man page, which are made of the help."""
        names = clatune_help.names(CLATUNE)
        self.assertIn("completion", names)
        page = generate.commands(CLATUNE)
        self.assertEqual(re.findall(r"(?m)^### (\S+)$", page), names)
        man = subprocess.run([sys.executable, ROOT / "docs/man/clatune_1.py", CLATUNE, ROOT / "docs/reference/environment.md",
                              ROOT / "src/cli/arguments.h"], text=True, capture_output=True, check=True).stdout
        for name in names:
            options = re.findall(r"(?m)^  (?:-\w, )?--([\w-]+)", self.clatune(name, "--help").stdout)
            part = page.split(f"### {name}\n")[1].split("\n### ")[0]
            section = man.split(f"## clatune {name}")[1].split("\n## ")[0]
            self.assertTrue(options, name)
            for option in options:
                self.assertIn(f"--{option}", part.split("```")[2], name)
                self.assertIn(f"--{option}", section, name)

    def test_tune_explains_the_plug_ins_options(self):
        self.assertIn("--budget", self.clatune("tune", "--help").stdout)
        for plug_in, options in (("two-stage", ("--samples", "--second-stage")), ("opencl", ("--compile-timeout", "--run-timeout")),
                                 ("surrogate", ("--",)), ("command", ("--lock",)), ("trees", ("model trees: ",))):
            text = self.clatune("help", plug_in).stdout
            self.assertRegex(text, rf"^(searcher|evaluator|model) {plug_in}: ")
            for option in options:
                self.assertIn(option, text)
        for command in ("tune", "replay", "train"):  # and all that they list have such a page
            listed = self.clatune(command, "--help").stdout.split("clatune help NAME")[1:]
            self.assertTrue(listed, command)
            for name in re.findall(r"^  ([\w-]+) ", "".join(part.split("\n\n")[0] for part in listed), re.M):
                self.assertIn(f" {name}: ", self.clatune("help", name).stdout)
        self.assertIn("did you mean 'tune'?", self.clatune("help", "tnue", expect=2).stderr)

    def test_the_help_of_tune_is_short(self):
        text = self.clatune("tune", "--help").stdout
        self.assertLessEqual(len(text.splitlines()), 112)
        self.assertIn("examples:\n  clatune tune ", text)

    def test_the_first_try_exists(self):
        """As installed; without the problems that come with it, the reader's own kernel."""
        problems = self.folder / "share/clatune/problems"
        for folder in (problems.parent, self.folder / "bin"):
            folder.mkdir(parents=True)
        program = shutil.copy(CLATUNE, self.folder / "bin")
        for expected in ("KERNEL.json", "convolution.json"):
            text = subprocess.run([program, "--help"], text=True, capture_output=True, check=True).stdout
            problem = re.search(r"clatune tune (\S+)", text)[1]
            self.assertEqual(problem, expected)
            if not problems.exists():
                problems.symlink_to(ROOT / "kernels_cl")
        for shipped in (program, CLATUNE):  # installed, and in the build folder
            text = subprocess.run([shipped, "space", problem], text=True, capture_output=True, check=True, cwd=self.folder).stdout
            self.assertIn("configurations", text)
        self.assertIn("cannot open 'convolutions.json'", self.clatune("space", "convolutions.json", expect=1).stderr)

    def test_a_limit_is_said_once(self):
        text = " ".join((self.clatune("tune", "--help").stdout + self.clatune("help", "opencl").stdout).split())
        self.assertIn("at least 700; 0: half of the machine's memory if the device is a CPU, otherwise none (default 0)", text)
        self.assertIn("(default 600, at least 0.1)", text)
        self.assertNotIn("at least 0)", text)

    def test_version(self):
        for typed in ("version", "--version", "-V"):
            self.assertRegex(self.clatune(typed).stdout, r"^clatune \d+\.\d+\.\d+\n$")
        self.assertRegex(self.clatune_json("version")["version"], r"^\d+\.\d+\.\d+$")


class Space(CliTest):
    def test_counts(self):
        answer = self.clatune_json("space", "scale.json")
        self.assertEqual((answer["cartesian"], answer["valid"]), (24, 23))
        self.assertGreaterEqual(answer["build_s"], 0)

    def test_aliases_are_counted_where_there_are_any(self):
        self.assertIsNone(self.clatune_json("space", "scale.json")["aliases"])
        self.assertNotIn("aliases", self.clatune("space", "scale.json").stdout)
        self.edit("scale.json", '"Conditions": [', '"Aliases": [{"When": "block == 1", "Parameter": "per_item", "Value": 1}],'
                  '\n    "Conditions": [')
        self.assertEqual(self.clatune_json("space", "scale.json")["aliases"], 3)
        self.assertIn("3; 20 canonical configurations to measure", self.clatune("space", "scale.json").stdout)

    def test_needs_no_kernel_file(self):
        (self.folder / "scale.cl").unlink()
        self.assertEqual(self.clatune_json("space", "scale.json")["valid"], 23)

    def test_several_files_give_a_list(self):
        answer = self.clatune_json("space", "scale.json", "faults.json")
        self.assertEqual([a["cartesian"] for a in answer], [24, 14])

    def test_text(self):
        self.assertIn("24 configurations of 3 tuning parameters", self.clatune("space", "scale.json").stdout)


class Mistakes(CliTest):
    def message(self, *arguments, expect):
        run = self.clatune(*arguments, expect=expect)
        self.assertTrue(run.stderr.startswith("clatune: "), run.stderr)
        return run.stderr

    def test_no_command(self):
        self.clatune(expect=2)

    def test_unknown_command(self):
        self.assertIn("'tnue'", self.message("tnue", expect=2))

    def test_unknown_option(self):
        self.assertIn("--devcie", self.message("tune", "scale.json", "--devcie", "pocl", expect=2))

    def test_what_was_meant_is_guessed(self):
        for typed, meant in ((("tune", "scale.json", "--buget", "10"), "there is no option '--buget'; did you mean '--budget'? (see"),
                             (("tune", "scale.json", "--buget=10"), "did you mean '--budget'?"),
                             (("tune", "scale.json", "--second-stag", "5", "--second-stge", "5"), "did you mean '--second-stage'?"),
                             (("lookup", "scale.json", "--format", "heder"), "not 'heder'; did you mean 'header'?"),
                             (("record", "scale.json", "-o", "r", "--format", "kernel_tuner"), "did you mean 'kernel-tuner'?"),
                             (("store", "lsit"), "did you mean 'list'?"),
                             (("tnue",), "there is no command 'tnue'; did you mean 'tune'? (see")):
            self.assertIn(meant, self.message(*typed, expect=2), typed)
        for typed in (("tune", "scale.json", "--zzzzzzzz"), ("lookup", "scale.json", "--format", "zzzzzzzz"), ("zzzzzzzz",)):
            self.assertNotIn("mean", self.message(*typed, expect=2), typed)
        self.assertIn("'--json' takes no value", self.message("tune", "scale.json", "--json=yes", expect=2))

    def test_short_option_of_another_command(self):
        self.assertIn("'-o'", self.message("tune", "scale.json", "-o", "out.json", expect=2))

    def test_missing_argument(self):
        self.assertIn("PROBLEM", self.message("tune", expect=2))

    def test_number_out_of_range(self):
        self.assertIn("--budget' needs a whole number of at least 1, not '0'\n", self.message("tune", "scale.json", "--budget", "0", expect=2))

    def test_option_of_another_searcher(self):
        text = self.message("tune", "scale.json", "--searcher", "random", "--second-stage", "5", expect=2)
        self.assertIn("two-stage", text)

    def test_unknown_searcher(self):
        for kind, typed, meant in (("searcher", "rnadom", "random"), ("evaluator", "open", "opencl")):
            self.assertIn(f"there is no {kind} '{typed}'; did you mean '{meant}'? (see 'clatune tune --help')",
                          self.message("tune", "scale.json", f"--{kind}", typed, expect=2))
        (self.folder / "none.json").write_text("{}")
        self.assertIn("did you mean 'random'?", self.message("replay", "none.json", "--searcher", "rnadom", expect=2))

    def test_options_are_not_abbreviated(self):
        for typed, meant in (("--budg=5", "budget"), ("--second-stag=5", "second-stage"), ("--see", "seed"), ("--bu", "budget")):
            self.assertIn(f"there is no option '{typed}'; did you mean '--{meant}'?",
                          self.message("tune", "scale.json", typed, "7", expect=2))
        self.assertIn("'-q'", self.message("completion", "-q", "bash", expect=2))

    def test_times_have_units(self):
        for wrong in ("5x", "m", "1h30m", "-1s", "0s", "1e9h", ""):
            self.assertIn("90s, 5m, 1h", self.message("tune", "scale.json", "--time", wrong, expect=2))

    def test_record_needs_a_file(self):
        self.assertIn("-o FILE", self.message("record", "scale.json", expect=2))

    def test_unknown_size(self):
        self.assertIn("'m'", self.message("space", "scale.json", "--size", "m=3", expect=2))

    def test_missing_file(self):
        text = self.message("space", "nowhere.json", expect=1)
        self.assertIn("cannot open 'nowhere.json': No such file or directory", text)

    def test_broken_json_names_the_line(self):
        self.edit("scale.json", '"Language": "OpenCL",', '"Language": "OpenCL"')
        self.assertRegex(self.message("space", "scale.json", expect=1), r"scale\.json:1\d: ")

    def test_bad_condition_names_line_and_key(self):
        self.edit("scale.json", "block * per_item <= 128", "blocck * per_item <= 128")
        text = self.message("space", "scale.json", expect=1)
        self.assertRegex(text, r"scale\.json:10: ConfigurationSpace\.Conditions\[0\]")
        self.assertIn("'block'", text)

    def test_script_is_refused(self):
        self.edit("scale.json", '"FillType": "Random"', '"FillType": "Script"')
        self.assertIn("Script", self.message("space", "scale.json", expect=1))

    def test_no_such_device(self):
        self.assertIn("no-such-device", self.message("tune", "scale.json", "--device", "no-such-device", expect=3))


class Terminal(CliTest):
    """Text by others does not control the terminal: controls, and marks that turn the direction of writing."""
    EVIL = "a\033[2J\u009b1m\u202e\x7fz \u00e9\u4e16"

    def test_names(self):
        self.edit("scale.json", '"BenchmarkName": "scale"', f'"BenchmarkName": {json.dumps(self.EVIL)}')
        self.assertIn("a?[2J?1m?\x7fz \u00e9\u4e16\n", self.clatune("space", "scale.json").stdout)
        self.assertEqual(self.clatune_json("space", "scale.json")["problem"], self.EVIL)

    def test_messages(self):
        self.assertIn("'a?[2J?1m?\x7fz \u00e9\u4e16'", self.clatune(self.EVIL, expect=2).stderr)
        run = subprocess.run([CLATUNE, b"\xff\xe4\xb8"], capture_output=True)
        self.assertTrue(run.stderr.startswith(b"clatune: there is no command '???'"), run.stderr)

    def test_long_output_is_whole(self):
        """Characters of several bytes fall on the ends of the buffers that output goes through."""
        values = ["\u4e16\u00e9\U0001f600" * 7 + str(i) for i in range(400)]
        (self.folder / "long.json").write_text(json.dumps(
            {"General": {"BenchmarkName": "".join(values)}, "ConfigurationSpace": {"TuningParameters": [
                {"Name": "a", "Type": "int", "Values": [1]}]}, "KernelSpecification": {
                    "KernelFile": "scale.cl", "KernelName": "scale", "GlobalSize": {"X": 1}, "Arguments": []}}))
        self.assertIn("".join(values), self.clatune("space", "long.json").stdout)


class FullFiles(CliTest):
    def test_a_limit_of_files_sizes_is_a_message(self):
        self.edit("scale.json", "2**i for i in range(6)", "i + 1 for i in range(3000)")
        for command in (["completion", "bash"], ["space", "scale.json", "--json"]):
            with open(self.folder / "out", "wb") as out:
                run = subprocess.run([CLATUNE, *command], cwd=self.folder, stdout=out, stderr=subprocess.PIPE, text=True,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
            self.assertEqual((run.returncode, run.stderr), (1, "clatune: cannot write to standard output\n"), command)

    def test_a_closed_pipe_is_no_message(self):
        for command in (["--help"], ["tune", "--help"], ["completion", "zsh"], ["space", "scale.json", "--json"]):
            read, write = os.pipe()
            os.close(read)
            run = subprocess.run([CLATUNE, *command], cwd=self.folder, stdout=write, stderr=subprocess.PIPE, text=True)
            os.close(write)
            self.assertEqual((run.returncode, run.stderr), (1, ""), command)


main()
