"""`improve`: a stream of better and better motions, each of which can be run (K2–K4): anytime
planning."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from armature.drive.limit import readable
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.anytime.first_motion import first_motion
from armature.optimize.anytime.suboptimal import CHECKED, FIRST, Approximations, Iterate
from armature.optimize.planner.floor import ground, through
from armature.optimize.scaling.time_scaling import time_scaling
from armature.optimize.transcription.instant import Instants, instants
from armature.robot.cover import with_floor
from armature.robot.model import Robot


def improve(
    robot: Robot,
    motion: Any,
    supply: Any = None,
    deadline: float | None = None,
    decrease: float = 1e-4,
    knots: int = 200,
    riding: str = "spline",
    limited: bool = True,
) -> Iterator[Iterate]:
    """Better and better motions, each of which can be run: the first is the given one, each later
    one costs less (K2–K4).

    motion: a Trajectory (its ends and duration are kept); or a task, a Move from rest to rest or a
    FollowPath, which begins with the plain motion of its duration, with the shortest motion slowed
    down to it where limits forbid the plain one, and where it has no duration with the plain motion
    in the shortest duration that the limits allow (`arm.optimize.time_scaling`).
    supply: "regenerative" (default), "non-regenerative" or such an object; the robot's own by
    default.
    deadline: seconds after which no further one is begun.  decrease: stop when the cost falls by
    less than this fraction.
    knots: steps in time, spread evenly over the motion's own duration (the motion's own knots where
    its acceleration runs straight).
    riding: where a limit is in the way the mix becomes smaller there along a "spline" (30), or
    rides the "boundary" (31).
    limited: False leaves limits out (the paper's first example).
    """
    begin = time.perf_counter()
    if riding not in ("spline", "boundary"):
        raise ArgumentError(f"riding is {riding!r}; use 'spline' (30) or 'boundary' (31)")
    run = _started(robot, motion, supply, knots, riding, limited)
    guarded = _grounded(robot, motion, run.along.iterate(run.t, *run.knots(), run.w).q)
    cost, number, mix = float(run.cost(run.w)), 0, 0.0
    while True:
        found = replace(
            run.along.iterate(run.t, *run.knots(), run.w), number=number, energy=cost, mix=mix
        )
        low = None if guarded is None else through(guarded, found)
        if low is not None and number > 0:
            return  # cheaper ones go through the floor
        if low is not None:
            below = f"{low.link} is {-low.height:.3g} m below it at t = {low.time:.4g} s"
            raise ArgumentError(
                f"the first motion goes through the floor: {below}; start from minimize_energy's or"
                " minimize_time's"
            )
        yield found
        if deadline is not None and time.perf_counter() - begin > deadline:
            return
        mix, least = run.advance()
        if not mix or cost - least <= decrease * abs(cost):
            return
        cost, number = least, number + 1


def _started(
    robot: Robot, motion: Any, supply: Any, knots: int, riding: str, limited: bool
) -> Approximations:
    """The run with its first motion, which must keep the limits."""
    at = instants(robot, supply)
    along, (t, x, v, w) = first_motion(robot, motion, at, knots, limited)
    run = Approximations(along, t, x[0], v[0], w, riding, limited)
    if not run.admissible(run.w, FIRST):
        raise ArgumentError(
            f"the first motion is not admissible: {_why(run, at)}; {_instead(robot, motion)}"
        )
    return run


def _grounded(robot: Robot, motion: Any, q: np.ndarray) -> Robot | None:
    """The robot with the floor that the motions keep; None without one. A motion that is given is
    run already: it is above its floor.

    q: (K, n) the first motion."""
    setting = getattr(motion, "floor", "auto")
    found = ground(
        robot,
        setting,
        [("motion", q)] if isinstance(motion, Trajectory) else [("start", q[0]), ("goal", q[-1])],
    )
    if found.below is not None:
        raise ArgumentError(str(found.below))
    return None if found.floor is None else with_floor(robot, found.floor)


def _instead(robot: Robot, motion: Any) -> str:
    """What to do: the durations in which the motion given could be run (K6)."""
    possible = (
        f"run uniformly slower or faster, {time_scaling(robot, motion).message}; "
        if isinstance(motion, Trajectory)
        else ""
    )
    return f"{possible}start from a slower one, or from minimize_time's"


def _why(run: Approximations, at: Instants) -> str:
    """The worst limit of the first motion, and where."""
    x, v, a = run.between(run.w, CHECKED)
    _, rows = run.along.values(x, v, a)
    mean = np.einsum("kcr,k->r", rows, run.h) / (len(CHECKED) * run.h.sum())
    rows = np.where(run.along.mean(), mean, rows)[
        ..., : len(at.rows)
    ]  # without the path's own, which a first motion keeps
    k, c, r = np.unravel_index(int(np.argmax(rows)), rows.shape)
    row, when = at.rows[r], run.t[k] + CHECKED[c] * run.h[k]
    if run.gentle and rows[k, c, r] <= FIRST:
        worst = run.rate_excess(run.w, x, v, a)
        step, over = int(np.argmax(worst)), 100 * float(np.max(worst))
        hint = (
            "; from and to rest, accelerations must begin and end with zero, as a quintic's do"
            if step in (0, len(worst) - 1)
            else ""
        )
        return (
            f"jerk or torque rate exceed their limits by {over:.3g} % at t = {run.t[step]:.4g}"
            f" s{hint}"
        )
    value, bound, unit = readable(row.value(rows[k, c, r]), row.bound, row.unit)
    return f"{row} is {value:.6g} {unit} at t = {when:.4g} s, its limit is {bound:.6g} {unit}"
