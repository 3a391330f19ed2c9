"""Problems: the files written, and refusals."""
import gc
import io
import json
import os
import pathlib
import sys

import clatune
import numpy as np
import pytest
from clatune import generator
from clatune.compat.kernel_tuner import cache, kernel


def entries(problem):
    return {one["Name"]: one for one in problem.document["KernelSpecification"]["Arguments"]}


def test_arrays_are_written_as_they_are(scale):
    n = 24
    arrays = {"a": np.arange(n, dtype=np.int16).reshape(2, 3, 4), "b": np.arange(n, dtype=">f8"), "c": np.arange(2 * n, dtype=np.uint8)[::2],
              "d": np.ones(5, np.complex64), "e": np.array([True, False])}
    problem = scale(arguments=arrays, answer=None)
    written = entries(problem)
    assert [(e["Type"], e["Size"]) for e in written.values()] == [("short", [4, 3, 2]), ("double", [24]), ("uchar", [24]), ("float2", [5]),
                                                                  ("bool", [2])]
    for name, array in arrays.items():
        raw = (problem.path.parent / written[name]["DataSource"]).read_bytes()
        assert np.array_equal(np.frombuffer(raw, array.dtype.newbyteorder("=")), array.ravel())


def test_kinds_of_arguments(scale):
    data = np.zeros((4, 8), np.float32)
    problem = scale(answer=None, arguments={
        "i": clatune.In(data), "k": clatune.In(data, constant=True), "o": clatune.Out((4, 8), np.float32, rtol=1e-3), "p": clatune.Out(data),
        "io": clatune.InOut(data, verify=False), "l": clatune.Local("wg * 4"), "s": np.int32(-3), "t": clatune.Scalar("n * 2", "uint"),
        "m": {"Type": "float", "MemoryType": "Image2D", "Size": [8, 4], "FillType": "Random", "FillValue": 1}})
    e = entries(problem)
    assert [e[x].get("AccessType") for x in ("i", "k", "o", "p", "io")] == ["ReadOnly", "ReadOnly", "WriteOnly", "WriteOnly", "ReadWrite"]
    assert e["k"]["MemType"] == "Constant" and e["io"]["Output"] == 0 and e["o"]["RelativeTolerance"] == 1e-3 and e["o"]["Size"] == [8, 4]
    assert "DataSource" not in e["o"] and "DataSource" not in e["p"]
    assert e["l"] == {"Name": "l", "Type": "float", "MemoryType": "Local", "Size": "wg * 4"}
    assert (e["s"]["Type"], e["s"]["FillValue"], e["t"]["FillValue"]) == ("int", -3, "n * 2")
    assert e["m"]["MemoryType"] == "Image2D"
    assert problem.count() == 16  # the command reads it


def test_a_list_of_arguments_and_of_answers(scale):
    data = np.ones(8, np.float32)
    problem = scale(arguments=[data, clatune.Out(data), np.float32(1)], answer=[None, np.arange(8.0), None])
    assert list(entries(problem)) == ["arg0", "arg1", "arg2"]
    reference, = problem.document["ReferenceArguments"]
    assert reference["TargetName"] == "arg1"
    raw = (problem.path.parent / reference["DataSource"]).read_bytes()
    assert np.array_equal(np.frombuffer(raw, np.float32), np.arange(8))


def hostile(folder):
    """Paths that are no files to be read or written, or whose content is not text or not JSON."""
    os.mkfifo(folder / "fifo.json")
    (folder / "inner.json").mkdir()
    (folder / "latin.json").write_bytes(b'{"a": "\xe4"}')
    (folder / "text.json").write_text("no JSON")
    (folder / "list.json").write_text("[1]")
    (folder / "deep.json").write_text("[" * 100000)
    with open(folder / "long.json", "wb") as file:
        file.truncate(1 << 40)
    return ["/dev/zero", "\0", "x" * 300, "/nowhere/x.json", *(os.fspath(one) for one in sorted(folder.iterdir()) if one.suffix == ".json")]


