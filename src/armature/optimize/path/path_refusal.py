"""Why there is no plan along a path: the limit in the way, where on the path, and what would
help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from armature.drive.limit import readable
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import worst_margin
from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.path.along_path import Timing
from armature.optimize.path.path import PathModel
from armature.optimize.path.phase_plane import Profile, Steps
from armature.optimize.problem.result import Result
from armature.robot.model import Robot

EXCESS = 1e-9  # of a limit, between knots, with which a plan is no plan

Shortest = Callable[[], tuple[Profile | None, float]]


def refusal(
    model: PathModel,
    steps: Steps,
    result: Result,
    duration: float | None,
    shortest_run: Shortest | None,
) -> Diagnosis:
    """Why a search found no motion. duration: asked for, s; then shortest_run gives the shortest
    profile and about the least duration, s."""
    still = holding(model, steps)
    if still is not None:
        return still
    if duration is not None and shortest_run is not None:
        shortest, T = shortest_run()
        if shortest is not None and duration < T:
            return too_fast(model, shortest, duration, T)
    worst = result.violations[0] if result.violations else None
    what = (
        result.status.value if worst is None else f"{worst.name} is exceeded by {worst.amount:.3g}"
    )
    at = None if worst is None or worst.knot is None else float(steps.p[min(worst.knot, steps.N)])
    place = "" if at is None else f" at p = {at:.4g}"
    sentence = f"No motion along the path was found: {what}{place} at best."
    remedy = "Allow more time (minimize_time finds how much), or widen limits."
    return Diagnosis(sentence, "" if worst is None else worst.name, remedy=remedy)


def exceeded_between(
    robot: Robot, motion: Trajectory, timing: Timing, knots: int
) -> Diagnosis | None:
    """A limit that is still exceeded between knots, however fine they are; None where there is
    none."""
    worst = worst_margin(robot, motion)
    if worst is None or worst.fraction >= -EXCESS:
        return None
    p = float(np.interp(worst.time, timing.t, timing.p))
    sentence = (
        f"Between the {knots} knots of the plan, at p = {p:.4g}, {worst}; finer knots did not help."
    )
    remedy = (
        "Allow more time, or lead the path farther away from a singular configuration or a sharp"
        " bend there."
    )
    return Diagnosis(sentence, worst.limit, worst.joint, worst.time, -worst.fraction, remedy)


def holding(model: PathModel, steps: Steps) -> Diagnosis | None:
    """A limit that is exceeded however slowly the path is run: holding the arm takes too much."""
    e = steps.G[:, 1, 2]
    zero = np.zeros_like(e)
    found = largest(model, zero, 1e-9 * steps.G[:, 1, 3], zero, e)
    if found is None or found[2] <= 0.0:
        return None
    k, row, worst = found
    p = float((steps.p[k] + steps.p[k + 1]) / 2)
    value, bound, unit = readable(row.value(worst), row.bound, row.unit)
    sentence = (
        f"The path cannot be run at any speed: at p = {p:.4g} holding the arm alone takes a"
        f" {row.limit} of {value:.4g} {unit} at {row.joint}, its limit is {bound:.4g} {unit}."
    )
    remedy = "Move the path, lighten the load, or take a stronger drive."
    return Diagnosis(sentence, row.limit, row.joint, None, worst, remedy)


def too_fast(model: PathModel, shortest: Profile, duration: float, T: float) -> Diagnosis:
    """The duration asked for is too short: by how much, and which limit is met where when the path
    is run as fast as it can be."""
    k, row = tightest(model, shortest)
    p = float(shortest.steps.p[k])
    _, bound, unit = readable(0.0, row.bound, row.unit)
    sentence = (
        f"The path cannot be run in {duration:.4g} s: about {T:.4g} s is the shortest, limited"
        f" first by the {row.limit} of {row.joint} ({bound:.4g} {unit}) at p = {p:.4g}."
    )
    remedy = f"Allow {1.02 * T:.4g} s."
    return Diagnosis(sentence, row.limit, row.joint, None, T - duration, remedy, T)


def tightest(model: PathModel, profile: Profile) -> tuple[int, Any]:
    """The step and the limit that a profile comes nearest to, in the middle of its steps."""
    G, s = profile.steps.G, (profile.s[1:] + profile.s[:-1])[:, None] / 2
    m, c, e, d1, d2, _ = np.moveaxis(G[:, 1], 1, 0)
    a = profile.accelerations[:, None]
    found = largest(model, np.zeros_like(e), d1 * s, d1 * a + d2 * s * s, m * a + c * s * s + e)
    assert found is not None
    return found[:2]


def largest(model: PathModel, *state: np.ndarray) -> tuple[int, Any, float] | None:
    """The step, the limit (means and ranges left out) and the value of the largest row at states
    (q, v, a, τ) of the steps; None without limits."""
    _, rows = model.at._values(*state)
    keep = [k for k, row in enumerate(model.at.rows) if not row.mean and "range" not in row.limit]
    if not keep:
        return None
    k, r = np.unravel_index(int(np.argmax(rows[:, keep])), (len(rows), len(keep)))
    return int(k), model.at.rows[keep[r]], float(rows[k, keep[r]])
