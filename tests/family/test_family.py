"""A family on the simulated driver, whose best variant depends on the input: measure, train, report, select, export."""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "reliability"))
from simulation import CLATUNE, SimulatedTest, kill_session, main, problem, until  # noqa: E402

COMPARE = os.environ["CLATUNE_COMPARE_SELECT"]
N_VECTORS = "1000000" if "CLATUNE_FIGURES" in os.environ else "100000"

# "every" takes n, "some" the square root of it but suffers from density, "few" is the fastest and may run up to a density of 0.3, "wrong" is
# faster still and incorrect on one input to learn from. "large" is always slow; its problem refuses the sizes of the first inputs.
TIME_S = "1e-8 * (1 + 0.1 * abs(wg - 2)) * (n if which == 0 else 2 * n**0.5 * (1 + 8 / every) if which == 1 else " \
         "0.2 * n if which == 2 else 0.1 * n if which == 3 else 1.5 * n)"  # microseconds, so that nothing waits long
WRONG = "which == 3 and n == 128 and every == 2"
MODULE = """#include <clatune/module.h>

int fill(const clt_module_call *call) {
  float *to = (float *)call->target->data;
  const size_t every = (size_t)clt_module_value(call, "every", 1);
  for (size_t i = 0; i < call->target->extent[0]; i++) to[i] = i % every == 0;
  return 0;
}

int copy(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *out = clt_module_find(call, "out");
  memcpy(out->data, in->data, in->bytes);
  return 0;
}

int count(const clt_module_call *call) {
  ((double *)call->target->data)[0] = 4 * clt_module_value(call, "n", 0);
  return 0;
}

int look(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in");
  double sum = 0;
  if (clt_module_value(call, "bytes", 0) != (double)in->bytes) return 1;
  for (size_t i = 0; i < in->extent[0]; i++) sum += ((const float *)in->data)[i];
  ((double *)call->target->data)[0] = sum / in->extent[0];
  return 0;
}

int convert(const clt_module_call *call) { return clt_module_find(call, "in") == NULL || call->target != NULL; }
"""
FAMILY = {
    "Family": "tiny", "Module": "tiny.c",
    "Inputs": {"Parameters": ["n", "every"], "Derived": {"Function": "count", "Names": ["bytes"]},
               "Train": [{"n": [16, 48, 128, 400, 1024], "every": [1, 2, 5]}],
               "Test": [{"n": [24, 90, 300, 800], "every": [1, 3]}]},
    "Features": {"From": "every", "Numbers": ["n"], "Functions": [{"Function": "look", "Names": ["density"]}]},
    "Variants": [{"Name": "every", "Problem": "v0.json"}, {"Name": "some", "Problem": "v1.json"},
                 {"Name": "few", "Problem": "v2.json", "Where": "density <= 0.3", "Conversion": "convert"},
                 {"Name": "wrong", "Problem": "v3.json"}, {"Name": "large", "Problem": "v4.json", "Where": "n >= 100"}]}
MEASURE = ("family", "measure", "tiny.family.json", "--store", "s.sqlite", "--device", "Simulated", "--tune-on", "2", "--budget", "4")
LEARN = ("tiny.family.json", "--store", "s.sqlite", "--device", "Simulated")


