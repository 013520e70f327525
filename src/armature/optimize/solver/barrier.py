"""The barrier: when it is lowered and how far, when that has nothing more to give, and steps that
keep away from it."""

from __future__ import annotations

import numpy as np

from armature.optimize.solver import newton, rows
from armature.optimize.solver.state import Search

SOLVED = 10.0  # times μ: the error of a problem with this μ at which it is lowered
# violation, of the motion's size, at which a search may end by what it has left to gain
HELD = 1e-3
JOINED = 1e-6  # the same of the dynamics and of equations: start, via points, goal
SHORT = 0.7  # of a full step: below this a direction is corrected
AHEAD = 0.3  # how much longer a step the correction is made for
LONGER = 0.03  # what a correction must add to the step
KEPT = 0.9  # of the multipliers' step, at least


def lower(search: Search) -> None:
    """Lower μ as long as the problem with this μ is solved well enough (Fiacco and McCormick)."""
    least = search.tolerance / 10.0
    while search.mu > least and error(search) <= SOLVED * search.mu:
        search.mu = max(least, next_lower(search.mu))
        search.filter.clear()
    search.phi = search.barrier_cost(search.cost, search.bounds)


def next_lower(mu: float) -> float:
    """The barrier after this one."""
    return min(0.2 * mu, mu**1.5)


def error(search: Search) -> float:
    """The worst error of the problem with the current barrier."""
    complementarity = newton.complementarity(
        search.direction.held, search.point.held, search.mu, search.rho, search.elastic
    )
    return max(search.stationarity, search.violation, complementarity / search.scale_bounds)


def little_left(search: Search, before: float) -> bool:
    """Whether a search may end with little left to gain. before: the last μ; where more is left, μ
    gets no lower than that asks for.

    With μ lowered, what the direction promises is about all that is left. Where it promises little
    without, a lower μ is tried out."""
    accuracy = search.options.accuracy
    if not accuracy or search.elastic:
        return False
    size, gap = (
        search.evaluator.problem.size,
        max(float(np.abs(search.point.gap).max()), off_target(search)),
    )
    left, held = promise(search), search.violation <= HELD * size and gap <= JOINED * size
    if search.mu == before:
        return left <= accuracy and held and search.convex and promises_little_lower(search)
    if left <= accuracy and held:
        return True
    mu = min(0.2 * before, 0.5 * before * accuracy / max(left, 1e-300))
    if mu > search.mu:
        search.mu = mu
        search.phi = search.barrier_cost(search.cost, search.bounds)
        again(search)
    return False


def off_target(search: Search) -> float:
    """By how much equations are missed, scaled: start, via points and goal."""
    limits = search.limits
    equations = (limits.kind == rows.EQUATION) | (limits.kind == rows.RIGID)
    return float(np.abs((search.point.v - limits.lower)[equations]).max(initial=0.0))


def promise(search: Search) -> float:
    """Part of the cost that the direction promises to gain."""
    return abs(search.slopes()[0]) / max(abs(search.cost), 1e-300)


def promises_little_lower(search: Search) -> bool:
    """Whether a lower barrier promises no more than the accuracy; else the direction is as it
    was."""
    before, search.mu = search.mu, next_lower(search.mu)
    again(search)
    if promise(search) <= search.options.accuracy:
        return True
    search.mu = before
    again(search)
    return False


def again(search: Search) -> None:
    """The direction for other aims, with the factors at hand."""
    d, point = search.direction, search.point
    rows.residuals(point.v, search.limits, point.rows, search.elastic, d.residual)
    d.correct(point, point.gap, d.residual, *search.parameters)


def corrected(search: Search, primal: float, dual: float) -> tuple[float, float] | None:
    """(I5): a direction that bounds cut short later, and how long its steps may be; None, and the
    direction as it was, without one."""
    if search.elastic or not search.options.centred or min(primal, dual) >= SHORT:
        return None
    d = search.direction
    search.kept.copy_step(d, search.elastic)
    newton.centre(
        d.held, search.point.held, min(1.0, primal + AHEAD), min(1.0, dual + AHEAD), search.mu
    )
    again(search)
    longer = search.to_boundary()
    if longer[0] >= primal + LONGER and longer[1] >= KEPT * dual:
        return longer
    put_back(search)
    return None


def put_back(search: Search) -> None:
    """The direction as it was before it was corrected."""
    search.direction.copy_step(search.kept, search.elastic)
    search.direction.added[:] = 0.0
