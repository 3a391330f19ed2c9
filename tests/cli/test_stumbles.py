"""Mistakes of new users: the wrong file, no store yet, no driver, a name where a file was meant."""
import json
import os
import pathlib
import pty
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import CLATUNE, KERNEL, SimulatedTest, main  # noqa: E402
from harness import ANSWERS, check_answer, until  # noqa: E402

NO_DRIVER = {"OCL_ICD_VENDORS": "/nonexistent"}
READERS = (("lookup", "copy.json", "--device", "Simulated"), ("report", "copy.json", "--device", "Simulated"),
           ("train", "copy.json", "-o", "m", "--device", "Simulated"), ("predict", "copy.json", "--device", "Simulated"),
           ("record", "copy.json", "-o", "r", "--stored-only", "--device", "Simulated"), ("store", "list"),
           ("store", "show", "copy.json"), ("store", "export", "-o", "x"), ("store", "prune", "--problem", "copy"),
           ("store", "check"), ("store", "repair"))


class WrongFile(SimulatedTest):
    def test_a_kernel_in_place_of_a_problem(self):
        for command in ("tune", "verify", "lookup", "space", "report", "sample", "train", "predict"):
            more = ("-o", "x") if command == "train" else ()
            said = self.clatune(command, "copy.cl", "--device", "Simulated", *more, expect=1).stderr
            self.assertIn("'copy.cl' is a kernel, not a problem file; 'clatune init copy.cl'", said, command)

    def test_a_problem_in_place_of_a_kernel(self):
        said = self.clatune("init", "copy.json", "--device", "Simulated", expect=1).stderr
        self.assertEqual(said, "clatune: 'copy.json' is a problem file, not a kernel; 'clatune tune copy.json' tunes it\n")

    def test_broken_json_in_a_problem_is_not_taken_for_a_kernel(self):
        (self.folder / "broken.json").write_text("{")
        self.assertNotIn("init", self.clatune("space", "broken.json", expect=1).stderr)


    def test_a_trailing_comma_is_called_that(self):
        (self.folder / "broken.json").write_text('{"General": {"BenchmarkName": "x"},\n "Budget": [1, 2,\n]}')
        self.assertIn("broken.json:3: trailing comma: remove the ',' before the ']'", self.clatune("space", "broken.json", expect=1).stderr)

    def test_a_recording_in_place_of_a_problem(self):
        for text in ('{"device_name": "x", "cache": {}}', '{"results": [], "metadata": {}}'):
            (self.folder / "r.json").write_text(text)
            self.assertIn("r.json: is a recording, not a problem file; 'clatune report' and", self.clatune("space", "r.json", expect=1).stderr)

    def test_numbers_in_quotes_are_called_texts(self):
        problem = {"ConfigurationSpace": {"TuningParameters": [{"Name": "WG", "Values": ["16", "32"]}], "Conditions": ["WG > 16"]},
                   "KernelSpecification": {"KernelName": "copy", "KernelFile": "copy.cl", "GlobalSize": [64], "Arguments": []}}
        (self.folder / "quoted.json").write_text(json.dumps(problem))
        self.assertIn("with WG='16' (a text; write numbers without quotes)", self.clatune("space", "quoted.json", expect=1).stderr)

    def test_plain_text_in_place_of_a_recording(self):
        (self.folder / "times.txt").write_text("16 32 0.5\n")
        said = self.clatune("report", "times.txt", expect=1).stderr
        self.assertIn("recordings are T4 results, cache files of Kernel Tuner, and JSON of CLTune, CLBlast's tuners and KTT", said)


    def test_a_trailing_comma_in_a_recording_is_called_that(self):
        (self.folder / "r.json").write_text('{"results": [], }')
        self.assertIn("r.json:1: not JSON: trailing comma: remove the ',' before the '}'", self.clatune("report", "r.json", expect=1).stderr)

    def test_one_is_no_plural(self):
        self.write_problem(1, 1)
        shown = self.clatune("tune", *self.subject, "--store", "s.sqlite").stdout + self.clatune("report", "s.sqlite").stdout
        shown += self.clatune("store", "export", "-o", "t.sqlite", "--store", "s.sqlite").stdout + self.clatune("space", *self.subject).stdout
        self.assertEqual(re.findall(r"\b1 \w*(?:configuration|measurement|evaluation|parameter|group|processor)s\b.*", shown), [])
        self.simulate(fails={"build": "a == 0"})
        self.assertIn("1 evaluation, none correct: 1 compile", self.clatune("tune", *self.subject, "--no-store", expect=4).stderr)


