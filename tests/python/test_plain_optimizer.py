"""clatune.Optimizer: ask and tell over `clatune serve --stdio`."""
import json
import math
import os
import pathlib
import random
import re
import runpy
import signal
import subprocess
import sys
import threading
import types

import clatune
import numpy
import pytest
from conftest import ROOT

BLOCKS, TILES = [16, 32, 48, 64, 96, 128, 192, 256], [1, 2, 3, 4, 5, 6, 8, 10]
SPACE = clatune.Space({"block": BLOCKS, "tile": TILES})
SCALE = pathlib.Path(__file__).parents[1] / "cli" / "data" / "scale.json"


def time_s(block, tile):
    """A smooth bowl; large products fail."""
    if block * tile > 1200:
        raise clatune.Failed("run-error", "too large")
    return (1 + 0.3 * (math.log2(block) - 6) ** 2 + 0.2 * (math.log2(tile) - 1.5) ** 2) / 1e3


def tell(optimizer, configuration):
    try:
        return optimizer.tell(configuration, time_s(**configuration))
    except clatune.Failed as failed:
        return optimizer.tell(configuration, reason=failed.reason)


def search(optimizer):
    """Its configurations, one after the other."""
    asked = []
    while (configuration := optimizer.ask()) is not None:
        asked.append(dict(configuration))
        tell(optimizer, configuration)
    return asked


def test_asks_and_tells_as_replay_does(tmp_path):
    def entry(block, tile):
        try:
            return {"block": block, "tile": tile, "time": time_s(block, tile) * 1e3}
        except clatune.Failed:
            return {"block": block, "tile": tile, "time": "RuntimeFailedConfig"}

    (tmp_path / "bowl.json").write_text(json.dumps(
        {"device_name": "a GPU", "kernel_name": "bowl", "tune_params_keys": ["block", "tile"], "tune_params": {"block": BLOCKS, "tile": TILES},
         "cache": {f"{b},{t}": entry(b, t) for b in BLOCKS for t in TILES}}))
    for searcher in ("surrogate", "genetic"):
        clatune.replay(tmp_path / "bowl.json", searcher=searcher, budget=30, repeat=1, seed=4, events=tmp_path / "events")
        replayed = [json.loads(line)["configuration"] for line in (tmp_path / "events").read_text().splitlines()]
        with clatune.Optimizer(SPACE, searcher=searcher, budget=30, seed=4) as optimizer:
            assert search(optimizer) == replayed
            assert optimizer.over
            best = min((c for c in replayed if c["block"] * c["tile"] <= 1200), key=lambda c: time_s(**c))
            assert optimizer.best == best and optimizer.best.time_s == time_s(**best)
            assert optimizer.counts()["evaluations"] == 30


@pytest.mark.parametrize("workers", [1, 4])
def test_run(workers):
    with clatune.Optimizer({"block": BLOCKS, "tile": TILES}, budget=40) as optimizer:
        best = optimizer.run(time_s, workers=workers)
        assert best.time_s < 1.05 * min(time_s(b, t) for b in BLOCKS for t in TILES if b * t <= 1200)
        assert optimizer.counts() == {"evaluations": 40, "pending": 0, "failed": optimizer.counts()["failed"]}


def test_what_measuring_raises_comes_out():
    with clatune.Optimizer(SPACE) as optimizer:
        with pytest.raises(ZeroDivisionError) as caught:
            optimizer.run(lambda block, tile: 1 / 0, workers=3)
        assert caught.value.__notes__[0].startswith("while measuring block=")
        for outcome, text in ((None, "the function returned None; return the outcome, or raise clatune.Failed"), (b"x", "a number or several, not b'x'"),
                              (math.nan, "in run: raise clatune.Failed")):
            with pytest.raises((TypeError, ValueError), match=text):
                optimizer.run(lambda block, tile: outcome)


