"""The Newton direction: eliminate the rows, factor the stagewise system with enough convexity, add the border, recover every step."""

from __future__ import annotations

import numpy as np

from armature.optimize import border, local, riccati, rows, system
from armature.optimize.evaluate import Evaluator, Point

SHIFT_FIRST, SHIFT_LEAST, SHIFT_MOST = 1e-4, 1e-10, 1e20
FLOOR_FIRST, LEAST_METRIC = 1e-7, 1e-2
OFTEN, SELDOM = 2, 8  # tries in a row to do without the inner function's curvature, and how seldom it is tried then
NEGLIGIBLE = 1e-3  # part of a step that a total far from its bound may change


class Direction:
    """Arrays of one direction and the factors that it was made with."""

    def __init__(self, evaluator: Evaluator):
        n = evaluator.n
        self.evaluator, self.n = evaluator, n
        nb = n.np + n.nt
        self.local = local.workspace(evaluator.place, n.N + 1, nb)
        nk = self.local.m.shape[2]
        self.system = system.System(np.zeros((n.N + 1, nk, nk)), np.zeros((nb, n.N + 1, nk)), np.zeros((nb, n.N, n.nx)), np.zeros((nb, nb)))
        self.factors = riccati.workspace(n.N, n.nx, nk - n.nx)
        self.weight, self.rhat, self.residual, self.y = np.zeros((4, n.R))
        self.r, self.rb = np.zeros((n.N + 1, n.nz)), np.zeros(nb)
        self.dz, self.dlam, self.beta = np.zeros((n.N + 1, n.nz)), np.zeros((n.N + 1, n.nx)), np.zeros(nb)
        self.border = border.workspace(nb, n.N + 1, nk, n.nx)
        first = evaluator.blocks[0]
        self.dynamics = first.d.F, first.at.F_rows, evaluator.place[first.at.F_cols]
        # without the local variables: right-hand sides, steps, and what these leave
        self.rk, self.rbk, self.dk = np.zeros((n.N + 1, nk)), np.zeros(nb), np.zeros((n.N + 1, nk))
        self.left = np.zeros_like(self.rk), np.zeros((n.N, n.nx)), np.zeros(nb)
        self.extra = np.zeros_like(self.dk), np.zeros_like(self.dlam)
        self.dy, self.added = np.zeros(n.R), np.zeros((2, n.R))
        self.step = rows.empty_rows(n.R)
        self.metric, self.shifts = np.ones(nk), np.zeros(nk)
        self.clear()

    def clear(self) -> None:
        """Forget an earlier search."""
        self.shift = self.last_shift = self.floor = 0.0
        self.in_vain = self.asked = 0
        self.metric[:] = 1.0
        self.border.influence[:] = np.inf
        for array in (self.dz, self.dlam, self.beta, self.dy, *self.step):
            array[:] = 0.0

    # the gradient of the Lagrangian ---------------------------------------------------------------------------------------

    def gradient(self, point: Point, y: np.ndarray) -> None:
        """r, rb = ∇ℒ in z and p for the row multipliers y."""
        n = self.n
        self.rb[:] = 0.0
        for block in self.evaluator.blocks:
            system.gradient(block.d, block.at, point.lam, y, self.r, self.rb[: n.np])
        self.rb[: n.np] += y[n.R - n.np - n.nt : n.R - n.nt]

    # the matrix -----------------------------------------------------------------------------------------------------------

    def assemble(self, point: Point, mu: float, rho: float, elastic: bool, delta: float) -> None:
        """The matrix of (N1) at the current point."""
        limits = self.evaluator.limits
        rows.residuals(point.v, limits, point.rows, elastic, self.residual)
        self.added[:] = 0.0
        rows.eliminate(limits, point.rows, self.residual, self.aim(mu), rho, elastic, delta, self.weight, self.rhat)
        self.choose_totals()
        self.fill()

    def choose_totals(self) -> None:
        """Totals far from their bounds stay out of the matrix: the wTᵀT that they add there changes the step by the part w TK⁻¹Tᵀ.

        Those that must keep a value, such as the sum of the legs' durations, always count: K alone may curve down along them,
        which makes that part negative.
        """
        n = self.n
        totals = slice(n.R - n.nt, n.R)
        w, bounded = self.weight[totals], self.evaluator.limits.kind[totals] == rows.BOUNDED
        with np.errstate(invalid="ignore"):
            far = bounded & (w * self.border.influence[n.np :] < NEGLIGIBLE)
        self.border.used[n.np :] = (w > 0.0) & ~far

    def fill(self) -> None:
        """The matrix of (N1) with the rows' weights and the derivatives at hand."""
        n = self.n
        self.system.B[:] = 0.0
        for block in self.evaluator.blocks:
            system.assemble(block.d, block.at, self.weight, self.border.used, 0.0, self.local, self.system)
        tail = self.weight[n.R - n.np - n.nt :]
        for j in range(n.np):
            self.system.B[j, j] += tail[j]
        for t in range(n.np, n.np + n.nt):
            self.border.own[t] = -1.0 / tail[t] if self.border.used[t] else -1.0
            self.system.B[t, t] += self.border.own[t]

    def factor(self) -> bool:
        """Factor with the smallest shift tried, from `floor` on, that makes the matrix convex where it must be (Ipopt's rule).

        Where more is needed the curvature of the inner function is left out first, if that is enough: fewer iterations on chains of many
        joints than with a shift.
        """
        shift = self.floor
        convex = self.try_shift(shift)
        if not convex and self.worth_straightening() and self.evaluator.straighten():
            self.fill()
            convex = self.try_shift(shift)
            self.in_vain = 0 if convex else self.in_vain + 1
            if not convex:
                self.evaluator.derivatives()
                self.fill()
        while not convex:
            if shift == 0.0:
                shift = SHIFT_FIRST if self.last_shift == 0.0 else max(SHIFT_LEAST, self.last_shift / 3.0)
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
        """Whether leaving out the inner function's curvature is tried: ever more seldom where it has been in vain."""
        self.asked += 1
        return self.in_vain < OFTEN or self.asked % SELDOM == 0

    def choose_metric(self) -> None:
        """How added curvature is shared among the variables: as their own curvature is, so that no unit dominates.

        Local variables (local.py) need none: they have no curvature but that of their rows, which is positive.
        """
        nz, first = self.n.nz, self.evaluator.blocks[0]
        places = first.at.H_rows == first.at.H_cols
        size = np.zeros(nz + self.n.np)
        size[first.at.H_rows[places]] = np.abs(first.d.H[:, places]).mean(0)
        size = size[:nz][self.evaluator.place >= 0]
        if size.max() > 0.0:
            self.metric[:] = np.clip(size / size.max(), LEAST_METRIC, 1.0)

    def adapt(self, shortened: float) -> None:
        """After a step that the search has shortened by this factor: more curvature for the next direction, or less when all went well.

        Where the curvature is positive but tiny, Newton's direction is long and leads out of the region in which it means anything.
        """
        if shortened < 0.1:
            self.floor = max(8.0 * self.shift, FLOOR_FIRST)
        elif shortened >= 0.5:
            self.floor = self.floor / 30.0 if self.floor > FLOOR_FIRST else 0.0

    def try_shift(self, shift: float) -> bool:
        """Factor the knots, then the border."""
        np.multiply(self.metric, shift, out=self.shifts)
        if not riccati.factor(self.system.W, *self.dynamics, self.shifts, self.factors):
            return False
        return self.beta.size == 0 or border.factor(*self.dynamics, self.factors, self.system, self.border, self.n.np, shift)

    # the solution ---------------------------------------------------------------------------------------------------------

    def solve_all(self, r: np.ndarray, gap: np.ndarray, rb: np.ndarray, dz: np.ndarray, dlam: np.ndarray) -> np.ndarray:
        """(N1) for one right-hand side; returns β = (dp, dη)."""
        if self.beta.size == 0:
            riccati.solve(*self.dynamics, r, gap, self.factors, dz, dlam)
        else:
            border.solve(*self.dynamics, self.factors, self.system, self.border, r, gap, rb, dz, dlam)
        return self.border.beta

    def aim(self, mu: float) -> rows.Aim:
        """What the products of slacks and multipliers shall be."""
        return rows.Aim(mu, self.added[0], self.added[1])

    def correct(self, point: Point, gap: np.ndarray, residual: np.ndarray, mu: float, rho: float, elastic: bool, delta: float) -> None:
        """The direction for other residuals of dynamics and rows, with the factors at hand: a second-order correction."""
        rows.eliminate(self.evaluator.limits, point.rows, residual, self.aim(mu), rho, elastic, delta, self.weight, self.rhat)
        self.solve(point, gap, mu, rho, elastic)

    def solve(self, point: Point, gap: np.ndarray, mu: float, rho: float, elastic: bool, refine: int = 1) -> None:
        """The direction, with the factors and the rows' weights at hand."""
        n, limits = self.n, self.evaluator.limits
        np.multiply(self.weight, self.rhat, out=self.y)
        self.y += point.rows.y
        used, totals = self.border.used[n.np :] > 0.0, slice(n.R - n.nt, n.R)
        np.copyto(self.y[totals], point.rows.y[totals], where=used)
        self.gradient(point, self.y)
        self.rb[n.np :] = np.where(used, self.rhat[totals], 0.0)
        local.fold(self.local, self.r, self.rb, self.rk, self.rbk)
        self.beta[:] = self.solve_all(self.rk, gap, self.rbk, self.dk, self.dlam)
        for _ in range(refine):
            self.refine(gap)
        local.unfold(self.local, self.r, self.dk, self.beta, self.dz)
        # back to the rows
        dp = self.beta[: n.np]
        for block in self.evaluator.blocks:
            system.row_steps(block.d, block.at, self.weight, self.rhat, self.dz, dp, self.dy)
        tail = slice(n.R - n.np - n.nt, n.R - n.nt)
        self.dy[tail] = self.weight[tail] * (dp + self.rhat[tail])
        self.dy[totals] = self.beta[n.np :]
        if not used.all():
            moved = sum(system.total_steps(block.d.T, self.dz[block.first :], dp, n.nt) for block in self.evaluator.blocks)
            np.copyto(self.dy[totals], self.weight[totals] * (moved + self.rhat[totals]), where=~used)
        rows.recover(limits, point.rows, self.aim(mu), rho, elastic, self.dy, self.step)

    def least_squares(self, point: Point) -> None:
        """dlam, dy = the multipliers that leave the least gradient of the Lagrangian: (N1) with a unit Hessian, from zero multipliers."""
        n, kind = self.n, self.evaluator.limits.kind
        self.system.B[:] = 0.0
        for block in self.evaluator.blocks:
            np.copyto(block.d.H, 0.0)
        self.weight[:] = np.array([0.0, 1e4, 1e4, 1.0])[kind]
        self.rhat[:] = np.where(kind == rows.BOUNDED, point.rows.b - point.rows.a, 0.0)
        self.weight[n.R - n.nt :] = 0.0
        self.border.used[n.np :] = 0.0
        for block in self.evaluator.blocks:
            system.assemble(block.d, block.at, self.weight, self.border.used, 1.0, self.local, self.system)
        riccati.factor(self.system.W, *self.dynamics, np.ones_like(self.shifts), self.factors)
        np.multiply(self.weight, self.rhat, out=self.y)
        self.gradient(point, self.y)
        self.rb[:] = self.beta[:] = 0.0
        local.fold(self.local, self.r, self.rb, self.rk, self.rbk)
        riccati.solve(*self.dynamics, self.rk, np.zeros((n.N, n.nx)), self.factors, self.dk, self.dlam)
        local.unfold(self.local, self.r, self.dk, self.beta, self.dz)
        self.dy[:] = 0.0
        for block in self.evaluator.blocks:
            system.row_steps(block.d, block.at, self.weight, self.rhat, self.dz, np.zeros(n.np), self.dy)

    def copy_step(self, other: Direction) -> None:
        """Take over another direction's steps."""
        for name in ("dz", "dlam", "beta", "dy"):
            np.copyto(getattr(self, name), getattr(other, name))
        for mine, theirs in zip(self.step, other.step):
            np.copyto(mine, theirs)

    def refine(self, gap: np.ndarray) -> None:
        """One step of iterative refinement on (N1)."""
        r, g, b = self.left
        system.remainder(
            self.system, self.border.used, *self.dynamics, self.shifts, self.rk, gap, self.rbk, self.dk, self.dlam, self.beta, r, g, b
        )
        b[: self.n.np] += self.shift * self.beta[: self.n.np]
        dz, dlam = self.extra
        beta = self.solve_all(r, g, b, dz, dlam)
        self.dk += dz
        self.dlam += dlam
        if self.beta.size:
            self.beta += beta
