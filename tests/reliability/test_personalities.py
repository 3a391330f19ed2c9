"""One personality of the simulated driver (tests/instruments/README.md): a fifth of its configurations fail in its vendor's ways.

test_personalities.py NAME: 100 configurations with 20 faults, or as many as CLATUNE_CONFIGURATIONS says."""
import json
import os
import pathlib
import sys
import time

from simulation import SimulatedTest, main

PERSONALITIES = pathlib.Path(__file__).resolve().parents[1] / "instruments" / "personalities"
NAME = sys.argv.pop(1)
N_B = 25
N_A = int(os.environ.get("CLATUNE_CONFIGURATIONS", "100")) // N_B
MOST = 1.5  # times the work if nothing fails

# Where, the fault, and the reason that it must get. A fault of the driver itself is a key of its description;
# "slow" is longer than its watchdog allows, "limit" a kernel that is only possible in smaller groups. "late" kills its context, which the next
# launch is told: it has its own reason if that is clatune's kernel that observes the clock, and none otherwise.
FAULTS = {
    "nvidia": [("b == 3", "launch", "launch-resources"), ("b == 5", "run", "run-error"), ("b == 12 and a % 2 == 0", "slow", "run-error"),
               ("b == 12 and a % 2 == 1", "late", "none or run-error"), ("b == 18", "segv", "compile-crash"), ("b == 21", "wrong", "wrong-output")],
    "amd-rocm": [("b == 3", "limit", "launch"), ("b == 5", "run", "run-crash"), ("b == 12", "abort", "compile-crash"),
                 ("b == 18", "build", "compile-error"), ("b == 21", "wrong", "wrong-output")],
    "amd-legacy": [("b == 3", "limit", "kernel-limit"), ("b == 5", "slow", "run-error"), ("b == 12", "segv", "compile-crash"),
                   ("b == 18", "exit", "compile-crash"), ("b == 21", "untouched", "wrong-output")],
    "intel-neo": [("b == 3", "launch", "launch-resources"), ("b == 5", "run", "run-error"), ("b == 12", "slow", "run-error"),
                  ("b == 18 and a % 2 == 0", "late", "none or run-error"), ("b == 18 and a % 2 == 1", "segv", "compile-crash"),
                  ("b == 21", "wrong", "wrong-output")],
    "intel-xe": [("b == 3", "launch", "launch-resources"), ("b == 5", "run", "run-error"), ("b == 12 and a < 2", "hang", "run-timeout"),
                 ("b == 12 and a >= 2", "untouched", "wrong-output"), ("b == 18", "abort", "compile-crash"), ("b == 21", "wrong", "wrong-output")],
    "adreno": [("b == 3", "limit", "kernel-limit"), ("b == 5", "slow", "run-error"), ("b == 12", "build", "compile-error"),
               ("b == 18", "segv", "compile-crash"), ("b == 21", "wrong", "wrong-output")],
    "mali": [("b == 3", "launch", "launch-resources"), ("b == 5", "run", "run-error"), ("b == 12", "segv", "compile-crash"),
             ("b == 18", "limit", "kernel-limit"), ("b == 21", "untouched", "wrong-output")],
    "apple": [("b == 3", "limit", "kernel-limit"), ("b == 5", "run", "run-error"), ("b == 12", "build", "compile-error"),
              ("b == 18", "abort", "compile-crash"), ("b == 21", "wrong", "wrong-output")],
    "mesa": [("b == 3", "launch", "launch"), ("b == 5", "abort", "compile-crash"), ("b == 12", "segv", "compile-crash"),
             ("b == 18", "build", "compile-error"), ("b == 21", "wrong", "wrong-output")],
}
ENDS_ITS_PROCESS = {"run-error", "run-crash", "compile-crash", "run-timeout", "launch"}


