"""Configurations spread evenly over the joints' ranges, and what gravity and inertia ask of the
joints there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.positioning.inverse_kinematics import even_points
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.unit import unit_of

WIDEST = np.pi, 1.0  # rad and m to both sides of 0, where a joint's range is wider or has no end
POSES = 256


def spread(robot: Robot, count: int = POSES) -> np.ndarray:
    """(count, n) configurations spread evenly over the ranges, at most a turn or 2 m of each joint;
    the same ones every time."""
    limits = bounds(robot)
    slides = {joint.name for joint in robot.joints if joint.kind == "prismatic"}
    widest = np.array([WIDEST[name in slides] for name in robot.joint_names])
    low, high = np.maximum(limits.lower, -widest), np.minimum(limits.upper, widest)
    # a range that lies beyond a turn is taken from its nearer end on
    low, high = (
        np.where(low > high, np.clip(0.0, limits.lower, limits.upper), low),
        np.maximum(low, high),
    )
    return low + (high - low) * even_points(0, count, robot.n)


def gravity_torques(robot: Robot, count: int = POSES) -> np.ndarray:
    """(n,) the greatest torques, N·m or N, that hold the robot still over its ranges, with all that
    it carries."""
    q = spread(robot, count)
    return np.abs(np.asarray(inverse_dynamics(robot, q, 0.0 * q, 0.0 * q))).max(0)


class Weak(NamedTuple):
    """A joint whose own limit of torque does not hold the robot everywhere in its ranges: N·m or
    N."""

    joint: str
    limit: float
    needed: float
    unit: str

    def __str__(self) -> str:
        return (
            f"joint {self.joint!r}: its limit of torque, {self.limit:.3g} {self.unit}, is less than"
            f" the {self.needed:.3g} {self.unit} that gravity asks for in some configurations, so"
            " that no plan goes there; set the true one among the task's limits, or .inf to leave"
            f" it to the drive: limits: {{{self.joint}: {{torque: .inf}}}}"
        )


def weak_joints(robot: Robot) -> list[Weak]:
    """Joints that cannot hold the robot everywhere in their ranges, by their own limits of torque
    (0 means that it is not known)."""
    if robot.nq != robot.nv or robot.loops or not robot.n:
        return []
    limit, needed = bounds(robot).torque, gravity_torques(robot)
    rows = zip(robot.joint_names, limit.tolist(), needed.tolist())
    return [
        Weak(name, most, need, unit_of(robot, name, "N·m or N"))
        for name, most, need in rows
        if 0.0 < most < need
    ]


def doubtful_torque_limits(robot: Robot) -> set[str]:
    """Joints whose limit of torque is no real one: 0, too weak to hold the robot, or the same
    number as one that is too weak (files that put 1 N·m everywhere)."""
    weak = {joint.limit for joint in weak_joints(robot)} | {0.0}
    return {j.name for j in robot.joints if j.name in robot.joint_names and j.limits.torque in weak}


def joint_inertias(robot: Robot, count: int = POSES // 4) -> np.ndarray:
    """(n,) the diagonal of the mass matrix with rotors, kg·m² or kg: the median over the ranges."""
    q = spread(robot, count)
    still = np.asarray(inverse_dynamics(robot, q, 0.0 * q, 0.0 * q))
    push = (
        np.asarray(inverse_dynamics(robot, q, 0.0 * q, 0.0 * q + np.eye(robot.n)[j])) - still
        for j in range(robot.n)
    )
    return np.array([np.median(torque[:, j]) for j, torque in enumerate(push)])
