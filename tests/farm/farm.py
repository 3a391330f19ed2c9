"""Agents of a farm, for tests: `clatune sweep` on simulated devices, with a private PostgreSQL (server.py) and bad networks (proxy.py)."""
import glob
import json
import os
import pathlib
import signal
import sqlite3
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import CLATUNE, TIME_S, SimulatedTest, kill_session, main, problem, processes_of  # noqa: E402,F401 - for the tests
from harness import until  # noqa: E402,F401
from server import PASSWORD, Server, need  # noqa: E402,F401

FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)
LEASE_S = 3  # of tests: a tuning that takes 0.2 s; renewed every 0.4 s
VARIES = ("search_s", "wall_s", "finished_s", "evaluations")  # in the line of a result
OF_OUTBOX = """select m.origin, m.number, p.hash, d.key, m.kind, m.configuration, m.reason, m.time_s, m.created_s, m.runs
  from measurement m join key k on k.id = m.key join problem p on p.id = k.problem join device d on d.id = k.device"""
OF_SERVER = """select m.origin, m.number, p.hash, d.key, m.kind, m.configuration, m.reason, m.time_s, m.created_s,
  array_to_string(m.runs, ',') from clatune.measurement m join clatune.key k on k.id = m.key
  join clatune.problem p on p.id = k.problem join clatune.device d on d.id = k.device"""


def figures(text):
    """Numbers that a program has printed, or an array of them in a file."""
    if isinstance(text, bytes):
        return struct.unpack(f"<{len(text) // 8}d", text)
    return tuple(float(part) for part in str(text or "").split(",") if part)


def record(row):
    origin, number, problem, device, kind, configuration, reason, time_s, created_s, runs = row
    return (origin, int(number)), (problem, device, kind, configuration, reason, figures(time_s), int(created_s), figures(runs))


