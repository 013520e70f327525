"""`armature figure`: one of the figures of a motion kept in a file."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.errors import ArgumentError

NAMES = ("motion", "graf", "power", "torque-speed", "ledger", "temperature")


def figure(
    name: str = typer.Argument(help=f"one of: {', '.join(NAMES)}"),
    robot: str = typer.Argument(help="robot file, or the name of a built-in robot"),
    trajectory: Path = typer.Argument(help="the motion, as written by plan --save"),
    save: Path = typer.Option(..., "--save", help="picture to write: .png, .svg or .pdf"),
    supply: str | None = typer.Option(None, help="regenerative or non-regenerative"),
) -> None:
    """Draw a motion, its currents against velocity (graf), its power, its torques, where its energy went, or how the windings warm up."""
    import armature as arm
    from armature import plot
    from armature.cli.info import find_robot

    if name not in NAMES:
        raise ArgumentError(f"there is no figure {name!r}; choose one of {', '.join(NAMES)}")
    machine, track = find_robot(robot), arm.load_trajectory(trajectory)
    draw = {
        "motion": lambda: plot.motion(machine, track, save=save),
        "graf": lambda: plot.graf(machine, track, save=save),
        "power": lambda: plot.power(machine, track, supply, save=save),
        "torque-speed": lambda: plot.torque_speed(machine, track, save=save),
        "ledger": lambda: plot.ledger_flow(arm.ledger(machine, track, supply), save=save),
        "temperature": lambda: plot.temperature(arm.ledger(machine, track, supply), save=save),
    }
    draw[name]()
    typer.echo(f"written: {save}")
