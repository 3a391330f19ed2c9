"""A private Slurm of one node in a temporary folder, for tests: no service of the machine is touched. Nothing of it is left, however the
test ends."""
import ctypes
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
PR_SET_PDEATHSIG = 1
SETTINGS = {
    "ClusterName": "clatune", "AuthType": "auth/none", "CredType": "cred/none", "SwitchType": "switch/none", "MpiDefault": "none",
    "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "JobAcctGatherType": "jobacct_gather/none",
    "AccountingStorageType": "accounting_storage/none", "SlurmdParameters": "config_overrides", "ReturnToService": "2",
    "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_CPU", "SchedulerType": "sched/builtin",
    # A job that is requeued waits for as long as credentials last.
    "AuthInfo": "cred_expire=5", "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,sched_min_interval=0",
    "PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE", "JobRequeue": "1", "KillWait": "20", "MinJobAge": "3600",
    "InactiveLimit": "0", "MessageTimeout": "60", "SlurmdTimeout": "600", "SlurmctldDebug": "verbose", "SlurmdDebug": "verbose"}


def lacks():
    """What a private Slurm lacks here, as a sentence, or None."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    return f"there is no {', '.join(missing)} (scripts/install-packages --with-farm)" if missing else None


def need():
    """Ends a test program as skipped, with the reason, if there is no Slurm."""
    if lacks():
        print(f"skipped: {lacks()}", file=sys.stderr)
        raise SystemExit(77)


def unused_ports(n):
    """Below those that the system gives to outgoing connections."""
    found = []
    while len(found) < n:
        port = random.randrange(10240, 32768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                found.append(port)
            except OSError:
                pass
    return found


def with_parent():
    """The daemons end with the test, however it ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Slurm:
    """`with Slurm() as slurm: job = slurm.sbatch("--wrap=true")`. A node with so many CPUs, and the partitions `usual` and, before whose
    jobs those of the other are requeued, `urgent`."""

    def __init__(self, cpus=4, **settings):
        # Slurm takes the host's name short, and finds it in its own file.
        self.folder, self.daemons = pathlib.Path(tempfile.mkdtemp(prefix="clatune-slurm-", dir="/tmp")), []
        self.environment = {**{name: value for name, value in os.environ.items() if not re.match("SLURM|SBATCH|SQUEUE|SCANCEL|SCONTROL", name)},
                            "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PATH}
        self.host, user = socket.gethostname().split(".")[0], pwd.getpwuid(os.getuid()).pw_name
        ports = unused_ports(2)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        settings = {**SETTINGS, "SlurmctldHost": f"{self.host}(127.0.0.1)", "SlurmUser": user, "SlurmdUser": user,
                    "SlurmctldPort": ports[0], "SlurmdPort": ports[1], "StateSaveLocation": self.folder / "state",
                    "SlurmdSpoolDir": self.folder / "spool", "SlurmctldPidFile": self.folder / "slurmctld.pid",
                    "SlurmdPidFile": self.folder / "slurmd.pid", **settings}
        (self.folder / "slurm.conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()) + f"""
NodeName={self.host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=usual Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2 PreemptMode=off
""")
        try:
            self.start("slurmctld", "-D")
            self.start("slurmd", "-D", "-N", self.host)
            self.until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%t", check=False), "its node is not idle")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self, name, *options):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.daemons.append(subprocess.Popen([shutil.which(name, path=PATH), *options], cwd=self.folder, env=self.environment,
                                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                                 preexec_fn=with_parent))

    def log(self):
        return "".join(f"--- {name}:\n{(self.folder / name).read_text(errors='replace')[-3000:]}" for name in ("slurmctld.log", "slurmd.log")
                       if (self.folder / name).exists())

    def until(self, condition, why):
        """Waits for a condition, as long as the daemons run."""
        end = time.monotonic() + 300
        while not condition():
            if time.monotonic() > end or any(daemon.poll() is not None for daemon in self.daemons):
                raise RuntimeError(f"Slurm: {why}\n{self.log()}")
            time.sleep(0.1)

    def run(self, *command, check=True, **more):
        done = subprocess.run(command, env=self.environment, text=True, capture_output=True, **more)
        if check and done.returncode:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}\n{self.log()}")
        return done.stdout

    # --- jobs ---

    def job(self, job):
        """[{key: text}] of `scontrol show job`: one for each task of an array that has begun, also of jobs that are over."""
        return [dict(field.split("=", 1) for field in re.findall(r"\S+=\S*", line))
                for line in self.run("scontrol", "-o", "show", "job", str(job)).splitlines()]

    def states(self, job):
        return [task["JobState"] for task in self.job(job)]

    def wait(self, job, *states, restarts=0):
        """Until all its tasks are in one of the states, and were started again so many times."""
        try:
            self.until(lambda: all(task["JobState"] in states and int(task["Restarts"]) >= restarts for task in self.job(job)), "")
        except RuntimeError as error:
            raise RuntimeError(f"job {job} is not {' or '.join(states)} but {self.job(job)}") from error

    # --- its end ---

    def processes(self):
        """Those that were started by it: the children of a daemon that was killed have no other mark."""
        mark, found = f"SLURM_CONF={self.folder}/".encode(), []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes() and int(process.name) != os.getpid():
                    found.append(int(process.name))
            except OSError:
                pass
        return found

    def close(self):
        while left := self.processes():
            for process in left:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for daemon in self.daemons:
                daemon.poll()
            time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)


class Jobs:
    """The additions to a test of clatune (harness.CliTest) that runs it on self.slurm, which all tests of a program share."""
    slurm = None

    def use_slurm(self):
        if Jobs.slurm is None:
            Jobs.slurm = Slurm()
            unittest.addModuleCleanup(self.slurm.close)
        self.environment |= {name: self.slurm.environment[name] for name in ("SLURM_CONF", "PATH")}

    def submit_job(self, *options):
        """clatune sweep --slurm; the number of its job."""
        job = json.loads(self.clatune("sweep", "--json", "--slurm", *options).stdout)["job"]
        self.addCleanup(self.slurm.run, "scancel", "--quiet", str(job), check=False)
        return job

    def output(self):
        return "".join(path.read_text() for path in sorted(self.folder.glob("slurm-*.out")))

    def wait_for_job(self, job, *states, **more):
        try:
            self.slurm.wait(job, *states, **more)
        except RuntimeError as error:
            self.fail(f"{error}\n{self.output()}")

    def preempt(self, job):
        """A job that needs the whole node comes before it; afterwards it is begun again."""
        urgent = re.search(r"\d+", self.slurm.run("sbatch", "--partition=urgent", "--exclusive", "--output=/dev/null", "--wrap=true"))[0]
        self.wait_for_job(job, "RUNNING", "COMPLETED", restarts=1)
        self.assertEqual(self.slurm.states(urgent), ["COMPLETED"])
