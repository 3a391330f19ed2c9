"""Tuning, its result, its progress and its interruption; nothing is run on a device."""
import json
import os
import pathlib
import signal
import socket
import sys
import threading
import types

import clatune
import numpy as np
import pytest
from clatune import command, generator, judge, progress


def test_result(scale, synthetic):
    result = clatune.tune(scale(), budget=10, no_store=True, **synthetic)
    best = result.best
    assert result.found and set(best) == {"wg", "ppt"} and best["wg"] in (16, 32, 64, 128)
    assert dict(best) == {name: best[name] for name in best} and f"-Dwg={best['wg']}" in best.options
    assert best.local_size == (best["wg"],) and best.global_size[0] % best["wg"] == 0 and best.launches[0].kernel == "scale"
    assert len(result.evaluations) == result.json["evaluations"]["total"] == 10
    times = [one["time_s"] for one in result.evaluations]
    assert best.time_s == min(times) and result.default["wg"] == 32 and result.speedup == pytest.approx(times[0] / min(times))
    assert best.text in str(result) and best.text in repr(result) and result.device == "Simulated"
    assert best.text in repr(best) and repr(best).endswith("s>")


def test_frame(scale, synthetic):
    result = clatune.tune(scale(), budget=5, no_store=True, **synthetic)
    table = result.to_frame()
    assert list(table.columns) == ["wg", "ppt", "time_s", "reason", "value", "known"] and len(table) == 5
    assert table.loc[table.time_s.idxmin(), "wg"] == result.best["wg"]


def test_without_pandas(scale, synthetic, monkeypatch):
    result = clatune.tune(scale(), budget=2, no_store=True, **synthetic)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        result.to_frame()


def test_html_without_a_store_is_a_table(scale, synthetic):
    result = clatune.tune(scale(name="<b>scale"), budget=3, no_store=True, **synthetic)
    text = result._repr_html_()
    assert text.startswith("<table>") and "&lt;b&gt;scale" in text and "<b>" not in text
    with pytest.raises(clatune.Error, match="without no_store"):
        result.report()


def test_the_same_seed_gives_the_same(scale, synthetic):
    first, second, other = (clatune.tune(scale(), budget=8, seed=seed, searcher="random", no_store=True, **synthetic).evaluations for seed in (5, 5, 6))
    assert [one["configuration"] for one in first] == [one["configuration"] for one in second] != [one["configuration"] for one in other]


def test_source_in_place_of_a_problem(synthetic):
    data = np.ones(64, np.float32)
    result = clatune.tune("kernel void twice(global float *a) { a[get_global_id(0)] *= wg; }", "twice", space={"wg": [1, 2, 4]}, arguments=[data],
                          global_size=64, local_size="wg", budget=3, no_store=True, **synthetic)
    assert result.problem.name == "twice" and result.json["evaluations"]["total"] == 3
    with pytest.raises(TypeError, match="needs space and arguments"):
        clatune.tune("kernel void twice() {}", "twice")
    with pytest.raises(TypeError, match="space needs the kernel's name"):
        clatune.tune(result.problem, space={"wg": [1]})
    with pytest.raises(TypeError, match="takes the place of a problem"):
        clatune.tune(result.problem, kernel=lambda configuration: None)
    with pytest.raises(TypeError, match=r"nothing to tune; give .* tune\(source, name"):
        clatune.tune(kernel="kernel void twice() {}")
    with pytest.raises(TypeError, match="is a dict of values by parameter, not 'wg=1'"):
        clatune.measure(result.problem, ["wg=1"])
    result.json["best"]["interval"] = 2.9
    assert "+- 290 %" in str(result)


def answer_of(function):
    return json.loads(generator.answer(function, '{"configuration": {"per": 2}, "sizes": {}}'))


def test_answers_of_functions():
    source = "__kernel void __attribute__((reqd_work_group_size(8, 1, 1))) scale() {}"
    assert answer_of(generator.naming(lambda configuration: source)) == {"source": source, "kernel": "scale"}
    assert answer_of(generator.naming(lambda configuration: {"source": source, "kernel": "other"}))["kernel"] == "other"
    assert "has 2 kernels" in answer_of(generator.naming(lambda configuration: source + "kernel void second() {}"))["error"]
    assert answer_of(generator.naming(lambda configuration: None)) == {"invalid": "the function returned None"}
    assert "SystemExit: 3" in answer_of(lambda configuration: sys.exit(3))["error"]
    assert "more than 16 MiB" in answer_of(lambda configuration: " " * (17 << 20))["error"]
    assert "returned a 'int'" in answer_of(generator.naming(lambda configuration: 5))["error"]


