"""The instruments of the farm's tests: the private server and the proxy work as described, with PostgreSQL's own clients."""
import math
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import main, until  # noqa: E402
from proxy import Proxy  # noqa: E402
from server import PASSWORD, Server, clean_environment, need, programs  # noqa: E402

HERE = pathlib.Path(__file__).parent
BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); from server import Server; server = Server(); " \
        "print(server.folder, server.process.pid, server.port, flush=True); sys.stdin.read()"


class Bench(unittest.TestCase):
    server = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.close)
        cls.server.query("create database filled")
        cls.server.query("create table t (n int primary key); insert into t select generate_series(1, 1000)", "filled")

    def setUp(self):
        self.database = self.server.database("filled")

    def rows(self, where="true"):
        return int(self.server.value(f"select count(*) from t where {where}", self.database))

    def refused(self, url, sql="select 1"):
        with self.assertRaises(RuntimeError) as caught:
            self.server.psql(sql, url)
        return str(caught.exception)


class Servers(Bench):
    def test_what_was_committed_outlives_any_end(self):
        for n, how in enumerate(("fast", "immediate", "kill", "kill")):
            self.server.query(f"insert into t values ({2000 + n})", self.database)
            self.server.restart(how)
            self.assertEqual(self.rows("n >= 2000"), n + 1, how)

    def test_by_tcp_everybody_needs_a_password(self):
        self.server.login("somebody", password="o'ther")
        self.assertEqual(self.server.query("select current_user", url=self.server.url(user="somebody", password="o'ther")), [["somebody"]])
        self.assertIn("password authentication failed", self.refused(self.server.url(user="somebody", password=PASSWORD)))
        self.assertIn("no password supplied", self.refused(self.server.url(password=None, passfile="/nowhere")))
        self.assertEqual(self.server.query("select 1", url=self.server.url()), [["1"]])

    def test_nothing_is_left_of_a_server_whose_test_is_killed(self):
        for last in (signal.SIGKILL, signal.SIGTERM, None):  # None: its end is forgotten
            test = subprocess.Popen([sys.executable, "-c", BEGIN, str(HERE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    start_new_session=True)
            folder, pid, port = test.stdout.readline().split()
            self.assertTrue(os.path.isdir(folder))
            os.killpg(test.pid, last) if last else test.stdin.close()
            test.wait()
            test.stdout.close()
            if not test.stdin.closed:
                test.stdin.close()
            self.assertTrue(until(lambda: not os.path.exists(folder)))
            self.assertTrue(until(lambda: state(pid) in (None, "Z")))  # Z: if no process reaps orphans
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", int(port)))

    def test_tls_is_verified_both_ways(self):
        with Server(tls=True) as server:
            self.assertEqual(server.query("select ssl::text from pg_stat_ssl where pid = pg_backend_pid()", url=server.url()), [["true"]])
            self.assertIn("no encryption", self.refused(server.url(sslmode="disable")))
            self.assertIn("certificate verify failed", self.refused(server.url(sslrootcert=f"{server.folder}/other.crt")))
            server.use_certificate("expired")
            self.assertIn("certificate verify failed", self.refused(server.url()))
            with Proxy(server.port) as proxy:
                server.use_certificate("server")
                self.assertEqual(server.query("select 1", url=server.url(port=proxy.port)), [["1"]])


class Proxies(Bench):
    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.server.port)
        self.addCleanup(self.proxy.close)
        self.url = self.server.url(self.database, port=self.proxy.port)

    def start(self, sql):
        process = subprocess.Popen([str(programs() / "psql"), "-X", "-q", "-t", "--csv", "-d", self.url, "-c", sql], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def prepared(self, sql):
        """By the extended protocol, which psql 15 has no command for."""
        script = self.server.folder / "script"
        script.write_text(sql + ";\n")
        return subprocess.run([str(programs() / "pgbench"), "-M", "prepared", "-n", "-t", "1", "-f", str(script), self.url], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environment())

    def test_everything_comes_through(self):
        sql = "select n, repeat('x', n) from generate_series(1, 2000) n"
        direct = self.server.query(sql, self.database)
        self.assertEqual(self.server.query(sql, url=self.url), direct)
        self.proxy.loss = 0.01
        self.assertEqual(self.server.query(sql, url=self.url), direct)
        self.assertGreater(self.proxy.n_lost, 0)
        self.assertEqual(self.prepared("insert into t values (3000)").returncode, 0)
        self.assertEqual((self.rows("n = 3000"), self.proxy.n_cuts), (1, 0))

    def test_a_cut_at_a_chosen_point_of_a_query(self):
        for n, (point, done) in enumerate((("before", (0,)), ("during", (0, 1)), ("after", (1,)), ("reply", (1,)))):
            for kind, sql in enumerate((f"insert into t values ({2000 + n})", f"begin; insert into t values ({2010 + n}); commit")):
                text = "insert" if kind == 0 else "^commit"
                before = self.proxy.n_cuts
                self.proxy.cut_at(point, text)
                with self.assertRaises(RuntimeError, msg=f"{point} {sql}"):
                    self.server.psql(sql.replace("; ", ";\n") + ";\n", self.url)
                self.assertEqual(self.proxy.n_cuts, before + 1)
                self.settle()
                self.assertIn(self.rows(f"n = {2000 + 10 * kind + n}"), done, f"{point} {sql}")
            self.proxy.cut_at(point, "insert into")
            run = self.prepared(f"insert into t values ({2020 + n})")
            self.assertNotEqual(run.returncode, 0, f"{point} {run.stdout}")
            self.settle()
            self.assertIn(self.rows(f"n = {2020 + n}"), done, f"prepared, {point}")

    def settle(self):
        """Until the server has no connection of the proxy's: it may still be busy with a query that was cut."""
        self.assertTrue(until(lambda: self.server.value(
            f"select count(*) from pg_stat_activity where client_addr is not null and datname = '{self.database}'") == "0"))

    def test_a_rule_holds_for_every_nth_query_so_many_times(self):
        rule = self.proxy.cut_at("before", "select", every=2, times=1)
        answers = []
        for _ in range(4):
            try:
                answers += self.server.query("select 1", url=self.url)
            except RuntimeError:
                answers.append(None)
        self.assertEqual(answers, [["1"], None, ["1"], ["1"]])
        self.assertEqual((rule.seen, self.proxy.n_fired), (2, 1))

    def test_a_reply_ends_in_the_middle(self):
        self.proxy.cut_at("reply", "series")
        process = self.start("select generate_series(1, 100000)")
        out, _ = process.communicate()
        self.assertNotEqual(process.returncode, 0)
        self.assertNotIn("100000", out)
        self.assertGreater(self.proxy.n_bytes[1], 100000)

    def test_a_cut_and_a_network_that_is_down(self):
        process = self.start("select pg_sleep(1000)")
        self.assertTrue(until(lambda: self.sleeping() == 1, process))
        self.proxy.cut(down_s=math.inf)
        self.assertNotEqual(process.wait(), 0)
        self.refused(self.url)
        self.proxy.up()
        self.assertEqual(self.server.query("select 1", url=self.url), [["1"]])

    def sleeping(self):
        return int(self.server.value(f"select count(*) from pg_stat_activity where query like 'select pg_sleep%' and datname = '{self.database}'"))

    def test_a_stall_holds_or_loses(self):
        for lost in (False, True):
            self.proxy.stall(lost=lost)
            process = self.start("select 17")
            before = self.proxy.n_connections
            self.assertTrue(until(lambda: self.proxy.n_connections > before, process))
            self.assertEqual(self.server.query("select 18", self.database), [["18"]])  # directly
            self.assertIsNone(process.poll())
            self.proxy.flow()
            self.assertEqual(process.communicate()[0], "17\n")
        process = self.start("select pg_sleep(1000)")
        self.assertTrue(until(lambda: self.sleeping() == 1, process))
        self.proxy.stall(lost=True)
        self.server.query(f"select pg_cancel_backend(pid) from pg_stat_activity where datname = '{self.database}' and query like '%sleep(1000)'")
        self.assertTrue(until(lambda: any(link.is_cut for link in self.proxy.links), process))  # the answer is lost
        self.assertIsNone(process.poll())
        self.proxy.flow()
        self.assertRegex(process.communicate()[1], "closed the connection|reset")

    def test_a_delay_a_loss_and_a_slow_reader_take_their_time(self):
        def seconds(sql):
            start = time.monotonic()
            self.server.psql(sql, self.url)
            return time.monotonic() - start
        self.proxy.delay_s = 0.02
        self.assertGreater(seconds("select 1"), 4 * 2 * 0.02)  # the login and the query: four round trips at least
        self.proxy.clear()
        self.proxy.loss = 1.0
        self.assertGreater(seconds("select 1"), 4 * 0.2)
        self.proxy.clear()
        self.proxy.rows_per_s = 20
        self.assertGreater(seconds("select generate_series(1, 10)"), 0.5)

    def test_a_server_that_is_killed_behind_the_proxy(self):
        process = self.start("select pg_sleep(1000)")
        self.assertTrue(until(lambda: self.sleeping() == 1, process))
        self.server.kill()
        self.assertNotEqual(process.wait(), 0)
        self.refused(self.url)
        self.server.start()
        self.assertEqual(self.server.query("select 1", url=self.url), [["1"]])


def state(pid):
    try:
        return re.sub(r".*\) ", "", pathlib.Path(f"/proc/{pid}/stat").read_text()).split()[0]
    except OSError:
        return None


if __name__ == "__main__":
    need()
    main()
