"""Peaks of a plan beside those of the motion it is compared with: torque, acceleration, jerk and
current, each of its worst joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.robot.unit import unit_of

STILL = 0.1  # of the greatest peak of its kind: what a joint's peak in the baseline counts at least


@dataclass(frozen=True)
class Peak:
    """The greatest magnitude of a quantity at the knots. joint: the one whose peak grows most
    against the baseline's.

    value, baseline: of that joint, in `unit`.  ratio: value/baseline; for a joint that hardly moves
    in the baseline, against a tenth of the greatest peak of all joints.
    """

    quantity: str
    joint: str
    value: float
    baseline: float
    unit: str
    ratio: float

    def __str__(self) -> str:
        return f"{self.quantity} {self.value:.3g} {self.unit} ({self.joint}; {self.baseline:.3g})"


def peaks(plan: Any) -> tuple[Peak, ...]:
    """Of a `Solution` or a `SavedPlan`: one for each of torque, acceleration, jerk and current;
    none without a baseline."""
    if plan.baseline is None:
        return ()
    mine, other = _magnitudes(plan.trajectory), _magnitudes(plan.baseline.trajectory)
    joints, axes = plan.robot.joint_names, plan.robot.drivetrain.axis_names
    rows = [
        _worst(
            plan.robot, what, unit, axes if what == "current" else joints, mine[what], other[what]
        )
        for what, unit in UNITS.items()
        if what in mine and what in other
    ]
    return tuple(row for row in rows if row is not None)


UNITS = {
    "torque": "N·m or N",
    "acceleration": "rad/s² or m/s²",
    "jerk": "rad/s³ or m/s³",
    "current": "A",
}


def _magnitudes(motion: Trajectory) -> dict[str, np.ndarray]:
    """(joints or axes,) greatest magnitudes at the knots; jerks as slopes of the acceleration from
    knot to knot."""
    jerk = np.diff(motion.a, axis=0) / np.diff(motion.t)[:, None]
    values = {
        "torque": motion.tau,
        "acceleration": motion.a,
        "jerk": jerk,
        "current": motion.current,
    }
    return {what: np.abs(x).max(0) for what, x in values.items() if x is not None and np.size(x)}


def _worst(
    robot: Any, what: str, unit: str, names: Any, mine: np.ndarray, other: np.ndarray
) -> Peak | None:
    slides = (
        np.array([unit_of(robot, name, unit) for name in names])
        if what != "current"
        else np.zeros(len(names))
    )
    floor = np.array([STILL * max(other[slides == s].max(), 1e-9) for s in slides])
    ratio = mine / np.maximum(other, floor)
    k = int(np.argmax(ratio))
    if not np.all(np.isfinite(ratio)):
        return None
    name = names[k]
    said = unit if what == "current" else unit_of(robot, name, unit)
    return Peak(what, name, float(mine[k]), float(other[k]), said, float(ratio[k]))
