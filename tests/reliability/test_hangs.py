"""Kernels and compilations that never end: killed, the rest goes on, no process stays behind."""
import json
import os

from simulation import SimulatedTest, main, processes_of

TIMEOUT_S = 1


class Hangs(SimulatedTest):
    def test_twenty_hangs_in_two_hundred(self):
        self.write_problem(20, 10)
        self.inject({"at": "launch", "do": "hang", "when": "b == 3 and a < 10"},
                    {"at": "run", "do": "hang", "when": "b == 3 and a >= 10"})
        process = self.start("--searcher", "exhaustive", "--budget", "200", "--store", "s.sqlite", "--compile-timeout",
                             str(TIMEOUT_S), "--run-timeout", str(TIMEOUT_S))
        out, errors = process.communicate()
        self.assertEqual(process.returncode, 0, errors)
        answer = json.loads(out)
        self.assertEqual(answer["reasons"], {"compile-timeout": 10})
        self.assertEqual(answer["evaluations"]["abandoned"], 10)  # it is unknown whether they are only slow
        self.assertEqual(answer["evaluations"]["correct"], 180)
        self.assertEqual(processes_of(process.pid), [])
        hung = {pid for _, pid, *_ in self.deeds()}
        # One that sleeps is tried once more, alone, as others may have damaged its process; and once more if the machine was busy.
        self.assertLessEqual(20, len(hung))
        self.assertLessEqual(len(hung), 3 * 20)
        self.assertEqual([pid for pid in hung if os.path.exists(f"/proc/{pid}")], [])


if __name__ == "__main__":
    main()
