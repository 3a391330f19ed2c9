"""Tuning for real: which configurations are run, verified and stored."""
import functools
import re
import warnings

import clatune
import numpy as np
import pytest
from conftest import ROOT

FAST = {"device": "pocl", "workers": 1, "oclgrind": "no"}


def test_tune_then_look_up(scale):
    problem = scale()
    result = clatune.tune(problem, budget=3, finalists=0, **FAST)
    assert result.json["evaluations"]["measured"] == 3 and result.best.time_s > 0
    page = result.report("page.html")
    assert open("page.html").read() == page and "<svg" in page or "script" in page
    frame = result._repr_html_()
    assert frame.startswith('<iframe srcdoc="') and frame.count('"') == 6 and "<script" not in frame
    found = clatune.lookup(problem, device="pocl")
    assert found.tier == "exact" and found == result.best and found.launches == result.best.launches and found.options == result.best.options
    again = clatune.tune(scale(), budget=3, finalists=0, **FAST)  # another folder, the same problem
    assert again.json["evaluations"]["measured"] == 0 and again.json["evaluations"]["reused"] == 3
    both = clatune.tune(scale(), budget=3, finalists=0, objective=("time", "minimise wg"), **FAST)
    assert both.front[0] == both.best == result.best
    assert both.front[-1]["wg"] == min(one["configuration"]["wg"] for one in both.evaluations) and "The front" in both.report()


def test_wrong_results_are_refused(scale):
    data = np.linspace(-1, 1, 1 << 12, dtype=np.float32)
    wrong = scale(answer={"out": 3 * data})
    with pytest.raises(clatune.VerificationFailed, match=r"wg=32 ppt=1: wrong-output: argument 'out', element 0 .*got -2.5, expected -3"):
        clatune.verify(wrong, device="pocl")
    within = scale(answer={"out": 2.5 * data + 1e-3}, arguments={"in": clatune.In(data), "out": clatune.Out(data, atol=2e-3), "factor": np.float32(2.5)})
    assert clatune.verify(within, device="pocl")["correct"]


def test_an_answer_that_is_a_function_is_asked_under_other_inputs():
    source = """kernel void twice(global const float *x, global float *y) {
      for (volatile int i = 0; wg == 8 && i < 3000; i++); /* so that the other one leads */
      y[get_global_id(0)] = (wg == 10 && x[1] != 1 ? 3 : 2) * x[get_global_id(0)]; }"""
    x = np.arange(1000, dtype=np.float32)

    def problem(answer):
        return clatune.Problem(source, "twice", space={"wg": [8, 10]}, global_size=1000, local_size="wg", answer=answer,
                               arguments={"x": clatune.In(x), "y": clatune.Out(1000, np.float32)})
    with pytest.warns(clatune.ClatuneWarning, match="finalist wg=10"):
        result = clatune.tune(problem(lambda x: 2 * x), budget=2, no_store=True, **FAST)
    assert result.best["wg"] == 8 and {one["judge"] for one in result.json["checks"]} == {"reference"}
    with pytest.raises(ZeroDivisionError):
        clatune.tune(problem(lambda x: 1 / 0), budget=2, no_store=True, **FAST)


