"""`armature excite`: the motion to record for identification."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.cli.inputs import (
    ARG,
    DRIVES,
    FLOOR,
    HOLD,
    LIMITS,
    PAYLOAD,
    ROBOT,
    find_robot,
    floor_of,
)
from armature.cli.output import answer, note, say


def excite(
    robot: str = ROBOT,
    duration: float = typer.Option(..., "--duration", help="of the motion, s", min=2.0),
    save: Path = typer.Option(
        ..., "--save", help="write the motion: .csv, .npz, .json, .yaml (ROS 2), …"
    ),
    criterion: str = typer.Option(
        "E",
        help=(
            "E: the worst known combination as well known as possible; D: least volume of all"
            " errors"
        ),
    ),
    harmonics: int | None = typer.Option(
        None, help="of each joint's Fourier series", show_default=False, min=2, max=50
    ),
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    floor: str | None = FLOOR,
    scene: Path | None = typer.Option(
        None, "--scene", help="YAML file with obstacles to keep clear of", show_default=False
    ),
) -> None:
    """The motion to record for `identify`: within all limits, certified, after which the parameters
    are known best."""
    from armature.motion.formats import FORMATS
    from armature.optimize.excitation.exciting import exciting_motion
    from armature.scene.read import load_scene
    from armature.write import check_ending, check_target

    check_ending(save, tuple(FORMATS), "--save")
    check_target(save)
    machine = find_robot(robot, drives, payload, limits, hold, arg)
    around = None if scene is None else load_scene(scene)
    level = "auto" if floor is None else floor_of(floor)
    found = exciting_motion(machine, duration, harmonics, criterion, around, level, progress=note)
    found.trajectory.save(save)
    say(found, f"written: {save}")
    answer(
        {
            "ok": True,
            "written": [str(save)],
            "condition": found.condition,
            "random_condition": found.random_condition,
            "error_ratio": found.error_ratio,
            "duration": found.trajectory.duration,
            "proved": found.certificate.proved,
        }
    )
