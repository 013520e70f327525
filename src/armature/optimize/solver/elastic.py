"""When no step is acceptable: rows that stretch at a price, which lead to an optimum or to the
least violation.

The elastic problem (rows.py, (I3)) always has feasible points. At a high enough price its solution
is that of the problem itself, or where that has none, a point of least violation in the sum of
absolute values: a certificate of what cannot be met. A higher price is a lower weight of the cost,
which keeps the numbers small: the price itself stays RHO."""

from __future__ import annotations

import numpy as np

from armature.optimize.problem.result import Status
from armature.optimize.solver import homotopy, rows
from armature.optimize.solver.state import RHO, Search

RAISE, MOST = 100.0, 1e8
# iterations with short steps, before rows stretch: that often ends at a worse optimum
PATIENCE = 25


def stretch(search: Search) -> bool:
    """Make all rows elastic; when they are, begin again with a larger barrier; False when that has
    been done often enough."""
    if search.elastic:
        return begin_again(search)
    if search.stretched.times >= 2 or not search.options.stretch:
        return False
    search.stretched.times += 1
    search.stretched.last = np.inf
    search.elastic = True
    reweigh(search, RHO / search.options.price)
    relax(search)
    return True


def begin_again(search: Search) -> bool:
    """A stuck elastic search: forget filter and centre, three times at most."""
    if search.stretched.restarts >= 3:
        return False
    search.stretched.restarts += 1
    search.mu = min(1.0, 100.0 * search.mu)
    relax(search)
    return True


def creeping(search: Search) -> bool:
    """Whether rigid rows have allowed no progress for a while: short steps, and a violation that
    stays."""
    recent = search.record[-PATIENCE:]
    if (
        search.elastic
        or search.stretched.times >= 2
        or len(recent) < PATIENCE
        or not search.options.stretch
    ):
        return False
    return (
        all(line.step < 0.2 for line in recent)
        and recent[-1].violation > 0.3 * recent[0].violation > 1e-4
    )


def relax(search: Search) -> None:
    """Elastics that fit the current point, and a new filter."""
    search.mu = max(search.mu, search.options.barrier * RHO / search.options.price)
    rows.loosen(search.point.v, search.limits, search.point.rows, RHO, search.mu)
    begin(search)


def begin(search: Search) -> None:
    """Measure the point under the new terms and forget the old filter."""
    search.measure()
    search.filter = type(search.filter)(search.theta)
    search.evaluator.derivatives()


def reweigh(search: Search, weight: float) -> None:
    """Give the cost this weight against its usual scale; multipliers follow."""
    factor = weight / search.stretched.weight
    search.stretched.weight = weight
    for block in search.evaluator.blocks:
        block.w[0] *= factor
    for part in (search.point.lam, search.point.rows.y, search.point.rows.a, search.point.rows.b):
        part *= factor


def violation(search: Search) -> tuple[float, float]:
    """Sum and largest of what the rows are stretched by."""
    residual = search.direction.residual
    rows.residuals(search.point.v, search.limits, search.point.rows, False, residual)
    return float(np.abs(residual).sum()), float(np.abs(residual).max())


def judge(search: Search) -> Status | None:
    """The verdict on an optimum of the elastic problem: infeasible, or go on (None) with a higher
    price or rigid rows."""
    left, largest = violation(search)
    if largest <= 1e-5:
        return tighten(search)
    if not search.progress.arrived:
        homotopy.advance(search)
        relax(search)
        return None
    state = search.stretched
    if left > 0.99 * state.last or RHO / state.weight >= MOST:
        return Status.INFEASIBLE
    state.last = left
    reweigh(search, state.weight / RAISE)
    relax(search)
    return None


def tighten(search: Search) -> None:
    """The rows hold: make them rigid again and finish with the usual weight of the cost."""
    search.elastic = False
    reweigh(search, 1.0)
    search.mu = max(search.options.tolerance, 1e-6) if search.progress.arrived else 1e-2
    rows.place_slacks(search.point.v, search.limits, search.point.rows, 1e-6, search.mu)
    begin(search)
