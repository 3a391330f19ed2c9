"""Quirks of GPU drivers, on the simulated one: each fault gets the correct reason, and no other configuration is affected."""
import contextlib
import fcntl
import json
import os
import pathlib
import re
import sqlite3

from simulation import TIME_S, SimulatedTest, has_program, main

N_A, N_B = 20, 10


class Quirks(SimulatedTest):
    def setUp(self):
        super().setUp()
        self.write_problem(N_A, N_B)

    def exhaustive(self, *options):
        return self.tune("--searcher", "exhaustive", "--budget", str(N_A * N_B), "--finalists", "0", *options,
                         "--store", "s.sqlite")

    def builds(self):
        """How often each configuration was built, by a: if the fault layer notes it."""
        out = {}
        for _, _, point, deed, options in self.deeds():
            if point == "build" and deed == "note":
                configuration = f"a={options['a']} b={options['b']}"
                out[configuration] = out.get(configuration, 0) + 1
        return out

    def test_too_many_registers_are_no_lack_of_memory(self):
        self.simulate(time_s=TIME_S, fails={"launch": "a % 2 == 1"}, launch_status=-5)
        self.inject({"at": "build", "do": "note", "when": "a >= 0"})
        answer = self.exhaustive()
        self.assertEqual(answer["reasons"], {"launch-resources": N_A * N_B // 2})
        self.assertEqual(answer["evaluations"]["correct"], N_A * N_B // 2)
        self.assertEqual(set(self.builds().values()), {1})  # none is tried again, so slots stay as they are

    def test_a_dead_context_is_the_fault_of_none_that_comes_later(self):
        """The run that kills its context ends well, and those after it in the same process are told that resources lack. If the next is
        clatune's own kernel that observes the clock, the one at fault is found."""
        # No time is so much better than others that it would be measured again for that.
        self.simulate(time_s="1e-5 * (1 + 0.004 * abs(a - 17) + 0.005 * abs(b - 9))", fails={"late": "b == 3"},
                      after_fault="dead-context")
        self.inject({"at": "build", "do": "note", "when": "a >= 0"})
        answer = self.exhaustive()
        failed = [(name, reason) for name, reason, _ in self.rows("s.sqlite") if reason != "none"]
        self.assertTrue(all(name.endswith("b=3") and reason == "run-error" for name, reason in failed), failed)
        self.assertEqual(answer["evaluations"]["correct"], N_A * N_B - len(failed))
        self.assertEqual(answer["best"]["configuration"], {"a": 17, "b": 9})
        # A configuration prepared in such a process is built again, which can happen to one more than once, but not to many.
        self.assertLessEqual(sum(self.builds().values()), 2 * N_A * N_B)

    def test_a_fault_kills_the_context_and_its_own_reason_is_kept(self):
        self.simulate(time_s=TIME_S, fails={"run": "b == 3", "launch": "b == 4"}, launch_status=-5,
                      after_fault="dead-context")
        answer = self.exhaustive()
        self.assertEqual(answer["reasons"], {"run-error": N_A, "launch-resources": N_A})

    def test_calls_that_hang_after_a_fault_hold_nobody_up(self):
        self.simulate(time_s=TIME_S, fails={"run": "b == 3"}, after_fault="hang")
        answer = self.exhaustive("--run-timeout", "300", "--run-timeout-factor", "0", "--compile-timeout", "300")
        self.assertEqual(answer["reasons"], {"run-error": N_A})
        self.assertEqual(answer["evaluations"]["correct"], N_A * (N_B - 1))

    def test_a_compiler_that_aborts_hangs_or_takes_all_memory_harms_one_configuration(self):
        memory = "2**47" if "CLATUNE_SANITIZED" in os.environ else "8 * 2**30"  # sanitizers take more than any limit
        self.simulate(time_s=TIME_S, build_memory_bytes=f"{memory} if b == 5 else 0")
        self.inject({"at": "build", "do": "abort", "when": "b == 3"}, {"at": "build", "do": "hang", "when": "a == 4 and b == 4"},
                    {"at": "build", "do": "note", "when": "b < 3"})
        answer = self.exhaustive("--compile-timeout", "1", "--memory-limit", "1024")
        self.assertEqual(answer["reasons"], {"compile-crash": N_A, "compile-timeout": 1, "out-of-memory": N_A})
        self.assertEqual(answer["evaluations"]["correct"], N_A * (N_B - 2) - 1)
        self.assertEqual(answer["evaluations"]["confirmed_alone"], 2 * N_A + 1)
        with contextlib.closing(sqlite3.connect(self.folder / "s.sqlite")) as store:
            (log,), = store.execute("select log from measurement where configuration = 'a=7 b=5' and kind = 'search'").fetchall()
        self.assertRegex(log, r"(?s)^a worker may use 1024 MiB \(--memory-limit\).*LLVM ERROR: out of memory")

    def test_a_watchdog_finds_little_queued(self):
        path = self.folder / "copy.json"
        text = json.loads(path.read_text())
        text["KernelSpecification"]["Launches"] = [{"Repeat": 100}]
        path.write_text(json.dumps(text))
        self.simulate(time_s=0.05, watchdog_s=2)
        self.assertEqual(self.exhaustive()["reasons"], {})
        self.simulate(time_s=3, watchdog_s=2)  # one launch is too long
        self.assertEqual(self.tune("--budget", "5", "--no-store", expect=4)["reasons"], {"run-error": 5})

    def test_who_waits_for_a_run_keeps_no_processor_busy(self):
        spins = self.folder / "spins"
        self.simulate(time_s=0.01, waits=True, spins=str(spins))
        self.tune("--budget", "4", "--no-store", "--finalists", "2")
        self.assertFalse(spins.exists())
        # The end of launches that only the host's clock times must be seen.
        self.simulate(time_s=0.01, waits=True, spins=str(spins), timer_resolution_ns=0)
        answer = self.tune("--budget", "4", "--no-store", "--finalists", "0")
        self.assertEqual(answer["best"]["clock"], "host")
        self.assertTrue(spins.exists())

    def test_what_a_kernel_uses_is_kept_for_metrics(self):
        path = self.folder / "copy.json"
        text = json.loads(path.read_text())
        text["Metrics"] = [{"Name": "spills", "Expression": "1 + spill_bytes + 1000 * registers", "Goal": "Minimise"},
                           {"Name": "private", "Expression": "private_bytes"}, {"Name": "local", "Expression": "local_bytes"}]
        path.write_text(json.dumps(text))
        told = {"registers": "32 + a", "spill_bytes": "8 * b", "private_bytes": "64 * a", "time_s": TIME_S}
        self.simulate(extensions="cl_nv_compiler_options", **told)
        for objective, (a, b), measured in ("time", (17, 9), N_A * N_B), ("spills", (0, 0), 0):  # measured, then known
            answer = self.exhaustive("--objective", objective)
            metrics = {metric["name"]: metric["value"] for metric in answer["best"]["metrics"]}
            self.assertEqual(answer["best"]["configuration"], {"a": a, "b": b})
            self.assertEqual((metrics["spills"], metrics["private"], metrics["local"]), (1 + 8 * b + 1000 * (32 + a), 64 * a, 0))
            self.assertEqual(answer["evaluations"]["measured"], measured)
        found = self.clatune_json("lookup", *self.subject, "--objective", "spills", "--store", "s.sqlite")
        self.assertEqual(found["configuration"], {"a": 0, "b": 0})
        self.simulate(driver_version="2", **told)  # which says nothing of registers
        metrics = {metric["name"]: metric["value"] for metric in self.exhaustive()["best"]["metrics"]}
        self.assertNotIn("spills", metrics)
        self.assertEqual(metrics["private"], 64 * 17)

    def test_a_device_that_is_lost_ends_the_tuning_and_blames_nobody_else(self):
        """With many workers, so that several configurations fail at the same time."""
        lost = self.folder / "lost"
        self.simulate(time_s=TIME_S, fails={"run": "a == 7 and b == 3"}, after_fault="lost", lost_file=str(lost))
        failed = {}
        for _ in range(2):  # among others, and alone
            if not failed:
                said = self.clatune("tune", *self.subject, "--searcher", "exhaustive", "--budget", str(N_A * N_B),
                                    "--finalists", "0", "--workers", "8", "--store", "s.sqlite", expect=3)
                self.assertIn("device-lost", said.stderr)
                failed = {configuration: reason for configuration, reason, _ in self.rows("s.sqlite") if reason != "none"}
                lost.unlink()
        self.assertEqual(failed, {"a=7 b=3": "run-error"})
        answer = self.exhaustive()
        self.assertEqual(answer["reasons"], {"run-error": 1})
        self.assertEqual(answer["evaluations"]["correct"], N_A * N_B - 1)

    def test_a_process_that_cannot_be_killed_is_left_behind_and_its_device_set_aside(self):
        """Dead, and held by another: SIGKILL is sent, and waiting for it does not return."""
        stuck, self.subject = self.folder / "stuck", ("copy.json", "--device", "Wedged")
        self.simulate({"name": "Sound", "time_s": TIME_S}, name="Wedged", time_s=TIME_S, fails={"run": "a == 7 and b == 3"},
                      after_fault="stuck", lost_file=str(stuck))
        limits = {"compile-timeout": 1, "host-timeout": 2, "workers": 2}
        with open(stuck, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            said = self.clatune("tune", *self.subject, "--searcher", "exhaustive", "--budget", str(N_A * N_B), "--finalists", "0",
                                "--store", "s.sqlite", *(f"--{key}={value}" for key, value in limits.items()), expect=3).stderr
            process, = re.findall(r"device-lost: worker process (\d+) cannot be killed", said)
            self.assertEqual(pathlib.Path(f"/proc/{process}/comm").read_text(), "clatune-worker\n")
            self.assertIn("reset the device or restart the machine", said)
            self.assertEqual({reason for _, reason, _ in self.rows("s.sqlite")}, {"none"})
            if has_program("sweep"):
                self.check_plan(limits)
        answer = self.exhaustive("--host-timeout", "3")  # tried alone by the plan, and on record since
        self.assertEqual(answer["reasons"], {"compile-timeout": 1})
        self.assertEqual(answer["evaluations"]["correct"], N_A * N_B - 1)

    def check_plan(self, limits):
        """A plan goes on with its other devices."""
        tuning = {"Problem": "copy.json", "Searchers": "exhaustive", "Seeds": [1, 2], "Budgets": N_A * N_B}
        (self.folder / "plan.json").write_text(json.dumps({
            "Devices": ["Wedged", "Sound"], "Problems": [tuning], "Tuning": {"Finalists": 0},
            "Evaluator": {"Evaluator": "opencl", "Options": limits}}))
        swept = self.clatune("sweep", "plan.json", "--store", "s.sqlite", "--json", expect=3)
        by_device = {line["device"]: line for line in json.loads(swept.stdout)["table"]}
        self.assertEqual((by_device["Wedged"]["failed"], by_device["Sound"]["found"]), (2, 2), swept.stdout)
        self.assertEqual(swept.stderr.count("cannot be killed"), 1, swept.stderr)
        self.assertIn("failed: not tuned because the device was lost", swept.stderr)


if __name__ == "__main__":
    main()
