"""scripts/docs-site: every link and anchor of the site leads somewhere, nothing is loaded from elsewhere; in a browser, at the width of a phone
and of a screen, no page is too wide, no text cut off and no table empty, and the search finds words. Without MkDocs it is skipped, and without Chromium its second half."""
import functools
import html.parser
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-shell", "google-chrome"))), None)
CHECK = pathlib.Path(__file__).with_name("site_check.html")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads, self.headings, self.text = set(), [], [], 0, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(filter(None, (found.get("id"), found.get("name"))))
        self.headings += tag == "h1"
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag != "a":
            self.loads += [found[name] for name in ("src", "href") if found.get(name) and found.get("rel") != "canonical"]

    def handle_data(self, data):
        self.text += data


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        run = subprocess.run([ROOT / "scripts/docs-site", cls.folder / "build"], text=True, capture_output=True, timeout=280,
                             env={**os.environ, "CLATUNE_REPOSITORY": "https://example.org/clatune"})
        if run.returncode:
            raise AssertionError(run.stdout[-2000:] + run.stderr[-3000:])
        cls.site = cls.folder / "build" / "site"
        cls.pages = {path: Page(path.read_text()) for path in cls.site.rglob("*.html")}

    def where(self, page, link):
        """The file and the anchor that a link of a page leads to."""
        parts = urllib.parse.urlsplit(link)
        path = urllib.parse.unquote(parts.path)
        base = self.site if path.startswith("/") else page.parent
        return ((base / path.lstrip("/")).resolve() if path else page), urllib.parse.unquote(parts.fragment)

    def test_every_link_leads_somewhere(self):
        faults, n = [], 0
        for page, content in self.pages.items():
            for link in [*content.links, *content.loads]:
                if re.match(r"(https?|mailto|data):|//", link):
                    if link in content.loads and not link.startswith("data:"):
                        faults.append(f"{page.relative_to(self.site)} loads {link}")
                    continue
                n += 1
                path, anchor = self.where(page, link)
                if page.name == "404.html" or link == ".":
                    continue
                if not path.is_file():
                    faults.append(f"{page.relative_to(self.site)}: there is no {link}")
                elif anchor and path.suffix == ".html" and anchor not in self.pages[path].anchors:
                    faults.append(f"{page.relative_to(self.site)}: {link}: no such anchor")
        self.assertFalse(faults, "\n".join(["", *faults[:40]]))
        self.assertGreater(n, 1000)

    def test_a_reader_can_turn_the_pages(self):
        """From the front page, which shows the pictures, through all pages; each names the version and the repository."""
        version = re.search(r"^  version: '(.*)',$", (ROOT / "meson.build").read_text(), re.M)[1]
        page, seen = self.site / "index.html", []
        self.assertEqual([name for name in self.pages[page].loads if "pictures/" in name], ["pictures/search.svg", "pictures/tune.svg", "pictures/report.png"])
        while page and page not in seen:
            self.assertIn(f"clatune {version}", self.pages[page].text)
            self.assertIn("https://example.org/clatune", self.pages[page].links)
            if seen:
                self.assertEqual(self.turn(page, "prev"), seen[-1])
            seen.append(page)
            page = self.turn(page, "next")
        self.assertEqual({p.name for p in self.pages.keys() - set(seen)}, {"404.html", "search.html"})
        example = "https://example.org/clatune/blob/main/examples/row/row.json"
        self.assertIn(example, self.pages[self.site / "reference/problem-file.html"].links)

    def turn(self, page, where):
        """The page that the link at the end leads to, or None."""
        found = re.search(rf'<a rel="{where}" href="([^"]*)"', page.read_text())
        return found and self.where(page, found[1])[0]

    def test_the_generated_parts_are_there(self):
        texts = {path.relative_to(self.site).as_posix(): content.text for path, content in self.pages.items()}
        for page, words in {"reference/command-line.html": ("--stagnation", "interrupted by SIGHUP"), "reference/json.html": ("interval_low", "elapsed_s"),
                            "reference/failure-reasons.html": ("ValidationFailed",), "reference/devices.html": ("device.warp_size",),
                            "reference/problem-file.html": ("ReferenceArguments", "BorderMode"), "reference/c-api.html": ("CLT_E_AGAIN", "clt_tune_run"),
                            "reference/searchers.html": ("Searcher genetic",)}.items():
            for word in words:
                self.assertIn(word, texts[page], page)

    def test_no_markdown_is_left(self):
        """Syntax that MkDocs' Markdown does not know as GitHub's does."""
        for path, content in self.pages.items():
            if path.name in ("search.html", "404.html"):
                continue
            prose = re.sub(r"(?s)<(pre|code|script|style)\b.*?</\1>", "", path.read_text())
            for fault in (r"\n\| ?---", r"```", r"\]\([\w./#-]+\)", r"\*\*\w+ \w+\*\*", r"<p>[^<]*\n[-*] "):
                self.assertIsNone(re.search(fault, prose), f"{path.relative_to(self.site)}: {fault}: "
                                  + repr(prose[max(0, (re.search(fault, prose) or re.match("", prose)).start() - 80):][:200]))
            self.assertEqual(content.headings, 1, path)

    @unittest.skipIf(BROWSER is None, "no Chromium: scripts/install-packages --with-browser")
    def test_in_a_browser(self):
        words = {"finalist": "glossary.html", "guard bands": "explanation/measuring.html", "stagnation": "reference/command-line.html"}
        names = sorted("/" + path.relative_to(self.site).as_posix() for path in self.pages if path.name not in ("404.html", "search.html"))
        found, told = {}, threading.Event()

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                answers = {"/check": CHECK.read_bytes(), "/asked": json.dumps({"pages": [*names, "/wide", "/lost"], "words": list(words)}).encode(),
                           "/wide": b"<!doctype html><h1>Wide</h1><p style='width:1200px'>not on a phone",
                           "/lost": b"<!doctype html><h1>Lost</h1><table><thead><tr><th>key<tbody></table><p style='overflow:hidden'><span style='padding:0 999px'>cut"}
                if self.path not in answers:
                    return super().do_GET()
                self.send_response(200)
                self.send_header("Content-Type", "application/json" if self.path == "/asked" else "text/html")
                self.end_headers()
                self.wfile.write(answers[self.path])

            def do_POST(self):
                found.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()
                told.set()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.site))
        self.addCleanup(server.server_close)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        browser = subprocess.Popen(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder / 'profile'}", "--window-size=1000,900", f"http://127.0.0.1:{server.server_port}/check"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)  # Debian's program is a script, whose child it is
        self.addCleanup(browser.wait)
        self.addCleanup(os.killpg, browser.pid, signal.SIGKILL)
        self.assertTrue(told.wait(240), "the browser said nothing")
        self.assertIsNone(found.get("error"))
        self.assertEqual(list(found["faults"].pop("/wide", {})), ["390"], found)
        self.assertEqual({width: [fault.partition(":")[0] for fault in faults] for width, faults in found["faults"].pop("/lost", {}).items()},
                         {width: ["an empty table", "cut off"] for width in ("390", "1280")})
        self.assertEqual((found["faults"], found["widths"]), ({}, [390, 1280]))
        self.assertEqual(found["read"], len(names) + 2)
        for word, page in words.items():
            self.assertIn(page, [re.sub(r"^[./]*|#.*", "", link) for link in found["results"][word]], word)


if __name__ == "__main__":
    if shutil.which("mkdocs") is None:
        print("no MkDocs: scripts/install-packages --with-site")
        sys.exit(77)
    program = unittest.main(exit=False, verbosity=1)
    sys.exit(0 if program.result.wasSuccessful() and program.result.testsRun else 1)
