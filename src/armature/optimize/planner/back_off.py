"""Limits between knots: drawn in where a motion exceeds them, for a re-solve; or the motion run a
little slower."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import MEANS, Margin, exceeded_in_steps, margins
from armature.optimize.certificate.margins import FINER, proved_margins
from armature.optimize.certificate.rows import ALLOWED
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import resampled

if TYPE_CHECKING:
    from armature.optimize.planner.attempt import Attempt
    from armature.robot.model import Robot

RANGE = "end of its range"


def tightened_limits(best: Attempt, enough: float, power: float) -> Mapping[str, Any]:
    """Factors of the limits that a motion exceeds by more than `enough` of themselves, for every
    knot: (1 + excess)^−power where it does.

    Empty where the motion exceeds none, or none that is a row of its problem."""
    task, changed = best.problem, False
    found = dict(task.tighter)
    model = task.driven.model
    rows = {
        *model.constraint_names,
        *model.state_names,
        *(name for _, _, name, _ in task.driven.means),
    }
    for margin in (m for m in best.proved if m.fraction < -enough):
        name = f"{margin.limit} of {margin.joint}"
        if margin.limit.endswith(RANGE) and f"position of {margin.joint}" in rows:
            before = resampled(np.atleast_1d(found.get(name, 0.0)), len(best.motion))
            found[name], changed = before + power * beyond_range(best, margin), True
            continue
        if name not in rows:
            continue
        changed = True
        if margin.limit in MEANS:
            found[name] = found.get(name, 1.0) * (1.0 - margin.fraction) ** -power
        else:
            before = resampled(np.atleast_1d(found.get(name, 1.0)), len(best.motion))
            found[name] = before * knot_factors(best, margin, power)
    return found if changed else {}


def beyond_range(best: Attempt, margin: Margin) -> np.ndarray:
    """(N+1,) by how much a joint leaves its range in the steps beside every knot, rad or m."""
    motion, j = best.motion, best.problem.robot.joint_names.index(margin.joint)
    inside = np.linspace(0.0, 1.0, FINER + 2)
    t = motion.t[:-1, None] + np.diff(motion.t)[:, None] * inside
    sign = 1.0 if margin.limit.startswith("upper") else -1.0
    over = sign * motion(t.ravel()).q[:, j].reshape(t.shape) - sign * margin.bound
    over = np.maximum(over.max(axis=1), 0.0)
    return np.maximum(np.append(over, 0.0), np.insert(over, 0, 0.0))


def knot_factors(best: Attempt, margin: Margin, power: float) -> np.ndarray:
    """(N+1,) factors of one limit: at both ends of every step in which it is exceeded."""
    motion = best.motion
    excess = exceeded_in_steps(best.problem.robot, motion, margin.joint, margin.limit)
    k = int(np.clip(np.searchsorted(motion.t, margin.time), 1, len(motion) - 1)) - 1
    excess[k] = max(excess[k], -margin.fraction)
    factor = (1.0 + np.maximum(excess, 0.0)) ** -power
    return np.minimum(np.append(factor, 1.0), np.insert(factor, 0, 1.0))


def run_slower(
    robot: Robot, motion: Trajectory, enough: float, slowest: float, finer: int = FINER
) -> Trajectory | None:
    """The same motion in the least duration in which it keeps all limits; None where `slowest`
    times its own is not enough.

    finer: points between two knots at which that is looked at."""
    at = lambda factor: stretched(motion, factor * motion.duration)
    keeps = lambda factor: worst_fraction(robot, at(factor), finer) >= -enough
    if keeps(1.0):
        return motion
    low, high = 1.0, 1.002
    while not keeps(high):
        low, high = high, 1.0 + 1.6 * (high - 1.0)
        if high > slowest:
            return None
    for _ in range(4):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return stretched(motion, high * motion.duration)


def worst_fraction(robot: Robot, motion: Trajectory, finer: int = FINER) -> float:
    """The smallest margin of all limits, as a fraction of the limit; 0 without limits. With as many
    points between knots as the certificate begins with, proved at every instant where it is none
    that decides already."""
    sampled = smallest(margins(robot, motion, finer))
    if finer < FINER or sampled < -ALLOWED:
        return sampled
    return min(sampled, smallest(proved_margins(robot, motion)[0]))


def smallest(found: Mapping[str, Mapping[str, Margin]]) -> float:
    """The smallest fraction of margins by joint and limit; 0 without any."""
    return min((m.fraction for row in found.values() for m in row.values()), default=0.0)
