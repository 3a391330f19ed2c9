"""A search for your own measuring loop: ask for configurations, tell their results."""
from __future__ import annotations

import concurrent.futures
import contextlib
import json
import math
import numbers
import os
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Union

from . import command
from .problem import Problem, Sizes, Space, Value, _plain
from .result import Configuration
from .store import StoreLike, store_flag

#: Seconds, or a value of the objective. Several are the values of repeated runs; the minimum counts.
Outcome = Union[float, Sequence[float]]


class Failed(Exception):
    """Raised by a function given to Optimizer.run if a configuration fails. docs/reference/serve.md#tell lists the values of `reason`."""

    def __init__(self, reason: str = "unknown", log: str | None = None):
        super().__init__(reason, log)
        self.reason = reason
        self.log = log


def _finish(process: command.Process) -> None:
    """Ends the process: it stops at the end of its input."""
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    process.wait()


def _check_outcome(outcome: Any, is_time: bool) -> None:
    if not isinstance(outcome, (numbers.Number, Iterable)) or isinstance(outcome, (bytes, Mapping)):
        raise TypeError(f"the outcome must be a number or several, not {outcome!r}")
    values: Any = [outcome] if isinstance(outcome, (str, numbers.Number)) else list(outcome) or [None]
    for one in values:
        if isinstance(one, numbers.Real) and not math.isfinite(one):
            raise ValueError(f"the outcome is {one}; give a finite number, or reason=\"run-error\" (in run: raise clatune.Failed) if the configuration failed")
        if isinstance(one, bool) or not isinstance(one, numbers.Real):
            raise TypeError(f"the outcome must be a number, not {one!r}")
        if is_time and one <= 0:
            raise ValueError(f"the outcome {one} is not a time: seconds are above 0; for scores, give the Optimizer an objective of your own")


def _configurations(answer: Mapping[str, Any]) -> list[Configuration]:
    return [Configuration({"configuration": one, **{key: answer[key][i] for key in ("options", "launches") if key in answer}})
            for i, one in enumerate(answer.get("configurations", []))]


