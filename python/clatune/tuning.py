"""Tuning, looking up, verifying and measuring."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union

from . import command
from .files import write_text
from .generator import Generator
from .problem import Arguments, Expected, Extent, Problem, Sizes, Space, Value
from .progress import Progress, listener
from .result import Configuration, Lookup, Result, configuration_text
from .store import StoreLike, store_flag

#: A problem, or the path of a problem file.
ProblemLike = Union[Problem, str, "os.PathLike[str]"]


def _problem(problem: ProblemLike) -> Problem:
    return problem if isinstance(problem, Problem) else Problem.load(problem)


def tune(problem: ProblemLike | Generator | None = None, kernel: str | Generator | None = None, *, space: Space | Mapping[str, Any] | None = None,
         arguments: Arguments | None = None, global_size: Extent | None = None, local_size: Extent | None = None,
         sizes: Sizes | None = None, answer: Expected | None = None, reference: Mapping[str, Any] | None = None,
         compiler_options: Sequence[str | Mapping[str, Any]] = (), more: Mapping[str, Any] | None = None,
         device: str | None = None, budget: int | None = None, searcher: str | None = None,
         objective: str | Sequence[str] | None = None, store: StoreLike = None, seed: int | None = None, progress: Progress = None, **options: object) -> Result:
    """Searches for the fastest configuration of a kernel. Configurations that are in the store are not measured again.

    problem    a Problem, or the path of a problem file. With `kernel`, its name: the kernel's text or file, or the function that writes
               it, and `space`, `arguments`, `global_size` to `more` as for Problem. ``tune(kernel=function)`` finds the name in the source
    device     the device: a part of its name, "gpu", "0:0" and so on (default: the only one)
    sizes      values of problem parameters
    budget     the maximum number of evaluations (default: the problem's Budget, or 200)
    searcher   the search algorithm (default: "surrogate")
    objective  "time", "energy", a metric of the problem, "maximise ..." or "minimise ..." (default: "time"); or several: the result has
               their ``front``
    store      a Store, a path or a URL (default: the user's store)
    seed       seed of all random choices (default 1)
    progress   None shows it in terminals and notebooks, True always, False never; a function is called with each event
    options    any other option of ``clatune tune``, with ``_`` for ``-``: ``time="5m"``, ``finalists=3``, ``no_store=True``,
               ``learn_from=["a.json.gz"]``

    Raises NoValidConfiguration if no configuration is correct (``error.result`` says why), and Interrupted on Ctrl-C (``result`` is the
    result so far).
    """
    if callable(kernel):
        if problem is not None:
            raise TypeError("kernel is a function, which takes the place of a problem; leave one of them out")
        problem, kernel = kernel, None
    if problem is None:
        raise TypeError("there is nothing to tune; give a problem, a function as kernel, or a kernel's source or file with its name: tune(source, name, ...)")
    if kernel is not None or callable(problem):
        if space is None or arguments is None:
            raise TypeError("a kernel needs space and arguments")
        if isinstance(problem, Problem):
            raise TypeError("a Problem already names its kernel; leave the argument kernel out")
        problem = Problem(problem, kernel, space=space, arguments=arguments, global_size=global_size, local_size=local_size, sizes=sizes,
                          answer=answer, reference=reference, compiler_options=compiler_options, more=more)
        sizes = None
    else:
        for name, value in (("space", space), ("arguments", arguments), ("global_size", global_size), ("local_size", local_size),
                            ("answer", answer), ("reference", reference), ("compiler_options", compiler_options or None), ("more", more)):
            if value is not None:
                raise TypeError(f"{name} needs the kernel's name as second argument; or give {name} to Problem")
        problem = _problem(problem)
    if objective is not None and not isinstance(objective, str):
        objective = ",".join(objective)
    run: dict[str, object] = {"device": device, "budget": budget, "searcher": searcher, "objective": objective, "store": store_flag(store), "seed": seed,
           **options}
    try:
        with problem.explaining(), problem.answering():
            return Result(problem, command.events(["tune", problem.path, "--evaluations", *command.flags(run), *command.size_flags(sizes)],
                                                  listener(progress)), run)
    except (command.Error, command.Interrupted) as error:
        if error.result is not None:
            error.result = Result(problem, error.result, run)
        raise


def lookup(problem: ProblemLike, *, device: str | None = None, sizes: Sizes | None = None, objective: str | None = None,
           store: StoreLike = None, **options: object) -> Lookup:
    """The best known configuration, without measuring. The answer names its basis (docs/how-to/use-the-result.md)."""
    run: dict[str, object] = {"device": device, "objective": objective, "store": store_flag(store), **options}
    problem = _problem(problem)
    with problem.explaining(), problem.answering():
        return Lookup(command.run("lookup", problem.path, *command.flags(run), *command.size_flags(sizes)))


def export(problem: ProblemLike, format: str = "header", path: str | os.PathLike[str] | None = None, *, device: str | None = None,
           sizes: Sizes | None = None, objective: str | None = None, store: StoreLike = None, **options: object) -> str:
    """What ``clatune lookup --format`` prints, without measuring: "header" (C, for every device and size in the store), "source", "options"
    or "cmake". With `path` it is also written to that file."""
    run: dict[str, object] = {"format": format, "device": device, "objective": objective, "store": store_flag(store), **options}
    problem = _problem(problem)
    with problem.explaining(), problem.answering():
        text = command.run_text("lookup", problem.path, *command.flags(run), *command.size_flags(sizes))
    if path is not None:
        write_text(path, text)
    return text


def verify(problem: ProblemLike, configuration: Mapping[str, Value] | None = None, *, device: str | None = None,
           sizes: Sizes | None = None, **options: object) -> dict[str, Any]:
    """Runs a configuration (default: the default configuration) and compares its result with the reference. Raises VerificationFailed if
    they differ."""
    run: dict[str, object] = {"device": device, "configuration": None if configuration is None else configuration_text(configuration), **options}
    answer: dict[str, Any] = _run_checked("verify", problem, run, sizes)
    return answer


def measure(problem: ProblemLike, configurations: Sequence[Mapping[str, Value]], *, device: str | None = None, sizes: Sizes | None = None,
            **options: object) -> list[Configuration]:
    """Times configurations against each other in interleaved rounds. Stores nothing. Raises VerificationFailed if one of them fails."""
    run: dict[str, object] = {"device": device, "configuration": [configuration_text(one) for one in configurations], **options}
    return [Configuration(one) for one in _run_checked("measure", problem, run, sizes)["measurements"]]


def _run_checked(name: str, problem: ProblemLike, run: Mapping[str, object], sizes: Sizes | None) -> Any:
    """Runs the command. The message of VerificationFailed lists the failed configurations of its answer."""
    problem = _problem(problem)
    try:
        with problem.explaining(), problem.answering():
            return command.run(name, problem.path, *command.flags(run), *command.size_flags(sizes))
    except command.VerificationFailed as error:
        if error.result is None:
            raise
        failed = [one for one in error.result.get("measurements", [error.result]) if one.get("reason", "none") != "none"]
        said = [": ".join([configuration_text(one["configuration"]), one["reason"], *([one["log"]] if one.get("log") else [])]) for one in failed]
        raise command.VerificationFailed(problem.explain("\n".join(said) or str(error)), error.exit_code, error.result) from None


def devices() -> list[dict[str, Any]]:
    """The OpenCL devices and their limits."""
    found: list[dict[str, Any]] = command.run("devices")["devices"]
    return found
