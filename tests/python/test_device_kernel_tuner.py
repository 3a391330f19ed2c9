"""Scripts that were written for Kernel Tuner run once their import is another one."""
import functools
import json
import os
import pathlib
import re
import shutil

import numpy
import pytest
from clatune.compat import kernel_tuner
from clatune.compat.kernel_tuner import run_kernel

tune_kernel = functools.partial(kernel_tuner.tune_kernel, parallel=1)  # a second worker has to load the compiler, too
EXAMPLES = pathlib.Path(__file__).parent / "kernel_tuner_examples"


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kernel_tuner, "tune_kernel", tune_kernel)


def with_another_import(script):
    text = re.sub(r"^import kernel_tuner$", "from clatune.compat import kernel_tuner", script.read_text(), flags=re.M)
    text = re.sub(r"^from kernel_tuner\b", "from clatune.compat.kernel_tuner", text, flags=re.M)
    assert text != script.read_text() and not re.search(r"^(import|from) kernel_tuner", text, re.M)
    return text


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example(name, capsys):
    for kernel in EXAMPLES.glob("*.cl"):
        shutil.copy(kernel, os.getcwd())
    variables = {}
    exec(compile(with_another_import(EXAMPLES / f"{name}.py"), f"{name}.py", "exec"), variables)
    results, env = variables["results"], variables["env"]
    assert len(results) == variables["EXPECTED"]
    for entry in results:
        assert entry["time"] > 0 and entry["time"] == pytest.approx(numpy.mean(entry["times"]))
        assert entry["compile_time"] >= 0 and entry["timestamp"]
    assert env["device_name"] and env["best_config"] in results
    json.dumps([results, env])
    left_behind = globals().get("left_behind_by_" + name)
    if left_behind:
        left_behind(variables)


def left_behind_by_saxpy(variables):
    found = json.loads(pathlib.Path("saxpy.json").read_text())
    assert found["schema_version"] == "1.0.0" and len(found["results"]) == variables["EXPECTED"]
    one = found["results"][0]
    assert one["invalidity"] == "correct" and len(one["times"]["runtimes"]) == 7 and one["objectives"] == ["time"]
    assert json.loads(pathlib.Path("saxpy-metadata.json").read_text())["metadata"]["hardware"]["hardware_description"]


def left_behind_by_remembered(variables):
    cache = json.loads(pathlib.Path("scale_cache.json").read_text())
    assert len(cache["cache"]) == variables["EXPECTED"] and cache["tune_params_keys"] == ["block_size_x", "per_item"]
    best = {name: variables["env"]["best_config"][name] for name in ("block_size_x", "per_item")}
    header = pathlib.Path("scale.h").read_text()
    assert f"#define block_size_x {best['block_size_x']}" in header and "#if defined(TARGET_" in header
    assert kernel_tuner.integration.TuneResults("scale_results.json").get_best_config() == best


# --- one kernel, many ways to call it ---

COPY = """
__kernel void copy(__global float *out, __global const float *in, int n) {
    int i = get_group_id(0) * block_size_x + get_local_id(0);
    if (i < n) out[i] = in[i] + WRONG;
}
"""
N = 1000
IN = numpy.arange(N, dtype=numpy.float32)
ARGUMENTS = [numpy.zeros(N, numpy.float32), IN, numpy.int32(N)]
PARAMETERS = {"block_size_x": [16, 32], "WRONG": [0]}


def tune(source=COPY, size=N, arguments=ARGUMENTS, parameters=PARAMETERS, **options):
    return tune_kernel("copy", source, size, arguments, parameters, quiet=True, **{"iterations": 2, **options})


def test_the_arrays_of_the_script_are_left_alone():
    before = [numpy.copy(one) for one in ARGUMENTS]
    assert numpy.array_equal(run_kernel("copy", COPY, N, ARGUMENTS, {"block_size_x": 16, "WRONG": 1})[0], IN + 1)
    assert all(numpy.array_equal(one, other) for one, other in zip(before, ARGUMENTS))


def test_what_is_wrong_or_cannot_be_built_is_no_result():
    with pytest.warns(UserWarning, match="2 of 4 configurations failed, for example block_size_x=16, WRONG=1 .wrong-output."):
        results, env = tune(parameters={"block_size_x": [16], "WRONG": ["1", "nothing", "0", "0.05f"]},
                            answer=[IN, None, None], atol=0.1)
    assert sorted(entry["WRONG"] for entry in results) == ["0", "0.05f"] and all(entry["time"] for entry in results)
    assert {entry["WRONG"]: (str(entry["__error__"]), entry["reason"]) for entry in env["failed"]} == {
        "1": ("RuntimeFailedConfig", "wrong-output"), "nothing": ("CompilationFailedConfig", "compile-error")}
    json.dumps([results, env])


def test_without_an_answer_nothing_is_compared():
    assert len(tune(parameters={"block_size_x": [16], "WRONG": [0, 1]})[0]) == 2


