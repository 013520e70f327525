"""`armature ways`: the different ways of a move, over the top, by the side, the other way round, in
other postures; cheapest first."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli.inputs import ARG, DRIVES, FLOOR, HOLD, LIMITS, PAYLOAD, SUPPLY
from armature.cli.move import DURATION, FROM, GOAL, TASK, VIA, find_job
from armature.cli.output import (
    FAILED,
    INTERRUPTED,
    OK,
    Progress,
    answer,
    certificate,
    numbers,
    say,
    table,
)
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.job.job import Job
    from armature.optimize.moves.ways import Way


LINK = typer.Option(
    None,
    help="reach the place and attitude that this link has at the goal, in whatever posture",
    show_default=False,
)
MOST = typer.Option(8, help="ways that are worked out fully", min=1, max=100)
KNOTS = typer.Option(
    None, help="steps in time, 100 by default", show_default=False, min=4, max=20000
)
DEADLINE = typer.Option(None, help="seconds for the search", show_default=False, min=0.01)
SAVE = typer.Option(
    None, help="a folder: every way as a plan of its own, with its page", show_default=False
)


def ways(
    task: str = TASK,
    start: str | None = FROM,
    goal: str | None = GOAL,
    via: list[str] | None = VIA,
    duration: str | None = DURATION,
    link: str | None = LINK,
    most: int = MOST,
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    floor: str | None = FLOOR,
    supply: str | None = SUPPLY,
    knots: int | None = KNOTS,
    deadline: float | None = DEADLINE,
    save: Path | None = SAVE,
) -> int:
    """The different ways from one place to another, each locally best, cheapest first. Exit code 1
    where none is certified."""
    given = {"drives": drives, "payload": payload, "limits": limits, "hold": hold, "arg": arg}
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
    job = _checked(job, save)
    with Progress(f"looking for ways of {job.robot.name}") as progress:
        found = _search(job, link, most, deadline, progress)
    why = "" if found or progress.stopped else _why(job)
    say(_table(found) if found else f"no way was found. {why}".rstrip())
    written = _write(found, job, save)
    told = [
        {
            **numbers(way.solution),
            "certificate": certificate(way.solution),
            "description": way.description,
        }
        for way in found
    ]
    proved = any(way.solution.certificate.ok for way in found)
    answer(
        {
            "ok": proved and not progress.stopped,
            "ways": told,
            "diagnosis": why or None,
            "written": written,
        }
    )
    if progress.stopped:
        return INTERRUPTED
    return OK if proved else FAILED


def _table(found: tuple[Way, ...]) -> str:
    """The ways, a row for each."""
    head = ("way", "energy [J]", "losses [J]", "certified", "how it goes")
    proved = lambda way: "yes" if way.solution.certificate.ok else "NO"
    rows = [
        (k, way.energy, way.solution.losses, proved(way), way.description)
        for k, way in enumerate(found, start=1)
    ]
    return table(head, rows)


def _checked(job: Job, save: Path | None) -> Job:
    """The job, if it is one whose ways can be sought."""
    from armature.optimize.transcription.task import Move

    if not isinstance(job.task, Move):
        raise ArgumentError("ways round are for moves; this task follows a path, which is its way")
    if job.task.duration is None:
        raise ArgumentError(
            "ways are compared at one duration: give -T 1.5, or duration: 1.5 s in the task"
        )
    if save is not None and save.suffix:
        raise ArgumentError(
            f"--save {save}: several ways are written to a folder; give a name without an ending"
        )
    task = job.task if job.scene is None else replace(job.task, scene=job.scene)
    return replace(job, objective="energy", task=task, scene=None)


def _search(
    job: Job, link: str | None, most: int, deadline: float | None, progress: Progress
) -> tuple[Way, ...]:
    from armature.dynamics.compiled import pose
    from armature.optimize.moves.ways import ways_round

    task: Any = job.task
    if link is not None:  # its pose at the goal is asked for; the goal is any posture that has it
        task = replace(task, goal=pose(job.robot, task.vectors(job.robot).q1, link))
    return ways_round(job.robot, task, job.supply, job.knots, link, most, deadline, progress)


def _why(job: Job) -> str:
    """What a plan of the same move is told, where there is no way."""
    with Progress(f"looking for what is in the way of {job.robot.name}") as progress:
        told = job.run(callback=progress).diagnosis
    return "" if told is None else str(told)


def _write(found: tuple[Way, ...], job: Job, save: Path | None) -> list[str]:
    """Every way as a plan in a folder of its own; returns their names."""
    from armature.job.saved import save_plan

    folders: list[Any] = (
        [] if save is None else [save / f"way_{k}" for k in range(1, len(found) + 1)]
    )
    for folder, way in zip(folders, found):
        save_plan(
            way.solution, folder, command=["armature", *sys.argv[1:]], task=job.task, report=True
        )
        say(f"written: {folder}")
    return [str(folder) for folder in folders]