def test_a_function_that_hangs_keeps_others_waiting_only(monkeypatch, tmp_path):
    """Those that wait get empty lines, and their answer once the worker of the one that hangs has gone."""
    monkeypatch.setattr(judge, "WAITING_S", 0.01)
    is_called, goes_on = threading.Event(), threading.Event()

    def write(configuration):
        if configuration["hangs"]:
            is_called.set()
            goes_on.wait()
        return "kernel"

    def ask(hangs):
        asker = socket.socket(socket.AF_UNIX)
        asker.connect(os.environ["CLATUNE_JUDGE"])
        asker.sendall(json.dumps({"configuration": {"hangs": hangs}, "sizes": {}}).encode() + b"\n")
        return asker, asker.makefile("rb")
    with judge.Judge(tmp_path, {}, None, write):
        hanging, its_reply = ask(True)
        is_called.wait()
        waiting, reply = ask(False)
        assert [reply.readline() for _ in range(3)] == 3 * [b"\n"]
        its_reply.close()
        hanging.close()
        answer = next(line for line in reply if line != b"\n")
        assert json.loads(answer) == {"source": "kernel"}
        reply.close()
        waiting.close()
    goes_on.set()


@pytest.mark.filterwarnings("ignore::clatune.ClatuneWarning")
def test_no_right_configuration(scale, synthetic):
    with pytest.raises(clatune.NoValidConfiguration) as caught:
        clatune.tune(scale(), budget=4, no_store=True, searcher="exhaustive", **{**synthetic, "invalid": 0.95})
    result = caught.value.result
    assert caught.value.exit_code == 4 and not result.found and result.speedup is None
    assert sum(result.json["reasons"].values()) == 4 and {one["reason"] for one in result.evaluations} == set(result.json["reasons"])
    assert "no configuration" in repr(result) and "none" in str(result) and "none" in result._repr_html_()
    with pytest.raises(clatune.NoValidConfiguration):
        result.best


def test_no_valid_configuration(scale):
    with pytest.raises(clatune.NoValidConfiguration, match="wg > 1000"):
        clatune.tune(scale(space=clatune.Space({"wg": [16], "ppt": [1]}, constraints=["wg > 1000"])), no_store=True)


def test_mistakes_have_the_commands_words(scale, tmp_path):
    problem = scale()
    with pytest.raises(clatune.UsageError, match="did you mean '--budget'") as caught:
        clatune.tune(problem, bugdet=3)
    assert caught.value.exit_code == 2 and not str(caught.value).startswith("clatune:")
    with pytest.raises(clatune.DeviceError, match="'zzz'"):
        clatune.tune(problem, device="zzz")
    with pytest.raises(clatune.UsageError, match="there is no searcher 'best'"):
        clatune.tune(problem, searcher="best")
    (tmp_path / "notes.txt").write_text("not a store\n" * 100)
    with pytest.raises(clatune.StoreError, match="notes.txt"):
        clatune.tune(problem, store="notes.txt")
    with pytest.raises(clatune.Error, match="missing.json"):
        clatune.run("space", "missing.json")


def test_warnings_are_pythons_and_name_the_callers_line(scale, synthetic):
    with pytest.warns(clatune.ClatuneWarning, match="the default configuration fails") as caught:
        clatune.tune(scale(), budget=16, no_store=True, searcher="exhaustive", **{**synthetic, "invalid": 0.95})
    assert {warning.filename for warning in caught} == {__file__}


def test_a_warning_has_all_its_lines(monkeypatch, tmp_path):
    (tmp_path / "clatune").write_text("#!/bin/sh\nprintf 'clatune: warning: it fails:\\n  because\\nclatune: no device\\n' >&2\nexit 3\n")
    (tmp_path / "clatune").chmod(0o755)
    monkeypatch.setenv("CLATUNE", str(tmp_path / "clatune"))
    with pytest.warns(clatune.ClatuneWarning) as caught, pytest.raises(clatune.DeviceError, match="^because\nno device$"):
        clatune.devices()
    assert [str(one.message) for one in caught] == ["it fails:\n  because"]


@pytest.mark.parametrize("by_signal", [True, False])
def test_interruption(scale, by_signal):
    problem, options = scale(), {"evaluator": "synthetic", "invalid": 0, "searcher": "exhaustive", "budget": 16, "oclgrind": "no"}
    seen = []

    def stop(event):
        seen.append(event["event"])
        if seen.count("evaluation") == 1 and event["event"] == "evaluation":
            if by_signal:
                os.kill(os.getpid(), signal.SIGINT)
            else:
                raise KeyboardInterrupt

    with pytest.raises(clatune.Interrupted) as caught:
        clatune.tune(problem, progress=stop, no_store=True, **options)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.result.found and 1 <= caught.value.result.json["evaluations"]["total"] <= 16
    assert "finished" not in seen


def test_an_interrupted_run_puts_its_work_away(monkeypatch, tmp_path):
    (tmp_path / "clatune").write_text(f"""#!{sys.executable}
import pathlib, signal
def put_away(*_):
    pathlib.Path("{tmp_path}/away").write_text("done")
    raise SystemExit(130)
signal.signal(signal.SIGINT, put_away)
print("ready", flush=True)
while True:
    signal.pause()
""")
    (tmp_path / "clatune").chmod(0o755)
    monkeypatch.setenv("CLATUNE", str(tmp_path / "clatune"))
    real = command.Process.stdout.fget

    def read(process):
        assert real(process).readline() == "ready\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(command.Process, "stdout", property(lambda process: types.SimpleNamespace(read=lambda: read(process))))
    with pytest.raises(KeyboardInterrupt):
        clatune.run("sample", "my.json")
    assert (tmp_path / "away").read_text() == "done"


