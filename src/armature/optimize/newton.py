"""One Newton direction in few compiled calls.

`assemble` eliminates the rows and fills the matrix of (N1), `factor` factors it, `direct` solves it and recovers the steps of all rows.
What is called from outside takes a `Table` and a `Point`, held (loops.py).
"""

from typing import NamedTuple

import numpy as np

from armature.optimize import border, local, riccati, rows, system
from armature.optimize.loops import loop, part

NEGLIGIBLE = 1e-3  # part of a step that a total far from its bound may change


class Matrix(NamedTuple):
    """All of (N1). blocks: derivatives and places of the knots that share a stage.  F, rows, cols: see riccati.py."""

    blocks: tuple[tuple[system.Derivatives, system.Places], ...]
    local: local.Local
    system: system.System
    factors: riccati.Factors
    border: border.Border
    F: np.ndarray
    rows: np.ndarray
    cols: np.ndarray
    shifts: np.ndarray


class Work(NamedTuple):
    """Right-hand sides and steps. weight, rhat, residual, y, dy: (R,).  r, dz: (N+1, nz); dlam: (N+1, nx); rb, beta: (nb,).

    rk, rbk, dk: the same without the local variables; left_, more_: what a step leaves, and the step that mends it.
    """

    weight: np.ndarray
    rhat: np.ndarray
    residual: np.ndarray
    y: np.ndarray
    dy: np.ndarray
    r: np.ndarray
    rb: np.ndarray
    dz: np.ndarray
    dlam: np.ndarray
    beta: np.ndarray
    rk: np.ndarray
    rbk: np.ndarray
    dk: np.ndarray
    left_r: np.ndarray
    left_gap: np.ndarray
    left_b: np.ndarray
    more_z: np.ndarray
    more_lam: np.ndarray


class Table(NamedTuple):
    """All arrays of a search but those of its points. step: of the rows.  parameters: how many of the border's columns they have.

    added: (2, R) to the aim of lower and upper bounds, see `rows.Aim`.
    """

    matrix: Matrix
    work: Work
    step: rows.Rows
    limits: rows.Limits
    added: np.ndarray
    parameters: int


class Point(NamedTuple):
    """The part of a point that loops need: see `evaluate.Point`."""

    z: np.ndarray
    p: np.ndarray
    lam: np.ndarray
    v: np.ndarray
    gap: np.ndarray
    rows: rows.Rows


def workspace(R: int, N: int, nz: int, nx: int, nk: int, nb: int) -> Work:
    """Arrays of zeros. R rows, N steps; nk of a knot's nz variables are not local; nb columns of the border."""
    knots = N + 1
    shapes = [(R,)] * 5 + [(knots, nz), (nb,), (knots, nz), (knots, nx), (nb,), (knots, nk), (nb,), (knots, nk)]
    return Work(*(np.zeros(shape) for shape in (*shapes, (knots, nk), (N, nx), (nb,), (knots, nk), (knots, nx))))


# the matrix -----------------------------------------------------------------------------------------------------------------------


@loop
def assemble(held, at, mu, rho, elastic, delta):
    """(I4) of all rows, and the matrix of (N1) at a point."""
    table, point = held.value, at.value
    work, limits = table.work, table.limits
    table.added[:] = 0.0
    rows.residuals(point.v, limits, point.rows, elastic, work.residual)
    rows.eliminate(limits, point.rows, work.residual, aim_of(table, mu), rho, elastic, delta, work.weight, work.rhat)
    choose_totals(work.weight, limits, table.matrix.border, table.parameters)
    fill(table.matrix, work.weight, table.parameters, 0.0)


@part
def aim_of(table, mu):
    """What the products of slacks and multipliers shall be."""
    return rows.Aim(mu, table.added[0], table.added[1])


@loop
def fill_again(held):
    """The matrix of (N1) once more, with other derivatives."""
    table = held.value
    fill(table.matrix, table.work.weight, table.parameters, 0.0)


