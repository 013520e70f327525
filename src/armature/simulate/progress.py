"""A progress line for runs that take more than two seconds, on terminals only; and Ctrl-C, which
ends a run but keeps it."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

PATIENCE = 2.0  # seconds before anything is shown


class Progress:
    """Shows how far a run has come. Used as a context; a KeyboardInterrupt inside is caught and
    noted in `interrupted`."""

    def __init__(self, title: str, total: float, unit: str = "s", shown: bool | None = None):
        self.title, self.total, self.unit = title, total, unit
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.interrupted = False
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if self._bar is not None:
            self._bar.stop()
        self.interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        return self.interrupted

    def update(self, done: float) -> None:
        """`done` of `total` is behind us."""
        if not self.shown or time.monotonic() - self._start < PATIENCE:
            return
        bar = self._bar or self._open()
        bar.update(self._task, completed=done)

    def _open(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        counter = TextColumn("{task.completed:.4g} of {task.total:.4g} " + self.unit)
        columns = (TextColumn("{task.description}"), BarColumn(), counter, TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self.title, total=self.total)
        self._bar.start()
        return self._bar
