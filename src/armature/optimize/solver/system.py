"""The Newton system of all knots, put together from the kernels' derivatives and the rows' weights.

With the rows eliminated (rows.py, (I4)) what remains, for z, λ, the parameters p and the
multipliers η of the totals, is

    (N1)  [K  V ] [ (dz, dλ) ]       [ r ]
          [Vᵀ B ] [ (dp, dη) ]  = −  [ r_b ]

where K is the stagewise system of riccati.py with W = ∇²ℒ + JᵀD⁻¹J, and the border V, B has one
column for each parameter and total. Variables of a single knot have left it (local.py): of a knot's
nz variables nk are in K."""

from typing import NamedTuple

import numpy as np

from armature.optimize.solver.local import Local, add_row, couple
from armature.optimize.solver.loops import Indices, Matrices, Matrix, Vector, inner

BLOCK = 3  # rows and columns of W that are made in one go
LANES = 16  # sums over constraints are as long as a multiple of this


class Derivatives(NamedTuple):
    """What the derivative kernel writes for a block of knots, each (knots, size): see stage.py."""

    F: Matrix
    Fp: Matrix
    g: Matrix
    J: Matrix
    Jp: Matrix
    T: Matrix
    H: Matrix


class Places(NamedTuple):
    """Where the nonzeros stand, which knot is the block's first, and how many rows a knot has.

    H_flat: where the first entries of H, those without parameters, stand in a knot's W.  J_place:
    `Local.place` of the columns of J's
    entries.  J_local: (constraints,) see `local.row_entries`.
    """

    first: int
    nr: int
    F_rows: Indices
    F_cols: Indices
    J_first: Indices
    J_cols: Indices
    H_rows: Indices
    H_cols: Indices
    H_flat: Indices
    J_place: Indices
    J_local: Indices


class System(NamedTuple):
    """W: (N+1, nk, nk).  V: (nb, N+1, nk) and Vf: (nb, N, nx), the border's columns in z and in the
    dynamics.

    B: (nb, nb).  root: (nk, constraints) and a little more, row: (nk,), dp: (np,): the constraints
    of a knot."""

    W: Matrices
    V: Matrices
    Vf: Matrices
    B: Matrix
    root: Matrix
    row: Vector
    dp: Vector


def workspace(knots: int, nk: int, nx: int, nb: int, np_: int, constraints: int) -> System:
    """Arrays for these knots, with nb columns of the border, np_ of which are parameters."""
    wide = padded(nk, BLOCK), padded(constraints, LANES)
    shapes = [(knots, nk, nk), (nb, knots, nk), (nb, knots - 1, nx), (nb, nb), wide, (nk,), (np_,)]
    return System(*(np.zeros(shape) for shape in shapes))


@inner
def assemble(
    d: Derivatives,
    at: Places,
    weight: Vector,
    used: Vector,
    base: float,
    local: Local,
    system: System,
) -> None:
    """Write the Hessian, Jacobians and weights of a block of knots into W, V; add them to B.

    used: (nb,) 0 for totals that stay out.  base: curvature in the local variables to begin with.
    """
    for i in range(d.H.shape[0]):
        k = at.first + i
        begin_knot(d.H[i], at, weight[k * at.nr :], base, local, k, system)
        kept = add_constraints(d.J[i], d.Jp[i], at, weight, local, k, system)
        add_square(system.root, kept, system.W[k])
        border_columns(d.Fp[i], d.T[i], used, local, k, system)
        couple(local, k, system.V, system.B)