class Help(SimulatedTest):
    def test_it_fits_80_columns(self):
        commands = [line.split()[0] for line in self.clatune("--help").stdout.split("commands:")[1].split("\n\n")[0].splitlines()
                    if line.startswith("  ") and line[2] != " "]
        self.assertIn("tune", commands)
        for command in commands:
            for line in self.clatune(command, "--help").stdout.splitlines():
                self.assertLessEqual(len(line), 80, (command, line))

    def test_yes_and_no_may_follow_an_option(self):
        tune = ("tune", "copy.json", "--device", "Simulated", "--dry-run", "--no-store")
        for words in (("--lock", "no"), ("--lock", "on"), ("--lock=off",), ("--lock",)):
            self.clatune(*tune, *words)
        self.assertIn("unexpected argument 'maybe'", self.clatune(*tune, "--lock", "maybe", expect=2).stderr)

    def test_a_searcher_is_guessed(self):
        self.assertIn("did you mean 'surrogate'?", self.clatune("help", "surrogat", expect=2).stderr)


class FixedMacros(SimulatedTest):
    """A kernel's own #define wins over -D, and no compiler says so aloud."""

    def kernel(self, head):
        (self.folder / "copy.cl").write_text(head + KERNEL)

    def test_one_that_overrides_a_parameter_is_refused_without_a_driver(self):
        mend = "overrides the {} parameter '{}'; put '#ifndef {}' before it and '#endif' after it"
        for head, line, define, kind, name in (
                ("\n#define a 16 /* wide */\n", 2, "#define a 16", "tuning", "a"),
                ("/* #ifndef b\n */ # define \\\n b 16\n#ifdef other\n#endif\n", 2, "#define b 16", "tuning", "b"),
                ('#define TEXT "/*"\n#define b\n', 2, "#define b", "tuning", "b"),
                ("#ifndef a\n#define a 1\n#endif\n#define n 64 // size\n", 4, "#define n 64", "problem", "n")):
            self.kernel(head)
            for command in (("verify",), ("tune", "--budget", "3"), ("sample", "--samples", "2"), ("tune", "--dry-run")):
                said = self.clatune(command[0], "copy.json", *command[1:], "--no-store", expect=1, **NO_DRIVER).stderr \
                    if command[0] != "verify" else self.clatune("verify", "copy.json", expect=1, **NO_DRIVER).stderr
                self.assertIn(f"copy.cl:{line}: '{define}' " + mend.format(kind, name, name), said, (head, command))

    def test_what_asks_first_is_not_refused(self):
        for head in ("#ifndef a\n#define a 16\n#endif\n", "#if !defined(a) || 0\n# define a 16\n#endif\n",
                     "#ifdef a\n#else\n#define a 16\n#endif\n", "#ifndef TUNED\n#if 1\n#endif\n#define a 16\n#endif\n",
                     "// #define a 16\n/*\n#define a 16\n*/\n", "#undef a\n#define a 16\n", "#define ab 16\n#define A 1\n",
                     "#define TWICE(a) \\\n  #define a 16\n"):
            self.kernel(head)
            self.clatune("sample", "copy.json", "--device", "Simulated", "--samples", "1", "--no-store")


class MissingFeature(SimulatedTest):
    """A device that lacks what a kernel uses: this is said before the compiler's own words."""
    NEEDS = re.compile("needs (.*), which this device does not have")

    def needs(self, head, command="verify"):
        (self.folder / "copy.cl").write_text(head + "\n" + KERNEL)
        more, status = ((), 5) if command == "verify" else (("--no-store",), 4)
        run = self.clatune(command, *self.subject, *more, expect=status)
        return self.NEEDS.findall(run.stdout + run.stderr)

    def test_it_is_named(self):
        self.simulate(fails={"build": "True"})
        for head, feature in (("half f(global half *x);", "cl_khr_fp16"), ("half4 x;", "cl_khr_fp16"), ("double f(int i);", "cl_khr_fp64"),
                              ("int f(void) { return get_sub_group_size() + sub_group_all(1); }", "cl_khr_subgroups"),
                              ("void f(read_only image2d_t x);", "images")):
            self.assertEqual(self.needs(head), [feature], head)
        self.assertEqual(self.needs("half x;", "tune"), ["cl_khr_fp16"])

    def test_a_name_is_no_feature(self):
        self.simulate(fails={"build": "True"})
        for head in ("int f(int half) { return half * 2; }", "int f(int n) { const int half = n / 2; return half; }",
                     "float f(float x, float halfway) { return half_sqrt(x) + halfway; }", "int doubled(int double_buffer);"):
            self.assertEqual(self.needs(head), [], head)

    def test_what_the_device_has_is_not_named(self):
        self.simulate(fails={"build": "True"}, extensions="cl_khr_fp16 cl_khr_subgroups")
        self.assertEqual(self.needs("half f(int i) { return sub_group_all(i); }"), [])


