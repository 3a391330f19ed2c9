"""'clatune report': of stores, problems and recordings, as text and as a page."""
import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402

STORE = ("--store", "s.sqlite")


class Report(SimulatedTest):
    def tuned(self, n, budget=40):
        return self.tune("--searcher", "random", "--budget", str(budget), "--size", f"n={n}", *STORE)

    def text(self, *arguments, **more):
        return self.clatune("report", *arguments, **more).stdout

    def page(self, *arguments, warns="", **more):
        run = self.clatune("report", *arguments, "-o", "page.html", **more)
        self.assertEqual(bool(run.stderr), bool(warns), run.stderr)
        self.assertIn(warns, run.stderr)
        return (self.folder / "page.html").read_text()

    def test_a_store_alone_says_what_the_problem_says(self):
        best = self.tuned(1024)["best"]
        alone = self.text("s.sqlite")
        problem = self.text("copy.json", "--device", "Simulated", "--size", "n=1024", *STORE)
        for text in (alone, problem):
            self.assertIn("copy\nn=1024\n", text)
            self.assertIn("40 configurations, 40 correct", text)
            self.assertIn(" ".join(f"{k}={v}" for k, v in best["configuration"].items()), text)
            self.assertIn("rows not trained on", text)
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
            self.assertIn("nothing in the store", self.clatune("report", "s.sqlite", *options, expect=1).stderr)

    def test_a_page(self):
        self.tuned(1024)
        self.tuned(2048)
        page = self.page("s.sqlite", warns="" if shutil.which("gnuplot") else "gnuplot-nox")
        self.assertIn("2 tunings compared", page)
        self.assertIn("clatune report s.sqlite --output page.html", page)
        self.assertEqual(page.count("<svg") > 0, shutil.which("gnuplot") is not None)
        for outside in ("http://", "https://", "<script", "@import", "url("):
            self.assertNotIn(outside, page)
        self.assertEqual(page, self.page("s.sqlite", warns="" if shutil.which("gnuplot") else "gnuplot-nox"))

    def test_a_page_without_gnuplot_says_what_to_install(self):
        self.tuned(1024)
        page = self.page("s.sqlite", warns="gnuplot-nox", PATH=str(self.folder))
        self.assertNotIn("<svg", page)
        self.assertIn("gnuplot-nox", page)

    def test_a_gnuplot_that_fails_is_no_end(self):
        self.tuned(1024)
        fake = self.folder / "bin" / "gnuplot"
        fake.parent.mkdir()
        fake.write_text("#!/bin/sh\necho 'no <terminal>' >&2\nexit 3\n")
        fake.chmod(0o755)
        page = self.page("s.sqlite", warns="gnuplot failed: no <terminal>", PATH=f"{fake.parent}:/usr/bin:/bin")
        self.assertIn("no &lt;terminal&gt;", page)
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith("clatune-")], [])

    def test_failures_are_told_by_reason_and_by_parameter(self):
        rows = {f"{a},{b}": {"a": a, "b": b, "time": "CompilationFailedConfig" if a == 2 and b < 5 else a + b}
                for a in (1, 2) for b in range(1, 9)}
        (self.folder / "cache.json").write_text(json.dumps({
            "device_name": "a card", "kernel_name": "k", "tune_params_keys": ["a", "b"],
            "tune_params": {"a": [1, 2], "b": list(range(1, 9))}, "cache": rows}))
        text = self.text("cache.json")
        self.assertIn("4 compile-error", text)
        self.assertIn("4 of 8 with a=2", text)
        page = self.page("cache.json", PATH=str(self.folder), warns="gnuplot")
        self.assertIn("compile-error", page)
        self.assertIn("50.0\u00a0%", page)

    def test_json(self):
        best = self.tuned(1024)["best"]
        answer = self.clatune_json("report", "s.sqlite", "-o", "page.html", PATH=str(self.folder))
        one, = answer["tunings"]
        self.assertEqual((one["title"], one["sizes"], one["configurations"]), ("copy", "n=1024", 40))
        self.assertEqual(one["best"]["configuration"], best["configuration"])
        self.assertEqual(len(one["fastest"]), 10)
        self.assertEqual([p["name"] for p in one["parameters"]], ["a", "b"])
        self.assertEqual(sum(v["rows"] for v in one["parameters"][0]["values"]), 40)
        self.assertEqual(one["model"]["rows"], 40)
        self.assertEqual(one["progress"][-1]["best_s"], one["fastest"][0]["time_s"])

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
