"""One configuration among 24 writes over the heap of the process that it runs in, at several distances behind its output: no
innocent one is blamed for what comes of it."""
import pathlib
import shutil
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import CliTest, has_device, main  # noqa: E402

CORPUS = pathlib.Path(__file__).parent.parent / "instruments" / "bad_kernels"


class Company(CliTest):
    def test_nobody_else_is_blamed(self):
        for file in CORPUS.glob("company.*"):
            shutil.copy(file, self.folder)
        for behind in (2048, 4096, 65536):
            with self.subTest(behind=behind):
                self.clatune("tune", "company.json", "--device", "pocl", "--size", f"behind={behind}", "--searcher",
                             "exhaustive", "--budget", "24", "--finalists", "0", "--store", f"{behind}.sqlite")
                connection = sqlite3.connect(self.folder / f"{behind}.sqlite")
                rows = dict(connection.execute("select configuration, reason from measurement where kind = 'search'"))
                connection.close()
                rows.pop("a=3 b=1")
                self.assertEqual({c: r for c, r in rows.items() if r != "none"}, {})
                self.assertEqual(len(rows), 23)


if not has_device("pocl"):
    sys.exit(77)
main()
