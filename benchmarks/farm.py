#!/usr/bin/env python3
"""The figures of a farm, with a private PostgreSQL and simulated devices. Nothing else may run on the machine meanwhile.

    benchmarks/farm.py [network] [agents] [scaling] [records] [confirmation]
                       [--build build] [--turns 3] [--agents 100] [--records 1000000]

network: evaluations a second of an agent, directly, with 200 ms and 1 % loss to the server, and next to a reader of one row per second;
agents: 100 agents with evaluations of 0.05 s, and the time of claims in the server and for a client;
scaling: 8 agents against 1 with evaluations of 0.5 s; records:
looking up and starting a search with a million records; confirmation: the share of evaluations that agents with logins of their own repeat
because an answer is not believed, beyond what the same agents repeat with one login; a quarter of the configurations fail. One tuning on several devices: benchmarks/several_devices.py.
"""
import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLAIM = "FROM claim("


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=[], metavar="WHAT")
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--records", type=int, default=1000000)
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    for name, path in {"CLATUNE": "src/cli/clatune", "CLATUNE_WORKER": "src/worker/child/clatune-worker",
                       "CLATUNE_SIMULATED_DRIVER": "tests/instruments/libclatune-simulated.so",
                       "CLATUNE_FAULT_LAYER": "tests/instruments/libclatune-faults.so"}.items():
        os.environ.setdefault(name, str(build / path))
    return options


OPTIONS = parse()
sys.path.insert(0, str(ROOT / "tests" / "farm"))
from farm import CLATUNE, FarmTest, until  # noqa: E402
from proxy import Proxy  # noqa: E402
from server import SETTINGS, need  # noqa: E402

SETTINGS["fsync"] = "on"


class Farm(FarmTest):
    """A fixture: `with Farm() as farm`."""
    def runTest(self):
        """None: this is no test."""

    def __enter__(self):
        self.setUp()
        return self

    def __exit__(self, *_):
        self.doCleanups()

    def tunings_a_second(self):
        """From when all agents have begun their first one to when the last one is begun, by the server's clock."""
        return float(self.value(
            "with w as (select max(f) as t0, max(l) as t1 from (select min(began) as f, max(began) as l from clatune.cell group by agent) a)"
            " select count(*) / extract(epoch from max(t1) - max(t0)) from clatune.cell, w where finished > t0 and finished <= t1"))

    def server_cpu_s(self):
        """Processor time of the server so far, with its processes that have ended."""
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, rest = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if pid == self.server.process.pid:
                ticks += sum(map(int, rest[11:15]))
            elif int(rest[1]) == self.server.process.pid:
                ticks += sum(map(int, rest[11:13]))
        return ticks / os.sysconf("SC_CLK_TCK")


def figure(name, value, wanted):
    print(f"{name}: {value} (wanted: {wanted})", flush=True)


