"""Quirks of GPU drivers, on the simulated one: each fault under its right name, and nobody else pays for it."""
from simulation import TIME_S, SimulatedTest, main

N_A, N_B = 20, 10


class Quirks(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(N_A, N_B)

    def exhaustive(self, *options):
        return self.tune("--searcher", "exhaustive", "--budget", str(N_A * N_B), "--finalists", "0", *options,
                         "--store", "s.sqlite")

    def builds(self):
        """How often each configuration was built, by a: where the fault layer notes it."""
        out = {}
        for _, _, point, deed, options in self.deeds():
            if point == "build" and deed == "note":
                configuration = f"a={options['a']} b={options['b']}"
                out[configuration] = out.get(configuration, 0) + 1
        return out

    def test_too_many_registers_are_no_lack_of_memory(self):
        self.simulate(time_s=TIME_S, fails={"launch": "a % 2 == 1"}, launch_status=-5)
        self.inject({"at": "build", "do": "note"})
        answer = self.exhaustive()
        self.assertEqual(answer["reasons"], {"launch-resources": N_A * N_B // 2})
        self.assertEqual(answer["evaluations"]["correct"], N_A * N_B // 2)
        self.assertEqual(set(self.builds().values()), {1})  # none is tried again, so slots stay as they are


if __name__ == "__main__":
    main()