class PartOfAConfiguration(SimulatedTest):
    def test_verify_takes_the_rest_from_the_default(self):
        self.edit("copy.json", '"Values": "list(range(25))", "Default": 0', '"Values": "list(range(25))", "Default": 7')
        run = self.clatune("verify", "copy.json", "--device", "Simulated", "--configuration", "a=3")
        self.assertIn("configuration   a=3 b=7\n", run.stdout)
        self.assertTrue(run.stderr.startswith("clatune: note: default values used: b=7\n"), run.stderr)
        whole = self.clatune("verify", "copy.json", "--device", "Simulated", "--configuration", "b=2,a=3")
        self.assertEqual(whole.stdout.splitlines()[0], "configuration   a=3 b=2")
        self.assertNotIn("default values", whole.stderr)
        said = self.clatune("verify", "copy.json", "--device", "Simulated", "--configuration", "ab=3", expect=2).stderr
        self.assertIn("there is no parameter 'ab'", said)


class Slow(SimulatedTest):
    def test_what_is_ended_far_behind_the_best_has_not_failed(self):
        self.write_problem(4, 1)
        self.simulate(time_s="1e-3 if a == 0 else 3600", waits=True)
        arguments = ("--searcher", "exhaustive", "--finalists", "0", "--workers", "1", "--store", "s.sqlite")
        run = self.clatune("tune", "copy.json", "--device", "Simulated", *arguments)
        self.assertIn("slow                3 stopped because they took many times as long as the best (--run-timeout-factor), e.g. a=1 b=0\n",
                      run.stdout)
        for word in ("failed", "timeout:", "shows why"):
            self.assertNotIn(word, run.stdout + run.stderr)
        answer = self.tune(*arguments)
        evaluations = answer["evaluations"]
        self.assertEqual((evaluations["reused"], evaluations["correct"], evaluations["abandoned"], evaluations["timeout"],
                          answer["reasons"]), (4, 1, 3, 0, {}))
        report = self.clatune("report", "copy.json", "--device", "Simulated", "--store", "s.sqlite").stdout
        self.assertIn("4 configurations, 1 correct, 3 slow (ended far behind the best), of 4 valid ones\n", report)
        self.assertNotIn("Failures", report)


class NoStore(SimulatedTest):
    def test_one_answer_and_no_file_made(self):
        for reader in READERS:
            goes_on = reader[0] == "lookup" or reader[1] in ("list", "show")
            run = self.clatune(*reader, "--store", "none.sqlite", expect=0 if goes_on else 1)
            self.assertIn("there is no store './none.sqlite' yet", run.stderr, reader)
            self.assertFalse((self.folder / "none.sqlite").exists(), reader)
        self.assertEqual(self.clatune("store", "list", "--store", "none.sqlite", "--quiet").stderr, "")
        self.assertIn(str(self.folder / "share/clatune/store.sqlite"), self.clatune("store", "list").stderr)

    def test_one_that_cannot_be_used_is_code_6(self):
        (self.folder / "junk.sqlite").write_text("this is no database at all, but long enough to be looked at")
        (self.folder / "folder.sqlite").mkdir()
        for store in ("junk.sqlite", "folder.sqlite", "copy.json/store.sqlite"):
            for reader in (*READERS, ("tune", "copy.json", "--device", "Simulated", "--budget", "1")):
                run = self.clatune(*reader, "--store", store, expect=6)
                self.assertTrue(run.stderr.startswith("clatune: "), (reader, store, run.stderr))


