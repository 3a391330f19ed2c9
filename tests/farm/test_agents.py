"""clatune sweep among machines that share a database: agents on simulated devices, each with a home of its own."""
import errno
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import CLATUNE, MODULE, TIME_S, SimulatedTest, kill_session, main  # noqa: E402
from harness import ANSWERS, check_answer, until  # noqa: E402
from server import Server, need  # noqa: E402

PLAN = {"Name": "a try", "Devices": ["Simulated"], "Problems": [{"Problem": "copy.json", "Sizes": [{"n": 1024}, {"n": 2048}]}],
        "Searchers": ["random", {"Name": "climb", "Searcher": "hill-climb"}], "Seeds": [1, 2, 3], "Budgets": 15,
        "Tuning": {"Finalists": 0}}
TUNINGS = 2 * 2 * 3


class Agents(SimulatedTest):
    server = None
    plans = {}  # what one machine finds for each

    def setUp(self):
        super().setUp()
        Agents.server = Agents.server or Server()
        if self.server.value("select count(*) from pg_database where datname = 'empty'") == "0":
            self.server.query("create database empty")
            self.clatune("store", "init", self.server.local_url("empty"))
            self.server.login("agent", "clatune_worker")
            self.server.login("owner", "clatune_owner")
        self.database = self.server.database("empty")
        self.url = self.server.url(self.database, "agent")
        self.plan(PLAN)

    def plan(self, plan):
        (self.folder / "plan.json").write_text(json.dumps(plan))

    def home(self, name):
        home = self.folder / name
        home.mkdir(exist_ok=True)
        return {**self.environment, "XDG_DATA_HOME": str(home), "XDG_RUNTIME_DIR": str(home)}

    def sweep(self, name, *arguments, expect=0):
        """An agent that ends by itself; the others' devices are others."""
        return self.clatune("sweep", *arguments, expect=expect, **{k: v for k, v in self.home(name).items() if k.startswith("XDG")})

    def start(self, name, *arguments, **more):
        said = open(self.folder / (name + ".said"), "w", encoding="utf-8")
        with said:
            process = subprocess.Popen([CLATUNE, "sweep", *arguments], cwd=self.folder, env={**self.home(name), **more},
                                       stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        self.addCleanup(kill_session, process)
        return process

    def serve(self, name, *arguments, **more):
        return self.start(name, "--serve", self.url, "--problems", ".", "--allow-programs", *arguments, **more)

    def said(self, name):
        return (self.folder / (name + ".said")).read_text()

    def value(self, sql):
        return self.server.value(sql, self.database)

    def count(self, state):
        return int(self.value(f"select count(*) from clatune.cell where state = '{state}'"))

    def wait_for(self, process, condition, what):
        if not until(condition, process, every_s=0.03):
            self.fail(f"{what}: {[path.read_text() for path in self.folder.glob('*.said')]}"
                      f" {self.server.query('select * from clatune.cell', self.database)}")

    def lines(self, name="plan.results.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def found(self, name="plan.results.jsonl"):
        """The result of each tuning, without its time and its cost."""
        return {line["tuning"]: (line["configuration"], line["best_s"], line["default_s"], line["evaluations"]["total"])
                for line in self.lines(name)}

    def alone(self):
        """What one machine finds for the plan."""
        plan = (self.folder / "plan.json").read_text()
        if plan not in self.plans:
            self.sweep("alone", "plan.json", "-o", "alone.jsonl", "--store", "alone.sqlite", "--quiet")
            self.plans[plan] = self.found("alone.jsonl")
        return self.plans[plan]

    # --- all goes well ---

    def test_one_machine_finds_what_it_finds_alone(self):
        first = self.sweep("one", "plan.json", "--store", self.url).stdout
        self.assertEqual(self.found(), self.alone())
        self.assertEqual(len(self.lines()), TUNINGS)
        results = (self.folder / "plan.results.jsonl").read_bytes()
        self.assertEqual(self.sweep("one", "plan.json", "--store", self.url).stdout, first)
        self.assertEqual((self.folder / "plan.results.jsonl").read_bytes(), results)
        (self.folder / "plan.results.jsonl").unlink()
        self.assertEqual(self.sweep("another", "plan.json", "--store", self.url).stdout, first)
        self.assertEqual((self.folder / "plan.results.jsonl").read_bytes(), results)
        self.assertEqual(self.sweep("another", "plan.json", "--store", self.url, "--summary").stdout, first)
        outbox, = (self.folder / "one" / "clatune" / "outbox").glob("*.sqlite")
        here = self.clatune_json("store", "merge", str(outbox), "--store", "copy.sqlite")["added"]
        self.assertEqual(int(self.value("select count(*) from clatune.measurement")), here)
        self.assertGreater(here, 0)

    def test_agents_that_serve_do_what_is_submitted(self):
        agents = [self.serve(name) for name in ("a", "b")]
        self.assertIn("12 tunings", self.sweep("submitter", "plan.json", "--store", self.url, "--submit").stdout)
        self.wait_for(agents[0], lambda: self.count("done") == TUNINGS, "not all is done")
        status = json.loads(self.sweep("submitter", "--status", self.url, "--json").stdout)
        check_answer(ANSWERS / "sweep.json", status)
        plan, = status["plans"]
        self.assertEqual([plan[key] for key in ("name", "tunings", "done", "open", "running", "failed")],
                         ["a try", TUNINGS, TUNINGS, 0, 0, 0])
        self.assertEqual([agent["quarantined"] for agent in status["agents"]], ["", ""])
        for agent in agents:
            agent.terminate()
            self.assertEqual(agent.wait(), 128 + signal.SIGTERM)
        self.assertRegex(self.said("a"), "^clatune: serving postgresql://.* on Simulated device.*; problems in '.'; stop with Ctrl-C or kill [0-9]+\n")
        self.assertRegex(self.said("a"), "(?m)^clatune: stopping; released 0 tunings$")
        for command in (("--status", self.url), ("plan.json", "--store", self.url, "--submit")):
            said = self.sweep("submitter", *command).stdout
            self.assertIn("'a try': 12 tunings, all finished; 12 in the last hour\n", said)
            self.assertNotIn("agent", said)  # those that have ended are not listed
        self.sweep("submitter", "plan.json", "--store", self.url, "--device", "Simulated")
        self.assertEqual(self.found(), self.alone())

    def test_other_boards_have_rows_of_their_own_and_equal_ones_share(self):
        self.simulate({"name": "Simulated", "time_s": TIME_S}, {"name": "Simulated Other", "time_s": TIME_S})
        self.plan({**PLAN, "Seeds": 1, "Devices": ["all"]})
        self.sweep("one", "plan.json", "--store", self.url)
        self.sweep("two", "plan.json", "--store", self.url)
        self.assertEqual(len(self.lines()), 2 * 2 * 2)
        self.assertEqual(sorted({line["device"] for line in self.lines()}), ["Simulated", "Simulated Other"])

    # --- it does not ---

    def test_what_a_killed_agent_had_is_taken_over_and_its_measurements_are_kept(self):
        self.plan({**PLAN, "Budgets": 60})
        self.simulate(time_s=TIME_S, build_s=0.02)
        self.sweep("submitter", "plan.json", "--store", self.url, "--submit", "--lease", "1")
        for name in ("a", "b"):
            agent = self.serve(name)
            measured = int(self.value("select count(*) from clatune.measurement"))
            self.wait_for(agent, lambda: self.count("running") and int(self.value("select count(*) from clatune.measurement")) > measured,
                          "nothing is sent")
            kill_session(agent)
        agents = [self.serve(name) for name in ("a", "b")]  # their outboxes may hold unsent records
        self.wait_for(agents[0], lambda: self.count("done") == TUNINGS, "not all is done")
        for agent in agents:
            agent.terminate()
            agent.wait()
        here = set()
        for name in ("a", "b"):
            outbox, = (self.folder / name / "clatune" / "outbox").glob("*.sqlite")
            self.clatune("store", "merge", str(outbox), "--store", "copy.sqlite")
        here = self.clatune_json("store", "merge", self.url, "--store", "copy.sqlite")["added"]
        self.assertEqual(here, 0, "the database has what no outbox has")
        self.assertEqual(self.clatune_json("store", "merge", "copy.sqlite", "--store", self.url)["added"], 0, "it lacks some")
        self.sweep("submitter", "plan.json", "--store", self.url)
        self.assertEqual(self.found(), self.alone())

    def test_a_signal_gives_the_row_back_at_once(self):
        self.plan({**PLAN, "Seeds": 1, "Budgets": 500})
        self.simulate(time_s=TIME_S, build_s=0.05)
        agent = self.start("a", "plan.json", "--store", self.url)
        self.wait_for(agent, lambda: self.count("running") == 1, "nothing runs")
        status = json.loads(self.sweep("submitter", "--status", self.url, "--json").stdout)
        check_answer(ANSWERS / "sweep.json", status)
        self.assertEqual((len(status["plans"]), len(status["running"]), len(status["agents"])), (1, 1, 1))
        agent.terminate()
        self.assertEqual(agent.wait(), 128 + signal.SIGTERM)
        self.assertEqual((self.count("running"), self.count("open")), (0, 4))
        self.assertEqual(self.value("select max(attempts) from clatune.cell"), "0")
        outbox, = (self.folder / "a" / "clatune" / "outbox").glob("*.sqlite")
        self.assertEqual(self.clatune_json("store", "merge", str(outbox), "--store", self.url)["added"], 0)

    def test_one_that_begins_without_the_server_says_so_and_asks_again(self):
        self.server.kill()
        agent = self.serve("a")
        until(lambda: "; retrying for " in self.said("a"), agent)
        self.server.start()
        self.assertIn("; retrying for ", self.said("a"))
        self.wait_for(agent, lambda: self.value("select count(*) from clatune.agent") == "1", "it does not begin")

    def test_while_the_server_is_away_it_goes_on(self):
        self.plan({**PLAN, "Seeds": [1, 2]})
        self.simulate(time_s=TIME_S, build_s=0.02)
        agent = self.start("a", "plan.json", "--store", self.url)
        self.wait_for(agent, lambda: self.count("done") >= 1, "nothing is done")
        self.server.kill()
        self.wait_for(agent, lambda: "running tunings continue" in self.said("a"), "it does not say that the server is away")
        self.server.start()
        self.assertEqual(agent.wait(), 0, self.said("a"))
        self.assertIn("the server is reachable again", self.said("a"))
        self.assertEqual(self.found(), self.alone())

    def test_who_was_asleep_has_lost_its_row_and_keeps_what_it_measured(self):
        self.plan({**PLAN, "Seeds": 1, "Searchers": "random", "Problems": "copy.json", "Budgets": 150})
        self.simulate(time_s=TIME_S, build_s=0.1)
        self.sweep("submitter", "plan.json", "--store", self.url, "--submit", "--lease", "1")
        asleep = self.serve("asleep")
        self.wait_for(asleep, lambda: int(self.value("select count(*) from clatune.measurement")) > 0, "nothing is sent")
        os.killpg(asleep.pid, signal.SIGSTOP)
        self.sweep("awake", "plan.json", "--store", self.url)
        line = self.value("select line from clatune.result")
        os.killpg(asleep.pid, signal.SIGCONT)
        self.wait_for(asleep, lambda: "taken over by another agent" in self.said("asleep"), "it does not notice")
        asleep.terminate()
        asleep.wait()
        self.assertEqual(self.value("select line from clatune.result"), line)
        self.assertEqual(self.value("select count(*) - count(distinct (origin, number)) from clatune.measurement"), "0")

    def test_references_and_finalists_hold_the_lease(self):
        """Renewals without one more evaluation: while the reference is made, which takes until the test has seen some, and afterwards."""
        go = self.folder / "go"
        (self.folder / "copy.c").write_text(MODULE.replace("int copy(", "#include <poll.h>\n#include <unistd.h>\nint copy(").replace(
            "  memcpy", f'  while (access("{go}", F_OK)) poll(NULL, 0, 20);\n  memcpy'))
        self.server.query("create table public.renewed(progress bigint); create function public.note() returns trigger language plpgsql "
                          "security definer as $$ begin insert into public.renewed values (new.progress); return new; end $$; create trigger "
                          "note after update on clatune.cell for each row when (old.claim = new.claim and new.state = 'running' and "
                          "old.progress = new.progress) execute function public.note()", self.database)
        self.plan({**PLAN, "Seeds": 1, "Searchers": "random", "Problems": "copy.json", "Budgets": 3, "Tuning": {"Finalists": 2}})
        self.simulate(time_s="0.02 + 1e-4 * abs(a - 17)", waits=True)
        agent = self.start("a", "plan.json", "--store", self.url, "--lease", "1")
        self.wait_for(agent, lambda: int(self.value("select count(*) from public.renewed")) > 2, "the reference does not hold the lease")
        go.touch()
        self.assertEqual(agent.wait(), 0, self.said("a"))
        self.assertGreater(int(self.value("select count(*) from public.renewed where progress >= 3")), 0)

    def test_a_dropped_database_comes_back_from_the_outboxes(self):
        self.plan({**PLAN, "Seeds": [1, 2], "Budgets": 40})
        self.simulate(time_s=TIME_S, build_s=0.02)
        agents = [self.start(name, "plan.json", "--store", self.url, "-o", name + ".jsonl") for name in ("a", "b")]
        self.wait_for(agents[0], lambda: self.count("done") >= 2, "nothing is done")
        self.server.query(f"drop database {self.database} with (force)")
        self.server.query(f"create database {self.database} template empty")
        for agent, name in zip(agents, ("a", "b")):
            self.assertEqual(agent.wait(), 0, self.said(name))
        self.assertEqual((self.folder / "a.jsonl").read_bytes(), (self.folder / "b.jsonl").read_bytes())
        self.assertEqual(self.found("a.jsonl"), self.alone())
        for name in ("a", "b"):
            outbox, = (self.folder / name / "clatune" / "outbox").glob("*.sqlite")
            self.assertEqual(self.clatune_json("store", "merge", str(outbox), "--store", self.url)["added"], 0)

    def test_a_lost_device_gives_its_row_back_and_takes_no_other(self):
        self.plan({**PLAN, "Seeds": 1})
        self.simulate(time_s=TIME_S, fails={"run": "a == 17"}, after_fault="lost", lost_file=str(self.folder / "lost"))
        self.plan({**PLAN, "Seeds": 1, "Searchers": {"Configurations": [{"a": 17, "b": 9}]}})
        lost = self.serve("lost")
        self.sweep("submitter", "plan.json", "--store", self.url, "--submit")
        self.wait_for(lost, lambda: self.value("select count(*) from clatune.agent where lost = 'Simulated device'") == "1", "it is not said")
        self.assertEqual((self.count("open"), self.count("running")), (2, 0))
        status = self.sweep("submitter", "--status", self.url).stdout
        self.assertRegex(status, "(?m)^agent .*; lost: Simulated device$")

    def test_what_ends_its_agent_each_time_fails_and_others_do_not(self):
        self.plan({**PLAN, "Searchers": "random", "Seeds": [1, 2]})
        self.inject({"at": "launch", "do": "kill", "when": "n == 2048"})
        self.sweep("submitter", "plan.json", "--store", self.url, "--submit", "--lease", "1")
        agent = None
        for _ in range(40):
            agent = self.serve("a")
            until(lambda: self.count("done") + self.count("failed") == 4, agent)
            if agent.poll() is None:
                break
        self.assertEqual((self.count("done"), self.count("failed")), (2, 2))
        agent.terminate()
        agent.wait()
        self.stop_injecting()
        run = self.sweep("submitter", "plan.json", "--store", self.url, expect=1)
        self.assertIn("ended without a report, 3 times", run.stdout)
        self.assertEqual(len(self.lines()), 2)

    def test_what_this_version_or_folder_does_not_have_is_left_alone(self):
        self.sweep("submitter", "plan.json", "--store", self.url, "--submit")
        modules = self.start("modules", "--serve", self.url, "--problems", ".")
        run = self.sweep("again", "plan.json", "--store", self.url, "--submit", "--lease", "300")
        self.assertEqual((run.stderr, self.value("select lease_s from clatune.plan")), ("", "300"))
        (self.folder / "elsewhere").mkdir()
        other = self.start("other", "--serve", self.url, "--problems", "elsewhere")
        self.wait_for(modules, lambda: "--allow-programs" in self.said("modules"), "modules are not refused")
        self.wait_for(other, lambda: "there is no 'copy.json' in 'elsewhere'; name its folder with --problems" in self.said("other"), "it is not said")
        self.assertEqual(self.value("select count(*) from clatune.target"), "0")
        self.server.query("update clatune.plan set text = replace(text, 'random', '../../random')", self.database)
        hostile = self.serve("hostile")
        self.wait_for(hostile, lambda: "is left to other agents" in self.said("hostile"), "it is not refused")

    def test_a_plan_for_other_devices_is_waited_for_until_it_is_withdrawn(self):
        self.plan({**PLAN, "Devices": ["gpu", "Board X"], "Problems": [{"Problem": "copy.json", "Sizes": [{"n": 512}]}, "other.json"]})
        (self.folder / "other.json").write_text((self.folder / "copy.json").read_text().replace("BenchmarkName\": \"copy", "BenchmarkName\": \"other"))
        self.simulate(type="cpu", time_s=TIME_S)
        waits = self.start("waits", "plan.json", "--store", self.url)
        self.wait_for(waits, lambda: "waiting for" in self.said("waits"), "it waits without a word")
        said = self.said("waits")
        self.assertIn("clatune: warning: no device matches 'Board X'; available devices: 0:0 Simulated device", said)
        self.assertIn("clatune: this machine has none of the plan's devices; waiting for other agents\n", said)
        run = self.sweep("again", "plan.json", "--store", self.url, "--submit", "--lease", "300")
        self.assertEqual((run.stderr, self.value("select lease_s from clatune.plan")), ("", "300"))
        (self.folder / "elsewhere").mkdir()
        (self.folder / "elsewhere" / "other.json").write_text("{}")
        other = self.start("other", "--serve", self.url, "--problems", "elsewhere")
        self.wait_for(other, lambda: "plan 1 'a try' is left to other agents: " in self.said("other"), "it is not said")
        self.assertIn("plan 1 'a try': submitted; no agent has taken it yet (gpu, Board X; copy.json, other.json)\n",
                      self.sweep("a", "--status", self.url).stdout)
        run = self.sweep("a", "--withdraw", "1", "--store", self.url, expect=6)
        self.assertRegex(run.stderr, "withdrawing a plan needs the role clatune_owner: connect as a user with that role .&user=NAME., or GRANT clatune_owner TO \"agent\"\n$")
        run = self.sweep("a", "--withdraw", "1", "--store", self.server.url(self.database, "owner"))
        self.assertEqual(run.stdout, "plan 1: withdrawn; no agent had started it\n")
        self.assertEqual(waits.wait(), 1, self.said("waits"))
        self.assertIn(", or was withdrawn", self.said("waits"))

    def test_what_a_silent_agent_has_is_waited_for_by_name_and_withdrawn(self):
        self.plan({**PLAN, "Problems": "copy.json", "Seeds": 1, "Searchers": "random"})
        self.sweep("submitter", "plan.json", "--store", self.url, "--submit", "--lease", "9000")
        taken = self.serve("taken")
        self.wait_for(taken, lambda: self.count("done") == 1, "it is not done")
        taken.terminate()
        taken.wait()
        self.server.query("update clatune.cell set state = 'running', agent = 'vm:1:x', lease = now() + interval '2 hours'; delete from clatune.result;"
                          "insert into clatune.agent(login, name, devices, lost, seen) values ('agent', 'vm:1:x', 'Simulated device', '', now() - interval '69 s')",
                          self.database)
        waits = self.start("waits", "plan.json", "--store", self.url)
        self.wait_for(waits, lambda: "waiting for" in self.said("waits"), "it waits without a word")
        row = "vm:1:x: Simulated device: copy n=1024 random budget=15 seed=1 for .*, silent for [1-9]m..s, lease expires in 2h..m\n"
        self.assertRegex(self.said("waits"), "clatune: nothing left to start here; waiting for " + row)
        self.assertRegex(self.sweep("a", "--status", self.url).stdout, row + "(.*\n)*agent vm:1:x: Simulated device; silent for")
        for n, words in enumerate(("1 tunings withdrawn; their measurements are kept", "nothing to withdraw, all tunings have ended")):
            self.assertEqual(self.sweep("a", "--withdraw", "1", "--store", self.server.url(self.database, "owner")).stdout,
                             f"plan 1: {words}\n", n)
        self.assertIn("plan 1 'a try': 1 tunings, all withdrawn; ", self.sweep("a", "--status", self.url).stdout)
        self.assertEqual(waits.wait(), 1, self.said("waits"))
        self.assertRegex(self.said("waits"), "1 failed: withdrawn\n")
        self.assertNotIn("results in", self.said("waits"))

    def test_mistakes_are_one_line(self):
        for arguments, words in [(("--serve",), "needs a shared database"), ((), "needs a plan file"), (("plan.json", "--submit"), "--store postgresql"),
                                 (("plan.json", "--store", self.url, "--only", "x"), "--only cannot be combined"),
                                 (("--serve", self.url, "--submit"), "--submit needs a PLAN and cannot be combined with --serve"),
                                 (("plan.json", "--submit", self.url), "name the database with --store"),
                                 (("plan.json", "--withdraw", "1", "--store", self.url), "--withdraw takes no PLAN; leave out 'plan.json'"),
                                 (("plan.json", "--status"), "leave out 'plan.json' and name the database: --store postgresql")]:
            run = self.sweep("a", *arguments, expect=2)
            self.assertIn(words, run.stderr)
        for folder, number in (("nowhere", errno.ENOENT), ("copy.json", errno.ENOTDIR)):
            run = self.sweep("a", "--serve", self.url, "--problems", folder, expect=1)
            self.assertEqual(run.stderr, f"clatune: cannot open the folder '{folder}' of --problems: {os.strerror(number)}\n")
        self.assertIn("; name the store with --store", self.clatune("store", "list", self.url, expect=2).stderr)
        run = self.sweep("a", "--status", "postgresql:///?user=a&sevice=farm", expect=2)
        self.assertIn("is not a valid URL: unknown option 'sevice'; ", run.stderr)
        run = self.sweep("a", "plan.json", "--store", self.server.url(self.database, "agent", password="wrong"), expect=6)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertNotIn("wrong", run.stderr)


if __name__ == "__main__":
    need()
    try:
        main()
    finally:
        if Agents.server:
            Agents.server.close()