class Personality(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(N_A, N_B)
        with open(self.folder / "copy.cl", "a") as file:
            file.write("kernel void nothing(void) {}\n")
        self.environment["HOME"] = str(self.folder)
        self.description = json.loads((PERSONALITIES / f"{NAME}.json").read_text())
        self.device = self.description["devices"][0]
        self.subject = ("copy.json", "--device", self.device["name"])
        self.timed = self.device["timer_resolution_ns"] > 0  # else the host's clock is all there is: nothing may be short
        self.device["time_s"] = "1e-5 * (1 + 0.2 * abs(a - 2) + 0.2 * abs(b - 9))" if self.timed else \
            "1e-3 if a == 2 and b == 9 else 2e-3"
        self.device["waits"] = True
        if N_A * N_B >= 1000:  # times are compared: a compiler takes at least so long
            self.device["build_s"] = 0.02
        self.describe()

    def describe(self):
        (self.folder / "devices.json").write_text(json.dumps(self.description))
        self.environment["CLATUNE_SIMULATED"] = str(self.folder / "devices.json")

    def strike(self):
        """The faults that the driver does; those that the fault layer does are returned as its rules."""
        layer = {"segv": "build", "abort": "build", "exit": "build", "hang": "run"}
        rules, fails = [], {}
        for where, deed, _ in FAULTS[NAME]:
            if deed in layer:
                rules.append({"at": layer[deed], "do": deed, "when": where})
            elif deed == "slow":
                self.device["time_s"] = f"{2 * self.device['watchdog_s']} if {where} else {self.device['time_s']}"
            elif deed == "limit":
                self.device["work_group_limit"] = f"16 if {where} else {self.device['max_work_group_size']}"
            elif deed in ("wrong", "untouched"):
                self.device[deed] = where
            else:
                fails[deed] = where
        self.device["fails"] = fails
        self.describe()
        return rules

    def exhaustive(self, store, rules):
        """The answer, and the work for it: builds, runs, processes, seconds."""
        (self.folder / "faults.log").unlink(missing_ok=True)
        self.inject(*rules, {"at": "build", "do": "note", "when": "a >= 0"}, {"at": "run", "do": "note", "when": "a >= 0"})
        began = time.monotonic()
        # On a busy machine work of microseconds may take a second; and if nothing hangs, nothing waits for the limit. As many runs in
        # both searches, however busy it is: they are compared.
        hangs = any(deed == "hang" for _, deed, _ in FAULTS[NAME])
        answer = self.tune("--searcher", "exhaustive", "--budget", str(N_A * N_B), "--store", store, "--finalists", "3",
                           "--run-timeout-factor", "0", "--run-timeout", "1" if hangs else "60", "--max-run-time", "60",
                           "--min-runs", "7", "--max-runs", "7")
        work = {"seconds": time.monotonic() - began, "processes": len({deed[1] for deed in self.deeds()})}
        for point in ("build", "run"):
            work[point + "s"] = sum(1 for deed in self.deeds() if deed[2] == point)
        print(store, work, file=sys.stderr)
        return answer, work

    def test_every_fault_has_its_reason_and_costs_little(self):
        _, undisturbed = self.exhaustive("good.sqlite", [])
        answer, work = self.exhaustive("struck.sqlite", self.strike())
        timed = "configuration, reason, time_s, clock"
        rows = {name: (reason, time_s, clock) for name, reason, time_s, clock in self.rows("struck.sqlite", timed)}
        self.assertEqual(len(rows), N_A * N_B)
        self.assertEqual(len(self.rows("struck.sqlite")), N_A * N_B)
        expected = {f"a={a} b={b}": "none" for a in range(N_A) for b in range(N_B)}
        for a in range(N_A):
            for b in range(N_B):
                for where, _, reason in FAULTS[NAME]:
                    if eval(where, {"a": a, "b": b}):
                        expected[f"a={a} b={b}"] = reason
        given = {name: reason for name, (reason, _, _) in rows.items()}
        self.assertEqual({name: (given[name], reason) for name, reason in expected.items() if given[name] not in reason.split(" or ")}, {})
        good = {name: (time_s, clock) for name, _, time_s, clock in self.rows("good.sqlite", timed)}
        self.assertEqual(answer["evaluations"]["correct"], list(given.values()).count("none"))
        if self.timed or os.environ.get("CLATUNE_FIGURES"):  # the host's clock knows the fastest only if nothing else runs
            self.assertEqual(answer["best"]["configuration"], {"a": 2, "b": 9})
        for name, (reason, time_s, clock) in rows.items():
            good_s, good_clock = good[name]
            if reason == "none" and clock == good_clock == "device":  # not the host's: the machine may be busy
                self.assertAlmostEqual(time_s, good_s, delta=0.05 * good_s, msg=name)
        self.assertEqual([path for path in self.folder.iterdir() if path.name.endswith("-cache")], [])  # in the home folder
        # Nothing is measured twice but the failed ones, and those that their processes had prepared.
        for what in ("builds", "runs"):
            self.assertLessEqual(work[what], MOST * undisturbed[what], what)
        n_ends = sum(reason in ENDS_ITS_PROCESS for reason in given.values())
        self.assertLessEqual(work["processes"], undisturbed["processes"] + 2 * N_A * len(FAULTS[NAME]))
        self.figure(f"{NAME}: {n_ends} ends of processes, time against undisturbed", work["seconds"] / undisturbed["seconds"], MOST)

    def test_it_is_described_and_verified(self):
        listed = self.clatune_json("devices")["devices"]
        self.assertEqual([d["name"] for d in listed], [d["name"] for d in self.description["devices"]])
        for device in self.description["devices"]:
            shown = next(d for d in listed if d["name"] == device["name"])
            for key in set(device) & set(shown) - {"type"}:
                if key == "preferred_work_group_multiple" and "OpenCL 3" not in device["device_version"]:
                    continue  # only kernels tell
                said = device[key].strip() if isinstance(device[key], str) else device[key]
                self.assertEqual(shown[key], said, key)
        self.assertTrue(self.clatune_json("verify", *self.subject, "--quiet")["correct"])


if __name__ == "__main__":
    main()