def test_files_are_refused_in_the_same_words(tmp_path, scale):
    result = clatune.Result(scale(), {"store": "s"}, {})
    result._page = "page"
    readers = {"lookup": clatune.lookup, "verify": clatune.verify, "tune": clatune.tune, "measure": lambda path: clatune.measure(path, [{"wg": 1}]),
               "load": clatune.Problem.load, "replay": clatune.replay, "cache": lambda path: cache.read_cache(pathlib.Path(path)),
               "source": lambda path: kernel.source_text(pathlib.Path(path))}
    (tmp_path / "hostile").mkdir()
    paths = hostile(tmp_path / "hostile")
    for name, read in readers.items():
        for path in paths:
            if name == "source" and os.path.isfile(path) and "latin" not in path and "long" not in path:
                continue  # any text is one
            expected = (clatune.Error, ValueError) if name == "cache" and os.path.isfile(path) else clatune.Error
            with pytest.raises(expected) as caught:
                read(path)
            assert os.path.basename(path).strip("\0") in str(caught.value), (name, path)
    for path in ("\0", "x" * 300, "/nowhere/x", os.fspath(tmp_path)):
        with pytest.raises(clatune.FileError, match="cannot write"):
            result.report(path)


def test_sizes_of_arrays_are_fixed(scale):
    problem = scale(n=512)
    assert problem.count(sizes={"n": 512}) == 16
    with pytest.raises(clatune.Error, match="512"):
        problem.count(sizes={"n": 1024})


def test_the_folder_goes_with_the_problem(scale, tmp_path):
    problem = scale()
    path = problem.path
    assert path.exists() and path.parent.stat().st_mode & 0o777 == 0o700
    del problem
    gc.collect()
    assert not path.parent.exists()
    kept = scale(folder=tmp_path / "kept/here")
    assert sorted(p.name for p in (tmp_path / "kept/here").iterdir()) == ["in.bin", "out.expected.bin", "scale.cl", "scale.json"]
    again = clatune.Problem.load(kept.path)
    assert again.document == kept.document and again.name == "scale" and again.space.names == ["wg", "ppt"] and again.count() == 16


def test_a_kernel_file_stays_where_it_is(scale, tmp_path):
    (tmp_path / "own.cl").write_text('#include "part.h"\nkernel void scale(global float *in) { in[0] = wg; }')
    problem = clatune.Problem(tmp_path / "own.cl", "scale", space={"wg": [1, 2]}, arguments=[np.ones(1, np.float32)], global_size=1, more={
        "Timing": {"Cache": "cold"}, "KernelSpecification": {"OpenCLStandard": "CL1.2"}})
    assert problem.document["KernelSpecification"]["KernelFile"] == str(tmp_path / "own.cl")
    assert problem.document["KernelSpecification"]["OpenCLStandard"] == "CL1.2" and problem.document["Timing"] == {"Cache": "cold"}
    with pytest.raises(FileNotFoundError, match="no.cl"):
        clatune.Problem("no.cl", "scale", space={"wg": [1]}, arguments=[], global_size=1)


@pytest.mark.parametrize("arguments, kind, text", [
    ({"a": 5}, TypeError, r"numpy\.int32\(5\)"),
    ({"a": 2.5}, TypeError, r"numpy\.float32\(2\.5\)"),
    ({"a": "x"}, TypeError, "'str'"),
    ({"a b": np.int32(1)}, ValueError, "'a b' is not a name"),
    ({"a": np.array(["x"])}, TypeError, "no counterpart"),
    ({"a": np.float32("nan")}, ValueError, "nan"),
])
def test_arguments_that_make_no_sense(scale, arguments, kind, text):
    with pytest.raises(kind, match=text):
        scale(arguments=arguments, answer=None)


@pytest.mark.parametrize("answer, kind, text", [
    ({"zzz": np.ones(4)}, ValueError, "'zzz'"),
    ([np.ones(4)], ValueError, "1 entries, but the kernel has 3"),
    ({"out": np.ones(4, np.complex128)}, TypeError, "complex128"),
])
def test_answers_that_make_no_sense(scale, answer, kind, text):
    with pytest.raises(kind, match=text):
        scale(answer=answer)


