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

    def begin(self, n_tunings, *cuts):
        """Cuts that begin with the first tuning: (point, text, seconds down), the first one of a query that only tunings make."""
        self.write_plan(n_tunings)
        for _ in range(2):
            self.agent(url=self.server.url(self.database, "agent", port=self.proxy.port), **DEVICE)
        self.until_met()
        if cuts:
            self.proxy.cut_in_turn(*cuts)
        self.submit()

    def check_cuts(self, *cuts):
        """Each tuning claims, delivers and finishes: so there are more occasions than cuts."""
        self.begin(2 * len(cuts), *cuts)
        self.check(2 * len(cuts), 300 + sum(down_s for _, _, down_s in cuts))
        self.assertEqual(self.proxy.n_fired, len(cuts))

    def test_cuts_at_every_point_of_claims_completions_and_records(self):
        self.check_cuts(*((point, text, 0) for text in (FINISH, RECORDS, CLAIM) for point in POINTS))

    def test_the_network_is_down_for_longer(self):
        """For seconds that the environment names; work under way is finished meanwhile."""
        self.check_cuts(*((point, text, down_s) for down_s in DOWN_S
                          for point, text in (("during", FINISH), ("before", CLAIM), ("after", CLAIM), ("reply", CLAIM))))

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