class Agent:
    """A process of clatune sweep with a home of its own, in which its outbox, locks and devices are."""

    def __init__(self, test, name, arguments, clock_s=None, device=None):
        self.test, self.name, self.home = test, name, test.folder / "agents" / name
        self.arguments, self.process = arguments, None
        for part in ("run", "share"):
            (self.home / part).mkdir(parents=True, exist_ok=True)
        (self.home / "devices.json").write_text(json.dumps({"devices": [{"name": "Simulated", "time_s": TIME_S, **(device or {})}]}))
        self.environment = {**test.environment, "XDG_RUNTIME_DIR": str(self.home / "run"), "XDG_DATA_HOME": str(self.home / "share"),
                            "CLATUNE_SIMULATED": str(self.home / "devices.json")}
        if clock_s is not None:
            self.set_clock(clock_s)
            self.environment |= {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": str(self.home / "clock"), "FAKETIME_NO_CACHE": "1",
                                 "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}

    def set_clock(self, offset_s):
        """Its clock is so far off from now on."""
        new = self.home / "clock.new"
        new.write_text(f"{offset_s:+d}\n")
        new.replace(self.home / "clock")

    def start(self):
        with open(self.home / "said", "ab") as said:
            self.process = subprocess.Popen([CLATUNE, "sweep", *self.arguments], cwd=self.test.folder, env=self.environment,
                                            stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        return self

    @property
    def said(self):
        return (self.home / "said").read_text(errors="replace")

    def runs(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """The agent only: its workers notice by themselves."""
        self.process.kill()
        self.process.wait()

    def freeze(self):
        os.killpg(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def stop(self):
        """As an operator would: its records are sent, its tuning is released."""
        self.process.terminate()
        return self.process.wait(120)

    def end(self):
        if self.runs():
            self.thaw()
            kill_session(self.process)

    def records(self):
        """{(origin, number): measurement} of its outboxes."""
        out = {}
        for path in (self.home / "share" / "clatune" / "outbox").glob("*.sqlite"):
            connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
            try:
                out |= dict(map(record, connection.execute(OF_OUTBOX)))
            finally:
                connection.close()
        return out


class FarmTest(SimulatedTest):
    """self.url: a farm of its own in the server that all tests of a program share. self.direct_url: past self.proxy, if there is one."""
    server, template = None, "farm"

    def setUp(self):
        super().setUp()
        if FarmTest.server is None:
            FarmTest.server = Server()
            self.server.query(f"create database {self.template}")
            self.clatune("store", "init", self.server.local_url(self.template))
            self.server.login("agent", "clatune_worker")
        self.environment["XDG_RUNTIME_DIR"] = str(self.folder)
        self.simulate(name="Simulated", time_s=TIME_S)
        self.use_database(self.server.database(self.template))
        self.agents = []

    def use_database(self, name):
        self.database, self.url = name, self.server.url(name, "agent")

    def write_plan(self, n_seeds, name="plan.json", **more):
        plan = {"Name": "farm", "Devices": ["Simulated"], "Problems": ["copy.json"], "Searchers": ["random"], "Budgets": 5,
                "Seeds": f"range(1, {n_seeds + 1})", "Tuning": {"Finalists": 0}, **more}
        (self.folder / name).write_text(json.dumps(plan))

    def submit(self, *options, lease_s=LEASE_S):
        self.clatune("sweep", "plan.json", "--store", self.url, "--submit", "--lease", str(lease_s), *options)

    def agent(self, *arguments, **more):
        return self.new_agent(*arguments, **more).start()

    def new_agent(self, *arguments, url=None, clock_s=None, **device):
        """An agent that serves, or one with these arguments."""
        arguments = arguments or ("--serve", "--problems", ".", "--allow-programs")
        agent = Agent(self, str(len(self.agents)), (*arguments, "--store", url or self.url), clock_s, device)
        self.agents.append(agent)
        self.addCleanup(agent.end)
        return agent

    def value(self, sql):
        return self.server.value(sql, self.database)

    def states(self):
        """{state: rows of the queue}"""
        return {state: int(n) for state, n in self.server.query("select state, count(*) from clatune.cell group by state", self.database)}

    def n_begun(self):
        """How many tunings were begun so far."""
        return int(self.value("select count(began) from clatune.cell"))

    def finished(self):
        states = self.states()
        return bool(states) and not {"open", "running"} & set(states)

    def until_met(self):
        """Until the server knows all agents: an agent that begins while there is no server says so and ends."""
        self.assertTrue(until(lambda: int(self.value("select count(*) from clatune.agent")) >= len(self.agents)))

    def until_begun(self, n):
        self.assertTrue(until(lambda: self.n_begun() >= n or self.finished()), "no tuning is begun")
        self.assertFalse(self.finished(), "it was over before it could be disturbed")

    def until_finished(self, limit_s=300):
        if not until(self.finished, limit_s=limit_s, every_s=0.05):
            self.fail(f"not finished: {self.states()}\n" + "\n".join(f"agent {a.name}: {a.said[-1000:]}" for a in self.agents))

    def stop_agents(self):
        """All of them must still be there, as nothing may end an agent."""
        for agent in self.agents:
            self.assertTrue(agent.runs(), f"agent {agent.name} has ended: {agent.said[-2000:]}")
        for agent in self.agents:
            self.assertEqual(agent.stop(), 143, agent.said[-2000:])

    def records(self):
        """As Agent.records, of the server."""
        return dict(map(record, self.server.query(OF_SERVER, self.database)))

    def check_union(self):
        """The server and the agents have the same records: nothing lost, nothing twice, nothing else."""
        union = {}
        for agent in self.agents:
            for identity, measured in agent.records().items():
                self.assertEqual(union.setdefault(identity, measured), measured)
        there = self.records()
        self.assertEqual(set(union) - set(there), set(), "lost")
        self.assertEqual(set(there) - set(union), set(), "from nowhere")
        for identity, measured in there.items():
            self.assertEqual(measured, union[identity], identity)
        self.assertEqual(int(self.value("select count(*) from clatune.measurement")), len(there), "doubled")
        return len(there)

    def results(self, path):
        """The result of each tuning, by its key; not how long it took, nor which agent had measured the same before."""
        lines = [json.loads(line) for line in (self.folder / path).read_text().splitlines()]
        self.assertEqual(len({line["tuning"] for line in lines}), len(lines), "a tuning is there twice")
        return {line["tuning"]: {**{key: value for key, value in line.items() if key not in VARIES},
                                 "evaluations": line["evaluations"]["total"]} for line in lines}

    def on_one_machine(self):
        """The results of the same plan without any server."""
        subprocess.run([CLATUNE, "sweep", "plan.json", "--quiet", "--store", "alone.sqlite", "--output", "alone.jsonl"], cwd=self.folder,
                       env=self.environment, check=True, stdout=subprocess.DEVNULL)
        return self.results("alone.jsonl")

    def check(self, n_tunings, limit_s=300):
        """Once all is finished: every tuning was done, the records are those of the agents, the results those of one machine."""
        self.until_finished(limit_s)
        self.stop_agents()
        self.assertEqual(self.states(), {"done": n_tunings})
        self.check_union()
        answer, found = self.collect()
        self.assertEqual(answer["tunings"]["found"], n_tunings)
        self.assertEqual(found, self.on_one_machine())

    def collect(self, path="farm.jsonl"):
        """The table and the results, as the submitter of the plan gets them once it is finished."""
        answer = self.clatune_json("sweep", "plan.json", "--quiet", "--store", self.url, "--output", path)
        return answer, self.results(path)


def run():
    need()
    try:
        main()
    finally:
        if FarmTest.server:
            FarmTest.server.close()