@loop
def choose_totals(weight, limits, border, np_):
    """Totals far from their bounds stay out of the matrix: the wTᵀT that they add there changes the step by the part w TK⁻¹Tᵀ.

    Those that must keep a value, such as the sum of the legs' durations, always count: K alone may curve down along them,
    which makes that part negative.
    """
    first = weight.size - border.used.size
    for t in range(np_, border.used.size):
        w = weight[first + t]
        far = limits.kind[first + t] == rows.BOUNDED and w * border.influence[t] < NEGLIGIBLE
        border.used[t] = 1.0 if w > 0.0 and not far else 0.0


@loop
def fill(matrix, weight, np_, base):
    """The matrix of (N1) with the rows' weights and the derivatives at hand. base: curvature in the local variables to begin with."""
    border, B = matrix.border, matrix.system.B
    B[:] = 0.0
    for d, at in matrix.blocks:
        system.assemble(d, at, weight, border.used, base, matrix.local, matrix.system)
    first = weight.size - border.used.size
    for j in range(np_):
        B[j, j] += weight[first + j]
    for t in range(np_, border.used.size):
        border.own[t] = -1.0 / weight[first + t] if border.used[t] != 0.0 else -1.0
        B[t, t] += border.own[t]


@loop
def factor(held, metric, shift):
    """Factor the knots, then the border, with the shift shared out by the metric; False when it is not convex where it must be."""
    table = held.value
    matrix = table.matrix
    for i in range(metric.size):
        matrix.shifts[i] = shift * metric[i]
    if not riccati.factor(matrix.system.W, matrix.F, matrix.rows, matrix.cols, matrix.shifts, matrix.factors):
        return False
    if matrix.border.beta.size == 0:
        return True
    return border.factor(matrix.F, matrix.rows, matrix.cols, matrix.factors, matrix.system, matrix.border, table.parameters, shift)


# the solution ---------------------------------------------------------------------------------------------------------------------


@loop
def gradient(blocks, lam, y, np_, r, rb):
    """r, rb = ∇ℒ in z and p for the row multipliers y."""
    rb[:] = 0.0
    for d, at in blocks:
        system.gradient(d, at, lam, y, r, rb[:np_])
    for j in range(np_):
        rb[j] += y[y.size - rb.size + j]


@loop
def direct(held, at, mu, rho, elastic, shift, refine):
    """The direction, with the factors and the rows' weights at hand; whether it is finite."""
    table, point = held.value, at.value
    return direction(table, point.lam, point.rows, point.gap, aim_of(table, mu), rho, elastic, shift, refine)


@loop
def redirect(held, at, mu, rho, elastic, delta, shift, refine):
    """The direction for other aims, with the factors at hand."""
    table, point = held.value, at.value
    work, aim = table.work, aim_of(table, mu)
    rows.residuals(point.v, table.limits, point.rows, elastic, work.residual)
    rows.eliminate(table.limits, point.rows, work.residual, aim, rho, elastic, delta, work.weight, work.rhat)
    return direction(table, point.lam, point.rows, point.gap, aim, rho, elastic, shift, refine)


@loop
def correct(held, at, gap, residual, mu, rho, elastic, delta, shift, refine):
    """The direction for other residuals of dynamics and rows, with the factors at hand: a second-order correction."""
    table, point = held.value, at.value
    aim = aim_of(table, mu)
    rows.eliminate(table.limits, point.rows, residual, aim, rho, elastic, delta, table.work.weight, table.work.rhat)
    return direction(table, point.lam, point.rows, gap, aim, rho, elastic, shift, refine)


