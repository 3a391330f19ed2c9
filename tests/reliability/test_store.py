"""Stores that cannot be used, or were damaged: a message, an exit code, and nothing that was there is lost."""
import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys

from simulation import CLATUNE, SimulatedTest, main

TUNE = ("--searcher", "random", "--seed", "3", "--store", "s.sqlite")


class Damage(SimulatedTest):
    whole = None  # a store of 600 measurements, which all tests damage copies of

    def setUp(self):
        super().setUp()
        if Damage.whole is None:
            self.tune(*TUNE, "--budget", "600")
            connection = sqlite3.connect(self.folder / "s.sqlite")
            connection.execute("pragma wal_checkpoint(truncate)")
            connection.close()
            Damage.whole = (self.folder / "s.sqlite").read_bytes()
        self.copy_store()

    def copy_store(self):
        for file in self.folder.glob("s.sqlite*"):
            file.unlink()
        (self.folder / "s.sqlite").write_bytes(self.whole)

    def damage(self, n_pages, seed):
        """Overwrites pages behind the first; returns the content."""
        path = self.folder / "s.sqlite"
        content = bytearray(path.read_bytes())
        page = int.from_bytes(content[16:18], "big")
        for at in random.Random(seed).sample(range(2, len(content) // page), n_pages):
            content[at * page:(at + 1) * page] = os.urandom(page)
        path.write_bytes(content)
        return bytes(content)

    def test_a_whole_store_is_left_alone(self):
        content = (self.folder / "s.sqlite").read_bytes()
        self.assertTrue(self.clatune_json("store", "check", "--store", "s.sqlite")["whole"])
        answer = self.clatune_json("store", "repair", "--store", "s.sqlite")
        self.assertEqual((answer["damaged"], answer["set_aside"]), (False, None))
        self.assertEqual((self.folder / "s.sqlite").read_bytes(), content)

    def repaired(self):
        """False if the root of a table is gone, and nothing can be read."""
        run = subprocess.run([CLATUNE, "store", "repair", "--store", "s.sqlite", "--json"], cwd=self.folder, text=True,
                             env=self.environment, capture_output=True)
        if run.returncode == 6:
            self.assertIn("nothing in the store is readable", run.stderr)
            return False
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(json.loads(run.stdout)["damaged"])
        return True

    def identities(self):
        """For each measurement by its number: the values that identify it in any store."""
        with contextlib.closing(sqlite3.connect(self.folder / "s.sqlite")) as store:
            return set(store.execute("SELECT number, origin FROM measurement"))

    def test_a_damaged_store_is_mended_or_refused(self):
        mended = kept = known = 0
        identities = self.identities()
        self.assertEqual(len({origin for _, origin in identities}), 1)
        for seed in range(8):
            with self.subTest(seed=seed):
                self.copy_store()
                before = self.rows("s.sqlite")
                content = self.damage(3, seed)
                self.clatune("store", "check", "--store", "s.sqlite", expect=6)
                if not self.repaired():
                    self.assertEqual((self.folder / "s.sqlite").read_bytes(), content)
                    self.assertFalse((self.folder / "s.sqlite.damaged").exists())
                    continue
                mended += 1
                after = self.rows("s.sqlite")
                kept += len(after)
                known += len(self.identities() & identities)
                self.assertLessEqual(set(after), set(before))
                self.assertEqual((self.folder / "s.sqlite.damaged").read_bytes()[4096:], content[4096:])
                self.assertTrue(self.clatune_json("store", "check", "--store", "s.sqlite")["whole"])
                again = self.tune(*TUNE, "--budget", "600")
                self.assertEqual(again["evaluations"]["reused"], len(after))
        self.assertGreaterEqual(mended, 4)
        print(f"{100 * kept / (600 * mended):.0f} % of the measurements saved in {mended} of 8", file=sys.stderr)
        self.assertGreater(known, 300 * mended)
        self.assertGreater(kept, 300 * mended)  # a page that many others hang on costs more than its own

    def test_what_was_set_aside_is_never_overwritten(self):
        (self.folder / "s.sqlite.damaged").write_text("somebody's")
        self.damage(3, 1)
        answer = self.clatune_json("store", "repair", "--store", "s.sqlite")
        self.assertTrue(answer["set_aside"].endswith("s.sqlite.damaged-2"))
        self.assertEqual((self.folder / "s.sqlite.damaged").read_text(), "somebody's")

    def test_what_is_no_store_is_refused(self):
        (self.folder / "notes").write_text("notes\n" * 1000)
        run = self.clatune("store", "repair", "--store", "notes", expect=6)
        self.assertIn("is not a store", run.stderr)
        self.assertEqual((self.folder / "notes").read_text(), "notes\n" * 1000)
        self.clatune("store", "check", "--store", "nowhere", expect=1)
        self.assertFalse((self.folder / "nowhere").exists())

    def test_a_header_that_is_gone_is_refused(self):
        content = bytearray((self.folder / "s.sqlite").read_bytes())
        content[:100] = bytes(100)
        (self.folder / "s.sqlite").write_bytes(content)
        self.clatune("store", "repair", "--store", "s.sqlite", expect=6)
        self.assertEqual((self.folder / "s.sqlite").read_bytes(), bytes(content))


class Unusable(SimulatedTest):
    def test_a_store_that_another_program_holds_is_waited_for(self):
        self.tune(*TUNE, "--budget", "5")
        connection = sqlite3.connect(self.folder / "s.sqlite", isolation_level=None)
        connection.execute("begin immediate")
        process = self.start(*TUNE, "--budget", "10")
        try:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(timeout=1)
            connection.execute("rollback")
            _, errors = process.communicate(timeout=60)
        finally:
            connection.close()
            process.kill()
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(len(self.rows("s.sqlite")), 10)


if __name__ == "__main__":
    main()
