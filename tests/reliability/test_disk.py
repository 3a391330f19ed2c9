"""Disks that are full, broken or read-only: a message and an exit code, and earlier measurements are intact."""
import json
import os
import shutil

from simulation import SimulatedTest, main

TUNE = ("--searcher", "random", "--seed", "3", "--budget", "300")


class Disk(SimulatedTest):
    def failing(self, fault):
        return {"LD_PRELOAD": os.environ["CLATUNE_HOST_FAULTS"], "CLATUNE_HOST_FAULT": fault}

    def fails(self, fault, *options, expect=6):
        return self.clatune("tune", "copy.json", "--device", "Simulated", *TUNE, *options, expect=expect, **self.failing(fault))

    def test_a_disk_that_is_full_or_breaks(self):
        stored = ("--finalists", "0", "--store", "s.sqlite")
        for kind, words in (("full", "free some space on the disk"), ("eio", "cannot use the store")):
            for n_bytes in (0, 5000, 50000, 300000):
                with self.subTest(kind=kind, bytes=n_bytes):
                    for file in self.folder.glob("s.sqlite*"):
                        file.unlink()
                    self.tune(*TUNE[:-1], "20", *stored)
                    before = self.rows("s.sqlite")
                    run = self.fails(f"{kind}:{n_bytes}:s.sqlite", *stored)
                    self.assertIn(words, run.stderr)
                    self.assertIn("s.sqlite", run.stderr)
                    after = self.rows("s.sqlite")
                    self.assertEqual(after[:len(before)], before)
                    self.assertTrue(self.clatune_json("store", "check", "--store", "s.sqlite")["whole"])
                    again = self.tune(*TUNE[:-1], str(len(after) + 5), *stored)
                    self.assertEqual(again["evaluations"]["reused"], len(after))

    def test_a_home_that_is_read_only(self):
        home = self.folder / "home"
        home.mkdir()
        environment = {"HOME": str(home), **self.failing(f"read-only:0:{home}")}
        self.environment.pop("XDG_DATA_HOME")
        run = self.clatune("tune", "copy.json", "--device", "Simulated", *TUNE, expect=6, **environment)
        self.assertIn("Read-only file system", run.stderr)
        answer = self.clatune_json("tune", "copy.json", "--device", "Simulated", *TUNE, "--no-store", **environment)
        self.assertIsNotNone(answer["best"])

    def test_a_store_that_is_read_only(self):
        self.tune(*TUNE[:-1], "20", "--store", "s.sqlite")
        content = (self.folder / "s.sqlite").read_bytes()
        run = self.fails("read-only:0:s.sqlite", "--store", "s.sqlite")
        self.assertIn("read-only", run.stderr.lower())
        self.assertEqual((self.folder / "s.sqlite").read_bytes(), content)

    def test_a_temporary_folder_that_is_full(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        run = self.clatune("tune", "copy.json", "--device", "Simulated", *TUNE, "--store", "s.sqlite", expect=1,
                           TMPDIR=str(temporary), **self.failing(f"full:100:{temporary}"))
        self.assertIn("No space left on device", run.stderr)
        shutil.rmtree(temporary)
        temporary.mkdir()
        self.tune(*TUNE, "--store", "s.sqlite", TMPDIR=str(temporary))
        self.assertEqual(list(temporary.iterdir()), [])

    def test_a_build_without_space_is_no_failed_configuration(self):
        for first in (5, 13):  # in the search of 12; among the finalists
            for file in self.folder.glob("s.sqlite*"):
                file.unlink()
            (self.folder / "faults.count").unlink(missing_ok=True)
            options = (*TUNE[:-1], "12", "--store", "s.sqlite")
            self.inject({"at": "build", "do": "error", "from": first})
            run = self.fails("full:1000000:/worker-", *options, expect=1)
            self.assertRegex(run.stderr, "could not be built: no space left in '.*/worker-[0-9]+'; free some, or set TMPDIR")
            self.stop_injecting()
            stored = self.rows("s.sqlite")
            self.assertEqual({reason for _, reason, _ in stored}, {"none"})
            again = self.tune(*options)
            self.assertEqual((again["evaluations"]["reused"], again["evaluations"]["correct"]), (len(stored), 12))

    def test_a_program_without_space_is_no_failed_configuration(self):
        for step in ("Build", "Run"):
            command = {"Run": ["true"], step: ["sh", "-c", "[ $((a % 3)) -lt 2 ] && exit 0; echo 'ld: out: No space left on device' >&2; exit 1"]}
            if step == "Build":
                command["Build"] = [command["Build"]]
            (self.folder / "p.json").write_text(json.dumps({
                "General": {"BenchmarkName": "p"}, "Command": {"Environment": True, **command},
                "ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "list(range(9))"}]}}))
            run = self.clatune("tune", "p.json", "--store", f"{step}.sqlite", "--searcher", "exhaustive", expect=1)
            self.assertRegex(run.stderr, "a program failed: no space left in '")
            self.assertEqual({reason for _, reason, _ in self.rows(f"{step}.sqlite")}, {"none"})


if __name__ == "__main__":
    main()
