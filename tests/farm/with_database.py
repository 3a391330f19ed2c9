"""with_database.py PROGRAM ARGUMENT...: runs a test program with CLATUNE_TEST_DATABASE, the URL of an empty database of its superuser in a
private PostgreSQL. Skipped if there is none."""
import os
import subprocess
import sys

from server import Server, need

need()
with Server() as server:
    done = subprocess.run(sys.argv[1:], env={**os.environ, "CLATUNE_TEST_DATABASE": server.local_url(server.database())})
raise SystemExit(done.returncode)
