"""One Newton direction in few compiled calls.

`assemble` eliminates the rows and fills the matrix of (N1), `factor` factors it, `direct` solves it
and recovers the steps of all rows. They take a `Table` and a `Point`, held (loops.py).
"""

from typing import NamedTuple

import numpy as np

from armature.optimize.solver import border, local, riccati, rows, system
from armature.optimize.solver.loops import Indices, Matrix, Vector, inner, loop

NEGLIGIBLE = 1e-3  # part of a step that a total far from its bound may change


class Block(NamedTuple):
    """The knots that share a stage: their derivatives, and where these stand."""

    d: system.Derivatives
    at: system.Places


class Table(NamedTuple):
    """All arrays of a search but those of its points.

    blocks: derivatives and places of the knots that share a stage.  F, F_rows, F_cols: see
    riccati.py.  parameters: how many there are.
    weight, rhat, residual, y, dy: (R,).  r, dz: (N+1, nz); dlam: (N+1, nx); rb, beta: (nb,):
    right-hand sides and steps.
    rk, rbk, dk: the same without the local variables; left_, more_: what a step leaves, and the
    step that mends it.
    step: of the rows.  added: (2, R) to the aim of lower and upper bounds, see `rows.centre`.
    """

    blocks: tuple[Block, Block]
    local: local.Local
    system: system.System
    factors: riccati.Factors
    border: border.Border
    F: Matrix
    F_rows: Indices
    F_cols: Indices
    parameters: int
    limits: rows.Limits
    step: rows.Rows
    added: Matrix
    shifts: Vector
    weight: Vector
    rhat: Vector
    residual: Vector
    y: Vector
    dy: Vector
    r: Matrix
    rb: Vector
    dz: Matrix
    dlam: Matrix
    beta: Vector
    rk: Matrix
    rbk: Vector
    dk: Matrix
    left_r: Matrix
    left_gap: Matrix
    left_b: Vector
    more_z: Matrix
    more_lam: Matrix


class Point(NamedTuple):
    """The part of a point that loops need: see `evaluate.Point`."""

    z: Matrix
    p: Vector
    lam: Matrix
    v: Vector
    gap: Matrix
    rows: rows.Rows


def arrays(R: int, N: int, nz: int, nx: int, nk: int, nb: int) -> list[np.ndarray]:
    """The arrays of a table from `added` on, zero. R rows, N steps; nk of a knot's nz variables are
    not local; nb columns of the border."""
    knots = N + 1
    shapes = [
        (2, R),
        (nk,),
        *[(R,)] * 5,
        (knots, nz),
        (nb,),
        (knots, nz),
        (knots, nx),
        (nb,),
        (knots, nk),
        (nb,),
        (knots, nk),
    ]
    return [
        np.zeros(shape)
        for shape in (*shapes, (knots, nk), (N, nx), (nb,), (knots, nk), (knots, nx))
    ]


# the matrix --------------------------------------------------------------------------------------


@loop
def assemble(
    table: Table, point: Point, mu: float, rho: float, elastic: bool, delta: float
) -> None:
    """(I4) of all rows, and the matrix of (N1) at a point."""
    table.added[:] = 0.0
    rows.residuals(point.v, table.limits, point.rows, elastic, table.residual)
    eliminate(table, point, table.residual, mu, rho, elastic, delta)
    choose_totals(table.weight, table.limits, table.border, table.parameters)
    fill(table, 0.0)


@loop
def eliminate(
    table: Table,
    point: Point,
    residual: Vector,
    mu: float,
    rho: float,
    elastic: bool,
    delta: float,
) -> None:
    """(I4) of all rows, for these residuals."""
    limits, added = table.limits, table.added
    rows.eliminate(
        limits, point.rows, residual, mu, added, rho, elastic, delta, table.weight, table.rhat
    )