def test_another_objective(scale, synthetic):
    metric = {"Metrics": [{"Name": "rate", "Expression": "n / time_s", "Unit": "1/s", "Goal": "Maximise"}]}
    result = clatune.tune(scale(more=metric), budget=4, no_store=True, objective="rate", **synthetic)
    assert result.to_frame().rate.max() == pytest.approx(result.json["objective"]["value"]) and "objective    maximise rate: " in str(result)
    assert f": rate: {result.json['objective']['value']:.5g} 1/s>" in repr(result.best)
    front = clatune.tune(scale(more=metric), budget=4, no_store=True, objective=("time", "maximise rate * wg"), **synthetic).front
    assert all(one.json["summary"] in repr(one) for one in front)


def test_what_a_listener_raises_ends_the_tuning(scale, synthetic):
    def fail(event):
        raise RuntimeError("mine")
    with pytest.raises(RuntimeError, match="mine"):
        clatune.tune(scale(), no_store=True, progress=fail, **synthetic)


def events():
    yield {"event": "started", "problem": "p<q", "objective": {"unit": "s"}}
    yield {"event": "phase", "phase": "spreading", "evaluations": 0, "total": 4, "elapsed_s": 0.5}
    yield {"event": "evaluation", "evaluations": 1, "elapsed_s": 1.0, "reason": "compile-error"}
    yield {"event": "evaluation", "evaluations": 2, "elapsed_s": 2.0, "reason": "none"}
    yield {"event": "incumbent", "evaluations": 2, "elapsed_s": 2.0, "value": 0.00125}
    yield {"event": "phase", "phase": "finalists", "evaluations": 2, "total": 4, "elapsed_s": 2.25, "waits": "compiling a configuration for 3 s"}
    yield {"event": "finished"}


def test_progress_in_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "70")
    bar = progress.listener(None)
    for event in events():
        bar(event)
    shown = capsys.readouterr().err.split("\r")
    assert any(line.startswith("p<q  finalists  2/4  best 1.25 ms  2 s  failed 1: compiling") for line in shown)
    assert shown[-2].strip() == "" and max(map(len, shown)) < 70


def test_progress_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, what):
            shown.append(what._repr_html_())

    def display(what, display_id):
        shown.append(what._repr_html_())
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    bar = progress.listener(None)
    for event in events():
        bar(event)
    assert '<progress value="0.500"' in shown[-1] and "p&lt;q  done  2/4  best 1.25 ms" in shown[-1]
    assert not isinstance(progress.listener(False), progress.Bar)


def test_progress_in_a_log(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert not isinstance(progress.listener(None), progress.Bar)
    bar = progress.listener(True)
    for event in events():
        bar(event)
    assert [line.split("  ")[1] for line in capsys.readouterr().err.splitlines()] == ["spreading", "finalists"]


def test_run_asks_the_command_for_json_and_not_the_program_behind(monkeypatch, tmp_path):
    (tmp_path / "clatune").write_text("#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n")
    (tmp_path / "clatune").chmod(0o755)
    monkeypatch.setenv("CLATUNE", str(tmp_path / "clatune"))
    assert clatune.run("apply", "folder", "--", "program", "-x") == ["apply", "--json", "--quiet", "folder", "--", "program", "-x"]


def test_flags():
    assert command.flags({"time": "5m", "no_store": True, "fresh": False, "seed": None, "learn_from": ["a", "b"], "tolerance": 0.1}) == [
        "--time=5m", "--no-store", "--learn-from=a", "--learn-from=b", "--tolerance=0.1"]


def test_finding_the_command(monkeypatch, tmp_path):
    package = pathlib.Path(clatune.__file__).parent
    assert pathlib.Path(clatune.find_command()) == package / "native/bin/clatune"
    monkeypatch.setenv("CLATUNE", "/nowhere/clatune")
    with pytest.raises(clatune.CommandNotFound, match="/nowhere/clatune"):
        clatune.devices()
    monkeypatch.delenv("CLATUNE")
    monkeypatch.setattr(command, "_OWN", tmp_path / "none")
    (tmp_path / "clatune").write_text("#!/bin/sh\n# clatune.command\n")  # as pip writes an entry point
    (tmp_path / "clatune").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(clatune.CommandNotFound, match="pip install"):
        clatune.find_command()
    (tmp_path / "real").mkdir()
    os.symlink(package / "native/bin/clatune", tmp_path / "real/clatune")
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path / 'real'}")
    assert clatune.find_command() == str(tmp_path / "real/clatune")


def test_a_command_that_is_killed(monkeypatch, tmp_path):
    (tmp_path / "clatune").write_text("#!/bin/sh\nkill -SEGV $$\n")
    (tmp_path / "clatune").chmod(0o755)
    monkeypatch.setenv("CLATUNE", str(tmp_path / "clatune"))
    with pytest.raises(clatune.Error, match="SIGSEGV"):
        clatune.devices()
