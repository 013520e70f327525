"""A homotopy inside one solve: a number of the problem's data that follows the barrier from an easy
problem to the one asked."""

from __future__ import annotations

import numpy as np

from armature.optimize.solver import barrier
from armature.optimize.solver.search import Filter
from armature.optimize.solver.state import Homotopy, Search

SOLVED = 10.0  # times μ: error of the barrier problem at which the parameter is lowered
PATIENCE = 15  # iterations after which it is lowered all the same, where the rows nearly hold
NEARLY = 1e-2  # violation, scaled
HELD, SMALL = (
    1e-3,
    1e-5,
)  # violation and barrier at which a search without a further step is at its end
BARRIER = 1e-3  # μ is not lowered below this before the parameter has arrived


def ended(search: Search) -> bool:
    """Whether a homotopy that finds no further step has come to its end: within its rows, with a
    small barrier."""
    at = search.progress
    done = at.homotopy is not None and at.arrived and not search.elastic
    return done and search.theta <= HELD and search.mu <= SMALL


def begin(search: Search) -> None:
    """The data of the first, easiest problem."""
    if search.progress.homotopy is not None:
        _ask(search, search.progress.homotopy)


def follow(search: Search) -> bool:
    """Go one step on where the barrier problem is solved, or has had its time; whether that was
    done. Not while rows are elastic."""
    at = search.progress
    if at.arrived or search.elastic:
        return False
    at.since += 1
    late = at.since > PATIENCE and search.violation < NEARLY
    if not late and barrier.error(search) > SOLVED * search.mu:
        return False
    advance(search)
    search.mu = max(min(search.mu, BARRIER), barrier.next_lower(search.mu))
    search.measure()
    search.filter = Filter(search.theta)
    search.evaluator.derivatives()
    search.best_rank, search.best_kept = (np.inf, np.inf), False
    search.errors()
    return True


def advance(search: Search) -> None:
    """Lower the parameter by one step."""
    at = search.progress
    assert at.homotopy is not None
    at.since = 0
    at.parameter = max(at.homotopy.end, at.homotopy.factor * at.parameter)
    _ask(search, at.homotopy)


def _ask(search: Search, homotopy: Homotopy) -> None:
    n, point = search.evaluator.n, search.point
    x, u = point.z[:, : n.nx], point.z[: n.N, n.nx :]
    search.evaluator.data[:] = homotopy.data(search.progress.parameter, x, u, point.p)
