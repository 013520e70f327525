"""Moves as verbs are given them: a task file, or a robot with --from, --to and --via."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli.inputs import complete_robot, find_robot, floor_of, seconds, state
from armature.cli.kinds import TASK as TASK_KEYS
from armature.cli.kinds import refuse_other
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.job.job import Job
    from armature.optimize.transcription.task import Via
    from armature.robot.model import Robot

TASK = typer.Argument(
    help="a task file (task.yaml); or with --from a robot's file or name",
    autocompletion=complete_robot,
)
FROM = typer.Option(
    None,
    "--from",
    help="joint coordinates: '0, 90deg, 250mm' or 'elbow=90deg' (others 0)",
    show_default=False,
)
GOAL = typer.Option(
    None, "--to", help="joint coordinates; joints that are not named stay", show_default=False
)
VIA = typer.Option(
    None,
    "--via",
    show_default=False,
    help=(
        "passed on the way, whenever it is best, or at a time: 'elbow=90deg @ 0.6s'; '@ stop' or '@"
        " 0.6s stop' halts; once for each"
    ),
)
DURATION = typer.Option(
    None, "--duration", "-T", help="seconds, e.g. 1.2 or 800ms", show_default=False
)
SMOOTHNESS = typer.Option(
    None,
    "--smoothness",
    min=0.0,
    max=1.0,
    show_default=False,
    help=(
        "0: least energy alone; 0.1 (default): the smoothest motion that keeps 95 % of the saving;"
        " 1: that keeps half of it"
    ),
)
STOP = "stop"


def find_job(
    task: str,
    start: str | None,
    goal: str | None,
    via: list[str] | None,
    duration: str | None,
    given: dict[str, Any],
    smoothness: float | None = None,
    **change: Any,
) -> Job:
    """The job of a task file with what the options change, or that of a robot and its
    configurations.

    given: options that belong to the robot.  change: objective, supply, knots, floor; None where
    the option is not given.
    smoothness: of a move, as in `Move`; None: the file's, or the usual one."""
    floor = change.pop("floor", None)
    if floor is not None:
        job = find_job(task, start, goal, via, duration, given, smoothness, **change)
        return replace(job, task=replace(job.task, floor=floor_of(floor)))
    if start is None and goal is None:
        job = _of_file(
            task,
            via,
            duration,
            given,
            {key: value for key, value in change.items() if value is not None},
        )
    elif start is None or goal is None:
        raise ArgumentError(
            "give both --from and --to, or a task file alone (armature init writes an example)"
        )
    else:
        job = _of_options(task, start, goal, via or [], duration, given, **change)
    return job if smoothness is None else replace(job, task=_smooth(job.task, smoothness))


def _smooth(task: Any, smoothness: float) -> Any:
    from armature.optimize.transcription.task import Move

    if not isinstance(task, Move):
        raise ArgumentError(
            "--smoothness: the task follows a path, whose shape is given; smoothness is for moves"
        )
    return replace(task, smoothness=smoothness)


def _of_file(
    task: str,
    via: list[str] | None,
    duration: str | None,
    given: dict[str, Any],
    change: dict[str, Any],
) -> Job:
    from armature.job.job_file import load_job
    from armature.robot.library import library

    if via or any(value not in (None, [], "0 kg") for value in given.values()):
        raise ArgumentError(
            "with a task file, via points, drives, payload, limits, hold and arguments stand in it;"
            " or give --from, --to"
        )
    if Path(task).suffix.lower() in (".urdf", ".xacro", ".xml") or task in library():
        raise ArgumentError(
            f"{task!r} is a robot: say which motion, by --from and --to, or in a task file"
            f" (armature init --robot {task})"
        )
    refuse_other(task, TASK_KEYS)
    job = replace(load_job(task), **change)
    return (
        job
        if duration is None
        else replace(job, task=replace(job.task, duration=seconds(duration, "--duration")))
    )


def _of_options(
    robot: str,
    start: str,
    goal: str,
    via: list[str],
    duration: str | None,
    given: dict[str, Any],
    objective: str | None = None,
    supply: str | None = None,
    knots: int | None = None,
) -> Job:
    from armature.job.job import Job
    from armature.optimize.transcription.task import Move

    machine = find_robot(robot, **given)
    q0 = state(machine, start, "--from")
    q1 = state(machine, goal, "--to", start=q0)
    T = None if duration is None else seconds(duration, "--duration")
    if T is None and objective != "time":
        raise ArgumentError(
            "a least-energy move needs its duration: -T 1.5; or ask for --objective time"
        )
    move = Move(q0, q1, T, [_via(machine, text, q0) for text in via])
    return Job(machine, move, objective or "energy", supply, knots or 100, machine.name)


def _via(robot: Robot, text: str, start: Any) -> Via:
    """A via point of 'coordinates', 'coordinates @ time', '… @ stop' or '… @ time stop'; joints
    that are not named are where they start."""
    from armature.optimize.transcription.task import Via

    place, at, when = text.partition("@")
    stops = when.split()[-1:] == [STOP]
    when = when.strip().removesuffix(STOP).strip() if stops else when.strip()
    if at and not (when or stops):
        raise ArgumentError(
            f"--via {text!r}: after @ stands when it is passed, such as 0.6s, or stop; without @ it"
            " is passed when it is best"
        )
    if not place.strip():
        raise ArgumentError(
            f"--via {text!r} names no place; give joint coordinates, such as 'elbow=90deg' or"
            " 'elbow=90deg @ 0.6s'"
        )
    return Via(
        state(robot, place, "--via", start=start),
        seconds(when, "--via") if when else None,
        0.0 if stops else None,
    )
