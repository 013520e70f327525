"""The barrier: when it is lowered and how far, when that has nothing more to give, and steps that keep away from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armature.optimize import rows

if TYPE_CHECKING:
    from armature.optimize.interior import Interior

SOLVED = 10.0  # times μ: the error of a problem with this μ at which it is lowered
HELD = 1e-4  # violation at which a search may end by what it has left to gain
SHORT = 0.7  # of a full step: below this a direction is corrected
AHEAD = 0.3  # how much longer a step the correction is made for
LONGER = 0.03  # what a correction must add to the step
KEPT = 0.9  # of the multipliers' step, at least


def lower(search: Interior) -> bool:
    """Lower μ as long as the problem with this μ is solved well enough (Fiacco and McCormick); whether it was."""
    before, least = search.mu, search.tolerance / 10.0
    while search.mu > least and error(search) <= SOLVED * search.mu:
        search.mu = max(least, min(0.2 * search.mu, search.mu**1.5))
        search.filter.clear()
    search.phi = search.barrier_cost(search.cost, search.bounds)
    return search.mu < before


def error(search: Interior) -> float:
    """The worst error of the problem with the current barrier."""
    complementarity = rows.complementarity(search.limits, search.point.rows, search.mu, search.rho, search.elastic)[0]
    return max(search.stationarity, search.violation, complementarity / search.scale_bounds)


def little_left(search: Interior, before: float) -> bool:
    """Whether a search may end with little left to gain. before: the last μ; where more is left, μ gets no lower than that asks for.

    With μ lowered, what the direction promises is about all that is left."""
    accuracy = search.options.accuracy
    if not accuracy or search.elastic:
        return False
    left = abs(search.slopes()[0]) / max(abs(search.cost), 1e-300)
    if left <= accuracy and search.violation <= HELD:
        return True
    mu = min(0.2 * before, 0.5 * before * accuracy / max(left, 1e-300))
    if mu > search.mu:
        search.mu = mu
        search.phi = search.barrier_cost(search.cost, search.bounds)
        again(search)
    return False


def again(search: Interior) -> None:
    """The direction for other aims, with the factors at hand."""
    d, point = search.direction, search.point
    rows.residuals(point.v, search.limits, point.rows, search.elastic, d.residual)
    d.correct(point, point.gap, d.residual, *search.parameters)


def corrected(search: Interior, primal: float, dual: float) -> tuple[float, float] | None:
    """(I5): a direction that bounds cut short later, and how long its steps may be; None, and the direction as it was, without one."""
    if search.elastic or not search.options.centred or min(primal, dual) >= SHORT:
        return None
    d = search.direction
    search.kept.copy_step(d, search.elastic)
    rows.centre(search.limits, search.point.rows, d.step, min(1.0, primal + AHEAD), min(1.0, dual + AHEAD), d.aim(search.mu))
    again(search)
    longer = search.to_boundary()
    if longer[0] >= primal + LONGER and longer[1] >= KEPT * dual:
        return longer
    put_back(search)
    return None


def put_back(search: Interior) -> None:
    """The direction as it was before it was corrected."""
    search.direction.copy_step(search.kept, search.elastic)
    search.direction.added[:] = 0.0
