"""clatune serve --stdio: the search of `replay`, with any text in a line, however it ends."""
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys

from harness import ANSWERS, CLATUNE, CliTest, check_answer, main, until

BLOCKS, TILES = [16, 32, 48, 64, 96, 128, 192, 256], [1, 2, 3, 4, 5, 6, 8, 10]
LINES = ANSWERS / "serve.json"
SPACE = {"TuningParameters": [{"Name": "block", "Values": BLOCKS}, {"Name": "tile", "Values": TILES}]}


def time_ms(block, tile):
    """A smooth bowl; large products fail."""
    return None if block * tile > 1200 else 1 + 0.3 * (math.log2(block) - 6) ** 2 + 0.2 * (math.log2(tile) - 1.5) ** 2


def result(configuration):
    """The members of a `tell` about a configuration."""
    ms = time_ms(**configuration)
    return {"configuration": configuration, **({"time_s": ms / 1e3} if ms else {"reason": "run-error"})}


class Server:
    """A running `clatune serve --stdio`."""

    def __init__(self, test, *options, **popen):
        self.process = subprocess.Popen([CLATUNE, "serve", "--stdio", *options], cwd=test.folder, env=test.environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, **popen)
        test.addCleanup(self.close)

    def line(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        check_answer(LINES, answer, "answer")
        return answer

    def __call__(self, **request):
        answer = self.line(json.dumps(request).encode())
        if "error" not in answer:
            check_answer(LINES, request, "request")
        return answer

    def close(self):
        """The end of its input; its exit code."""
        if not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        code = self.process.wait(timeout=120)
        self.process.stdout.close()
        return code

    def run(self, batch=1, measure=result):
        """Measures until the search is over: the configurations in their order."""
        asked = []
        while not (answer := self(ask=batch))["over"]:
            asked += answer["configurations"]
            for configuration in answer["configurations"]:
                told = self(tell=measure(configuration))
                assert told["asked"], told
        return asked


class Serve(CliTest):
    def begin(self, *options, space=SPACE, **more):
        server = Server(self, *options)
        answer = server(space=space, **more)
        self.assertNotIn("error", answer)
        return server

    def recording(self):
        entries = {f"{b},{t}": {"block": b, "tile": t, "time": time_ms(b, t) or "RuntimeFailedConfig"} for b in BLOCKS for t in TILES}
        (self.folder / "bowl.json").write_text(json.dumps(
            {"device_name": "a GPU", "kernel_name": "bowl", "tune_params_keys": ["block", "tile"],
             "tune_params": {"block": BLOCKS, "tile": TILES}, "cache": entries}))
        return "bowl.json"

    # --- the search ---

    def test_the_search_of_replay(self):
        """Byte for byte: both write a configuration in the same way."""
        path = self.recording()
        for searcher in ("surrogate", "random", "genetic"):
            for batch, seed in ((1, 1), (4, 7)):
                lines = self.clatune("replay", path, "--searcher", searcher, "--budget", "50", "--repeat", "1", "--batch", str(batch),
                                     "--seed", str(seed), "--events", "-").stdout.splitlines()
                replayed = [re.search(r'"configuration":(\{[^}]*\})', line)[1] for line in lines]
                self.assertEqual(len(replayed), 50)
                for space in ({"recording": path}, SPACE):
                    server = self.begin(space=space, searcher=searcher, budget=50, seed=seed)
                    asked = [json.dumps(c, separators=(",", ":")) for c in server.run(batch)]
                    self.assertEqual(asked, replayed, (searcher, batch))
                    best = server(best=True)
                    self.assertEqual((best["evaluations"], best["pending"]), (50, 0))

    def test_the_events_of_replay(self):
        path = self.recording()
        events = self.clatune("replay", path, "--budget", "20", "--repeat", "3", "--seed", "5", "--events", "runs.jsonl", "--json")
        lines = [json.loads(line) for line in (self.folder / "runs.jsonl").read_text().splitlines()]
        self.assertEqual([(e["space"], e["seed"], e["evaluations"]) for e in lines],
                         [("bowl", s, k) for s in (5, 6, 7) for k in range(1, 21)])
        last = [e["fraction_of_optimum"] for e in lines if e["evaluations"] == 20]
        self.assertAlmostEqual(sum(last) / 3, json.loads(events.stdout)["mean"]["20"])

    def test_settings(self):
        asked = [self.begin(searcher="two-stage", settings={"samples": 10, "second-stage": 5}, seed=s).run() for s in (1, 1, 2)]
        self.assertEqual((len(asked[0]), asked[0]), (15, asked[1]))
        self.assertNotEqual(asked[0], asked[2])

    def test_a_default_comes_first(self):
        space = {"TuningParameters": [{"Name": "block", "Values": BLOCKS, "Default": 96}, {"Name": "tile", "Values": TILES, "Default": 3}]}
        server = self.begin(space=space)
        self.assertEqual(server(ask=5)["configurations"], [{"block": 96, "tile": 3}])
        self.assertEqual(server(ask=1)["configurations"], [])  # the others wait for it
        self.assertEqual(server(pending=True)["configurations"], [{"block": 96, "tile": 3}])
        server(tell={"configuration": {"block": 96, "tile": 3}, "time_s": 1})
        five = server(ask=5)["configurations"]
        self.assertEqual((len(five), server(pending=True)["configurations"]), (5, five))

    def test_a_problem_file(self):
        server = self.begin(space={"problem": "scale.json"}, seed=3)
        answer = server(ask=1)
        self.assertEqual((len(answer["options"]), len(answer["launches"])), (1, 1))
        self.assertEqual([one["kernel"] for one in answer["launches"][0]], ["scale"])
        for name, value in answer["configurations"][0].items():
            self.assertIn(f"-D{name}={value}", answer["options"][0].split())
        self.assertIn("nowhere.json", server(space={"problem": "nowhere.json"})["error"])
        self.assertIn("widht", server(space={"problem": "scale.json", "sizes": {"widht": 3}})["error"])
        self.assertEqual(server(tell={"configuration": answer["configurations"][0], "time_s": 1})["asked"], True)

    def test_figures(self):
        """The greatest value wins, and a searcher that learns finds the way up."""
        server = self.begin(objective={"name": "throughput", "unit": "images/s", "goal": "maximise"}, budget=40)
        value = lambda c: 1e4 / (time_ms(**c) or 100)
        server.run(measure=lambda c: {"configuration": c, "value": value(c)})
        best = server(best=True)["best"]
        self.assertEqual(best["value"], value(best["configuration"]))
        self.assertGreater(best["value"], 0.97 * max(value({"block": b, "tile": t}) for b in BLOCKS for t in TILES))
        loss = self.begin(objective={"name": "loss", "unit": "", "goal": "minimise"}, budget=20)
        loss.run(measure=lambda c: {"configuration": c, "value": c["tile"] - 2.0})
        self.assertLessEqual(loss(best=True)["best"]["value"], 0)
        self.assertIn("value", self.begin()(tell={"configuration": {"block": 16, "tile": 1}, "value": 3})["error"])

    def test_a_program_with_a_figure(self):
        """Its objective and its limits, as the problem file says."""
        (self.folder / "program.json").write_text(json.dumps({
            "ConfigurationSpace": SPACE, "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 9}],
            "Command": {"Run": ["true"], "Figure": {"From": "output", "Unit": "MB/s", "Better": "larger"}}}))
        server = Server(self, "--store", "program.sqlite")
        answer = server(space={"problem": "program.json"})
        self.assertEqual((answer["tell"], answer["budget"], answer["objective"]["unit"]), ("value", 9, "MB/s"))
        server.run(measure=lambda c: {"configuration": c, "value": c["block"] * c["tile"]})
        best = server(best=True)["best"]
        self.assertEqual(server.close(), 0)
        found = self.clatune_json("lookup", "program.json", "--store", "program.sqlite")
        self.assertEqual((found["tier"], found["configuration"]), ("exact", best["configuration"]))

    def test_objectives_of_times(self):
        server = self.begin(objective="maximise tile / time_s", budget=64, searcher="exhaustive")
        asked = server.run()
        right = max((c for c in asked if time_ms(**c)), key=lambda c: c["tile"] / time_ms(**c))
        self.assertEqual(server(best=True)["best"]["configuration"], right)
        self.assertIn("energy_J", self.begin(objective="energy")(tell=result({"block": 16, "tile": 1}))["error"])

    # --- several loops ---

    def test_loops_side_by_side(self):
        """Each asks for one, and tells it when it is ready, in any order: every evaluation is another one."""
        for searcher in ("surrogate", "annealing", "two-stage"):
            server, busy, told, draw = self.begin(searcher=searcher, budget=48), [], [], random.Random(4)
            over = False
            while busy or not over:
                if len(busy) < 6 and not over:
                    answer = server(ask=1)
                    over = answer["over"]
                    busy += answer["configurations"]
                    self.assertTrue(busy or over, searcher)
                    if answer["configurations"]:
                        continue
                if busy:
                    told.append(busy.pop(draw.randrange(len(busy))))
                    self.assertEqual(server(tell=result(told[-1]))["pending"], len(busy))
            self.assertEqual(len({json.dumps(c) for c in told}), 48, searcher)
            self.assertEqual(server(best=True)["evaluations"], 48)

    # --- told results ---

    def test_failures_have_reasons(self):
        server = self.begin()
        failed, = server(ask=1)["configurations"]
        self.assertIn("did you mean \"compile-error\"", server(tell={"configuration": failed, "reason": "compile-eror"})["error"])
        self.assertIn("reason", server(tell={"configuration": failed, "reason": "none"})["error"])
        self.assertIn("cannot be combined with a result", server(tell={"configuration": failed, "reason": "refused", "time_s": 1})["error"])
        self.assertIn("needs a \"time_s\"", server(tell={"configuration": failed})["error"])
        told = server(tell={"configuration": failed, "reason": "compile-error", "log": "line 3"})
        self.assertEqual((told["failed"], told["best"], server(best=True)["best"]), (1, False, None))

    def test_the_least_run_counts(self):
        server = self.begin()
        configuration, = server(ask=1)["configurations"]
        server(tell={"configuration": configuration, "time_s": [0.3, 0.1, 0.2]})
        self.assertEqual(server(best=True)["best"]["time_s"], 0.1)
        for runs in ([], [0.1] * 65, [0.1, 0], [0.1, "fast"], {"least": 1}, "fast", -1, True):
            self.assertIn("time_s", server(tell={"configuration": {"block": 16, "tile": 1}, "time_s": runs})["error"])

    def test_mistakes_change_nothing(self):
        """A search among mistakes of all kinds asks for the same as one without."""
        clean = self.begin(budget=20).run()
        server = self.begin(budget=20)
        asked = []
        while not (answer := server(ask=1))["over"]:
            configuration, = answer["configurations"]
            asked.append(configuration)
            for wrong in ({"configuration": configuration, "time_s": 1e-400}, {"configuration": {"block": 16}, "time_s": 1},
                          {"configuration": {"block": 17, "tile": 1}, "time_s": 1}, {"configuration": [16, 1], "time_s": 1},
                          {"configuration": {**configuration, "colour": 3}, "time_s": 1}, {"time_s": 1}, [configuration], 3, None,
                          {"configuration": configuration, "time_s": 1, "tiem": 2}, {"configuration": configuration, "time_s": None},
                          {"configuration": {"block": 1e300, "tile": 2 ** 63 - 1}, "time_s": 1}):
                self.assertEqual(list(server(tell=wrong)), ["error"], wrong)
            self.assertEqual(server(tell=result(configuration))["asked"], True)
            self.assertIn("already", server(tell=result(configuration))["error"])
        self.assertEqual(asked, clean)

    def test_what_violates_a_condition(self):
        server = self.begin(space={**SPACE, "Conditions": ["block * tile <= 100"]})
        self.assertIn("block * tile <= 100", server(tell={"configuration": {"block": 256, "tile": 10}, "time_s": 1})["error"])

    def test_extreme_numbers(self):
        server = self.begin(budget=64)
        for time_s in (1e308, 5e-324, 1e-300, 1.7976931348623157e308):
            configuration, = server(ask=1)["configurations"]
            self.assertEqual(server(tell={"configuration": configuration, "time_s": time_s})["asked"], True)
        self.assertEqual(server(best=True)["best"]["time_s"], 5e-324)
        self.assertEqual(len(server.run()), 60)

    # --- earlier results, and a store ---

    def test_earlier_results(self):
        """Told before the first ask: the search begins with them, and asks for none of them."""
        earlier = [{"block": b, "tile": t} for b in BLOCKS[:4] for t in TILES]
        server = self.begin(budget=12)
        for configuration in earlier:
            self.assertEqual(server(tell=result(configuration))["asked"], False)
        best = server(best=True)
        self.assertEqual(best["best"]["configuration"], min((c for c in earlier if time_ms(**c)), key=lambda c: time_ms(**c)))
        asked = server.run()
        self.assertEqual(len(asked), 12)
        self.assertEqual([c for c in asked if c in earlier], [])
        self.assertEqual(server(best=True)["evaluations"], 12 + len(earlier))
        self.assertNotEqual(asked, self.begin(budget=12).run())

    def test_unasked_later(self):
        """Told while it runs: it is not asked for again, and counts where the search gets to it."""
        server = self.begin(searcher="exhaustive")
        first, = server(ask=1)["configurations"]
        unasked = [{"block": b, "tile": t} for b in BLOCKS for t in TILES][8:]
        for configuration in unasked:
            self.assertEqual(server(tell=result(configuration))["asked"], False)
        self.assertEqual(server(best=True)["best"]["configuration"], {"block": 64, "tile": 3})
        server(tell=result(first))
        self.assertEqual(server.run(), [{"block": 16, "tile": t} for t in TILES[1:]])
        self.assertEqual(server(best=True)["evaluations"], 64)

    def test_a_store(self):
        """After kill -9 in the middle the same request goes on; told results are known."""
        whole = self.begin(budget=40, seed=9).run()
        server = self.begin("--store", "served.sqlite", budget=40, seed=9, name="bowl")
        for _ in range(17):
            configuration, = server(ask=1)["configurations"]
            server(tell=result(configuration))
        best = server(best=True)["best"]
        server.process.kill()
        self.assertEqual(server.close(), -signal.SIGKILL)
        again = Server(self, "--store", "served.sqlite")
        self.assertEqual(again(space=SPACE, budget=40, seed=9, name="bowl")["known"], 17)
        self.assertEqual(again(best=True)["best"], best)
        self.assertEqual(again.run(), whole[17:])
        self.assertEqual(again(best=True)["evaluations"], 40)
        self.assertEqual(again(space=SPACE, name="another")["known"], 0)
        self.assertEqual(again(space=SPACE, name="bowl", objective={"name": "x", "goal": "minimise"})["known"], 0)
        listed = self.clatune_json("store", "list", "--store", "served.sqlite")
        self.assertIn("bowl", json.dumps(listed))
        self.assertEqual(self.clatune("serve", "--stdio", "--store", "/dev/null", expect=6).stdout, "")

    # --- lines ---

    def test_garbage(self):
        """Random bytes, cut and altered requests: a line of answer each, and the search is unchanged."""
        server, draw = self.begin(budget=64), random.Random(1)
        requests = [json.dumps(r).encode() for r in (
            {"space": SPACE, "searcher": "surrogate", "settings": {"samples": 3}, "seed": 1, "tolerance": 0.1}, {"ask": 1, "id": [1]},
            {"tell": result({"block": 16, "tile": 1})}, {"tell": {"configuration": "block=16 tile=1", "reason": "unknown"}}, {"best": True},
            {"space": {"problem": "scale.json", "device": "none such"}}, {"space": {"recording": "scale.json"}})]
        for i in range(600):
            line = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 60)))
            if i % 3:
                line = bytearray(draw.choice(requests))
                for _ in range(draw.randrange(3)):
                    line[draw.randrange(len(line))] = draw.choice(b'{}[]",:0123456789e-\x00\xff ' + bytes([draw.randrange(256)]))
                line = bytes(line[:draw.randrange(1, len(line) + 1)])
            line = line.replace(b"\n", b"?")
            if line.strip(b" \t\r"):
                self.assertIsInstance(server.line(line), dict, line)
        self.assertEqual(server(space=SPACE, budget=5)["valid"], 64)
        self.assertEqual(len(server.run()), 5)

    def test_large_and_deep_lines(self):
        server = self.begin(budget=3)
        deep = 100_000
        for line, why in ((b"x" * 10_000_000, "bytes"), (b'{"ask": "' + b"y" * 10_000_000 + b'"}', "bytes"),
                          (b"[" * deep, "request"), (b'{"ask":' * deep + b"1" + b"}" * deep, "request"),
                          (b'{"tell": {"configuration": ' + b"[" * 1000 + b"]" * 1000 + b"}}", "configuration"),
                          (b'{"ask": 1' + b"0" * 5000 + b"}", "request"), (b'{"ask": 1e999}', "request"), (b'{"ask": 1.5}', "ask"),
                          (b'{"ask": 0}', "ask"), (b'{"ask": -1}', "ask"), (b'{"ask": 10001}', "ask"), (b'{"ask": 1, "ask": 1}', "ask"),
                          (b'{"ask": 1}{"ask": 1}', "request"), (b'{"tell": {"time_s": NaN}}', "NaN"), (b"\xff\xfe", "request"),
                          (b'{"best": 1}\x00', "NUL byte"), (b'{"best": "\\u0000"}', "request"), (b'{"best": "\xff"}', "request"),
                          (b"null", "request"), (b"{}", "needs"), (b'{"stop": true, "ask": 1}', "one of"), (b'{"stpo": true}', "needs")):
            answer = server.line(line)
            self.assertEqual(list(answer), ["error"], line[:50])
            self.assertIn(why, answer["error"], line[:50])
        self.assertEqual(len(server.run()), 3)

    def test_ids_blank_lines_and_a_last_line_without_an_end(self):
        requests = b'\n  \n\r\n{"id": {"a": [1]}, "space": %s}\r\n{"id": null, "ask": 2}\n{"id": 5, "tell": 1}\n\n{"id": "x", "best": true}'
        run = subprocess.run([CLATUNE, "serve", "--stdio"], input=requests % json.dumps(SPACE).encode(), capture_output=True,
                             cwd=self.folder, env=self.environment, timeout=60)
        answers = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual(([a["id"] for a in answers], run.returncode), ([{"a": [1]}, None, 5, "x"], 0))
        self.assertEqual([("error" in a) for a in answers], [False, False, True, False])

    def test_before_a_search_and_mistakes_in_spaces(self):
        server = Server(self)
        for request in ({"ask": 1}, {"tell": {}}, {"best": True}):
            self.assertIn("no search yet", server(**request)["error"])
        for space, why in ((3, "object"), ({}, "TuningParameters"), ({"TuningParameters": []}, "parameter"),
                           ({"TuningParameters": [{"Name": "a"}]}, "Values"), ({"TuningParameters": [{"Name": "1", "Values": [1]}]}, "name"),
                           ({**SPACE, "Conditions": ["block +"]}, "Conditions"), ({**SPACE, "Conditions": ["bolck > 1"]}, "block"),
                           ({**SPACE, "Conditions": ["block > 1000"]}, "block > 1000"), ({**SPACE, "Colour": 1}, "Colour"),
                           ({"recording": "nowhere.json"}, "nowhere.json"), ({"problem": 3}, "problem")):
            self.assertIn(why, server(space=space)["error"], space)
        for more, why in (({"searcher": "sorrugate"}, "surrogate"), ({"budget": 0}, "budget"), ({"seed": -1}, "seed"), ({"sede": 1}, "seed"),
                          ({"searcher": "two-stage", "settings": {"smaples": 3}}, "'samples'"), ({"tolerance": 2}, "tolerance"), ({"objective": "tiem"}, "tiem"),
                          ({"objective": {"name": "x"}}, "goal"), ({"threads": -1}, "threads"), ({"settings": 4}, "settings")):
            self.assertIn(why, server(space=SPACE, **more)["error"], more)
        self.assertEqual(server(space=SPACE)["budget"], 200)
        self.assertIn("error", server(space=3))  # the search before goes on
        self.assertEqual(len(server(ask=3)["configurations"]), 3)

    # --- the end ---

    def test_stop(self):
        server = Server(self)
        self.assertEqual(server(stop=True, id=1), {"stopped": True, "id": 1})
        self.assertEqual(server.process.wait(timeout=60), 0)

    def test_ends_with_its_input(self):
        self.assertEqual(self.begin().close(), 0)

    def test_ends_with_its_parent(self):
        """A parent is killed in the middle of a line. The server holds a pipe open, whose end says that it has gone."""
        read, write = os.pipe()
        parent = subprocess.Popen(
            [sys.executable, "-c", "import subprocess, sys\n"
             "p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[%d])\n"
             "p.stdin.write(b'{\"stop\": 1, \"ask\": 1}\\n{\"ask\": 1')\np.stdin.flush()\n"
             "print(p.stdout.readline(), flush=True)\np.wait()" % write, CLATUNE, "serve", "--stdio"],
            pass_fds=[write], stdout=subprocess.PIPE, env=self.environment)
        os.close(write)
        self.assertIn(b"error", parent.stdout.readline())
        parent.kill()
        parent.wait()
        parent.stdout.close()
        with os.fdopen(read, "rb") as pipe:
            self.assertEqual(pipe.read(), b"")

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.addCleanup(signal.signal, number, signal.signal(number, signal.SIG_DFL))  # nohup, say, ignores one
            server = self.begin("--store", "signals.sqlite", name=str(number))
            configuration, = server(ask=1)["configurations"]
            server(tell=result(configuration))
            server.process.send_signal(number)
            self.assertEqual(server.close(), -number)
            self.assertEqual(Server(self, "--store", "signals.sqlite")(space=SPACE, name=str(number))["known"], 1)

    def test_nobody_reads_the_answers(self):
        server = Server(self)
        server.process.stdout.close()
        server.process.stdin.write(b'{"ask": 1}\n' * 3)
        server.process.stdin.flush()
        self.assertTrue(until(lambda: server.process.poll() is not None))
        self.assertEqual(server.close(), 1)

    def test_no_input_and_no_way(self):
        run = subprocess.run(["sh", "-c", '"$0" serve --stdio <&-', CLATUNE], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr), (1, "clatune: cannot read standard input\n"))
        self.assertIn("--stdio", self.clatune("serve", expect=2).stderr)

    # --- the page ---

    def test_the_examples_of_the_page(self):
        page = pathlib.Path(os.environ["SERVE_PAGE"]).read_text()
        environment = {**self.environment, "PATH": f"{pathlib.Path(CLATUNE).parent}:{os.environ['PATH']}"}
        for language, command, answer in (("python", [sys.executable, "-c"], r"'configuration': \{'block': \d+, 'unroll': [124]\}"),
                                          ("bash", ["bash", "-c"], r'"configuration":\{"level":[1-9]\}.*"evaluations":6,')):
            code, = re.findall(rf"```{language}\n(.*?)```", page, re.S)
            run = subprocess.run([*command, code], capture_output=True, text=True, cwd=self.folder, env=environment, timeout=120)
            self.assertRegex(run.stdout, answer, run.stderr)


main()
