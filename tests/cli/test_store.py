"""clatune store: its content, copies between two, removal."""
import contextlib
import getpass
import json
import pathlib
import socket
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import SimulatedTest, main  # noqa: E402


class Store(SimulatedTest):
    def setUp(self):
        super().setUp()
        for store, seed in (("a.sqlite", 1), ("b.sqlite", 2)):
            self.tune("--searcher", "random", "--budget", "20", "--finalists", "0", "--seed", str(seed), "--store", store)

    def store(self, action, *options, store="a.sqlite", **more):
        return self.clatune("store", action, *options, "--store", store, **more)

    def store_json(self, action, *options, store="a.sqlite"):
        return self.clatune_json("store", action, *options, "--store", store)

    def n_records(self, store):
        return sum(key["records"] for key in self.store_json("list", store=store))

    def test_where(self):
        self.assertEqual(self.clatune("store", "where").stdout.strip(), str(self.folder / "share/clatune/store.sqlite"))
        self.assertFalse((self.folder / "share").exists())
        self.assertEqual(self.store_json("where")["store"], "./a.sqlite")

    def test_list_and_show(self):
        [key] = self.store_json("list")
        self.assertEqual((key["problem"], key["sizes"], key["records"]), ("copy", "n=1024", 20))
        self.assertIn("copy", self.store("list").stdout)
        [best] = self.store_json("show", "copy.json")
        self.assertEqual(best["sizes"], {"n": 1024})
        self.assertIn(f"a={best['configuration']['a']} b={best['configuration']['b']}", self.store("show", "copy.json").stdout)
        self.assertEqual(self.store_json("list", store="none.sqlite"), [])
        self.assertFalse((self.folder / "none.sqlite").exists())

    def test_texts_of_a_store_do_not_steer_the_terminal(self):
        with contextlib.closing(sqlite3.connect(self.folder / "a.sqlite")) as database, database:
            for table, column in (("problem", "name"), ("problem", "path"), ("device", "key"), ("device", "driver"),
                                  ("measurement", "log"), ("device", "description")):
                database.execute(f"UPDATE {table} SET {column} = {column} || ?", ("\033[2J\u009b\u202e",))
        for action in (["list"], ["show", "copy.json"]):
            run = self.store(*action)
            self.assertNotRegex(run.stdout + run.stderr, "[\0-\x08\x0b-\x1f\x80-\x9f\u202e]", action)
        self.assertIn("?[2J??", self.store("list").stdout)

    def test_merge_again_and_in_both_directions(self):
        added = self.store_json("merge", "b.sqlite")["added"]
        self.assertGreater(added, 10)
        self.assertEqual(self.store_json("merge", "b.sqlite")["added"], 0)
        self.assertIn("a.sqlite has these measurements already", self.store("merge", "b.sqlite").stdout)
        self.store("import", "a.sqlite", store="b.sqlite")
        self.assertEqual(self.n_records("a.sqlite"), self.n_records("b.sqlite"))
        self.assertEqual(self.store_json("show", "copy.json"), self.store_json("show", "copy.json", store="b.sqlite"))

    def test_a_public_export_names_no_machine_person_or_path(self):
        secret = f"{self.folder}/secret on {socket.gethostname()} by {getpass.getuser()}"
        with contextlib.closing(sqlite3.connect(self.folder / "a.sqlite")) as database, database:
            description = json.loads(database.execute("SELECT description FROM device").fetchone()[0])
            database.execute("UPDATE measurement SET log = ?", (secret,))
            database.execute("UPDATE measurement SET reason = 'run-crash', time_s = NULL WHERE id = (SELECT min(id) FROM measurement)")
            database.execute("UPDATE key SET tuning = ?", (json.dumps({"notes": [secret]}),))
            database.execute("UPDATE device SET description = ?", (json.dumps({**description, "uuid": "5ec4e7", "owner": secret}),))
        self.assertEqual(self.store_json("export", "--public", "-o", "p.sqlite")["exported"], 19)
        with contextlib.closing(sqlite3.connect(self.folder / "p.sqlite")) as database:
            tables = [name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            everything = {table: database.execute(f"SELECT * FROM {table}").fetchall() for table in tables}
            self.assertEqual(database.execute("SELECT DISTINCT path, sizes FROM problem").fetchall(), [("", "n=1024")])
            self.assertEqual(database.execute("SELECT DISTINCT reason, log FROM measurement").fetchall(), [("none", None)])
            kept = json.loads(database.execute("SELECT description FROM device").fetchone()[0])
        self.assertEqual((kept["name"], kept["uuid"], kept["pci_address"]), (description["name"], "", ""))
        for word in ("secret", "5ec4e7", str(self.folder)):
            self.assertNotIn(word, str(everything))
            self.assertNotIn(word.encode(), (self.folder / "p.sqlite").read_bytes())
        best, = self.store_json("show", "copy.json")
        self.assertEqual(self.store_json("show", "copy.json", store="p.sqlite")[0]["configuration"], best["configuration"])
        with contextlib.closing(sqlite3.connect(self.folder / "a.sqlite")) as database, database:
            database.execute("UPDATE measurement SET configuration = configuration || ' f=-I/home/me'")
        self.assertIn("may contain a path", self.store("export", "--public", "-o", "q.sqlite", expect=2).stderr)

    def test_export(self):
        self.store("export", "-o", "c.sqlite", "--problem", "copy")
        self.assertEqual(oct((self.folder / "c.sqlite").stat().st_mode & 0o777), "0o600")
        self.assertEqual([p.name for p in self.folder.glob("c.sqlite*")], ["c.sqlite"])
        self.assertEqual(self.n_records("c.sqlite"), 20)
        self.assertIn("exists already", self.store("export", "-o", "c.sqlite", expect=2).stderr)
        self.assertIn("no measurement in the store matches", self.store("export", "-o", "d.sqlite", "--problem", "another", expect=1).stderr)
        self.assertFalse((self.folder / "d.sqlite").exists())

    def test_prune(self):
        self.assertIn("--problem", self.store("prune", expect=2).stderr)
        self.assertEqual(self.store_json("prune", "--problem", "copy", "--dry-run")["would_remove"], 20)
        self.assertEqual(self.store_json("prune", "--problem", "copy", "--older-than", "1")["removed"], 0)
        self.assertEqual(self.n_records("a.sqlite"), 20)
        self.assertEqual(self.store_json("prune", "--device", "simulated")["removed"], 20)
        self.assertEqual(self.n_records("a.sqlite"), 0)

    def test_mistakes(self):
        self.assertIn("where, init, list", self.store("burn", expect=2).stderr)
        self.assertIn("'twice'", self.store("list", "twice", expect=2).stderr)
        self.assertEqual(self.store("merge", "none.json", expect=1).stderr,
                         "clatune: cannot open 'none.json': No such file or directory\n")
        for of in ((), ("--of", "copy.json")):
            self.assertIn("'copy.json' is a problem file; add a recording or a store", self.store("import", "copy.json", *of, expect=2).stderr)
        (self.folder / "junk.sqlite").write_text("this is no database at all, but long enough to be looked at")
        self.assertIn("not a store", self.store("import", "junk.sqlite", expect=6).stderr)
        self.assertEqual(self.n_records("a.sqlite"), 20)


if __name__ == "__main__":
    main()
