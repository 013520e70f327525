"""Where joints turn: shortest motions by the exact law of gears and dry friction there, which jumps.

A gear that was driven begins to drive, and friction changes its side: what the motor gives jumps by 1/η² or more, between two knots which
both keep its limits, however near they are. So joints turn at knots, where the laws of both sides hold, and nowhere else: in a step

(T1)  v(s) = v₀ + h a₀ s + h (a₁ − a₀) s²/2,   0 ≤ s ≤ 1,

keeps its sign if it speeds up from where it rests and slows down to where it does (`MoveProblem.outset`), and while |a| ≤ 2|v|/h at both
ends where it only creeps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.optimize.certificate.certify import MEANS
from armature.optimize.planner.plan import Attempt
from armature.optimize.planner.refine import FREELY, SPEEDS, interval
from armature.optimize.transcription.move import STANDS, MoveProblem, resampled


def turned_problem(best: Attempt) -> tuple[MoveProblem, str]:
    """The problem whose joints turn at knots only, where what the motion exceeds most comes from a turn, and what is to be said of it."""
    problem, worst = best.problem, best.margins[0]
    j = problem.robot.joint_names.index(worst.joint) if worst.joint in problem.robot.joint_names else -1
    if problem.robot.loops or j not in problem.driven.dry or worst.limit in (*MEANS, *SPEEDS):
        return problem, ""
    k = interval(best.motion, worst.time)
    if not turns_at_knots(problem):
        known = problem.directions
        rounded = known is None or bool(np.any(known[max(0, k - 1) : k + 2, j] == 0.0))
        at_knots = replace(problem, directions=directions_of(best), smooth=None, outset=tuple(problem.driven.dry))
        return (at_knots, f"joints turn at knots: else {worst}") if rounded else (problem, "")
    turns = turns_inside(best, j)
    if not turns[k]:
        return problem, ""
    level = {**problem.level, j: np.minimum(creeping(best, j, turns), resampled(problem.level.get(j, np.full(2, FREELY)), problem.N + 1))}
    return replace(problem, smooth=None, level=level), f"{worst.joint} hardly accelerates while it creeps: else {worst}"


def turns_at_knots(problem: MoveProblem) -> bool:
    """Whether a joint turns at a knot, by the directions that are kept."""
    known = problem.directions
    return known is not None and bool(np.any(known[1:] * known[:-1] < 0.0))


def directions_of(best: Attempt) -> np.ndarray:
    """(N, n): which way every joint moves in a step, on the whole; 0 where it stands."""
    mean = np.diff(best.motion.q, axis=0) / np.diff(best.motion.t)[:, None]
    return np.where(np.abs(mean) < STANDS, 0.0, np.sign(mean))


def turns_inside(best: Attempt, j: int) -> np.ndarray:
    """(N,): whether joint j turns, and turns back, inside a step at whose ends it moves to the same side, by (T1)."""
    (v0, v1), (a0, a1) = ((x[:-1, j], x[1:, j]) for x in (best.motion.v, best.motion.a))
    s = np.clip(a0 / np.where(a0 == a1, np.inf, a0 - a1), 0.0, 1.0)  # where v(s) is least or greatest
    extreme = v0 + np.diff(best.motion.t) * s * (a0 + (a1 - a0) * s / 2)
    return (v0 * v1 > 0.0) & (v0 * extreme < 0.0)


def creeping(best: Attempt, j: int, steps: np.ndarray) -> np.ndarray:
    """(N+1,): accelerations at the ends of these steps with which joint j does not turn inside them; elsewhere as it likes."""
    slow = np.minimum(np.abs(best.motion.v[:-1, j]), np.abs(best.motion.v[1:, j]))
    most = np.where(steps, 2 * slow / np.diff(best.motion.t), FREELY)
    return np.minimum(np.append(most, FREELY), np.insert(most, 0, FREELY))
