"""The translation of calls in Kernel Tuner's manner: sizes, restrictions, strategies, cache files, mistakes. No kernel is run."""
import inspect
import itertools
import json
import math
import pathlib
import re

import numpy
import pytest
from clatune import Optimizer
from clatune.compat.kernel_tuner import accuracy, nvml, observers, tune_cache, tune_kernel
from clatune.compat.kernel_tuner.cache import CacheFile, read_cache
from clatune.compat.kernel_tuner.file_utils import get_t4_results
from clatune.compat.kernel_tuner.kernel import Kernel, conditions
from clatune.compat.kernel_tuner.metrics import objective_text, process_metrics
from clatune.compat.kernel_tuner.observers.nvml import NVMLObserver
from clatune.compat.kernel_tuner.strategies import search_of
from clatune.compat.kernel_tuner.tables import tabulate
from clatune.compat.kernel_tuner.util import get_config_string

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


def launches(folder, parameters, size=N, restrictions=None, grid_div=(None, None, None), **options):
    """Each configuration with its global and local size."""
    settings = {"grid_div": grid_div, "block_size_names": None, "compiler_options": None, "defines": None, "lang": "OpenCL", **options}
    kernel = Kernel("copy", settings.pop("source", COPY), size, ARGUMENTS, parameters, **settings)
    problem = kernel.problem(folder, constraints=conditions(restrictions, kernel.parameters))
    out = []
    with Optimizer(problem, searcher="exhaustive", budget=1000, store=folder / "store.sqlite") as optimizer:
        while (asked := optimizer.ask()) is not None:
            launch, = asked.json["launches"]
            out.append((dict(asked), launch["global"], launch["local"]))
            optimizer.tell(asked, 1.0)
    return sorted(out, key=lambda one: list(map(str, one[0].values())))


@pytest.mark.parametrize("size", [N, numpy.int64(N), "n_", "n_ * 1 if n_ is not None else 0", (N,), ("n_", 1), [N], lambda p: N, lambda p: (p["n_"], 1, 1)])
def test_problem_sizes(tmp_path, size):
    found = launches(tmp_path, {"block_size_x": [16, 32], "n_": [N]}, size)
    assert [one[1:] for one in found] == [([1008, 1, 1], [16, 1, 1]), ([1024, 1, 1], [32, 1, 1])]


@pytest.mark.parametrize("div, groups", [
    (None, {16: 63, 32: 32}), (["block_size_x"], {16: 63, 32: 32}), ("block_size_x", {16: 63, 32: 32}), ([], {16: N, 32: N}), (16, {16: 63, 32: 63}),
    (["block_size_x/2", 2], {16: 63, 32: 32}), (["block_size_x", "t"], {16: 21, 32: 11}), (["block_size_x * t / 2"], {16: 42, 32: 21}),
    (lambda p: p["block_size_x"] / 3, {16: 188, 32: 94}), ([lambda p: p["block_size_x"], "2"], {16: 32, 32: 16}),
    (lambda p: {16: 10, 32: 7}[p["block_size_x"]], {16: 100, 32: 143})])
