"""Runs clatune on the simulated driver, with or without the fault layer (tests/instruments/README.md)."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from harness import ANSWERS, CLATUNE, CliTest, check_answer, has_program, main, until  # noqa: E402,F401 - for the tests

DRIVER, LAYER = os.environ["CLATUNE_SIMULATED_DRIVER"], os.environ["CLATUNE_FAULT_LAYER"]

# Copies a buffer, as all kernels of the simulated driver do. Parameters a and b: 40 x 25 configurations by default.
KERNEL = "kernel void copy(global const float *in, global float *out) { out[get_global_id(0)] = in[get_global_id(0)]; }\n" \
         "constant int tuned = a + b;\n"
MODULE = """#include <clatune/module.h>

int copy(const clt_module_call *call) {
  const clt_module_array *in = clt_module_find(call, "in"), *out = clt_module_find(call, "out");
  if (in == NULL || out == NULL) return 1;
  memcpy(out->data, in->data, in->bytes);
  return 0;
}
"""
# Microseconds, so that nothing waits long: 10 at the optimum (a=17, b=9), a few per cent from one to the next.
TIME_S = "1e-5 * (1 + 0.02 * abs(a - 17) + 0.03 * abs(b - 9))"


def problem(n_a, n_b):
    """Of sizes that take the check plan little time: without a largest one it goes to 20 million elements."""
    argument = {"Type": "float", "MemoryType": "Vector", "Size": "n"}
    return {
        "General": {"BenchmarkName": "copy"},
        "ProblemParameters": [{"Name": "n", "Default": 1024, "Min": 1, "Max": 65536}],
        "ConfigurationSpace": {"TuningParameters": [
            {"Name": "a", "Type": "int", "Values": f"list(range({n_a}))", "Default": 0},
            {"Name": "b", "Type": "int", "Values": f"list(range({n_b}))", "Default": 0}]},
        "KernelSpecification": {
            "Language": "OpenCL", "KernelName": "copy", "KernelFile": "copy.cl",
            "GlobalSize": {"X": "n"}, "LocalSize": {"X": "32"},
            "Arguments": [
                {"Name": "in", "AccessType": "ReadOnly", "FillType": "Random", "FillValue": 1.0, **argument},
                {"Name": "out", "AccessType": "WriteOnly", **argument}]},
        "Reference": {"Module": "copy.c", "Function": "copy"},
        "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 100}]}


class SimulatedTest(CliTest):
    """subject: the tuned problem, and its device."""
    subject = ("copy.json", "--device", "Simulated")

    def setUp(self):
        super().setUp()
        (self.folder / "icd").mkdir()
        (self.folder / "icd" / "simulated.icd").write_text(DRIVER + "\n")
        (self.folder / "copy.cl").write_text(KERNEL)
        (self.folder / "copy.c").write_text(MODULE)
        self.write_problem(40, 25)
        self.environment["OCL_ICD_VENDORS"] = str(self.folder / "icd")
        self.simulate(time_s=TIME_S)

    def write_problem(self, n_a, n_b):
        (self.folder / "copy.json").write_text(json.dumps(problem(n_a, n_b)))

    def simulate(self, *devices, **device):
        self.write_devices({"devices": [*devices, device] if device else list(devices)})

    def write_devices(self, described):
        (self.folder / "devices.json").write_text(json.dumps(described))
        self.environment["CLATUNE_SIMULATED"] = str(self.folder / "devices.json")

    def inject(self, *rules):
        described = {"rules": list(rules), "log": str(self.folder / "faults.log"),
                     "counters": str(self.folder / "faults.count")}
        (self.folder / "faults.json").write_text(json.dumps(described))
        self.environment["CLATUNE_FAULTS"] = str(self.folder / "faults.json")
        self.environment["OPENCL_LAYERS"] = LAYER

    def stop_injecting(self):
        del self.environment["OPENCL_LAYERS"], self.environment["CLATUNE_FAULTS"]

    def deeds(self):
        """[(seconds, process, point, deed, {name: text})] of the faults' log."""
        path, out = self.folder / "faults.log", []
        for line in path.read_text().splitlines() if path.exists() else []:
            when, process, point, deed, *options = line.split()
            out.append((float(when), int(process), point, deed, dict(o.split("=", 1) for o in options)))
        return out

    def n_rows(self, store):
        """How many measurements a store has: for who asks again and again."""
        return sum(n for n, in self.rows(store, "count(*)"))

    def figure(self, name, value, limit):
        """Prints a figure of docs/notebook/reliability.md; holds it against its limit if nothing else runs (suite long)."""
        print(f"{name}: {value:.3g} (at most {limit:.3g})", file=sys.stderr)
        if os.environ.get("CLATUNE_FIGURES"):
            self.assertLessEqual(value, limit, name)

    def tune(self, *options, expect=0, **more):
        return self.clatune_json("tune", *self.subject, *options, expect=expect, **more)

    def start(self, *options, **more):
        """clatune tune in a session of its own, whose number is the process's."""
        return subprocess.Popen([CLATUNE, "tune", *self.subject, "--json", *options],
                                cwd=self.folder, env={**self.environment, **more}, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True)

    def rows(self, store, what="configuration, reason, time_s"):
        """[(configuration, reason, time_s)] of the measurements in a store, in the order they came."""
        if not (self.folder / store).exists():
            return []
        connection = sqlite3.connect(f"file:{self.folder / store}?mode=ro", uri=True, timeout=30)
        try:
            return connection.execute(f"select {what} from measurement where kind = 'search' order by id").fetchall()
        except sqlite3.OperationalError as error:  # its tables are being made
            if "no such table" in str(error):
                return []
            raise
        finally:
            connection.close()


def kill_session(process):
    """Kills the processes that start() began: the tuner and its workers. A worker may notice the tuner's death and end by itself first."""
    for pid, _ in processes_of(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate()


def processes_of(session):
    """[(process, state)] of all processes of a session."""
    out = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            out.append((int(path.parent.name), fields[0]))
    return out