def test_space():
    space = clatune.Space({"wg": np.array([8, 16]), "ppt": "[2**i for i in range(4)]", "fast": [False, True], "op": ["add", "mul"]},
                          constraints=["wg * ppt <= 32"], default={"ppt": np.int64(2), "op": "mul"}, aliases=[("ppt == 1", "fast", False)])
    parameters = {one["Name"]: one for one in space.to_json()["TuningParameters"]}
    assert parameters["wg"]["Values"] == [8, 16] and parameters["fast"] == {"Name": "fast", "Type": "bool", "Values": [0, 1]}
    assert parameters["ppt"]["Default"] == 2 and parameters["op"]["Default"] == "mul"
    assert space.count() == (3 + 2) * 4
    assert clatune.Space.from_json(space.to_json()).count() == space.count()
    assert clatune.Space({"a": "[n, 2 * n]"}, constraints=["a > 8"]).count(sizes={"n": 5}) == 1
    json.dumps(space.to_json())


def test_spaces_that_make_no_sense():
    with pytest.raises(ValueError, match="'b'"):
        clatune.Space({"a": [1]}, default={"b": 1})
    with pytest.raises(ValueError, match="not a name in C"):
        clatune.Space({"1a": [1]})
    for constraint in ("a > 1", lambda a: a > 1):
        with pytest.raises(TypeError, match=r"must be a list; write each expression as text, such as \['a \* b"):
            clatune.Space({"a": [1]}, constraints=constraint)
    with pytest.raises(clatune.Error, match="nope"):
        clatune.Space({"a": [1, 2]}, constraints=["a > nope"]).count()
    for values, text in (({1, 2}, "'a' must be a list, not {1, 2}"), (None, "'a' must be a list, not None"), (16, "'a' must be a list, not 16"), ([], "'a' has no values"),
                         ([16, None], "'a' must be numbers, booleans or strings, not None"), ([b"x"], "not b'x'"), ([(1, 2)], r"not \[1, 2\]")):
        with pytest.raises((TypeError, ValueError), match=text):
            clatune.Space({"a": values})
    with pytest.raises(TypeError, match="the tuning parameters must be a dict by name, not .'a'"):
        clatune.Space(["a", "b"])
    with pytest.raises(ValueError, match="the tuning parameter 3 is not a name"):
        clatune.Space({3: [1]})
    assert clatune.Space({"a": (2**i for i in range(3))}).count() == 3


def test_the_shipped_problems_are_in_the_package():
    shared = pathlib.Path(clatune.find_command()).parents[1] / "share/clatune/problems"
    assert clatune.Problem.load(shared / "convolution.json").count() > 90000


def test_a_size_called_like_an_argument_is_no_macro():
    text = "kernel void k(global float *x, const int n) { if (get_global_id(0) < n) x[0] = m; }"
    problem = clatune.Problem(text, "k", space={"a": [1, 2]}, arguments={"x": np.zeros(4, np.float32), "n": np.int32(4)}, global_size=4,
                              sizes={"n": 4, "m": 2})
    assert [one.get("Macro", True) for one in problem.document["ProblemParameters"]] == [False, True]


def test_an_answer_that_is_a_function(scale):
    arrays = {"in": np.ones(4, np.float32), "out": np.zeros(4, np.float32), "factor": np.float32(3), "n": np.int64(4)}
    compute = scale(answer=lambda n, **more: more["in"][:n] * more["factor"])._answer
    assert compute(arrays)["out"].tolist() == [3, 3, 3, 3]
    assert scale(answer=lambda **more: {"out": [1, 2, 3, 4]})._answer(arrays)["out"].dtype == np.float32
    for answer, text in ((lambda m: m, "takes 'm', which is neither an argument nor a size; there are in, out, factor, n"),
                         (lambda n: {"o": n}, "must return a dict with 'out'"), (lambda n: [1.0], "returned 1 elements for 'out', which has 4")):
        with pytest.raises((TypeError, ValueError), match=text):
            scale(answer=answer)._answer(arrays)
    with pytest.raises(TypeError, match="either an answer or a reference"):
        scale(answer=lambda n: n, reference={"KernelName": "naive"})
    problems = [scale(answer=lambda n: n), scale(answer=lambda n: n + 1)]
    assert len({(problem.path.parent / "answer.c").read_text().splitlines()[0] for problem in problems}) == 2


