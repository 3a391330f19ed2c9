"""What each login may do to whom (docs/explanation/trust.md): attacks with psql, as a worker, a reader and an owner, on a farm of others."""
import json

from farm import FarmTest, run, until
from server import Session

N = 4  # tunings


class Roles(FarmTest):
    def setUp(self):
        super().setUp()
        self.server.query("do $$ begin create role mallory login in role clatune_worker; create role looker login in role clatune_reader;"
                          "create role boss login in role clatune_owner; exception when duplicate_object then null; end $$")

    def url_of(self, login):
        return self.server.local_url(self.database, login)

    def attack(self, sql, login="mallory"):
        return self.server.psql(sql, self.url_of(login))

    def refused(self, *statements, login="mallory", words="permission denied"):
        for sql in statements:
            with self.subTest(sql), self.assertRaisesRegex(RuntimeError, words):
                self.attack(sql, login)

    def record(self, configuration, time_s="1e-9", kind="search", reason="none", origin="'ffffffffffffffff'", number=1, comparison=0,
               agent="evil:1:000000"):
        """One that mallory delivers for the problem that was tuned last."""
        self.attack(f"""select clatune.deliver((select json_build_array(json_build_object('place', 0, 'problem', p.hash, 'device', d.key,
            'driver', d.driver, 'origin', {origin}, 'number', {number}, 'kind', '{kind}', 'configuration', {configuration}, 'reason', '{reason}',
            'time_s', {time_s}, 'clock', 'device', 'created_s', 4000000000, 'runs', array[{time_s}], 'confirmed', 1,
            'comparison', {comparison})) from clatune.key k join clatune.problem p on p.id = k.problem join clatune.device d
            on d.id = k.device order by k.id desc limit 1), '{agent}')""")

    def finish_farm(self, n=N):
        self.write_plan(n)
        self.submit()
        self.agent()
        self.until_finished()
        self.stop_agents()

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

    def test_nobody_uses_up_the_numbers_of_others(self):
        self.write_plan(6)
        self.submit()
        self.agent(build_s=0.02)
        self.until_begun(1)
        claimed = {row[0] for row in self.server.query("select name from clatune.origin", self.database)}
        for origin in claimed:
            for number in range(1, 40):
                self.record("'x=1'", origin=f"'{origin}'", number=number)
        self.until_finished()
        self.stop_agents()
        there = self.records()
        for identity, measured in self.agents[0].records().items():
            self.assertEqual(there[identity], measured)

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

    # --- forging ---

    def test_open_tunings_are_done_by_those_who_claim_and_measure(self):
        self.finish_farm(1)
        self.write_plan(3, Budgets=6)
        self.submit()
        self.server.psql("select clatune.join_plan((select max(id) from clatune.plan), device, driver, name, 3) from clatune.target; "
                         "select clatune.add_cells((select max(id) from clatune.target), 0, '[\"a\", \"b\", \"c\"]')", self.url_of("mallory"))
        self.refused("update clatune.cell set state = 'done', line = (select line from clatune.cell where state = 'done' limit 1)",
                     "select claim from clatune.cell", "insert into clatune.cell(target, n, text) values (1, 7, 'x')")
        line = "(select line from clatune.cell where state = 'done' limit 1)"
        said = self.attack(f"""select clatune.claim(repeat('a', 32), 'evil:1:000000', (select json_agg(id) from clatune.target));
            select clatune.finish(target, n, repeat('a', 32), replace({line}, '"best_s":', '"best_s":1e-9,"was":'), 0) from clatune.cell where state = 'running';
            select clatune.finish(target, n, repeat('a', 32), {line}, 0) from clatune.cell where state = 'running';
            select clatune.finish(target, n, 'guessed', {line}, 0) from clatune.cell where state <> 'done'""").split()
        self.assertEqual(said[1:2] + said[-1:], ["unfounded", "lost"], said)
        answer = json.loads(self.clatune("sweep", "plan.json", "--summary", "--json", "--store", self.url, expect=1).stdout)
        self.assertEqual(answer["tunings"]["found"], 0, "a result of another tuning counts")

    # --- lying ---

    def every_configuration(self):
        """Measured by the agents' login: {configuration: seconds}, the fastest first."""
        self.finish_farm(2)
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
        self.server.query("do $$ begin create role alice login in role clatune_worker; exception when duplicate_object then null; end $$")
        tuned = self.tune("--searcher", "random", "--budget", "20", "--seed", "1", "--store", self.url_of("alice"))
        self.assertGreater(tuned["best"]["time_s"], 1e-7)
        after = self.clatune_json(*subject)
        self.assertGreater(after["expected_time_s"], 1e-7)

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

    def test_configurations_that_one_agent_calls_slow_are_measured(self):
        """Those that nobody else has measured; of what others have measured she tells the truth."""
        self.write_problem(5, 5)
        self.every_configuration()
        known = {configuration: float(time_s) for configuration, time_s in self.server.query(
            "delete from clatune.measurement where configuration ~ '[34].*[34]'; select configuration, min(time_s) from clatune.measurement "
            "group by 1", self.database)}
        said = {f"a={a} b={b}": 1e-3 for a in range(5) for b in range(5)} | known
        for number, (configuration, time_s) in enumerate(said.items(), 1):
            self.record(f"'{configuration}'", time_s=str(time_s), number=number)
        self.server.query("do $$ begin create role alice login in role clatune_worker; exception when duplicate_object then null; end $$")
        tuned = self.tune("--searcher", "exhaustive", "--finalists", "0", "--store", self.url_of("alice"))
        self.assertEqual(tuned["best"]["configuration"], {"a": 4, "b": 4})

    def test_configurations_that_one_agent_calls_wrong_are_measured(self):
        known = self.every_configuration()
        self.server.query("delete from clatune.measurement", self.database)
        for number, configuration in enumerate(known, 1):
            self.record(f"'{configuration}'", time_s="null::float8", reason="wrong-output", number=number)
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
        self.attack(f"select clatune.greet('{agent['agent']}', '', '')")  # another login poses as the agent
        self.assertIn("write LOGIN/", self.clatune("store", "revoke", "--agent", agent["host"], "--store", boss, expect=6).stderr)
        self.assertIn("no agent", self.clatune("store", "revoke", "--agent", "nobody", "--store", boss, expect=1).stderr)
        self.assertIn("2026-01-31", self.clatune("store", "revoke", "--agent", "x", "--since", "now", "--store", boss, expect=2).stderr)
        answer = self.clatune_json("store", "revoke", "--agent", "agent/" + agent["agent"], "--store", boss)
        self.assertEqual((answer["revoked"], len(answer["tunings"])), (n, N))
        self.assertIn("copy n=", answer["tunings"][0]["tuning"])
        [agent] = self.clatune_json("store", "show", "--by", "agent", "--store", boss)
        self.assertEqual((agent["measurements"], agent["revoked"]), (0, n))
        self.assertEqual(self.clatune_json("lookup", "copy.json", "--device", "Simulated", "--store", self.url)["tier"], "default")
        # What the agent's file still has is not believed there, and does not return.
        again = self.agents[0].start()
        self.write_plan(1, Budgets=8)
        self.submit()
        self.assertTrue(until(lambda: self.value("select count(*) from clatune.cell where text ~ 'budget=8' and state = 'done'") == "1"), again.said)
        self.assertEqual(again.stop(), 143, again.said)
        self.assertEqual(self.value("select count(*) from clatune.measurement m join clatune.revoked r using (origin, number)"), "0")
        self.assertEqual(json.loads(self.value("select line from clatune.cell where text ~ 'budget=8'"))["evaluations"]["reused"], 0)


if __name__ == "__main__":
    run()
