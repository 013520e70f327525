"""The Newton direction: eliminate the rows, factor the stagewise system with enough convexity, add
the border, recover every step."""

from __future__ import annotations

import numpy as np

from armature.optimize.solver import border, local, newton, riccati, rows, system
from armature.optimize.solver.evaluate import Evaluator, Point
from armature.optimize.solver.loops import hold

SHIFT_FIRST, SHIFT_LEAST, SHIFT_MOST = 1e-4, 1e-10, 1e20
FLOOR_FIRST, LEAST_METRIC = 1e-7, 1e-2
FINE = 1e-6  # barrier below which directions are refined
OFTEN, SELDOM = (
    2,
    8,
)  # tries in a row to do without the inner function's curvature, and how seldom it is tried then


class Direction:
    """Arrays of one direction and the factors that it was made with."""

    def __init__(self, evaluator: Evaluator):
        n = evaluator.n
        self.evaluator, self.n = evaluator, n
        nb, place, (first, last) = n.np + n.nt, evaluator.place, evaluator.blocks
        nk = int(np.sum(place >= 0))
        self.border = border.workspace(nb, n.N + 1, nk, n.nx)
        self.step = rows.empty_rows(n.R)
        matrix = (
            (newton.Block(first.d, first.at), newton.Block(last.d, last.at)),
            local.workspace(place, n.N + 1, nb),
            system.workspace(n.N + 1, nk, n.nx, nb, n.np, n.nr - n.nz),
            riccati.workspace(n.N, n.nx, nk - n.nx),
            self.border,
        )
        places = first.d.F, first.at.F_rows, place[first.at.F_cols], n.np
        table = newton.Table(
            *matrix,
            *places,
            evaluator.limits,
            self.step,
            *newton.arrays(n.R, n.N, n.nz, n.nx, nk, nb),
        )
        self.added, self.residual, self.weight, self.rhat = (
            table.added,
            table.residual,
            table.weight,
            table.rhat,
        )
        self.dz, self.dlam, self.beta, self.dy = table.dz, table.dlam, table.beta, table.dy
        self.held = hold(table)
        self.metric = np.ones(nk)
        self.clear()

    def clear(self) -> None:
        """Forget an earlier search."""
        self.shift = self.last_shift = self.floor = 0.0
        self.straight = False
        self.in_vain = self.asked = 0
        self.metric[:] = 1.0
        self.border.influence[:] = np.inf
        for array in (self.dz, self.dlam, self.beta, self.dy, *self.step):
            array[:] = 0.0

    # the matrix ----------------------------------------------------------------------------------

    def assemble(self, point: Point, mu: float, rho: float, elastic: bool, delta: float) -> None:
        """The matrix of (N1) at the current point."""
        newton.assemble(self.held, point.held, mu, rho, elastic, delta)

    def fill(self) -> None:
        """The matrix of (N1) with the rows' weights and the derivatives at hand."""
        newton.fill(self.held, 0.0)

    def factor(self) -> bool:
        """Factor with the smallest shift tried, from `floor` on, that makes the matrix convex where
        it must be (Ipopt's rule).

        Where more is needed the curvature of the inner function is left out first, if that is
        enough: fewer iterations on chains of many joints than with a shift.
        """
        shift, self.straight = self.floor, False
        convex = self.try_shift(shift)
        if not convex and self.worth_straightening() and self.evaluator.straighten():
            self.fill()
            convex = self.try_shift(shift)
            self.in_vain, self.straight = (0, True) if convex else (self.in_vain + 1, False)
            if not convex:
                self.evaluator.derivatives()
                self.fill()
        while not convex:
            if shift == 0.0:
                shift = (
                    SHIFT_FIRST
                    if self.last_shift == 0.0
                    else max(SHIFT_LEAST, self.last_shift / 3.0)
                )
            else:
                shift *= 100.0 if self.last_shift == 0.0 else 8.0
            if not shift < SHIFT_MOST:
                return False
            convex = self.try_shift(shift)
        self.shift = shift
        if shift > 0.0:
            self.last_shift = shift
        return True

    def worth_straightening(self) -> bool:
        """Whether leaving out the inner function's curvature is tried: ever more seldom where it
        has been in vain."""
        self.asked += 1
        return self.in_vain < OFTEN or self.asked % SELDOM == 0

    def choose_metric(self) -> None:
        """How added curvature is shared among the variables: as their own curvature is, so that no
        unit dominates.

        Local variables (local.py) need none: they have no curvature but that of their rows, which
        is positive."""
        nz, first = self.n.nz, self.evaluator.blocks[0]
        places = first.at.H_rows == first.at.H_cols
        size = np.zeros(nz + self.n.np)
        size[first.at.H_rows[places]] = np.abs(first.d.H[:, places]).mean(0)
        size = size[:nz][self.evaluator.place >= 0]
        if size.max() > 0.0:
            self.metric[:] = np.clip(size / size.max(), LEAST_METRIC, 1.0)

    def adapt(self, shortened: float, strayed: bool) -> None:
        """After a step that the search has shortened by this factor: more curvature for the next
        direction, or less when all went well.

        Where the curvature is positive but tiny, Newton's direction is long and leads out of the
        region in which it means anything.
        strayed: whether the step has left the rows farther than before, which is the same though it
        was taken."""
        if shortened < 0.1 or strayed:
            self.floor = max(8.0 * self.shift, FLOOR_FIRST)
        elif shortened >= 0.5:
            self.floor = self.floor / 30.0 if self.floor > FLOOR_FIRST else 0.0

    def try_shift(self, shift: float) -> bool:
        """Factor the knots, then the border."""
        return newton.factor(self.held, self.metric, shift)

    # the solution --------------------------------------------------------------------------------

    def solve(self, point: Point, gap: np.ndarray, mu: float, rho: float, elastic: bool) -> bool:
        """The direction, with the factors and the rows' weights at hand; whether it is finite. Late
        ones are refined once."""
        return newton.direct(
            self.held, point.held, gap, mu, rho, elastic, self.shift, elastic or mu < FINE
        )

    def correct(
        self,
        point: Point,
        gap: np.ndarray,
        residual: np.ndarray,
        mu: float,
        rho: float,
        elastic: bool,
        delta: float,
    ) -> bool:
        """The direction for other aims or residuals of dynamics and rows, with the factors at hand:
        a second-order correction."""
        newton.eliminate(self.held, point.held, residual, mu, rho, elastic, delta)
        return self.solve(point, gap, mu, rho, elastic)

    def least_squares(self, point: Point) -> None:
        """dlam, dy = the multipliers that leave the least gradient of the Lagrangian: (N1) with a
        unit Hessian, from zero multipliers."""
        n, kind = self.n, self.evaluator.limits.kind
        for block in self.evaluator.blocks:
            np.copyto(block.d.H, 0.0)
        self.weight[:] = np.array([0.0, 1e4, 1e4, 1.0])[kind]
        self.rhat[:] = np.where(kind == rows.BOUNDED, point.rows.b - point.rows.a, 0.0)
        self.weight[n.R - n.nt :] = 0.0
        self.border.used[n.np :] = 0.0
        newton.fill(self.held, 1.0)
        newton.least_squares(self.held, point.lam)

    def copy_step(self, other: Direction, elastic: bool) -> None:
        """Take over another direction's steps. elastic: whether those of the elastics count."""
        for name in ("dz", "dlam", "beta", "dy"):
            np.copyto(getattr(self, name), getattr(other, name))
        for mine, theirs in list(zip(self.step, other.step))[: None if elastic else rows.PLAIN]:
            np.copyto(mine, theirs)
