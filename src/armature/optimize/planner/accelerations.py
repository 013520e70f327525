"""Limits of acceleration for robots whose file gives none: what each drive can keep up for long.

(A1)  a_j = τ_j / I_j

τ_j: the drive's continuous torque at the joint, gear ratio × torque constant × continuous current
(that of motor, amplifier, or the average heat √(P/R), whichever is least), at most the gear's and
the joint's own limit of torque.  I_j: the joint's inertia with rotor, links and payload, the median
over configurations spread evenly over the joints' ranges.

They stand for what is missing, and must not make a move impossible: they hold for moves of least
energy of which the joint cubic needs at most a third of them. A faster move is planned without
them. Both is said in the plan's notes."""

from __future__ import annotations

import numpy as np

from armature.drive import Drive
from armature.dynamics.positioning.workspace import joint_inertias
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.task import Move
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.unit import unit_of

ROOM = 3.0  # times the joint cubic's greatest acceleration: what inferred limits leave at least


def inferred_accelerations(robot: Robot) -> dict[str, float]:
    """{joint: rad/s² or m/s²} by (A1) for the joints that have a drive of their own, a continuous
    torque, and no limit of acceleration."""
    if robot.nq != robot.n or robot.loops or not robot.n:
        return {}
    limits, drives = (
        bounds(robot),
        {c.joints[0]: c.drives[0] for c in robot.drives if len(c.joints) == len(c.drives) == 1},
    )
    free = [
        j
        for j, name in enumerate(robot.joint_names)
        if name in drives and np.isinf(limits.acceleration[j])
    ]
    torque = {
        j: min(continuous_torque(drives[robot.joint_names[j]]), limits.torque[j] or np.inf)
        for j in free
    }
    known = [j for j in free if np.isfinite(torque[j])]
    if not known:
        return {}
    inertia = joint_inertias(robot)
    return {robot.joint_names[j]: float(torque[j] / inertia[j]) for j in known if inertia[j] > 0.0}


def continuous_torque(drive: Drive) -> float:
    """What a drive gives at its joint for long, N·m or N; infinite where nothing limits it."""
    motor = drive.motor
    current = min(
        motor.continuous_current,
        drive.amplifier.continuous_current,
        np.sqrt(motor.average_heat / motor.resistance),
    )
    return float(min(abs(drive.constant) * current, drive.gear.maximum_torque))


def limited(robot: Robot) -> tuple[Robot, dict[str, float]]:
    """The robot with the limits that are inferred, and these. The same object every time: kernels
    are kept with it."""
    if "_limited" not in robot.__dict__:
        found = inferred_accelerations(robot)
        robot.__dict__["_limited"] = (
            (
                robot.with_limits({name: {"acceleration": a} for name, a in found.items()})
                if found
                else robot
            ),
            found,
        )
    return robot.__dict__["_limited"]


def with_inferred(robot: Robot, task: Move) -> tuple[Robot, str]:
    """The robot for a move of least energy, with inferred limits where they hold, and the sentence
    that says so."""
    if task.acceleration_limits == "none":
        return robot, ""
    slower, found = limited(robot)
    if not found:
        return robot, ""
    cubic = dict(zip(robot.joint_names, np.abs(move_problem(robot, task).straight.a).max(0)))
    tight = [name for name, most in found.items() if ROOM * cubic[name] > most]
    if tight:
        name = max(tight, key=lambda n: cubic[n] / found[n])
        unit = unit_of(robot, name, "rad/s² or m/s²")
        return (
            robot,
            (
                "no limits of acceleration: the robot has none, and those inferred from its drives"
                f" ({name}: {found[name]:.3g} {unit}) leave too little room for so fast a move"
            ),
        )
    said = ", ".join(
        f"{name} {a:.3g} {unit_of(robot, name, 'rad/s² or m/s²')}" for name, a in found.items()
    )
    return (
        slower,
        (
            "limits of acceleration inferred from the drives' continuous torques, for the robot"
            f" has none: {said}"
        ),
    )
