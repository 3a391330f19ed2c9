"""A private PostgreSQL in a temporary folder, for tests: root's own is never touched. It listens on a socket in the folder, where the
superuser needs no password, and on 127.0.0.1, where all users do (SCRAM). Nothing of it is left, however the test ends."""
import contextlib
import csv
import io
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

SUPERUSER, PASSWORD = "postgres", "se cret%&/?"
GUARD = pathlib.Path(__file__).parent / "guard.py"
BUILD = pathlib.Path(os.environ.get("CLATUNE", "/none/src/cli/clatune")).parents[2]
PSQL = ("-X", "-w", "-q", "-t", "--csv", "-v", "ON_ERROR_STOP=1")
MOST_SESSIONS = 3
LOST = 2  # psql's exit code
# However a server ends, the files it has written stay. It waits for the disk only if a test times something.
SETTINGS = {"fsync": "on" if os.environ.get("CLATUNE_FIGURES") else "off", "max_connections": "300", "shared_buffers": "128MB",
            "dynamic_shared_memory_type": "mmap", "listen_addresses": "127.0.0.1",
            "timezone": "UTC", "log_line_prefix": "%m [%p] %u@%d "}
CA_SETTINGS = """[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
"""


def programs():
    """The folder of the newest server's programs, or None."""
    found = [path.parent for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: int(path.parent.name) if path.parent.name.isdigit() else 0, default=None)


def lacks():
    """What a private server lacks here, as a sentence, or None."""
    if programs() is None:
        return "there is no PostgreSQL server in /usr/lib/postgresql; install it (Debian: postgresql), or run scripts/install-packages --with-farm"
    return None if shutil.which("openssl") else "there is no program openssl; install it (Debian: openssl)"


def need():
    """Ends a test program as skipped, with the reason, if there is no PostgreSQL."""
    if lacks():
        print(f"skipped: {lacks()}", file=sys.stderr)
        raise SystemExit(77)


def clean_environment(**more):
    """Without the variables that libpq would read from the user's, and without Meson's for malloc."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith(("PG", "MALLOC_"))}, "LC_ALL": "C.UTF-8", **more}


def unused_port():
    """Below those that the system gives to outgoing connections: it stays ours while the server is down."""
    while True:
        port = random.randrange(10240, 32768)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


class Session:
    """psql that stays: tests ask a hundred times a second whether something has happened."""
    MARK = "-- that was all"

    def __init__(self, url, *options):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(programs() / "psql"), *PSQL, *options, "-d", url, "-f", "-"], cwd="/", env=clean_environment(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)

    def ask(self, sql):
        try:
            self.process.stdin.write(f"{sql}\n;\n\\echo '{self.MARK}'\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        lines = []
        for line in self.process.stdout:
            if line.rstrip("\n") == self.MARK:
                return "".join(lines)
            lines.append(line)
        raise RuntimeError(self.close())

    def close(self):
        """psql's error messages."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        self.process.wait(120)
        self.errors.seek(0)
        with self.errors:
            return "psql: " + self.errors.read()