class NoDriver(SimulatedTest):
    def test_the_store_knows_the_device(self):
        best = self.tune("--budget", "20", "--store", "s.sqlite")["best"]
        for device in ((), ("--device", "simulated")):
            answer = self.clatune_json("lookup", "copy.json", "--store", "s.sqlite", *device, **NO_DRIVER)
            self.assertEqual((answer["tier"], answer["configuration"]), ("exact", best["configuration"]))
            text = self.clatune("report", "copy.json", "--store", "s.sqlite", *device, **NO_DRIVER).stdout
            self.assertIn("of 1000 valid ones", text)
            self.assertEqual(self.clatune_json("train", "copy.json", "--store", "s.sqlite", *device, **NO_DRIVER)["rows"], 20)
            predicted = self.clatune_json("predict", "copy.json", "--store", "s.sqlite", *device, **NO_DRIVER)["predictions"]
            self.assertEqual(len(predicted), 10)
        said = self.clatune("lookup", "copy.json", "--store", "s.sqlite", "--device", "other", expect=3, **NO_DRIVER).stderr
        self.assertIn("Simulated", said)
        self.assertNotIn("-1:", said)
        self.assertIn("no OpenCL device", self.clatune("lookup", "copy.json", expect=3, **NO_DRIVER).stderr)
        self.assertIn("no OpenCL device",
                      self.clatune("tune", "copy.json", "--store", "s.sqlite", expect=3, **NO_DRIVER).stderr)

    def test_a_device_of_this_machine_goes_before_one_of_the_store(self):
        self.tune("--budget", "5", "--store", "s.sqlite")
        self.simulate(name="Simulated other", time_s="1e-5")
        answer = self.clatune_json("lookup", "copy.json", "--store", "s.sqlite", "--device", "Simulated")
        self.assertEqual(answer["tier"], "same-architecture")


class Names(SimulatedTest):
    def test_a_problem_by_name_or_file(self):
        self.tune("--budget", "5", "--finalists", "0", "--store", "s.sqlite")
        for problem in ("copy", "copy.json", "./copy.json"):
            answer = self.clatune_json("store", "prune", "--problem", problem, "--dry-run", "--store", "s.sqlite")
            self.assertEqual(answer["would_remove"], 5, problem)
            self.assertEqual(len(self.clatune_json("store", "show", problem, "--store", "s.sqlite")), 1, problem)
        self.assertIn("cannot open 'gone.json'", self.clatune("store", "prune", "--problem", "gone.json", "--store", "s.sqlite",
                                                              expect=1).stderr)

    def test_an_option_that_an_action_does_not_know_is_refused(self):
        self.tune("--budget", "5", "--finalists", "0", "--store", "s.sqlite")
        run = self.clatune("store", "import", "s.sqlite", "--dry-run", "--store", "t.sqlite", expect=2)
        self.assertIn("'clatune store import' takes no option '--dry-run'", run.stderr)
        self.assertFalse((self.folder / "t.sqlite").exists())


