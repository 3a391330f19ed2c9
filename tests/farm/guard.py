"""Sees to it that a private PostgreSQL ends. server.py runs this text as the server's user, in a session of its own. `kill` on stdin: every
process of the server is killed, as when the power fails. At the end of stdin, which is also that of who started it, however that came:
the server is stopped, its remaining processes are killed, and its folder removed."""
import ctypes
import os
import pathlib
import shutil
import signal
import sys
import time


def processes(folder):
    """Those that work in the folder: the children of a server that was killed have no other mark."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if pathlib.Path(os.readlink(process / "cwd")).is_relative_to(folder):
                found.append(int(process.name))
        except OSError:
            pass
    return found


def send(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def kill(folder):
    while left := processes(folder):
        for process in left:
            send(process, signal.SIGKILL)
        time.sleep(0.005)


def stop(folder):
    try:
        lines = (folder / "data" / "postmaster.pid").read_text().splitlines()
        server, shared = int(lines[0]), int(lines[6].split()[1])
    except (OSError, IndexError, ValueError):
        server = shared = None
    if server in processes(folder):
        send(server, signal.SIGQUIT)
    end = time.monotonic() + 10
    while server in processes(folder) and time.monotonic() < end:
        time.sleep(0.01)
    kill(folder)
    if shared is not None:  # a server that was killed has left it
        ctypes.CDLL(None).shmctl(shared, 0, None)  # IPC_RMID


def main(folder):
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    for line in sys.stdin:
        if line == "kill\n":
            kill(folder)
            print("killed", flush=True)
    stop(folder)
    shutil.rmtree(folder, ignore_errors=True)


main(pathlib.Path(sys.argv[1]).resolve())
