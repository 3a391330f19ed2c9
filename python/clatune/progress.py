"""The progress of a tuning, shown in a terminal or a notebook."""
from __future__ import annotations

import html
import importlib
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any, Union

from .result import seconds

#: A function that is called with each event (docs/reference/json.md#events).
Listener = Callable[[dict[str, Any]], None]
#: True shows the progress always, None in a terminal or a notebook, False never.
Progress = Union[bool, Listener, None]

_PERIOD_S = 0.1


class Bar:
    """A line with the progress of a tuning, updated by its events."""

    def __init__(self) -> None:
        self.problem = self.phase = self.waits = ""
        self.done = self.total = self.failed = 0
        self.best: str = "-"
        self.elapsed_s = 0.0
        self._unit = "s"
        self._next_s = 0.0

    def update(self, event: dict[str, Any]) -> None:
        self.done = event.get("evaluations", self.done)
        self.waits = event.get("waits", "")
        self.elapsed_s = event.get("elapsed_s", self.elapsed_s)
        if event["event"] == "started":
            self.problem, self._unit = event["problem"], event["objective"]["unit"]
        elif event["event"] == "phase":
            self.phase, self.total = event["phase"], event["total"]
        elif event["event"] == "evaluation":
            self.failed += event["reason"] != "none"
        elif event["event"] == "incumbent":
            self.best = seconds(event["value"]) if self._unit == "s" else f"{event['value']:.5g} {self._unit}"

    def __call__(self, event: dict[str, Any]) -> None:
        self.update(event)
        if event["event"] == "finished":
            self.end()
        elif event["event"] == "phase" or time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + _PERIOD_S
            self.show()

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0

    def __str__(self) -> str:
        total = f"/{self.total}" if self.total > 0 else ""
        failed = f"  failed {self.failed}" if self.failed else ""
        waits = f": {self.waits}" if self.waits else ""
        return f"{self.problem}  {self.phase}  {self.done}{total}  best {self.best}  {self.elapsed_s:.0f} s{failed}{waits}"

    def show(self) -> None:
        pass

    def end(self) -> None:
        pass


class TerminalBar(Bar):
    def show(self) -> None:
        columns = shutil.get_terminal_size().columns
        print(f"\r{str(self)[:columns - 1]:<{columns - 1}}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        print("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r", end="", file=sys.stderr, flush=True)


class LineBar(Bar):
    """One line per phase, for logs."""

    def __call__(self, event: dict[str, Any]) -> None:
        self.update(event)
        if event["event"] == "phase":
            print(f"clatune: {self}", file=sys.stderr, flush=True)


class NotebookBar(Bar):
    """An output of a notebook that is updated in place."""

    def __init__(self) -> None:
        super().__init__()
        self._display = importlib.import_module("IPython.display").display
        self._handle: Any = None

    def _repr_html_(self) -> str:
        return f'<progress value="{self.share:.3f}" style="vertical-align:middle"></progress> {html.escape(str(self))}'

    def __repr__(self) -> str:
        return str(self)

    def show(self) -> None:
        if self._handle is None:
            self._handle = self._display(self, display_id=True)
        else:
            self._handle.update(self)

    def end(self) -> None:
        self.phase = "done"
        self.show()


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def listener(progress: Progress) -> Listener:
    """The function that shows the progress."""
    if isinstance(progress, bool) or progress is None:
        if progress is not False and _in_notebook():
            return NotebookBar()
        if progress is not False and sys.stderr.isatty():
            return TerminalBar()
        if progress:
            return LineBar()
        return lambda event: None
    return progress
