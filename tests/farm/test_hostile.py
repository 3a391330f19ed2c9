"""Rows of the shared database are hostile input, and so is a program that answers in the server's place: one-line refusals; nothing is executed or
written outside; harmless rows are worked on all the same."""
import json
import os
import random
import re
import subprocess

from farm import CLATUNE, FarmTest, run, until
from server import PASSWORD, Server

N_ROWS = int(os.environ.get("CLATUNE_ROWS", 400))
READERS = [command.split() for command in (
    "sweep --status --store URL", "sweep --status --json --store URL", "sweep plan.json --summary --store URL", "store list --store URL",
    "store list --json --store URL", "store show copy --store URL", "report URL --text", "report URL --json",
    "report URL -o agents/report.html", "store export -o agents/exported.sqlite --store URL",
    "lookup copy.json --device Simulated --store URL")]
TEXTS = ("", "'", "\"", "\\", "$(touch outside/x)", "; touch outside/x", "`touch outside/x`", "../outside/evil.json", "outside/evil.json#" + "0" * 32,
         "/dev/zero", "\x1b[2J\x07", "\r\n\t\x01", "%s%n%d", "a=1 b=2", "a=99999999999999999999", "-1", "NaN", "\ud7ff\ufffd\U0010ffff", "é" * 300,
         "x" * 70000, "[" * 5000, "{" * 5000, "null", "{\"a\": [1e999]}", "-D clatune", "none", "search", "finalist", "copy", "Simulated", "unknown")
NUMBERS = ("0", "-1", "1", "9223372036854775807", "-9223372036854775808", "4294967296", "'NaN'", "'Infinity'", "'-Infinity'", "1e300", "1e-300",
           "1e-5", "null")
ARRAYS = ("'{}'", "'{1e-5,2e-5}'", "'{{1,2},{3,4}}'", "'[5:6]={1,2}'", "'{NULL,1}'", "'{NaN,Infinity,-1}'", "array_fill(1e-5::float8, array[20000])")
KEY = "from clatune.key k join clatune.problem p on p.id = k.problem join clatune.device d on d.id = k.device order by random() limit 1"
RECORD = {"origin": "t", "number": "w", "kind": "t", "configuration": "t", "reason": "t", "time_s": "r", "clock": "t", "build_s": "r", "wait_s": "r",
          "log": "t", "created_s": "w", "runs": "a", "energy_j": "r", "figures": "a", "use": "a", "confirmed": "w", "comparison": "w"}
JSONS = ("'[]'", "'{}'", "'null'", "'[[], 1, {\"name\": 7}]'", "'{\"configuration\": \"a=1\", \"problem\": null}'")
CLAIMS = [f"'{digit * 32}'" for digit in "123"]
TARGET, PLAN = "(select id from clatune.target order by random() limit 1)", "(select id from clatune.plan order by random() limit 1)"
FOREIGN = "(select id from clatune.target where id > (select min(id) from clatune.target) order by random() limit 1)"  # the good plan's stays as it is
CLAIM = f"json_build_array(json_build_object('target', {FOREIGN}, 'n', 0, 'claim', {{c}}, 'progress', {{w}}, 'output', {{t}}))"
CALLS = (  # of the functions that a worker may call: t a text, w a whole number, r a real one, p a plan, c a claim, j JSON
    "describe(p.hash, d.key, d.driver, {t}, {t}, {t}, {t}, {t}, {t}) " + KEY, "ship({t}, {w}, {w})", "submit({t}, {p}, {r}, {j})",
    f"join_plan({PLAN}, {{t}}, {{t}}, {{t}}, {{w}})", f"add_cells({TARGET}, {{w}}, json_build_array({{t}}, {{t}}))",
    f"add_cells({TARGET}, 0, json_build_array({{t}}, {{t}}))", f"claim({{c}}, {{t}}, json_build_array({FOREIGN}))", f"renew({CLAIM})", f"give_back({CLAIM})",
    f"finish({FOREIGN}, 0, {{c}}, {{t}}, 0, {{j}})", f"fail({FOREIGN}, 0, {{c}}, {{t}}, {{w}}, true)", "greet({t}, {t}, {t}, {j})", "leave({t})", "expire()",
    f"reject({PLAN})")
FUNCTION = """create function pg_temp.try(text) returns void language plpgsql as $f$ begin execute $1; exception when others then null; end $f$;"""


