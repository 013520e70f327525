"""Peaks of a plan beside those of the motion it is compared with: torque, acceleration, jerk and
current, each of its worst joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.robot.unit import unit_of

STILL = 0.1  # of the greatest peak of its kind: what a joint's peak in the baseline counts at least
JUMP = 1e-3  # of a joint's greatest acceleration: what counts as a jump from rest
JUMPS = "a jump of acceleration"


@dataclass(frozen=True)
class Peak:
    """The greatest magnitude of a quantity at the knots. joint: the one whose peak grows most
    against the baseline's.

    value, baseline: of that joint, in `unit`; a baseline's jerk is infinite where it begins or
    ends at rest with a jump of acceleration and the plan does not.  ratio: value/baseline; for a
    joint that hardly moves in the baseline, against a tenth of the greatest peak of all joints.
    """

    quantity: str
    joint: str
    value: float
    baseline: float
    unit: str
    ratio: float

    @property
    def beside(self) -> str:
        """The baseline's, in words."""
        return f"{self.baseline:.3g}" if np.isfinite(self.baseline) else JUMPS

    def __str__(self) -> str:
        return f"{self.quantity} {self.value:.3g} {self.unit} ({self.joint}; {self.beside})"


def peaks(plan: Any) -> tuple[Peak, ...]:
    """Of a `Solution` or a `SavedPlan`: one for each of torque, acceleration, jerk and current;
    none without a baseline."""
    if plan.baseline is None:
        return ()
    motion, base = plan.trajectory, plan.baseline.trajectory
    mine, other = _magnitudes(motion), _magnitudes(base)
    other["jerk"] = np.where(_jumps(base) & ~_jumps(motion), np.inf, other["jerk"])
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


def _jumps(motion: Trajectory) -> np.ndarray:
    """(joints,) whether the acceleration jumps from zero, or to zero, where a joint is at rest at
    an end."""
    ends, still = motion.a[[0, -1]], np.abs(motion.v[[0, -1]]) <= 1e-9
    return np.any(still & (np.abs(ends) > JUMP * np.abs(motion.a).max(0)), axis=0)


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
    if not np.all(np.isfinite(ratio)):
        return None
    k = int(np.argmax(ratio if ratio.any() else mine))
    name = names[k]
    said = unit if what == "current" else unit_of(robot, name, unit)
    return Peak(what, name, float(mine[k]), float(other[k]), said, float(ratio[k]))
