"""`armature line`: stations that share a cycle, slowed down to use it with the least energy."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli import output
from armature.cli.kinds import refuse_other

if TYPE_CHECKING:
    from armature.study.line import BalancedLine


def line(
    file: Path = typer.Argument(help="line file (.yaml); armature init writes an example"),
    cycle: float | None = typer.Option(
        None, "--cycle", help="s; instead of the slowest station's least time", show_default=False
    ),
    picture: Path | None = typer.Option(
        None, "--plot", help="picture to write: .png, .svg or .pdf", show_default=False
    ),
    save: Path | None = typer.Option(
        None, "--save", help="folder for the plans of all moves", show_default=False
    ),
) -> int:
    """Use the whole cycle of a line at every station with the least energy: before and after, with
    certified plans.

    A file with `tasks:` has them allocated to the stations first, so that the cycle is least.

    Exit codes: 0 all plans are certified; 1 one is not; 2 bad input, or a cycle that is too short.
    """
    from dataclasses import asdict, replace

    from armature.cell.line.line_tasks import balance_tasks, has_tasks, load_line_tasks
    from armature.study.line import balance_line
    from armature.study.line_file import load_line

    refuse_other(file, frozenset({"stations"}))
    open_ = has_tasks(file)
    what = load_line_tasks(file) if open_ else load_line(file)
    what = what if cycle is None else replace(what, cycle=cycle)
    allocation = None
    with Steps(what.name) as steps:
        if open_:
            allocation, found = balance_tasks(what, progress=steps)  # type: ignore[arg-type]
        else:
            found = balance_line(what, progress=steps)  # type: ignore[arg-type]
    output.say(*([] if allocation is None else [allocation, ""]), found)
    output.say(
        "",
        output.table(
            ("station", "move", "least s", "planned s", "wait s", "before J", "after J"),
            moves(found),
        ),
    )
    if picture is not None:
        from armature.plot.programs.line import line as draw

        draw(found, save=picture)
        output.say(f"written: {picture}")
    if save is not None:
        written(found, save)
    output.answer(facts(found) | ({} if allocation is None else {"allocation": asdict(allocation)}))
    return output.OK if found.certified else output.FAILED


def moves(found: BalancedLine) -> list[list[Any]]:
    """One line for every move."""
    return [
        [s.name, m.name, m.least.duration, m.plan.duration, m.wait, m.before, m.after]
        for s in found.stations
        for m in s.moves
    ]


def written(found: BalancedLine, folder: Path) -> None:
    """Write every plan: folder/station-move.npz."""
    from armature.job.saved import save_plan

    folder.mkdir(parents=True, exist_ok=True)
    for s in found.stations:
        for k, m in enumerate(s.moves, 1):
            name = "".join(c if c.isalnum() else "_" for c in f"{s.name}-{k}-{m.name}")
            save_plan(m.plan, folder / f"{name}.npz")
    output.say(f"written: {folder}")


def facts(found: BalancedLine) -> dict[str, Any]:
    """What programs want to know: times in s, energies in J."""
    heads = ("move", "least_time", "duration", "wait", "energy_before", "energy_after")
    stations = [
        {
            "name": s.name,
            "least_time": s.least_time,
            "energy_before": s.before,
            "energy_after": s.after,
            "certified": s.certified,
            "moves": [dict(zip(heads, row[1:])) for row in moves(found) if row[0] == s.name],
        }
        for s in found.stations
    ]
    totals = {"energy_before": found.before, "energy_after": found.after, "saving": found.saving}
    return {
        "ok": found.certified,
        "name": found.name,
        "cycle": found.cycle,
        "slowest": found.slowest,
        **totals,
        "stations": stations,
    }


class Steps:
    """A bar over the moves on stderr. Used as a context."""

    def __init__(self, title: str):
        self.title, self._bar = title, None
        self.told, self.wait = time.monotonic(), output.PATIENCE
        self.live = sys.stderr.isatty() and not (output.settings.quiet or output.settings.json)

    def __enter__(self) -> Steps:
        if self.live:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
            self._bar: Any = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(self.title, total=None)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show what is being done: on terminals a bar, elsewhere a line after two seconds, then
        every ten."""
        if not self.live and time.monotonic() - self.told > self.wait:
            self.told, self.wait = time.monotonic(), 10.0
            output.note(f"{self.title}: {what} ({done} of {total})")
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, description=what)
