"""`armature loads`: what the links carry, at a state or at worst over a motion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from armature.cli.inputs import (
    ARG,
    DRIVES,
    HOLD,
    LIMITS,
    PAYLOAD,
    ROBOT,
    find_motion,
    find_robot,
    state,
)
from armature.cli.output import answer, note, say, table, tidy
from armature.errors import ArgumentError, FileError

KINDS = {"axial": "N", "shear": "N", "torsion": "N·m", "bending": "N·m"}


def loads(
    robot: str = ROBOT,
    motion: Path | None = typer.Option(
        None, "--motion", help="a motion or a saved plan: the worst over it", show_default=False
    ),
    at: str | None = typer.Option(
        None,
        "--at",
        help="joint coordinates of a state at rest; all 0 by default",
        show_default=False,
    ),
    link: str | None = typer.Option(None, "--link", help="one link only", show_default=False),
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    save: Path | None = typer.Option(None, help="write the table: .csv", show_default=False),
) -> None:
    """Axial force, shear, torsion and bending moment in the links' sections, gravity and inertia
    included: the worst along each link."""
    import armature as arm
    from armature.robot import guard

    machine = find_robot(robot, drives, payload, limits, hold, arg)
    moving = [
        j.child for j in machine.joints if machine.link(j.child).mass > 0 or j.kind != "fixed"
    ]
    names = moving if link is None else [guard.known("link", link, machine.link_names)]
    track = (
        find_motion(motion, machine)
        if motion is not None
        else _still(machine, state(machine, at, "--at"))
    )
    rows = []
    for name in names:
        try:
            worst = arm.dynamics.worst_section_loads(machine, track, name)
        except ArgumentError:
            if link is not None:
                raise
            note(f"{name} is left out: it has no extent, so it has no sections")
            continue
        rows += [
            (name, kind, worst[kind].value, unit, worst[kind].time, worst[kind].along)
            for kind, unit in KINDS.items()
        ]
    head = ("link", "load", "worst", "unit", "at [s]", "along the link")
    say(table(head, _readable(rows)))
    if save is not None:
        _write(save, head, rows)
    answer(
        {
            "robot": machine.name,
            "loads": [
                dict(zip(("link", "load", "worst", "unit", "time", "along"), row)) for row in rows
            ],
        }
    )


def _readable(rows: list[Any]) -> list[Any]:
    """The rows with what is but rounding, among the values of its unit, as 0."""
    scale = {unit: tidy([row[2] for row in rows if row[3] == unit]) for unit in set(KINDS.values())}
    values = {unit: iter(column) for unit, column in scale.items()}
    return [(*row[:2], next(values[row[3]]), *row[3:]) for row in rows]


def _still(robot: Any, q: Any) -> Any:
    """A state at rest as a motion of one knot."""
    import numpy as np

    from armature.motion.trajectory import Trajectory

    rest = np.zeros((1, robot.n))
    return Trajectory(np.zeros(1), q[None], rest, rest, robot.joint_names)


def _write(path: Path, head: tuple[str, ...], rows: list[tuple]) -> None:
    if path.suffix.lower() != ".csv":
        raise FileError("the ending must be .csv", path)
    from armature.write import csv_text, write_whole

    write_whole(path, csv_text([head, *rows]), table=True)
    say(f"written: {path}")