def test_divisors(tmp_path, div, groups):
    found = launches(tmp_path, {"block_size_x": [16, 32], "t": [3]}, grid_div=(div, None, None))
    assert {one[0]["block_size_x"]: one[1][0] // one[2][0] for one in found} == groups


def test_sizes_in_three_dimensions(tmp_path):
    parameters = {"block_size_x": [4], "block_size_y": [3], "block_size_z": [2]}
    (_, size, local), = launches(tmp_path, parameters, (10, 10, 10), grid_div=(None, ["block_size_y", 2], None))
    assert (size, local) == ([12, 6, 10], [4, 3, 2])


def test_work_groups_without_their_parameter_have_256_work_items(tmp_path):
    (_, size, local), = launches(tmp_path, {"t": [1]}, 1000)
    assert (size, local) == ([256000, 1, 1], [256, 1, 1])


@pytest.mark.parametrize("names, parameters", [(["bx", "by"], {"bx": [8], "by": [2]}), (None, {"BLOCK_SIZE_X": [8], "BLOCK_SIZE_Y": [2]})])
def test_other_names_of_the_work_groups_sizes(tmp_path, names, parameters):
    (_, size, local), = launches(tmp_path, parameters, (16, 16), block_size_names=names)
    assert (size, local) == ([16, 16, 1], [8, 2, 1])


SPACE = {"a": [1, 2, 3, 4], "b": [0.5, 2], "word": ["row", "column"]}


@pytest.mark.parametrize("restriction, predicate", [
    (["a * b <= 3"], lambda a, b, word: a * b <= 3), ("a in [1, 4]", lambda a, b, word: a in (1, 4)),
    (["a > 1", "word == 'row' or b == 2"], lambda a, b, word: a > 1 and (word == "row" or b == 2)),
    (lambda p: p["a"] > 1 and p["word"] == "row", lambda a, b, word: a > 1 and word == "row"),
    ([lambda p: p["a"] % 2, "b > 1"], lambda a, b, word: a % 2 and b > 1), (lambda a, word: len(word) > a, lambda a, b, word: len(word) > a),
    (lambda **p: sum(map(len, p)) + p["a"] < 21, lambda a, b, word: a < 3), (lambda *values: values[0] == 1, lambda a, b, word: a == 1),
    ([(lambda x: x > 2, ["a"])], lambda a, b, word: a > 2), (["{1: True}.get(a, b > 1)"], lambda a, b, word: a == 1 or b > 1),
    (lambda p: {**p, "block_size_x": 0} == {"a": 1, "b": 2, "word": "row", "block_size_x": 0}, lambda a, b, word: (a, b, word) == (1, 2, "row")),
    (lambda p: (1 if p["b"] > 1 else p["a"]) == 1, lambda a, b, word: b > 1 or a == 1), (None, lambda a, b, word: True),
    (lambda p: 1 / (p["a"] - 1) < 1, lambda a, b, word: a > 2), (numpy.vectorize(lambda p: p["a"] > 3), lambda a, b, word: a > 3)])
def test_restrictions(tmp_path, restriction, predicate):
    found = [tuple(one[0].values()) for one in launches(tmp_path, {**SPACE, "block_size_x": [16]}, restrictions=restriction)]
    expected = [(*values, 16) for values in itertools.product(*SPACE.values()) if predicate(*values)]
    assert sorted(found) == sorted(expected)


def test_a_function_is_called_only_with_what_it_reads():
    calls = []
    table = tabulate(lambda p: calls.append(1) or p["a"] + (p["b"] if p["a"] > 2 else 0), {"a": range(100), "b": [1, 2], "c": range(10**6)})
    assert table.names == ["a", "b"] and len(calls) <= 1 + 3 + 1 + 200
    with pytest.raises(ValueError, match="more than 1,048,576 combinations"):
        tabulate(lambda p: p["a"] * p["c"], {"a": range(100), "c": range(10**6)})


def test_conditions_of_a_long_table_are_several():
    values = {name: list(range(64)) for name in "abc"}
    found = conditions(lambda p: hash((p["a"], p["b"], p["c"])) % 7 > 2, values)
    assert len(found) > 1 and max(map(len, found)) < 65536


def test_a_function_that_never_works_raises_what_it_raised():
    with pytest.raises(KeyError, match="no_such"):
        conditions(lambda p: p["no_such"] > 1, SPACE)


def test_generated_kernels_and_definitions(tmp_path):
    written = Kernel("copy", lambda p: f"// {p['t']}\n" + COPY, N, ARGUMENTS, {"block_size_x": [16], "t": [1, 2]}, grid_div=(None,) * 3, block_size_names=None,
           compiler_options=["-DX={1}"], defines={"A": 1, "B": lambda p: p["t"] * 2, "C": "t + block_size_x"}, lang="OpenCL").problem(tmp_path)
    assert all(word in written.generate({"block_size_x": 16, "t": 2}) for word in ("#undef t\n", "#define A 1\n", "#define B 4\n", "#define C 2 + 16\n", "// 2\n"))
    problem = json.loads((tmp_path / "copy.json").read_text())
    assert problem["KernelSpecification"]["CompilerOptions"][0] == "-DX={{1}}"


def test_values_of_numpy_are_taken(tmp_path):
    found = launches(tmp_path, {"block_size_x": numpy.array([16, 32, 16]), "real": [numpy.float64(0.5)], "flag": [True, False]})
    assert len(found) == 4


def test_metrics():
    entry = process_metrics({"time": 2.0, "a": 3}, {"x": lambda p: p["time"] * p["a"], "y": "x + time", "z": "np.sqrt(a + 1)"})
    assert (entry["x"], entry["y"], entry["z"]) == (6.0, 8.0, 2.0)
    metrics = {"rate": lambda p: (2 * numpy.float64(64) / 1e9) / (p["time"] / 1e3), "both": "rate * a"}
    text = objective_text("both", True, metrics, ["a"])
    assert text.startswith("maximise ")
    assert eval(text.removeprefix("maximise "), {"time_s": 0.5, "a": 3}) == pytest.approx(3 * 128e-9 / 0.5)
    with pytest.raises(NotImplementedError, match="brute_force"):
        objective_text("odd", True, {"odd": lambda p: 1 if p["time"] > 1 else 2}, [])
    with pytest.raises(NotImplementedError, match="nvml_energy"):
        process_metrics({"time": 1.0}, {"J": lambda p: p["nvml_energy"]})


def test_strategies():
    assert search_of(None, None)[:3] == ("exhaustive", None, None)
    assert search_of("random_sample", {})[:3] == ("random", None, 0.1)
    assert search_of("simulated_annealing", {"max_fevals": 7, "time_limit": 5, "x0": [1]})[:5] == ("annealing", 7, None, 5, [1])
    assert search_of("genetic_algorithm", {"popsize": 8, "max_fevals": 3}).options == {"population": 8}
    for name, searcher in (("bayes_opt", "surrogate"), ("pso", "genetic"), ("greedy_ils", "hill-climb"), ("minimize", "local")):
        with pytest.warns(UserWarning, match=f"'{name}|\"{name}\".*'{searcher}'"):
            assert search_of(name, {"max_fevals": 9})[:2] == (searcher, 9)
    with pytest.warns(UserWarning, match="does not have them: alpha"):
        search_of("simulated_annealing", {"alpha": 0.9})
    assert search_of("two-stage", {"samples": 5}).options == {"samples": 5}


HEADER = {"device_name": "D", "kernel_name": "k", "problem_size": [10], "tune_params_keys": ["a"], "tune_params": {"a": [1, 2, 3, 4]}, "objective": "time"}
ENTRIES = {str(a): {"a": a, "time": 10.0 - a, "times": [10.0 - a], "compile_time": 1} for a in (1, 2, 3)} | {"4": {"a": 4, "__error__": "InvalidConfig"}}


def write_cache(path):
    file = CacheFile(path, HEADER)
    for key, entry in ENTRIES.items():
        file.add(key, entry)
    return file


def test_a_cache_file_is_whole_at_any_moment(tmp_path):
    path = tmp_path / "c.json"
    file = write_cache(path)
    text = path.read_text()
    assert read_cache(path)["cache"].keys() == ENTRIES.keys()
    for n in range(text.index('"1"'), len(text), 7):  # as a killed one leaves it
        path.write_text(text[:n])
        found = read_cache(path)["cache"]
        assert list(found) == list(ENTRIES)[:len(found)]
        assert all(entry["time"] == ENTRIES[key]["time"] for key, entry in found.items() if "__error__" not in entry)
    file.close({})
    assert json.loads(path.read_text())["cache"].keys() == ENTRIES.keys()
    for size in (10, numpy.int32(10)):
        assert len(CacheFile(path, HEADER | {"problem_size": size}).entries) == 4
    for name, value in (("device_name", "E"), ("kernel_name", "l"), ("problem_size", [11]), ("tune_params_keys", ["b"])):
        with pytest.raises(ValueError, match="has another"):
            CacheFile(path, {**HEADER, name: value})


def test_simulations(tmp_path, capsys):
    write_cache(tmp_path / "c.json").close({})
    before = (tmp_path / "c.json").read_bytes()

    def simulate(**options):
        return tune_kernel("k", "", (10,), [], {"a": [1, 2, 3, 4]}, lang="OpenCL", cache=tmp_path / "c", simulation_mode=True, **options)

    results, env = simulate()
    assert [entry["a"] for entry in results] == [1, 2, 3, 4] and "__error__" in results[3] and env["best_config"]["a"] == 3 and env["simulation"]
    assert "Simulating: D" in capsys.readouterr().out
    assert simulate(metrics={"speed": "1 / time"}, objective="speed", objective_higher_is_better=False)[1]["best_config"]["a"] == 1
    assert len(simulate(strategy="random_sample", strategy_options={"fraction": 0.5})[0]) == 2
    assert len(simulate(strategy="annealing", strategy_options={"max_fevals": 3})[0]) == 3
    assert [entry["a"] for entry in simulate(restrictions=["a > 2"])[0]] == [3, 4]
    assert len(tune_cache(tmp_path / "c", restrictions=["a > 1"], quiet=True)[0]) == 2
    assert (tmp_path / "c.json").read_bytes() == before
    with pytest.raises(ValueError, match="has no a=5"):
        tune_kernel("k", "", 10, [], {"a": [5]}, lang="OpenCL", cache=tmp_path / "c", simulation_mode=True, quiet=True)


def test_config_strings():
    assert get_config_string({"a": 1, "time": 2.0, "b": "x"}, ["time", "a"], {"time": "ms"}) == "a=1, time=2.000ms"


def tune(source=COPY, size=N, arguments=ARGUMENTS, parameters=PARAMETERS, **options):
    return tune_kernel("copy", source, size, arguments, parameters, quiet=True, **options)


REFUSED = [({"lang": "CUDA"}, "CUDA"), ({"source": "__global__ void copy() {}"}, "CUDA"), ({"texmem_args": {"t": IN}}, "Image2D"),
           ({"cmem_args": {"c": IN}}, "__constant"), ({"smem_args": {"size": 1}}, "__local"), ({"observers": [object()]}, "energy"),
           ({"strategy": "nsga2"}, "one objective"), ({"strategy": object()}, "Optimizer"), ({"objectives": {"time": False, "x": True}}, "one objective"),
           ({"parameters": {"block_size_x": [16], "nvml_gr_clock": [1]}}, "clocks")]


@pytest.mark.parametrize("options, word", REFUSED)
def test_what_cannot_be_served_says_what_to_use(options, word):
    with pytest.raises(NotImplementedError, match=word):
        tune(**options)


WRONG = [({"strategy": "no such"}, ValueError, "there is no strategy 'no such'"), ({"strategy": "pso", "strategy_options": {"size": 1}}, ValueError, "'size'"),
         ({"arguments": [ARGUMENTS[0], IN, 5]}, TypeError, r"numpy.int32\(5\)"), ({"answer": [IN]}, TypeError, "1 entries"),
         ({"answer": [IN[1:], None, None]}, TypeError, "999 elements"),
         ({"size": 1000.5}, TypeError, "whole numbers"), ({"objective": "speed"}, ValueError, "objective_higher_is_better"),
         ({"restrictions": ["block_size_x <"]}, ValueError, "block_size_x <"), ({"parameters": {"time": [1]}}, ValueError, "'time'"),
         ({"simulation_mode": True}, ValueError, "cache"), ({"metrics": ["time"]}, ValueError, "dict"), ({"block_size_names": "x"}, ValueError, "list")]


@pytest.mark.parametrize("options, kind, words", WRONG)
def test_mistakes(options, kind, words):
    with pytest.raises(kind, match=words):
        tune(**options)


def test_observers_and_tunables_are_refused_when_they_are_made():
    assert nvml.NVMLObserver is NVMLObserver
    with pytest.raises(NotImplementedError, match="TunablePrecision.*#if"):
        accuracy.TunablePrecision("precision", IN)

    class Own(observers.BenchmarkObserver):
        def get_results(self):
            return {}

    with pytest.raises(NotImplementedError, match="Own"):
        Own()

    class Changed(NVMLObserver):
        pass

    with pytest.raises(NotImplementedError, match="Changed"):
        tune(observers=[Changed(["nvml_energy"])])


OBSERVED = ["nvml_energy", "nvml_power", "temperature"]
PER_JOULE = {"per_joule": lambda p: 1 / p["nvml_energy"], "twice": "2 * nvml_energy"}


def observe(observables=OBSERVED, **options):
    """Of a kernel that does the same as the simulated driver with all kernels."""
    source = COPY.replace("__global float *out, __global const float *in", "__global const float *in, __global float *out")
    return tune(source=source, arguments=[IN, *ARGUMENTS[:1], ARGUMENTS[2]], observers=[NVMLObserver(observables, continuous_duration=0.01)], iterations=3, **options)


def test_what_nvml_would_observe_is_nan_where_there_is_no_counter(tmp_path):
    with pytest.warns(UserWarning, match="nvml_energy, nvml_power, temperature, pwr_temperature; the energy of .* cannot be measured") as warned:
        results, env = observe(metrics=PER_JOULE, cache="kept")
    assert len(warned) == 1 and len(results) == 2 and env["best_config"]["time"] == min(entry["time"] for entry in results)
    for entry in results:
        assert all(math.isnan(entry[name]) for name in [*OBSERVED, *PER_JOULE]) and "energy" not in entry
    for text in ((tmp_path / "kept.json").read_text(), json.dumps(get_t4_results(results, PARAMETERS))):
        json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    with pytest.warns(UserWarning, match="not measured"):
        assert all(math.isnan(entry["twice"]) for entry in observe(metrics=PER_JOULE, cache="kept")[0])
    with pytest.raises(NotImplementedError, match="'per_joule' has no value.*nvml_energy"):
        observe(metrics=PER_JOULE, objective="per_joule", objective_higher_is_better=True)
    with pytest.raises(Exception, match="cannot be measured"):
        observe(objective="nvml_energy", objective_higher_is_better=False, strategy="mls", strategy_options={"max_fevals": 2})
    with pytest.raises(ValueError, match="'fan_speed' is not supported.*core_freq"):
        NVMLObserver(["fan_speed"])


def test_nvml_energy_is_what_a_counter_says(tmp_path, monkeypatch):
    zone = tmp_path / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True)
    for name, text in (("name", "package-0"), ("max_energy_range_uj", "262143328850"), ("energy_uj", "0")):
        (zone / name).write_text(text + "\n")
    monkeypatch.setenv("CLATUNE_POWERCAP", str(zone.parent))
    monkeypatch.setenv("CLATUNE_SIMULATED", json.dumps({"devices": [{
        "name": "Simulated", "type": "cpu", "waits": True, "time_s": "1e-5 * block_size_x",
        "energy": {"power_w": "6400 / block_size_x**2", "counter": str(zone / "energy_uj")}}]}))
    with pytest.warns(UserWarning, match="not measured, and NaN: temperature, pwr_temperature; "):
        results, env = observe(metrics=PER_JOULE, objective="nvml_energy", objective_higher_is_better=False)
    assert env["best_config"]["block_size_x"] == 32
    for entry in results:
        power = 6400 / entry["block_size_x"]**2
        assert entry["nvml_power"] == pytest.approx(1000 * entry["nvml_energy"] / entry["time"]) and entry["per_joule"] == 1 / entry["nvml_energy"]
        assert entry["nvml_energy"] == pytest.approx(power * 1e-5 * entry["block_size_x"], rel=0.05) and math.isnan(entry["temperature"])
    found = observe(["nvml_energy"], metrics=PER_JOULE, objective="per_joule", objective_higher_is_better=True, strategy="mls",
                    strategy_options={"max_fevals": 2})
    assert found[1]["best_config"]["block_size_x"] == 32


def test_an_array_that_is_too_large_for_the_device(monkeypatch):
    monkeypatch.setenv("CLATUNE_SIMULATED", '{"devices": [{"name": "Small", "max_allocation_bytes": 2000}]}')
    with pytest.raises(RuntimeError, match="argument 'arg0' takes 4 . .1000. bytes; 'Small': allocated memory at most 2000 bytes"):
        tune()


def test_the_page_has_every_option():
    page = (pathlib.Path(__file__).parents[2] / "docs" / "how-to" / "from-kernel-tuner.md").read_text()
    for name in inspect.signature(tune_kernel).parameters:
        assert f"`{name}`" in page, name
    for name in search_of.__globals__["_STRATEGIES"]:
        assert re.search(rf"`{name}`", page), name


def test_nothing_to_measure(capsys):
    results, env = tune_kernel("copy", COPY, N, ARGUMENTS, PARAMETERS, restrictions=["block_size_x > 99"])
    assert results == [] and env["device_name"] and "best_config" not in env
    assert "No configuration is valid" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="work-group"):
        tune(parameters={"block_size_x": [1 << 20]})
