"""Motions that exceed limits by much between their knots: limits inside the steps too, or a price on accelerations.

Where little resists, as in a light joint with much friction, accelerations may zigzag from knot to knot: all limits are kept at the knots,
what lies between them is not, and more knots only zigzag faster. Limits in the middle of every step end this, since there are more
of them than there are accelerations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import MEANS, Margin
from armature.optimize.planner.refine import at_knot, turns_at

if TYPE_CHECKING:
    from armature.optimize.planner.plan import Attempt, Planner
    from armature.optimize.transcription.move import MoveProblem

EASING = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3)  # prices of acceleration, as parts of the joint cubic's energy
CHEAP = 0.1  # such a price at which a motion may be the plan, where no search without a price ends
SHORT = 80  # iterations of a search with a low price, or with none from the motion at the lowest
ROUGH = 2e-2  # tolerance of a search with a high price
JAGGED = 0.1  # violation between knots of a motion that zigzags from knot to knot, at no cost that the search sees
CALMED = "a low price on accelerations keeps the motion from zigzagging"
INSIDE = "limits hold in the middle of every step too"


def jagged(best: Attempt, worst: Margin, idle: bool) -> bool:
    """Whether a motion exceeds a limit by much between its knots, or other cures did little (idle)."""
    return (worst.fraction < -JAGGED or idle) and worst.limit not in MEANS and not at_knot(best.motion, worst.time)


def calmed(planner: Planner, best: Attempt, worst: Margin) -> tuple[Attempt, str] | None:
    """A motion that exceeds at most half as much as a jagged one, and what is to be said of it; None where that does not help."""
    if (denser := held_inside(planner, best, worst)) is not None:
        return denser
    if worst.fraction > -JAGGED or turns_at(best.motion, worst) or best.note or planner.late:
        return None
    calm = eased(planner, replace(best.problem, directions=None), best.motion)
    return (replace(calm, note=CALMED), f"{CALMED}: else {worst}") if calm is not None and halves(calm, worst) else None


def held_inside(planner: Planner, best: Attempt, worst: Margin) -> tuple[Attempt, str] | None:
    """The motion whose limits hold inside its steps too, with what is to be said of it; None where that does not help."""
    problem = best.problem
    known = f"{worst.limit} of {worst.joint}" in (*problem.driven.model.constraint_names, *problem.driven.model.state_names)
    if problem.dense or problem.robot.loops or not known or planner.late:
        return None
    denser = planner.best(replace(problem, dense=True, tighter={}, level={}, directions=None, smooth=None), best.motion, False)
    return (denser, f"{INSIDE}: else {worst}") if denser.ok and halves(denser, worst) else None


def halves(found: Attempt, worst: Margin) -> bool:
    """Whether a motion exceeds at most half as much."""
    return found.worst is not None and found.worst.fraction > 0.5 * worst.fraction


def eased(planner: Planner, problem: MoveProblem, guess: Trajectory | None) -> Attempt | None:
    """By way of a price on accelerations, which makes long swinging motions convex and is lowered to nothing; None where it fails.

    Where the cost alone has so flat a minimum that no search ends there, the motion at the lowest price is the answer."""
    t = np.linspace(0.0, problem.duration, 101)
    q, v, a = problem.cubic(t)
    size = float(np.trapezoid(np.sum(a * a, axis=1), t))
    cost = abs(planner.value(problem, Trajectory(t, q, v, a, problem.robot.joint_names)))
    if planner.weights.time or size == 0.0:
        return None
    start: Any = problem.guess(guess)
    best = None
    for part in EASING:
        weights = replace(planner.weights, acceleration=part * max(cost, 1.0) / size)
        options = replace(planner.precise, tolerance=ROUGH, warm_barrier=1e-3)
        options = options if part > CHEAP else replace(options, tolerance=planner.precise.tolerance, iterations=SHORT)
        attempt = planner.attempt(problem, start, options, weights)
        if not attempt.ok or planner.late:
            break
        start = attempt.result
        if part <= CHEAP:
            best = replace(attempt, note=f"no search for the cost alone ended: accelerations cost {100 * part:g} % of the joint cubic's")
    if best is None or planner.late:
        return best
    last = planner.attempt(problem, start, replace(planner.precise, iterations=SHORT))
    return last if last.ok else best
