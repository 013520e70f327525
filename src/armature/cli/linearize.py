"""`armature linearize`: the motion near a state as ẋ = A x + B u, with eigenvalues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from armature.cli.inputs import ARG, DRIVES, HOLD, LIMITS, PAYLOAD, ROBOT, find_robot, state
from armature.cli.output import answer, plain, say, table, tidy
from armature.errors import FileError

AT = typer.Option(
    None,
    "--at",
    help="joint coordinates: '0, 90deg, 0.9' or 'elbow=90deg'; 0 by default",
    show_default=False,
)
VELOCITY = typer.Option(
    None, help="joint velocities, rad/s or m/s; 0 by default", show_default=False
)
TORQUE = typer.Option(
    None,
    help="joint torques, N·m or N; by default those that hold the state",
    show_default=False,
)
FRICTION = typer.Option(False, "--friction", help="with the joints' friction")
SAVE = typer.Option(
    None,
    help="write A, B and the eigenvalues: .json, or .csv (A and B side by side)",
    show_default=False,
)


def linearize(
    robot: str = ROBOT,
    at: str | None = AT,
    velocity: str | None = VELOCITY,
    torque: str | None = TORQUE,
    friction: bool = FRICTION,
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    save: Path | None = SAVE,
) -> None:
    """Linearise a robot near a state: A, B, eigenvalues and natural frequencies; x = (Δq, Δv), u =
    Δτ."""
    import numpy as np

    import armature as arm

    machine = find_robot(robot, drives, payload, limits, hold, arg)
    q, v = (
        state(machine, at, "--at"),
        state(machine, velocity or "", "--velocity", ("rad/s", "m/s"), start=np.zeros(machine.n)),
    )
    holding = arm.inverse_dynamics(machine, q, v, np.zeros(machine.n))
    tau = (
        holding
        if torque is None
        else state(machine, torque, "--torque", ("N*m", "N"), start=holding)
    )
    found = arm.linearize(machine, q, v, tau, friction=friction)
    names = [f"{kind} {name}" for kind in ("Δq", "Δv") for name in machine.joint_names]
    inputs = [f"Δτ {name}" for name in machine.joint_names]
    say(
        f"{machine.name} near q = {np.round(q, 6).tolist()}; torques {np.round(tau, 4).tolist()}",
        "",
        "A:",
        _matrix(names, names, found.A),
    )
    rows = [(f"{x.real:+.5g} {x.imag:+.5g}i", abs(x) / (2 * np.pi)) for x in found.eigenvalues]
    say(
        "",
        "B:",
        _matrix(names, inputs, found.B),
        "",
        table(("eigenvalue [1/s]", "frequency [Hz]"), rows),
    )
    data = {
        "robot": machine.name,
        "states": names,
        "inputs": inputs,
        "q": q,
        "v": v,
        "tau": tau,
        "A": found.A,
        "B": found.B,
        "eigenvalues": found.eigenvalues,
        "frequencies": found.frequencies,
    }
    if save is not None:
        _write(save, data, names, inputs)
        say(f"written: {save}")
    answer({**data, "written": save})


def _matrix(rows: list[str], columns: list[str], values: Any) -> str:
    return table(("", *columns), [(name, *tidy(row)) for name, row in zip(rows, values.tolist())])


def _write(path: Path, data: dict[str, Any], names: list[str], inputs: list[str]) -> None:
    """JSON, or a CSV table whose rows are states and whose columns are A and B."""
    from armature.write import csv_text, write_whole

    if path.suffix.lower() == ".csv":
        head = ["state", *(f"A {n}" for n in names), *(f"B {n}" for n in inputs)]
        text = csv_text(
            [head, *([n, *a, *b] for n, a, b in zip(names, data["A"].tolist(), data["B"].tolist()))]
        )
    elif path.suffix.lower() == ".json":
        text = (
            json.dumps({"format": "armature linearization", **plain(data)}, ensure_ascii=False)
            + "\n"
        )
    else:
        raise FileError("the ending must be .json or .csv", path)
    write_whole(path, text, table=True)