def test_a_function_writes_the_kernels():
    x = np.arange(1024, dtype=np.float32)
    asked = []

    def twice(configuration, sizes):
        asked.append(configuration["per"])
        if configuration["per"] == 2:
            raise clatune.Invalid("not by 2")
        if configuration["per"] == 8:
            return None
        if configuration["per"] == 16:
            raise ValueError("not by 16")
        body = "".join(f"y[i * {configuration['per']} + {k}] = 2 * x[i * {configuration['per']} + {k}];\n" for k in range(configuration["per"]))
        source = f"kernel void twice(global const float *x, global float *y) {{ const int i = get_global_id(0);\n{body}}}\n"
        return {"source": source, "global": [np.int64(sizes["n"] // configuration["per"])], "local": (32,), "options": "-cl-mad-enable"}
    result = clatune.tune(kernel=twice, space={"per": [1, 2, 4, 8, 16]}, sizes={"n": 1024}, budget=5, finalists=0, answer=lambda x: 2 * x,
                          arguments={"x": clatune.In(x), "y": clatune.Out(1024, np.float32)}, **FAST)
    assert result.best["per"] in (1, 4) and {1, 2, 4, 8, 16} == set(asked)
    assert result.json["reasons"] == {"not-generated": 2, "generator-failed": 1}
    found = clatune.lookup(result.problem, device="pocl")
    assert found == result.best and found.options == "-cl-mad-enable" and (found.global_size, found.local_size) == ((1024 // found["per"],), (32,))
    assert clatune.export(result.problem, "source", device="pocl") == found.source == twice(found, {"n": 1024})["source"]
    assert "-cl-mad-enable" in clatune.export(result.problem, path="twice.h") == open("twice.h").read()
    assert clatune.verify(result.problem, {"per": 4}, device="pocl")["correct"]
    with pytest.raises(clatune.VerificationFailed, match="(?s)per=16: generator-failed: ValueError: not by 16.*in twice"):
        clatune.verify(result.problem, {"per": 16}, device="pocl")
    here = clatune.Problem(twice, space={"per": [1]}, sizes={"n": 1024}, arguments={"x": clatune.In(x), "y": clatune.Out(1024, np.float32)}, folder="here")
    assert clatune.measure(here, [{"per": 1}], device="pocl", rounds=1)  # the folder's path is relative


def test_every_kind_of_argument():
    source = """
    kernel void combine(global const short *s, global double2 *d, constant uchar *c, local int *l, int k, global uint *o) {
      const int i = get_global_id(0);
      l[get_local_id(0)] = s[i] * k;
      barrier(CLK_LOCAL_MEM_FENCE);
      d[i] += (double2)(c[i], l[get_local_id(0)]);
      o[i] = (uint)i + wg;
    }"""
    n = 64
    s, c = np.arange(-32, 32, dtype=np.int16), np.arange(n, dtype=np.uint8)
    d = np.linspace(0, 1, n) + 1j
    problem = clatune.Problem(source, "combine", space={"wg": [4, 8]}, global_size=n, local_size="wg", arguments={
        "s": clatune.In(s), "d": clatune.InOut(d), "c": clatune.In(c, constant=True), "l": clatune.Local("wg", np.int32), "k": np.int32(-3),
        "o": clatune.Out((n,), np.uint32, verify=False)}, answer={"d": d + c + 1j * (-3.0 * s)})
    assert clatune.verify(problem, {"wg": 8}, device="pocl")["correct"]
    assert np.array_equal(d, np.linspace(0, 1, n) + 1j)


def test_a_naive_kernel_as_reference():
    source = """
    kernel void fill(global float *out) { for (int i = 0; i < per; i++) out[get_global_id(0) * per + i] = i == 2 ? 7 : 5; }
    kernel void naive(global float *out) { out[get_global_id(0)] = 5; }"""
    problem = clatune.Problem(source, "fill", space={"per": [1, 2, 4]}, arguments={"out": clatune.Out(64, np.float32)}, sizes={"n": 64},
                              global_size="n // per", reference={"KernelName": "naive", "GlobalSize": ["n"]})
    assert clatune.verify(problem, {"per": 2}, device="pocl")["correct"]
    with pytest.raises(clatune.VerificationFailed, match="per=4: wrong-output") as caught:
        clatune.measure(problem, [{"per": 1}, {"per": 4}], device="pocl", rounds=1)
    assert [one["reason"] for one in caught.value.result["measurements"]] == ["none", "wrong-output"]


def test_a_kernel_that_does_not_compile(scale):
    data = np.ones(64, np.float32)
    with pytest.raises(clatune.Error, match="nonsense"):
        clatune.tune("kernel void k(global float *a) { nonsense; a[0] = wg; }", "k", space={"wg": [1, 2]}, arguments=[data], global_size=64, budget=2,
                     no_store=True, **FAST)


def test_the_examples_of_the_page(monkeypatch):
    """The blocks of docs/how-to/python.md in their order, as one program."""
    pytest.importorskip("pyopencl")
    monkeypatch.setenv("PYOPENCL_NO_CACHE", "1")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/how-to/python.md").read_text(), re.M | re.S)
    assert len(blocks) >= 3
    monkeypatch.setattr(clatune, "tune", functools.partial(clatune.tune, finalists=0, workers=1, oclgrind="no"))
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile("\n".join(blocks), "docs/how-to/python.md", "exec"), names)
    assert names["best"].global_size[0] * names["best"]["per_item"] >= names["n"]
    assert names["found"].tier == "exact" and len(names["frame"]) == 8 and len(names["side_by_side"]) == 2
    assert names["fastest"].time_s > 0 and names["fastest"]["block"] in (16, 32, 64, 128)
    assert names["space"].count() == sum(a * 2**b < 64 for a in (1, 2, 4) for b in range(8))
