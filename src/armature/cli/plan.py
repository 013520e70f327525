"""`armature plan`: the motion of least energy between two configurations, with its certificate and, if asked for, its page."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.errors import ArgumentError


def plan(
    robot: str = typer.Argument(help="robot file, or the name of a built-in robot"),
    start: str = typer.Option(..., "--from", help="joint coordinates, comma separated: rad or m, or with 'deg' (90deg)"),
    goal: str = typer.Option(..., "--to", help="joint coordinates, comma separated"),
    duration: float = typer.Option(..., "--duration", "-T", help="seconds"),
    drives: Path | None = typer.Option(None, help="YAML file with the drives, if the robot's file has none"),
    payload: float = typer.Option(0.0, help="kg at the last link"),
    supply: str | None = typer.Option(None, help="regenerative or non-regenerative"),
    knots: int = typer.Option(100, help="steps in time"),
    save: Path | None = typer.Option(None, help="write the motion: .csv, .json, .npz or .yaml (ROS 2)"),
    report: Path | None = typer.Option(None, help="write a page (.html) with figures and the moving robot"),
) -> None:
    """Plan the motion of least energy and prove that the drives can do it. Exit code 1 when there is no such motion."""
    import armature as arm
    from armature.cli.info import find_robot

    machine = find_robot(robot)
    machine = machine.with_drives(str(drives)) if drives else machine
    machine = machine.with_payload(payload) if payload else machine
    task = arm.Move(coordinates(start, "--from"), coordinates(goal, "--to"), duration)
    solution = arm.minimize_energy(machine, task, supply=supply, knots=knots)
    typer.echo(str(solution))
    typer.echo(str(solution.certificate))
    if save:
        solution.trajectory.save(save)
        typer.echo(f"written: {save}")
    if report:
        typer.echo(f"written: {solution.report(report)}")
    if not (solution.ok and solution.certificate.ok):
        raise typer.Exit(1)


def coordinates(text: str, what: str) -> list[float]:
    """Numbers from '0, 90deg, 0.9'."""
    from math import radians

    values = []
    for part in text.split(","):
        number = part.strip().lower()
        try:
            values.append(radians(float(number.removesuffix("deg").strip())) if number.endswith("deg") else float(number))
        except ValueError:
            raise ArgumentError(f"{what}: {part.strip()!r} is not a number; write e.g. 0.5 or 90deg, separated by commas") from None
    return values
