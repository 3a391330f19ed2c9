"""Gives files to the field's own readers, unchanged: T4 results to the schemas of Kernel Tuner and of the benchmark hub and to
the hub's search space statistics, cache files to Kernel Tuner's simulation mode, T1 problems to Kernel Tuner's schema.

    read_with_kernel_tuner.py FILE...            # with the packages kernel-tuner and autotuning-methodology
    read_with_kernel_tuner.py --tune T1 CACHE    # with pyopencl too: Kernel Tuner tunes the T1 problem on its first device,
                                                 # and writes the cache file CACHE

Without files (a test of the suite) it makes them: it lets clatune measure a problem on the simulated driver. Ends with 77 if a
package is missing."""
import json
import math
import os
import pathlib
import sys
import warnings

# Both write a folder of their own next to the home directory's settings otherwise, or want a display.
os.environ.setdefault("MPLBACKEND", "Agg")
warnings.filterwarnings("ignore")
try:
    import jsonschema
    import kernel_tuner
    from autotuning_methodology.formats_interface import load_T4_format
    from autotuning_methodology.searchspace_statistics import SearchspaceStatistics
    from kernel_tuner import file_utils, util
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TIME_KEYS = ["compilation", "runtimes", "framework", "search_algorithm", "validation"]  # the hub's "all"


def best_of_t4(results):
    times = [m["value"] for r in results if r["invalidity"] == "correct" for m in r["measurements"] if m["name"] == "time"]
    return min(times)


def read_t4(path):
    content = load_T4_format(path, validate=True)  # the hub's schema
    load_T4_format(path, validate=False)  # and the members that it needs if it does not validate
    jsonschema.validate(content, file_utils.output_file_schema("results")[1])
    space = SearchspaceStatistics("it", "device", True, TIME_KEYS, ["time"], path, full_validate=True)
    results = content["results"]
    failed = sum(r["invalidity"] != "correct" for r in results)
    assert space.size == len(results), (space.size, len(results))
    assert space.objective_performances_number_of_nan == failed, (space.objective_performances_number_of_nan, failed)
    best = space.total_performance_absolute_optimum()
    assert math.isclose(best, best_of_t4(results)), (best, best_of_t4(results))
    print(f"{path}: T4, {space.size} results, {failed} failed, optimum {best:.6g} ms, "
          f"{sum(space.objective_times_total_sorted):.6g} s spent")


def read_cache(path):
    """Kernel Tuner searches the whole recorded space and must find the fastest configuration in the file."""
    before = path.read_bytes()
    content = json.loads(before)
    correct = [e for e in content["cache"].values() if "__error__" not in e]
    best = min(e["time"] for e in correct)
    results, _ = kernel_tuner.tune_cache(str(path), quiet=True, strategy="brute_force")
    found = min(r["time"] for r in results if "__error__" not in r)
    assert len(results) == len(correct), (len(results), len(correct))
    assert found == best, (found, best)
    cache = util.read_cache(str(path), open_cache=False)["cache"]
    failed = [e for e in cache.values() if isinstance(e.get("__error__"), util.ErrorConfig)]
    assert len(failed) == len(cache) - len(correct), (len(failed), len(cache), len(correct))
    assert path.read_bytes() == before
    print(f"{path}: cache, {len(cache)} configurations, {len(failed)} failed, Kernel Tuner finds {found:.6g} ms")


def read_t1(path):
    file_utils.get_input_file(path)
    print(f"{path}: T1, valid")


def read(path):
    content = json.loads(path.read_text())
    if "cache" in content:
        read_cache(path)
    elif "results" in content:
        read_t4(path)
    else:
        read_t1(path)


def tune(problem, cache):
    from kernel_tuner.backends.opencl import OpenCLFunctions

    # Version 1.5.0 hands its OpenCL back end the constant arguments of any T1 problem, none here, and that refuses them.
    OpenCLFunctions.copy_constant_memory_args = lambda self, arguments: None
    _, output = kernel_tuner.tune_kernel_T1(pathlib.Path(problem), cache_filepath=cache, device=0)
    print(f"{problem}: Kernel Tuner finds {best_of_t4(output['results']):.6g} ms in {len(output['results'])} results")


def make_and_read():
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "reliability"))
    from simulation import SimulatedTest, main

    class OtherReaders(SimulatedTest):
        def test_they_read_what_clatune_writes(self):
            self.write_problem(8, 5)
            self.simulate(time_s="1e-5 * (1 + 0.02 * abs(a - 3) + 0.03 * abs(b - 2))", fails={"build": "a == 5"})
            record = ("record", "copy.json", "--device", "Simulated", "--store", "s.sqlite", "--quiet")
            self.clatune(*record, "-o", "t4.json")
            self.clatune(*record, "--stored-only", "-o", "cache.json", "--format", "kernel-tuner")
            self.clatune("convert", "cache.json", "-o", "t4_of_cache.json")
            for name in ("t4.json", "cache.json", "t4_of_cache.json"):
                read(self.folder / name)
            read_t1(pathlib.Path(__file__).parents[2] / "examples" / "t1" / "matmul.json")

    globals()["OtherReaders"] = OtherReaders  # where unittest looks
    main()


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--tune":
        tune(sys.argv[2], sys.argv[3])
    elif len(sys.argv) > 1:
        for file in sys.argv[1:]:
            read(pathlib.Path(file))
    else:
        make_and_read()