@loop
def direction(table, lam, now, gap, aim, rho, elastic, shift, refine):
    """See `direct`. now: the point's rows."""
    matrix, work, np_ = table.matrix, table.work, table.parameters
    used = matrix.border.used
    first = work.y.size - used.size
    for i in range(work.y.size):
        work.y[i] = now.y[i] + work.weight[i] * work.rhat[i]
    for t in range(np_, used.size):
        if used[t] != 0.0:
            work.y[first + t] = now.y[first + t]
    gradient(matrix.blocks, lam, work.y, np_, work.r, work.rb)
    for t in range(np_, used.size):
        work.rb[t] = work.rhat[first + t] if used[t] != 0.0 else 0.0
    local.fold(matrix.local, work.r, work.rb, work.rk, work.rbk)
    solve(matrix, work.rk, gap, work.rbk, work.dk, work.dlam)
    work.beta[:] = matrix.border.beta
    if refine:
        mend(matrix, work, gap, np_, shift)
    local.unfold(matrix.local, work.r, work.dk, work.beta, work.dz)
    row_steps(matrix.blocks, work, used, np_)
    rows.recover(table.limits, now, aim, rho, elastic, work.dy, table.step)
    total = 0.0
    for value in work.dy:
        total += value
    for k in range(work.dz.shape[0]):
        for a in range(work.dz.shape[1]):
            total += work.dz[k, a]
    return np.isfinite(total)


@loop
def solve(matrix, r, gap, rb, dz, dlam):
    """(N1) for one right-hand side; β in the border's arrays."""
    if matrix.border.beta.size == 0:
        riccati.solve(matrix.F, matrix.rows, matrix.cols, r, gap, matrix.factors, dz, dlam)
    else:
        border.solve(matrix.F, matrix.rows, matrix.cols, matrix.factors, matrix.system, matrix.border, r, gap, rb, dz, dlam)


@loop
def mend(matrix, work, gap, np_, shift):
    """One step of iterative refinement on (N1)."""
    used, beta = matrix.border.used, work.beta
    before = work.rk, gap, work.rbk, work.dk, work.dlam, beta
    system.remainder(
        matrix.system, used, matrix.F, matrix.rows, matrix.cols, matrix.shifts, *before, work.left_r, work.left_gap, work.left_b
    )
    for j in range(np_):
        work.left_b[j] += shift * beta[j]
    solve(matrix, work.left_r, work.left_gap, work.left_b, work.more_z, work.more_lam)
    for k in range(work.dk.shape[0]):
        for a in range(work.dk.shape[1]):
            work.dk[k, a] += work.more_z[k, a]
        for s in range(work.dlam.shape[1]):
            work.dlam[k, s] += work.more_lam[k, s]
    for j in range(beta.size):
        beta[j] += matrix.border.beta[j]


@loop
def row_steps(blocks, work, used, np_):
    """dy of all rows, (I4); those of totals in the matrix are known from it."""
    dp, first = work.beta[:np_], work.y.size - used.size
    for t in range(used.size):
        work.dy[first + t] = work.rhat[first + t] + (dp[t] if t < np_ else 0.0)
    for d, at in blocks:
        system.row_steps(d, at, work.weight, work.rhat, work.dz, dp, work.dy)
        system.add_totals(d.T, at.first, used, work.dz, dp, work.dy[first:])
    for t in range(used.size):
        work.dy[first + t] = work.beta[t] if t >= np_ and used[t] != 0.0 else work.weight[first + t] * work.dy[first + t]


@loop
def least_squares(held, at):
    """dλ, dy: the multipliers that leave the least gradient, by a unit Hessian; weights, r̂ and a Hessian of zeros at hand."""
    table, lam = held.value, at.value.lam
    matrix, work, np_ = table.matrix, table.work, table.parameters
    fill(matrix, work.weight, np_, 1.0)
    matrix.shifts[:] = 1.0
    riccati.factor(matrix.system.W, matrix.F, matrix.rows, matrix.cols, matrix.shifts, matrix.factors)
    for i in range(work.y.size):
        work.y[i] = work.weight[i] * work.rhat[i]
    gradient(matrix.blocks, lam, work.y, np_, work.r, work.rb)
    work.rb[:] = 0.0
    work.beta[:] = 0.0
    local.fold(matrix.local, work.r, work.rb, work.rk, work.rbk)
    work.left_gap[:] = 0.0
    riccati.solve(matrix.F, matrix.rows, matrix.cols, work.rk, work.left_gap, matrix.factors, work.dk, work.dlam)
    local.unfold(matrix.local, work.r, work.dk, work.beta, work.dz)
    work.dy[:] = 0.0
    for d, at in matrix.blocks:
        system.row_steps(d, at, work.weight, work.rhat, work.dz, work.beta[:np_], work.dy)