class Optimizer:
    """A search in which your program measures the configurations (docs/how-to/your-own-measuring-loop.md).

    >>> with Optimizer(Space({"block": [16, 32, 64], "unroll": [1, 2, 4]}), budget=20) as optimizer:
    ...     while (configuration := optimizer.ask()) is not None:
    ...         optimizer.tell(configuration, measure(**configuration))
    ...     print(optimizer.best)

    space      a Space, its parameters, a Problem, or the path of a problem file. A problem's default configuration comes first
    budget     the number of configurations (default: the problem's Budget, or 200)
    searcher   the search algorithm (default: "surrogate")
    objective  "time", "maximise ..." or "minimise ..." with an expression over times and parameters; or your own metric, whose values
               are told instead of seconds: ``{"name": "throughput", "unit": "images/s", "goal": "maximise"}``
    seed       seed of all random choices (default 1)
    store      keeps the results for later searches with the same space, name and seed (default: none)
    name       the name of the problem in the store
    device     with a problem: its limits apply, and the store records the results for it
    sizes      values of problem parameters
    options    options of the searcher, with ``_`` for ``-``: ``samples=50``

    Several threads may ask and tell. The search ends with the block, or with close().
    """

    def __init__(self, space: Space | Mapping[str, Any] | Problem | str | os.PathLike[str], *, budget: int | None = None,
                 searcher: str | None = None, objective: str | Mapping[str, str] | None = None, seed: int | None = None,
                 store: StoreLike = None, name: str | None = None, device: str | None = None, sizes: Sizes | None = None,
                 tolerance: float | None = None, threads: int | None = None, **options: object):
        place = store_flag(store)
        is_file = not isinstance(space, (Space, Mapping))
        if not is_file and (device is not None or sizes):
            raise TypeError("device and sizes need a problem; give a Problem instead of a space")
        if isinstance(space, Mapping):
            space = Space(space)
        begin: dict[str, Any] = {
            "space": space.to_json() if isinstance(space, Space) else {"problem": os.path.abspath(os.fspath(space)), "device": device,
                                                                       "sizes": dict(sizes or {})},
            "budget": budget, "searcher": searcher, "objective": dict(objective) if isinstance(objective, Mapping) else objective,
            "seed": seed, "name": name, "tolerance": tolerance, "threads": threads,
            "settings": {option.replace("_", "-"): value for option, value in options.items()} or None}
        self._problem = space  # keeps the folder of a temporary problem
        self._lock = threading.RLock()
        self._left: list[Configuration] = []  # asked for before an interruption; returned again
        self._last_id = 0
        self._process = command.Process(["serve", "--stdio", "--quiet", *command.flags({"store": place})], stdin=True)
        self._end = weakref.finalize(self, _finish, self._process)
        self._over = False
        try:
            with space.explaining() if isinstance(space, Problem) else contextlib.nullcontext():
                self.json = self._request({key: value for key, value in begin.items() if value is not None})  #: the description of the search
        except BaseException:
            self.close()
            raise

    def _request(self, what: Mapping[str, Any]) -> dict[str, Any]:
        """Sends a request and returns its answer. The answer to an interrupted request may come first; its configurations are kept."""
        with self._lock:
            if not self._end.alive:
                raise command.Error("the optimizer is closed; make a new one")
            self._last_id += 1
            line = json.dumps({"id": self._last_id, **_plain(what)}, allow_nan=False)
            try:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
                while True:
                    text = self._process.stdout.readline()
                    if not text:
                        break
                    answer: dict[str, Any] = json.loads(text)
                    if answer.pop("id", self._last_id) != self._last_id:
                        self._left += _configurations(answer)
                        continue
                    if "error" in answer:
                        raise command.Error(answer["error"])
                    return answer
            except BrokenPipeError:
                pass
            self._end.detach()
            code = self._process.wait()
            raise command.failure(code, self._process.message())

    def ask(self) -> Configuration | None:
        """The next configuration. None if the search is `over`, or if it waits for results of earlier configurations."""
        found = self.ask_many(1)
        return found[0] if found else None

    def ask_many(self, n: int) -> list[Configuration]:
        """Up to n configurations to measure at the same time."""
        with self._lock:
            found, self._left = self._left[:n], self._left[n:]
            if len(found) < n:
                answer = self._request({"ask": n - len(found)})
                self._over = answer["over"] and not found
                found += _configurations(answer)
            return found

    def pending(self) -> list[Configuration]:
        """The configurations that were asked for and have no result yet."""
        return _configurations(self._request({"pending": True}))

    def tell(self, configuration: Mapping[str, Value], outcome: Outcome | None = None, *, reason: str | None = None, log: str | None = None,
             energy_J: float | None = None) -> bool:
        """Gives the result of a configuration: seconds or a value of the objective; or the `reason` why it failed, with an optional message
        `log`. Returns whether it is the best so far. Results that are told before the first ask() are the start of the search."""
        if (outcome is None) == (reason is None):
            raise TypeError("give either the outcome of the configuration or the reason why it failed")
        told = {"configuration": dict(configuration), self.json["tell"]: outcome, "reason": reason, "log": log, "energy_J": energy_J}
        try:
            if outcome is not None:
                _check_outcome(outcome, self.json["tell"] == "time_s")
            answer = self._request({"tell": {key: value for key, value in told.items() if value is not None}})
        except (TypeError, ValueError, command.Error):
            if self._end.alive and configuration in self.pending():
                self._ask_again(configuration)
            raise
        with self._lock:
            self._left = [one for one in self._left if one != configuration]
        return bool(answer["best"])

    def _ask_again(self, configuration: Mapping[str, Value]) -> None:
        """It has no result, so the next ask() hands it out again."""
        with self._lock:
            if configuration not in self._left:
                self._left.append(configuration if isinstance(configuration, Configuration) else
                                  Configuration({"configuration": dict(configuration)}))

    def run(self, measure: Callable[..., Outcome], *, workers: int = 1) -> Configuration | None:
        """Calls ``measure(**configuration)`` in `workers` threads until the search is over, and returns the best configuration. If `measure`
        raises Failed, the configuration failed. Any other exception ends the loop; the next call measures that configuration again."""
        def one(configuration: Configuration) -> None:
            try:
                outcome = measure(**configuration)
                if outcome is None:
                    raise TypeError("the function returned None; return the outcome, or raise clatune.Failed")
                self.tell(configuration, outcome)
            except Failed as failed:
                self.tell(configuration, reason=failed.reason, log=failed.log)
            except BaseException as error:
                error.add_note(f"while measuring {configuration.text}")
                self._ask_again(configuration)
                raise

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            busy: set[concurrent.futures.Future[None]] = set()
            while True:
                while len(busy) < workers and (configuration := self.ask()) is not None:
                    busy.add(pool.submit(one, configuration))
                if not busy:
                    return self.best
                done, busy = concurrent.futures.wait(busy, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    future.result()

    @property
    def over(self) -> bool:
        """Whether the last ask reached the end of the search."""
        return self._over

    @property
    def best(self) -> Configuration | None:
        """The best configuration so far; ``best.json["value"]`` is its value of the objective."""
        answer = self._request({"best": True})
        return Configuration(answer["best"]) if answer["best"] else None

    def counts(self) -> dict[str, int]:
        """The numbers of `evaluations`, and of configurations that are `pending` or `failed`."""
        answer = self._request({"best": True})
        return {name: answer[name] for name in ("evaluations", "pending", "failed")}

    def close(self) -> None:
        """Ends the search. A store keeps the results."""
        self._end()

    def __enter__(self) -> Optimizer:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()
