"""Where a hand shall be, in any of the notations that people use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.motion.rotation import as_rotation, from_quaternion

ADVICE = "give a point (3,), a pose (R, p), a 4 × 4 matrix, or (p, quaternion x y z w)"


@dataclass(frozen=True, eq=False)
class Goal:
    """Where a link's frame shall be: p (3,), m, and R (3, 3), or None where the orientation is
    free; world axes."""

    p: np.ndarray
    R: np.ndarray | None = None


def as_goal(pose: Any) -> Goal:
    """A goal from a point (3,), a pair (R, p) as `arm.pose` gives it, a 4 × 4 matrix, or a pair (p,
    quaternion x y z w)."""
    if isinstance(pose, Goal):
        return pose
    if isinstance(pose, (tuple, list)) and len(pose) == 2:
        return _from_pair(_numbers(pose[0]), _numbers(pose[1]))
    array = _numbers(pose)
    if array.shape == (3,):
        return _checked(Goal(array))
    if array.shape == (4, 4):
        if np.abs(array[3] - [0.0, 0.0, 0.0, 1.0]).max() > 1e-9:
            raise ArgumentError(
                f"the last row of the 4 × 4 pose is {array[3].tolist()}; it must be 0 0 0 1: is the"
                " matrix transposed?"
            )
        return _checked(
            Goal(array[:3, 3].copy(), as_rotation(array[:3, :3], "the pose's rotation"))
        )
    raise ArgumentError(f"a pose of shape {array.shape} is not known; {ADVICE}")


def _numbers(x: Any) -> np.ndarray:
    try:
        return np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"the pose {x!r} is not made of numbers; {ADVICE}") from None


def _from_pair(first: np.ndarray, second: np.ndarray) -> Goal:
    if first.shape == (3, 3) and second.shape == (3,):
        return _checked(Goal(second, as_rotation(first, "the pose's rotation")))
    if first.shape == (3,) and second.shape == (4,):
        return _checked(Goal(first, from_quaternion(second)))
    raise ArgumentError(
        f"a pose of two arrays of shapes {first.shape} and {second.shape} is not known; {ADVICE}"
    )


def _checked(goal: Goal) -> Goal:
    if not np.all(np.isfinite(goal.p)):
        raise ArgumentError(
            f"the pose's position is {goal.p.tolist()}; give three finite numbers in m"
        )
    return goal


def is_pose(value: Any) -> bool:
    """Whether a goal is a pose of the hand rather than joint coordinates: a Goal, (R, p), (p,
    quaternion), or a 4 × 4 matrix."""
    if isinstance(value, Goal):
        return True
    if isinstance(value, tuple | list) and len(value) == 2:
        return np.shape(value[0]) in ((3, 3), (3,)) and np.shape(value[1]) in ((3,), (4,))
    return not isinstance(value, Mapping) and np.shape(value) == (4, 4)
