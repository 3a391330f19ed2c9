"""`clatune capture`: the problems that it writes pass `clatune verify` as they are; messages name kernels that cannot be captured."""
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

from applications import APPS, Folder, floats

CLATUNE, ODD = os.environ["CLATUNE"], os.environ["APP_ODD"]
PARSE = pathlib.Path(CLATUNE).parents[1] / "init/parse/clatune-parse"
WHOLE = "CLATUNE_FIGURES" in os.environ  # in the suite long
SIZES = {"stencil": (64, 32, 3), "reduction": (5000, 2), "image_filter": (20, 12, 2), "gemm": (24, 16, 8, 2)}


def problem(path):
    return json.loads(pathlib.Path(path).read_text())


class Capture(unittest.TestCase):
    folder = None

    def setUp(self):
        self.folder = self.folder or Folder(self)
        for variable in ("XDG_DATA_HOME", "TMPDIR"):
            (self.folder.path / variable).mkdir(exist_ok=True)
            os.environ[variable] = str(self.folder.path / variable)

    def tearDown(self):
        self.assertEqual(list((self.folder.path / "TMPDIR").glob(".capture-*")), [])
        self.assertEqual(list(self.folder.path.glob("*/.capture-*")), [])

    def capture(self, *words, expect=0):
        run = self.folder.run(CLATUNE, "capture", "--json", *words, expect=expect)
        return json.loads(run.stdout)["kernels"], run.stderr

    def verify(self, path, whole=WHOLE):
        """The captured launch has the captured result; whole: and passes the check plan, which takes four times as long."""
        run = self.folder.run(CLATUNE, *(("verify", path) if whole else ("measure", path, "--rounds", "1")))
        self.assertTrue("yes" in run.stdout or not whole, run.stdout)
        return problem(self.folder.path / path)