@inner
def choose_totals(weight: Vector, limits: rows.Limits, border: border.Border, np_: int) -> None:
    """Totals far from their bounds stay out of the matrix: the wTᵀT that they add there changes the
    step by the part w TK⁻¹Tᵀ.

    Those that must keep a value, such as the sum of the legs' durations, always count: K alone may
    curve down along them, which makes that part negative.
    """
    first = weight.size - border.used.size
    for t in range(np_, border.used.size):
        w = weight[first + t]
        far = limits.kind[first + t] == rows.BOUNDED and w * border.influence[t] < NEGLIGIBLE
        border.used[t] = 1.0 if w > 0.0 and not far else 0.0


@loop
def fill(table: Table, base: float) -> None:
    """The matrix of (N1) with the rows' weights and the derivatives at hand. base: curvature in the
    local variables to begin with."""
    border, weight, np_, B = table.border, table.weight, table.parameters, table.system.B
    B[:] = 0.0
    for d, at in table.blocks:
        system.assemble(d, at, weight, border.used, base, table.local, table.system)
    first = weight.size - border.used.size
    for j in range(np_):
        B[j, j] += weight[first + j]
    for t in range(np_, border.used.size):
        border.own[t] = -1.0 / weight[first + t] if border.used[t] != 0.0 else -1.0
        B[t, t] += border.own[t]


@loop
def factor(table: Table, metric: Vector, shift: float) -> bool:
    """Factor the knots, then the border, with the shift shared out by the metric; False when it is
    not convex where it must be."""
    F, at, to, factors = table.F, table.F_rows, table.F_cols, table.factors
    for i in range(metric.size):
        table.shifts[i] = shift * metric[i]
    if not riccati.factor(table.system.W, F, at, to, table.shifts, factors):
        return False
    if table.beta.size == 0:
        return True
    return border.factor(F, at, to, factors, table.system, table.border, table.parameters, shift)


# the solution ------------------------------------------------------------------------------------


@inner
def gradient(table: Table, lam: Matrix, y: Vector) -> None:
    """table.r, rb = ∇ℒ in z and p for the row multipliers y."""
    r, rb, np_ = table.r, table.rb, table.parameters
    rb[:] = 0.0
    for d, at in table.blocks:
        system.gradient(d, at, lam, y, r, rb[:np_])
    for j in range(np_):
        rb[j] += y[y.size - rb.size + j]


@loop
def direct(
    table: Table,
    point: Point,
    gap: Matrix,
    mu: float,
    rho: float,
    elastic: bool,
    shift: float,
    refine: bool,
) -> bool:
    """The direction, with the factors and the rows' weights at hand; whether it is finite. gap: of
    the dynamics."""
    used, now, y, weight, rhat, np_ = (
        table.border.used,
        point.rows,
        table.y,
        table.weight,
        table.rhat,
        table.parameters,
    )
    first = y.size - used.size
    for i in range(y.size):
        y[i] = now.y[i] + weight[i] * rhat[i]
    for t in range(np_, used.size):
        if used[t] != 0.0:
            y[first + t] = now.y[first + t]
    gradient(table, point.lam, y)
    for t in range(np_, used.size):
        table.rb[t] = rhat[first + t] if used[t] != 0.0 else 0.0
    local.fold(table.local, table.r, table.rb, table.rk, table.rbk)
    solve(table, table.rk, gap, table.rbk, table.dk, table.dlam)
    for j in range(table.beta.size):
        table.beta[j] = table.border.beta[j]
    if refine:
        mend(table, gap, shift)
    local.unfold(table.local, table.r, table.dk, table.beta, table.dz)
    row_steps(table)
    rows.recover(table.limits, now, mu, table.added, rho, elastic, table.dy, table.step)
    total = 0.0
    for value in table.dy:
        total += value
    for value in table.dz.flat:
        total += value
    return np.isfinite(total)