class Family(SimulatedTest):
    def setUp(self):
        super().setUp()
        for which in range(5):
            p = problem(1, 1)
            p["General"]["BenchmarkName"] = f"v{which}"
            p["ProblemParameters"] = [{"Name": "n", "Default": 64, "Max": 65536}, {"Name": "every", "Default": 1}]
            if which == 4:
                p["ProblemParameters"][0] = {"Name": "n", "Default": 128, "Min": 100, "Max": 65536}
            p["ConfigurationSpace"]["TuningParameters"] = [
                {"Name": "which", "Type": "int", "Values": [which]}, {"Name": "wg", "Type": "int", "Values": [1, 2, 4, 8], "Default": 8}]
            kernel = p["KernelSpecification"]
            kernel["KernelFile"], kernel["LocalSize"] = "v.cl", {"X": "wg"}
            kernel["Arguments"][0].update({"FillType": "Generator", "Generator": "fill"})
            del kernel["Arguments"][0]["FillValue"]
            p["Reference"]["Module"] = "tiny.c"
            (self.folder / f"v{which}.json").write_text(json.dumps(p))
        (self.folder / "v.cl").write_text("kernel void copy(global const float *in, global float *out) { out[get_global_id(0)] = "
                                          "in[get_global_id(0)]; }\nconstant int tuned = wg + which;\n")
        (self.folder / "tiny.c").write_text(MODULE)
        self.write_family()
        self.simulate(time_s=TIME_S, wrong=WRONG)

    def write_family(self, **more):
        (self.folder / "tiny.family.json").write_text(json.dumps({**FAMILY, **more}))

    def stored(self):
        """All that was measured, by when."""
        connection = sqlite3.connect(f"file:{self.folder / 's.sqlite'}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute("select key, configuration, reason, time_s from measurement where kind = 'search' "
                                      "order by id").fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise
        finally:
            connection.close()

    def select(self, **features):
        typed = [word for name, value in features.items() for word in ("--feature", f"{name}={value}")]
        return self.clatune_json("family", "select", "tiny.model.json", *typed)

    def test_from_end_to_end(self):
        self.clatune(*MEASURE)
        rows = self.stored()
        self.assertTrue(any(reason == "wrong-output" for _, _, reason, _ in rows))
        self.assertIn("23 inputs, 5 variants", self.clatune(*MEASURE).stdout)
        self.assertEqual(self.stored(), rows, "what the store has was measured again")
        report = self.clatune_json("family", "report", *LEARN)
        self.assertEqual((report["learnt_from"], report["judged_by"], report["nested"]), (15, 8, False))
        self.assertNotIn("wrong", {arm["variant"] for arm in report["arms"]})
        self.assertEqual({arm["variant"] for arm in report["arms"] if "wg=2" in arm["configuration"]}, {"every", "some", "few", "large"})
        figures = {row["choice"]: row for row in report["rows"]}
        self.assertGreater(figures["time"]["mean"], 0.95)
        self.assertGreater(figures["pairwise"]["mean"], 0.9)
        self.assertLess(figures["single best variant"]["mean"], 0.9)
        self.assertGreater(figures["measure the top two of time"]["mean"], 0.95)
        self.assertEqual(figures["ideal"]["mean"], 1)
        self.assertEqual([c["function"] for c in report["costs"]], ["look", "convert"])
        self.assertIn("gap", self.clatune("family", "report", *LEARN).stdout)
        # every chooser, from its file
        names = [name for name in figures if name in ("time", "svm", "pairwise")]
        for name in names:
            self.clatune("family", "train", *LEARN, "--chooser", name)
            self.assertEqual(self.select(n=128, density=0.2)["variant"], "few")
            self.assertEqual(self.select(n=30, density=1)["variant"], "every")
            self.assertEqual(self.select(n=1000, density=0.5)["variant"], "some")
            outside = self.select(n=1e6, density=0.2)
            self.assertEqual(outside["outside"], "n")
            self.compare_with_c()
        # an input's features are those of the module
        chosen = self.clatune_json("family", "select", "tiny.model.json", "--input", "n=128", "--input", "every=2")
        self.assertEqual(chosen["features"], {"n": 128, "density": 0.5})
        # elsewhere the module that a model names is not run
        (self.folder / "other").mkdir()
        shutil.copy(self.folder / "tiny.model.json", self.folder / "other")
        typed = ("family", "select", "other/tiny.model.json", "--input", "n=128", "--input", "every=2")
        self.assertIn("--family", self.clatune(*typed, expect=2).stderr)
        self.assertEqual(self.clatune_json(*typed, "--family", "tiny.family.json"), chosen)
        self.assertIn("standard variant", self.clatune("family", "select", "tiny.model.json", "--feature", "n=1e9", "--feature",
                                                   "density=1").stdout)
        # a conversion that counts
        self.clatune("family", "train", *LEARN, "--uses", "1", "--features", "n")  # density is kept: a Where needs it
        self.assertEqual(sorted(self.select(n=100, density=0.2)["features"]), ["density", "n"])

    def compare_with_c(self):
        """The exported function compiles as C99 and C++ and chooses as the library does; no Where is violated."""
        self.clatune("family", "export", "tiny.model.json", "--c", "-o", "tiny.h")
        wrapper = self.folder / "wrapper.c"
        wrapper.write_text('#ifdef __cplusplus\nextern "C"\n#endif\nint chosen(const double *features, int *arm);\n'
                           '#include "tiny.h"\n#include "tiny.h"\nint chosen(const double *features, int *arm) {\n  tiny_config c;\n'
                           "  const int outside = tiny_select(features, &c);\n  *arm = c.arm;\n  return outside;\n}\n")
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-shared", "-fPIC"]
        compilers = [["cc", "-std=c99"]] + ([["c++", "-x", "c++", "-std=c++11"]] if shutil.which("c++") else [])
        for compiler in compilers:
            subprocess.run([*compiler, *strict, "-o", "tiny.so", "wrapper.c", "-lm"], cwd=self.folder, check=True)
            run = subprocess.run([COMPARE, "tiny.model.json", "./tiny.so", N_VECTORS], cwd=self.folder, text=True, capture_output=True)
            first, *arms = run.stdout.splitlines()
            self.assertEqual(first.split()[0], "equal", run.stderr)
            print(f"{compiler[0]}: {first.split()[3]} ns a call", file=sys.stderr)
            self.assertGreater(int(first.split()[1]), 1)
            self.assertGreater(int(first.split()[2]), 0)
            for arm in arms:
                variant, density = arm.split()
                self.assertNotEqual(variant, "wrong")
                if variant == "few":
                    self.assertLessEqual(float(density), 0.3)

    def test_kill_9_loses_nothing_of_a_part_of_the_inputs(self):
        self.simulate(time_s=TIME_S, wrong=WRONG, build_s=0.002)
        known, kills = [], 0
        while True:
            process = subprocess.Popen([CLATUNE, *MEASURE, "--inputs", "7", "--train-only", "--quiet"], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, start_new_session=True)
            enough = len(known) + 13
            if kills < 3 and until(lambda: (self.folder / "s.sqlite").exists() and len(self.stored()) >= enough, process) and \
                    process.poll() is None:
                kill_session(process)
                kills += 1
                rows = self.stored()
                self.assertEqual(rows[:len(known)], known, "something acknowledged is lost")
                known = rows
                continue
            process.communicate()
            self.assertEqual(process.returncode, 0)
            break
        counts = Counter(row[:2] for row in self.stored())
        self.assertLessEqual(max(counts.values()), 5, "something was measured in more than all passes")
        self.assertGreaterEqual(kills, 1)
        report = self.clatune_json("family", "report", *LEARN)
        self.assertEqual((report["learnt_from"], report["judged_by"], report["nested"]), (7, 7, True))

    def test_what_is_near_the_best_is_measured_five_times(self):
        measure = (*MEASURE, "--inputs", "3", "--train-only", "--portfolio", "2")
        self.clatune(*measure)
        connection = sqlite3.connect(self.folder / "s.sqlite")
        with connection:  # as on a machine with repeated times
            connection.execute("update measurement set time_s = (select min(time_s) from measurement m where m.key = "
                               "measurement.key and m.configuration = measurement.configuration) where reason = 'none'")
        report = self.clatune_json("family", "report", *LEARN)["rows"]
        rows = self.stored()
        counts = Counter(row[:2] for row in rows)
        self.assertEqual(max(counts.values()), 5)
        with connection:  # the two latest measurements of those with five
            connection.execute("update measurement set time_s = 3 * time_s where (select count(*) from measurement m where m.key = "
                               "measurement.key and m.configuration = measurement.configuration and m.id < measurement.id) >= 3")
        self.assertNotEqual(self.stored(), rows)
        self.assertEqual(self.clatune_json("family", "report", *LEARN)["rows"], report, "the slower half counts")
        rows = self.stored()
        self.clatune(*measure)
        self.assertEqual(self.stored(), rows, "what has been measured five times was measured again")
        far = [row for row in rows if "which=0" in row[1] and row[3] > 3e-6]  # "every" of 400, where others take a tenth of that
        self.assertGreater(len(far), 0)
        self.assertEqual({counts[row[:2]] for row in far}, {1}, "measured again though it is far from the best")
        near = next(key for key, n in counts.items() if n > 1)
        with connection:
            connection.execute("delete from measurement where key = ? and configuration = ? and id > (select min(id) from "
                               "measurement where key = ? and configuration = ?)", [*near, *near])
        connection.close()
        self.clatune(*measure)
        again = Counter(row[:2] for row in self.stored())
        self.assertGreater(again[near], 1)
        self.assertEqual(again - Counter({near: 5}), counts - Counter({near: 5}))

    def test_an_input_measured_in_part_is_left_out(self):
        measure = (*MEASURE, "--inputs", "4", "--train-only", "--portfolio", "1")
        self.clatune(*measure)
        self.assertEqual(self.clatune_json("family", "report", *LEARN)["learnt_from"], 4)
        connection = sqlite3.connect(self.folder / "s.sqlite")
        some = {row[0] for row in self.stored() if "which=1" in row[1]}
        self.assertEqual(len(some), 4)
        with connection:
            connection.execute("delete from measurement where key = ? and configuration like '%which=1%'", [min(some)])
        connection.close()
        self.assertEqual(self.clatune_json("family", "report", *LEARN)["learnt_from"], 3)
        self.clatune(*measure)
        self.assertEqual(self.clatune_json("family", "report", *LEARN)["learnt_from"], 4)

    def test_mistakes(self):
        said = self.clatune("family", "train", *LEARN, expect=1).stderr
        self.assertIn("'clatune family measure' creates it", said)
        self.clatune(*MEASURE, "--inputs", "2", "--train-only", "--tune-on", "1", "--budget", "2", "--portfolio", "1")
        for words, says in [(("train", *LEARN, "--chooser", "tim"), "choose time, svm"),
                            (("train", *LEARN, "--features", "densty"), "did you mean 'density'?"),
                            (("mesure", "tiny.family.json"), "did you mean 'measure'?"),
                            (("train", *LEARN, "--tune-on", "3"), "takes no option '--tune-on'"),
                            (("select",), "needs a model"), (("export", "x.json"), "needs --c")]:
            self.assertIn(says, self.clatune("family", *words, expect=2).stderr)
        self.clatune("family", "train", *LEARN)
        self.assertIn("add --feature density=NUMBER\n",
                      self.clatune("family", "select", "tiny.model.json", "--feature", "n=3", expect=2).stderr)
        self.assertIn("add --feature n=NUMBER --feature density=NUMBER\n",
                      self.clatune("family", "select", "tiny.model.json", expect=2).stderr)
        self.assertIn("is a problem file", self.clatune("family", "report", "v0.json", expect=1).stderr)
        for words, says in [(("--input", "n=2.5", "--input", "every=1"), "'--input n=' needs a whole number, not '2.5'"),
                            (("--input", "n=99999999999999999999", "--input", "every=1"), "needs a whole number"),
                            (("--input", "n=2", "--input", "n=3", "--input", "every=1"), "'--input n=' is given twice"),
                            (("--feature", "n=2", "--feature", "density"), "needs NAME=NUMBER, not 'density'"),
                            (("--feature", "n=2x", "--feature", "density=1"), "'--feature n=' needs a number, not '2x'"),
                            (("--feature", "n=2", "--feature", "desity=1"), "did you mean 'density'?")]:
            self.assertIn(says, self.clatune("family", "select", "tiny.model.json", *words, expect=2).stderr)
        self.assertIn("is not a model of", self.clatune("family", "select", "tiny.family.json", expect=1).stderr)
        self.write_family(Features={"Numbers": ["n"]}, Variants=[{"Name": "wrong", "Problem": "v3.json"}],
                          Inputs={"Parameters": ["n", "every"], "Train": [{"n": 128, "every": 2}]})
        self.clatune(*MEASURE)
        self.assertIn("correct on every measured input", self.clatune("family", "train", *LEARN, expect=4).stderr)
        self.write_family()
        self.edit("tiny.c", "sum / in->extent[0]", "0.0 / 0.0")
        self.assertIn("no finite number for 'density'", self.clatune(*MEASURE, expect=1).stderr)
        self.edit("tiny.c", "0.0 / 0.0", "0.5")
        self.write_family(Features={**FAMILY["Features"], "Functions": [{"Function": "look", "Names": ["density", "other"]}]})
        self.assertIn("no finite number for 'other'", self.clatune(*MEASURE, expect=1).stderr)


if __name__ == "__main__":
    main()
