"""Agents whose clocks are wrong: leases depend on the server's."""
import os
import unittest

from farm import FAKETIME, FarmTest, run

AUDIT = """create table public.took(target bigint, n bigint, ended timestamptz, began timestamptz);
create function public.note() returns trigger language plpgsql security definer as $$ begin
  insert into public.took values (new.target, new.n, old.lease, new.began); return new; end $$;
create trigger note after update on clatune.cell for each row
  when (old.state = 'running' and new.state = 'running' and old.claim <> new.claim) execute function public.note()"""


class Clocks(FarmTest):
    @unittest.skipIf(FAKETIME is None, "there is no libfaketime (scripts/install-packages --with-farm)")
    @unittest.skipIf(os.environ.get("CLATUNE_SANITIZED"), "a sanitizer must be the first library")
    def test_wrong_clocks(self):
        """Agents an hour ahead, an hour behind, and back and forth; one is killed each time, and its tuning taken at the lease's end."""
        n_tunings, n_kills = int(os.environ.get("CLATUNE_TUNINGS", 20)) // 2, int(os.environ.get("CLATUNE_KILLS", 3))
        self.write_plan(n_tunings)
        self.submit(lease_s=1)
        self.server.query(AUDIT, self.database)
        for clock_s in (3600, -3600, 0):
            self.agent(clock_s=clock_s, build_s=0.03)
        self.until_met()
        for n in range(n_kills):
            self.until_begun(n * (n_tunings - 4) // n_kills + 3)
            self.agents[2].set_clock((-3600, 3600, -7200)[n % 3])
            self.agents[n % 3].kill()
            self.agents[n % 3].start()
        self.check(n_tunings)
        created_s = [measured[6] for measured in self.records().values()]
        self.assertLess(max(created_s) - min(created_s), 3600, "measurements have the times of wrong clocks")
        took = self.server.query("select extract(epoch from began - ended) from public.took", self.database)
        late_s = [float(row[0]) for row in took]
        self.assertTrue(all(s >= 0 for s in late_s), f"taken before the end of the lease: {late_s}")
        self.figure("after the end of a lease it is taken, s", max(late_s, default=0), 1)


if __name__ == "__main__":
    run()
