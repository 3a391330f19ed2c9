"""Files that users name: which are written, read, or left alone."""
import json
import os
import pathlib
import resource
import stat
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
from simulation import CLATUNE, SimulatedTest, has_program, main  # noqa: E402

FLAGS = ["-O2", "-O3 -march=native", "a=1 b=2", "x\"y'", "back\\slash", "two\nlines", "", "\u00fc\u20ac", "1"]


class Tuned(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(4, 3)
        self.clatune("tune", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "--quiet", "--budget", "12", "--finalists", "0")
        self.clatune("record", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "-o", "r.json", "--quiet")
        (self.folder / "plan.json").write_text(json.dumps({"Problems": ["copy.json"], "Searchers": ["random"], "Budgets": 3, "Tuning": {"Finalists": 0}}))


class Outputs(Tuned):
    """Every command that takes -o."""
    STORED = ("--device", "Simulated", "--store", "s.sqlite")
    COMMANDS = {
        "record": ("record", "copy.json", *STORED, "--stored-only", "--quiet"),
        "record as a cache file": ("record", "copy.json", *STORED, "--stored-only", "--quiet", "--format", "kernel-tuner"),
        "convert": ("convert", "r.json"),
        "lookup": ("lookup", "copy.json", *STORED),
        "lookup, a header": ("lookup", "copy.json", "--store", "s.sqlite", "--format", "header"),
        "report": ("report", "copy.json", *STORED),
        "train": ("train", "copy.json", *STORED),
    }
    if has_program("sweep"):
        COMMANDS["sweep"] = ("sweep", "plan.json", "--device", "Simulated", "--store", "sweep.sqlite", "--quiet")

    def each(self):
        for name, command in self.COMMANDS.items():
            (self.folder / "sweep.sqlite").unlink(missing_ok=True)
            yield name, command

    def test_a_device_stays_one(self):
        null = self.folder / "null"
        try:  # a device of our own: a mistake would not cost the machine its /dev/null
            os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            null.write_bytes(b"x")
        except OSError:
            null.unlink(missing_ok=True)
            null.symlink_to("/dev/null")
        for _, command in self.each():
            self.clatune(*command, "-o", "null")
            self.assertTrue(stat.S_ISCHR(os.stat(null).st_mode))
            self.assertEqual([f.name for f in self.folder.iterdir() if f.name.startswith("null.")], [])

    def test_standard_output(self):
        for name, command in self.each():
            piped = self.clatune(*command, "-o", "/dev/stdout").stdout
            (self.folder / "sweep.sqlite").unlink(missing_ok=True)
            with open(self.folder / "out.txt", "w", encoding="utf-8") as out:
                run = subprocess.run([CLATUNE, *command, "-o", "/dev/stdout"], cwd=self.folder, stdout=out, stderr=subprocess.PIPE,
                                     env=self.environment, timeout=280)
            self.assertEqual(run.returncode, 0, run.stderr)
            text = (self.folder / "out.txt").read_text()
            self.assertEqual(len(text.splitlines()), len(piped.splitlines()))  # nothing is written over
            if name not in ("sweep", "train"):  # which have times in it
                self.assertEqual(text, piped)
            self.assertGreater(len(piped), 50)

    def test_a_fifo_with_a_reader(self):
        for _, command in self.each():
            fifo, got = self.folder / "fifo", []
            os.mkfifo(fifo)
            reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()))  # noqa: B023
            reader.start()
            self.clatune(*command, "-o", "fifo")
            reader.join()
            self.assertGreater(len(got[0]), 50)
            self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))
            fifo.unlink()

    def test_a_link_stays_one(self):
        for _, command in self.each():
            target, link = self.folder / "target", self.folder / "link"
            target.write_text("")
            link.symlink_to("target")
            self.clatune(*command, "-o", "link")
            self.assertTrue(link.is_symlink())
            self.assertGreater(target.stat().st_size, 50)
            target.unlink()
            link.unlink()

    def test_a_folder_is_refused(self):
        (self.folder / "inner").mkdir()
        for _, command in self.each():
            self.clatune(*command, "-o", "inner", expect=1)
            self.assertEqual(list((self.folder / "inner").iterdir()), [])

    def test_networks_go_through_links(self):
        (self.folder / "nets").mkdir()
        (self.folder / "nets" / "network-00.net").symlink_to("../first.net")
        (self.folder / "first.net").write_text("")
        self.clatune("train", "copy.json", *self.STORED, "--model", "ensemble", "--fann", "nets")
        self.assertTrue((self.folder / "nets" / "network-00.net").is_symlink())
        self.assertIn("FANN", (self.folder / "first.net").read_text())