class Fuzz:
    def __init__(self, seed, plan):
        self.draw, self.plan = random.Random(seed), plan

    def quoted(self, text):
        return "'" + text.replace("'", "''") + "'"

    def text(self):
        draw = self.draw
        text = draw.choice(TEXTS)
        return text if draw.random() < 0.7 else "".join(chr(draw.choice((draw.randrange(1, 127), draw.randrange(160, 0xd800)))) for _ in range(9))

    def plan_text(self):
        """A plan with hostile values or keys in it, or with bytes changed."""
        plan = json.loads(json.dumps(self.plan))
        values = (self.text(), -1, 1 << 62, None, [], {}, [self.text()], {"Problem": self.text()}, {"Evaluator": "command", "Options": {"command": self.text()}},
                  {"Configurations": self.text()}, {"Problem": "outside/evil.json"}, True, 1e300)
        for _ in range(self.draw.randrange(1, 3)):
            plan[self.draw.choice([*plan, "Evaluator", "Tuning", self.text()])] = self.draw.choice(values)
        text = json.dumps(plan)
        if self.draw.random() < 0.3:
            at = self.draw.randrange(len(text))
            text = text[:at] + self.draw.choice((self.text(), "", "}")) + text[at + self.draw.randrange(5):]
        return text

    def value(self, kind):
        if kind == "t":
            return self.quoted(self.text())
        if kind == "p":
            return self.quoted(self.plan_text())
        return self.draw.choice({"w": NUMBERS, "r": NUMBERS, "a": ARRAYS, "c": CLAIMS, "j": JSONS}[kind])

    def row(self):
        if self.draw.random() < 0.5:
            values = {name: self.value(kind) for name, kind in RECORD.items()}
            if self.draw.random() < 0.5:
                values |= {name: self.draw.randrange(1 << 40) for name in ("number", "created_s", "confirmed", "comparison")}  # of a new record
                values["origin"] = f"'{self.draw.randrange(1 << 64):016x}'"
            members = ", ".join(f"'{name}', {value}" for name, value in values.items())
            return f"select clatune.deliver(json_build_array(json_build_object('place', 0, 'problem', p.hash, 'device', d.key, 'driver', d.driver, " \
                f"{members})), {self.value('t')}) {KEY}"
        return "select clatune." + re.sub(r"\{(\w)\}", lambda found: self.value(found[1]), self.draw.choice(CALLS))


