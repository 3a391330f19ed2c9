"""Stores of earlier versions, made by the programs of then (versions/*.sql): read and converted with nothing lost, row by row."""
import contextlib
import pathlib
import sqlite3
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import CliTest, main  # noqa: E402

VERSIONS = pathlib.Path(__file__).parent / "versions"
PLAIN = "kind, configuration, reason, time_s, clock, build_s, first_launch_s, runs_s, verify_s, wait_s, max_abs_error, log, created_s"
OLD_KEY = """p.hash, p.name, p.path, p.sizes, d.key, d.driver, d.description, {tuning}, {kernel}
 from measurement m join problem p on p.id = m.problem join device d on d.id = m.device order by m.id"""
KEY = """p.hash, p.name, p.path, p.sizes, d.key, d.driver, d.description, k.tuning, p.kernel
 from measurement m join key k on k.id = m.key join problem p on p.id = k.problem join device d on d.id = k.device order by m.id"""


class Versions(CliTest):
    def make(self, version, *statements):
        path = self.folder / "s.sqlite"
        for file in self.folder.glob("s.sqlite*"):
            file.unlink()
        with contextlib.closing(sqlite3.connect(path)) as store:
            store.executescript((VERSIONS / f"{version}.sql").read_text() + "".join(statements))
            store.commit()

    def ask(self, sql, store="s.sqlite"):
        with contextlib.closing(sqlite3.connect(self.folder / store)) as connection:
            return connection.execute(sql).fetchall()

    def old_rows(self):
        """The old tables' values of each measurement: its key, its own columns, and its rows in the others."""
        tables = {name for name, in self.ask("select name from sqlite_master where type = 'table'")}
        key = OLD_KEY.format(
            tuning="ifnull((select json from tuning where problem = p.id and device = d.id), '')" if "tuning" in tables else "''",
            kernel="ifnull((select hash from kernel where problem = p.id), '')" if "kernel" in tables else "''")
        keys, own = self.ask("select " + key), self.ask(f"select id, {PLAIN} from measurement order by id")
        more = {name: {} for name in ("run", "energy", "figure", "use", "confirmed")}
        for name, of in more.items():
            order = " order by measurement, position" if name in ("run", "figure", "use") else ""
            for row in self.ask(f"select * from {name}{order}") if name in tables else []:
                of.setdefault(row[0], []).append(row[-1])
        return [key + row + tuple(tuple(of.get(row[0], ())) for of in more.values()) for key, row in zip(keys, own)]

    def rows(self, store="s.sqlite"):
        keys = self.ask("select " + KEY, store)
        own = self.ask(f"select id, {PLAIN}, runs, energy_j, figures, use, confirmed from measurement order by id", store)

        def numbers(blob):
            return tuple(None if x != x else x for x, in struct.iter_unpack("<d", blob or b""))
        return [key + row[:14] + (numbers(row[14]), () if row[15] is None else (row[15],), numbers(row[16]), numbers(row[17]),
                                  (1,) if row[18] else ()) for key, row in zip(keys, own)]

    def old_identities(self):
        """(origin, number, added here) of each measurement that has an identity."""
        return self.ask("""select ifnull(o.name, (select name from span join origin on origin.id = span.origin where first <= m.id
                           order by first desc limit 1)), ifnull(i.number, m.id), i.measurement is null
                           from measurement m left join identity i on i.measurement = m.id left join origin o on o.id = i.origin order by m.id""")

    def check(self, version, *statements):
        self.make(version, *statements)
        before, content = self.old_rows(), (self.folder / "s.sqlite").read_bytes()
        self.assertGreater(len(before), 40)
        identities = self.old_identities() if version > 1 else None
        listed = self.clatune_json("store", "list", "--store", "s.sqlite")  # reads a copy
        self.assertEqual(sum(key["records"] for key in listed), len(before))
        self.clatune("store", "export", "-o", "read.sqlite", "--store", "s.sqlite")
        self.assertEqual((self.folder / "s.sqlite").read_bytes(), content)
        self.clatune("store", "import", "s.sqlite", "--store", "empty.sqlite")
        self.clatune("store", "import", "empty.sqlite", "--store", "s.sqlite")  # which converts it, and adds nothing
        after = self.rows()
        self.assertEqual(self.ask("pragma user_version"), [(3,)])
        for old, new in zip(before, after):
            self.assertEqual(old, new)
        self.assertEqual(len(before), len(after))
        new = self.ask("select origin, number, own from measurement order by id")
        self.assertEqual(len({row[:2] for row in new}), len(new))
        if identities:
            self.assertEqual(new, identities)
        else:
            self.assertEqual({(origin, number >= 0, own) for origin, number, own in new}, {("", True, 1)})
        self.assertEqual(self.ask("select count(*), count(distinct origin || comparison) from measurement where comparison > 0"),
                         [(sum(row[10] == "finalist" for row in before), 4)])
        for other in ("read.sqlite", "empty.sqlite"):  # the same, wherever the records went
            self.assertEqual({row[10:] for row in self.rows(other)}, {row[10:] for row in after})
            self.assertEqual(set(self.ask("select origin, number from measurement", other)), {row[:2] for row in new})
            (self.folder / other).unlink()
        self.assertEqual({name for name, in self.ask("select name from sqlite_master where type = 'table'")},
                         {"problem", "device", "key", "measurement", "file"})
        self.assertTrue(self.clatune_json("store", "check", "--store", "s.sqlite")["whole"])

    def test_version_1(self):
        self.check(1)

    def test_the_first_of_version_1(self):
        self.check(1, *(f"drop table {name};" for name in ("energy", "figure", "use", "confirmed", "tuning", "kernel")))

    def test_version_2(self):
        self.check(2)

    def make_without_state(self):
        """Of version 3, before it got the column."""
        self.make(2)
        self.clatune("store", "import", "s.sqlite", "--store", "new.sqlite")
        with contextlib.closing(sqlite3.connect(self.folder / "new.sqlite")) as store:
            store.execute("alter table measurement drop column state")
        (self.folder / "new.sqlite").rename(self.folder / "s.sqlite")
        return self.rows()

    def test_the_first_of_version_3(self):
        before = self.make_without_state()
        self.assertGreater(len(before), 40)
        self.assertEqual(sum(key["records"] for key in self.clatune_json("store", "list", "--store", "s.sqlite")), len(before))
        self.assertNotIn(("state",), self.ask("select name from pragma_table_info('measurement')"))  # reading changes nothing
        self.clatune("store", "import", "s.sqlite", "--store", "other.sqlite")
        self.clatune("store", "import", "other.sqlite", "--store", "s.sqlite")
        for store in ("s.sqlite", "other.sqlite"):
            self.assertEqual(self.rows(store), before)
            self.assertEqual(self.ask("select count(*), count(state) from measurement", store), [(len(before), 0)])

    def damage(self):
        """Empties the first page of an index."""
        content = bytearray((self.folder / "s.sqlite").read_bytes())
        page = int.from_bytes(content[16:18], "big") or 65536
        root, = self.ask("select rootpage from sqlite_master where name = 'measurement_of'")[0]
        content[(root - 1) * page:root * page] = bytes(page)
        (self.folder / "s.sqlite").write_bytes(content)

    def test_a_damaged_first_of_version_3_is_repaired(self):
        before = self.make_without_state()
        self.damage()
        answer = self.clatune_json("store", "repair", "--store", "s.sqlite")
        self.assertEqual((answer["saved"], answer["lost"]), (len(before), 0))
        self.assertEqual(self.rows(), before)

    def test_identities_that_are_taken_or_wrong(self):
        self.make(2, "update identity set number = -1 where measurement = (select min(measurement) from identity);")
        before = self.old_rows()
        self.clatune("store", "import", "s.sqlite", "--store", "other.sqlite")
        self.clatune("store", "import", "other.sqlite", "--store", "s.sqlite")
        self.assertEqual(self.rows(), before)
        self.assertEqual(self.ask("select count(*) from measurement where origin = ''"), [(1,)])

    def test_a_damaged_one_is_repaired(self):
        for version in (1, 2):
            with self.subTest(version=version):
                self.make(version)
                before = {row[10:] for row in self.old_rows()}
                self.damage()
                answer = self.clatune_json("store", "repair", "--store", "s.sqlite")
                self.assertEqual((answer["saved"], answer["lost"]), (len(before), 0))
                self.assertEqual({row[10:] for row in self.rows()}, before)
                self.assertEqual(self.ask("pragma user_version"), [(3,)])


if __name__ == "__main__":
    main()