class Inputs(Tuned):
    def test_a_fifo_is_refused_and_not_waited_for(self):
        os.mkfifo(self.folder / "fifo")
        os.mkfifo(self.folder / "fifo.so")
        stored = ("--device", "Simulated", "--store", "s.sqlite")

        def problem(name, **kernel):
            root = json.loads((self.folder / "copy.json").read_text())
            root["KernelSpecification"].update(kernel)
            (self.folder / name).write_text(json.dumps(root))
            return root
        problem("kernel.json", KernelFile="fifo")
        root = problem("data.json")
        root["KernelSpecification"]["Arguments"][0].update({"FillType": "BinaryRaw", "DataSource": "fifo"})
        root["KernelSpecification"]["Arguments"][0].pop("FillValue")
        (self.folder / "data.json").write_text(json.dumps(root))
        root = problem("module.json")
        root["Reference"]["Module"] = "fifo.so"
        (self.folder / "module.json").write_text(json.dumps(root))
        commands = [
            *(("verify", name, "--device", "Simulated") for name in ("fifo", "kernel.json", "data.json", "module.json")),
            *(("tune", name, "--device", "Simulated", "--no-store") for name in ("fifo", "kernel.json", "data.json", "module.json")),
            ("tune", "copy.json", "--device", "Simulated", "--store", "fifo"),
            ("lookup", "copy.json", "--device", "Simulated", "--store", "fifo"),
            ("store", "list", "--store", "fifo"), ("store", "check", "--store", "fifo"), ("store", "repair", "--store", "fifo"),
            ("store", "import", "fifo", "--store", "new.sqlite"),
            ("store", "import", "fifo", "--of", "copy.json", "--store", "new.sqlite"),
            ("convert", "fifo", "-o", "out.json"), ("replay", "fifo"), ("report", "fifo"), ("space", "fifo"),
            *([("sweep", "fifo")] if has_program("sweep") else []), ("init", "fifo"), ("init", "fifo", "-o", "x.json"),
            ("sample", "copy.json", *stored, "--configurations", "fifo"),
            ("tune", "copy.json", *stored, "--learn-from", "fifo"),
            ("predict", "copy.json", *stored, "--model-file", "fifo")]
        for command in commands:
            with self.subTest(command=command):
                run = subprocess.run([CLATUNE, *command], cwd=self.folder, env=self.environment, text=True, capture_output=True,
                                     timeout=250)
                self.assertNotEqual(run.returncode, 0, run.stdout)
                self.assertGreater(run.returncode, 0)
                self.assertNotIn("unknown", run.stderr)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))


