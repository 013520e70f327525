"""`armature curve`: what a move costs at every duration, where it is cheapest, and whether to hurry
and wait on the brake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from armature.cli.inputs import (
    ARG,
    DRIVES,
    FLOOR,
    HOLD,
    LIMITS,
    PAYLOAD,
    SUPPLY,
    coordinates,
    seconds,
)
from armature.cli.move import FROM, GOAL, TASK, VIA, find_job
from armature.cli.output import FAILED, INTERRUPTED, OK, Progress, answer, say, table
from armature.cli.plan import is_program
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.optimize.moves.curve import Curve


DURATION = typer.Option(
    None, "--duration", "-T", help="of which given passing times are parts", show_default=False
)
DURATIONS = typer.Option(
    None,
    help="seconds: '0.8, 1, 1.5', or 'least … most : count' as 0.8:3:20",
    show_default=False,
)
KNOTS = typer.Option(100, help="steps in time", min=4, max=20000)
PICTURES = (".png", ".svg", ".pdf")
SAVE = typer.Option(
    None, help="write the table (.csv) or the picture (.png, .svg, .pdf)", show_default=False
)
PICTURE = typer.Option(None, help="write the picture too: .png, .svg or .pdf", show_default=False)


def curve(
    task: str = TASK,
    start: str | None = FROM,
    goal: str | None = GOAL,
    via: list[str] | None = VIA,
    duration: str | None = DURATION,
    durations: str | None = DURATIONS,
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    floor: str | None = FLOOR,
    supply: str | None = SUPPLY,
    knots: int = KNOTS,
    save: Path | None = SAVE,
    picture: Path | None = PICTURE,
) -> int:
    """Energy against duration: a table, its minima, and advice. Exit code 1 where no duration is
    feasible.

    Of a task file with program: energy against the cycle, up to -T (by default three times the
    least cycle)."""
    if start is None and goal is None and is_program(task):
        from armature.cli.program import curve_of_file

        return curve_of_file(Path(task), duration, supply, save or picture)
    from armature.optimize.moves.curve import energy_time_curve
    from armature.optimize.transcription.task import Move

    given = {"drives": drives, "payload": payload, "limits": limits, "hold": hold, "arg": arg}
    # objective: a move needs no duration here
    job = find_job(
        task,
        start,
        goal,
        via,
        duration,
        given,
        objective="time",
        supply=supply,
        knots=knots,
        floor=floor,
    )
    job = job.without_scene("the energy-time curve")
    if not isinstance(job.task, Move):
        raise ArgumentError(
            "energy against time is for moves; this task follows a path, whose best duration"
            " `armature plan` finds"
        )
    if job.task.duration is None and any(point.at is not None for point in job.task.via):
        raise ArgumentError("passing times of via points are parts of a duration: give it, -T 1.5")
    times = None if durations is None else _durations(durations)
    _check_targets(save, picture)
    with Progress(
        f"planning {job.robot.name} at {'50' if times is None else len(times)} durations"
    ) as progress:
        found = energy_time_curve(job.robot, job.task, times, job.supply, knots, callback=progress)
    if progress.stopped:
        answer({"ok": False})
        return INTERRUPTED
    return _report(found, save, picture)


def _report(found: Curve, save: Path | None, picture: Path | None) -> int:
    """Print the curve and write it."""
    rows = list(zip(found.durations.tolist(), found.energies.tolist(), found.losses.tolist()))
    say(
        table(
            ("duration [s]", "energy [J]", "losses [J]"),
            [[x if x == x else "none" for x in row] for row in rows],
        ),
        *(f"minimum at {T:.4g} s: {E:.4g} J" for T, E in found.minima),
        found.advice.replace(
            "energy_time_curve without durations", "without --durations armature curve"
        ),
    )
    written = _write(found, rows, save, picture)
    answer(
        {
            "durations": found.durations,
            "energies": found.energies,
            "losses": found.losses,
            "minima": found.minima,
            "resonance": found.resonance,
            "advice": found.advice,
            "written": written,
        }
    )
    return OK if any(E == E for _, E, _ in rows) else FAILED


def _check_targets(save: Path | None, picture: Path | None) -> None:
    """Refuse before anything is planned what cannot be written afterwards."""
    from armature.write import check_ending, check_target

    asked = ((save, (".csv", *PICTURES), "--save"), (picture, PICTURES, "--picture"))
    for path, endings, what in asked:
        if path is not None:
            check_ending(path, endings, what)
            check_target(path)


def _durations(text: str) -> list[float]:
    """'0.8, 1, 1.5' or '0.8:3:20'."""
    import numpy as np

    parts = text.split(":")
    if len(parts) == 1:
        return coordinates(text, "--durations", ("s",))
    ends = [seconds(part, "--durations") for part in parts[:2]]
    count = parts[2].strip() if len(parts) == 3 else ""
    if not count.isdigit() or not 2 <= int(count) <= 1000 or not 0 < ends[0] < ends[1]:
        raise ArgumentError(f"--durations {text!r} is not least:most:count, such as 0.8:3:20")
    return np.geomspace(ends[0], ends[1], int(count)).tolist()


def _write(found, rows: list, save: Path | None, picture: Path | None) -> list[str]:
    from armature.plot.curve import curve as draw
    from armature.write import write_whole

    written = []
    for path in (p for p in (save, picture) if p is not None):
        if path.suffix.lower() == ".csv":
            lines = [
                "duration [s],energy [J],losses [J]",
                *(",".join(repr(x) for x in row) for row in rows),
            ]
            write_whole(path, "\n".join(lines) + "\n", table=True)
        else:
            draw(found, save=path)
        say(f"written: {path}")
        written.append(str(path))
    return written