class Applications(Capture):
    def test_what_is_written_passes_verify(self):
        for name, sizes in SIZES.items():
            with self.subTest(name):
                # CLBlast's kernel takes PoCL a minute to build.
                if APPS[name] is None or (name == "gemm" and "pocl" in os.environ["OCL_ICD_VENDORS"]):
                    continue
                self.folder.run(APPS[name], "-o", "plain", *map(str, sizes))
                kernels, _ = self.capture("-o", name, "--", APPS[name], "-o", "captured", *map(str, sizes))
                self.assertEqual(list(floats(self.folder.path / "captured")), list(floats(self.folder.path / "plain")))
                self.assertAlmostEqual(sum(k["share"] for k in kernels), 1, places=6)
                written = [k["problem"] for k in kernels if k.get("problem")]
                self.assertTrue(written, kernels)
                for path in written:
                    self.verify(path, whole=WHOLE or (name == "stencil" and path == written[0]))

    @unittest.skipUnless(WHOLE and APPS["gemm"] and PARSE.exists() and "pocl" in os.environ["OCL_ICD_VENDORS"], "takes a minute")
    def test_clblast_has_the_parameters_of_its_own_kernel(self):
        self.capture("-o", "c", "--", APPS["gemm"], "64", "64", "64", "1")
        path, = (self.folder.path / "c").glob("Xgemm*/Xgemm*.json")
        names = {p["Name"] for p in problem(path)["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual(names, {"WGD", "KWID", "MDIMCD", "NDIMCD", "MDIMAD", "NDIMBD", "VWMD", "VWND", "PADA", "PADB", "USE_CL_MAD",
                                 "USE_STAGGERED_INDICES"})

    def test_stencil_becomes_a_problem(self):
        self.capture("-o", "c", "--kernel", "heat_step", "--launch", "3", "--flags", "--tolerance", "0.01", "--",
                     APPS["stencil"], "64", "32", "4")
        self.assertEqual([p.name for p in (self.folder.path / "c").iterdir()], ["heat_step"])
        for path in (self.folder.path / "c").rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o777, 0o700 if path.is_dir() else 0o600, path)
        self.assertEqual((self.folder.path / "c").stat().st_mode & 0o777, 0o700)
        json_ = self.verify("c/heat_step/heat_step.json")
        parameters = {p["Name"]: p for p in json_["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual(list(parameters)[:2], ["ROWS", "USE_CLAMP"])
        self.assertEqual(list(parameters)[-4:], ["local_x", "local_y", "mad_enable", "fast_relaxed_math"])
        self.assertEqual(parameters["ROWS"]["Default"], 1)
        self.assertEqual(parameters["local_y"]["Values"], [1, 2, 4, 8, 16, 32])
        self.assertEqual(parameters["local_x"]["Default"], 16)
        kernel, captured = json_["KernelSpecification"], json_["Capture"]
        self.assertEqual(kernel["GlobalSize"], {"X": 64, "Y": 32})
        self.assertEqual(kernel["CompilerOptions"][0], "-cl-std=CL1.2")
        self.assertEqual({a["Name"]: a.get("AccessType") for a in kernel["Arguments"]},
                         {"in": "ReadOnly", "power": "ReadOnly", "out": "ReadWrite", "width": None, "height": None, "rate": None})
        self.assertEqual(captured["Launch"], 3)
        self.assertEqual((captured["Global"], captured["Local"]), ([64, 32], [16, 16]))
        self.assertEqual(captured["Options"], "-DROWS=1 -cl-std=CL1.2")
        self.assertRegex(json_["$schema"], "^file:///.*/schema/problem.json$")

        # The layer that an application runs under by hand leaves clatune's own kernels alone.
        seen = self.folder.path / "seen"
        seen.mkdir()
        (self.folder.path / "layer.json").write_text(json.dumps({"use": "capture", "folder": str(seen), "launch": 1}))
        os.environ.update(OPENCL_LAYERS=os.environ["CLATUNE_TEST_LAYER"], CLATUNE_LAYER=str(self.folder.path / "layer.json"))
        self.addCleanup(lambda: [os.environ.pop(name) for name in ("OPENCL_LAYERS", "CLATUNE_LAYER")])
        self.verify("c/heat_step/heat_step.json")
        self.assertEqual([k for path in seen.glob("manifest-*") for k in problem(path)["kernels"]], [])
        self.folder.run(APPS["stencil"], "64", "32", "2")
        self.assertEqual({k["name"] for path in seen.glob("manifest-*") for k in problem(path)["kernels"]}, {"heat_step", "cool_rim"})

    def test_list(self):
        text = self.folder.run(CLATUNE, "capture", "--list", "--", APPS["stencil"], "64", "32", "4").stdout
        rows = {line.split()[0]: line.split() for line in text.splitlines()}
        self.assertEqual(rows["kernel"][1:3], ["launches", "first"])
        self.assertEqual((rows["heat_step"][1], rows["heat_step"][-2:]), ("4", ["64x32", "16x16"]))
        self.assertEqual((rows["cool_rim"][1], rows["cool_rim"][-2:]), ("4", ["64", "64"]))
        self.assertEqual(list(self.folder.path.glob("c*")), [])
        (self.folder.path / "simulated.icd").write_text(os.environ["CLATUNE_SIMULATED_DRIVER"] + "\n")
        text = self.folder.run(CLATUNE, "capture", "--list", "--", APPS["stencil"], "64", "32", "4",
                               OCL_ICD_VENDORS=str(self.folder.path), CLATUNE_SIMULATED='{"devices": [{"name": "Simulated"}]}').stdout
        self.assertRegex(text, r"(?m)^heat_step .*  cannot be captured: the driver does not describe its arguments .*use another driver")


class Ways(Capture):
    """tests/layer/odd.c, whose programs take seconds to build: captured once, for all tests."""
    KERNELS = ("mixed", "copies", "alias", "nothing", "moved", "waits", "grouped", "haloed", "blocked", "still", "required", "shared",
               "numbered", "linked", "ready", "idle", "written", "several")

    @classmethod
    def setUpClass(cls):
        once = Capture()
        cls.addClassCleanup(once.doCleanups)
        once.setUp()
        cls.folder = once.folder
        cls.headers = str(cls.folder.path / "headers")
        (cls.folder.path / "headers/more").mkdir(parents=True)
        (cls.folder.path / "headers/factor.h").write_text('#include "more/number.h"\n#define FACTOR NUMBER\n')
        (cls.folder.path / "headers/more/number.h").write_text("#define NUMBER 3\n")
        plain = cls.folder.run(ODD, cls.headers).stdout
        kernels, said = once.capture("-o", "c", *(word for name in cls.KERNELS for word in ("--kernel", name)), "--", ODD, cls.headers)
        once.assertEqual([line for line in said.splitlines() if not line.startswith("clatune: ")], plain.splitlines())
        cls.by_name = {}
        for kernel in kernels:
            cls.by_name.setdefault(kernel["name"], []).append(kernel)

    def test_every_way(self):
        by_name = self.by_name
        whys = {"alias": "'in' and 'out' are the same memory", "nothing": "'in' has no buffer", "moved": "a global offset",
                "shared": "'out' is shared virtual memory"}
        for name, why in whys.items():
            for kernel in by_name.get(name, []): # a driver may lack shared virtual memory
                self.assertIn(why, kernel["why"])
        self.assertEqual(by_name["numbered"][0]["launches"], 20)

        # The same kernel in two programs, and in one made of a binary.
        copies = {k["origin"]: [] for k in by_name["copies"]}
        for kernel in by_name["copies"]:
            copies[kernel["origin"]].append(kernel)
        self.assertEqual(sorted((o, len(c)) for o, c in copies.items()), [("a binary", 1), ("source", 2)])
        self.assertIn("delete that cache, often a folder in ~/.cache, or use --no-binaries", copies["a binary"][0]["why"])
        self.assertEqual(sorted(k["launches"] for k in copies["source"]), [1, 2])
        options = []
        for kernel in copies["source"]:
            json_ = self.verify(kernel["problem"])
            options.append(json_["Capture"]["Options"])
            self.assertEqual(json_["ConfigurationSpace"]["TuningParameters"][0]["Name"], "ADD")
            self.assertEqual(json_["KernelSpecification"]["IncludePaths"], ["include0"])
        self.assertEqual(sorted(options), [f"-D ADD=1 -DROOM=4u -I{self.headers}", f"-I{self.headers} -DADD=2 -DROOM=8u -cl-mad-enable"])

        mixed = self.verify(by_name["mixed"][0]["problem"])
        self.assertEqual([(a["Name"], a["Type"]) for a in mixed["KernelSpecification"]["Arguments"]],
                         [("in", "float"), ("out", "float"), ("s", "custom"), ("four", "int4"), ("real", "float")])
        self.assertEqual(mixed["KernelSpecification"]["Arguments"][4]["FillValue"], 0.1)
        waits = self.verify(by_name["waits"][0]["problem"])
        self.assertEqual((waits["Capture"]["Launch"], waits["Capture"]["Local"]), (2, None))
        grouped = self.verify(by_name["grouped"][0]["problem"])
        self.assertEqual(grouped["KernelSpecification"]["Arguments"][1]["Size"], "local_x * 1 if local_x > 64 else 64")
        self.assertEqual(grouped["Capture"]["LocalMemory"], {"tile": 256})
        haloed = self.verify(by_name["haloed"][0]["problem"])
        self.assertEqual(haloed["KernelSpecification"]["Arguments"][1]["Size"], 66)
        self.assertIn({"Expression": "local_x <= 64"}, haloed["ConfigurationSpace"]["Conditions"])
        included = grouped["Capture"]["Included"]
        self.assertEqual(included, {f"include0/{name}": f"{self.headers}/{name}" for name in ("factor.h", "more/number.h")})
        blocked = self.verify(by_name["blocked"][0]["problem"])
        self.assertEqual(blocked["ConfigurationSpace"]["TuningParameters"][-1]["Values"], [64])  # its tile has 64 elements
        self.assertIn("-DROOM=4u", blocked["KernelSpecification"]["CompilerOptions"])
        self.assertEqual(self.verify(by_name["still"][0]["problem"])["Capture"]["Launch"], 2)
        required = self.verify(by_name["required"][0]["problem"])
        self.assertEqual(required["KernelSpecification"]["LocalSize"], {"X": 32})
        self.assertEqual(required["ConfigurationSpace"]["TuningParameters"][0]["Name"], "mad_enable")
        kept, *others = sorted(by_name["linked"], key=lambda k: (k["origin"] != "source", k["origin"]))
        self.assertEqual([re.search("linked sources that (were compiled with different options|include headers from memory); ",
                                    k["why"])[1] for k in others],
                         ["include headers from memory", "were compiled with different options"])
        linked = self.verify(kept["problem"])
        self.assertEqual((linked["Capture"]["Options"], linked["ConfigurationSpace"]["TuningParameters"][0]["Name"]), ("-DADD=1", "ADD"))
        numbered = self.verify(by_name["numbered"][0]["problem"])
        self.assertEqual(numbered["Capture"]["Varying"], ["number"])

    def test_a_result_that_was_there_before_is_poisoned(self):
        idle, ready = (self.by_name[name][0] for name in ("idle", "ready"))
        self.assertRegex(idle["why"], r"launch 1 \(of 1\) leaves all memory as it was: .*clear its output before the launch$")
        json_ = self.verify(ready["problem"])
        out = json_["KernelSpecification"]["Arguments"][1]
        self.assertEqual((out["AccessType"], out.get("FillType")), ("WriteOnly", None))
        source = self.folder.path / ready["problem"]
        source.with_name("kernel.cl").write_text(source.with_name("kernel.cl").read_text().replace("out[I] = in[I] * 0", ""))
        self.assertIn("nothing was written", self.folder.run(CLATUNE, "verify", ready["problem"], expect=5).stdout)

    def test_values_that_change_the_result_stay(self):
        run = self.folder.run(CLATUNE, "capture", "-o", "p", "--kernel", "partial", "--", ODD, self.headers)
        self.assertIn("clatune: trying other values of the macros of kernel 'partial'; this may take a minute\n", run.stderr)
        self.assertIn("kernel 'partial': other values of local_x give other results, so it stays 64", run.stderr)
        self.assertRegex(run.stdout, "tuning parameters: none\n")
        space = self.verify("p/partial/partial.json")["ConfigurationSpace"]["TuningParameters"]
        self.assertEqual({p["Name"]: p["Values"] for p in space if p["Name"] in ("local_x", "NOTHING")}, {"local_x": [64], "NOTHING": [0]})

    def test_an_application_with_a_cache_compiles_its_source(self):
        kernels, _ = self.capture("--list", "--no-binaries", "--", ODD, self.headers)
        self.assertEqual({k["origin"] for k in kernels if k["name"] == "copies"}, {"source"})

    def test_numbers_that_the_text_says(self):
        kernels = self.by_name["written"]
        latin = [k for k in kernels if k["origin"] == "source" and not k["problem"]]
        wanted = [] if "rusticl" in os.environ["OCL_ICD_VENDORS"] else ["its build options are not UTF-8"]
        self.assertEqual([k["why"] for k in latin], wanted)
        path, = (k["problem"] for k in kernels if k["problem"])
        json_ = self.verify(path)
        parameters = {p["Name"]: p for p in json_["ConfigurationSpace"]["TuningParameters"]}
        self.assertEqual(list(parameters), ["STEP", "PAD", "local_x"])
        self.assertEqual((parameters["STEP"]["Default"], parameters["STEP"]["Values"][:4]), (4, [1, 2, 4, 8]))
        text = (self.folder.path / path).with_name("kernel.cl").read_text()
        self.assertIn("#ifndef STEP\n#define STEP 4 // at once\n#endif\n#ifndef PAD\n#  define PAD   1\n#endif\n#define WIDTH 1024\n", text)

        # This text is applied, and it is found by the application's own.
        self.folder.run(CLATUNE, "tune", path, "--budget", "4", "--finalists", "1", "--workers", "1", "--oclgrind", "no")
        others = "program's source, options" if latin else ""
        for option, launches, why in (("--check", 1, "or use --no-binaries"), ("--no-binaries", 2, others)):
            run = self.folder.run(CLATUNE, "apply", option, "--json", "c", "--", ODD, self.headers)
            report = json.loads(run.stdout)
            applied, = report["launches"]
            self.assertEqual((applied["kernel"], applied["launches"]), ("written", launches))
            self.assertEqual(applied["check"], "right" if option == "--check" else "not checked")
            self.assertIn(why, " ".join(row["reason"] for row in report["passed"] if row["kernel"] == "written"))

    def test_a_macro_that_changes_the_work_of_an_item(self):
        path, = (k["problem"] for k in self.by_name["several"])
        json_ = self.verify(path)
        items = json_["Capture"]["Global"][0]
        scaled = f"{items} * 4 // EACH"
        self.assertEqual(json_["KernelSpecification"]["GlobalSize"], {"X": scaled})
        self.assertIn({"Expression": f"({scaled}) % local_x == 0"}, json_["ConfigurationSpace"]["Conditions"])
        self.folder.run(CLATUNE, "measure", path, "--configuration", "EACH=1", "--rounds", "1")
        # These macros leave the work as it is.
        path, = (k["problem"] for k in self.by_name["written"] if k["problem"])
        self.assertEqual(problem(self.folder.path / path)["KernelSpecification"]["GlobalSize"], {"X": 1024})


class Mistakes(Capture):
    def fails(self, *words, expect=1):
        return self.folder.run(CLATUNE, "capture", *words, expect=expect).stderr

    def test_messages(self):
        app = (APPS["stencil"], "64", "32", "2")
        (self.folder.path / "full").mkdir()
        (self.folder.path / "full/file").touch()
        self.assertIn("after '--'", self.fails("-o", "c", expect=2))
        self.assertIn("with -o DIR, or use --list", self.fails("--", *app, expect=2))
        self.assertIn("leave out -o", self.fails("--list", "-o", "c", "--", *app, expect=2))
        self.assertIn("'full' is not empty", self.fails("-o", "full", "--", *app))
        self.assertIn("cannot run './none'", self.fails("-o", "c", "--", "./none"))
        self.assertIn("launches no kernel 'heat'", self.fails("-o", "c", "--kernel", "heat", "--", *app))
        self.assertIn("it has 2 launches, so there is no launch 9",
                      self.fails("-o", "c", "--kernel", "heat_step", "--launch", "9", "--", *app))
        self.assertIn("recorded no kernel launch", self.fails("-o", "c", "--", "true"))

    def test_an_application_that_fails(self):
        run = self.folder.run(CLATUNE, "capture", "--list", "--", "sh", "-c", f"'{APPS['stencil']}' 64 32 2; exit 3")
        self.assertIn("exit code 3", run.stderr)
        self.assertIn("heat_step", run.stdout)

    def test_two_processes_are_one_application(self):
        command = f"'{APPS['stencil']}' 64 32 2 & '{APPS['stencil']}' 64 32 2; wait"
        run = self.folder.run(CLATUNE, "capture", "--list", "--json", "--", "sh", "-c", command)
        self.assertEqual({k["name"]: k["launches"] for k in json.loads(run.stdout)["kernels"]}, {"heat_step": 4, "cool_rim": 4})

    def test_a_signal_reaches_the_application(self):
        # Its arrival is told by the pipe, and so is its end.
        with subprocess.Popen([CLATUNE, "capture", "--list", "--", "sh", "-c", "echo started; read line"], cwd=self.folder.path,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            self.assertEqual(run.stdout.readline(), "started\n")
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(60), 128 + signal.SIGTERM)

    def test_instructions_that_are_none(self):
        (self.folder.path / "layer.json").write_text('{"use": "nothing"}')
        library = os.environ["CLATUNE_TEST_LAYER"]
        for path, why in (("layer.json", '"use" must be "capture" or "apply", not "nothing"'), ("none.json", "cannot read")):
            run = self.folder.run(APPS["stencil"], "64", "32", "2", OPENCL_LAYERS=library, CLATUNE_LAYER=path)
            self.assertIn(why, run.stderr)


if __name__ == "__main__":
    unittest.main()