# errors ---------------------------------------------------------------------------------------------------------------------------


@loop
def optimality(held, at, rho, elastic):
    """(largest gradient, largest residual, largest complementarity, worst slope of (I2), (I3), Σ|multipliers|, of bounds, their number)."""
    table, point = held.value, at.value
    work, now = table.work, point.rows
    gradient(table.matrix.blocks, point.lam, now.y, table.parameters, work.r, work.rb)
    rows.residuals(point.v, table.limits, now, elastic, work.residual)
    steepest, violation, size = border.sizes(work.r, work.rb[: table.parameters], work.residual, point.gap, point.lam, now.y)
    error, slope, total, count = rows.complementarity(table.limits, now, 0.0, rho, elastic)
    return steepest, violation, error, slope, size, total, count


@loop
def complementarity(held, at, mu, rho, elastic):
    """The worst error of the complementarity in (I2), (I3)."""
    return rows.complementarity(held.value.limits, at.value.rows, mu, rho, elastic)[0]


# steps ----------------------------------------------------------------------------------------------------------------------------


@loop
def slopes(held, at, mu, rho, elastic):
    """Derivatives along the direction of the cost, and of what the rows add to it."""
    table = held.value
    cost = system.cost_slope(table.matrix.blocks, table.work.dz, table.work.beta[: table.parameters])
    return cost, rows.barrier_slope(table.limits, at.value.rows, table.step, mu, rho, elastic)


@loop
def to_boundary(held, at, elastic, keep):
    """The longest primal and dual steps along the direction: see `rows.step_to_boundary`."""
    table = held.value
    return rows.step_to_boundary(table.limits, at.value.rows, table.step, elastic, keep)


@loop
def centre(held, at, primal, dual, mu):
    """(I5) for a step of these lengths."""
    table = held.value
    rows.centre(table.limits, at.value.rows, table.step, primal, dual, aim_of(table, mu))


@loop
def advance(held, at, primal, dual, elastic, mu, trial):
    """trial = the point at the end of a step. primal, dual: step lengths of variables and of bounds' multipliers."""
    table, old, new = held.value, at.value, trial.value
    work = table.work
    for k in range(old.z.shape[0]):
        for a in range(old.z.shape[1]):
            new.z[k, a] = old.z[k, a] + primal * work.dz[k, a]
        for s in range(old.lam.shape[1]):
            new.lam[k, s] = old.lam[k, s] + primal * work.dlam[k, s]
    for j in range(old.p.size):
        new.p[j] = old.p[j] + primal * work.beta[j]
    rows.advance(table.limits, old.rows, table.step, primal, dual, elastic, mu, new.rows)


@loop
def appraise(held, at, elastic):
    """(Σ|residual|, Σ log, Σ elastics) of a point's rows: see `rows.residuals`, `rows.barrier`."""
    table, point = held.value, at.value
    residual = table.work.residual
    rows.residuals(point.v, table.limits, point.rows, elastic, residual)
    logs, stretch = rows.barrier(table.limits, point.rows, elastic)
    total = 0.0
    for value in residual:
        total += abs(value)
    return total, logs, stretch


@loop
def complete(at, t, f, nr):
    """v[k, :nz] = z, then p and Σt at the end: rows that are variables, and totals. gap_k = f_k − x_{k+1}; Σ|gap| is returned."""
    point = at.value
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
