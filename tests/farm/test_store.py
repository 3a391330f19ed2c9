"""clatune on a store in PostgreSQL: the rules for every store, refusals of a server, permissions, and every command that takes --store."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402
from server import PASSWORD, Server, Session, need  # noqa: E402

need()


class Shared(SimulatedTest):
    """self.url: a login that may add, by TCP; self.owner: the superuser, by the socket."""

    @classmethod
    def setUpClass(cls):
        # autovacuum: its transactions would hold back for a moment the records that others have committed.
        cls.server = Server(autovacuum="off")
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        if self.server.value("select count(*) from pg_roles where rolname = 'agent'") == "0":
            self.server.query("create database farm")
            self.clatune("store", "init", self.server.local_url("farm"))
            self.server.login("agent", "clatune_worker")
        self.database = self.server.database("farm")
        self.url, self.owner = self.server.url(self.database, "agent"), self.server.local_url(self.database)

    def value(self, sql):
        return self.server.value(sql, self.database)

    def refused(self, url, *words, action=("list",), expect=6):
        """One line that says so and has no password."""
        said = self.clatune("store", *action, "--store", url, expect=expect).stderr
        self.assertEqual(said.count("\n"), 1, said)
        for word in words:
            self.assertIn(word, said)
        self.assertNotIn(PASSWORD, said)
        self.assertNotIn("%26", said)

    # --- the programs of tests/store that need a server ---

    def test_programs(self):
        more = [self.server.local_url(self.server.database("farm")) for _ in range(3)]
        for program in os.environ["STORE_TESTS"].split(":"):
            with self.subTest(program):
                run = subprocess.run([program], env={**self.environment, "CLATUNE_TEST_DATABASE": " ".join([self.owner, *more])}, text=True,
                                     capture_output=True)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    # --- the commands ---

    def sample(self, url, seed=1, n=20):
        self.clatune("sample", *self.subject, "--samples", str(n), "--seed", str(seed), "--store", url)

    def test_commands(self):
        first = self.tune("--searcher", "random", "--budget", "20", "--seed", "1", "--store", self.url)
        self.assertNotIn(PASSWORD, json.dumps(first))
        self.assertEqual(first["store"], self.url.replace(":se%20cret%25%26%2F%3F", ""))
        again = self.tune("--searcher", "random", "--budget", "20", "--seed", "1", "--store", self.url)
        self.assertEqual(again["best"]["configuration"], first["best"]["configuration"])
        [key] = self.clatune_json("store", "list", "--store", self.url)
        self.assertEqual(key["records"], int(self.value("select count(*) from clatune.measurement")))
        n = key["records"]
        # Into a file and back, and existing records are not added.
        self.assertEqual(self.clatune_json("store", "export", "-o", "a.sqlite", "--store", self.url)["exported"], n)
        self.assertEqual(self.clatune_json("store", "import", "a.sqlite", "--store", self.url)["added"], 0)
        self.sample("b.sqlite", seed=7)
        self.assertGreater(self.clatune_json("store", "merge", "b.sqlite", "--store", self.url)["added"], 10)
        self.assertEqual(self.clatune_json("store", "merge", "b.sqlite", "--store", self.url)["added"], 0)
        self.clatune("store", "import", self.url, "--store", "b.sqlite")
        self.assertEqual(self.clatune_json("store", "list", "--store", "b.sqlite")[0]["records"],
                         self.clatune_json("store", "list", "--store", self.url)[0]["records"])
        # Commands that read give the same from the file with the same records.
        for command in (["store", "show", "copy.json"], ["lookup", *self.subject]):
            self.assertEqual(self.clatune_json(*command, "--store", self.url), self.clatune_json(*command, "--store", "b.sqlite"))
        self.clatune("record", *self.subject, "--stored-only", "-o", "all.json", "--store", self.url)
        self.assertTrue((self.folder / "all.json").stat().st_size)
        for report in (["report", self.url], ["report", "copy.json", "--device", "Simulated", "--store", self.url]):
            said = self.clatune(*report, "--json").stdout + self.clatune(*report).stdout
            self.assertNotIn("se%20cret", said)
            self.assertIn("copy", said)
        self.assertEqual(self.clatune("store", "where", "--store", self.url).stdout.strip(), first["store"])
        # A model is kept on this machine.
        self.clatune("train", *self.subject, "--store", self.url)
        [folder] = (self.folder / "share" / "clatune").glob("*.models")
        self.assertEqual(len(list(folder.iterdir())), 1)
        # Options for files say so.
        for action in ("check", "repair"):
            self.refused(self.url, "only a store in a file", action=(action,), expect=2)
        self.assertIn("writes a file", self.clatune("store", "export", "-o", self.url, "--store", "b.sqlite", expect=2).stderr)
        self.assertIn("needs a database", self.clatune("store", "init", "a.sqlite", expect=2).stderr)

    def test_prune(self):
        self.sample(self.owner)
        self.refused(self.url, "'agent' lacks rights in", 'GRANT clatune_owner TO "agent"', action=("prune", "--problem", "copy"))
        self.assertEqual(self.clatune_json("store", "prune", "--problem", "copy", "--dry-run", "--store", self.owner)["would_remove"], 20)
        self.assertEqual(self.clatune_json("store", "prune", "--problem", "copy", "--store", self.owner)["removed"], 20)
        self.assertEqual(self.clatune_json("store", "list", "--store", self.owner), [])

    # --- permissions ---

    def test_init_again_and_what_is_restored(self):
        self.sample(self.owner)
        self.server.query("update clatune.measurement set txid = 4000000000000", self.database)
        self.server.query("alter table clatune.measurement drop column comparison", self.database)  # as version 2 has it
        self.server.query("update clatune.about set version = 2", self.database)
        self.server.query("update clatune.measurement set kind = 'finalist' where number in (4, 5, 9)", self.database)
        made = self.clatune_json("store", "init", self.owner)
        self.assertEqual((made["store"], made["version"]), (self.owner, 7))
        self.assertEqual(self.server.query("select number, comparison from clatune.measurement where comparison > 0 order by number",
                                           self.database), [["4", "4"], ["5", "4"], ["9", "9"]])
        self.assertEqual(self.server.query("select count(*), max(txid) from clatune.measurement", self.database), [["20", "1"]])
        # Version 3 gave workers rights to change tables, and a key one description. Its first databases have no state.
        self.server.query("alter table clatune.problem add name text not null default 'old', add path text, add sizes text not null default 'n=7', "
                          "add kernel text not null default ''; alter table clatune.key add tuning text not null default ''; alter table clatune.device add description text not null default ''; update clatune.problem "
                          "set path = name; drop table clatune.described", self.database)
        self.server.query("alter table clatune.measurement drop column state, drop column agent, drop column received; drop table clatune.agent, clatune.origin, clatune.revoked cascade;"
                          "create table clatune.agent(name text primary key); grant insert, update on clatune.shipper, clatune.agent to clatune_worker;"
                          "grant insert(target, n, text), update(state, output) on clatune.cell to clatune_worker; update clatune.about set version = 3",
                          self.database)
        self.refused(self.url, "older clatune", "clatune store init")
        held = Session(self.server.local_url(self.database, "agent"))
        held.ask("select pg_advisory_lock(1129075781)")  # as any login can
        self.clatune("store", "init", self.owner)
        held.close()
        self.assertEqual(self.server.query("select table_name, privilege_type from information_schema.column_privileges where grantee = 'clatune_worker' and "
                                           "table_schema = 'clatune' and privilege_type <> 'SELECT'", self.database), [])
        [key] = self.clatune_json("store", "list", "--store", self.owner)
        self.assertEqual((key["records"], key["problem"], key["sizes"]), (20, "old", "n=7"))
        [unknown] = self.clatune_json("store", "show", "--by", "agent", "--store", self.owner)
        self.assertEqual((unknown["login"], unknown["measurements"], unknown["first_s"]), ("", 20, None))
        self.sample(self.url, seed=2)
        of_seed_2 = "select count(*), count(state), count(log), count(created_s) from clatune.%s where agent is not null"
        [made] = self.server.query(of_seed_2 % "measurement", self.database)
        self.assertGreater(int(made[1]), 0)
        self.assertEqual(self.clatune_json("store", "revoke", "--agent", "agent", "--store", self.owner)["revoked"], int(made[0]))
        self.assertEqual(self.server.query(of_seed_2 % "revoked", self.database), [made])  # each column in its place
        self.assertIn("GRANT clatune_worker", self.clatune("store", "init", "--store", self.owner).stdout)
        self.refused(self.url, "'agent' lacks the rights to prepare", action=("init",))

    def test_roles(self):
        self.sample(self.url)
        self.server.query("do $$ begin create role looker login password 'x' in role clatune_reader; exception when duplicate_object then end $$")
        looker = self.server.local_url(self.database, "looker")
        self.assertEqual(self.clatune_json("store", "list", "--store", looker)[0]["records"], 20)
        said = self.clatune("sample", *self.subject, "--samples", "1", "--store", looker, expect=6).stderr
        self.assertRegex(said, "'looker' lacks rights in.*GRANT clatune_worker TO \"looker\"")
        worker = self.server.local_url(self.database, "agent")
        for statement in ("delete from clatune.measurement", "update clatune.measurement set time_s = 1", "truncate clatune.measurement",
                          "delete from clatune.problem", "update clatune.problem set hash = ''", "drop table clatune.measurement",
                          "create table clatune.mine()", "update clatune.about set version = 2",
                          "insert into clatune.measurement(origin, number, txid, key, kind, configuration, reason, clock, created_s)"
                          " select origin, -number, 1, key, kind, configuration, reason, clock, created_s from clatune.measurement"):
            with self.subTest(statement), self.assertRaisesRegex(RuntimeError, "permission denied|must be owner"):
                self.server.psql(statement, worker)
        self.server.query("create role nobody_special login", self.database)
        self.addCleanup(self.server.query, "drop role nobody_special")
        self.refused(self.server.local_url(self.database, "nobody_special"), "'nobody_special' lacks rights in", "clatune_reader")

    # --- refusals of a server ---

    def test_refusals(self):
        url = self.server.url
        self.refused(url(self.database, "agent", password="wr%ng"), "refuses the password for 'agent'", "~/.pgpass")
        self.refused(url(self.database, "agent", password=None), "asks for a password for 'agent'", "~/.pgpass")
        self.refused(url("nowhere", "agent"), "no database 'nowhere'", "createdb", "clatune store init")
        self.refused(self.server.local_url("postgres"), "is not a clatune store", "clatune store init")
        self.refused(self.server.local_url(self.database, "stranger"), "refuses the user 'stranger'", "does not exist")
        self.refused(url(self.database, "agent").replace("127.0.0.1", "no.such.host.invalid"), "unknown host")
        self.refused(url(self.database, "agent", port=1), "Connection refused", "is PostgreSQL running there?")
        self.refused("postgresql://agent:" + PASSWORD + "@h:port/", "is not a valid URL", expect=2)
        self.refused("postgresql:///?service=nowhere", "service", "~/.pg_service.conf")
        self.refused(url(self.database, "agent", sslmode="require"), "does not support SSL")
        self.server.query("update clatune.about set version = 99", self.database)
        self.refused(self.owner, "newer clatune", "version 99", "update clatune")
        self.refused(self.owner, "newer clatune", action=("init",))
        self.server.query("update clatune.about set version = 0", self.database)
        self.refused(self.owner, "older clatune", "clatune store init")
        self.server.query("create database latin encoding 'LATIN1' template template0")
        self.addCleanup(self.server.query, "drop database latin")
        self.refused(self.server.local_url("latin"), "UTF8")

    def test_certificates(self):
        with Server(tls=True) as server:
            database = server.database()
            self.clatune("store", "init", server.url(database))
            self.assertEqual(self.clatune_json("store", "list", "--store", server.url(database)), [])
            self.refused(server.url(database, sslrootcert=str(server.folder / "other.crt")), "certificate", "sslrootcert")
            self.refused(server.url(database, sslrootcert=str(self.folder / "none.crt")), "does not exist", "sslrootcert")
            self.refused(server.url(database).replace("@127.0.0.1", "@localhost"), "certificate", "name the host")
            self.refused(server.url(database, password="wr%ng"), "refuses the password")
            server.use_certificate("expired")
            self.refused(server.url(database), "certificate", "expired")


main()
