"""The corpus of bad kernels (tests/instruments/bad_kernels) on a real driver: each defect under a reason that fits, right
configurations right. The driver is the argument; 77 where it is not there."""
import pathlib
import shutil
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import CliTest, has_device, main  # noqa: E402

CORPUS = pathlib.Path(__file__).parent.parent / "instruments" / "bad_kernels"
DRIVER = sys.argv.pop(1)

CRASH = {"run-crash", "compile-crash"}
# What each may be called. A kernel whose result is right is correct, whatever it did on the way (slow; on some drivers a
# barrier that not all reach, or a loop that is not unrolled); one whose result is wrong never is.
EXPECTED = {
    "none": {"none"},
    "far_after": CRASH, "far_before": CRASH,
    "one_after": {"out-of-bounds"}, "one_before": {"out-of-bounds"},
    "input_after": {"out-of-bounds"}, "input_before": {"out-of-bounds"},
    "input_changed": {"out-of-bounds", "wrong-output"} | CRASH,
    "infinite_loop": {"run-timeout"},
    "divergent_barrier": {"none", "wrong-output", "run-timeout", "compile-error"} | CRASH,
    "unroll_bomb": {"none", "wrong-output", "compile-timeout", "run-timeout", "out-of-memory"} | CRASH,
    "memory_bomb": {"compile-timeout", "compile-error", "compile-crash", "out-of-memory"},
    "local_memory": {"kernel-limit", "compile-error", "launch", "out-of-memory"},
    "divide_by_zero": {"wrong-output"} | CRASH,
    "not_a_number": {"wrong-output"}, "partial": {"wrong-output"}, "race": {"wrong-output"},
    # One that is far behind the best is run only once.
    "second_launch": {"wrong-output"}, "first_launch": {"wrong-output", "none"},
    "syntax": {"compile-error"},
    "slow": {"none", "run-timeout"},
}
# On rusticl an endless loop "ends", far writes are nobody's fault (or end in
# a lock that is never given back), and what it leaves behind is poison or wrong. There eight
# work-items run in step, on Intel's runtime sixteen, so that a work-group of so many has no race.
PECULIAR = {"intel": {"race": {"wrong-output", "none"}},
            "rusticl": {"race": {"wrong-output", "none"},
                        "infinite_loop": {"run-timeout", "wrong-output"},
                        "far_after": {"none", "wrong-output", "run-error", "run-timeout"} | CRASH,
                        "far_before": {"none", "wrong-output", "run-error", "run-timeout"} | CRASH}}


class Corpus(CliTest):
    def test_each_defect_has_a_reason_that_fits(self):
        for file in CORPUS.iterdir():
            shutil.copy(file, self.folder)
        answer = self.clatune_json("tune", "defects.json", "--device", DRIVER, "--searcher", "exhaustive", "--budget", "63",
                                   "--compile-timeout", "6", "--run-timeout", "3", "--store", "s.sqlite")
        got = self.reasons("s.sqlite")
        self.assertEqual(len(got), 3 * len(EXPECTED))
        for (defect, block), reason in sorted(got.items()):
            expected = PECULIAR.get(DRIVER, {}).get(defect, EXPECTED[defect])
            with self.subTest(defect=defect, block=block):
                self.assertIn(reason, expected)
        self.assertIn(answer["best"]["configuration"]["defect"], {"none", "divergent_barrier", "unroll_bomb", "slow"})

    def reasons(self, store):
        connection = sqlite3.connect(self.folder / store)
        rows = connection.execute("select configuration, reason from measurement where kind = 'search'").fetchall()
        connection.close()
        parsed = [(dict(p.split("=") for p in configuration.split()), reason) for configuration, reason in rows]
        return {(c["defect"], c["block"]): reason for c, reason in parsed}


if not has_device(DRIVER):
    sys.exit(77)
main()