class Hostile(SimulatedTest):
    """Files that are longer than what is needed of them, that never end, or that are damaged."""

    def with_argument(self, **changes):
        root = json.loads((self.folder / "copy.json").read_text())
        argument = root["KernelSpecification"]["Arguments"][0]
        argument.pop("FillValue")
        argument.update(changes)
        (self.folder / "copy.json").write_text(json.dumps(root))

    def refused(self, *command):
        run = subprocess.run([CLATUNE, *command], cwd=self.folder, env=self.environment, text=True, capture_output=True, timeout=250,
                             preexec_fn=limit_memory)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        return run.stderr

    def test_a_data_file_is_not_read_beyond_its_array(self):
        for kind, start, says in (("BinaryRaw", b"", "has 17179869184 bytes, but argument 'in' needs 4096"),
                                  ("PGM", b"P5 3 2 255\n", "has 3 x 2 pixels, but argument 'in' has 1024 x 1 x 1")):
            self.write_problem(4, 3)
            self.with_argument(FillType=kind, DataSource="data")
            with open(self.folder / "data", "wb") as file:
                file.write(start)
                file.truncate(1 << 34)
            for command in (("verify", "copy.json"), ("tune", "copy.json", "--store", "s.sqlite")):
                self.assertIn(says, self.refused(*command, "--device", "Simulated"))
            self.assertIn("default", self.clatune("lookup", "copy.json", "--device", "Simulated", "--store", "s.sqlite").stdout)

    def test_an_included_file_that_is_none(self):
        os.mkfifo(self.folder / "fifo.h")
        (self.folder / "zero.h").symlink_to("/dev/zero")
        for text, of, path in (('#include "fifo.h"', "copy.cl", "fifo.h"), ("#include <zero.h>", "copy.cl", "zero.h"),
                               ('#include "fifo.h"', "copy.c", "fifo.h")):
            before = (self.folder / of).read_text()
            (self.folder / of).write_text(text + "\n" + before)
            for command in (("verify", "copy.json"), ("tune", "copy.json", "--no-store")):
                said = self.refused(*command, "--device", "Simulated")
                self.assertIn("cannot include '", said)
                self.assertIn(f"{path}': not a regular file", said)
            (self.folder / of).write_text(before)

    def test_a_cached_module_that_is_damaged_is_compiled_again(self):
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")
        self.clatune("verify", "copy.json", "--device", "Simulated")
        cached, = (self.folder / "cache/clatune/modules").iterdir()
        whole = cached.read_bytes()
        for damaged in (b"", whole[:5000], whole[:-1], whole[:4096] + b"\xaa" * 64 + whole[4160:], b"\x7fELF" + bytes(60)):
            cached.unlink()
            cached.write_bytes(damaged)
            self.clatune("verify", "copy.json", "--device", "Simulated")
            self.assertEqual(cached.read_bytes()[-24:-8], whole[-24:-8])
            self.assertEqual(len(cached.read_bytes()), len(whole))


