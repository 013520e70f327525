"""`armature simulate`: a robot from a state: falling, held where it is, or running a saved motion
under a servo."""

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
    seconds,
    state,
)
from armature.cli.output import FAILED, OK, answer, say, settings, table
from armature.errors import ArgumentError

START = typer.Option(
    None,
    "--from",
    help="joint coordinates: '0, 90deg, 0.9' or 'elbow=90deg'; 0 by default",
    show_default=False,
)
VELOCITY = typer.Option(
    None, help="joint velocities at the start, rad/s or m/s", show_default=False
)
DURATION = typer.Option(
    None, "--duration", "-T", help="seconds; 1, or as long as the motion", show_default=False
)
STAY = typer.Option(
    False,
    "--stay",
    help="a servo holds the start; without it and without --motion the robot falls",
)
MOTION = typer.Option(
    None, "--motion", help="a motion or a saved plan, run under a servo", show_default=False
)
STIFFNESS = typer.Option(2000.0, help="of the servo, N·m/rad or N/m", min=0.0)
DAMPING = typer.Option(100.0, help="of the servo, N·m·s/rad or N·s/m", min=0.0)
METHOD = typer.Option(
    "dop853", help="dop853, radau, bdf (adaptive), rk4, semi-implicit (with --step)"
)
STEP = typer.Option(None, "--step", help="of the fixed-step methods, e.g. 1ms", show_default=False)
SAVE = typer.Option(None, help="write the motion: .csv, .npz, .json, …", show_default=False)


def simulate(
    robot: str = ROBOT,
    start: str | None = START,
    velocity: str | None = VELOCITY,
    duration: str | None = DURATION,
    stay: bool = STAY,
    motion: Path | None = MOTION,
    stiffness: float = STIFFNESS,
    damping: float = DAMPING,
    method: str = METHOD,
    step: str | None = STEP,
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    save: Path | None = SAVE,
) -> int:
    """Simulate a robot and print its energy balance. Exit code 1 where the simulation breaks
    off."""
    import armature as arm

    machine = find_robot(robot, drives, payload, limits, hold, arg)
    if motion is not None and (stay or start):
        raise ArgumentError("--motion begins where the motion does; leave out --from and --stay")
    q0, v0, T, law = _law(machine, start, velocity, duration, stay, motion, (stiffness, damping))
    h = None if step is None else seconds(step, "--step")
    run = arm.simulate(
        machine,
        law,
        q0,
        v0,
        T,
        method,
        h,
        progress=False if settings.quiet or settings.json else None,
    )
    books = _balance(machine, run)
    say(
        f"{machine.name}: {run.duration:.4g} s simulated, {run.status.value}",
        table(("energy", "J"), list(books.items())),
    )
    error = None if motion is None else _off(law, run)
    if error is not None:
        say(f"largest distance from the motion: {error:.3g} rad or m")
    if save is not None:
        run.save(save)
        say(f"written: {save}")
    answer(
        {
            "ok": run.ok,
            "status": run.status.value,
            "duration": run.duration,
            "energy": books,
            "end": run.q[-1],
            "error": error,
            "written": save,
        }
    )
    return OK if run.ok else FAILED


def _law(
    robot: Any,
    start: str | None,
    velocity: str | None,
    duration: str | None,
    stay: bool,
    motion: Path | None,
    gains: tuple,
) -> tuple:
    """Start, duration and controller."""
    import numpy as np

    import armature as arm

    T = None if duration is None else seconds(duration, "--duration")
    if T is not None and not T > 0.0:
        raise ArgumentError(f"--duration {duration}: give a time above 0")
    if motion is not None:
        track = find_motion(motion, robot)
        return track.q[0], track.v[0], T or track.duration, arm.Servo(robot, track, *gains)
    q0 = (
        _neutral(robot) if start is None and robot.nq != robot.nv else state(robot, start, "--from")
    )
    v0 = (
        np.zeros(robot.nv)
        if velocity is None
        else state(robot, velocity, "--velocity", ("rad/s", "m/s"), start=np.zeros(robot.nv))
    )
    rest = np.zeros((1, robot.nv))
    law = (
        arm.Servo(
            robot, arm.Trajectory(np.zeros(1), q0[None], rest, rest, robot.joint_names), *gains
        )
        if stay
        else None
    )
    return q0, v0, T or 1.0, law


def _neutral(robot: Any) -> Any:
    from armature.simulate.rollout import neutral

    return neutral(robot)


def _balance(robot: Any, run: Any) -> dict[str, float]:
    """Energies at the start and the end, the work of all forces, and what is not explained, J."""
    import armature as arm

    ends = [0, -1]
    kinetic, potential = (
        arm.dynamics.kinetic_energy(robot, run.q[ends], run.v[ends]),
        arm.dynamics.potential_energy(robot, run.q[ends]),
    )
    work = float(run.work[-1] - run.work[0]) if run.work is not None else float("nan")
    return {
        "kinetic, at the start": float(kinetic[0]),
        "kinetic, at the end": float(kinetic[1]),
        "potential, gained": float(potential[1] - potential[0]),
        "work of torques and friction": work,
        "not explained": float(run.energy_drift),
    }


def _off(servo: Any, run: Any) -> float:
    """Largest distance of the simulated joints from the motion, rad or m."""
    import numpy as np

    return float(np.max(np.abs(run.q - servo.plan(run.t).q)))