class Hostile(FarmTest):
    def test_fuzzed_rows(self):
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "evil.json").write_text((self.folder / "copy.json").read_text().replace("copy.c", "../outside/evil.c"))
        (outside / "evil.c").write_text("int copy(void) { return __builtin_trap(), 1; }\n")
        problem = json.loads((self.folder / "copy.json").read_text())
        del problem["Reference"]  # a module of C
        (self.folder / "copy.json").write_text(json.dumps(problem))
        self.write_plan(4)
        self.submit()
        agent = self.agent("--serve", "--problems", ".", **{"name": "Simulated"})
        self.until_finished()
        shared = json.loads(self.value("select text from clatune.plan"))
        before = {path: text for path, text in self.files().items()  # the agent's temporary folder must be gone in the end
                  if not path.relative_to(self.folder).parts[0].startswith("clatune-")}
        fuzz = Fuzz(int(os.environ.get("CLATUNE_SEED", 1)), shared)
        script = FUNCTION + "".join(f"select pg_temp.try({fuzz.quoted(fuzz.row())}) where false is null or true;\n" for _ in range(N_ROWS))
        self.server.psql(script, self.url)
        self.assertGreater(int(self.value("select count(*) from clatune.measurement")), N_ROWS // 10)
        self.write_plan(4, Budgets=6)
        self.submit()
        self.assertTrue(until(self.is_done, agent.process), agent.said[-3000:])
        for command in READERS:
            self.read(command)
        self.assertEqual(agent.stop(), 143, agent.said[-3000:])
        self.assertEqual(self.files(), before)

    def is_done(self):
        """The plan that was submitted last, in spite of all the rows next to it."""
        return self.value("select count(*) from clatune.plan p join clatune.target t on t.plan = p.id join clatune.cell c on c.target = t.id "
                          "where p.text ~ '\"Budgets\":6[,}]' and c.text ~ 'budget=6' and c.state = 'done'") >= "4"

    def files(self):
        """All that is in the folder but the agents' own."""
        own = (self.folder / "agents", self.folder / "cache", self.folder / "share")
        return {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and not any(path.is_relative_to(o) for o in own)
                and path.name != "plan.json"}

    def read(self, command):
        done = subprocess.run([CLATUNE, *(self.url if word == "URL" else word for word in command)], cwd=self.folder, env=self.environment, capture_output=True)
        said = done.stdout + done.stderr
        self.assertIn(done.returncode, (0, 1, 4, 6), f"{command}: {said[-2000:]}")
        for byte in b"\x1b\x07\x01":
            self.assertNotIn(byte, said, f"{command}: a control character comes through")
        self.assertNotIn(PASSWORD.encode(), said, f"{command}: the password is said")

    def test_rows_that_a_plan_does_not_have(self):
        self.write_plan(1, "first.json")
        self.clatune("sweep", "first.json", "--store", self.url, "--submit")
        agent = self.agent()
        self.until_finished()
        agent.stop()
        self.write_plan(4)
        self.submit()
        device = "select (select max(id) from clatune.plan), device, driver, name from clatune.target"
        self.server.psql(f"insert into clatune.target(plan, device, driver, name) {device};"
                         "insert into clatune.cell(target, n, text) select max(id), n, 'x' from clatune.target, (values (-1), (2), (4), (99)) as v(n) "
                         "group by n; update clatune.cell set state = 'running', lease = 'infinity' where n = 99", self.server.local_url(self.database))
        agent.start()
        _, found = self.collect()
        self.assertEqual(agent.stop(), 143, agent.said[-3000:])
        self.assertEqual(found, self.on_one_machine())
        self.assertEqual(self.states(), {"done": 1 + 4, "failed": 3})

    def test_a_worker_adds_and_changes_nothing_that_is_finished(self):
        self.write_plan(1)
        self.submit()
        self.agent()
        self.until_finished()
        self.stop_agents()
        before = self.server.query("select * from clatune.cell", self.database), self.records()
        for sql in ("delete from clatune.measurement", "update clatune.measurement set time_s = 1", "truncate clatune.measurement",
                    "delete from clatune.cell", "delete from clatune.plan", "update clatune.plan set text = ''", "drop table clatune.cell",
                    "insert into clatune.measurement(origin, number, txid, key, kind, configuration, reason, clock, created_s) "
                    "values ('x', 1, 1, 1, '', '', '', '', 0)", "copy clatune.plan from program 'touch outside'",
                    "alter table clatune.cell disable row level security", "insert into clatune.cell(target, n, text, state) values (1, 99, '', 'done')", "update clatune.cell set output = 'x', state = 'open'"):
            with self.assertRaises(RuntimeError, msg=sql) as caught:
                self.server.psql(sql, self.url)
            self.assertRegex(str(caught.exception), "permission denied|must be owner|must be superuser|violates", sql)
        self.assertEqual((self.server.query("select * from clatune.cell", self.database), self.records()), before)

    def test_who_is_not_the_server_is_refused_in_one_line(self):
        with Server(tls=True) as server:
            self.clatune("store", "init", server.local_url())
            server.login("agent", "clatune_worker")
            other, good = str(server.folder / "other.crt"), server.url(user="agent")
            self.clatune("store", "list", "--store", good)
            self.refused(server.url(user="agent", sslrootcert=other), "certificate")
            self.refused(server.url(user="agent", password="wrong" + PASSWORD), "password")
            self.refused(server.url(user="agent", sslmode="disable"), "encryption|TLS|SSL")
            server.use_certificate("expired")
            self.refused(good, "certificate.*expired|expired.*certificate|certificate")

    def refused(self, url, words):
        self.write_plan(1)
        for command in (("store", "list"), ("sweep", "--status"), ("sweep", "plan.json"), ("sweep", "--serve")):
            done = self.clatune(*command, "--store", url, expect=6)
            lines = done.stderr.splitlines()
            self.assertEqual((len(lines), done.stdout), (1, ""), done.stderr)
            self.assertRegex(lines[0], words)
            self.assertNotIn(PASSWORD, lines[0])
            self.assertNotIn("se%20cret", lines[0])


if __name__ == "__main__":
    run()