def test_run_goes_on_after_an_interruption():
    left = [3]

    def measure(block, tile):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return time_s(block, tile)

    with clatune.Optimizer(SPACE, budget=20) as optimizer:
        with pytest.raises(KeyboardInterrupt):
            optimizer.run(measure)
        assert len(optimizer.pending()) == 1
        optimizer.run(measure)
        assert optimizer.counts()["evaluations"] == 20
    with clatune.Optimizer(SPACE, searcher="two-stage", budget=20, samples=10) as optimizer:
        assert len(search(optimizer)) == 20


def test_threads_share_a_search():
    asked, lock = [], threading.Lock()
    with clatune.Optimizer(SPACE, budget=40, searcher="random") as optimizer:
        def loop():
            for configuration in iter(optimizer.ask, None):
                with lock:
                    asked.append(configuration.text)
                tell(optimizer, configuration)
        threads = [threading.Thread(target=loop) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(asked) == len(set(asked)) == 40


def test_several_at_once_and_in_any_order():
    with clatune.Optimizer(SPACE, budget=20) as optimizer:
        while configurations := optimizer.ask_many(6):
            random.Random(1).shuffle(configurations)
            for configuration in configurations:
                tell(optimizer, configuration)
        assert optimizer.counts()["evaluations"] == 20


def test_a_figure():
    with clatune.Optimizer(SPACE, budget=64, searcher="exhaustive",
                           objective={"name": "throughput", "unit": "images/s", "goal": "maximise"}) as optimizer:
        best = optimizer.run(lambda block, tile: numpy.float64(block * tile))
        assert (best["block"] * best["tile"], best.json["value"]) == (2560, 2560)


def test_runs_of_numpy_and_their_least():
    with clatune.Optimizer(SPACE) as optimizer:
        assert optimizer.tell({"block": numpy.int64(16), "tile": 1}, numpy.array([0.3, 0.1, 0.2]))
        assert optimizer.best.time_s == 0.1


def test_mistakes():
    with clatune.Optimizer(SPACE) as optimizer:
        configuration = optimizer.ask()
        for outcome in (float("nan"), float("inf")):
            with pytest.raises(ValueError):
                optimizer.tell(configuration, outcome)
        for outcome in (0, -1, "fast", []):
            with pytest.raises((TypeError, ValueError), match="the outcome"):
                optimizer.tell(configuration, outcome)
        with pytest.raises(TypeError):
            optimizer.tell(configuration)
        with pytest.raises(TypeError):
            optimizer.tell(configuration, 1, reason="refused")
        with pytest.raises(clatune.Error, match="did you mean \"compile-error\""):
            optimizer.tell(configuration, reason="compile-eror")
        with pytest.raises(clatune.Error, match="17"):
            optimizer.tell({"block": 17, "tile": 1}, 1)
        assert optimizer.tell(configuration, 1)
        with pytest.raises(clatune.Error, match="already"):
            optimizer.tell(configuration, 1)
    with pytest.raises(clatune.Error, match="closed"):
        optimizer.ask()
    with pytest.raises(clatune.Error, match="did you mean \"surrogate\""):
        clatune.Optimizer(SPACE, searcher="sorrugate")
    with pytest.raises(clatune.Error, match="block"):
        clatune.Optimizer(clatune.Space({"block": BLOCKS}, constraints=["block > 1000"]))
    with pytest.raises(TypeError):
        clatune.Optimizer(SPACE, device="gpu")


def test_earlier_results_and_a_store(tmp_path):
    kept = tmp_path / "store.sqlite"
    with clatune.Optimizer(SPACE, budget=12, store=kept, name="bowl") as optimizer:
        for tile in TILES:
            tell(optimizer, {"block": 64, "tile": tile})
        first = search(optimizer)
        assert len(first) == 12 and not any(c["block"] == 64 for c in first)
        best = optimizer.best
    with clatune.Optimizer(SPACE, budget=12, store=clatune.Store(kept), name="bowl") as optimizer:
        assert optimizer.json["known"] == 20
        assert (optimizer.best, optimizer.best.time_s) == (best, best.time_s)


def test_a_problem():
    with clatune.Optimizer(SCALE, sizes={"n": 4096}) as optimizer:
        configuration = optimizer.ask()
        assert f"-Dblock={configuration['block']}" in configuration.options
        assert configuration.local_size == (configuration["block"],)


def test_an_interrupted_request_does_no_harm():
    """The answer to it comes before that to the next one."""
    with clatune.Optimizer(SPACE, budget=10) as optimizer:
        stdout = optimizer._process._process.stdout

        class Interrupting:
            def readline(self):
                optimizer._process._process.stdout = stdout
                raise KeyboardInterrupt

        optimizer._process._process.stdout = Interrupting()
        with pytest.raises(KeyboardInterrupt):
            optimizer.ask()
        assert optimizer.counts()["pending"] == 1
        assert optimizer.pending() == optimizer._left
        assert len(search(optimizer)) == 10


def test_the_end_of_the_command():
    optimizer = clatune.Optimizer(SPACE)
    optimizer._process._process.send_signal(signal.SIGKILL)
    with pytest.raises(clatune.Error, match="SIGKILL"):
        optimizer.ask()
    optimizer.close()


def test_it_ends_with_the_object_and_with_its_program():
    optimizer = clatune.Optimizer(SPACE)
    process = optimizer._process._process
    del optimizer
    assert process.wait(timeout=60) == 0
    code = ("import clatune, os, sys\n"
            "o = clatune.Optimizer({'a': [1, 2]})\nprint(o._process._process.pid, flush=True)\n")
    for end in ("", "os._exit(3)", "sys.stdin.read()"):
        read, write = os.pipe()  # held by both; it ends once both have gone
        program = subprocess.Popen([sys.executable, "-c", "import subprocess\nclass P(subprocess.Popen):\n"
                                    "    def __init__(self, *a, **k): super().__init__(*a, **k, pass_fds=[%d])\n"
                                    "subprocess.Popen = P\n" % write + code + end], pass_fds=[write], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.close(write)
        assert int(program.stdout.readline()) > 0
        if "stdin" in end:
            program.kill()
        program.communicate()
        with os.fdopen(read, "rb") as pipe:
            assert pipe.read() == b""


@pytest.mark.parametrize("outcome, kind, words", [(math.nan, ValueError, "give a finite number, or reason="), (numpy.float32("inf"), ValueError, "finite"),
                                                  (-1.0, ValueError, "seconds are above 0"), ("1", TypeError, "must be a number, not '1'"),
                                                  ([1.0, math.nan], ValueError, "finite")])
def test_a_refused_outcome_is_asked_for_again(outcome, kind, words):
    with clatune.Optimizer({"a": [1, 2, 3]}, budget=3, searcher="exhaustive") as optimizer:
        first = optimizer.ask()
        with pytest.raises(kind, match=words):
            optimizer.tell(first, outcome)
        assert optimizer.ask() == first
        optimizer.tell(first, 1.0)
        assert optimizer.ask() != first


def test_scores_of_any_sign_are_told():
    with clatune.Optimizer({"a": [1, 2, 3]}, budget=3, searcher="exhaustive", objective={"name": "score", "unit": "", "goal": "minimise"}) as optimizer:
        optimizer.run(lambda a: 0.0 if a == 2 else 2.0 - a)
        assert optimizer.best == {"a": 3} and optimizer.best.json["value"] == -1
        assert repr(optimizer.best) == "<a=3: -1>"


def test_the_example_of_an_order(capsys):
    names = runpy.run_path(str(ROOT / "examples" / "order" / "visit.py"))
    as_listed = names["length"](**{f"visit_p{i}": i for i in range(30)})
    assert names["length"](**names["best"]) < 0.8 * as_listed
    assert sorted(names["visit"].order("visit", names["best"])) == sorted(names["places"])
    assert str(names["length"](**names["best"])) in capsys.readouterr().out


@pytest.mark.parametrize("n_items", (20, 100))
def test_an_order_is_asked_for_told_and_stored(tmp_path, n_items):
    others = [f"item{i}" for i in range(n_items - 2)]
    order = clatune.Permutation(["a", 1, *others])
    space = clatune.Space({"order": order, "block": [1, 2]}, default={"order": list(reversed(order.items))})
    assert space.names == ["order_a", "order_1", *(f"order_{item}" for item in others), "block"]

    def search(searcher):
        with clatune.Optimizer(space, searcher=searcher, budget=12, store=tmp_path / "orders.sqlite", name="orders") as optimizer:
            asked = []
            while (configuration := optimizer.ask()) is not None:
                asked.append(order.order("order", configuration))
                assert repr(configuration) == f"<{configuration.text}>"  # nothing is measured
                with pytest.raises(KeyError, match=r"but order_a, order_1, .*Permutation.order\('order', configuration\)"):
                    configuration["order"]
                assert sorted(asked[-1], key=str) == sorted(order.items, key=str)
                optimizer.tell(configuration, 1 + asked[-1].index("a"))
            with pytest.raises(clatune.Error, match="it violates order_1 not in"):
                optimizer.tell({**dict.fromkeys(space.names, 0), "block": 1}, 1)
            return asked, optimizer.json["known"], optimizer.best
    asked, known, best = search("genetic")
    assert asked[0] == list(reversed(order.items)) and len(asked) == 12 and known == 0
    assert len({tuple(one) for one in asked}) > 8
    again, known, same = search("ants")
    assert known == 12
    assert same.time_s <= best.time_s
    assert asked[0] not in again


def test_the_page_tunes_a_cuda_kernel(tmp_path, monkeypatch, capsys):
    """docs/how-to/other-languages.md, with a stand-in for CuPy: 512 threads cannot be launched, and large products give incorrect results."""
    page = (pathlib.Path(__file__).parents[2] / "docs/how-to/other-languages.md").read_text()
    block = page.split("```python\n")[1].split("```")[0].replace("1 << 24", "1 << 10")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saxpy_kernel.cu").write_text("kernel")
    cupy, profiler = types.ModuleType("cupy"), types.ModuleType("cupyx.profiler")
    vars(cupy).update({name: getattr(numpy, name) for name in ("arange", "ones", "ones_like", "float32", "int32", "allclose")})
    error = type("CUDADriverError", (Exception,), {})
    cupy.cuda = types.SimpleNamespace(driver=types.SimpleNamespace(CUDADriverError=error))

    class RawModule:
        def __init__(self, code, options):
            self.block, self.per_thread = (int(option.split("=")[1]) for option in options)
            assert code == "kernel" and options[0].startswith("-DBLOCK=") and options[1].startswith("-DPER_THREAD=")

        def get_function(self, name):
            def saxpy(grid, block, arguments):
                n, a, x, y = arguments
                if block[0] == 512:
                    raise error("too many resources")
                y += a * x if grid[0] * block[0] * self.per_thread >= n and self.block * self.per_thread < 1024 else 0
            saxpy.time_s = 1e-6 * abs(self.block * self.per_thread - 257)
            return saxpy
    cupy.RawModule = RawModule
    profiler.benchmark = lambda kernel, arguments, n_repeat: types.SimpleNamespace(gpu_times=numpy.array([[2 * kernel.time_s, kernel.time_s]]))
    for name, module in (("cupy", cupy), ("cupyx", types.ModuleType("cupyx")), ("cupyx.profiler", profiler)):
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile(block, "other-languages.md", "exec"), {})
    assert re.match("<block=(64 per_thread=4|128 per_thread=2|256 per_thread=1): 1 us>", capsys.readouterr().out)
    assert (tmp_path / "h100.sqlite").exists()
