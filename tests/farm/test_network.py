"""Connections that end at the worst moment: the agents go on, and in the end nothing is lost or doubled."""
import os

from farm import FarmTest, run, until
from proxy import POINTS, Proxy

DOWN_S = [float(text) for text in os.environ.get("CLATUNE_DOWN", "0.3").split()]
CLAIM, FINISH, RECORDS = r"FROM claim\(", r"SELECT finish\(", r"SELECT deliver\("
DEVICE = {"build_s": 0.05}


class Network(FarmTest):
    def setUp(self):
        super().setUp()
        self.proxy = Proxy(self.server.port)
        self.addCleanup(self.proxy.close)

    def begin(self, n_tunings, *arguments):
        self.write_plan(n_tunings)
        self.submit()
        for _ in range(2):
            self.agent(*arguments, url=self.server.url(self.database, "agent", port=self.proxy.port), **DEVICE)
        self.until_met()

    def fired(self, n):
        self.assertTrue(until(lambda: self.proxy.n_fired >= n or self.finished()))
        self.assertEqual(self.proxy.n_fired, n, "it was over before")

    def test_cuts_at_every_point_of_claims_completions_and_records(self):
        rules = [(point, text) for text in (CLAIM, FINISH, RECORDS) for point in POINTS]
        n_tunings = 2 * len(rules)
        self.begin(n_tunings)
        for n, (point, text) in enumerate(rules):
            self.proxy.cut_at(point, text)
            self.fired(n + 1)
        self.check(n_tunings)

    def test_the_network_is_down_for_longer(self):
        """For seconds that the environment names; work under way is finished meanwhile."""
        rules = [(down_s, point, text) for down_s in DOWN_S
                 for point, text in (("before", CLAIM), ("after", CLAIM), ("during", FINISH), ("reply", CLAIM))]
        n_tunings = 3 * len(rules)
        self.begin(n_tunings)
        for n, (down_s, point, text) in enumerate(rules):
            self.proxy.cut_at(point, text, down_s=down_s)
            self.fired(n + 1)
        self.check(n_tunings)

    def test_a_stalled_network_delivers_late(self):
        self.begin(12)
        for n in range(2):
            self.until_begun(3 * n + 1)
            self.proxy.stall(lost=n == 1)
            self.assertTrue(until(lambda: self.value("select count(*) from clatune.cell where lease < clock_timestamp()") != "0"
                                  or self.finished()))
            self.proxy.flow()
        self.check(12)


if __name__ == "__main__":
    run()
