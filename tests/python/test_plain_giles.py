"""Giles' configuration file as a problem file."""
import json
import pathlib
import subprocess
import sys

import clatune
import pytest
from clatune.compat import giles

# As the paper prints it, but for its slip.
RIGHT = """PARAMS = { blocks, threads, {atomics1, cache}, {unroll, {order}} }

blocks = {16, 32}
threads = {64, 128, 256} # as many as fit
atomics1 = {0, 1}
cache = {shared, texture}
unroll = {
  1,
  2
}
order = {0.5, 1.5}
PARAMETERS_FILE = params.h
FIGURE_OF_MERIT_FILE = fom.txt
EVALUATION = { make; ./executable }
STRATEGY = { brute_force parallel:4 }
"""


def test_the_file_of_the_paper():
    problem = giles.convert(RIGHT, "tune")
    assert problem["General"] == {"BenchmarkName": "tune"}
    space = problem["ConfigurationSpace"]
    assert [p["Name"] for p in space["TuningParameters"]] == ["blocks", "threads", "atomics1", "cache", "unroll", "order"]
    assert [p["Values"] for p in space["TuningParameters"]][1::2] == [[64, 128, 256], ["shared", "texture"], [0.5, 1.5]]
    assert space["Groups"] == ["blocks", "threads", ["atomics1", "cache"], ["unroll", ["order"]]]
    assert problem["Command"] == {"Files": "*", "Build": [["make"]], "Run": ["./executable"], "ParametersFile": "params.h",
                                  "Figure": {"From": "file", "File": "fom.txt"}}
    assert problem["Strategy"] == {"Searcher": "exhaustive", "Options": {"parallel": "4"}}
    pathlib.Path("tune.json").write_text(json.dumps(problem))
    assert clatune.run("space", "tune.json")["valid"] == 2 * 3 * 2 * 2 * 2 * 2


@pytest.mark.parametrize("old, new, line, message", [
    ("\natomics1 = {0, 1}", "\natomic1 = {0, 1}", 5, 'neither a key nor a parameter of PARAMS; did you mean "atomics1"?'),  # its slip
    ("PARAMS = {", "PARAM = {", 1, "needs PARAMS"),
    ("threads, {", "thread-s, {", 1, "not a valid name"),
    ("threads, {", "threads, BUDGET, {", 1, "is a key"),
    ("EVALUATION", "EVALUTION", 14, 'did you mean "EVALUATION"'),
    ("STRATEGY", "STRATGEY", 15, 'did you mean "STRATEGY"'),
    ("blocks = {16, 32}\n", "", 1, '"blocks" has no values'),
    ("{16, 32}", "{16,, 32}", 3, "between two commas"),
    ("{16, 32}", "{16, 32", 3, "never closed"),
    ("blocks = {16, 32}", "blocks {16, 32}", 3, "needs '='"),
    ("cache = {shared", "blocks = {shared", 6, "is already set on line 3"),
    ("./executable", "./executable | tee log", 14, "put them into a script"),
    ("./executable", "'./executable", 14, "never closed"),
    ("parallel:4", "parallel", 15, "needs name:value"),
    ("brute_force ", "", 15, "must begin with the name of a strategy")])
def test_mistakes_have_their_line(old, new, line, message):
    assert old in RIGHT
    with pytest.raises(giles.Mistake) as caught:
        giles.convert(RIGHT.replace(old, new, 1), "tune")
    assert caught.value.line == line and message in str(caught.value)


def test_any_text_is_read_or_refused():
    for text in ("A", "A=", "A={", "PARAMS={}", "PARAMS={a}\na={", "_ = }", "PARAMS=a", "PARAMS={a}", "# nothing\n\n#more", "PARAMS = a }",
                 "PARAMS = {{{{{{{{{{{{{{{{{{a"):
        with pytest.raises(giles.Mistake):
            giles.convert(text, "tune")
    for n in range(len(RIGHT)):
        try:
            giles.convert(RIGHT[:n], "tune")
        except giles.Mistake:
            pass


def test_what_we_add_to_it():
    problem = giles.convert("PARAMS = {a, b}\na = [2**i for i in range(4)]\nb = {1 2 3}\n"
                            "EVALUATION = { cc -o 'a b' a.c ; ; \"./a b\" {a} x#y }\nCHECK = {cmp x y}\nFILES = {a.c}\n"
                            "LINKS = {big.dat}\nCONDITIONS = { a > b; a + b < 9 }\nBUDGET = 12\n", "tune")
    assert problem["Command"] == {"Files": ["a.c"], "Links": ["big.dat"], "Build": [["cc", "-o", "a b", "a.c"]],
                                  "Run": ["./a b", "{a}", "x#y"], "Check": ["cmp", "x", "y"]}
    assert problem["Budget"] == [{"Type": "ConfigurationCount", "BudgetValue": 12}]
    for name in ("a.c", "big.dat"):
        pathlib.Path(name).touch()
    pathlib.Path("tune.json").write_text(json.dumps(problem))
    counts = clatune.run("space", "tune.json")
    assert (counts["cartesian"], counts["valid"]) == (12, 4)


def test_the_command_line():
    def run(*words):
        return subprocess.run([sys.executable, "-m", "clatune.compat.giles", *words], text=True, capture_output=True)

    pathlib.Path("tune.conf").write_text(RIGHT)
    assert json.loads(run("tune.conf").stdout) == giles.convert(RIGHT, "tune")
    pathlib.Path("tune.conf").write_text(RIGHT.replace("blocks = {16, 32}", "blocks = {16,}"))
    wrong = run("tune.conf")
    assert wrong.returncode == 1
    assert wrong.stderr == "tune.conf:3: blocks: an item is missing between two commas or at the end\n"
    pathlib.Path("tune.conf").write_bytes(b"PARAMS = {a}\na = {caf\xe9}\nEVALUATION = x\n")
    assert run("tune.conf").stderr == "tune.conf: is not UTF-8 text\n"
    assert "none.conf: No such file" in run("none.conf").stderr
    assert run().returncode == 2 and "tune.conf > tune.json" in run("--help").stdout