def test_mistakes_are_answered_in_pythons_terms(scale):
    with pytest.raises(ValueError, match="a Space needs at least one tuning parameter"):
        clatune.Space({})
    with pytest.raises(TypeError, match="the size 'n' must be a whole number, not <function"):
        scale(sizes={"n": lambda: 3})
    with pytest.raises(TypeError, match=r"the sizes must be a dict by name, not \[1024\]"):
        scale(sizes=[1024])
    with pytest.raises(ValueError, match="at least one element"):
        clatune.In(np.zeros(0, np.float32))
    with pytest.raises(TypeError, match="must be text, a path or a function, not b'kernel'"):
        clatune.Problem(b"kernel", "k", space={"a": [1]}, arguments=[])
    assert scale(global_size=np.int64(64)).document["KernelSpecification"]["GlobalSize"] == [64]
    with pytest.raises(ValueError, match="the answer for 'out' has 3 elements, but the argument has 16"):
        scale(arguments={"in": np.zeros(16, np.float32), "out": clatune.Out(16, np.float32)}, answer={"out": [1.0, 2.0, 3.0]})
    problem = scale()
    said = f"{problem.path}:28: KernelSpecification.Arguments[0]: argument 1 is 'float* in', but it is given 'in', a vector of double; write \"Type\": \"float\""
    assert problem.explain(said) == "argument 1 is 'float* in', but it is given 'in', a vector of double; convert it with astype(numpy.float32)"
    assert clatune.Problem.load(problem.path).explain(said) == said
    wrong = clatune.Space({"loop": clatune.Permutation(["i", "j"])}, constraints=["loop_i <"])
    problem = scale(space=wrong)
    for act in wrong.count, problem.count, lambda: clatune.lookup(problem), lambda: clatune.verify(problem), lambda: clatune.Optimizer(problem):
        with pytest.raises(clatune.Error, match=r"^cannot read 'loop_i <': a value is missing"):
            act()


def test_functions_are_answered_with_expressions(scale):
    with pytest.raises(TypeError, match="write an expression as text"):
        clatune.Space({"a": [1, 2]}, constraints=[lambda a: a > 1])
    with pytest.raises(TypeError, match="write an expression as text"):
        scale(global_size=lambda p: 1000)


FACTOR = 2


def _tile(configuration):
    return configuration["tile"] * FACTOR


def test_a_function_in_place_of_the_source(monkeypatch, tmp_path):
    def problem(function):
        return clatune.Problem(function, "copy", space={"tile": [1, 2]}, arguments=[np.ones(4, np.float32)], folder=tmp_path).document["KernelSpecification"]
    first = problem(_tile)
    assert "KernelFile" not in first and first["Generator"]["Persistent"] and problem(_tile) == first
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3)
    assert problem(_tile)["Generator"]["Version"] != first["Generator"]["Version"] != problem(lambda p: "")["Generator"]["Version"]
    assert first["KernelName"] == "copy"
    unnamed = clatune.Problem(_tile, space={"tile": [1, 2]}, arguments=[np.ones(4, np.float32)], folder=tmp_path)
    assert unnamed.name == "_tile" and "KernelName" not in unnamed.document["KernelSpecification"]
    for tuned in ({"problem": _tile}, {"kernel": _tile}):
        with pytest.raises(TypeError, match="a kernel needs space and arguments"):
            clatune.tune(**tuned)
    with pytest.raises(TypeError, match="the kernel's name is missing"):
        clatune.Problem("kernel void copy() {}", space={"tile": [1, 2]}, arguments=[])


def test_answers_of_a_generator():
    def make(configuration):
        print("this is no answer")
        if configuration["tile"] == 3:
            raise clatune.Invalid("no tile of 3")
        return {1: "text", 2: {"source": "text", "global": np.array([4, 2])}, 4: None, 5: 1 / (configuration["tile"] - 5 or 0) if configuration["tile"] == 5 else 0}[configuration["tile"]]
    questions, answers = io.StringIO("".join(json.dumps({"configuration": {"tile": tile}, "sizes": {}}) + "\n" for tile in range(1, 6))), io.BytesIO()
    generator.serve(make, questions, answers)
    *told, failed = map(json.loads, answers.getvalue().splitlines())
    assert told == [{"source": "text"}, {"source": "text", "global": [4, 2]}, {"invalid": "no tile of 3"}, {"invalid": "the function returned None"}]
    first, *where = failed["error"].splitlines()
    assert first == "ZeroDivisionError: division by zero" and "in make" in where[0]
