"""Kernels that a program writes: what it may answer, how it may fail, equal sources, and what is printed of the winner."""
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import KERNEL, SimulatedTest, main, problem, until  # noqa: E402

# Two launches in place of one.
LAUNCHES = "reply['launches'] = 2 * [{'arguments': ['in', 'out']} | {name: reply.pop(name) for name in ('kernel', 'global', 'local')}]"

# Answers line by line. FAULT is a function of a, or None. The simulated driver reads parameters in the options.
GENERATOR = f'''
import json, os, sys, time
SOURCE = {KERNEL!r}
def text(a, b): return SOURCE + f"/* {{a}} {{b // 2 * 2}} */\\n"
def answer(configuration, sizes):
    a, b = configuration["a"], configuration["b"]
    return {{"source": text(a, b), "options": f"-Da={{a}} -Db={{b // 2 * 2}}", "kernel": "copy", "global": [sizes["n"]], "local": [32]}}
with open("log", "a") as log: log.write("started\\n")
for line in sys.stdin:
    question = json.loads(line)
    a = question["configuration"]["a"]
    with open("log", "a") as log: log.write(f"{{a}} {{question['configuration']['b']}}\\n")
    reply = answer(**question)
    FAULT
    print(json.dumps(reply), flush=True)
'''
IMPORTS = "import os, lib"
GEOMETRY = "GlobalSize", "LocalSize", "KernelName"


class Generated(SimulatedTest):
    def setUp(self):
        super().setUp()
        (self.folder / "copy.cl").unlink()

    def write(self, n_a=4, n_b=4, fault="pass", keep=(), text=None, **generator):
        document = problem(n_a, n_b)
        kernel = document["KernelSpecification"]
        del kernel["KernelFile"]
        for name in GEOMETRY:
            if name not in keep:
                del kernel[name]
        kernel["Generator"] = {"Command": ["python3", "gen.py"], "Persistent": True} | generator
        (self.folder / "copy.json").write_text(json.dumps(document))
        (self.folder / "gen.py").write_text(text or GENERATOR.replace("FAULT", fault))

    def all(self, *options, **more):
        return self.tune("--searcher", "exhaustive", "--finalists", "0", "--store", "s.sqlite", "--quiet", *options, **more)

    def reasons(self, fault, *options):
        """The failure reason and the log of the configuration with a == 2, for which the generator does something else."""
        self.write(4, 1, f"if a == 2: {fault}")
        answer = self.all("--workers", "1", "--fresh", *options)
        self.assertEqual(answer["best"]["configuration"]["a"], 3)
        self.assertEqual(answer["evaluations"]["correct"], 3)
        return [row[1:] for row in self.rows("s.sqlite", "configuration, reason, log") if row[0].startswith("a=2 ")][-1]

    def log(self):
        return (self.folder / "log").read_text().split("\n")[:-1]


