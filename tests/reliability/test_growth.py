"""What many configurations leave behind: in the tuner's memory, in temporary folders, after SIGKILL."""
import os
import pathlib

from simulation import SimulatedTest, kill_session, main, until

MANY = int(os.environ.get("CLATUNE_MANY", "2000"))
OPTIONS = ("--searcher", "random", "--seed", "3", "--store", "s.sqlite")


def resident_bytes(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return None
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def bytes_under(folder):
    """The files there now; os.walk passes over folders that go away meanwhile."""
    total = 0
    for parent, _, files in os.walk(folder):
        for file in files:
            try:
                total += os.lstat(os.path.join(parent, file)).st_size
            except OSError:
                pass
    return total


class Growth(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(200, 200)
        self.temporary = self.folder / "temporary"
        self.temporary.mkdir()
        self.environment["TMPDIR"] = str(self.temporary)

    def test_memory_and_disk(self):
        process = self.start(*OPTIONS, "--budget", str(MANY))
        sizes, files = [], 0

        def look():
            nonlocal files
            size, files = resident_bytes(process.pid), max(files, bytes_under(self.temporary))
            n = self.n_rows("s.sqlite")
            if size:
                sizes.append((n, size))

        until(look, process, every_s=0.1)
        self.assertEqual(process.returncode, 0, process.communicate())
        early = next(size for n, size in sizes if n >= MANY // 10)
        self.figure(f"MB that the tuner grew by over {MANY * 9 // 10} configurations", (sizes[-1][1] - early) / 1e6, 10)
        self.figure("MB of temporary files at most", files / 1e6, 50)
        self.assertEqual(list(self.temporary.iterdir()), [])

    def test_nothing_is_left_after_sigkill_and_the_next_start(self):
        process = self.start(*OPTIONS, "--budget", "5000")
        # Not as soon as there is a folder: the first one belongs to the listing of devices, and goes by itself.
        self.assertTrue(until(lambda: self.n_rows("s.sqlite"), process))
        kill_session(process)
        self.assertEqual(len(list(self.temporary.glob("clatune-*"))), 1)
        self.tune(*OPTIONS, "--budget", "5")
        self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    main()
