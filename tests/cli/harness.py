"""Runs clatune in a folder of its own, for the tests of the command line."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

try:
    import jsonschema
except ImportError:
    jsonschema = None

CLATUNE, DATA = os.environ["CLATUNE"], pathlib.Path(__file__).resolve().parent / "data"
BUILD = pathlib.Path(CLATUNE).parents[2]


ANSWERS = pathlib.Path(__file__).resolve().parent.parent.parent / "schema" / "answers"


def answer_schema(arguments):
    """The schema of the answer to a command; None: there is none."""
    words = arguments[:2] if arguments[0] == "family" else arguments[:1]
    name = "tune" if words == ("sample",) else "-".join(words)
    if "--dry-run" in arguments and name == "tune":
        name = "tune-dry-run"
    path = ANSWERS / f"{name}.json"
    return path if path.exists() else None


@functools.cache
def _validator(path, part):
    schema = json.loads(path.read_text())
    return jsonschema.Draft7Validator({"$ref": f"#/definitions/{part}"} if part else schema, resolver=jsonschema.RefResolver(path.as_uri(), schema))


def check_answer(path, answer, part=None):
    """part: a name among the schema's definitions. Without jsonschema nothing is checked."""
    if jsonschema is None:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of newer versions than Debian's
        _validator(path, part).validate(answer)


def convert_giles(path):
    """The problem file for a configuration file of Giles' tuner."""
    script = pathlib.Path(__file__).resolve().parents[2] / "python/clatune/compat/giles.py"
    return subprocess.run([sys.executable, script, path], text=True, capture_output=True, check=True).stdout


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="clatune-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for file in DATA.iterdir():
            shutil.copy(file, self.folder)
        (self.folder / ".run").mkdir()  # locks of devices: other tests' timings are not waited for
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.folder / "share"), "XDG_CACHE_HOME": str(self.folder / "cache"),
                            "XDG_RUNTIME_DIR": str(self.folder / ".run"), "TMPDIR": str(self.folder)}
        if os.access(BUILD, os.W_OK):  # almost all tests have the same modules
            self.environment["XDG_CACHE_HOME"] = str(BUILD / "tests/cache")
        self.environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # python3 is this one
        self.environment.pop("CLATUNE_DEVICE", None)

    def clatune(self, *arguments, expect=0, **more):
        """expect: the exit status; None: any."""
        # The only deadline is meson's, which can be multiplied on a busy machine.
        run = subprocess.run([CLATUNE, *arguments], cwd=self.folder, env={**self.environment, **more}, text=True, capture_output=True)
        if expect is not None:
            self.assertEqual(run.returncode, expect, f"{arguments}\n{run.stdout}\n{run.stderr}")
        return run

    def clatune_json(self, *arguments, expect=0, **more):
        answer = json.loads(self.clatune(*arguments, "--json", expect=expect, **more).stdout)
        schema = answer_schema(arguments)
        if schema:
            check_answer(schema, answer)
        return answer

    def edit(self, name, old, new):
        path = self.folder / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))


def until(condition, process=None, limit_s=300, every_s=0.01):
    """Waits for a condition, as long as the process runs. Whether it came true."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end or (process and process.poll() is not None):
            return bool(condition())
        time.sleep(every_s)
    return True


def has_program(name):
    """Whether the program of 'clatune NAME' is built."""
    return subprocess.run([CLATUNE, "help", name], capture_output=True).returncode == 0


def has_device(text):
    """If its driver is the only one, that is there if its library is, which takes PoCL long to load."""
    icd = pathlib.Path(os.environ.get("OCL_ICD_VENDORS", ""))
    if icd.stem == text and icd.is_file() and pathlib.Path(icd.read_text().strip()).is_file():
        return True
    run = subprocess.run([CLATUNE, "devices", "--json"], text=True, capture_output=True)
    return run.returncode == 0 and text.lower() in run.stdout.lower()


def main():
    program = unittest.main(exit=False, verbosity=1)
    raise SystemExit(0 if program.result.wasSuccessful() and program.result.testsRun else 1)
