"""Results from and for other tuners: record, convert, store import, -o."""
import gzip
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402

SAMPLES = pathlib.Path(__file__).parent.parent / "fuzz" / "corpus" / "recording"
# The requirements of the T4 schema, in this project's own words.
T4 = {
    "type": "object", "required": ["schema_version", "metadata", "results"],
    "properties": {
        "schema_version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "metadata": {"type": "object", "required": ["timeunit"], "properties": {"timeunit": {"const": "milliseconds"}}},
        "results": {"type": "array", "items": {
            "type": "object", "required": ["configuration", "times", "invalidity", "correctness"],
            "properties": {
                "timestamp": {"type": "string"}, "configuration": {"type": "object"}, "objectives": {"type": "array"},
                "times": {"type": "object", "properties": {
                    "runtimes": {"type": "array"},
                    **{name: {"type": "number"} for name in
                       ("compilation", "compilation_time", "framework", "search_algorithm", "validation", "benchmark")}}},
                "invalidity": {"enum": ["timeout", "compile", "runtime", "correctness", "constraints", "correct"]},
                "correctness": {"type": "number"},
                "measurements": {"type": "array", "items": {
                    "type": "object", "required": ["name", "value", "unit"],
                    "properties": {"name": {"type": "string"}, "value": {"type": ["number", "string", "array"]},
                                   "unit": {"type": "string"}}}}}}}}}