class Answers(Generated):
    def test_it_states_geometry_and_stays_alive(self):
        self.write(4, 2)
        answer = self.all("--workers", "1", "--finalists", "2")
        self.assertEqual((answer["best"]["configuration"]["a"], answer["evaluations"]["correct"]), (3, 8))
        self.assertAlmostEqual(answer["best"]["time_s"], 1e-5 * (1 + 0.02 * 14 + 0.03 * 9))
        lines = self.log()
        self.assertLess(lines.count("started"), len(lines) / 2)

    def test_several_launches(self):
        self.write(4, 1, LAUNCHES)
        answer = self.all("--workers", "1")
        self.assertAlmostEqual(answer["best"]["time_s"], 2e-5 * (1 + 0.02 * 14 + 0.03 * 9))

    def test_one_process_for_each_configuration(self):
        """Words with values; the whole output is the source; the problem file has the geometry, and macros if asked for."""
        script = f"import sys\nopen('log', 'a').write(' '.join(sys.argv[1:]) + chr(10))\nprint({KERNEL!r} + '/*' + sys.argv[1] + '*/')"
        self.write(3, 1, keep=GEOMETRY, text=script, Command=["python3", "gen.py", "a={a}", {"Word": "big", "When": "a > 1"}],
                   Persistent=False, Macros=True)
        answer = self.all()
        self.assertEqual((answer["best"]["configuration"]["a"], answer["evaluations"]["correct"]), (2, 3))
        self.assertEqual(sorted(set(self.log())), ["a=0", "a=1", "a=2 big"])

    def test_what_does_not_exist_is_no_failure_of_the_kernel(self):
        reason, log = self.reasons('reply = {"invalid": "no tile of 2"}')
        self.assertEqual((reason, log), ("not-generated", "no tile of 2"))

    def test_equal_sources_are_measured_once(self):
        self.write(2, 8)
        for store, options in (("s.sqlite", ("--workers", "2")), ("t.sqlite", ("--evaluator", "in-process"))):
            answer = self.tune("--searcher", "exhaustive", "--finalists", "0", "--store", store, "--quiet", *options)
            self.assertEqual(answer["evaluations"]["correct"], 16)
            timed = {}
            for configuration, time_s, runs_s in self.rows(store, "configuration, time_s, runs_s"):  # runs_s: all runs together
                a, b = (int(word.partition("=")[2]) for word in configuration.split())
                timed.setdefault((a, b // 2, time_s), []).append(runs_s > 0)
            self.assertEqual([sorted(one) for one in timed.values()], 8 * [[False, True]], options)
        self.tune("--searcher", "exhaustive", "--finalists", "4", "--store", "s.sqlite", "--quiet")
        with contextlib.closing(sqlite3.connect(self.folder / "s.sqlite")) as store:
            compared = [c for c, in store.execute("select distinct configuration from measurement where kind = 'finalist'")]
        sources = [(c.split()[0], int(c.partition("b=")[2]) // 2) for c in compared if c != "a=0 b=0"]
        self.assertGreater(len(sources), 2)
        self.assertEqual(len(set(sources)), len(sources), compared)

    def test_a_changed_generator_has_no_old_measurements(self):
        def known():
            return self.all("--dry-run")["known"]
        (self.folder / "lib.py").write_text("X = 1\n")
        self.write(3, 1, IMPORTS)
        self.all()
        self.assertEqual(known(), 3)
        (self.folder / "other.py").write_text("X = 1\n")
        self.assertEqual(known(), 3)
        (self.folder / "lib.py").write_text("X = 2\n")
        self.assertEqual(known(), 0)
        (self.folder / "lib.py").write_text("X = 1\n")
        self.write(3, 1, IMPORTS, Files=["other.py"])
        self.assertEqual(known(), 0)
        self.write(3, 1, IMPORTS, Version="2")
        self.assertEqual(known(), 0)
        self.write(3, 1, IMPORTS)
        self.assertEqual(known(), 3)


class Failures(Generated):
    def test_a_crash(self):
        reason, log = self.reasons("sys.stderr.write('no luck here'), sys.stderr.flush(), os.abort()")
        self.assertEqual(reason, "generator-failed")
        self.assertIn("it was ended by signal 6", log)
        self.assertIn("no luck here", log)

    def test_an_end(self):
        reason, log = self.reasons("raise ValueError('a tile of 2')")
        self.assertEqual(reason, "generator-failed")
        self.assertIn("it exited with status 1", log)
        self.assertIn("ValueError: a tile of 2", log)

    def test_a_hang(self):
        reason, log = self.reasons("time.sleep(1000)", "--compile-timeout", "1")
        self.assertEqual((reason, log), ("generator-failed", "the generator failed: it did not answer in time"))

    def test_garbage(self):
        for fault, said in (("print('...', flush=True); continue", "its answer is not JSON"), ("reply = [1]", "its answer is not a JSON object"),
                            ("reply = {}", 'it has no "source"'), ("reply['local'] = [0]", '"local" must be'),
                            ("del reply['global']", 'it states no "global"'), ("del reply['kernel']", 'it states no "kernel"'),
                            ("reply['launches'] = [{}]", 'belong to the entries of "launches"'), (f"{LAUNCHES}; del reply['launches'][0]['global']", 'has no "global"'),
                            (f"{LAUNCHES}; reply['launches'][0]['arguments'] = ['in', 'up']", "not the name of an argument"),
                            (f"{LAUNCHES}; reply['launches'].clear()", "a list of 1 to 10000"), (f"{LAUNCHES}; reply['launches'][0]['size'] = 1", "unknown member"),
                            ("reply['tile'] = 1", 'the unknown member "tile"'), ("sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush(); continue", "its answer is not JSON"),
                            ("reply = {'error': 'not today'}", "not today")):
            reason, log = self.reasons(fault)
            self.assertEqual(reason, "generator-failed", fault)
            self.assertIn(said, log)

    def test_a_gibibyte(self):
        reason, log = self.reasons("[sys.stdout.write('x' * (1 << 20)) for _ in range(1024)]")
        self.assertEqual(reason, "generator-failed")
        self.assertIn("it printed more than 16 MiB", log)

    def test_a_slow_one_only_costs_time(self):
        """Slower than any build: what it takes counts as building, and is no failure."""
        self.write(3, 1, "time.sleep(0.3)")
        self.assertEqual(self.all("--workers", "1")["evaluations"]["correct"], 3)
        for configuration, reason, _ in self.rows("s.sqlite"):
            self.assertEqual(reason, "none", configuration)

    def test_empty_lines_before_an_answer_only_restart_the_limit(self):
        self.write(3, 1, "print(flush=True)")
        self.assertEqual(self.all("--workers", "1")["evaluations"]["correct"], 3)
        reason, log = self.reasons("[print() for _ in range(1 << 20)]")
        self.assertEqual(reason, "generator-failed")
        self.assertIn("its answer is not JSON", log)

    def test_another_line_is_not_taken_for_the_next_answer(self):
        self.write(4, 1, "print(json.dumps(reply), flush=True) if a == 1 else None")
        answer = self.all("--workers", "1")
        self.assertEqual((answer["best"]["configuration"]["a"], answer["evaluations"]["correct"]), (3, 4))
        for configuration, _, time_s in self.rows("s.sqlite"):
            a = int(configuration.split()[0].partition("=")[2])
            self.assertAlmostEqual(time_s, 1e-5 * (1 + 0.02 * (17 - a) + 0.03 * 9))

    def test_in_process(self):
        self.write(4, 1, "if a == 2: raise ValueError('a tile of 2')")
        answer = self.all("--evaluator", "in-process")
        self.assertEqual((answer["evaluations"]["correct"], answer["reasons"]), (3, {"generator-failed": 1}))

    def test_it_ends_with_the_tuner(self):
        self.write(4, 1, "if a == 2: print(os.getpid(), file=open('pid', 'w'), flush=True), time.sleep(1000)")
        tuner, pid = self.start("--searcher", "exhaustive", "--workers", "1", "--no-store", "--finalists", "0"), self.folder / "pid"
        try:
            self.assertTrue(until(lambda: pid.exists() and pid.read_text().endswith("\n"), tuner))
        finally:
            tuner.kill()
            tuner.communicate()
        self.assertTrue(until(lambda: not pathlib.Path("/proc", pid.read_text().strip()).exists()))

    def test_it_cannot_be_started(self):
        self.write(4, 1, Command=["no-such-program"])
        said = self.clatune("tune", *self.subject, expect=1).stderr
        self.assertIn("KernelSpecification.Generator: cannot start 'no-such-program': No such file or directory", said)

    def test_the_default_configuration_is_the_reference(self):
        self.write(4, 1, "if a == 0: raise ValueError('a tile of 0')")
        self.edit("copy.json", '"Reference": {"Module": "copy.c", "Function": "copy"}, ', "")
        said = self.clatune("tune", *self.subject, expect=1).stderr
        self.assertIn("cannot compute the reference (the generator wrote no usable source)", said)
        self.assertIn("ValueError: a tile of 0", said)

    def test_mistakes_in_the_file(self):
        for generator, said in (({"Command": []}, "needs a list of words"), ({"Command": ["x", "{a}"]}, 'a "Persistent" program serves all'),
                                ({"Words": []}, '"Words"'), ({"Files": ["none.py"]}, 'there is no file "none.py"'), ({"Files": ["icd"]}, '"icd" is no file; list the files in it')):
            self.write(**generator)
            self.assertIn(said, self.clatune("tune", *self.subject, expect=1).stderr)
        self.write()
        self.edit("copy.json", '"Language"', '"KernelFile": "copy.cl", "Language"')
        self.assertIn('conflicts with "KernelFile"', self.clatune("tune", *self.subject, expect=1).stderr)


class Winner(Generated):
    def test_its_source(self):
        self.write(4, 1)
        self.all()
        found = {form: self.clatune("lookup", *self.subject, "--store", "s.sqlite", "--format", form).stdout for form in ("source", "options", "text", "json")}
        answer = json.loads(found["json"])
        self.assertEqual((found["source"], found["options"]), (KERNEL + "/* 3 0 */\n", "-Da=3 -Db=0\n"))
        self.assertEqual((answer["source"], answer["options"]), (KERNEL + "/* 3 0 */\n", "-Da=3 -Db=0"))
        self.assertEqual(answer["launches"], [{"kernel": "copy", "global": [1024], "local": [32], "repeat": 1, "group": 0}])
        self.assertIn("copy: global 1024, local 32", found["text"])
        self.write(4, 1, 'reply = {"invalid": "no tile of 0"}')
        said = self.clatune("lookup", *self.subject, "--store", "s.sqlite", "--format", "source", "--size", "n=2048", expect=1).stderr
        self.assertIn("there is no source of a=3 b=0 for these sizes: no tile of 0; 'clatune tune' finds a configuration", said)
        (self.folder / "gen.py").write_text("import sys\nsys.exit('not today')\n")
        said = self.clatune("lookup", *self.subject, "--store", "s.sqlite")
        self.assertIn("not today", said.stderr)
        self.assertIn("a=3 b=0", said.stdout)
        self.clatune("lookup", *self.subject, "--store", "s.sqlite", "--format", "options", expect=1)

    def test_its_header(self):
        self.write(4, 1)
        self.all()
        header = self.clatune("lookup", "copy.json", "--store", "s.sqlite", "--format", "header").stdout
        (self.folder / "copy.h").write_text(header)
        (self.folder / "main.c").write_text('#include "copy.h"\nint main(void) {\n  char options[100];\n  clatune_copy_launch launch;\n'
                                            '  const clatune_copy_entry *entry = &clatune_copy_entries[0];\n'
                                            '  if (clatune_copy_find(entry->device, 1025)) return 1;\n'
                                            '  clatune_copy_options(options, sizeof options, entry);\n'
                                            '  clatune_copy_launches(&launch, 1, clatune_copy_find(entry->device, 1024), 1024);\n'
                                            '  printf("%s%s|%s|%zu|%zu", entry->source, options, launch.kernel, launch.global[0], launch.local[0]);\n'
                                            '  return 0;\n}\n')
        subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-o", "main", "main.c"], cwd=self.folder, check=True)
        said = subprocess.run(["./main"], cwd=self.folder, check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, KERNEL + "/* 3 0 */\n-Da=3 -Db=0|copy|1024|32")


if __name__ == "__main__":
    main()