def network():
    """Of one tuning: evaluations by the seconds that it took."""
    rates = {"undisturbed": [], "200 ms and 1 % loss": [], "a reader of a row a second": []}
    for _ in range(OPTIONS.turns):
        for name, found in rates.items():
            with Farm() as farm, Proxy(farm.server.port) as proxy, Proxy(farm.server.port) as slow:
                if "loss" in name:
                    proxy.delay_s, proxy.loss = 0.2, 0.01
                farm.write_plan(1, Budgets=200)
                farm.submit(lease_s=60)
                reader = None
                if "reader" in name:
                    farm.server.query("create table public.many as select generate_series(1, 1000) as n; grant select on public.many to public",
                                      farm.database)
                    slow.rows_per_s = 1
                    reader = subprocess.Popen(["psql", "-X", "-q", farm.server.url(farm.database, "agent", port=slow.port), "-c",
                                               "begin; select count(*) from clatune.measurement; select n, repeat('x', 5000) from many"],
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                farm.agent(url=farm.server.url(farm.database, "agent", port=proxy.port), build_s=0.05)
                until(farm.finished, farm.agents[0].process)
                wall_s = float(farm.value("select line::json->>'wall_s' from clatune.result"))
                found.append(200 / wall_s)
                if reader:
                    reader.kill()
                    reader.wait()
    base = statistics.median(rates["undisturbed"])
    for name, found in rates.items():
        rate = statistics.median(found)
        figure(f"evaluations a second, {name}", f"{rate:.2f}, {100 * (rate / base - 1):+.1f} %", "within 5 % of undisturbed")


def duration_of(claims, level):
    claims = sorted(claims)
    return f"{claims[math.ceil(level * len(claims)) - 1]:.1f} ms"


def in_log(farm, at):
    """The time of claims in the server, by its log after a position: parsing, planning and carrying out, in milliseconds; and their text."""
    claims, under_way, text = [], {}, ""
    for line in farm.server.log()[at:].splitlines():
        found = re.search(r"\[(\d+)\] .* duration: ([0-9.]+) ms  (parse|bind|execute) [^:]*: (SELECT .*)", line)
        if not found or CLAIM not in found[4]:
            continue
        pid, took = found[1], under_way.pop(found[1], 0) + float(found[2])
        if found[3] == "execute":
            claims.append(took)
            text = found[4]
        else:
            under_way[pid] = took
    return claims, text


def by_psql(farm, claim):
    """The time of claims for a client that waits for a processor as every agent does, in milliseconds; each is given back at once."""
    n = 200
    targets = farm.value("select json_agg(id) from clatune.target")
    release = "update clatune.cell set state = 'open', lease = null where claim = '%032d';"
    script = ["set search_path = pg_catalog, clatune;", f"prepare claim(text, text, json) as {claim};", "\\timing on"]
    for i in range(n):
        script += [f"execute claim('{i:032}', 'probe', '{targets}');", release % i]
    said = farm.server.psql("\n".join(script), farm.server.local_url(farm.database))
    return [float(took) for took in re.findall(r"^Time: ([0-9.]+) ms", said, re.M)[::2]]


def agents():
    """So many at once. How long claims take comes afterwards, with the server's log on."""
    n, window_s = OPTIONS.agents, 20
    with Farm() as farm:
        farm.write_plan(40 * n, Budgets=20, Tuning={"Finalists": 0, "Fresh": True})
        farm.submit(lease_s=60)
        for _ in range(n):
            farm.agent(build_s=0.05)
        until(lambda: int(farm.value("select count(distinct agent) from clatune.cell")) >= n, limit_s=300)
        cpu_s, began_s = farm.server_cpu_s(), time.time()
        time.sleep(window_s)
        cpu_s, ended_s = farm.server_cpu_s() - cpu_s, time.time()
        within = farm.value(f"select count(*) from clatune.measurement where created_s >= {math.ceil(began_s)} and created_s < {int(ended_s)}")
        farm.server.query("alter system set log_min_duration_statement = 0; alter system set track_wal_io_timing = on")
        at = len(farm.server.log())
        farm.server.query("select pg_reload_conf(); select pg_stat_reset_shared('wal')")
        time.sleep(window_s)
        claims, text = in_log(farm, at)
        syncs = farm.server.query("select wal_sync, wal_sync_time / greatest(wal_sync, 1) from pg_stat_wal")[0]
        farm.server.query("alter system reset log_min_duration_statement; select pg_reload_conf()")
        seen = by_psql(farm, text) if text else []
        if farm.finished():
            print("all tunings were over before the end: the figures are too low")
        for agent in farm.agents:
            agent.process.terminate()
        for agent in farm.agents:
            agent.process.wait()
        rate = int(within) / (int(ended_s) - math.ceil(began_s))
        figure(f"{n} agents, evaluations a second", f"{rate:.0f}", "at least 300")
        for what, took in (("in the server, without the commit", claims), ("by psql, with it", seen)):
            if took:
                figure(f"99 % of claims, {what}", f"{duration_of(took, 0.99)} of {len(took)} claims, median {duration_of(took, 0.5)}",
                       "at most 50 ms")
        print(f"{syncs[0]} times the log was synchronised, {float(syncs[1]):.2f} ms each")
        figure("the server's share of a core", f"{100 * cpu_s / (ended_s - began_s):.0f} %", "at most 30 %")


def scaling():
    rates = {1: [], 8: []}
    for _ in range(OPTIONS.turns):
        for n, found in rates.items():
            with Farm() as farm:
                farm.write_plan(40, Budgets=4, Tuning={"Finalists": 0, "Fresh": True})
                for _ in range(n):
                    farm.agent(build_s=0.5)
                farm.until_met()
                farm.submit(lease_s=60)
                until(farm.finished, limit_s=1000)
                found.append(farm.tunings_a_second())
    figure("8 agents against 1", f"{statistics.median(rates[8]) / statistics.median(rates[1]):.2f} times as fast", "at least 7")


def seconds(command, farm):
    began = time.monotonic()
    done = subprocess.run([CLATUNE, *command], cwd=farm.folder, env=farm.environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")
    return time.monotonic() - began


def records():
    """The same commands with no more than their own records, and with a million."""
    fill = "insert into clatune.problem(hash) select md5(i::text) from generate_series(1, 1000) i;" \
           "insert into clatune.key(problem, device) select p.id, d.id from clatune.problem p, clatune.device d on conflict do nothing;" \
           "insert into clatune.described(key, login, name, kernel) select id, 'other', 'problem ' || mod(id, 100), md5(mod(id, 100)::text) from clatune.key;" \
           "insert into clatune.measurement(origin, number, key, kind, configuration, reason, time_s, clock, created_s, runs)" \
           " select 'other', i, k.id, 'search', 'a=' || mod(i, 40) || ' b=' || mod(i / 40, 25), 'none', 1e-5 * (1 + random()), 'device', 1, array[1e-5, 1.1e-5, 1.2e-5]" \
           " from generate_series(1, %d) i join (select id, row_number() over (order by id) - 1 as r, count(*) over () as c from clatune.key) k" \
           " on k.r = mod(i, k.c); analyze clatune.measurement"
    of = {"look-up": ["lookup", "copy.json", "--device", "Simulated"],
          "start of a search": ["tune", "copy.json", "--device", "Simulated", "--size", "n=2048", "--budget", "2", "--finalists", "0", "--quiet"]}
    with Farm() as few, Farm() as many:
        for farm in (few, many):
            seconds(["tune", "copy.json", "--device", "Simulated", "--budget", "60", "--quiet", "--store", farm.url], farm)
        began = time.monotonic()
        many.server.query(fill % OPTIONS.records, many.database)
        print(f"{many.value('select count(*) from clatune.measurement')} records, made in {time.monotonic() - began:.0f} s")
        for name, limit in (("look-up", "5 ms"), ("start of a search", "2 s")):
            took = [], []
            for _ in range(5 * OPTIONS.turns):
                for farm, found in zip((few, many), took):
                    found.append(1000 * seconds([*of[name], "--store", farm.url], farm))
            alone, beside = map(statistics.median, took)
            figure(name, f"{beside - alone:.1f} ms longer than beside its own records, {beside:.0f} ms with the program's start", f"at most {limit}")


def confirmation():
    """One agent after the other has begun, so that all have something to believe."""
    wrong = {"time_s": "1e-5 * (1 + a / 10) * (1 + b / 25) * (1 + c / 4)", "wrong": "(a * 7 + b * 3 + c) % 4 == 0", "noise": {"sigma": 0.05, "seed": 1}}
    parameters = ", ".join(f'{{"Name": "{name}", "Type": "int", "Values": "range(1, {n + 1})"}}' for name, n in (("a", 10), ("b", 10), ("c", 6)))
    shares = {}
    for logins in ("one login", "six logins"):
        with Farm() as farm:
            problem = (farm.folder / "copy.json").read_text()
            problem = re.sub(r'"TuningParameters": \[.*?\]\s*([,}])', lambda found: f'"TuningParameters": [{parameters}]{found[1]}', problem, flags=re.S)
            (farm.folder / "copy.json").write_text(re.sub(r'"(Constraints|Default)": *(\[.*?\]|\{.*?\}),?', "", problem, flags=re.S))
            farm.write_plan(30, Budgets=100, Searchers=["random", "surrogate"], Tuning={"Finalists": 3})
            farm.submit(lease_s=60)
            for i in range(6):
                login = f"agent{i}" if logins == "six logins" else "agent"
                if login != "agent":
                    farm.server.login(login, "clatune_worker")
                farm.agent(url=farm.server.url(farm.database, login), **wrong)
            until(farm.finished, limit_s=1000)
            evaluations, failed = farm.server.query("select sum((line::json->'evaluations'->>'total')::int), count(*) filter (where state = 'failed')"
                                                    " from clatune.cell left join clatune.result using (target, n)", farm.database)[0]
            repeated, of = farm.server.query("select count(*) - count(distinct (key, configuration)), count(*) from clatune.measurement"
                                             " where kind = 'search'", farm.database)[0]
            shares[logins] = 100 * int(repeated) / int(evaluations)
            print(f"{logins}: {evaluations} evaluations, {of} measured, {repeated} of them repeated: {shares[logins]:.2f} %; {failed} tunings failed")
    figure("evaluations repeated because of a single agent's word", f"{shares['six logins'] - shares['one login']:.2f} %", "at most 2 %")


def main():
    need()
    known = {"network": network, "agents": agents, "scaling": scaling, "records": records, "confirmation": confirmation}
    try:
        for name in OPTIONS.what or known:
            known[name]()
    finally:
        if FarmTest.server:
            FarmTest.server.close()


if __name__ == "__main__":
    main()
