"""The limits of all coordinates of a robot as arrays, those of mimic joints taken over by their
masters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.robot.model import Limits, Robot


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits of the n independent velocities and their coordinates, each (n,), SI; infinite where
    there is none.

    lower, upper: of the coordinate.  velocity, acceleration, jerk, torque, torque_rate: magnitudes.
    """

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    jerk: np.ndarray
    torque: np.ndarray
    torque_rate: np.ndarray


def bounds(robot: Robot) -> Bounds:
    """The limits of a robot's coordinates in the order of v; a floating base has none."""
    n = robot.nv
    rows = {name: np.full(n, np.inf) for name in Bounds.__dataclass_fields__}
    rows["lower"] = -rows["lower"]
    joints = {joint.name: joint for joint in robot.joints}
    for body in robot.tree.bodies:
        if body.name in joints and body.kind != "free" and body.multiplier:
            _tighten(
                rows, body.v, joints[body.name].limits, body.multiplier, body.offset, body.mimic
            )
    return Bounds(**rows)


def _tighten(
    rows: dict[str, np.ndarray], k: int, limits: Limits, m: float, offset: float, mimic: bool
) -> None:
    """Joint coordinate = m q + offset: q lies between the ends divided by m, rates are limit/|m|; a
    mimic joint has no drive."""
    low, high = sorted(((limits.lower - offset) / m, (limits.upper - offset) / m))
    rows["lower"][k], rows["upper"][k] = max(rows["lower"][k], low), min(rows["upper"][k], high)
    for name in ("velocity", "acceleration", "jerk"):
        rows[name][k] = min(rows[name][k], getattr(limits, name) / abs(m))
    if not mimic:
        rows["torque"][k], rows["torque_rate"][k] = limits.torque, limits.torque_rate