@inner
def solve(table: Table, r: Matrix, gap: Matrix, rb: Vector, dz: Matrix, dlam: Matrix) -> None:
    """(N1) for one right-hand side; β in the border's arrays."""
    F, at, to, factors = table.F, table.F_rows, table.F_cols, table.factors
    if table.beta.size == 0:
        riccati.solve(F, at, to, r, gap, factors, dz, dlam)
    else:
        border.solve(F, at, to, factors, table.system, table.border, r, gap, rb, dz, dlam)


@inner
def mend(table: Table, gap: Matrix, shift: float) -> None:
    """One step of iterative refinement on (N1)."""
    dk, dlam, beta, left_r, left_gap, left_b = (
        table.dk,
        table.dlam,
        table.beta,
        table.left_r,
        table.left_gap,
        table.left_b,
    )
    where = table.border.used, table.F, table.F_rows, table.F_cols, table.shifts
    system.remainder(
        table.system, *where, table.rk, gap, table.rbk, dk, dlam, beta, left_r, left_gap, left_b
    )
    for j in range(table.parameters):
        left_b[j] += shift * beta[j]
    solve(table, left_r, left_gap, left_b, table.more_z, table.more_lam)
    add(table.more_z, dk)
    add(table.more_lam, dlam)
    for j in range(beta.size):
        beta[j] += table.border.beta[j]


@inner
def add(x: Matrix, to: Matrix) -> None:
    """Add a matrix to another."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            to[i, j] += x[i, j]


@inner
def row_steps(table: Table) -> None:
    """dy of all rows, (I4); those of totals in the matrix are known from it."""
    used, beta, dy, dz, weight, rhat, np_ = (
        table.border.used,
        table.beta,
        table.dy,
        table.dz,
        table.weight,
        table.rhat,
        table.parameters,
    )
    dp, first = beta[:np_], dy.size - used.size
    for t in range(used.size):
        dy[first + t] = rhat[first + t] + (dp[t] if t < np_ else 0.0)
    for d, at in table.blocks:
        system.row_steps(d, at, weight, rhat, dz, dp, dy)
        system.add_totals(d.T, at.first, used, dz, dp, dy[first:])
    for t in range(used.size):
        dy[first + t] = (
            beta[t] if t >= np_ and used[t] != 0.0 else weight[first + t] * dy[first + t]
        )


@loop
def least_squares(table: Table, lam: Matrix) -> None:
    """dλ, dy: the multipliers that leave the least gradient, by a unit Hessian: `fill` has been
    called with one, from weights and r̂."""
    F, at, to, factors, y, dy = (
        table.F,
        table.F_rows,
        table.F_cols,
        table.factors,
        table.y,
        table.dy,
    )
    table.shifts[:] = 1.0
    riccati.factor(table.system.W, F, at, to, table.shifts, factors)
    for i in range(y.size):
        y[i] = table.weight[i] * table.rhat[i]
    gradient(table, lam, y)
    table.rb[:] = 0.0
    table.beta[:] = 0.0
    local.fold(table.local, table.r, table.rb, table.rk, table.rbk)
    table.left_gap[:] = 0.0
    riccati.solve(F, at, to, table.rk, table.left_gap, factors, table.dk, table.dlam)
    local.unfold(table.local, table.r, table.dk, table.beta, table.dz)
    dy[:] = 0.0
    for d, places in table.blocks:
        system.row_steps(
            d, places, table.weight, table.rhat, table.dz, table.beta[: table.parameters], dy
        )


# errors ------------------------------------------------------------------------------------------


@loop
def optimality(
    table: Table, point: Point, rho: float, elastic: bool
) -> tuple[float, float, float, float, float, float, int]:
    """(largest gradient, largest residual, largest complementarity, worst slope of (I2), (I3),
    Σ|multipliers|, of bounds, their number)."""
    now, residual = point.rows, table.residual
    gradient(table, point.lam, now.y)
    rows.residuals(point.v, table.limits, now, elastic, residual)
    steepest, violation, size = border.sizes(
        table.r, table.rb[: table.parameters], residual, point.gap, point.lam, now.y
    )
    error, slope, total, count = rows.complementarity(table.limits, now, 0.0, rho, elastic)
    return steepest, violation, error, slope, size, total, count


@loop
def complementarity(table: Table, point: Point, mu: float, rho: float, elastic: bool) -> float:
    """The worst error of the complementarity in (I2), (I3)."""
    return rows.complementarity(table.limits, point.rows, mu, rho, elastic)[0]


# steps -------------------------------------------------------------------------------------------


@loop
def slopes(table: Table, point: Point, mu: float, rho: float, elastic: bool) -> tuple[float, float]:
    """Derivatives along the direction of the cost, and of what the rows add to it."""
    cost, dp = 0.0, table.beta[: table.parameters]
    for d, at in table.blocks:
        cost += system.cost_slope(d, at.first, table.dz, dp)
    return cost, rows.barrier_slope(table.limits, point.rows, table.step, mu, rho, elastic)


@loop
def to_boundary(table: Table, point: Point, elastic: bool, keep: float) -> tuple[float, float]:
    """The longest primal and dual steps along the direction: see `rows.step_to_boundary`."""
    return rows.step_to_boundary(table.limits, point.rows, table.step, elastic, keep)


@loop
def centre(table: Table, point: Point, primal: float, dual: float, mu: float) -> None:
    """(I5) for a step of these lengths."""
    rows.centre(table.limits, point.rows, table.step, primal, dual, mu, table.added)


@loop
def advance(
    table: Table,
    point: Point,
    primal: float,
    dual: float,
    elastic: bool,
    mu: float,
    trial: Point,
) -> None:
    """trial = the point at the end of a step. primal, dual: step lengths of variables and of
    bounds' multipliers."""
    z, lam, p, dz, dlam, beta = point.z, point.lam, point.p, table.dz, table.dlam, table.beta
    new_z, new_lam, new_p = trial.z, trial.lam, trial.p
    for k in range(z.shape[0]):
        for a in range(z.shape[1]):
            new_z[k, a] = z[k, a] + primal * dz[k, a]
        for s in range(lam.shape[1]):
            new_lam[k, s] = lam[k, s] + primal * dlam[k, s]
    for j in range(p.size):
        new_p[j] = p[j] + primal * beta[j]
    rows.advance(table.limits, point.rows, table.step, primal, dual, elastic, mu, trial.rows)


