"""What each login may do to whom (docs/explanation/trust.md): attacks with psql, as a worker, a reader and an owner, on a farm of others."""
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

from farm import CLATUNE, FarmTest, TIME_S, problem, run, until
from server import Session

N = 4  # tunings


class Roles(FarmTest):
    farms = {}  # what finish_farm has made: the database and the agent's files

    def setUp(self):
        super().setUp()
        for login, role in (("mallory", "worker"), ("looker", "reader"), ("boss", "owner")):
            self.make_login(login, role)

    def make_login(self, login, role="worker"):
        """Logins are of the server, which serves all tests."""
        self.server.query(f"do $$ begin create role {login} login in role clatune_{role}; exception when duplicate_object then null; end $$")

    def url_of(self, login):
        return self.server.local_url(self.database, login)

    def attack(self, sql, login="mallory"):
        return self.server.psql(sql, self.url_of(login))

    def refused(self, *statements, login="mallory", words="permission denied"):
        """All in one session."""
        with contextlib.closing(Session(self.url_of(login), "-v", "ON_ERROR_STOP=0")) as psql:
            for sql in statements:
                before = os.fstat(psql.errors.fileno()).st_size
                psql.ask(sql)
                with self.subTest(sql):
                    self.assertRegex(os.pread(psql.errors.fileno(), 1 << 16, before).decode(), f"(?s)ERROR: .*({words})")
                psql.ask("rollback")

    def record(self, *arguments, **more):
        """One that mallory delivers for the problem that was tuned last."""
        self.attack(self.delivery(*arguments, **more))

    def deliver(self, deliveries, login="mallory"):
        """Many, each in a transaction of its own."""
        self.attack(";\n".join(deliveries), login)

    def delivery(self, configuration, time_s="1e-9", kind="search", reason="none", origin="'ffffffffffffffff'", number=1, comparison=0,
                 agent="evil:1:000000"):
        return f"""select clatune.deliver((select json_build_array(json_build_object('place', 0, 'problem', p.hash, 'device', d.key,
            'driver', d.driver, 'origin', {origin}, 'number', {number}, 'kind', '{kind}', 'configuration', {configuration}, 'reason', '{reason}',
            'time_s', {time_s}, 'clock', 'device', 'created_s', 4000000000, 'runs', array_remove(array[{time_s}], null), 'confirmed', 1,
            'comparison', {comparison})) from clatune.key k join clatune.problem p on p.id = k.problem join clatune.device d
            on d.id = k.device order by k.id desc limit 1), '{agent}')"""

    def rows_of(self, path, sql):
        with contextlib.closing(sqlite3.connect(self.folder / path)) as file:
            return file.execute(sql).fetchall()

    def run_farm(self, n):
        self.write_plan(n)
        self.submit()
        self.agent()
        self.until_finished()
        self.stop_agents()

    def finish_farm(self, n=N):
        """An agent has done a plan: once for all tests that begin so, which get copies of its database and its files."""
        made = n, (self.folder / "copy.json").read_text()
        if made not in self.farms:
            self.run_farm(n)
            home = pathlib.Path(tempfile.mkdtemp(prefix="clatune-test-"))
            self.addClassCleanup(shutil.rmtree, home, ignore_errors=True)
            self.farms[made] = self.database, shutil.copytree(self.agents.pop().home, home, dirs_exist_ok=True), self.folder
        database, home, folder = self.farms[made]
        self.use_database(self.server.database(database))
        self.server.query(f"update clatune.described set path = replace(path, '{folder}', '{self.folder}')", self.database)
        self.write_plan(n)
        shutil.copytree(home, self.new_agent().home, dirs_exist_ok=True)

    # --- withholding ---

    def test_nobody_else_says_how_far_a_file_was_received(self):
        """Before, one UPDATE made other agents skip their measurements."""
        self.write_plan(12)
        self.submit()
        agents = [self.agent(build_s=0.02) for _ in range(2)]
        self.until_begun(2)
        self.refused("update clatune.shipper set upto = 9000000000", "insert into clatune.shipper(file, upto) values ('x', 1)")
        self.assertEqual(self.attack("select count(*) from clatune.shipper").strip(), "0")
        files = [row[0] for row in self.server.query("select file from clatune.shipper", self.database)]
        for file in files or ["x"]:
            self.attack(f"select clatune.ship('{file}', 9000000000, null); select clatune.ship('{file}', 9000000000, upto) from "
                        "generate_series(0, 500) as upto")
        self.until_finished()
        for agent in agents:
            self.assertTrue(agent.runs(), agent.said)
        self.check(12)

    def test_even_the_own_login_cannot_end_a_tuning_without_its_measurements(self):
        """The agents' login is stolen: what it says to have received is compared with what is there before a tuning is done."""
        self.write_plan(8)
        self.submit()
        self.agent(build_s=0.02)
        done = lambda: int(self.value("select count(*) from clatune.cell where state = 'done'"))
        self.assertTrue(until(lambda: done() >= 1))
        self.attack("select clatune.ship(file, 9000000000, upto) from clatune.shipper", "agent")
        self.assertFalse(self.finished())
        self.until_finished()
        self.stop_agents()
        self.check_union()

    def test_even_the_own_login_cannot_replace_the_measurements_of_a_tuning(self):
        """A thief knows the origin of an agent's claim, and delivers other records under its numbers first."""
        self.finish_farm(1)
        self.write_plan(3, Budgets=6)
        self.submit()
        self.join()
        self.attack("select clatune.claim(repeat('a', 32), 'evil:1:000000', (select json_agg(id) from clatune.target))")
        end = "select clatune.finish(target, n, repeat('a', 32), '{}', 1, '{}') from clatune.cell where state = 'running'"
        for name in ("forged", "true", "true"):
            self.record(f"'x={name}'", origin="left(md5(repeat('a', 32)), 16)")
        self.assertEqual(self.attack(end).strip(), "incomplete")
        self.assertEqual(self.attack(end.replace("1,", "0,")).strip(), "incomplete")

    def test_nobody_uses_up_the_numbers_of_others(self):
        self.write_plan(6)
        self.submit()
        self.agent(build_s=0.02)
        self.until_begun(1)
        self.assertTrue(until(lambda: self.value("select count(*) from clatune.key") != "0"))
        claimed = {row[0] for row in self.server.query("select name from clatune.origin", self.database)}
        self.deliver(self.delivery("'x=1'", origin=f"'{origin}'", number=number) for origin in claimed for number in range(1, 40))
        for origin in ("repeat('é', 40)", "repeat('a', 64)", "'FFFFFFFFFFFFFFFF'", "E'ffffffffffffffff\\n'"):  # what agents would keep cut
            self.refused(self.delivery("'x=1'", origin=origin), self.delivery("'x=1'", number=-5), words="an origin has 16 hexadecimal digits, and numbers are not negative")
        self.until_finished()
        self.stop_agents()
        there = self.records()
        for identity, measured in self.agents[0].records().items():
            self.assertEqual(there[identity], measured)

    def test_a_merge_loses_nothing_to_who_came_first(self):
        """mallory knows the origin of alice's file, and has used it up, and what an origin was called that belonged to another."""
        self.finish_farm(1)
        self.make_login("alice")
        self.clatune("sample", *self.subject, "--samples", "20", "--seed", "3", "--store", "alice.sqlite")
        with contextlib.closing(sqlite3.connect(self.folder / "alice.sqlite")) as file:
            [[origin]] = file.execute("select distinct origin from measurement").fetchall()
            measured = set(file.execute("select configuration, time_s from measurement").fetchall())
        names = f"'{origin}'", f"left(md5('alice {origin}'), 16)"
        self.deliver(self.delivery("'x=1'", origin=name, number=number) for name in names for number in range(25))
        merge = ("store", "merge", "alice.sqlite", "--store", self.url_of("alice"))
        self.assertEqual(self.clatune_json(*merge)["added"], 20)
        there = self.server.query("select configuration, time_s from clatune.measurement m join clatune.agent a on a.id = m.agent and login = 'alice'", self.database)
        self.assertEqual({(configuration, float(time_s)) for configuration, time_s in there}, measured)
        self.assertEqual(self.clatune_json(*merge)["added"], 0)
        # Nor to mallory's, once they are revoked.
        self.clatune("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))
        self.server.query("delete from clatune.measurement", self.database)
        self.assertEqual(self.clatune_json(*merge)["added"], 20)
        self.assertEqual(self.value("select count(*) from clatune.measurement"), "20")
        self.clatune("store", "revoke", "--agent", "alice", "--store", self.url_of("boss"))
        self.assertEqual(self.clatune_json(*merge)["added"], 0)
        self.assertEqual(self.value("select count(*) from clatune.measurement"), "0")

    def test_a_copy_of_a_file_does_not_replace_it(self):
        """mallory merges alice's file before her, half of it with other energies, and is revoked."""
        self.finish_farm(1)
        self.make_login("alice")
        self.clatune("sample", *self.subject, "--samples", "20", "--seed", "3", "--store", "alice.sqlite")
        shutil.copy(self.folder / "alice.sqlite", self.folder / "copy.sqlite")
        with contextlib.closing(sqlite3.connect(self.folder / "copy.sqlite")) as file:
            file.execute("update measurement set energy_J = 1e-12 where number <= 10")
            file.commit()
        merge = ("store", "merge", "alice.sqlite", "--store", self.url_of("alice"))
        self.clatune("store", "merge", "copy.sqlite", "--store", self.url_of("mallory"))
        self.assertEqual(self.clatune_json(*merge)["added"], 20)
        self.clatune("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))
        self.assertEqual(self.clatune_json(*merge)["added"], 0)
        self.assertEqual(self.value("select count(distinct number) from clatune.measurement m join clatune.agent a on a.id = m.agent and login = 'alice'"), "20")

    def test_the_same_of_another_key_or_time_withholds_nothing(self):
        """mallory merges what alice carries for another before her, half of it of another problem, half of another time."""
        self.finish_farm(1)
        self.make_login("alice")
        self.clatune("sample", *self.subject, "--samples", "20", "--seed", "3", "--store", "carried.sqlite")
        shutil.copy(self.folder / "carried.sqlite", self.folder / "copy.sqlite")
        for path, sql in (("carried", "update measurement set own = 0"), ("copy", "update measurement set created_s = created_s - 9 where number > 10; insert into "
                          "problem(hash) values ('p'); insert into key(problem, device) select p.id, d.id from problem p, device d where p.hash = 'p';"
                          "update measurement set key = (select max(id) from key) where number <= 10")):
            with contextlib.closing(sqlite3.connect(self.folder / (path + ".sqlite"))) as file:
                file.executescript(sql)
        self.clatune("store", "merge", "copy.sqlite", "--store", self.url_of("mallory"))
        for added in (20, 0):
            self.assertEqual(self.clatune_json("store", "merge", "carried.sqlite", "--store", self.url_of("alice"))["added"], added)

    def test_a_merge_that_a_deadlock_ends_is_repeated(self):
        """mallory's transaction has made one key of alice's file, and waits for the other."""
        self.finish_farm(1)
        self.make_login("alice")
        self.server.query("alter role mallory set deadlock_timeout = '1h'")
        self.addCleanup(self.server.query, "alter role mallory reset deadlock_timeout")
        for seed in (1, 2):
            self.clatune("sample", *self.subject, "--samples", "20", "--seed", str(seed), "--size", f"n={256 * seed}", "--store", "alice.sqlite")
        describe = "select clatune.describe('{}', key, driver, 'x', '', '', '', '', '') from clatune.device; "
        (first,), (second,) = self.rows_of("alice.sqlite", "select p.hash from problem p join key k on k.problem = p.id order by k.id")
        with contextlib.closing(Session(self.url_of("mallory"))) as psql:
            psql.ask("begin; " + describe.format(second))
            merge = subprocess.Popen([CLATUNE, "store", "merge", "alice.sqlite", "--store", self.url_of("alice")], cwd=self.folder, env=self.environment,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.assertTrue(until(lambda: self.value("select count(*) from pg_locks where not granted") != "0" or merge.poll() is not None))
            psql.ask(describe.format(first) + "commit")
        said = merge.communicate()[1]
        self.assertEqual((merge.returncode, self.value("select count(*) from clatune.measurement m join clatune.key on key = key.id join clatune.problem p "
                                                       f"on p.id = problem where hash in ('{first}', '{second}')")), (0, "40"), said)
        self.assertIn("deadlock detected", self.server.log())

    def test_who_merges_the_files_of_two_is_not_their_voice(self):
        """mallory merges the files of alice and bob before they do, with other logs. What they only copied stays one voice."""
        for login in ("alice", "bob"):
            self.make_login(login)
            self.clatune("sample", *self.subject, "--samples", "20", "--seed", "3", "--store", login + ".sqlite")
            shutil.copy(self.folder / (login + ".sqlite"), self.folder / "copy.sqlite")
            with contextlib.closing(sqlite3.connect(self.folder / "copy.sqlite")) as file:
                file.execute("update measurement set log = 'x'")
                file.commit()
            self.clatune("store", "merge", "copy.sqlite", "--store", self.url_of("mallory"))
        subject = ("lookup", "copy.json", "--device", "Simulated", "--store", self.url_of("looker"))
        self.assertTrue(self.clatune_json(*subject)["unconfirmed"])
        for login in ("alice", "bob"):
            self.assertEqual(self.clatune_json("store", "merge", login + ".sqlite", "--store", self.url_of(login))["added"], 20)
            self.assertEqual(self.clatune_json("store", "merge", login + ".sqlite", "--store", self.url_of(login))["added"], 0)
        self.assertFalse(self.clatune_json(*subject)["unconfirmed"])
        self.clatune("store", "export", "-o", "all.sqlite", "--store", self.url_of("alice"))
        self.assertEqual(self.clatune_json("store", "merge", "all.sqlite", "--store", self.url_of("alice"))["added"], 0)

    def test_a_transaction_left_open_delays_only(self):
        self.finish_farm(1)
        psql = Session(self.url_of("mallory"))
        psql.ask("begin; select clatune.describe(md5('x'), d.key, d.driver, 'x', '', '', '', '', '') from clatune.device d; "
                 "select clatune.describe(p.hash, d.key, d.driver, 'x', '', '', '', '', '') from clatune.problem p, clatune.device d")
        self.write_plan(3, Budgets=6)
        self.submit()
        self.agents[0].start()
        self.assertTrue(until(lambda: int(self.value("select count(*) from clatune.cell")) == 4))
        psql.close()
        self.until_finished()
        self.stop_agents()
        self.assertEqual(self.states(), {"done": 4})
        self.check_union()

    def test_who_holds_a_tuning_delays_no_others_end(self):
        """mallory's and another's tunings died too often; hers is renewed in a transaction left open."""
        self.write_plan(2)
        self.submit(lease_s=600)
        self.attack("select clatune.join_plan(id, 'A', 'x', 'A', 2) from clatune.plan; select clatune.add_cells(id, 0, '[\"a\", \"b\"]') from clatune.target")
        for login, claim in ("mallory", "a"), ("agent", "b"):
            self.attack(f"select clatune.claim(repeat('{claim}', 32), 'a:1:1', '[1]')", login)
        status = self.clatune("sweep", "--status", "--store", self.url).stdout
        for row in ("  mallory/a:1:1: A: a for ", "  a:1:1: A: b for ", "agent mallory/a:1:1: ", "agent a:1:1: "):
            self.assertIn("\n" + row, status)
        self.server.query("update clatune.cell set lease = 'epoch', lease_s = 0, attempts = 9, best = 9", self.database)
        expire = "set lock_timeout = '1ms'; select clatune.expire()"
        with contextlib.closing(Session(self.url_of("mallory"))) as psql:
            psql.ask("begin; select clatune.renew('[{\"target\": 1, \"n\": 0, \"claim\": \"" + "a" * 32 + "\", \"progress\": -1}]')")
            self.attack(expire, "agent")
            self.assertEqual(self.states(), {"running": 1, "failed": 1})
            psql.ask("rollback")
        self.attack(expire, "agent")
        self.assertEqual(self.states(), {"failed": 2})

    def test_who_holds_locks_is_named_and_waited_for(self):
        """mallory's transaction has made the key of alice's file, and read a table that an upgrade changes."""
        self.make_login("alice")
        self.clatune("sample", *self.subject, "--samples", "20", "--seed", "3", "--store", "alice.sqlite")
        psql = Session(self.url_of("mallory"))
        [[problem, device, driver]] = self.rows_of("alice.sqlite", "select p.hash, d.key, d.driver from problem p, device d")
        psql.ask(f"begin; select clatune.describe('{problem}', '{device}', '{driver}', 'x', '', '', '', '', ''); select 1 from clatune.cell")
        waiting = {}
        for name, command in {"merge": ("merge", "alice.sqlite", "--store", self.url_of("alice")), "init": ("init", self.server.local_url(self.database))}.items():
            with open(self.folder / (name + ".said"), "w", encoding="utf-8") as said:
                waiting[name] = subprocess.Popen([CLATUNE, "store", *command], cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=said)
        said = lambda name: (self.folder / (name + ".said")).read_text()
        self.assertTrue(until(lambda: all("waiting until" in said(name) or process.poll() is not None for name, process in waiting.items())))
        psql.close()
        for name, process in waiting.items():
            self.assertEqual(process.wait(120), 0, said(name))
            self.assertRegex(said(name), r"is busy.*'mallory' \(process \d+: .*key.*waiting until it is free")
        self.assertEqual(self.value("select count(*) from clatune.measurement"), "20")

    def test_who_takes_all_connections_delays_only(self):
        self.server.query(f'alter database "{self.database}" connection limit 2')
        self.server.close_sessions([self.database])
        taken = [Session(self.url_of("mallory")) for _ in range(2)]
        for session in taken:
            session.ask("select 1")
        looks = subprocess.Popen([CLATUNE, "store", "list", "--store", self.url_of("looker")], env=self.environment, text=True, stderr=subprocess.PIPE)
        agent = self.agent()
        self.assertRegex(looks.stderr.readline(), "has no free connection.*CONNECTION LIMIT.*waiting until it is free")
        self.assertTrue(until(lambda: "waiting until it is free" in agent.said), agent.said)
        for session in taken:
            session.close()
        self.assertEqual((looks.communicate()[1], looks.returncode), ("", 0))
        self.server.query(f'alter database "{self.database}" connection limit -1')
        self.write_plan(1)
        self.submit()
        self.until_finished()
        self.stop_agents()

    def test_who_takes_all_locks_delays_only(self):
        """Then nobody can connect."""
        n, sessions = 1 << 15, []
        with contextlib.ExitStack() as held:
            while n > 0:
                session = Session(self.url_of("mallory"))
                try:
                    session.ask(f"select count(pg_advisory_lock({len(sessions)}, i)) from generate_series(1, {n}) i")
                    sessions.append(held.enter_context(contextlib.closing(session)))
                except RuntimeError:
                    n //= 2
            looks = subprocess.Popen([CLATUNE, "store", "list", "--store", self.url_of("looker")], env=self.environment, text=True, stderr=subprocess.PIPE)
            until(lambda: f"looker@{self.database} FATAL:  out of shared memory" in self.server.log() or looks.poll() is not None)
        said = looks.communicate()[1]
        self.assertEqual((said.count("\n"), looks.returncode), ("out of shared memory" in said, 0), said)

    def test_transactions_that_are_undone_use_up_no_numbers(self):
        """Each takes ids from the sequences, which were short ones, as an upgrade finds them."""
        self.finish_farm(1)
        ids = {"problem": ("id",), "device": ("id",), "key": ("id", "problem", "device"), "described": ("key",), "measurement": ("key",), "revoked": ("key",)}
        self.server.query("".join(f"alter table clatune.{table} alter {column} type integer; " for table, columns in ids.items() for column in columns),
                          self.database)
        self.clatune("store", "init", self.server.local_url(self.database))
        self.server.query("".join(f"select setval(pg_get_serial_sequence('clatune.{table}', 'id'), 2147483647); " for table in ("problem", "device", "key")),
                          self.database)
        self.attack("select clatune.deliver('[{\"problem\": \"p\", \"device\": \"d\", \"driver\": \"x\", \"origin\": \"o\"}]', 'x')".replace('"o"', '"eeeeeeeeeeeeeeee", "number": 1, '
                    '"kind": "search", "configuration": "", "reason": "none", "clock": "", "created_s": 1, "confirmed": 0, "comparison": 0'), login="agent")
        self.assertEqual(self.value("select max(key) from clatune.measurement"), "2147483648")

    # --- forging ---

    def join(self):
        """mallory adds the last plan's tunings on the agents' device."""
        self.attack("""select clatune.join_plan((select max(id) from clatune.plan), device, driver, name, 3) from clatune.target where id = 1;
            select clatune.add_cells((select max(id) from clatune.target), 0, '["a", "b", "c", "d", "e", "f"]')""")

    def end(self, line, best):
        """mallory ends the next open tuning with this result: what the database says."""
        claim = "md5(clock_timestamp()::text)"
        return self.attack(f"""create temp table c as select {claim} as id; create temp table t as select c.* from (select clatune.claim(
            (select id from c), 'evil:1:000000', (select json_agg(max) from (select max(id) from clatune.target) m)) as c) x, lateral (select (x.c).*) c;
            select clatune.finish(t.target, t.n, c.id, $line${json.dumps(line, separators=(",", ":"))}$line$, 0, '{json.dumps(best)}') from c, t""").strip()

    def summary(self, expect=1):
        return json.loads(self.clatune("sweep", "plan.json", "--summary", "--json", "--store", self.url, expect=expect).stdout)

    def test_results_of_nothing_do_not_hold_up_an_init(self):
        """Each was compared with all measurements."""
        self.finish_farm(1)
        self.write_plan(3, Budgets=6)
        self.submit()
        self.join()
        self.assertEqual(self.end({"best_s": 1}, {}), "done")
        self.server.query("create function public.refuse() returns trigger language plpgsql as $$ begin raise 'looked for'; end $$;"
                          "create trigger updated before update on clatune.cell execute function public.refuse()", self.database)
        self.clatune("store", "init", self.server.local_url(self.database))

    def test_open_tunings_are_done_by_those_who_claim_and_measure(self):
        self.finish_farm(1)
        self.write_plan(3, Budgets=6)
        self.submit()
        self.join()
        self.refused("update clatune.cell set state = 'done'", "insert into clatune.result(target, n, login, agent, line) values (2, 0, 'agent', 'x', '{}')",
                     "select claim from clatune.cell", "insert into clatune.cell(target, n, text) values (1, 7, 'x')")
        line = "(select line from clatune.result)"
        said = self.attack(f"""select clatune.claim(repeat('a', 32), 'evil:1:000000', (select json_agg(id) from clatune.target));
            select clatune.finish(target, n, repeat('a', 32), {line}, 0, '{{}}') from clatune.cell where state = 'running';
            select clatune.finish(target, n, 'guessed', {line}, 0, '{{}}') from clatune.cell where state <> 'done'""").split()
        self.assertEqual(said[1:2] + said[-1:], ["unfounded", "lost"], said)
        self.assertEqual(self.summary(expect=0)["tunings"]["to_do"], 3)

    def upgrade(self):
        """From an earlier version, which did not note what results rest on."""
        self.server.query("alter table clatune.cell add line text; update clatune.cell c set line = r.line from clatune.result r where (r.target, r.n) = "
                          "(c.target, c.n); drop table clatune.result", self.database)
        self.clatune("store", "init", self.server.local_url(self.database))

    def test_what_ended_without_a_measurement_can_be_revoked_and_reopened(self):
        """By an agent that the database has not heard of. Nor does its line, with no number that a database has, stop an upgrade."""
        self.finish_farm(1)
        self.write_plan(3, Budgets=6)
        self.submit()
        self.join()
        self.assertEqual(self.end({"best_s": 10**400}, {}), "done")
        self.upgrade()
        self.assertEqual(len(self.clatune_json("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))["tunings"]), 1)
        self.assertEqual(self.end({}, {}), "done")
        self.assertEqual(self.states(), {"done": 2, "failed": 1, "open": 1})
        self.submit()
        self.assertEqual(self.states(), {"done": 1, "open": 3})

    def test_a_result_is_of_its_tuning_and_says_what_was_measured(self):
        """What a claim allows: another's line, faster, of another configuration, or with a value of the objective, over a true measurement."""
        self.write_plan(1, Tuning={"Finalists": 0, "Objective": "maximise 1 / time_s"})
        self.submit()
        self.agent()
        self.until_finished()
        self.stop_agents()
        self.upgrade()
        names = ("problem", "configuration", "time_s")
        [row] = self.server.query("select p.hash, m.configuration, m.time_s from clatune.result join clatune.measurement m on m.origin = best_origin and "
                                  "m.number = best_number join clatune.key k on k.id = m.key join clatune.problem p on p.id = k.problem", self.database)
        best = {**dict(zip(names, row)), "time_s": float(row[2])}
        self.write_plan(6, Tuning={"Finalists": 0, "Objective": "maximise 1 / time_s"})
        self.submit()
        self.join()
        alone = {line["seed"]: line["tuning"] for line in self.on_one_machine().values()}
        true = json.loads(self.value("select line from clatune.result"))
        self.assertEqual(self.end(true, {**best, "time_s": 1e-9}), "unfounded")
        self.assertEqual(self.end(true, {**best, "configuration": "a=39 b=24"}), "unfounded")
        self.assertEqual(self.end(true, {**best, "problem": "0" * 32}), "unfounded")
        self.server.query("update clatune.cell set state = 'open', lease = null where state = 'running'", self.database)
        self.assertEqual(self.end(true, best), "done")
        self.assertEqual(self.end({**true, "seed": 2}, best), "done")  # with the key of the first tuning
        for seed, change in ((3, {"best_s": true["best_s"] / 2}), (4, {"configuration": {"a": 39, "b": 24}}), (5, {"best_value": true["best_value"] * 2}),
                             (6, {"maximised": False})):
            self.assertEqual(self.end({**true, "seed": seed, "tuning": alone[seed], **change}, best), "done")
        answer = self.summary()
        self.assertEqual(answer["tunings"], {**answer["tunings"], "total": 6, "found": 1, "failed": 5})
        self.clatune("sweep", "plan.json", "--quiet", "--store", self.url, "--output", "farm.jsonl", expect=1)
        self.assertEqual([line["seed"] for line in self.results("farm.jsonl").values()], [1])

    def test_no_tuning_ends_for_good_and_no_result_vanishes(self):
        """mallory ends tunings over a true measurement, with lines that nobody takes. When they are done she reopens them, and ends one with
        another's result, and others with nothing, which was measured before, and by an error."""
        self.finish_farm(1)
        line = json.loads(self.value("select line from clatune.result"))

        def best_of(line):
            names = ("problem", "configuration", "time_s")
            [row] = self.server.query("select p.hash, m.configuration, m.time_s from clatune.result join clatune.measurement m on (m.origin, m.number) = "
                                      "(best_origin, best_number) join clatune.key k on k.id = m.key join clatune.problem p on p.id = k.problem where "
                                      f"login = 'agent' and line::json->>'tuning' = '{line['tuning']}'", self.database)
            return {**dict(zip(names, row)), "time_s": float(row[2])}

        best = best_of(line)
        self.write_plan(4, Budgets=6)
        self.submit()
        self.join()
        for claimed in ({}, {"configuration": {"a": 1}}, line):
            self.assertEqual(self.end(claimed, best), "done")
        self.submit()
        self.assertEqual(self.states(), {"done": 1, "open": 4})
        self.agents[0].start()
        self.assertTrue(until(lambda: self.states() == {"done": 5}), self.states())
        self.stop_agents()
        found = self.collect()[1]
        self.assertEqual(found, self.on_one_machine())
        self.attack("select clatune.submit('x', text, 1, (select json_agg(json_build_object('target', target, 'n', n)) from clatune.cell)) from clatune.plan")
        self.assertEqual(self.states(), {"open": 5})
        shown = self.clatune_json("store", "show", "--by", "agent", "--store", self.url_of("looker"))
        self.assertEqual(sum(agent["tunings"] for agent in shown if agent["login"] == "agent"), 5)
        self.assertEqual(self.summary(expect=0)["tunings"]["found"], 4)
        lines = self.server.query("select line from clatune.result where target = 2 and login = 'agent'", self.database)
        of = {line["seed"]: line for line in (json.loads(text) for text, in lines)}
        for claimed, true in (({**of[2], "seed": 1, "tuning": of[1]["tuning"]}, best_of(of[2])), ({}, best),
                              ({**of[3], "best_s": None, "configuration": None, "options": None}, {})):
            self.assertEqual(self.end(claimed, true), "done")
        self.attack("select clatune.claim(repeat('a', 32), 'e:1:1', '[2]'); select clatune.fail(2, 3, repeat('a', 32), 'x', 1, true)")
        self.assertEqual(self.states(), {"open": 1, "done": 3, "failed": 1})
        self.assertEqual(self.collect("again.jsonl")[1], found)
        self.clatune("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))
        self.assertEqual(self.states(), {"open": 1, "done": 3, "failed": 1})

    def test_who_submits_a_plan_first_does_not_choose_its_lease(self):
        """Nor one that expires at once, or never."""
        self.write_plan(1)
        self.submit()
        self.server.query("create table public.copied as select text from clatune.plan; grant select on public.copied to clatune_worker; "
                          "delete from clatune.plan", self.database)
        submit = "select clatune.submit('x', text, {}, null) from public.copied"
        self.refused(*(submit.format(lease) for lease in ("0", "1e7", "'NaN'", "86401")), words="a lease has 1 to 86400 seconds")
        self.attack(submit.format(86400) + "; select clatune.join_plan(id, 'A', 'x', 'A', 3) from clatune.plan")
        self.submit()
        self.assertEqual(self.value("select lease_s from clatune.plan"), "600")
        self.server.query("delete from clatune.target; delete from clatune.plan", self.database)
        self.attack(submit.format(1))
        self.submit(lease_s=60)
        self.attack(submit.format(1).replace("null", "'[]'"))
        self.assertEqual(self.value("select lease_s from clatune.plan"), "60")

    def test_the_lease_of_a_tuning_is_that_of_its_claim(self):
        """mallory submits the plan anew, before and after the claim, in a transaction that ends after it."""
        self.write_plan(1)
        self.submit(lease_s=60)
        self.attack("select clatune.join_plan(id, 'A', 'x', 'A', 1) from clatune.plan; select clatune.add_cells(id, 0, '[\"a\"]') from clatune.target")
        submit = "begin; select clatune.submit('x', text, 1, '[]') from clatune.plan; "
        with contextlib.closing(Session(self.url_of("mallory"))) as first:
            first.ask(submit)
            self.attack("select clatune.claim(repeat('a', 32), 'a:1:1', '[1]')", "agent")
            first.ask("commit")
        self.attack(submit + "commit")
        self.attack("select clatune.renew(json_build_array(json_build_object('target', 1, 'n', 0, 'claim', repeat('a', 32), 'progress', 1)))", "agent")
        self.assertEqual(self.value("select lease > clock_timestamp() + interval '30 s' from clatune.cell"), "t")
        self.assertEqual(self.value("select lease_s from clatune.plan"), "60")  # nor of those to come

    def test_a_plan_is_not_over_before_it_begins(self):
        """mallory finishes the only row that there is, of a device that nobody has; or is thousands of agents, which a status lists."""
        self.write_plan(3)
        self.submit()
        self.attack("""select clatune.join_plan(id, 'A', 'x', 'A', 3) from clatune.plan; select clatune.add_cells(id, 0, '["a"]') from clatune.target;
            select clatune.deliver('[{"place": 0, "problem": "p", "device": "A", "driver": "x", "origin": "eeeeeeeeeeeeeeee", "number": 1, "kind": "search",
            "configuration": "a=1", "reason": "none", "time_s": 1, "clock": "device", "created_s": 1, "confirmed": 1, "comparison": 0}]', 'e:1:1');
            select clatune.claim(repeat('a', 32), 'e:1:1', (select json_agg(id) from clatune.target));
            select clatune.finish(target, n, repeat('a', 32), '{"configuration": {"a": 1}}', 0, '{"problem": "p", "configuration": "a=1", "time_s": 1}') from clatune.cell;
            select count(clatune.deliver('[]', 'g' || i)) from generate_series(1, 2000) i;
            select count(clatune.greet('g' || i, '', '', '[]')::text) from generate_series(1, 2000) i""")
        self.assertEqual(self.value("select state from clatune.cell"), "done")
        self.assertEqual(self.value("select count(*) from clatune.agent where login = 'mallory' and seen > 'epoch'"), "1000")
        self.agent()
        self.assertTrue(until(lambda: self.states() == {"done": 4}), self.states())

    def test_a_command_that_waits_for_a_plan_goes_on_waiting(self):
        """Nobody has begun but mallory, who ends one of its tunings, of a device that nobody has."""
        self.write_plan(3, Devices=["Board"])
        waiting = self.agent("plan.json", name="Laptop")
        self.assertTrue(until(lambda: "waiting for" in waiting.said), waiting.said)
        self.attack(f"""select clatune.join_plan(id, 'A', 'x', 'A', 3) from clatune.plan; select clatune.add_cells(id, 0, '["a"]') from clatune.target;
            select clatune.claim(repeat('b', 32), 'e:1:1', (select json_agg(id) from clatune.target));
            select clatune.finish(id, 0, repeat('b', 32), '{{}}', 0, '{{}}') from clatune.target""")
        for _ in range(2):  # it looks again, and whatever it then decides is done
            now = self.value("select clock_timestamp()")
            self.assertTrue(until(lambda: self.value(f"select count(*) from clatune.agent where login <> 'mallory' and seen > '{now}'") == "1"), waiting.said)
        self.assertTrue(waiting.runs(), waiting.said)
        self.agent(name="Board X")
        self.assertTrue(until(lambda: not waiting.runs()), waiting.said)
        self.assertEqual(self.states(), {"done": 4}, waiting.said)

    def takes_turns(self, most, more, words):
        """What is one too many is so in parallel, too."""
        with contextlib.closing(Session(self.url_of("mallory"))) as psql:
            psql.ask("begin; " + most)
            self.refused("set lock_timeout = '1ms'; " + more, words="lock timeout")
            psql.ask("commit")
        self.refused(more, words=words)

    def test_many_plans_hold_up_nobodys(self):
        """mallory submits as many as she can, all of which agents have to refuse."""
        many = "select count(*) from generate_series(9981, 9990) i, lateral clatune.submit('x', '{\"a\": ' || i || '}', 3, null)"
        self.server.query("insert into clatune.plan(name, text, lease_s, maker) select 'x', '{\"a\": ' || i || '}', 3, 'mallory' from generate_series(1, 9980) i", self.database)
        self.attack(many)
        self.refused(many.replace("9981, 9990", "9991, 10001"), words="has submitted 10000 plans")
        self.takes_turns(many.replace("9981, 9990", "9991, 10000"), many.replace("9981, 9990", "10001, 10001"), "has submitted 10000 plans")
        self.write_plan(1)
        self.submit()
        self.agent()
        self.until_finished()
        self.assertLess(self.agents[0].said.count("left to other agents"), 200)
        self.assertIn("'farm'", self.clatune("sweep", "--status", "--store", self.url_of("looker")).stdout)
        self.stop_agents()

    def test_invented_agents_are_not_looked_through(self):
        """Nor for each of the devices that mallory has added to the plan."""
        self.write_plan(3)
        self.submit()
        self.attack("select clatune.join_plan(1, 'A' || i, 'x', 'A' || i, 3) from generate_series(1, 100) i; select clatune.add_cells(id, 0, '[\"a\"]') from clatune.target")
        self.server.query("insert into clatune.agent(login, name, devices) select 'mallory', i, 'd' || i from generate_series(1, 1000) i", self.database)
        self.agent()
        self.assertTrue(until(lambda: self.states() == {"done": 3, "open": 100}), self.states())
        self.stop_agents()
        self.assertLess(int(self.value("select seq_tup_read from pg_stat_user_tables where relname = 'agent'")), 30000)

    def test_what_is_invented_hides_nothing(self):
        """Devices, names with line ends, and long descriptions."""
        self.finish_farm(1)
        devices = "select clatune.join_plan((select max(id) from clatune.plan), 'A' || i, 'x', 'A', 3) from generate_series({}) i"
        self.refused(devices.format("1, 1001"), words="has added 100 kinds of devices")
        self.takes_turns(devices.format("1, 100"), devices.format("101, 101"), "has added 100 kinds of devices")
        self.attack("select clatune.add_cells(id, 0, '[\"a\"]') from clatune.target")
        [simulated] = [line for line in self.summary(expect=0)["table"] if line["found"]]
        self.assertEqual(simulated["device"], "Simulated")
        self.attack("select clatune.submit(repeat('x', 1000000), '{\"a\": 1}', 3, null); select clatune.submit(E'line\\nend \\x1b[2J', '{}', 3, null);"
                    "select clatune.describe(md5('x'), d.key, d.driver, repeat('n', 1000000), repeat('p', 1000000), repeat('s', 1000000), 'k',"
                    "repeat('d', 1000000), repeat('t', 1000000)) from clatune.device d")
        self.record("'x=1'", agent="evil\nagent:1:000000")
        self.assertIn("mallory evil?agent:1:000000", self.clatune("store", "show", "--by", "agent", "--store", self.url).stdout)
        said = self.clatune("sweep", "--status", "--store", self.url).stdout
        self.assertLess(max(map(len, said.splitlines())), 1000)
        self.assertNotIn("\x1b", said)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith("plan ")]), 3)
        self.assertIn("line?end ?[2J", said)
        longest = self.value("select max(length(concat(name, path, sizes, tuning, description))) from clatune.described")
        self.assertLess(int(longest), 20000)

    def test_an_export_hides_nothing_of_others(self):
        """mallory describes the agents' key before them, as it is and in her key that begins with it, and has measured with a path."""
        self.finish_farm(1)
        self.server.query("create table public.known as select p.hash, d.key, d.driver from clatune.problem p, clatune.device d; grant select on public.known "
                          "to public; truncate clatune.measurement, clatune.described, clatune.key, clatune.problem, clatune.device, clatune.shipper, "
                          "clatune.cell, clatune.result", self.database)
        describe = "select clatune.describe({}, key, driver, 'zzz', '/evil', 'n=9', 'k', '{{}}', '{{}}') from public.known"
        self.attack(describe.format("hash"))
        self.write_plan(2)
        self.submit()
        self.agents[0].start()
        self.until_finished()
        self.stop_agents()
        n, looker = len(self.records()), self.url_of("looker")
        self.record("'a=1 b=/'")
        for number, problem in enumerate(("'p'", "hash || 'x'"), 2):  # the second is not beside the agents'
            self.attack(describe.format(problem))
            self.record("'a=1 b=2'", number=number)
        for name, options, added, known in (("all", (), 2, {"copy", "zzz"}), ("public", ("--public",), 1, {"copy", "zzz"}), ("copy", ("--problem", "copy"), 1, {"copy"})):
            with self.subTest(name):
                path = name + ".sqlite"
                run = self.clatune("store", "export", "-o", path, *options, "--json", "--store", looker)
                said = "left out 1 measurements of others" in run.stderr
                answer = json.loads(run.stdout)
                self.assertEqual((answer["exported"], answer["left_out"], said), (n + added, int(name == "public"), name == "public"))
                self.assertEqual({key["problem"] for key in self.clatune_json("store", "list", "--store", path)}, known)
                self.assertEqual(self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--size", "n=1000", "--store", path)["tier"], "nearest-size")

    def test_a_report_shows_what_most_found(self):
        """alice has measured the same as the agents; mallory's newer records say that all is slower, fails, or takes no time."""
        known = self.every_configuration()
        self.make_login("alice")
        self.deliver((self.delivery(f"'{configuration}'", time_s, number=number, origin="'aaaaaaaaaaaaaaaa'", agent="alice:1:000000")
                      for number, (configuration, time_s) in enumerate(known.items(), 1)), "alice")
        report = [[line for line in self.clatune("report", self.url_of(login), "--problem", "copy").stdout.splitlines() if "last" not in line]
                  for login in ("looker", "alice")]
        for number, (time, reason) in enumerate((("1e-2", "none"), ("1e-2", "wrong-output"), ("1e-9", "none"))):
            self.deliver(self.delivery(f"'{configuration}'", time, reason=reason, number=100 * number + place)
                         for place, configuration in enumerate(known, 1))
            with self.subTest(reason, time=time):
                self.assertEqual([[line for line in self.clatune("report", self.url_of(login), "--problem", "copy").stdout.splitlines()
                                   if "last" not in line] for login in ("looker", "alice")], report)

    def test_many_plans_and_agents_hide_nobodys(self):
        self.write_plan(2, Name="of others")
        self.clatune("sweep", "plan.json", "--store", self.url_of("mallory"), "--submit")  # the plan is not only hers
        self.submit()
        self.attack("select clatune.submit('x' || i, '{\"a\": ' || i || '}', 3, null) from generate_series(1, 120) i")
        self.server.query("insert into clatune.agent(login, name, devices, lost, described, seen) select 'm' || i % 11, '!' || i, 'd', '', '[]', clock_timestamp() "
                          "from generate_series(1, 10001) i", self.database)
        self.attack("select clatune.greet('last:1:1', 'd', '', '[]')", login="agent")
        said = self.clatune("sweep", "--status", "--store", self.url_of("looker")).stdout.splitlines()
        self.assertEqual(len([line for line in said if "'of others': submitted" in line or "agent agent/last:1:1: d; seen" in line]), 2)
        self.assertEqual(said[-2:], ["21 more plans", "2 more agents"])
        self.server.query("insert into clatune.problem(hash) values ('p'); insert into clatune.device(key, driver) values ('d', ''); insert into clatune.key("
                          "problem, device) values (1, 1); insert into clatune.measurement(origin, number, key, kind, configuration, reason, clock, created_s, "
                          "agent) select 'o', id, 1, '', '', '', '', 0, id from clatune.agent order by name = 'last:1:1' desc", self.database)
        shown = [agent["login"] for agent in self.clatune_json("store", "show", "--by", "agent", "--store", self.url_of("looker"))]
        self.assertEqual((len(shown), shown.index("agent")), (10000, 9999))  # the newest first

    def test_a_size_that_a_key_does_not_have_is_no_nearest_one(self):
        """mallory says that the key of n=65536 has another size, and delivers a true record of its best."""
        self.write_problem(20, 12)
        for n, a, b in ((1024, 17, 9), (65536, 2, 2)):
            for login, slower in ("alice", 1), ("bob", 1.02):
                self.make_login(login)
                self.simulate(name="Simulated", time_s=f"{slower}e-5 * (1 + 0.06 * abs(a - {a}) + 0.09 * abs(b - {b}))")
                self.clatune("tune", "copy.json", "--device", "Simulated", "--size", f"n={n}", "--searcher", "random", "--budget", "20", "--seed", str(a), "--finalists", "3",
                             "--fresh", "--store", self.url_of(login))
        ask = ("lookup", "copy.json", "--device", "Simulated", "--store", self.url_of("looker"), "--size", "n=1000")
        before = self.clatune_json(*ask)
        self.assertEqual((before["tier"], before["measured_at"], before["unconfirmed"]), ("nearest-size", "n=1024", False))
        of = ("from clatune.described s join clatune.key k on k.id = s.key join clatune.problem p on p.id = k.problem join clatune.device d on d.id = k.device "
              "where s.login = 'alice' and s.sizes = 'n=65536'")
        best, time_s = self.server.query(f"select configuration, avg(time_s) from clatune.measurement where kind = 'search' and reason = 'none' and key = (select k.id {of}) "
                                         "group by 1 order by 2 limit 1", self.database)[0]
        self.record(f"'{best}'", time_s=time_s)
        self.attack(f"select clatune.describe(p.hash, d.key, d.driver, s.name, '', 'n=1000', s.kernel, s.description, '') {of}")
        self.assertEqual(self.clatune_json(*ask), before)

    def test_who_measures_first_describes_for_nobody_else(self):
        """mallory knows what will be measured, and describes it and delivers records of it before, also on an invented device."""
        self.finish_farm(1)
        self.server.query("create table public.known as select p.hash, d.key, d.driver from clatune.problem p, clatune.device d; grant select on public.known "
                          "to public; truncate clatune.measurement, clatune.described, clatune.key, clatune.problem, clatune.device, clatune.shipper, "
                          "clatune.cell, clatune.result; insert into public.known select hash, 'invented', 'x' from public.known", self.database)
        describe = "select clatune.describe(hash, key, driver, '{0}', '{0}', 'n={1}', 'k', 'd', '{{}}') from public.known"
        self.attack(describe.format("zzz", 9))
        for number, device in enumerate(("Simulated", "invented"), 1):
            self.attack(f"""select clatune.deliver(json_agg(json_build_object('place', 0, 'problem', hash, 'device', key, 'driver', driver, 'origin', 'dddddddddddddddd', 'number',
                {number}, 'kind', 'search', 'configuration', 'a=1 b=2', 'reason', 'none', 'time_s', 1.3e-5, 'clock', 'device', 'created_s', 0, 'confirmed', 1,
                'comparison', 0)), 'evil:1:000000') from public.known where key ~ '{device}'""")
        self.write_plan(2)
        self.submit()
        self.agents[0].start()
        self.until_finished()
        self.stop_agents()
        looker = self.url_of("looker")
        near = ("lookup", "copy.json", "--device", "Simulated", "--store", looker, "--size")
        best = self.clatune_json(*near, "n=1024")["configuration"]
        for _ in range(2):
            found = self.clatune_json(*near, "n=1000")
            self.assertEqual((found["tier"], found["configuration"]), ("nearest-size", best))
            self.assertEqual(self.clatune_json("store", "show", "copy.json", "--store", looker)[0]["configuration"], best)
            self.assertIn("copy\n", self.clatune("report", looker, "--problem", "copy").stdout)
            self.attack(describe.format("copy", 1000))  # as near as can be: then what mallory measured is shown, or nothing of others
            found = self.clatune_json(*near, "n=1001")
            self.assertTrue(found["configuration"] == best or found["unconfirmed"], found)
            self.attack(describe.format("zzz", 9))
        self.assertEqual({key["problem"] for key in self.clatune_json("store", "list", "--store", self.url)}, {"copy", "zzz"})
        # Nor in a file, once two others agree: it has one description of a problem.
        self.make_login("alice")
        self.attack("select clatune.describe(p.hash, d.key, d.driver, s.name, s.path, s.sizes, s.kernel, '', '') from clatune.described s join clatune.key k on k.id = "
                    "s.key join clatune.problem p on p.id = k.problem join clatune.device d on d.id = k.device where s.login = 'agent'", "alice")
        self.clatune("store", "export", "-o", "all.sqlite", "--store", looker)
        self.assertEqual([key["problem"] for key in self.clatune_json("store", "list", "--store", "all.sqlite")], ["copy", "copy"])
        self.clatune("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))
        self.assertEqual({key["problem"] for key in self.clatune_json("store", "list", "--store", looker)}, {"copy"})

    def test_who_measures_first_names_no_file_that_others_read(self):
        """mallory describes what the agents have measured with a path of hers: neither by name nor from an export."""
        self.finish_farm(1)
        looker = self.url_of("looker")
        (self.folder / "evil.json").write_text("{")
        [best] = self.clatune_json("store", "show", "copy", "--store", self.url)
        self.attack(f"""select clatune.describe(p.hash, d.key, d.driver, s.name, '{self.folder}/evil.json', s.sizes, s.kernel, s.description, '')
            from clatune.described s join clatune.key k on k.id = s.key join clatune.problem p on p.id = k.problem join clatune.device d on d.id = k.device""")
        self.clatune("store", "export", "-o", "all.sqlite", "--store", looker)
        for store in looker, "all.sqlite":
            self.assertNotIn("evil", self.clatune("store", "show", "copy", "--store", store, expect=2 if store == looker else 1).stderr)
            self.assertEqual(self.clatune_json("store", "show", "copy.json", "--store", store), [best])
        self.assertEqual(self.clatune_json("store", "show", "copy", "--store", self.url), [best])

    def test_invented_devices_hide_nobodys(self):
        """Which were described before those of others."""
        self.finish_farm(1)
        (self.folder / "icd" / "simulated.icd").unlink()  # no device here
        looker = self.url_of("looker")
        lookup = ("lookup", "copy.json", "--device", "Simulated", "--store", looker)
        before = self.clatune_json(*lookup)
        self.server.query("set session_replication_role = replica; alter table clatune.key alter id set generated by default; update clatune.key set id = id + 5000; update clatune.described set key = key + 5000; update "
                          "clatune.measurement set key = key + 5000; set session_replication_role = origin;"
                          "insert into clatune.device(id, key, driver) overriding system value select i, regexp_replace(key, '[|].*[|]', '|D' || i || '|'), driver from "
                          "clatune.device, generate_series(3, 1100) i; insert into clatune.key(id, problem, device) overriding system value select id, 1, id from "
                          "clatune.device where id > 2; insert into clatune.described(key, login, description) select k.id, 'mallory', s.description::jsonb || "
                          "jsonb_build_object('name', 'D' || k.id) from clatune.key k, clatune.described s where k.id < 5000 and s.description <> ''; "
                          "insert into clatune.measurement(origin, number, key, kind, configuration, reason, clock, created_s) select 'o', id, id, '', '', '', '', 0 "
                          "from clatune.key where id < 5000", self.database)
        for device, code in ("D7", 0), ("D1100", 3):
            self.clatune("lookup", "copy.json", "--device", device, "--store", looker, expect=code)
        self.assertEqual(self.clatune_json(*lookup), before)

    def test_who_describes_devices_and_sessions_is_heard_about_nothing_of_others(self):
        """mallory's description of the agents' device has another driver, a limit or another name; that of their search comes first."""
        self.finish_farm(1)
        (self.folder / "icd" / "simulated.icd").unlink()  # no device here
        looker = self.url_of("looker")
        lookup = ("lookup", "copy.json", "--store", looker, "--device")
        before = self.clatune_json(*lookup, "Simulated")
        self.assertEqual(before["tier"], "exact")
        true = json.loads(self.value("select description from clatune.described where description <> '' limit 1"))
        for change in ({"driver_version": "evil"}, {"max_work_group_size": 1}, {"name": "Invented"}):
            self.assertIn(list(change)[0], true)
            self.attack(f"""select clatune.describe(md5('x'), d.key, d.driver, 'x', '', '', '', $t${json.dumps({**true, **change})}$t$, '') from clatune.device d;
                select clatune.deliver(json_agg(json_build_object('place', 0, 'problem', md5('x'), 'device', key, 'driver', driver, 'origin', 'dddddddddddddddd', 'number', 1,
                'kind', 'search', 'configuration', 'a=1', 'reason', 'none', 'time_s', 1, 'clock', 'device', 'created_s', 0, 'confirmed', 1, 'comparison', 0)),
                'evil:1:000000') from clatune.device""")
            self.assertEqual(self.clatune_json(*lookup, "Simulated"), before)
        self.clatune(*lookup, "Invented", expect=3)
        for login, searcher in ("mallory", "forged"), ("agent", "true"):
            self.attack(f"""select clatune.describe(p.hash, d.key, d.driver, 'copy', '', '', '', '', '{{"searcher": "{searcher}", "evaluations": 1, "seed": 1}}')
                from clatune.problem p, clatune.device d where p.hash <> md5('x')""", login=login)
        self.server.query("update clatune.described set id = default where login = 'agent'", self.database)
        [tuning] = self.clatune_json("report", looker, "--problem", "copy")["tunings"]
        self.assertEqual(tuning["session"]["searcher"], "true")

    def test_who_describes_devices_first_is_outvoted_by_two(self):
        """mallory measures first, and describes the device with another driver, a limit or another name. Who reads has no such device."""
        given = problem(1, 2)
        given["ConfigurationSpace"]["TuningParameters"][0].update({"Values": [1, 32], "Default": 1})
        given["KernelSpecification"]["LocalSize"]["X"] = "a"
        (self.folder / "copy.json").write_text(json.dumps(given))
        self.simulate(name="Simulated", time_s="1e-6 * (40 - a + b)")
        for login in ("mallory", "alice", "bob"):
            self.make_login(login)
            self.tune("--searcher", "exhaustive", "--fresh", "--store", self.url_of(login))
        (self.folder / "icd" / "simulated.icd").unlink()
        true = json.loads(self.value("select description from clatune.described limit 1"))
        looker, subject = self.url_of("looker"), ("lookup", "copy.json", "--store")

        def answers(name):
            self.clatune("store", "export", "-o", f"{name}.sqlite", "--store", looker)
            return [[self.clatune_json(*subject, store, "--device", "Simulated"), self.clatune_json(*subject, store, "--portable"),
                     self.clatune_json("store", "show", "copy.json", "--store", store), self.clatune(*subject, store, "--format", "header").stdout.replace(store, "")]
                    for store in (looker, f"{name}.sqlite")]
        before = answers("before")
        self.assertEqual(before[0][0]["configuration"]["a"], 32)
        for name, value in ("max_work_group_size", 16), ("name", "Invented"), ("driver_version", "evil"):
            driver = f"'{value}'" if name == "driver_version" else "d.driver"
            self.attack(f"""select clatune.describe(p.hash, d.key, {driver}, s.name, s.path, s.sizes, s.kernel, $t${json.dumps({**true, name: value})}$t$, '')
                from clatune.described s join clatune.key k on k.id = s.key join clatune.problem p on p.id = k.problem join clatune.device d on d.id = k.device
                where s.login = 'mallory'""")
            self.assertEqual(answers(name), before)

    def make_keys(self, n):
        self.server.query(f"insert into clatune.problem(hash) select 'k' || i from generate_series(1, {n}) i; insert into clatune.key(problem, device, maker)"
                          "select p.id, d.id, 'mallory' from clatune.problem p, clatune.device d where length(hash) < 32", self.database)

    def test_a_login_makes_so_many_keys_and_no_more(self):
        self.finish_farm(1)
        self.make_keys(100000)
        describe = "select clatune.describe(md5('{}'), key, driver, null, null, null, null, null, null) from clatune.device"
        self.refused(describe.format("more"), words="more than 100000 combinations")
        known = "select clatune.describe(hash, key, driver, '', null, null, null, null, null) from clatune.device, clatune.problem limit 1"
        self.attack(known)
        self.attack(describe.format("of another"), login="agent")
        # Nor as much text as it likes, which all readers would keep in memory.
        self.server.query("insert into clatune.described(key, login, tuning) select id, 'mallory', repeat('t', 1 << 26) from clatune.key where maker = 'mallory' "
                          "order by id desc limit 5", self.database)
        self.refused(known, words="more than 256 MiB")
        self.attack(known, login="agent")

    def test_several_transactions_make_no_more(self):
        """Each sees only what the others have committed, and with an old snapshot not even that."""
        self.finish_farm(1)
        self.make_keys(99990)
        keys = "select clatune.deliver(json_agg(json_build_object('origin', 'eeeeeeeeeeeeeeee', 'problem', i::text, 'device', key, 'driver', driver)), 'x') from clatune.device, generate_series({}, {}) i"
        self.refused(keys.format(1, 11), words="more than 100000 combinations")
        with contextlib.closing(Session(self.url_of("mallory"))) as first:
            first.ask("begin; " + keys.format(1, 6))
            others = [Session(self.url_of("mallory")) for _ in range(2)]
            for level, session in zip(("read committed", "repeatable read"), others):
                session.ask(f"begin isolation level {level}; select 1 from clatune.key")
                session.process.stdin.write(keys.format(7, 12) + ";\n")
                session.process.stdin.flush()
            self.assertTrue(until(lambda: self.value("select count(*) from pg_locks where not granted") != "0"))
            first.ask("commit")
        said = [session.close() for session in others]
        self.assertIn("more than 100000 combinations", said[0])
        self.assertIn("isolation level read committed", said[1])
        self.assertEqual(self.value("select count(*) from clatune.key where maker = 'mallory'"), "99996")

    def test_what_the_database_does_not_support_is_said_at_once(self):
        self.server.query("create or replace function clatune.describe(_problem text, _device text, _driver text, _name text, _path text, _sizes text, _kernel "
                          "text, _description text, _tuning text) returns void language plpgsql as $$ begin raise 'not here' using errcode = '0A000'; end $$",
                          self.database)
        said = self.clatune("sample", *self.subject, "--samples", "1", "--store", self.url, expect=6).stderr
        self.assertIn("not here (0A000)", said)
        self.assertNotIn("gave up", said)

    # --- lying ---

    def every_configuration(self):
        """Measured by the agents' login: {configuration: seconds}, the fastest first."""
        self.finish_farm(2)
        return self.measured()

    def measured(self):
        found = self.server.query("select configuration, min(time_s) from clatune.measurement where reason = 'none' group by 1 order by 2", self.database)
        return {configuration: float(time_s) for configuration, time_s in found}

    def test_one_row_that_is_too_good_to_be_true_is_no_answer(self):
        known = self.every_configuration()
        subject = ("lookup", "copy.json", "--device", "Simulated", "--store", self.url_of("looker"))
        before = self.clatune_json(*subject)
        self.assertTrue(before["unconfirmed"])
        self.assertIn("from one agent, not confirmed", self.clatune(*subject).stdout)
        self.record(f"'{list(known)[-1]}'")
        self.record(f"'{list(known)[-1]}'", kind="finalist", number=2, comparison=2)
        self.record(f"'{list(known)[0]}'", kind="finalist", reason="wrong-output", number=3, comparison=2)
        self.record(f"'{list(known)[-1]}'", number=4, agent="another:1:000000")  # under another name, which is still the same login
        self.assertEqual(self.clatune_json(*subject), before)
        self.assertEqual(self.value("select count(*) from clatune.measurement where created_s > extract(epoch from now()) + 69"), "0")
        # Nor in the comparison of another agent.
        origin, comparison = (self.server.query("select origin, comparison from clatune.measurement where comparison > 0 limit 1", self.database) or [["a" * 16, 1]])[0]
        self.record(f"'{list(known)[-1]}'", kind="finalist", origin=f"'{origin}'", number=99999, comparison=comparison)
        self.assertEqual(self.clatune_json(*subject), before)
        # A tuning measures it, and then it is out for good.
        self.make_login("alice")
        tuned = self.tune("--searcher", "random", "--budget", "20", "--seed", "1", "--store", self.url_of("alice"))
        self.assertGreater(tuned["best"]["time_s"], 1e-7)
        after = self.clatune_json(*subject)
        self.assertGreater(after["expected_time_s"], 1e-7)

    def test_what_two_say_of_a_configuration_counts_though_a_third_calls_it_faster(self):
        """Nobody has compared. mallory's word alone would be the fastest record, and not so fast that it is in doubt by itself."""
        self.write_problem(20, 10)
        for login in ("alice", "bob"):
            self.make_login(login)
            self.tune("--searcher", "exhaustive", "--budget", "200", "--finalists", "0", "--fresh", "--store", self.url_of(login))
        found = self.server.query("select configuration, min(time_s) from clatune.measurement where reason = 'none' group by 1 order by 2", self.database)
        said = lambda login: self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", self.url_of(login))["configuration"]
        before = {login: said(login) for login in ("looker", "alice", "bob")}
        self.assertGreater(float(found[-1][1]), 1.3 * float(found[0][1]))
        self.record(f"'{found[-1][0]}'", time_s=str(0.81 * float(found[0][1])))
        self.assertEqual({login: said(login) for login in before}, before)

    def test_one_login_chooses_no_answer_among_what_others_measured(self):
        known = self.every_configuration()
        best, slow = list(known)[0], list(known)[-1]
        subject = ("lookup", "copy.json", "--device", "Simulated", "--store", self.url_of("looker"))
        before = self.clatune_json(*subject)
        self.record(f"'{slow}'", time_s=str(known[slow]))  # true, but it does not make faster ones doubtful
        self.assertEqual(self.clatune_json(*subject), before)
        for number, (configuration, time_s) in enumerate(((best, 5e-5), (slow, 1e-5)), 2):
            self.record(f"'{configuration}'", time_s=str(time_s), kind="finalist", number=number, comparison=2)
        self.assertEqual(self.clatune_json(*subject), before)

    def test_one_login_does_not_tip_what_two_others_found(self):
        """mallory compares what two others found with the last finalist of one of them: last of all, or first with four true measurements."""
        said = lambda login: self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", self.url_of(login))["configuration"]

        def measures(login, *more):
            self.make_login(login)
            self.tune("--searcher", *more, "--fresh", "--store", self.url_of(login))

        for is_first, finalists in (False, {"carol": 0, "alice": 10}), (True, {"alice": 3, "bob": 10}):
            self.server.query("delete from clatune.measurement", self.database)
            self.write_problem(20, 12)
            self.simulate(name="Simulated", time_s="1e-5 * (1 + 0.06 * abs(a - 17) + 0.09 * abs(b - 9))")
            if is_first:
                measures("mallory", "random", "--budget", "4", "--seed", "9", "--finalists", "0")
            for login, n in finalists.items():
                measures(login, "exhaustive", "--budget", "240", "--finalists", str(n))
            before = {login: said(login) for login in ("looker", *finalists)}
            self.assertEqual(before, dict.fromkeys(before, {"a": 17, "b": 9}))
            last, time_s = self.server.query("select configuration, time_s from clatune.measurement where comparison > 0 and configuration <> 'a=0 b=0' "
                                             "order by time_s desc limit 1", self.database)[0]
            for number, row in enumerate((("a=17 b=9", 1.9e-5), (last, 0.95 * float(time_s))), 1):
                self.record(f"'{row[0]}'", time_s=str(row[1]), kind="finalist", number=number, comparison=1, origin=f"repeat('{'ef'[is_first]}', 16)")
            self.assertEqual({login: said(login) for login in before}, before)

    def test_the_first_voice_is_of_who_delivered_first(self):
        """Not of mallory, whose transaction began before that of the agents."""
        with contextlib.closing(Session(self.url_of("mallory"))) as psql:
            psql.ask("begin; select clatune.greet('evil:1:000000', '', '', '[]')")
            self.run_farm(2)
            known = self.measured()
            best, slow = list(known)[0], list(known)[-1]
            subject = ("lookup", "copy.json", "--device", "Simulated", "--store", self.url_of("looker"))
            before = self.clatune_json(*subject)
            for number, (configuration, time_s) in enumerate(((best, known[best] * 1.9), (slow, known[slow] / 1.9)), 1):
                psql.ask(self.delivery(f"'{configuration}'", str(time_s), kind="finalist", number=number, comparison=1))
            psql.ask("commit")
        self.assertEqual(self.clatune_json(*subject), {**before, "unconfirmed": False})  # a time within a factor of two confirms the best
        self.clatune("store", "export", "-o", "all.sqlite", "--store", self.url_of("looker"))
        self.assertEqual(self.clatune_json(*subject[:-1], "all.sqlite"), {**before, "unconfirmed": False})

    def test_one_login_chooses_no_portable_answer_and_trains_nothing(self):
        """mallory says that a slow configuration is fast and that the fastest fail, and measures at another size, with another driver and on another device."""
        self.write_problem(20, 12)
        looker = self.url_of("looker")
        tune = lambda login, device="Simulated", n=1024: self.clatune(
            "tune", "copy.json", "--device", device, "--size", f"n={n}", "--searcher", "random", "--budget", "60", "--seed", "5", "--finalists", "3", "--fresh",
            "--store", self.url_of(login))
        portable = lambda login, *more: self.clatune_json("lookup", "copy.json", "--portable", "--store", self.url_of(login), *more)

        def said():
            model = self.clatune_json("train", *self.subject, "--store", looker)
            self.clatune("record", *self.subject, "--stored-only", "-o", "r.json", "--store", looker)
            return ([{**portable(login), "left_out": 0} for login in ("looker", "alice")], {**model, "fit_s": 0},
                    json.loads((self.folder / "r.json").read_text())["results"])

        for login, alone in ("alice", True), ("bob", False):
            self.make_login(login)
            tune(login)
            before = said()
            self.assertEqual(before[0][0]["unconfirmed"], alone)
            known = [row[0] for row in self.server.query("select configuration from clatune.measurement where time_s is not null group by 1 order by min(time_s)", self.database)]
            slow = next(c for c in (f"a={a} b={b}" for a in range(20) for b in range(12)) if c not in known)
            self.record(f"'{slow}'", number=1000 + alone)
            self.deliver(self.delivery(f"'{configuration}'", time_s="null::float8", reason="wrong-output", number=number)
                         for number, configuration in enumerate(known[:50], 100 * alone + 1))
            self.assertEqual(said(), before)
        for name, driver, n in ("Simulated", "2", 1024), ("Another", "1", 1024), ("Simulated", "1", 2048):
            self.simulate(name=name, driver_version=driver, time_s="1e-7 * (1 + 1000 * (a - 1)**2)")
            tune("mallory", name, n)
        self.simulate(name="Simulated", time_s=TIME_S)
        self.assertEqual(said(), before)
        self.assertEqual(portable("looker")["left_out"], 2)
        self.assertIn("left out          2 places that one agent alone", self.clatune("lookup", "copy.json", "--portable", "--store", looker).stdout)
        named = portable("looker", "--device", "Simulated", "--size", "n=1024", "--size", "n=2048")
        self.assertTrue(named["unconfirmed"])
        self.assertEqual((named["left_out"], len(named["places"])), (0, 2))
        # She described what the others measured before them, as another device; and another problem as of their kernel.
        of_alice = "from clatune.described s join clatune.key k on k.id = s.key join clatune.problem p on p.id = k.problem join clatune.device d on d.id = k.device where s.login = 'alice'"
        true = json.loads(self.value(f"select s.description {of_alice}"))
        for change in {"max_work_group_size": 1}, {"name": "Invented"}:
            self.attack(f"select clatune.describe(p.hash, d.key, d.driver, s.name, s.path, s.sizes, s.kernel, $t${json.dumps({**true, **change})}$t$, '') {of_alice}")
            self.server.query("update clatune.described set id = default where login in ('alice', 'bob')", self.database)
            self.assertEqual(said(), before)
        self.attack(f"select clatune.describe(md5('x'), d.key, d.driver, s.name, s.path, s.sizes, s.kernel, s.description, '') {of_alice}")
        self.record("'a=1 b=1'", number=2000)
        tune("alice", n=4096), tune("bob", n=4096)
        self.assertEqual([place["sizes"] for place in portable("looker")["places"]], ["n=1024", "n=4096"])

    def test_configurations_that_one_agent_calls_slow_are_measured(self):
        """Those that nobody else has measured; of what others have measured she tells the truth."""
        self.write_problem(5, 5)
        self.every_configuration()
        known = {configuration: float(time_s) for configuration, time_s in self.server.query(
            "delete from clatune.measurement where configuration ~ '[34].*[34]'; select configuration, min(time_s) from clatune.measurement "
            "group by 1", self.database)}
        said = {f"a={a} b={b}": 1e-3 for a in range(5) for b in range(5)} | known
        self.deliver(self.delivery(f"'{configuration}'", time_s=str(time_s), number=number)
                     for number, (configuration, time_s) in enumerate(said.items(), 1))
        self.make_login("alice")
        tuned = self.tune("--searcher", "exhaustive", "--finalists", "0", "--store", self.url_of("alice"))
        self.assertEqual(tuned["best"]["configuration"], {"a": 4, "b": 4})

    def test_configurations_that_one_agent_calls_wrong_are_measured(self):
        known = self.every_configuration()
        self.server.query("delete from clatune.measurement", self.database)
        self.deliver(self.delivery(f"'{configuration}'", time_s="null::float8", reason="wrong-output", number=number)
                     for number, configuration in enumerate(known, 1))
        tuned = self.tune("--searcher", "exhaustive", "--store", self.url)
        self.assertGreater(tuned["evaluations"]["correct"], 5)
        self.assertEqual(tuned["evaluations"]["correct"], tuned["evaluations"]["total"])

    # --- rights ---

    def test_what_no_role_may_do(self):
        self.finish_farm()
        before = self.server.query("select * from clatune.cell", self.database), self.records()
        tables = [row[0] for row in self.server.query("select tablename from pg_tables where schemaname = 'clatune'", self.database)]
        for login in ("mallory", "looker"):
            self.refused(*(f"{what} clatune.{table}" for table in tables for what in ("delete from", "truncate", "begin; lock table", "drop table")),
                         "create table clatune.mine()", "create function clatune.f() returns int language sql as 'select 1'",
                         "select clatune.revoke('agent', null)", "select clatune.agent_id('x')", "select clatune.add_keys('[]')",
                         "select log from clatune.revoked", "set role clatune_owner", "alter role mallory superuser",
                         login=login, words="permission denied|must be owner|must be superuser")
        self.refused("select clatune.deliver('[]', 'x')", "select clatune.expire()", "select clatune.claim(repeat('a', 32), 'x', '[1]')", login="looker")
        # The schema's functions find their own names only, whatever the caller's path and objects of the same name are.
        self.attack("create temp table cell(target bigint, n bigint); create temp table measurement(origin text);"
                    "set search_path = pg_temp, clatune; select clatune.expire(); select clatune.reject(1); select clatune.deliver('[]', 'x')")
        self.attack("select clatune.reject(id) from clatune.plan; select clatune.give_back((select json_agg(json_build_object('target', target, 'n', n,"
                    "'claim', agent)) from clatune.cell))")
        self.assertEqual((self.server.query("select * from clatune.cell", self.database), self.records()), before)
        definers = self.server.query("select p.proname, p.proconfig, has_function_privilege('public', p.oid, 'execute') from pg_proc p join pg_namespace n on "
                                     "n.oid = p.pronamespace where n.nspname = 'clatune' and p.prosecdef", self.database)
        self.assertGreater(len(definers), 10)
        for name, settings, public in definers:
            self.assertIn("search_path=pg_catalog, clatune, pg_temp", settings, name)
            self.assertEqual(public, "f", name)

    # --- provenance ---

    def test_a_name_prunes_only_what_those_measured_who_say_it(self):
        """mallory calls what the agent measured like an old problem of her own."""
        self.finish_farm(1)
        n = len(self.records())
        self.record("'a=1 b=1'")
        self.attack("select clatune.describe(p.hash, d.key, d.driver, 'old', '', '', '', '', '') from clatune.problem p, clatune.device d")
        for would in ("--dry-run",), ():
            [removed] = [value for name, value in self.clatune_json("store", "prune", "--problem", "old", *would, "--store", self.url_of("boss")).items() if name != "store"]
            self.assertEqual(removed, 1)
        self.assertEqual(len(self.records()), n)
        self.assertEqual(self.clatune_json("store", "prune", "--problem", "copy", "--store", self.url_of("boss"))["removed"], n)

    def test_no_open_transaction_escapes_the_owner(self):
        """mallory's has added a record, a finished tuning, rows of a plan and a device, when these are revoked and withdrawn."""
        self.finish_farm(1)
        self.write_plan(3, Budgets=6)
        self.submit()
        self.join()
        remedies = {"revoke": ("store", "revoke", "--agent", "mallory"), "withdraw": ("sweep", "--withdraw", "2"), "again": ("sweep", "--withdraw", "3")}
        deeds = {"revoke": self.delivery("'x=1'") + "; select clatune.claim(repeat('a', 32), 'new:1:1', '[2]'); "
                           "select clatune.finish(2, 0, repeat('a', 32), '{}', 0, '{}')",
                 "withdraw": "select clatune.join_plan(2, 'A', 'x', 'A', 3); select clatune.add_cells(3, 0, '[\"a\"]')",
                 "again": "select clatune.join_plan(3, 'A', 'x', 'A', 3)"}
        self.write_plan(3, Budgets=7)
        self.submit()
        for name, remedy in remedies.items():
            with self.subTest(name), contextlib.closing(Session(self.url_of("mallory"))) as psql:
                psql.ask("begin; " + deeds[name])
                remedying = subprocess.Popen([CLATUNE, *remedy, "--store", self.url_of("boss")], env=self.environment, text=True, stdout=subprocess.DEVNULL,
                                             stderr=subprocess.PIPE)
                self.assertRegex(remedying.stderr.readline(), "'mallory' .*waiting until it is free")
                psql.ask("commit")
                self.assertEqual((remedying.communicate()[1], remedying.returncode), ("", 0))
        self.assertEqual(self.value("select count(*) from clatune.measurement m join clatune.agent a on a.id = m.agent and login = 'mallory'"), "0")
        self.assertEqual(self.states(), {"done": 1, "failed": 4})
        self.assertEqual(self.value("select count(*) from clatune.plan"), "2")

    def test_what_is_revoked_returns_in_no_old_snapshot(self):
        """mallory's transaction began before. What has come back before this was refused is revoked anew, so that agents hear of it."""
        self.finish_farm(1)
        self.record("'a=1 b=1'")
        revoke = ("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))
        psql = Session(self.url_of("mallory"))
        psql.ask("begin isolation level repeatable read; select count(*) from clatune.measurement")
        self.assertEqual(self.clatune_json(*revoke)["revoked"], 1)
        with self.assertRaisesRegex(RuntimeError, "begin it with isolation level read committed"):
            psql.ask(self.delivery("'a=1 b=1'"))
        self.server.query("create table public.kept as select * from clatune.revoked; delete from clatune.revoked", self.database)
        self.record("'a=1 b=2'")
        self.server.query("insert into clatune.revoked select * from public.kept; update clatune.revoked set gone = 1", self.database)
        self.assertEqual(self.clatune_json(*revoke)["revoked"], 1)
        self.assertEqual(self.server.query("select gone > 1, configuration from clatune.revoked", self.database), [["t", "a=1 b=2"]])

    def test_the_owners_remedies_take_as_long_as_they_need(self):
        """A login may have added so much that they cannot be done within the time limit of other statements."""
        self.finish_farm(2)
        self.server.query("update clatune.cell set state = 'failed' where n = 0; create function public.refuse() returns trigger language plpgsql as "
                          "$$ begin raise 'has a time limit'; end $$;" + "".join(
                              f"create trigger limited before update or delete on clatune.{table} when (current_setting('statement_timeout') <> '0')"
                              " execute function public.refuse();" for table in ("cell", "measurement")), self.database)
        self.submit()
        self.assertEqual(self.states(), {"open": 1, "done": 1})
        boss = self.url_of("boss")
        plan = self.value("select id from clatune.plan")
        self.assertIn("1 tunings withdrawn", self.clatune("sweep", "--withdraw", plan, "--store", boss).stdout)
        self.server.query("update clatune.measurement set created_s = 0 where number = 1", self.database)
        self.assertGreater(self.clatune_json("store", "prune", "--older-than", "1", "--store", boss)["removed"], 0)
        self.assertGreater(self.clatune_json("store", "revoke", "--agent", "agent", "--store", boss)["revoked"], 0)

    def test_counting_takes_as_long_as_it_needs(self):
        self.finish_farm(1)
        self.server.query("alter table clatune.measurement rename to kept; create function public.limited() returns bool language plpgsql as $$ begin if "
                          "current_setting('statement_timeout') <> '0' then raise 'has a time limit'; end if; return false; end $$; create view "
                          "clatune.measurement as select * from clatune.kept where not public.limited(); grant select on clatune.measurement to clatune_reader",
                          self.database)
        [key] = self.clatune_json("store", "list", "--store", self.url_of("looker"))
        self.assertEqual(key["records"], int(self.value("select count(*) from clatune.kept")))

    def test_what_an_agent_delivered_is_listed_and_revoked(self):
        self.finish_farm()
        n = len(self.records())
        [agent] = self.clatune_json("store", "show", "--by", "agent", "--store", self.url_of("looker"))
        self.assertEqual((agent["login"], agent["measurements"], agent["tunings"]), ("agent", n, N))
        self.assertEqual(self.value("select count(*) from clatune.measurement m join clatune.origin o on o.name = m.origin join clatune.cell c "
                                    "on c.target = o.target and c.n = o.n"), str(n))
        self.assertIn("GRANT clatune_owner", self.clatune("store", "revoke", "--agent", "agent", "--store", self.url, expect=6).stderr)
        boss = self.url_of("boss")
        self.assertEqual(self.clatune_json("store", "revoke", "--agent", "agent", "--since", "2099-01-01", "--store", boss)["revoked"], 0)
        self.attack(f"select clatune.greet('{agent['agent']}', '', '', '[]')")  # another login poses as the agent
        self.assertIn("write LOGIN/", self.clatune("store", "revoke", "--agent", agent["host"], "--store", boss, expect=6).stderr)
        self.attack("select clatune.greet('agent:1:1', '', '', '[]'); select clatune.greet('agent', '', '', '[]');"
                    f"select clatune.greet('agent/{agent['agent']}', '', '', '[]')")
        self.assertEqual(self.clatune_json("store", "revoke", "--agent", "agent", "--since", "2099-01-01", "--store", boss)["revoked"], 0)
        self.assertIn("no agent", self.clatune("store", "revoke", "--agent", "nobody", "--store", boss, expect=1).stderr)
        self.assertIn("2026-01-31", self.clatune("store", "revoke", "--agent", "x", "--since", "now", "--store", boss, expect=2).stderr)
        answer = self.clatune_json("store", "revoke", "--agent", "agent/" + agent["agent"], "--store", boss)
        self.assertEqual((answer["revoked"], len(answer["tunings"])), (n, N))
        self.assertIn("copy n=", answer["tunings"][0]["tuning"])
        [agent] = self.clatune_json("store", "show", "--by", "agent", "--store", boss)
        self.assertEqual((agent["measurements"], agent["revoked"]), (0, n))
        self.assertEqual(self.attack("select count(*) from clatune.result", "looker").strip(), "0")
        self.assertEqual(self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", self.url)["tier"], "default")
        # What the agent's file still has is not believed there, and does not return, however much else was revoked.
        self.server.query("alter role agent set work_mem = '512kB'; alter role agent set temp_file_limit = 0; insert into clatune.revoked(origin, number, id, key, "
                          "txid, kind, configuration, reason, clock, created_s, confirmed, comparison) select left(md5(i::text), 16), i, 0, 0, 1, '', '', '', "
                          "'', 0, 0, 0 from generate_series(1, 20000) i", self.database)
        self.addCleanup(self.server.query, "alter role agent reset all")
        again = self.agents[0].start()
        self.write_plan(1, Budgets=8)
        self.submit()
        self.assertTrue(until(lambda: self.value("select count(*) from clatune.cell where text ~ 'budget=8' and state = 'done'") == "1"), again.said)
        self.assertEqual(again.stop(), 143, again.said)
        self.assertNotIn("out of disk space", again.said)
        self.assertEqual(self.value("select count(*) from clatune.measurement m join clatune.revoked r using (origin, number)"), "0")
        self.assertEqual(json.loads(self.value("select line from clatune.result join clatune.cell using (target, n) where text ~ 'budget=8'"))["evaluations"]["reused"], 0)
        self.assertEqual(self.states(), {"failed": N, "done": 1})
        self.write_plan(N)
        self.submit()
        self.assertEqual(self.states(), {"open": N, "done": 1})

    def test_revoking_another_deletes_nothing_that_was_measured_here(self):
        """In a database that has lost all, mallory delivers under the agent's origins before it is back, and is revoked."""
        self.finish_farm(1)
        before = self.agents[0].records()
        self.server.query("delete from clatune.measurement; delete from clatune.origin; delete from clatune.shipper", self.database)
        self.deliver(self.delivery("'x=1'", origin=f"'{origin}'", number=number) for origin, number in before)
        self.clatune("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))
        again = self.agents[0].start()
        self.write_plan(1, Budgets=8)
        self.submit()
        self.assertTrue(until(lambda: self.value("select count(*) from clatune.cell where text ~ 'budget=8' and state = 'done'") == "1"), again.said)
        again.stop()
        self.assertLessEqual(before.items(), again.records().items())

    def test_who_has_set_its_role_is_still_bound_to_its_own(self):
        psql = Session(self.url_of("mallory"))
        psql.ask("set role clatune_worker; select clatune.greet('e:1:1', '', '', '[]')")
        self.server.query("revoke clatune_worker from mallory")
        self.addCleanup(self.server.query, "grant clatune_worker to mallory")
        with self.assertRaisesRegex(RuntimeError, "no longer a member of clatune_worker"):
            psql.ask("select clatune.greet('e:1:2', '', '', '[]')")

    def test_what_returns_from_an_export_is_nobody_elses(self):
        """What files cannot say is not kept, and so makes no copy a record of another. Nor does an old export bring back what was revoked."""
        known = self.every_configuration()
        best, slow = list(known)[0], list(known)[-1]
        for number, (configuration, changes) in enumerate({best: "'reason', 'wrong-output', 'energy_j', 0", slow: "'reason', 'none', 'energy_j', '-0'",
                                                           list(known)[1]: "'reason', 'none', 'figures', array['NaN'::float8]",
                                                           list(known)[2]: "'reason', 'none', 'energy_j', 'NaN', 'build_s', 'Infinity', 'max_abs_error', 'NaN', "
                                                                           "'figures', array[1, 'Infinity'::float8], 'use', array['-Infinity'::float8]"}.items(), 1):
            self.attack(self.delivery(f"'{configuration}'", str(known[best] / 2), "finalist", number=number, comparison=1).replace("'reason', 'none'", changes))
        self.assertEqual(self.value("select count(*) from clatune.measurement m where m::text ~ 'NaN|Infinity'"), "0")
        url = self.url_of("agent")
        self.clatune("store", "export", "-o", "all.sqlite", "--store", url)
        self.assertEqual(self.clatune_json("store", "merge", "all.sqlite", "--store", url)["added"], 0)
        self.clatune("store", "revoke", "--agent", "mallory", "--store", self.url_of("boss"))
        self.assertEqual(self.clatune_json("store", "merge", "all.sqlite", "--store", url)["added"], 0)

    def test_an_agent_whose_rights_return_goes_on(self):
        """A session whose login has lost the schema does not find it again by itself."""
        self.write_plan(1)
        agent = self.agent(url=self.url_of("mallory"))
        self.until_met()
        self.addCleanup(self.server.query, "grant clatune_worker to mallory")
        self.server.query("revoke clatune_worker from mallory")
        self.assertTrue(until(lambda: "lacks rights" in agent.said), agent.said)
        self.server.query("grant clatune_worker to mallory")
        self.assertTrue(until(lambda: "reachable again" in agent.said), agent.said)
        self.submit()
        self.until_finished()
        self.stop_agents()


if __name__ == "__main__":
    run()
