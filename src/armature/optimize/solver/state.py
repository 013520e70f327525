"""Where one search stands: its options, its point and direction, and the measures that every part
of the solver reads."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armature.optimize.problem.problem import Problem
from armature.optimize.problem.result import Iteration
from armature.optimize.solver import newton
from armature.optimize.solver.search import Filter
from armature.optimize.solver.workspace import borrow

RHO = 10.0  # price of elastic rows
# of the elastic problem's optimality: a violated row knows its multiplier only to the rounding of
# RHO
ELASTIC_TOLERANCE = 1e-6
Callback = Callable[[Iteration], bool | None]


@dataclass(frozen=True)
class Homotopy:
    """start, end: of the parameter, which is halved at every step.  data: (parameter, x, u, p) ->
    (N+1, nd), the problem's data then."""

    start: float
    end: float
    data: Callable[[float, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    factor: float = 0.5


@dataclass
class Progress:
    """Where one search stands in its homotopy, if it has one. since: iterations with the present
    parameter."""

    homotopy: Homotopy | None
    parameter: float = 0.0
    since: int = 0

    @property
    def arrived(self) -> bool:
        """Whether the problem is the one asked."""
        return self.homotopy is None or self.parameter <= self.homotopy.end


@dataclass
class History:
    """weight: of the cost against its usual scale, 1 while the rows are rigid.  last: violation at
    the last price.  times: entered.

    restarts: of stuck elastic searches."""

    weight: float = 1.0
    last: float = np.inf
    times: int = 0
    restarts: int = 0


@dataclass(frozen=True)
class Options:
    """tolerance: of the scaled optimality conditions; a hundred times this for 10 iterations is
    acceptable.  iterations: at most.

    rows: by which what is acceptable may miss its rows, scaled, at most: a motion that is asked for
    roughly shall do its task.
    accuracy: part of the cost that is left to gain at which a search may end before it meets the
    tolerance; 0 for never.
    centred: whether directions that bounds cut short are corrected, (I5) of rows.py: fewer
    iterations to an optimum, not always the same.
    barrier, warm_barrier: μ at the start, and at the start from an earlier result.  delta: the
    proximal term of rows.py.
    price: of an elastic row, for a cost scaled to gradients of at most 100; raised while that
    lowers the violation.
    homotopy: an easier problem to begin with (homotopy.py).
    stretch: whether rows may stretch where no step is left; not worth it from a start that keeps
    them."""

    tolerance: float = 1e-8
    iterations: int = 500
    rows: float = math.inf
    accuracy: float = 0.0
    centred: bool = False
    barrier: float = 0.1
    warm_barrier: float = 1e-5
    delta: float = 1e-8
    price: float = 1e3
    homotopy: Homotopy | None = None
    stretch: bool = True


class Search:
    """The state of one search.

    mu, rho: barrier and price of the elastics; theta, phi: violation and barrier cost of the
    current point."""

    filter: Filter

    def __init__(
        self,
        problem: Problem,
        options: Options,
        callback: Callback | None,
        ends: float,
        before: tuple[Iteration, ...] = (),
    ):
        self.workspace = borrow(problem)
        evaluator = self.workspace.evaluator
        self.evaluator, self.options, self.callback, self.ends = evaluator, options, callback, ends
        self.began = time.perf_counter()
        self.record = list(before)
        self.again = bool(before)
        self.limits, self.point, self.trial = evaluator.limits, evaluator.point, evaluator.trial
        self.direction, self.kept, self.best = (
            self.workspace.direction,
            self.workspace.kept,
            self.workspace.best,
        )
        self.elastic, self.rho = False, RHO
        self.stretched = History()
        self.nudged, self.recentred = False, 0
        self.best_rank, self.best_kept = (math.inf, math.inf), False
        self.mu = options.barrier
        self.step, self.convex = 0.0, False
        self.progress = Progress(
            options.homotopy, options.homotopy.start if options.homotopy else 0.0
        )

    @property
    def tolerance(self) -> float:
        """The tolerance asked for, of the motion's size; looser while rows are elastic, which is
        never the last word on an optimum."""
        asked = self.options.tolerance * self.evaluator.problem.size
        return max(asked, ELASTIC_TOLERANCE) if self.elastic else asked

    @property
    def parameters(self) -> tuple[float, float, bool, float]:
        """What the rows' algebra needs."""
        return self.mu, self.rho, self.elastic, self.options.delta

    def measure(self) -> None:
        """Values, violation and barrier cost of the current point."""
        self.cost, self.theta, self.phi = self.assess(self.point)
        self.bounds, self.convex = self.trial_bounds, False

    def assess(self, point) -> tuple[float, float, float]:
        """(cost, violation θ, barrier cost φ) of the current or the trial point."""
        cost, gap = self.evaluator.values(point)
        left, *self.trial_bounds = newton.appraise(self.direction.held, point.held, self.elastic)
        return cost, gap + left, self.barrier_cost(cost, self.trial_bounds)

    def barrier_cost(self, cost: float, bounds: Sequence[float]) -> float:
        """φ: the cost with barrier and price; bounds: what `rows.barrier` gives."""
        return cost - self.mu * bounds[0] + self.rho * bounds[1]

    def errors(self) -> tuple[float, float, float]:
        """(stationarity, violation, complementarity) with the multipliers' size taken out, as in
        Ipopt."""
        d, n, point = self.direction, self.evaluator.n, self.point
        terms = newton.optimality(d.held, point.held, self.rho, self.elastic)
        gradient, self.violation, compl, slope, size, total, count = terms
        self.scale_bounds = max(100.0, total / max(1, count)) / 100.0
        self.stationarity = max(gradient, slope) / (
            max(100.0, (size + total) / max(1, count + point.lam.size + n.R)) / 100.0
        )
        return self.stationarity, self.violation, compl / self.scale_bounds

    def to_boundary(self) -> tuple[float, float]:
        """The longest steps of variables and of multipliers along the direction, nearly up to the
        bounds."""
        keep = max(0.99, 1.0 - self.mu)
        return newton.to_boundary(self.direction.held, self.point.held, self.elastic, keep)

    def slopes(self) -> tuple[float, float]:
        """Derivatives of the cost, and of what the rows add to it, along the direction."""
        return newton.slopes(self.direction.held, self.point.held, self.mu, self.rho, self.elastic)