class Events(SimulatedTest):
    """--events, and the list of evaluations in --json."""
    options = ("tune", "copy.json", "--device", "Simulated", "--budget", "30", "--searcher", "random", "--store", "s.sqlite")

    def lines(self, text):
        events = [json.loads(line) for line in text.splitlines()]
        for event in events:
            check_answer(ANSWERS / "events.json", event)
        self.assertEqual(events[0]["event"], "started")
        self.assertEqual([i for i, e in enumerate(events) if e["event"] == "finished"], [len(events) - 1])
        return events, {name: [e for e in events if e["event"] == name] for name in {e["event"] for e in events}}

    def test_a_file_beside_the_answer(self):
        answer = self.clatune_json(*self.options, "--events", "events")
        self.assertEqual(answer["schema"], 1)
        self.assertNotIn("results", answer)
        events, by = self.lines((self.folder / "events").read_text())
        start, end = events[0], events[-1]
        self.assertEqual((start["schema"], start["problem"], start["searcher"]), (1, "copy", "random"))
        self.assertEqual(start["space"], answer["space"])
        self.assertEqual((end["exit_code"], end["error"], end["result"]), (0, None, answer))
        self.assertEqual([e["evaluations"] for e in by["evaluation"]], list(range(1, 31)))
        self.assertEqual([e["phase"] for e in by["phase"]][::len(by["phase"]) - 1], ["default", "checks"])
        best = None
        for e in by["evaluation"]:
            self.assertEqual((e["reason"], e["known"], set(e["configuration"])), ("none", False, {"a", "b"}))
            if best is None or e["value"] < best:
                best = e["value"]
                following = events[events.index(e) + 1]
                self.assertEqual((following["event"], following["configuration"], following["value"]),
                                 ("incumbent", e["configuration"], best))
        self.assertEqual(by["incumbent"][-1]["value"], best)
        # The same again: all is known, as it says of each.
        again, by = self.lines(self.clatune(*self.options, "--events", "-").stdout)
        self.assertEqual([e["known"] for e in by["evaluation"]], [True] * 30)
        self.assertEqual(again[-1]["result"]["evaluations"]["reused"], 30)

    def test_the_list_of_evaluations(self):
        answer = self.clatune_json(*self.options, "--evaluations")
        self.assertEqual(len(answer["results"]), 30)
        best = min(r["time_s"] for r in answer["results"])
        self.assertIn(best, [r["value"] for r in answer["results"]])
        self.assertIn("needs '--json'", self.clatune(*self.options, "--evaluations", expect=2).stderr)

    def test_sample_and_failures(self):
        events, by = self.lines(self.clatune("sample", "copy.json", "--device", "Simulated", "--samples", "5", "--events", "-",
                                             "--no-store").stdout)
        self.assertEqual((len(by["evaluation"]), events[-1]["result"]["evaluations"]["total"]), (5, 5))
        self.simulate(time_s="1e-5", wrong="1")
        events, by = self.lines(self.clatune(*self.options, "--events", "-", expect=4).stdout)
        self.assertEqual(events[-1]["exit_code"], 4)
        self.assertIn("none correct", events[-1]["error"])
        self.assertNotIn("incumbent", by)
        self.assertEqual({(e["reason"], e["value"]) for e in by["evaluation"]}, {("wrong-output", None)})

    def test_a_page_follows_the_events(self):
        page, written = self.folder / "page.html", self.folder / "live"

        def shown():
            return json.loads(re.search(r'id="document">(.*?)</script>', page.read_text(), re.S)[1])

        def begin(*arguments):
            process = subprocess.Popen([CLATUNE, "report", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "-o", "page.html",
                                        *arguments], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            return process
        self.write_problem(20, 10)
        self.simulate(time_s="1e-5 * (1 + a)", wrong="b == 0")
        follows = begin("--follow", "events")
        self.assertTrue(until(page.exists, follows))
        self.assertEqual((shown()["follow"]["tunings"], shown()["tunings"]), ([], []))  # there is neither a store nor an event
        self.assertIn('<meta http-equiv="refresh" content="2">', page.read_text())
        self.clatune("tune", "copy.json", "--device", "Simulated", "--searcher", "exhaustive", "--store", "s.sqlite", "--events", "events")
        said = "clatune: note: 'events' does not exist yet; waiting for a command with '--events events' (Ctrl-C ends)\n"
        self.assertEqual(follows.communicate(timeout=100), ("page.html: report of 1 tuning\n", said))
        self.assertEqual(follows.returncode, 0)
        follows = begin("--follow", "events")
        said = "clatune: note: what 'events' tells of has ended already; 'page.html' is written once\n"
        self.assertEqual(follows.communicate(timeout=100), ("page.html: report of 1 tuning\n", said))
        self.assertNotIn("refresh", page.read_text())
        now = shown()["follow"]["tunings"][0]
        total, failed = now["evaluations"], now["failed"]
        self.assertEqual((now["title"], now["total"], now["reasons"], now["ended"]), ("copy", total, {"wrong-output": failed}, True))
        self.assertEqual(now["progress"][-1]["best_value"], now["best_value"])
        self.assertEqual((total - failed, failed > 0), (shown()["tunings"][0]["correct"], True))
        self.assertTrue(shown()["tunings"][0]["model"])
        # Of a running search: an unfinished line waits, and a signal ends the page.
        lines = (self.folder / "events").read_text().splitlines(True)
        lines = [line.replace('"event"', '"tuning":"one","event"', 1) for line in lines if '"finished"' not in line]
        written.write_text("".join(lines[:-1]) + lines[-1][:-9])
        follows = begin("--follow", "live")
        self.assertTrue(until(lambda: "refresh" in page.read_text() and shown()["follow"]["tunings"], follows))
        last = shown()["follow"]["tunings"][0]
        self.assertEqual((last["ended"], shown()["tunings"][0]["model"]), (False, None))
        with written.open("a") as file:
            file.write(lines[-1][-9:] + json.dumps({"event": "waits", "tuning": "one", "waits": "compiling <b>", "evaluations": 30, "elapsed_s": 9}) + "\n")
        self.assertTrue(until(lambda: shown()["follow"]["tunings"][0]["waits"], follows))
        self.assertIn(f"compiling &#60;b&#62;, 30 of {total} evaluations, {failed} failed", page.read_text())
        follows.terminate()
        self.assertEqual(follows.wait(100), 143)
        self.assertNotIn("refresh", page.read_text())
        self.assertIn("cannot read 'page.html/x': Not a directory",
                      self.clatune("report", "s.sqlite", "--follow", "page.html/x", "-o", "p.html", expect=1).stderr)
        self.assertIn("--follow writes a page", self.clatune("report", "s.sqlite", "--follow", "live", expect=2).stderr)

    def test_where_nobody_reads_the_tuning_ends(self):
        read, write = os.pipe()
        os.close(read)
        run = subprocess.run([CLATUNE, *self.options, "--events", "-", "--quiet"], cwd=self.folder, env=self.environment,
                             stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        self.assertEqual((run.returncode, run.stderr), (141, ""))
        self.assertLess(len(self.rows("s.sqlite")), 30)
        self.assertIn("cannot open", self.clatune(*self.options, "--events", "no/such", expect=1).stderr)


class EveryCommand(SimulatedTest):
    """--quiet, --dry-run, --seed, CLATUNE_DEVICE and NO_COLOR."""

    def commands(self):
        listing = self.clatune("--help").stdout.split("commands:")[1].split("\n\n")[0]
        return [line.split()[0] for line in listing.splitlines() if line[:3].strip() and line.startswith("  ")]

    def test_the_tables_have_them(self):
        for command in self.commands():
            text = self.clatune(command, "--help").stdout
            self.assertEqual("--quiet" in text, command not in ("completion", "version"), command)
            if command in ("tune", "sample", "record", "init", "store"):
                self.assertIn("--dry-run", text, command)
            if command in ("tune", "sample", "record", "train", "predict", "replay"):
                self.assertIn("--seed", text, command)

    def test_quiet(self):
        loud = self.clatune("sample", "copy.json", "--device", "Simulated", "--samples", "3")
        quiet = self.clatune("sample", "copy.json", "--device", "Simulated", "--samples", "5", "--quiet")
        self.assertNotEqual(loud.stderr, "")
        self.assertEqual(quiet.stderr, "")

    def test_a_dry_run_measures_nothing(self):
        for command in (("sample",), ("record", "-o", "r.json"), ("tune",)):
            plan = self.clatune_json(command[0], "copy.json", *command[1:], "--device", "Simulated", "--dry-run", "--store",
                                     "s.sqlite")
            self.assertEqual((plan["known"], plan["space"]["valid"]), (0, 1000), command)
        self.assertEqual(sorted(p.name for p in self.folder.glob("[rs].*")), [])

    def test_the_seed_decides(self):
        def drawn(seed):
            results = self.clatune_json("sample", "copy.json", "--device", "Simulated", "--samples", "5", "--no-store", "--seed",
                                        seed)["results"]
            return sorted(json.dumps(r["configuration"], sort_keys=True) for r in results)
        self.assertEqual(drawn("1"), drawn("1"))
        self.assertNotEqual(drawn("1"), drawn("2"))

    def test_the_device_from_the_environment(self):
        self.simulate({"name": "Simulated one"}, name="Simulated two", time_s="1e-5")
        for command in (("sample", "--samples", "2"), ("tune", "--dry-run"), ("lookup",), ("verify",)):
            self.assertIn("several devices", self.clatune(command[0], "copy.json", *command[1:], expect=3).stderr)
            self.clatune(command[0], "copy.json", *command[1:], CLATUNE_DEVICE="two")
            said = self.clatune(command[0], "copy.json", *command[1:], "--device", "three", expect=3, CLATUNE_DEVICE="two").stderr
            self.assertIn("'three'", said)

    def bar(self, **more):
        """The text that a terminal gets on standard error."""
        reader, writer = pty.openpty()
        command = [CLATUNE, "sample", "copy.json", "--device", "Simulated", "--samples", "200", "--no-store"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=writer,
                                   env={**self.environment, "TERM": "xterm", **more})
        os.close(writer)
        out = b""
        while True:
            try:
                chunk = os.read(reader, 4096)
            except OSError:  # the other end is closed
                break
            out += chunk
            if not chunk:
                break
        os.close(reader)
        self.assertEqual(process.wait(timeout=100), 0)
        return out.decode(errors="replace")

    def test_colours(self):
        self.environment.pop("NO_COLOR", None)
        self.assertIn("\033[36m", self.bar())
        plain = self.bar(NO_COLOR="1")
        self.assertIn("[", plain)
        self.assertNotRegex(plain, r"\033\[[0-9;]*m")
        self.assertNotIn("\033", self.bar(TERM="dumb"))


if __name__ == "__main__":
    main()