class Formats(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(6, 4)
        self.simulate(time_s="1e-5 * (1 + 0.5 * abs(a - 3) + 0.25 * abs(b - 2))", fails={"build": "a == 5"})

    def record(self, *options, expect=0):
        return self.clatune("record", "copy.json", "--device", "Simulated", "--quiet", *options, expect=expect)

    def load(self, name):
        return json.loads((self.folder / name).read_text())

    def write(self, name, content):
        (self.folder / name).write_text(json.dumps(content))

    def store(self, action, *options, **more):
        return self.clatune("store", action, *options, "--store", "s.sqlite", **more)

    def add(self, name, *options):
        return self.clatune_json("store", "import", name, "--of", "copy.json", "--store", "s.sqlite", *options)["added"]

    def test_what_is_recorded_is_t4(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        self.record("-o", "t4.json")
        jsonschema.validate(self.load("t4.json"), T4)
        results = self.load("t4.json")["results"]
        self.assertEqual(len(results), 24)
        for result in results:
            [time] = [m["value"] for m in result["measurements"] if m["name"] == "time"]
            if result["configuration"]["a"] == 5:
                self.assertEqual((result["invalidity"], time), ("compile", "CompilationFailedConfig"))
            else:
                self.assertEqual(result["invalidity"], "correct")
                self.assertEqual(time, min(result["times"]["runtimes"]))
        for name in ("clblast.json", "cltune.json", "ktt.json", "kernel_tuner.json"):
            self.clatune("convert", str(SAMPLES / name), "-o", "other.json")
            jsonschema.validate(self.load("other.json"), T4)

    def test_a_cache_file_of_kernel_tuner(self):
        self.record("-o", "cache.json", "--format", "kernel-tuner")
        text = (self.folder / "cache.json").read_text()
        self.assertTrue(text.endswith("}}\n}"))
        cache = json.loads(text)
        self.assertEqual((cache["kernel_name"], cache["problem_size"], cache["tune_params_keys"]), ("copy", [1024], ["a", "b"]))
        self.assertEqual(cache["tune_params"], {"a": [0, 1, 2, 3, 4, 5], "b": [0, 1, 2, 3]})
        self.assertEqual(set(cache["cache"]), {f"{a},{b}" for a in range(6) for b in range(4)})
        self.assertAlmostEqual(cache["cache"]["3,2"]["time"], 0.01)
        self.assertEqual(cache["cache"]["5,0"]["__error__"], "CompilationFailedConfig")
        self.record("--stored-only", "-o", "t4.json.gz")
        self.assertIn(b'"schema_version"', gzip.decompress((self.folder / "t4.json.gz").read_bytes()))
        self.assertIn("--format needs t4", self.record("-o", "x", "--format", "xml", expect=2).stderr)

    def test_every_form_is_taken_wherever_a_recording_is(self):
        for name in ("clblast.json", "cltune.json", "ktt.json", "kernel_tuner.json", "t4.json"):
            path = str(SAMPLES / name)
            best = self.clatune_json("replay", path, "--searcher", "random", "--repeat", "1")["results"][0]["optimum_s"]
            self.assertIn("configurations", self.clatune("report", path).stdout)
            for form in ("t4", "kernel-tuner"):
                answer = self.clatune_json("convert", path, "-o", "x.json", "--format", form)
                again = self.clatune_json("replay", "x.json", "--searcher", "random", "--repeat", "1")["results"][0]
                self.assertEqual(again["configurations"], answer["configurations"])
                self.assertAlmostEqual(again["optimum_s"] / best, 1, places=12)

    def test_a_recording_comes_back_into_a_store(self):
        """On a machine without the device: the recording says what it was measured on."""
        self.record("-o", "t4.json", "--store", "first.sqlite")
        device = json.loads(self.clatune("store", "list", "--store", "first.sqlite", "--json").stdout)[0]["device"]
        self.simulate(name="Another")
        self.assertEqual(self.add("t4.json"), 24)
        self.assertEqual(self.add("t4.json"), 0)
        [key] = json.loads(self.store("list", "--json").stdout)
        self.assertEqual((key["problem"], key["sizes"], key["device"], key["records"]), ("copy", "n=1024", device, 24))
        self.assertIn("leave out --device", self.store("import", "t4.json", "--of", "copy.json", "--device", "Another", expect=2).stderr)
        self.assertIn("name its problem file with --of FILE", self.store("import", "t4.json", expect=2).stderr)

    def test_what_others_measured_is_known_to_a_tuning(self):
        times = {(a, b): 1 + a + 10 * b for a in range(3) for b in range(3)}
        self.write("cltune.json", {"device": "some name", "results": [
            {"kernel": "copy", "time": time, "parameters": {"a": a, "b": b, "PRECISION": 32}}
            for (a, b), time in times.items()] + [{"kernel": "copy", "time": 1.0, "parameters": {"a": 999, "b": 0, "PRECISION": 32}}]})
        run = self.store("import", "cltune.json", "--of", "copy.json", "--as-device", "Simulated", "--size", "n=2048")
        self.assertIn("9 measurements", run.stdout)
        self.assertIn("skipped 1 configurations", run.stderr)
        answer = self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--size", "n=2048", "--store", "s.sqlite")
        self.assertEqual((answer["tier"], answer["configuration"], answer["expected_time_s"]), ("exact", {"a": 0, "b": 0}, 1e-3))
        plan = self.tune("--dry-run", "--store", "s.sqlite", "--size", "n=2048")
        self.assertEqual(plan["known"], 9)

    def test_a_recording_is_filed_under_its_own_device(self):
        self.write("cache.json", {"device_name": "NVIDIA GeForce RTX 3090", "kernel_name": "copy",
                                  "tune_params_keys": ["a", "b"], "tune_params": {"a": [1, 2], "b": [0]},
                                  "cache": {"1,0": {"a": 1, "b": 0, "time": 0.25}, "2,0": {"a": 2, "b": 0, "time": 0.125}}})
        look_up = ("lookup", "copy.json", "--store", "s.sqlite", "--device")
        refused = self.store("import", "cache.json", "--of", "copy.json", "--device", "Simulated", expect=2)
        self.assertIn("measured on NVIDIA GeForce RTX 3090", refused.stderr)
        self.assertIn("--as-device", refused.stderr)
        self.assertEqual(self.add("cache.json"), 2)
        self.assertEqual(self.add("cache.json", "--device", "RTX 3090"), 0)
        [key] = json.loads(self.store("list", "--json").stdout)
        self.assertEqual((key["device"], key["driver"]), ("NVIDIA GeForce RTX 3090", "unknown"))
        self.assertEqual(self.clatune_json(*look_up, "Simulated")["tier"], "default")
        known = self.clatune_json(*look_up, "3090")
        self.assertEqual((known["tier"], known["configuration"], known["expected_time_s"]), ("exact", {"a": 2, "b": 0}, 1.25e-4))
        self.assertIn("RTX 3090", self.clatune("report", "s.sqlite").stdout)
        self.simulate(name="NVIDIA GeForce RTX 3090")  # the machine itself: all but the driver is known to be the same
        self.assertEqual(self.clatune_json(*look_up, "3090")["tier"], "other-driver")
        self.assertEqual(self.add("cache.json", "--device", "3090"), 2)
        self.assertEqual(self.clatune_json(*look_up, "3090")["tier"], "exact")
        self.simulate(name="Simulated")
        run = self.store("import", "cache.json", "--of", "copy.json", "--as-device", "Simulated")
        self.assertIn("warning: 'cache' was measured on NVIDIA GeForce RTX 3090", run.stderr)
        self.assertEqual(self.clatune_json(*look_up, "Simulated")["tier"], "exact")
        self.write("nowhere.json", {"results": [{"kernel": "copy", "time": 1.0, "parameters": {"a": 3, "b": 0}}]})
        for environment in {}, {"CLATUNE_DEVICE": "Simulated"}:
            unknown = self.store("import", "nowhere.json", "--of", "copy.json", expect=2, **environment)
            self.assertIn("'nowhere' does not say what it was measured on; name the device with --device", unknown.stderr)
        self.assertEqual(self.add("nowhere.json", "--device", "Simulated"), 1)

    def test_a_file_is_judged_by_its_own_objective(self):
        def results(name, unit, *values):
            return {"metadata": {"timeunit": "milliseconds"}, "results": [
                {"configuration": {"a": a, "b": 0}, "times": {"runtimes": [time]}, "invalidity": "correct", "correctness": 1,
                 "objectives": [name], "measurements": [{"name": name, "value": value, "unit": unit}]}
                for a, (time, value) in enumerate(values)]}
        self.write("rate.json", results("GB/s", "", (1, 100), (2, 300), (3, 200)))
        answer = self.clatune_json("replay", "rate.json", "--searcher", "random", "--budget", "3", "--repeat", "1")["results"][0]
        self.assertEqual((answer["optimum"], answer["fraction_of_optimum"]["3"]), (300, 1))
        self.assertIn("objective: maximise GB/s", self.clatune("report", "rate.json").stdout)
        self.assertRegex(self.clatune("report", "rate.json").stdout, r"best configuration +a=1 b=0")
        self.assertEqual(self.add("rate.json", "--device", "Simulated"), 3)
        look_up = ("lookup", "copy.json", "--store", "s.sqlite", "--device", "Simulated")
        self.assertEqual(self.clatune_json(*look_up)["configuration"], {"a": 0, "b": 0})  # by the problem's own: time
        no_times = results("GB/s", "", (0, 100), (0, 300))
        self.write("rates.json", no_times)
        self.assertIn("but no times", self.store("import", "rates.json", "--of", "copy.json", "--device", "Simulated", expect=1).stderr)
        self.write("vague.json", results("score", "", (1, 100), (2, 300)))
        self.assertIn("'maximise score'", self.clatune("replay", "vague.json", expect=2).stderr)
        self.clatune("replay", "vague.json", "--objective", "minimise score", "--budget", "2")
        self.assertEqual(self.tune("--dry-run", "--store", "s.sqlite", "--learn-from", "vague.json")["known"], 3)

    def test_a_score_is_kept_whatever_its_sign(self):
        scores = {"1": -0.9, "2": 0, "3": -0.2, "4": 0.4}
        cache = {"device_name": "board", "kernel_name": "k", "problem_size": [], "tune_params_keys": ["a"],
                 "tune_params": {"a": [1, 2, 3, 4]}, "objective": "score",
                 "cache": {k: {"a": int(k), "score": x, "compile_time": 1.0} for k, x in scores.items()}}
        self.write("cache.json", cache)
        self.write("t4.json", {"metadata": {"timeunit": "ms"}, "results": [
            {"configuration": {"a": int(k)}, "times": {}, "invalidity": "correct", "objectives": ["score"],
             "measurements": [{"name": "score", "value": x, "unit": ""}]} for k, x in scores.items()]})
        for source in ("cache.json", "t4.json"):
            for format in ("t4", "kernel-tuner"):
                with self.subTest(source, format=format):
                    self.clatune("convert", source, "-o", "out.json", "--format", format)
                    for name in (source, "out.json"):
                        for goal, best, configuration in (("minimise", -0.9, 1), ("maximise", 0.4, 4)):
                            report = self.clatune_json("report", name, "--objective", goal + " score")["tunings"][0]
                            self.assertEqual(report["best"]["configuration"], {"a": configuration})
                            self.assertAlmostEqual(report["best"]["value"], best)
                            self.assertEqual(report["reasons"], {})
        self.assertIn("write 'minimise score' or 'maximise score', as --objective", self.clatune("report", "cache.json", expect=2).stderr)
        self.assertEqual([entry["score"] for entry in self.load("out.json")["cache"].values()], list(scores.values()))
        self.write("t4.json", {**self.load("t4.json"), "metadata": {"timeunit": "ms", "goal": "maximise"}})
        self.clatune("convert", "t4.json", "-o", "cache.json", "--format", "kernel-tuner")
        self.clatune("convert", "cache.json", "-o", "out.json", "--format", "t4")
        self.assertEqual(self.load("out.json")["metadata"]["goal"], "maximise")
        self.assertEqual(self.clatune_json("report", "cache.json")["tunings"][0]["best"]["configuration"], {"a": 4})
        for entry in cache["cache"].values():
            entry["time"] = entry.pop("score")
        self.write("cache.json", {**cache, "objective": "time"})
        self.assertIn("a result has the time -0.9, which is below 0", self.clatune("report", "cache.json", expect=1).stderr)

    def test_a_damaged_cache_is_said(self):
        cache = {"kernel_name": "k", "tune_params_keys": ["a"], "tune_params": {"a": [1, 2, 3]},
                 "cache": {str(a): {"a": a, "time": float(a)} for a in (1, 2, 3)}}
        text = json.dumps(cache)
        (self.folder / "cut.json").write_text(text[:text.index('"3": {') + 9])
        convert = ("convert", "cut.json", "-o", "out.json")
        self.assertIn("'cut.json' is incomplete: read 2 results; the last 9 bytes,", self.clatune(*convert).stderr)
        (self.folder / "cut.json").write_text(text[:text.index(', "3": {')])  # as Kernel Tuner leaves it
        self.assertRegex(self.clatune(*convert).stderr, "read 2 results\n$")
        (self.folder / "cut.json").write_text(text)
        self.assertEqual(self.clatune(*convert).stderr, "")
        (self.folder / "cut.json").write_text(text.replace('"2": {"a": 2', '"2": {"a": 3'))
        self.assertIn("the entry '2' has another 'a' in its fields", self.clatune(*convert, expect=1).stderr)

    def test_a_problem_of_cuda_is_counted_and_keeps_recordings(self):
        """Of a T1 file whose kernel is CUDA's, and not there, everything but measuring works."""
        self.write("cuda.json", {
            "General": {"BenchmarkName": "gemm"}, "BenchmarkConfig": {"size": 4096},
            "ConfigurationSpace": {
                "TuningParameters": [{"Name": name, "Type": "int", "Values": "[1, 2, 4, 8]", "Default": 64} for name in "ab"],
                "Conditions": [{"Expression": "a * b <= 8", "Parameters": ["a", "b"]}]},
            "KernelSpecification": {
                "Language": "CUDA", "CompilerOptions": ["-std=c++11"], "KernelName": "gemm", "KernelFile": "gemm.cu",
                "GlobalSizeType": "CUDA", "GlobalSize": {"X": "math.ceil(size / a)"}, "LocalSize": {"X": "a", "Y": "b"},
                "SharedMemory": 0, "Stream": None,
                "Arguments": [{"Name": "t", "Type": "cudaTextureObject_t", "MemoryType": "Symbol", "FillType": "Script"}]}})
        self.assertEqual(self.clatune_json("space", "cuda.json", "--device", "Simulated")["valid"], 10)
        self.write("ktt.json", {"results": [
            {"kernel": "gemm", "time": 1.0 + a * b, "parameters": {"a": a, "b": b}} for a in (1, 2, 4) for b in (1, 2)]})
        add = ("store", "import", "ktt.json", "--of", "cuda.json", "--device", "Simulated", "--store", "s.sqlite")
        self.assertEqual(self.clatune_json(*add)["added"], 6)
        self.assertIn("a=1 b=1", self.clatune("report", "cuda.json", "--device", "Simulated", "--store", "s.sqlite").stdout)
        found = self.clatune_json("lookup", "cuda.json", "--device", "Simulated", "--store", "s.sqlite")
        self.assertEqual((found["tier"], found["configuration"], found["launches"]), ("exact", {"a": 1, "b": 1}, []))
        for command in "tune", "verify", "measure":
            refused = self.clatune(command, "cuda.json", "--device", "Simulated", expect=1).stderr
            self.assertIn('cuda.json:1: KernelSpecification.Language: cannot run a kernel in "CUDA"', refused)
        (self.folder / "gemm.cu").write_text("// a kernel that is there is part of what the store knows it by")
        self.assertEqual(self.clatune_json(*add)["added"], 6)

    def test_sizes_of_clblast_reach_the_problem(self):
        self.write("clblast.json", {"arg_n": "4096", "arg_alpha": "2.00", "arg_k": "7", "device": "some name", "results": [
            {"kernel": "copy", "time": 1.0, "parameters": {"a": 1, "b": 2}}]})
        self.assertEqual(self.add("clblast.json", "--as-device", "Simulated"), 1)
        [key] = json.loads(self.store("list", "--json").stdout)
        self.assertEqual(key["sizes"], "n=4096")

    def test_another_problems_results_are_refused(self):
        device = ("--of", "copy.json", "--as-device", "Simulated")
        self.assertIn("'cltune' has a parameter 'GROUP'", self.store("import", str(SAMPLES / "cltune.json"), *device, expect=1).stderr)
        self.write("less.json", {"results": [{"kernel": "copy", "time": 1.0, "parameters": {"a": 1}}]})
        self.assertIn("lacks the problem's parameter 'b'", self.store("import", "less.json", *device, expect=1).stderr)
        (self.folder / "cut.json").write_text('{"results": [{"kernel"')
        self.assertIn("cut.json", self.store("import", "cut.json", *device, expect=1).stderr)
        self.assertFalse((self.folder / "s.sqlite").exists())

    def test_answers_go_to_a_file_whole_or_not_at_all(self):
        self.tune("--searcher", "exhaustive", "--store", "s.sqlite")
        look_up = ("lookup", "copy.json", "--store", "s.sqlite")
        for options in (("--format", "header"), ("--device", "Simulated", "--format", "options"),
                        ("--device", "Simulated", "--format", "cmake"), ("--device", "Simulated", "--json")):
            said = self.clatune(*look_up, *options).stdout
            self.assertEqual(self.clatune(*look_up, *options, "-o", "out").stdout, "")
            self.assertEqual((self.folder / "out").read_text(), said)
        self.assertEqual((self.folder / "out").stat().st_mode & 0o600, 0o600)
        before = (self.folder / "out").read_text()
        self.clatune(*look_up, "--device", "nowhere", "-o", "out", expect=3)
        self.assertEqual((self.folder / "out").read_text(), before)
        self.assertEqual([p.name for p in self.folder.glob("out*")], ["out"])
        self.assertIn("cannot create", self.clatune(*look_up, "--device", "Simulated", "-o", "no/such", expect=1).stderr)

    def test_a_default_that_is_not_valid_gives_way(self):
        """As in T1 problems, which have no defaults."""
        self.edit("copy.json", '"ConfigurationSpace": {', '"ConfigurationSpace": {"Conditions": [{"Expression": "a > 1 and b > 0"}], ')
        run = self.clatune("verify", "copy.json", "--device", "Simulated")
        self.assertIn("a=2 b=1", run.stdout)
        self.assertIn("not valid (a > 1 and b > 0)", run.stderr)
        self.assertRegex(run.stderr, r"(?m)^clatune: running 1 configuration and the reference\nclatune: checking other inputs.*\nclatune: checking n=\d+")
        self.assertNotRegex(self.clatune("verify", "copy.json", "--device", "Simulated", "--quiet").stderr, "running|checking")

    def test_what_is_its_own_reference_is_not_called_right(self):
        copy = json.loads((self.folder / "copy.json").read_text())
        del copy["Reference"]
        for conditions, first, help in (([], {"a": 0, "b": 0}, 'give the problem a "Reference"\n'),
                                        ([{"Expression": "a > 1 and b > 0"}], {"a": 2, "b": 1}, 'give every parameter a "Default"')):
            copy["ConfigurationSpace"]["Conditions"] = conditions
            self.write("copy.json", copy)
            verify = ("verify", "copy.json", "--device", "Simulated")
            said = self.clatune(*verify).stdout
            self.assertIn("the result was not compared: the problem has no \"Reference\"", said)
            self.assertIn(help, said)
            self.assertNotIn("difference", said)
            answer = self.clatune_json(*verify)
            self.assertEqual((answer["configuration"], answer["own_reference"], answer["max_abs_error"]), (first, True, None))
            other = self.clatune_json(*verify, "--configuration", "a=3 b=2")
            self.assertEqual((other["correct"], other["own_reference"], other["max_abs_error"]), (True, False, 0))

    def test_configurations_are_read_as_clblast_prints_them(self):
        for text in ("a=3 b=2", "b=2 a=3", " a=3,b=2 "):
            answer = self.clatune_json("verify", "copy.json", "--device", "Simulated", "--configuration", text)
            self.assertEqual(answer["configuration"], {"a": 3, "b": 2})
        self.write("list.json", ["a=3 b=2", {"a": 1, "b": 1}, {"configuration": "b=0 a=0"}])
        answer = self.clatune_json("sample", "copy.json", "--device", "Simulated", "--configurations", "list.json", "--store", "s.sqlite")
        self.assertEqual(answer["evaluations"]["measured"], 3)
        self.assertEqual({row[0] for row in self.rows("s.sqlite")}, {"a=3 b=2", "a=1 b=1", "a=0 b=0"})
        run = self.clatune("verify", "copy.json", "--device", "Simulated", "--configuration", "a=3 b=2 PRECISION=32", expect=2)
        self.assertIn("'PRECISION'", run.stderr)


if __name__ == "__main__":
    main()
