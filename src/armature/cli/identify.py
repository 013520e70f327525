"""`armature identify`: a robot's file from recordings of its motion."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.cli.inputs import ROBOT, coordinates, find_robot
from armature.cli.output import answer, note, say


def identify(
    robot: str = ROBOT,
    recordings: list[Path] = typer.Argument(
        ..., help="Recordings: CSV or .csv.gz with t, q1 …, i1 … or tau1 …"
    ),
    output: Path = typer.Option(..., "--output", "-o", help="The robot's new file, .yaml."),
    held_out: list[Path] = typer.Option(
        [], "--held-out", help="A recording that is only predicted; may be repeated."
    ),
    gains: str | None = typer.Option(
        None, help="Joint torque per ampere, N·m/A, one number per joint, with commas."
    ),
    ratio: str | None = typer.Option(
        None, help="Gear ratios, where the recorded torques are the motors'."
    ),
    cutoff: float | None = typer.Option(None, help="Of the zero-phase low-pass filter, Hz."),
) -> None:
    """A robot from recordings: identified inertias, rotors and friction, with errors on held-out recordings."""
    from armature.identify.identify import identify as run
    from armature.identify.reader import load_recording

    machine = find_robot(robot)
    numbers = lambda text, what: None if text is None else coordinates(text, what)
    ratios = numbers(ratio, "ratio")
    logs, others = (
        [load_recording(p, machine, ratios) for p in paths] for paths in (recordings, held_out)
    )
    found = run(machine, logs, others, numbers(gains, "gains"), cutoff=cutoff, progress=note)
    path = output.with_suffix(".yaml") if output.suffix not in (".yaml", ".yml") else output
    found.robot.save(path)
    say(found, f"written: {path}")
    answer(
        {
            "ok": True, "robot": str(path), "groups": found.groups, "condition": found.condition,
            "error": {k: x.tolist() for k, x in found.error.items()},
            "prior_error": {k: x.tolist() for k, x in found.prior_error.items()},
            "held_out": found.held_out,
        }
    )  # fmt: skip