@inner
def padded(size: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-size // step) * step


@inner
def begin_knot(
    H: Vector, at: Places, weight: Vector, base: float, local: Local, k: int, system: System
) -> None:
    """The Hessian of a knot and the weights of its own variables; local ones start anew."""
    place, nz, np_ = local.place, local.place.size, system.dp.size
    W, V, B = system.W[k], system.V, system.B
    W[:] = 0.0
    for j in range(np_):
        V[j, k] = 0.0
    local.a[k] = base
    local.m[k] = 0.0
    local.mb[k] = 0.0
    local.h[:] = 0.0
    flat = W.flat
    for e in range(at.H_flat.size):
        flat[at.H_flat[e]] = H[e]
    for e in range(at.H_flat.size, H.size):
        a, b, value = at.H_rows[e], at.H_cols[e], H[e]
        if b < nz and place[b] >= 0:
            V[a - nz, k, place[b]] = value
        elif b < nz:
            local.h[-1 - place[b], a - nz] = value
        else:
            B[a - nz, b - nz] += value
            if a != b:
                B[b - nz, a - nz] += value
    for a in range(nz):
        if place[a] >= 0:
            W[place[a], place[a]] += weight[a]
        else:
            local.a[k, -1 - place[a]] += weight[a]


@inner
def add_constraints(
    J: Vector, Jp: Vector, at: Places, weight: Vector, local: Local, k: int, system: System
) -> int:
    """The constraints of a knot: to `root`, one column for each; their number is returned."""
    W, root, row, dp, np_ = system.W[k], system.root, system.row, system.dp, system.dp.size
    kept, first = 0, k * at.nr + local.place.size
    for c in range(at.J_first.size - 1):
        w = weight[first + c]
        if w > 0.0:
            start, stop = at.J_first[c], at.J_first[c + 1]
            for j in range(np_):
                dp[j] = Jp[c * np_ + j]
            if at.J_local[c] >= 0:
                w = add_row(w, J, at.J_local[c], at.J_place, start, stop, local, k, row, dp)
            elif stop - start == 1 and np_ == 0:
                W[at.J_place[start], at.J_place[start]] += w * J[start] ** 2
                continue
            else:
                row[:] = 0.0
                for e in range(start, stop):
                    row[at.J_place[e]] = J[e]
            if np_ > 0:
                add_border(w, row, dp, k, system.V, system.B)
            share = np.sqrt(w)
            for j in range(row.size):
                root[j, kept] = share * row[j]
            kept += w > 0.0
    return kept


@inner
def border_columns(
    Fp: Vector, T: Vector, used: Vector, local: Local, k: int, system: System
) -> None:
    """The dynamics' derivatives in the parameters, and the totals."""
    V, Vf, B, np_ = system.V, system.Vf, system.B, system.dp.size
    nz = local.place.size
    width = nz + np_
    for j in range(np_):
        for s in range(Fp.size // np_):
            Vf[j, k, s] = Fp[s * np_ + j]
    for t in range(T.size // width):
        if used[np_ + t] == 0.0:
            continue
        row = T[t * width : (t + 1) * width]
        for a in range(nz):
            if local.place[a] >= 0:
                V[np_ + t, k, local.place[a]] = row[a]
            else:
                local.h[-1 - local.place[a], np_ + t] = row[a]
        for j in range(np_):
            B[np_ + t, j] += row[nz + j]
            B[j, np_ + t] += row[nz + j]


@inner
def add_square(root: Matrix, kept: int, W: Matrix) -> None:
    """W += RRᵀ for the first columns of `root`, as many as kept; of W the lower triangle is read.

    Sums over constraints, nine at a time.
    """
    n, length = W.shape[0], padded(kept, LANES)
    for a in range(root.shape[0]):
        root[a, kept:length] = 0.0
    for a in range(0, n, BLOCK):
        a0, a1, a2 = root[a, :length], root[a + 1, :length], root[a + 2, :length]
        for b in range(0, a + BLOCK, BLOCK):
            b0, b1, b2 = root[b, :length], root[b + 1, :length], root[b + 2, :length]
            s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
            for c in range(length):
                x, y, z = b0[c], b1[c], b2[c]
                s00, s01, s02 = s00 + a0[c] * x, s01 + a0[c] * y, s02 + a0[c] * z
                s10, s11, s12 = s10 + a1[c] * x, s11 + a1[c] * y, s12 + a1[c] * z
                s20, s21, s22 = s20 + a2[c] * x, s21 + a2[c] * y, s22 + a2[c] * z
            add_block(W, a, b, s00, s01, s02)
            add_block(W, a + 1, b, s10, s11, s12)
            add_block(W, a + 2, b, s20, s21, s22)


@inner
def add_block(W: Matrix, a: int, b: int, x: float, y: float, z: float) -> None:
    """Add three neighbours in a row to W and, mirrored, above its diagonal."""
    add_pair(W, a, b, x)
    add_pair(W, a, b + 1, y)
    add_pair(W, a, b + 2, z)


@inner
def add_pair(W: Matrix, a: int, b: int, value: float) -> None:
    """Add to an element below the diagonal, or on it, and mirror it."""
    if a < W.shape[0] and b <= a:
        W[a, b] += value
        W[b, a] = W[a, b]


@inner
def add_border(w: float, row: Vector, Jp: Vector, k: int, V: Matrices, B: Matrix) -> None:
    """Add w JᵀJ_p and w J_pᵀJ_p of one constraint at the knot k to the border."""
    for j in range(Jp.size):
        for a in range(row.size):
            V[j, k, a] += w * row[a] * Jp[j]
        for l in range(Jp.size):
            B[j, l] += w * Jp[j] * Jp[l]


@inner
def gradient(d: Derivatives, at: Places, lam: Matrix, y: Vector, r: Matrix, rp: Vector) -> None:
    """r_k = ∇_z ℒ at a block of knots for row multipliers y; adds ∇_p ℒ to rp. y: (R,), the totals'
    last."""
    nz = r.shape[1]
    nx = lam.shape[1]
    np_ = rp.size
    nr = at.nr
    nt = d.T.shape[1] // max(d.g.shape[1], 1)
    for i in range(d.g.shape[0]):
        k = at.first + i
        for a in range(nz):
            r[k, a] = d.g[i, a] + y[k * nr + a]
        for s in range(nx):
            r[k, s] -= lam[k, s]
        for j in range(np_):
            rp[j] += d.g[i, nz + j]
        for e in range(at.F_rows.size):
            r[k, at.F_cols[e]] += d.F[i, e] * lam[k + 1, at.F_rows[e]]
        for j in range(np_):
            for s in range(d.Fp.shape[1] // max(np_, 1)):
                rp[j] += d.Fp[i, s * np_ + j] * lam[k + 1, s]
        for c in range(at.J_first.size - 1):
            value = y[k * nr + nz + c]
            if value != 0.0:
                for e in range(at.J_first[c], at.J_first[c + 1]):
                    r[k, at.J_cols[e]] += d.J[i, e] * value
                for j in range(np_):
                    rp[j] += d.Jp[i, c * np_ + j] * value
        for t in range(nt):
            value = y[y.size - nt + t]
            row = d.T[i, t * (nz + np_) : (t + 1) * (nz + np_)]
            for a in range(nz):
                r[k, a] += row[a] * value
            for j in range(np_):
                rp[j] += row[nz + j] * value


@inner
def row_steps(
    d: Derivatives, at: Places, weight: Vector, rhat: Vector, dz: Matrix, dp: Vector, dy: Vector
) -> None:
    """dy = D⁻¹(J dz + J_p dp + r̂), (I4), of the rows at a block of knots."""
    nz, np_ = dz.shape[1], dp.size
    nr = at.nr
    for i in range(d.g.shape[0]):
        k = at.first + i
        for a in range(nz):
            m = k * nr + a
            dy[m] = weight[m] * (dz[k, a] + rhat[m])
        for c in range(at.J_first.size - 1):
            m = k * nr + nz + c
            if weight[m] > 0.0:
                value = rhat[m]
                for e in range(at.J_first[c], at.J_first[c + 1]):
                    value += d.J[i, e] * dz[k, at.J_cols[e]]
                for j in range(np_):
                    value += d.Jp[i, c * np_ + j] * dp[j]
                dy[m] = weight[m] * value


@inner
def border_product(system: System, used: Vector, dz: Matrix, dlam: Matrix, out: Vector) -> None:
    """out = Vᵀ(dz, dλ); zero for columns that are not used."""
    for j in range(out.size):
        out[j] = 0.0
        if used[j] == 0.0:
            continue
        total = 0.0
        for k in range(dz.shape[0]):
            for a in range(dz.shape[1]):
                total += system.V[j, k, a] * dz[k, a]
        for k in range(system.Vf.shape[1]):
            for s in range(dlam.shape[1]):
                total += system.Vf[j, k, s] * dlam[k + 1, s]
        out[j] = total


@inner
def remainder(
    system: System,
    used: Vector,
    F: Matrix,
    rows: Indices,
    cols: Indices,
    shift: Vector,
    r: Matrix,
    gap: Matrix,
    rb: Vector,
    dz: Matrix,
    dlam: Matrix,
    beta: Vector,
    out_r: Matrix,
    out_gap: Matrix,
    out_b: Vector,
) -> None:
    """What (N1) leaves after the step (dz, dλ, β): the right-hand sides for a refinement."""
    W, V, Vf, B = system.W, system.V, system.Vf, system.B
    knots, nz = dz.shape
    nx, N = dlam.shape[1], knots - 1
    for k in range(knots):
        for a in range(nz):
            value = r[k, a] + shift[a] * dz[k, a]
            for b in range(nz):
                value += W[k, a, b] * dz[k, b]
            out_r[k, a] = value
        for j in range(beta.size):
            if used[j] != 0.0:
                for a in range(nz):
                    out_r[k, a] += V[j, k, a] * beta[j]
        for s in range(nx):
            out_r[k, s] -= dlam[k, s]
        if k < N:
            for s in range(nx):
                out_gap[k, s] = gap[k, s] - dz[k + 1, s]
                for j in range(beta.size):
                    if used[j] != 0.0:
                        out_gap[k, s] += Vf[j, k, s] * beta[j]
            for e in range(rows.size):
                out_r[k, cols[e]] += F[k, e] * dlam[k + 1, rows[e]]
                out_gap[k, rows[e]] += F[k, e] * dz[k, cols[e]]
    border_product(system, used, dz, dlam, out_b)
    for j in range(beta.size):
        out_b[j] += rb[j]
        for l in range(beta.size):
            out_b[j] += B[j, l] * beta[l]


@inner
def add_totals(T: Matrix, first: int, used: Vector, dz: Matrix, dp: Vector, out: Vector) -> None:
    """Add to out, (np + nt,), what totals outside the matrix change along (dz, dp) at a block of
    knots, to first order."""
    nz, np_ = dz.shape[1], dp.size
    for t in range(T.shape[1] // (nz + np_)):
        if used[np_ + t] != 0.0:
            continue
        total = 0.0
        for i in range(T.shape[0]):
            row = T[i, t * (nz + np_) : (t + 1) * (nz + np_)]
            for a in range(nz):
                total += row[a] * dz[first + i, a]
            for j in range(np_):
                total += row[nz + j] * dp[j]
        out[np_ + t] += total


@inner
def cost_slope(d: Derivatives, first: int, dz: Matrix, dp: Vector) -> float:
    """Derivative of the cost of a block of knots along (dz, dp)."""
    nz, slope = dz.shape[1], 0.0
    for i in range(d.g.shape[0]):
        for a in range(nz):
            slope += d.g[i, a] * dz[first + i, a]
        for j in range(dp.size):
            slope += d.g[i, nz + j] * dp[j]
    return slope
