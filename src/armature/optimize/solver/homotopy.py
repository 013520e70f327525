"""A homotopy inside one solve: a number of the problem's data that follows the barrier from an easy problem to the one asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armature.optimize.solver import barrier
from armature.optimize.solver.search import Filter

if TYPE_CHECKING:
    from armature.optimize.solver.interior import Interior

SOLVED = 10.0  # times μ: error of the barrier problem at which the parameter is lowered
PATIENCE = 15  # iterations after which it is lowered all the same, where the rows nearly hold
NEARLY = 1e-2  # violation, scaled
HELD, SMALL = 1e-3, 1e-5  # violation and barrier at which a search without a further step is at its end
BARRIER = 1e-3  # μ is not lowered below this before the parameter has arrived


@dataclass(frozen=True)
class Homotopy:
    """start, end: of the parameter, which is halved at every step.  data: (parameter, x, u, p) -> (N+1, nd), the problem's data then."""

    start: float
    end: float
    data: Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    factor: float = 0.5


class Progress:
    """Where one search stands in its homotopy."""

    def __init__(self, homotopy: Homotopy | None):
        self.homotopy = homotopy
        self.parameter = homotopy.start if homotopy else 0.0
        self.since = 0

    @property
    def arrived(self) -> bool:
        """Whether the problem is the one asked."""
        return self.homotopy is None or self.parameter <= self.homotopy.end

    def ended(self, search: Interior) -> bool:
        """Whether a homotopy that finds no further step has come to its end: within its rows, with a small barrier."""
        done = self.homotopy is not None and self.arrived and not search.elastic
        return done and search.theta <= HELD and search.mu <= SMALL

    def begin(self, search: Interior) -> None:
        """The data of the first, easiest problem."""
        if self.homotopy is not None:
            self._ask(search)

    def follow(self, search: Interior) -> bool:
        """Go one step on where the barrier problem is solved, or has had its time; whether that was done. Not while rows are elastic."""
        if self.homotopy is None or self.arrived or search.elastic:
            return False
        self.since += 1
        late = self.since > PATIENCE and search.violation < NEARLY
        if not late and barrier.error(search) > SOLVED * search.mu:
            return False
        self.advance(search)
        search.mu = max(min(search.mu, BARRIER), barrier.next_lower(search.mu))
        search.measure()
        search.filter = Filter(search.theta)
        search.evaluator.derivatives()
        search.best_rank, search.best_kept = (np.inf, np.inf), False
        search.errors()
        return True

    def advance(self, search: Interior) -> None:
        """Halve the parameter."""
        assert self.homotopy is not None
        self.since = 0
        self.parameter = max(self.homotopy.end, self.homotopy.factor * self.parameter)
        self._ask(search)

    def _ask(self, search: Interior) -> None:
        assert self.homotopy is not None
        n, point = search.evaluator.n, search.point
        x, u = point.z[:, : n.nx], point.z[: n.N, n.nx :]
        search.evaluator.data[:] = self.homotopy.data(self.parameter, x, u, point.p)
