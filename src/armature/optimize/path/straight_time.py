"""Least time along a path where every limit is straight in (p̈, ṗ²): two sweeps on a grid that
follows the motion's time.

The rows of fastest.py hold at both ends of a step, so the profile's error falls with the step: a
first profile on few steps tells where time is spent, a second one on many steps there is within a
thousandth of the least time. Its p̈ is constant in a step; the motion takes these values in the
middle (in time) of the steps and runs straight between them, which keeps speeds and makes p̈
continuous. What that exceeds between knots is left unused by the next sweep."""

from __future__ import annotations

import numpy as np

from armature.optimize.anytime.suboptimal import end_correction
from armature.optimize.certificate.certify import worst_margin
from armature.optimize.path.along_path import Curve, Timing, knots_along, steps_along
from armature.optimize.path.fastest import fastest, straight_rows
from armature.optimize.path.path_step import PathStep
from armature.optimize.path.phase_plane import Steps
from armature.robot.bounds import bounds
from armature.robot.model import Robot

Array = np.ndarray
FINER = 8  # steps for every knot asked for: with 100 knots within 0.1 % of the least time
PER_PLACE = 0.3  # of the steps are spread evenly over the path, the others by time
PARTS = 4000  # of the path, in which the density of knots is given
CHECKED = 8  # places between knots at which limits are looked at
# of every limit; where more would be needed the steps are too long, or another limit counts
MOST_UNUSED = 1e-3
DOUBLINGS = 2  # of the steps
MORE = 1.2  # times what was exceeded
LEAST = 1e-7  # of a limit: what is left unused where it is exceeded by rounding
FAST = 1e6  # 1/s: a speed at which nothing limits the path


def is_straight(robot: Robot) -> bool:
    """Whether every limit of the robot is straight in (p̈, ṗ²), or cannot be more than the rows of
    fastest.py ask: then a motion that is fastest under these rows and keeps all limits is the
    fastest of all."""
    train, limits = robot.drivetrain, bounds(robot)
    if np.isfinite([limits.jerk, limits.torque_rate]).any() or any(
        limit.mean for _, _, limit in train.limits()
    ):
        return False
    bent = any(f.viscous or f.stiction or f.load for f in train.frictions)
    rubbing = any(
        d.friction.viscous or d.friction.coulomb or d.friction.stiction or d.friction.load
        for d in train.drives
    )
    lossy = any(not d.gear.lossless or d.motor.iron_torque or d.motor.viscous for d in train.drives)
    return not (bent or rubbing or lossy)


def straight_time(
    curve: Curve, step: PathStep, ends: tuple[float, float], knots: int
) -> Timing | None:
    """The fastest run of a path without corners, within all limits between knots too; None where
    the sweeps do not find one.

    ends: ṗ at both ends, 1/s.  knots: steps are FINER times as many."""
    steps = steps_along(curve, knots_along(curve, knots, np.ones(PARTS)), ends)
    s = _speeds(step, steps)
    for count in (FINER * knots * 2**k for k in range(DOUBLINGS)):
        if s is None:
            return None
        steps = steps_along(curve, knots_along(curve, count, _density(steps, s)), ends)
        if (found := _inside(curve, step, steps)) is not None:
            return found
        s = _speeds(step, steps)
    return None


def _inside(curve: Curve, step: PathStep, steps: Steps) -> Timing | None:
    """The fastest run on these steps, with a little of every limit left unused, so that all hold
    between knots; None where that is too little."""
    unused = 0.0
    while unused <= MOST_UNUSED:
        s = _speeds(step, steps, 1.0 - unused)
        if s is None:
            return None
        timing = _timing(steps, s)
        worst = worst_margin(curve.robot, timing.trajectory(curve, 1), CHECKED)
        if worst is None or worst.fraction >= 0.0:
            return timing
        unused += max(-MORE * worst.fraction, LEAST)
    return None


def _speeds(step: PathStep, steps: Steps, margin: float = 1.0) -> Array | None:
    """(N+1,) the fastest speeds at the knots, 1/s; None where there are none, or nothing limits
    them."""
    found = fastest(steps, straight_rows(step, steps, margin), FAST)
    return found.s if found.blocked < 0 and _moves(found.s) else None


def _moves(s: Array) -> bool:
    """Whether speeds are limited, and the path is never stood on for a whole step."""
    return bool(np.max(s) < 0.99 * FAST and np.all(s[1:] + s[:-1] > 0.0))


def _density(steps: Steps, s: Array) -> Array:
    """(M,) how many knots belong on M equal parts of the path: by time, and some everywhere."""
    t = np.concatenate([[0.0], np.cumsum(2 * steps.lengths / (s[1:] + s[:-1]))])
    fine = np.linspace(0.0, 1.0, PARTS + 1)
    return (1.0 - PER_PLACE) * np.diff(np.interp(fine, steps.p, t / t[-1])) + PER_PLACE * np.diff(
        fine
    )


def _timing(steps: Steps, s: Array) -> Timing:
    """Speeds s (N+1,) with constant p̈ in every step as a run whose p̈ is straight between the
    middles of the steps."""
    h = 2 * steps.lengths / (s[1:] + s[:-1])
    edges, constant = np.concatenate([[0.0], np.cumsum(h)]), np.diff(s) / h
    t = np.concatenate([[0.0], (edges[1:] + edges[:-1]) / 2, edges[-1:]])
    level = np.where(steps.level, 0.0, constant[[0, -1]])
    a = np.concatenate([level[:1], constant, level[1:]])
    a = a + end_correction(t, np.zeros(1), s[:1], a[:, None], np.ones(1), s[-1:])[:, 0]
    h = np.diff(t)
    v = s[0] + np.concatenate([[0.0], np.cumsum(h * (a[1:] + a[:-1]) / 2)])
    p = np.concatenate([[0.0], np.cumsum(h * (v[:-1] + h * (2 * a[:-1] + a[1:]) / 6))])
    v[-1], p[-1] = s[-1], 1.0  # to rounding
    return Timing(p, np.maximum(v, 0.0), a, h)
