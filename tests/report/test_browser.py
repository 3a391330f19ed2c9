"""The page of 'clatune report' in a real browser: sizes, overlaps, plots, contrast, light and dark. Without Chromium it is
skipped. CLATUNE_SCREENSHOTS=FOLDER keeps pictures of the pages."""
import base64
import hashlib
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CLATUNE, SOURCE = os.environ["CLATUNE"], pathlib.Path(os.environ["SOURCE_ROOT"])
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-shell", "google-chrome"))), None)
CHECK = pathlib.Path(__file__).with_name("page_check.js").read_text()
RECORDED = SOURCE / "data" / "recorded"
SCHEMES = ("light", "dark")
# Checks that depend on the width do not depend on the scheme: each of both once. Most pages only where they are most likely to break.
LOOKS = ((360, "dark"), (1280, "light"))
PHONE = LOOKS if "CLATUNE_FIGURES" in os.environ else LOOKS[:1]


class Browser(unittest.TestCase):
    pages = {}  # by their arguments

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def report(self, *arguments):
        if arguments not in self.pages:
            run = subprocess.run([CLATUNE, "report", *map(str, arguments), "-o", "page.html"], cwd=self.folder, text=True,
                                 capture_output=True, timeout=280)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.pages[arguments] = (self.folder / "page.html").read_text()
        return self.pages[arguments]

    def browse(self, page, width, scheme, *arguments):
        path = self.folder / "looked-at.html"
        path.write_text(page)
        # Run as root, and in containers, Chromium has no sandbox of its own to offer.
        words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                 f"--user-data-dir={self.folder / 'profile'}", f"--window-size={width},900",
                 f"--blink-settings=preferredColorScheme={SCHEMES[::-1].index(scheme)}", *arguments, path.as_uri()]
        return subprocess.run(words, text=True, capture_output=True, timeout=120)

    def look(self, page, width=1280, scheme="light"):
        # The check is a script, which the page itself forbids: the policy allows its hash too.
        digest = base64.b64encode(hashlib.sha256(CHECK.encode()).digest()).decode()
        checked = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
        checked = checked.replace("</head>", f"<script>{CHECK}</script></head>", 1)
        run = self.browse(checked, width, scheme, "--dump-dom", "--enable-logging=stderr")
        match = re.search(r'<pre id="page-check">(.*?)</pre>', run.stdout, re.S)
        self.assertTrue(match, f"the browser said nothing of the page\n{run.stderr[-2000:]}")
        return {**json.loads(html.unescape(match[1])), "console": "CONSOLE" in run.stderr}

    def look_everywhere(self, page, name, figures, looks=LOOKS):
        """Checks a page in both widths and schemes; returns the last look."""
        grounds = set()
        for width, scheme in looks:
            with self.subTest(page=name, width=width, scheme=scheme):
                look = self.look(page, width, scheme)
                self.assertEqual((look["found"], look["console"]), ([], False))
                self.assertEqual((look["width"], look["dark"]), (width, scheme == "dark"))
                self.assertEqual(len(look["figures"]), figures, look["figures"])
                grounds.add(look["ground"])
                self.picture(page, name, width, scheme)
        self.assertEqual(len(grounds), len(looks), grounds)
        return look

    def picture(self, page, name, width, scheme):
        folder = os.environ.get("CLATUNE_SCREENSHOTS")
        if folder:
            target = pathlib.Path(folder) / f"{name}-{width}-{scheme}.png"
            self.browse(page, f"{width},6000".split(",")[0], scheme, f"--screenshot={target}", f"--window-size={width},6000")

    # --- pages ---

    def test_a_recording(self):
        page = self.report(RECORDED / "raycasting-h100.json.gz")
        # Two of progress, one a parameter, two of pairs, one of the model.
        look = self.look_everywhere(page, "recording", 2 + 10 + 2 + 1)
        self.assertIn("The effect of each value of wg_x", look["figures"])
        self.assertIn("raycasting", look["title"])

    def test_by_an_objective(self):
        look = self.look(self.report(RECORDED / "raycasting-h100.json.gz", "--objective", "maximise 1 / time_s"))
        self.assertEqual(look["found"], [])
        self.assertEqual(len(look["figures"]), 2 + 10 + 2 + 1)
        for words in ("To be maximised: 1 / time_s", "The ten best", "Better than the median"):
            self.assertIn(words, look["text"])

    def test_a_front_of_several_objectives(self):
        page = self.report(RECORDED / "raycasting-h100.json.gz", "--objective", "time,minimise wg_x * wg_y,maximise ppt_x")
        look = self.look_everywhere(page, "front", 2 + 10 + 2 + 1 + 2, PHONE)
        self.assertIn("No other configuration is at least as good by all objectives", look["text"])
        for member in self.document(page)["tunings"][0]["front"]["members"]:
            self.assertIn(member["text"], look["text"])

    def test_a_page_of_what_runs(self):
        events = [{"event": "started", "tuning": name, "problem": name, "sizes": {"n": 8}, "device": {"name": "a GPU"},
                   "objective": {"name": "time", "unit": "s", "goal": "minimise"}} for name in ("one", "two")]
        events += [{"event": "evaluation", "tuning": "one", "evaluations": i, "elapsed_s": i / 2, "configuration": {"wg": i},
                    "reason": "none" if i < 3 else "timeout", "value": 1e-3 / i if i < 3 else None} for i in (1, 2, 3)]
        events += [{"event": "incumbent", "tuning": "one", "evaluations": i, "elapsed_s": i / 2, "configuration": {"wg": i}, "value": 1e-3 / i}
                   for i in (1, 2)]
        events += [{"event": "waits", "tuning": "one", "waits": "compiling <i>4</i> configurations"},
                   {"event": "finished", "tuning": "two", "exit_code": 4}, {"event": "finished", "exit_code": 0}]
        (self.folder / "events").write_text("".join(json.dumps(event) + "\n" for event in events))
        look = self.look_everywhere(self.report("a.sqlite", "--follow", "events"), "running", 1, PHONE)
        for words in ("1 of 2 tunings have ended.", "one \u00b7 n=8 \u00b7 a GPU", "compiling <i>4</i> configurations", "1 timeout",
                      "wg=2", "No measurement yet"):
            self.assertIn(words, look["text"])

    def document(self, page):
        return json.loads(re.search(r'<script type="application/json" id="document">(.*?)</script>', page, re.S)[1])

    def test_of_a_tuning_with_finalists_and_a_default(self):
        """Data that only a store has, put into the page of a recording."""
        page = self.report(RECORDED / "convolution-intel-1024.json.gz")
        document = self.document(page)
        t, = document["tunings"]
        t["default"] = t["fastest"][5]
        for parameter in t["parameters"]:
            for value in parameter["values"]:
                value["of_default"] = value["value"] == t["default"]["configuration"][parameter["name"]]
        t["best_value"] = 1.5 * t["best"]["value"]
        t.update(best_is_finalist=True, gain_over_default=2.312, default_value=2.312 * t["best_value"],
                 lookup="clatune lookup k.json --size 'n=1'", measured_from="2026-01-02 03:04",
                 measured_until="2026-01-02 05:06", metrics=[{"name": "rate", "unit": "GB/s", "value": 345.67}],
                 notes=["other programs took 30 %"],
                 session={"searcher": "surrogate", "ended_by": "budget", "how_sure": "about 1 in 3", "seed": 1,
                          "evaluations": 200, "load": 0.3, "processors": 2})
        data = json.dumps(document).replace("<", "\\u003c")
        begin = page.index('id="document">') + len('id="document">')
        look = self.look_everywhere(page[:begin] + data + page[page.index("</script>", begin):], "default", 2 + 9 + 2 + 1, PHONE)
        text = look["text"]
        self.assertLess(text.index("Speed-up over the default"), text.index("Best time"))
        for words in ("2.31\u00d7", "345.7\u00a0GB/s", "Compiler options -D", "Look it up clatune lookup k.json",
                      "Search quality: about 1 in 3.", "Note: other programs took 30 %.", "Measured 2026-01-02 03:04 to 05:06 UTC; newest search: "
                      "surrogate, 200 evaluations, seed 1; load 0.30 on 2 processors", "(default)"):
            self.assertIn(words, text)
        self.assertNotIn("Model errs by", text)
        # The ring in every plot of measurements is the headline's.
        headline = re.search(r"Best time\s+(\S+\s\S+)", text)[1]
        self.assertEqual(len(look["rings"]), 2 + 9 + 2)
        for ring in look["rings"]:
            self.assertTrue(ring.endswith(": " + headline), (ring, headline))

    def test_tooltips_name_configurations_and_any_pair_can_be_chosen(self):
        page = self.report(RECORDED / "convolution-intel-1024.json.gz")
        t, = self.document(page)["tunings"]
        n = len(t["parameters"])
        self.assertEqual(1 + len(t["other_pairs"]), sum(range(len(t["ranking"]))))
        self.assertGreater(n, 2)
        chosen = t["other_pairs"][1]["parameters"]
        script = "const s = document.querySelector('select'); s.value = '2'; s.dispatchEvent(new Event('change'));"
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        changed = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
        look = self.look(changed.replace("</body>", f"<script>{script}</script></body>", 1))
        self.assertEqual([f for f in look["found"] if not f.startswith("script:")], [])
        self.assertIn("The best for each pair of values of {} and {}".format(*chosen), look["figures"])
        self.assertGreater(look["tips"], 2 * len(t["points"]["value"]))
        self.assertIn(t["best"]["text"] + ": ", look["rings"][0])

    def test_several_compared(self):
        names = ("raycasting-h100", "convolution-intel-1024", "stereo-h100")
        page = self.report(*(RECORDED / f"{name}.json.gz" for name in names))
        parameters = [10, 9, 11]
        look = self.look_everywhere(page, "compared", 2 + sum(2 + n + 2 + 1 for n in parameters), PHONE)
        self.assertIn("3 tunings compared", look["title"])

    def test_names_that_would_be_markup_or_commands(self):
        """Of a cache file: its author chooses device, kernel and values."""
        nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>'\"`touch hacked`"
        words = ["system-rm", "a.b", "long_value_with_many_letters_in_it_and_more", "x" * 200]
        cache = {f"{w},{n}": {"mode": w, "n": n, "time": 1 + n * (1 + words.index(w)), "times": [1 + n, 2 + n]}
                 for w in words for n in range(1, 31)}
        cache["a.b,3"]["time"] = cache["a.b,5"]["time"] = cache["system-rm,3"]["time"] = "CompilationFailedConfig"
        cache["a.b,4"]["time"] = cache["a.b,7"]["time"] = "InvalidConfig"
        (self.folder / "<b>x'y.json").write_text(json.dumps({
            "device_name": nasty, "kernel_name": nasty, "tune_params_keys": ["mode", "n"],
            "tune_params": {"mode": words, "n": list(range(1, 31))}, "cache": cache}))
        page = self.report(self.folder / "<b>x'y.json")
        self.assertNotIn("<img", page)
        look = self.look_everywhere(page, "nasty", 1 + 2 + 2 + 1)
        self.assertIn("<b>x'y", look["title"])
        self.assertIn(nasty, look["text"])  # as text
        self.assertFalse(look["images"])

    def test_the_policy_stops_a_script_that_is_not_the_pages(self):
        page = self.report(RECORDED / "convolution-intel-1024.json.gz")
        found = self.look(page.replace("<header", "<script>document.title = 'hacked'</script><header", 1))
        self.assertNotEqual(found["title"], "hacked")
        self.assertTrue([f for f in found["found"] if f.startswith("blocked")], found["found"])

    def test_one_row_and_none_that_is_correct(self):
        row = {"a": 1, "b": 2, "time": 3.5}
        for name, entry, look in (("one", row, LOOKS[0]), ("none", {**row, "time": "RuntimeFailedConfig"}, LOOKS[1])):
            (self.folder / f"{name}.json").write_text(json.dumps({
                "device_name": "", "kernel_name": "k", "tune_params_keys": ["a", "b"],
                "tune_params": {"a": [1], "b": [2]}, "cache": {"1,2": entry}}))
            self.look_everywhere(self.report(f"{name}.json"), name, {"one": 1, "none": 0}[name], (look,))

    def test_without_scripts_the_page_is_text(self):
        page = self.report(RECORDED / "convolution-intel-1024.json.gz")
        text = html.unescape(re.search(r"<noscript><pre[^>]*>(.*?)</pre></noscript>", page, re.S)[1])
        self.assertIn("best configuration", text)
        self.assertIn("explains", text)

    # --- the check itself ---

    def test_the_check_finds_what_is_wrong(self):
        page = self.report(RECORDED / "convolution-intel-1024.json.gz")
        first = "const first = (s) => document.querySelector(s)"
        faults = {
            "overflow": "first('main').style.cssText = 'width:3000px;max-width:none'",
            "no size": "first('h2').style.cssText = 'height:0;padding:0;border:0;margin:0;overflow:hidden'",
            "no plot": "first('figure').before(document.createElement('figure'))",
            "empty plot": "first('svg .data').remove()",
            "overlap": "first('td.n').style.cssText = 'position:relative;left:90px'",
            "contrast": "first('h1').style.color = '#ddd'",
            "heading skipped": "first('h2').before(document.createElement('h4'))",
            "something from elsewhere": "const i = new Image(); i.src = 'http://127.0.0.1:1/x.png'; first('h1').append(i)",
            "text outside of plot": "first('svg text').setAttribute('transform', 'translate(-900,0)')",
            "script error": "undefinedFunction()",  # the last: it ends the script
        }
        script = "; ".join([first, *faults.values()])
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        broken = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
        look = self.look(broken.replace("</body>", f"<script>{script}</script></body>", 1))
        for kind in faults:
            with self.subTest(kind=kind):
                self.assertTrue([f for f in look["found"] if f.startswith(kind)], look["found"])
        self.assertTrue(look["console"])


if __name__ == "__main__":
    if BROWSER is None:
        print("no Chromium: scripts/install-packages --with-browser")
        sys.exit(77)
    program = unittest.main(exit=False, verbosity=1)
    sys.exit(0 if program.result.wasSuccessful() and program.result.testsRun else 1)
