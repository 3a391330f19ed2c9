"""Agents, the server and the submitter of a plan are killed while it is worked on: each tuning is done once, nothing is lost, nothing doubled."""
import os
import random
import time

from farm import FarmTest, run, until

N_TUNINGS, N_AGENTS = int(os.environ.get("CLATUNE_TUNINGS", 16)), int(os.environ.get("CLATUNE_AGENTS", 3))
N_KILLS, N_CRASHES = int(os.environ.get("CLATUNE_KILLS", 3)), int(os.environ.get("CLATUNE_CRASHES", 2))
DEVICE = {"build_s": 0.03}  # so that there is time to kill


class Kills(FarmTest):
    def begin(self):
        self.write_plan(N_TUNINGS)
        self.submit()
        for _ in range(N_AGENTS):
            self.agent(**DEVICE)
        self.until_met()

    def disturb(self, how, times):
        """Does it so many times, each after some more tunings were begun."""
        for n in range(times):
            self.until_begun(n * (N_TUNINGS - N_AGENTS - 2) // times + 1)
            how(n)

    def test_agents_are_killed(self):
        draw = random.Random(1)

        def kill(_):
            agent = draw.choice(self.agents)
            agent.kill()
            agent.start()
        self.begin()
        self.disturb(kill, N_KILLS)
        self.check(N_TUNINGS)

    def test_the_server_is_killed(self):
        longest_s = 0

        def crash(n):
            nonlocal longest_s
            self.server.restart(("kill", "immediate")[n % 2])
            began, before = time.monotonic(), self.n_begun()
            until(lambda: self.n_begun() > before or self.finished())
            longest_s = max(longest_s, time.monotonic() - began)
        self.begin()
        self.disturb(crash, N_CRASHES)
        self.check(N_TUNINGS)
        self.figure("the server is there again, and the next tuning begun, s", longest_s, 5)

    def test_whoever_submitted_is_killed(self):
        self.write_plan(N_TUNINGS)
        for _ in range(N_AGENTS):
            self.agent(**DEVICE)
        command = ("plan.json", "--quiet", "--lease", "3")
        submitter = self.agent(*command, **DEVICE)

        def kill(_):
            submitter.kill()
            submitter.start()
        self.disturb(kill, N_CRASHES)
        self.assertEqual(submitter.process.wait(3000), 0, submitter.said)
        results = self.folder / "plan.results.jsonl"
        first = results.read_bytes()
        table = self.clatune("sweep", *command, "--store", self.url).stdout
        results.unlink()
        self.assertEqual(self.clatune("sweep", *command, "--store", self.url).stdout, table)
        self.assertEqual(results.read_bytes(), first)
        self.agents.remove(submitter)
        self.stop_agents()
        self.agents.append(submitter)
        self.assertEqual(self.states(), {"done": N_TUNINGS})
        self.check_union()
        self.assertEqual(self.results("plan.results.jsonl"), self.on_one_machine())


if __name__ == "__main__":
    run()
