"""What a verb says: a table for people or one JSON object for programs; progress and warnings on
stderr; no broken pipes."""

from __future__ import annotations

import json
import math
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any

from armature.errors import ArgumentError, ArmatureWarning

PATIENCE = 2.0  # seconds before a line is printed where there is no terminal
EARLY = 0.3  # seconds after which it is told that something is being compiled
OK, FAILED, BAD_INPUT, INTERNAL, INTERRUPTED, CLOSED_PIPE = 0, 1, 2, 3, 130, 141


@dataclass
class Settings:
    """How this run speaks. json: one object on stdout.  quiet: errors only.  debug: tracebacks.
    warned: what was warned of, once each."""

    json: bool = False
    quiet: bool = False
    debug: bool = False
    warned: list[str] = field(default_factory=list)


settings = Settings()


def start(quiet: bool = False, json: bool = False, debug: bool = False) -> None:
    """Forget the last run's settings; errors of encoding become question marks."""
    settings.quiet, settings.json, settings.debug, settings.warned = quiet, json, debug, []
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    warnings.showwarning = _warn  # type: ignore[assignment]


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    text = str(message)
    if text in settings.warned or not (issubclass(category, ArmatureWarning) or settings.debug):
        return
    settings.warned.append(text)
    if not settings.quiet:
        print(f"warning: {text}", file=sys.stderr)


def say(*texts: object) -> None:
    """Lines for people; nothing with --quiet or --json."""
    if not (settings.quiet or settings.json):
        for text in texts:
            print(text)


def answer(data: Mapping[str, Any]) -> None:
    """The answer for programs: one JSON object on stdout, with --json only. Numbers that are not
    finite become null."""
    if settings.json:
        print(json.dumps(plain({**data, "warnings": settings.warned}), ensure_ascii=False))


def plain(value: Any) -> Any:
    """Mappings, lists, words and finite numbers of anything that can be said in JSON; complex
    numbers as [re, im]."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def note(text: str) -> None:
    """A line on stderr that does not disturb the answer; nothing with --quiet."""
    if not settings.quiet:
        print(text, file=sys.stderr)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their cells; numbers to the right."""
    cells = [[_cell(x) for x in row] for row in rows]
    right = (
        [all(isinstance(row[k], int | float) for row in rows) for k in range(len(head))]
        if (rows := list(rows))
        else []
    )
    widths = [
        max(len(h), *(len(row[k]) for row in cells)) if cells else len(h)
        for k, h in enumerate(head)
    ]
    side = lambda text, k: (
        text.rjust(widths[k]) if k < len(right) and right[k] else text.ljust(widths[k])
    )
    return "\n".join(
        "  ".join(side(x, k) for k, x in enumerate(row)).rstrip() for row in [list(head), *cells]
    )


def tidy(values: Iterable[float]) -> list[float]:
    """Numbers of one unit for reading: what is below 1e-9 of the largest is rounding, and becomes
    0."""
    column = [float(x) for x in values]
    least = 1e-9 * max((abs(x) for x in column if math.isfinite(x)), default=0.0)
    return [x if not abs(x) < least else 0.0 for x in column]


def _cell(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


class Progress:
    """Shows how a search goes: a live line on terminals; elsewhere, after two seconds, a line every
    ten. Used as a context.

    Call it with every iteration of the solver; until the first one comes, what is needed for the
    robot is being compiled, and that is told. The first Ctrl-C makes it answer True, which ends the
    search with the best motion so far; the second one ends the program."""

    def __init__(self, title: str):
        self.title = title
        self.live = sys.stderr.isatty() and not (settings.quiet or settings.json)
        self.stopped = False
        self.begin = self.told = time.monotonic()
        self.wait = (
            EARLY  # until the first iteration: a new machine compiles, and that is told early
        )
        self._status: Any = None
        self._begun = threading.Event()  # the first iteration, or the end

    def __enter__(self) -> Progress:
        if self.live:
            from rich.console import Console
            from rich.status import Status

            self._status = Status(f"{self.title} …", console=Console(stderr=True))
            self._status.start()
        threading.Thread(target=self._compiling, name="armature progress", daemon=True).start()
        try:
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        except ValueError:  # not in the main thread
            self._before = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._begun.set()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._status is not None:
            self._status.stop()

    def _interrupt(self, *_: Any) -> None:
        from armature.optimize.problem.interrupt import request_stop

        request_stop()
        self.stopped = True
        note("stopping with the best motion so far; Ctrl-C again leaves at once")

    def __call__(self, iteration: Any) -> bool:
        """Tell of an iteration (number, cost, violation); True asks to stop."""
        if not self._begun.is_set():
            self._begun.set()
            self.wait = PATIENCE
        self._tell(
            f"iteration {iteration.number}, cost {iteration.cost:.6g}, violation"
            f" {iteration.violation:.1e}"
        )
        return self.stopped

    def _compiling(self) -> None:
        """Until the first iteration: tell what is being waited for."""
        from armature.kernel.activity import compiled_now

        while not self._begun.wait(0.2):
            what = compiled_now()
            if time.monotonic() - self.begin > (EARLY if what else PATIENCE):
                what = what or "for this robot"
                self._tell(f"compiling {what} (kept on disk: later runs start at once)")

    def _tell(self, words: str) -> None:
        """A line on how it goes, if it is time for one."""
        seconds = time.monotonic() - self.begin
        if self._status is not None:
            self._status.update(f"{self.title}: {words}, {seconds:.1f} s")
        elif time.monotonic() - self.told > self.wait:
            self.told, self.wait = time.monotonic(), 10.0
            note(f"{self.title}: {words}, {seconds:.0f} s")


def say_written(files: list[str]) -> list[str]:
    """Tell which files were written; they are returned."""
    for name in files:
        say(f"written: {name}")
    return files


def say_sensitivities(solution: Any) -> None:
    """The table of a plan, or why there is none: the plan stands either way."""
    try:
        say(solution.sensitivities())
    except ArgumentError as e:
        say(f"no sensitivities: {e}")


def numbers(solution: Any) -> dict[str, Any]:
    """A plan's numbers, SI; those of energy are None where there is no plan."""
    base, counted = solution.baseline if solution.ok else None, bool(solution.robot.drives)
    energies = lambda book: (
        {"energy": book.energy, "losses": book.losses}
        if counted
        else {"energy": None, "losses": None}
    )
    return {
        "ok": solution.ok,
        "status": solution.status.value,
        "diagnosis": None if solution.diagnosis is None else str(solution.diagnosis),
        "robot": solution.robot.name,
        "duration": solution.duration,
        "energy": solution.energy if solution.ok else None,
        "losses": solution.losses if solution.ok else None,
        "saving": solution.saving,
        "baseline": None if base is None else {**energies(base.ledger), "feasible": base.feasible},
        "iterations": len(solution.iterations),
        "seconds": solution.seconds,
        "peaks": [asdict(peak) for peak in solution.peaks] if solution.ok else [],
        "notes": list(solution.notes),
    }


def certificate(solution: Any) -> dict[str, Any]:
    """The certificate's numbers; where there is no plan there is nothing to certify."""
    if not solution.ok:
        return {"ok": False, "worst": None, "tracking_error": None, "energy_error": None}
    c = solution.certificate
    return {
        "ok": c.ok,
        "worst": None if c.worst is None else str(c.worst),
        "tracking_error": c.tracking_error,
        "energy_error": c.energy_error,
    }
