"""`armature figure`: one of the figures of a motion kept in a file."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.cli.inputs import (
    ARG,
    DRIVES,
    HOLD,
    LIMITS,
    PAYLOAD,
    ROBOT,
    SUPPLY,
    find_motion,
    find_robot,
)
from armature.cli.output import answer, say
from armature.errors import ArgumentError

NAMES = ("motion", "graf", "power", "torque-speed", "ledger", "temperature")


def figure(
    name: str = typer.Argument(help=f"one of: {', '.join(NAMES)}", autocompletion=lambda: NAMES),
    robot: str = ROBOT,
    trajectory: Path = typer.Argument(
        help="the motion, as written by plan --save, or a saved plan"
    ),
    save: Path = typer.Option(..., "--save", help="picture to write: .png, .svg or .pdf"),
    supply: str | None = SUPPLY,
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
) -> None:
    """Draw a motion, its currents against velocity (graf), its power, its torques, where its energy
    went, or how the windings warm up."""
    import armature as arm
    from armature import plot

    if name not in NAMES:
        raise ArgumentError(f"there is no figure {name!r}; choose one of {', '.join(NAMES)}")
    machine = find_robot(robot, drives, payload, limits, hold, arg)
    track = find_motion(trajectory, machine)
    draw = {
        "motion": lambda: plot.motion(machine, track, save=save),
        "graf": lambda: plot.graf(machine, track, save=save),
        "power": lambda: plot.power(machine, track, supply, save=save),
        "torque-speed": lambda: plot.torque_speed(machine, track, save=save),
        "ledger": lambda: plot.ledger_flow(arm.ledger(machine, track, supply), save=save),
        "temperature": lambda: plot.temperature(arm.ledger(machine, track, supply), save=save),
    }
    draw[name]()
    say(f"written: {save}")
    answer({"written": save})