@loop
def appraise(table: Table, point: Point, elastic: bool) -> tuple[float, float, float]:
    """(Σ|residual|, Σ log, Σ elastics) of a point's rows: see `rows.residuals`, `rows.barrier`."""
    residual = table.residual
    rows.residuals(point.v, table.limits, point.rows, elastic, residual)
    logs, stretch = rows.barrier(table.limits, point.rows, elastic)
    total = 0.0
    for value in residual:
        total += abs(value)
    return total, logs, stretch


@loop
def complete(point: Point, t: Matrix, f: Matrix, nr: int) -> float:
    """v[k, :nz] = z, then p and Σt at the end: rows that are variables, and totals. gap_k = f_k −
    x_{k+1}; Σ|gap| is returned."""
    z, p, v, gap = point.z, point.p, point.v, point.gap
    knots, nz = z.shape
    first, total = knots * nr, 0.0
    for k in range(knots):
        for a in range(nz):
            v[k * nr + a] = z[k, a]
    for j in range(p.size):
        v[first + j] = p[j]
    for i in range(t.shape[1]):
        v[first + p.size + i] = 0.0
        for k in range(knots):
            v[first + p.size + i] += t[k, i]
    for k in range(knots - 1):
        for s in range(f.shape[1]):
            gap[k, s] = f[k, s] - z[k + 1, s]
            total += abs(gap[k, s])
    return total
