"""One Newton direction in few compiled calls: to look at the arguments of a call costs as much as the work on some knots.

`assemble` eliminates the rows and fills the matrix of (N1), `factor` factors it, `direct` solves it and recovers the steps of all rows.
"""

from typing import NamedTuple

import numpy as np

from armature.optimize import border, local, riccati, rows, system
from armature.optimize.loops import loop

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


def workspace(R: int, N: int, nz: int, nx: int, nk: int, nb: int) -> Work:
    """Arrays of zeros. R rows, N steps; nk of a knot's nz variables are not local; nb columns of the border."""
    knots = N + 1
    shapes = [(R,)] * 5 + [(knots, nz), (nb,), (knots, nz), (knots, nx), (nb,), (knots, nk), (nb,), (knots, nk)]
    return Work(*(np.zeros(shape) for shape in (*shapes, (knots, nk), (N, nx), (nb,), (knots, nk), (knots, nx))))


# the matrix -----------------------------------------------------------------------------------------------------------------------


@loop
def assemble(matrix, work, v, now, limits, aim, rho, elastic, delta, np_):
    """(I4) of all rows, and the matrix of (N1) at the current point: v its rows' values, now its rows."""
    rows.residuals(v, limits, now, elastic, work.residual)
    rows.eliminate(limits, now, work.residual, aim, rho, elastic, delta, work.weight, work.rhat)
    choose_totals(work.weight, limits, matrix.border, np_)
    fill(matrix, work.weight, np_, 0.0)


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
def factor(matrix, metric, shift, np_):
    """Factor the knots, then the border, with the shift shared out by the metric; False when it is not convex where it must be."""
    for i in range(metric.size):
        matrix.shifts[i] = shift * metric[i]
    if not riccati.factor(matrix.system.W, matrix.F, matrix.rows, matrix.cols, matrix.shifts, matrix.factors):
        return False
    if matrix.border.beta.size == 0:
        return True
    return border.factor(matrix.F, matrix.rows, matrix.cols, matrix.factors, matrix.system, matrix.border, np_, shift)


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
def direct(matrix, work, lam, now, gap, limits, aim, rho, elastic, np_, shift, refine, step):
    """The direction, with the factors and the rows' weights at hand; whether it is finite. step: of the rows."""
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
    rows.recover(limits, now, aim, rho, elastic, work.dy, step)
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
def least_squares(matrix, work, lam, np_):
    """dλ, dy: the multipliers that leave the least gradient, by a unit Hessian; weights, r̂ and a Hessian of zeros at hand."""
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
def optimality(matrix, work, v, lam, now, gap, limits, rho, elastic, np_):
    """(largest gradient, largest residual, largest complementarity, worst slope of (I2), (I3), Σ|multipliers|, of bounds, their number)."""
    gradient(matrix.blocks, lam, now.y, np_, work.r, work.rb)
    rows.residuals(v, limits, now, elastic, work.residual)
    steepest, violation, size = border.sizes(work.r, work.rb[:np_], work.residual, gap, lam, now.y)
    error, slope, total, count = rows.complementarity(limits, now, 0.0, rho, elastic)
    return steepest, violation, error, slope, size, total, count


# steps ----------------------------------------------------------------------------------------------------------------------------


@loop
def slopes(blocks, work, now, step, limits, mu, rho, elastic, np_):
    """Derivatives along the direction of the cost, and of what the rows add to it."""
    return system.cost_slope(blocks, work.dz, work.beta[:np_]), rows.barrier_slope(limits, now, step, mu, rho, elastic)


@loop
def advance(z, p, lam, now, work, step, limits, primal, dual, elastic, mu, new_z, new_p, new_lam, new):
    """The point at the end of a step. primal, dual: step lengths of variables and of bounds' multipliers.  new: its rows."""
    for k in range(z.shape[0]):
        for a in range(z.shape[1]):
            new_z[k, a] = z[k, a] + primal * work.dz[k, a]
        for s in range(lam.shape[1]):
            new_lam[k, s] = lam[k, s] + primal * work.dlam[k, s]
    for j in range(p.size):
        new_p[j] = p[j] + primal * work.beta[j]
    rows.advance(limits, now, step, primal, dual, elastic, mu, new)


@loop
def appraise(v, now, limits, elastic, residual):
    """(Σ|residual|, Σ log, Σ elastics) of a point's rows: see `rows.residuals`, `rows.barrier`."""
    rows.residuals(v, limits, now, elastic, residual)
    logs, stretch = rows.barrier(limits, now, elastic)
    total = 0.0
    for value in residual:
        total += abs(value)
    return total, logs, stretch


@loop
def complete(z, p, t, f, nr, v, gap):
    """v[k, :nz] = z, then p and Σt at the end: rows that are variables, and totals. gap_k = f_k − x_{k+1}; Σ|gap| is returned."""
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
