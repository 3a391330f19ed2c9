"""'clatune report': of stores, problems and recordings, as text and as a page."""
import base64
import csv
import hashlib
import io
import json
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import KERNEL, SimulatedTest, main  # noqa: E402

STORE = ("--store", "s.sqlite")


ROOT = pathlib.Path(__file__).resolve().parents[2]
# As much of a browser as the page needs to become text.
DOM = """const made = {}, node = (own) => ({children: [], style: {}, setAttribute() {}, addEventListener() {},
  append(...more) { this.children.push(...more); }, replaceChildren(...more) { this.children = more; },
  cloneNode() { return this; }, get textContent() { return this.own || this.children.map((c) => c.textContent ?? String(c)).join(""); },
  own});
const navigator = {}, document = {createElement: () => node(), createElementNS: () => node(),
  getElementById: (id) => made[id] ??= node(id === "document" ? require("fs").readFileSync(0, "utf8") : "")};
"""


class Report(SimulatedTest):
    @unittest.skipUnless(shutil.which("node"), "there is no node")
    def test_the_page_names_the_ends_of_a_wide_interval_and_which_best_it_means(self):
        self.tuned(1024)
        document = json.loads(self.text("copy.json", "--device", "Simulated", *STORE, "--json"))
        tuning, = document["tunings"]
        tuning["best"] |= {"finalist_interval": 0.539, "finalist_low": 0.112, "finalist_high": 0.236, "finalist_confidence": 0.95}
        tuning["best_value"], found = 0.153, tuning["progress"][-1]["evaluation"]
        tuning["best"]["evaluation"] = found + 1
        tuning["model"] |= {"useless": False, "mean_relative_error": 9.38}
        script = DOM + (ROOT / "src/report/page.js").read_text().replace('"use strict";', "") + "console.log(made.content.textContent);"
        (self.folder / "page.js").write_text(script)
        run = subprocess.run(["node", "page.js"], cwd=self.folder, input=json.dumps(document), text=True, capture_output=True)
        page = run.stdout
        self.assertEqual(run.stderr, "")
        self.assertIn("153.0\u00a0ms, 112.0\u00a0ms to 236.0\u00a0ms (95\u00a0%)", page)
        self.assertIn(f"The best configuration is that of evaluation {found + 1}; the best of the search was found at evaluation {found} of 40", page)
        self.assertNotIn("938", page)
        self.assertIn("(one standard deviation), with a few configurations far off", page)

    def tuned(self, n, budget=40):
        return self.tune("--searcher", "random", "--budget", str(budget), "--size", f"n={n}", *STORE)

    def text(self, *arguments, **more):
        return self.clatune("report", *arguments, **more).stdout

    def page(self, *arguments, **more):
        run = self.clatune("report", *arguments, "-o", "page.html", **more)
        self.assertEqual(run.stderr, "")
        return (self.folder / "page.html").read_text()

    def document(self, page):
        return json.loads(re.search(r'<script type="application/json" id="document">(.*?)</script>', page, re.S)[1])

    def test_a_store_alone_says_what_the_problem_says(self):
        best = self.tuned(1024)["best"]
        alone = self.text("s.sqlite")
        problem = self.text("copy.json", "--device", "Simulated", "--size", "n=1024", *STORE)
        for text in (alone, problem):
            self.assertIn("copy\nn=1024\n", text)
            self.assertIn("40 configurations, 40 correct", text)
            self.assertIn(" ".join(f"{k}={v}" for k, v in best["configuration"].items()), text)
            self.assertIn("rows not used for training", text)
            self.assertIn("finalist", text)
        self.assertIn("clatune report copy.json --device Simulated --size n=1024 --store s.sqlite", problem)

    def test_what_is_chosen_of_a_store(self):
        self.tuned(1024)
        self.tuned(2048)
        everything = self.text("s.sqlite")
        self.assertIn("n=1024", everything)
        self.assertIn("n=2048", everything)
        self.assertNotIn("n=1024", self.text("s.sqlite", "--size", "n=2048").replace("--size n=", ""))
        self.assertEqual(self.text("s.sqlite", "--problem", "copy", "--device", "simulated").count("The best so far"), 2)
        for options in (("--problem", "cop"), ("--size", "n=20"), ("--device", "other")):
            self.assertIn("no tuning in the store", self.clatune("report", "s.sqlite", *options, expect=1).stderr)

    def test_a_page(self):
        self.tuned(1024)
        self.tuned(2048)
        page = self.page("s.sqlite")
        document = self.document(page)
        self.assertEqual([t["sizes"] for t in document["tunings"]], ["n=1024", "n=2048"])
        self.assertEqual(document["command"], "clatune report s.sqlite --output page.html")
        self.assertEqual((self.folder / "page.html").stat().st_mode & 0o777, 0o600)
        for outside in ("http://", "https://", "<link", "@import", "url(", "src="):
            self.assertNotIn(outside, page.replace("http://www.w3.org/2000/svg", "")) # a name, not a place
        self.assertEqual(page, self.page("s.sqlite"))

    def test_a_page_runs_its_own_script_alone(self):
        self.tuned(1024)
        page = self.page("s.sqlite")
        policy = re.search(r'Content-Security-Policy"\s+content="([^"]*)"', page)[1]
        for tag, rule in (("style", "style-src"), ("script", "script-src")):
            inside = re.search(f"<{tag}>(.*?)</{tag}>", page, re.S)[1]
            digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
            self.assertIn(f"{rule} 'sha256-{digest}'", policy)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertIn("40 configurations, 40 correct", page)  # as text, if scripts are off

    def test_failures_are_told_by_reason_and_by_parameter(self):
        rows = {f"{a},{b}": {"a": a, "b": b, "time": "CompilationFailedConfig" if a == 2 and b < 5 else a + b}
                for a in (1, 2) for b in range(1, 9)}
        (self.folder / "cache.json").write_text(json.dumps({
            "device_name": "a card", "kernel_name": "k", "tune_params_keys": ["a", "b"],
            "tune_params": {"a": [1, 2], "b": list(range(1, 9))}, "cache": rows}))
        text = self.text("cache.json")
        self.assertIn("4 compile-error", text)
        self.assertIn("4 of 8 with a=2", text)
        tuning, = self.document(self.page("cache.json"))["tunings"]
        self.assertEqual(tuning["reasons"], {"compile-error": 4})
        self.assertEqual(tuning["failing"][0], {"parameter": "a", "value": 2, "rows": 8, "failed": 4})

    def test_json(self):
        best = self.tuned(1024)["best"]
        answer = self.clatune_json("report", "s.sqlite", "-o", "page.html")
        one, = answer["tunings"]
        self.assertEqual((one["title"], one["sizes"], one["configurations"]), ("copy", "n=1024", 40))
        self.assertEqual(one["best"]["configuration"], best["configuration"])
        self.assertEqual(len(one["fastest"]), 10)
        self.assertEqual([p["name"] for p in one["parameters"]], ["a", "b"])
        self.assertEqual(sum(v["rows"] for v in one["parameters"][0]["values"]), 40)
        self.assertEqual(one["model"]["rows"], 40)
        self.assertEqual(one["progress"][-1]["best_s"], one["fastest"][0]["time_s"])

    def test_what_a_tuning_says_of_itself(self):
        edited = json.loads((self.folder / "copy.json").read_text())
        edited["Metrics"] = [{"Name": "rate", "Expression": "n / time_s / 1e6", "Unit": "M/s"}]
        (self.folder / "copy.json").write_text(json.dumps(edited))
        answer = self.tuned(1024)
        best = answer["best"]
        of_problem = ("copy.json", "--device", "Simulated", "--size", "n=1024", *STORE)
        for source in (("s.sqlite",), of_problem):
            one, = self.clatune_json("report", *source)["tunings"]
            self.assertEqual((one["session"]["searcher"], one["session"]["evaluations"]), ("random", 40))
            self.assertGreater(one["session"]["processors"], 0)
            self.assertRegex(one["measured_from"], r"^20\d\d-\d\d-\d\d \d\d:\d\d$")
            self.assertEqual(one["default"]["configuration"], {"a": 0, "b": 0})
            self.assertAlmostEqual(one["gain_over_default"], one["default_value"] / one["best_value"], 5)
            self.assertEqual(one["options"], best["options"])
            rate, = (m for m in one["metrics"] if m["name"] == "rate")
            self.assertEqual(rate["unit"], "M/s")
            self.assertAlmostEqual(rate["value"] * one["best_value"] / 1024e-6, 1, 5)
            words = shlex.split(one["lookup"])
            self.assertEqual(words[:2], ["clatune", "lookup"])
            self.assertEqual(self.clatune_json(*words[1:])["configuration"], best["configuration"])
            text = self.text(*source)
            for line in ("newest search: random, 40 evaluations, seed 1", "over the default configuration (",
                         "\nmeasured 20", "\nrate                ", "\nlook it up          " + one["lookup"]):
                self.assertIn(line, text)
        self.assertEqual(one["notes"], answer["notes"])
        # Its disturbances, which a simulated device does not know.
        with sqlite3.connect(self.folder / "s.sqlite") as database:
            said = json.loads(database.execute("SELECT tuning FROM key WHERE tuning <> ''").fetchone()[0])
            said["notes"] = ["other programs took 30 %", "a quieter\x1b[31m machine", 3]
            database.execute("UPDATE key SET tuning = ?", (json.dumps(said),))
        database.close()
        self.assertIn("\nnotes               other programs took 30 %\n                    a quieter?[31m machine\n",
                      self.text("s.sqlite"))
        # A store from before this was kept.
        with sqlite3.connect(self.folder / "s.sqlite") as database:
            database.execute("UPDATE key SET tuning = ''")
        database.close()
        one, = self.clatune_json("report", "s.sqlite")["tunings"]
        self.assertIsNone(one["session"])
        self.assertEqual(one["options"], "-Da={a} -Db={b}".format(**best["configuration"]))

    def test_the_search_quality_of_the_newest_search(self):
        self.tune("--searcher", "surrogate", "--budget", "20", *STORE)
        one, = self.clatune_json("report", "s.sqlite")["tunings"]
        self.assertIn("not known for fewer than", one["session"]["how_sure"])
        self.assertIn("\nsearch quality      " + one["session"]["how_sure"], self.text("s.sqlite"))

    def test_a_page_to_give_away_has_no_paths(self):
        self.tuned(1024)
        here = str(self.folder)
        for source in (here + "/s.sqlite", here + "/copy.json"):
            own = self.page(source, "--store", here + "/s.sqlite", "--device", "Simulated")
            shared = self.page(source, "--store", here + "/s.sqlite", "--device", "Simulated", "--share")
            self.assertIn(here, own)
            self.assertNotIn(here, shared)
            self.assertIn("clatune lookup copy.json --size n=1024", shared)
            self.assertEqual((self.folder / "page.html").stat().st_mode & 0o777, 0o644)

    def test_at_a_size_of_which_nothing_is_known_the_others_are_named(self):
        problem = ("report", "copy.json", "--device", "Simulated", *STORE)
        self.tuned(2048)
        self.tuned(4096)
        said = self.clatune(*problem, expect=1).stderr
        self.assertEqual(said, "clatune: there are no measurements of 'copy' at n=1024; known: n=2048, n=4096\n")
        self.clatune(*problem, "--size", "n=4096")
        (self.folder / "copy.cl").write_text(KERNEL + "/* another one */")
        self.assertEqual(self.clatune(*problem, expect=1).stderr, "clatune: there are no measurements of 'copy' at n=1024\n")

    def test_a_plan_is_no_recording(self):
        (self.folder / "plan.json").write_text('{"Problems": "copy.json"}')
        self.assertIn("plan.json: is a plan, not a recording; ", self.clatune("report", "plan.json", expect=1).stderr)

    def test_csv(self):
        best = self.tuned(1024)["best"]
        self.tuned(2048)
        rows = list(csv.DictReader(io.StringIO(self.text("s.sqlite", "--csv"))))
        self.assertEqual([r["sizes"] for r in rows], 40 * ["n=1024"] + 40 * ["n=2048"])
        self.assertEqual({r["reason"] for r in rows}, {"none"})
        finalists = [r for r in rows[:40] if r["finalist_s"]]
        self.assertEqual({k: int(v) for k, v in min(finalists, key=lambda r: float(r["finalist_s"])).items() if k in "ab"},
                         best["configuration"])
        for more in (("-o", "x.html"), ("--json",), ("--text",)):
            self.clatune("report", "s.sqlite", "--csv", *more, expect=2)

    def test_mistakes(self):
        (self.folder / "broken").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
        self.clatune("report", "broken", expect=6)
        self.clatune("report", "nothing.json", expect=1)
        self.clatune("report", expect=2)
        self.clatune("report", "s.sqlite", "--seed", "x", expect=2)
        self.tuned(1024)
        self.assertIn("cannot", self.clatune("report", "s.sqlite", "-o", "no/such/folder.html", expect=1).stderr)


if __name__ == "__main__":
    main()