class LeftAlone(SimulatedTest):
    def test_folders_in_the_temporary_folder(self):
        self.write_problem(4, 3)
        names = ["clatune-project", "clatune-backup1", "clatune-abcdef", "clatune-abc123", "clatune.new-things", "clatune.new-abc123",
                 "clatune-lock-1", "clatune", "clatune.new-empty1"]
        for name in names:
            folder = self.folder / name
            folder.mkdir()
            if "empty" not in name:
                (folder / "lock").write_text("" if "1" in name else "mine\n")
                (folder / "results.txt").write_text("x")
            os.utime(folder, (1, 1))
        for name in ("clatune-alone1", "clatune.new-alone1", "clatune.new-alone2"):  # with a lock and nothing else, or nothing
            (self.folder / name).mkdir()
            if not name.endswith("2"):
                (self.folder / name / "lock").write_text("")
            os.utime(self.folder / name, (1, 1))
        before = sorted(str(f) for pattern in ("clatune*", "clatune*/*") for f in self.folder.glob(pattern))
        self.clatune("devices")
        self.clatune("tune", "copy.json", "--device", "Simulated", "--no-store", "--quiet", "--budget", "3", "--finalists", "0")
        after = sorted(str(f) for pattern in ("clatune*", "clatune*/*") for f in self.folder.glob(pattern))
        self.assertEqual(after, before)

    def test_a_file_beside_a_damaged_store(self):
        self.write_problem(40, 25)
        self.tune("--searcher", "random", "--budget", "60", "--finalists", "0", "--store", "s.sqlite")
        store = self.folder / "s.sqlite"
        with open(store, "r+b") as file:
            file.seek(2 * 4096)
            file.write(b"\xaa" * 4096)
        (self.folder / "s.sqlite.repaired").write_text("mine")
        self.clatune("store", "repair", "--store", "s.sqlite")
        self.assertEqual(self.clatune_json("report", "s.sqlite")["tunings"][0]["session"]["evaluations"], 60)
        self.assertTrue((self.folder / "s.sqlite.damaged").exists())
        self.assertEqual((self.folder / "s.sqlite.repaired").read_text(), "mine")

    def test_what_a_killed_tuner_left_is_removed(self):
        self.write_problem(40, 25)
        self.simulate(time_s="0.05")
        tuner = subprocess.Popen([CLATUNE, "tune", "copy.json", "--device", "Simulated", "--no-store", "--quiet", "--budget", "900"],
                                 cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        left = []
        while not left and tuner.poll() is None:
            left = [f for f in self.folder.glob("clatune-*") if (f / "lock").exists()]
            time.sleep(0.002)
        tuner.kill()
        tuner.wait()
        self.assertEqual(len(left), 1)
        for _ in range(5000):  # its workers end, and let go of the lock
            self.clatune("devices")
            if not left[0].exists():
                return
            time.sleep(0.01)
        self.fail("it is still there")


class Texts(SimulatedTest):
    """Values with blanks, quotes and more, through a program that is tuned."""

    def setUp(self):
        super().setUp()
        (self.folder / "run.py").write_text("import sys\nprint('figure', 1 + len(sys.argv[1]) + 0.1 * int(sys.argv[2]))\n")
        parameters = [{"Name": "flags", "Values": FLAGS}, {"Name": "n", "Values": [1, 2]}]
        (self.folder / "p.json").write_text(json.dumps({
            "General": {"BenchmarkName": "p"}, "ConfigurationSpace": {"TuningParameters": parameters},
            "Command": {"Files": ["run.py"], "Run": [sys.executable, "run.py", "{flags}", "{n}"],
                        "Figure": {"From": "output", "Pattern": "figure ([0-9.]+)"}}}))
        self.best = self.clatune_json("tune", "p.json", "--store", "s.sqlite", "--quiet", "--searcher", "exhaustive", "--finalists", "0")

    def configurations(self, name):
        results = json.loads((self.folder / name).read_text())["results"]
        return sorted((r["configuration"]["flags"], r["configuration"]["n"]) for r in results)

    def test_recordings(self):
        wanted = sorted((flags, n) for flags in FLAGS for n in (1, 2))
        self.clatune("record", "p.json", "--store", "s.sqlite", "--stored-only", "--quiet", "-o", "t4.json")
        self.clatune("record", "p.json", "--store", "s.sqlite", "--stored-only", "--quiet", "-o", "kt.json", "--format", "kernel-tuner")
        self.assertEqual(self.configurations("t4.json"), wanted)
        self.clatune("convert", "kt.json", "-o", "back.json")
        self.assertEqual(self.configurations("back.json"), wanted)
        self.clatune("convert", "t4.json", "-o", "kt2.json", "--format", "kernel-tuner")
        self.clatune("convert", "kt2.json", "-o", "back2.json")
        self.assertEqual(self.configurations("back2.json"), wanted)
        self.clatune("replay", "t4.json", "--budget", "5")
        imported = self.clatune_json("store", "import", "t4.json", "--of", "p.json", "--store", "other.sqlite")
        self.assertEqual(imported["added"], len(wanted))

    def test_typed_and_printed(self):
        run = self.clatune("verify", "p.json", "--configuration", "flags=-O3 -march=native n=2")
        again = self.clatune("verify", "p.json", "--configuration", "flags=-O3%20-march%3Dnative n=2")
        self.assertIn("flags=-O3%20-march%3Dnative n=2", run.stdout)
        self.assertIn("flags=-O3%20-march%3Dnative n=2", again.stdout)
        self.assertIn("note: default values used: n=1",
                      self.clatune("verify", "p.json", "--configuration", "flags=a=1 b=2").stderr)
        (self.folder / "list.json").write_text(json.dumps([{"flags": f, "n": 1} for f in FLAGS] + ["flags=two%0Alines n=2"]))
        self.clatune("sample", "p.json", "--store", "t.sqlite", "--configurations", "list.json", "--quiet")
        self.clatune("record", "p.json", "--store", "t.sqlite", "--stored-only", "--quiet", "-o", "t.json")
        self.assertEqual(self.configurations("t.json"), sorted([(f, 1) for f in FLAGS] + [("two\nlines", 2)]))


if __name__ == "__main__":
    main()