class Server:
    """`with Server() as server: server.query(...)`. settings: of postgresql.conf."""

    def __init__(self, tls=False, **settings):
        self.tls, self.port, self.process, self.n_databases = tls, unused_port(), None, 0
        self.user, self.sessions = {}, {}  # sessions: of the superuser, by database
        if os.getuid() == 0:  # PostgreSQL refuses root
            name = next(name for name in ("postgres", "nobody") if any(user.pw_name == name for user in pwd.getpwall()))
            user = pwd.getpwnam(name)
            self.user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        # Short enough for the name of a socket, and open to that user.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-postgresql-", dir="/tmp"))
        self.data = self.folder / "data"
        self.own(self.folder)
        python = "/usr/bin/python3" if self.user and os.path.exists("/usr/bin/python3") else sys.executable
        self.guard = subprocess.Popen([python, "-I", "-c", GUARD.read_text(), str(self.folder)], cwd="/", stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
                                      **self.user)
        try:
            self.initialise(settings)
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def own(self, path):
        if self.user:
            os.chown(path, self.user["user"], self.user["group"])

    def run(self, *command, **more):
        done = subprocess.run(command, cwd=self.folder, env=clean_environment(), text=True, capture_output=True, **more)
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def make_data(self):
        """A copy of what initdb, which takes a second, has made for the first server of this build."""
        kept = BUILD / f"tests/farm/data-{programs().parent.name}-{self.user.get('user', os.getuid())}-{os.stat(__file__).st_mtime_ns}"
        if os.access(kept / "PG_VERSION", os.R_OK):
            self.run("cp", "-a", str(kept), str(self.data))
            return
        secret = self.folder / "password"
        secret.write_text(PASSWORD + "\n")
        self.own(secret)
        self.run(str(programs() / "initdb"), "--no-sync", "--no-instructions", "-D", str(self.data), "-U", SUPERUSER,
                 "--locale=C", "--encoding=UTF8", "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}", **self.user)
        secret.unlink()
        if os.access(kept.parent, os.W_OK):
            copy = f"{kept}.{os.getpid()}"
            self.run("cp", "-a", str(self.data), copy)
            with contextlib.suppress(OSError):  # another test was faster
                os.rename(copy, kept)
            shutil.rmtree(copy, ignore_errors=True)

    def initialise(self, settings):
        self.make_data()
        settings = {**SETTINGS, **settings, "port": str(self.port), "unix_socket_directories": str(self.folder)}
        if self.tls:
            self.make_certificates()
            settings |= {"ssl": "on", "ssl_cert_file": f"{self.folder}/used.crt", "ssl_key_file": f"{self.folder}/server.key"}
            (self.data / "pg_hba.conf").write_text("local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n")
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    # --- the process ---

    def start(self):
        """Returns once it takes connections."""
        log = open(self.folder / "log", "ab")
        self.own(self.folder / "log")
        with log:
            self.process = subprocess.Popen([str(programs() / "postgres"), "-D", str(self.data)], cwd=self.data, env=clean_environment(),
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **self.user)
        end = time.monotonic() + 120
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start: {self.log()[-2000:]}")
            time.sleep(0.01)

    def ready(self):
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            return int(lines[0]) == self.process.pid and lines[7].strip() == "ready"
        except (OSError, IndexError, ValueError):
            return False

    def stop(self, mode="fast"):
        """smart: waits for clients; fast: rolls back; immediate: as good as a crash, and recovers at the next start."""
        self.close_sessions(self.sessions)
        if self.process and self.process.poll() is None:
            self.process.send_signal({"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
            self.process.wait(120)

    def kill(self):
        """SIGKILL for every process of the server at once, as when the power fails."""
        self.close_sessions(self.sessions)
        self.guard.stdin.write("kill\n")
        self.guard.stdin.flush()
        if self.guard.stdout.readline() != "killed\n":
            raise RuntimeError("the guard of the server is gone")
        self.process.wait(120)

    def restart(self, mode="fast"):
        self.kill() if mode == "kill" else self.stop(mode)
        self.start()

    def close(self):
        if self.guard.stdin.closed:
            return
        self.close_sessions(self.sessions)
        self.guard.stdin.close()
        while self.guard.poll() is None:  # the server is this process's child, and ends for the guard once it is waited for
            if self.process:
                self.process.poll()
            time.sleep(0.005)
        self.guard.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        path = self.folder / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    # --- databases, logins and queries ---

    def query(self, sql, database="postgres", url=None):
        """The rows as lists of texts; as the superuser, by the socket, if no URL is given. NULL is the empty text."""
        return list(csv.reader(io.StringIO(self.psql(sql, url) if url else self.ask(sql, database))))

    def ask(self, sql, database):
        for _ in range(2):  # the first may be of a connection that was lost meanwhile
            session = self.sessions.pop(database, None) or Session(self.local_url(database))
            try:
                text = session.ask(sql)
            except RuntimeError as error:
                said = error
                if session.process.returncode != LOST:
                    break
                continue
            self.close_sessions(list(self.sessions)[:1 - MOST_SESSIONS])
            self.sessions[database] = session
            return text
        raise said

    def close_sessions(self, databases):
        for database in list(databases):
            if database in self.sessions:
                self.sessions.pop(database).close()

    def value(self, sql, database="postgres"):
        return self.query(sql, database)[0][0]

    def psql(self, sql, url, **more):
        return self.run(str(programs() / "psql"), *PSQL, "-d", url, "-f", "-", input=sql, **more)

    def database(self, template="template1"):
        """A new database's name. No client may be connected to the template."""
        self.n_databases += 1
        self.close_sessions([template])
        self.query(f'create database d{self.n_databases} template "{template}"')
        return f"d{self.n_databases}"

    def login(self, name, *roles, password=PASSWORD):
        quoted = password.replace("'", "''")
        self.query(f"create role {name} login password '{quoted}'" + (f" in role {', '.join(roles)}" if roles else ""))

    def local_url(self, database="postgres", user=SUPERUSER):
        return f"postgresql://{user}@/{database}?" + urllib.parse.urlencode({"host": str(self.folder), "port": self.port})

    def url(self, database="postgres", user=SUPERUSER, password=PASSWORD, port=None, **parameters):
        """By TCP, to the port of a proxy if one is given; without TLS, or with all that TLS can check."""
        parameters = {**({"sslmode": "verify-full", "sslrootcert": str(self.folder / "ca.crt")} if self.tls else {"sslmode": "disable"}),
                      **parameters}
        secret = ":" + urllib.parse.quote(password, safe="") if password is not None else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{port or self.port}/{database}?{urllib.parse.urlencode(parameters)}"

    # --- TLS ---

    def make_certificates(self):
        """ca.crt, which signs server.crt and expired.crt, all for 127.0.0.1; other.crt, another authority."""
        (self.folder / "ca.cnf").write_text(CA_SETTINGS)
        (self.folder / "index").touch()
        (self.folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:127.0.0.1\n")
        new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        for name in ("ca", "other"):
            self.run("openssl", "req", "-x509", *new_key, "-keyout", f"{name}.key", "-out", f"{name}.crt", "-days", "3650",
                     "-subj", f"/CN=clatune test {name}")
        self.run("openssl", "req", "-new", *new_key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=127.0.0.1")
        for name, first, last in (("server", "20200101000000Z", "20991231000000Z"), ("expired", "20200101000000Z", "20200201000000Z")):
            self.run("openssl", "ca", "-batch", "-notext", "-rand_serial", "-config", "ca.cnf", "-cert", "ca.crt", "-keyfile", "ca.key",
                     "-in", "server.csr", "-out", f"{name}.crt", "-extfile", "names", "-startdate", first, "-enddate", last)
        shutil.copy(self.folder / "server.crt", self.folder / "used.crt")
        os.chmod(self.folder / "server.key", 0o600)
        for path in self.folder.glob("*.*"):
            self.own(path)

    def use_certificate(self, name):
        """server or expired: restarts with it."""
        shutil.copyfile(self.folder / f"{name}.crt", self.folder / "used.crt")
        self.restart()
