"""Kernels and compilations that never end: killed in time, the rest goes on, no process stays behind."""
import json
import os
import time

from simulation import SimulatedTest, main, processes_of

TIMEOUT_S = 1


class Hangs(SimulatedTest):
    def watch(self, process, store):
        """{process: when it was seen gone}, [when a new row was seen] while it runs."""
        gone, seen, n_rows = {}, [], 0
        while process.poll() is None:
            for _, pid, *_ in self.deeds():
                if pid not in gone and not os.path.exists(f"/proc/{pid}"):
                    gone[pid] = time.time()
            n = len(self.rows(store))
            seen += [time.time()] * (n - n_rows)
            n_rows = n
            time.sleep(0.005)
        return gone, seen

    def test_twenty_hangs_in_two_hundred(self):
        self.write_problem(20, 10)
        self.inject({"at": "launch", "do": "hang", "when": "b == 3 and a < 10"},
                    {"at": "run", "do": "hang", "when": "b == 3 and a >= 10"})
        process = self.start("--searcher", "exhaustive", "--budget", "200", "--store", "s.sqlite", "--compile-timeout",
                             str(TIMEOUT_S), "--run-timeout", str(TIMEOUT_S))
        gone, seen = self.watch(process, "s.sqlite")
        out, errors = process.communicate()
        self.assertEqual(process.returncode, 0, errors)
        answer = json.loads(out)
        self.assertEqual(answer["reasons"], {"compile-timeout": 10, "run-timeout": 10})
        self.assertEqual(answer["evaluations"]["correct"], 180)
        self.assertEqual(processes_of(process.pid), [])
        began = {pid: when for when, pid, *_ in self.deeds()}
        ended = time.time()
        late = [gone.get(pid, ended) - when - TIMEOUT_S for pid, when in began.items()]
        self.assertEqual(len(late), 20)
        self.figure("killed this many seconds after the deadline", max(late), 0.5)
        next_result = [min((t for t in seen if t >= when), default=when) - when for when in gone.values()]
        self.figure("seconds from a kill to the next result", max(next_result), 2)


if __name__ == "__main__":
    main()