def test_verify_gets_what_kernel_tuner_gives():
    seen = []

    def verify(answer, results, atol):
        seen.append((answer, results, atol))
        return True

    tune(answer=["anything", None, None], verify=verify, atol=0.25)
    assert all(answer == ["anything", None, None] and atol == 0.25 for answer, _, atol in seen)
    assert all(numpy.array_equal(results[0], IN) and results[1:] == [None, None] for _, results, _ in seen)
    with pytest.raises(RuntimeError, match="verification failed for: block_size_x=16, WRONG=0"):
        tune(verify=lambda answer, results: answer is None and not numpy.array_equal(results[0], results[1]))


def test_arrays_in_fortrans_order_are_passed_as_they_lie_in_memory():
    rows = numpy.asfortranarray(numpy.arange(12, dtype=numpy.float32).reshape(3, 4))
    source = COPY.replace("in[i] + WRONG", "in[i] + i")
    right = rows + numpy.arange(12, dtype=numpy.float32).reshape((3, 4), order="F")
    call = dict(kernel_name="copy", kernel_source=source, problem_size=12, arguments=[numpy.zeros_like(rows), rows, numpy.int32(12)])
    seen = []
    same = lambda answer, results, atol: seen.append(results[0]) or numpy.array_equal(answer[0], results[0])  # noqa: E731
    for answer, verify in ((right, None), (right.ravel(), None), (right, same)):
        found, _ = tune_kernel(**call, tune_params={"block_size_x": [16], "WRONG": [0]}, answer=[answer, None, None], verify=verify, quiet=True)
        assert len(found) == 1
    out = run_kernel(**call, params={"block_size_x": 16, "WRONG": 0})[0]
    assert numpy.array_equal(out, right) and out.flags.f_contiguous and numpy.array_equal(seen[0], right)


def test_what_verify_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        tune(verify=lambda answer, results: 1 / 0)


def test_sources(tmp_path):
    (tmp_path / "copy.cl").write_text(COPY)
    (tmp_path / "other.h").write_text("#define OTHER 0\n")
    included = '#include "other.h"\n' + COPY.replace("WRONG", "OTHER")
    for source in (tmp_path / "copy.cl", [included, "other.h"]):
        assert numpy.array_equal(run_kernel("copy", source, N, ARGUMENTS, {"block_size_x": 16, "WRONG": 0})[0], IN)


def test_values_come_back_as_they_were_given():
    results, _ = tune(parameters={"block_size_x": [numpy.int64(16)], "WRONG": [0], "word": ["float", "double"], "real": [0.5], "flag": [True]})
    assert [(entry["word"], entry["real"], entry["flag"]) for entry in results] == [("float", 0.5, True), ("double", 0.5, True)]


def test_a_searcher_goes_by_the_objective():
    metrics = {"slow": lambda p: 2 * p["time"], "slower": "slow + block_size_x"}
    results, env = tune(metrics=metrics, objective="slower", objective_higher_is_better=True, strategy="mls", strategy_options={"max_fevals": 2, "x0": [32, 0]})
    assert results[0]["block_size_x"] == 32 and len(results) == 2
    assert all(entry["slower"] == pytest.approx(2 * entry["time"] + entry["block_size_x"]) for entry in results)
    assert env["best_config"]["slower"] == max(entry["slower"] for entry in results)


def test_a_configuration_has_one_time(capsys):
    results, _ = tune_kernel("copy", COPY, N, ARGUMENTS, PARAMETERS, iterations=7)
    lines = [line for line in capsys.readouterr().out.split("Best of")[0].splitlines() if "time=" in line]
    assert len(lines) == len(results)
    for entry in results:
        assert any(line.startswith(f"block_size_x={entry['block_size_x']}, ") and f"time={entry['time']:.3f}ms" in line for line in lines), (entry, lines)


def test_a_kernel_that_cannot_be_built(monkeypatch):
    for device in "", "pocl":
        monkeypatch.setenv("CLATUNE_DEVICE", device)
        with pytest.raises(RuntimeError, match="compile-error.*nothing"):
            tune(source=COPY.replace("+ WRONG", "+ nothing"))
    with pytest.raises(RuntimeError, match="nothing"):
        run_kernel("copy", COPY.replace("+ WRONG", "+ nothing"), N, ARGUMENTS, {"block_size_x": 16})


def test_a_cache_of_another_tuning_is_refused():
    tune(cache="kept")
    with pytest.raises(ValueError, match="another problem_size"):
        tune(size=N + 1, cache="kept")
    with pytest.raises(ValueError, match="another tunable parameters"):
        tune(parameters={"WRONG": [0], "block_size_x": [16]}, cache="kept.json")
    with open("kept.json") as file:
        text = file.read()
    with open("cut.json", "w") as file:
        file.write(text[:text.index('"32,0"')])  # as of a killed one
    results, _ = tune(cache="cut")
    assert len(results) == 2 and len(json.loads(pathlib.Path("cut.json").read_text())["cache"]) == 2
