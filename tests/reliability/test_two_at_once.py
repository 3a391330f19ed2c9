"""Two tunings at once: on one device they time one after the other, on one store they do not disturb each other."""
import json

from simulation import SimulatedTest, main


class TwoAtOnce(SimulatedTest):
    def run_two(self, first, second):
        processes = [self.start(*first), self.start(*second)]
        out = []
        for process in processes:
            text, errors = process.communicate()
            self.assertEqual(process.returncode, 0, errors)
            out.append((json.loads(text), errors))
        return out

    def test_one_store(self):
        seeds = [("--searcher", "random", "--seed", str(seed), "--budget", "300", "--store", "s.sqlite") for seed in (1, 2)]
        for answer, _ in self.run_two(*seeds):
            self.assertEqual(answer["evaluations"]["correct"], 300)
        rows = self.rows("s.sqlite")
        self.assertGreaterEqual(len(rows), len({configuration for configuration, _, _ in rows}))
        self.assertTrue(self.clatune_json("store", "check", "--store", "s.sqlite")["whole"])
        again = self.tune(*seeds[0])
        self.assertEqual(again["evaluations"]["measured"], 0)

    def test_one_device(self):
        """Each launch notes itself at its start and, as the layer sleeps in the run, holds the device for a while: a launch
        timed by one process is alone between two notes of that process."""
        self.simulate(time_s="3e-3 * (1 + a)", waits=True, type="cpu")
        self.write_problem(8, 1)
        self.inject({"at": "launch", "do": "note"})
        options = ("--searcher", "exhaustive", "--budget", "8", "--workers", "1", "--no-store", "--min-runs", "10",
                   "--max-runs", "10", "--finalists", "0", "--abandon-factor", "0")
        self.run_two(options, options)
        launches = [(pid, d["a"]) for _, pid, _, _, d in self.deeds()]
        self.assertEqual(len({pid for pid, _ in launches}), 2)
        # A first launch, then warm-up and ten runs in a row: no other process's launch among the eleven.
        runs, i = 0, 0
        while i < len(launches):
            n = 1
            while i + n < len(launches) and launches[i + n] == launches[i]:
                n += 1
            runs += n >= 11
            i += n
        self.assertEqual(runs, 16)


if __name__ == "__main__":
    main()
