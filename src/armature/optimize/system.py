"""The Newton system of all knots, put together from the kernels' derivatives and the rows' weights.

With the rows eliminated (rows.py, (I4)) what remains, for z, λ, the parameters p and the multipliers η of the totals, is

    (N1)  [K  V ] [ (dz, dλ) ]       [ r ]
          [Vᵀ B ] [ (dp, dη) ]  = −  [ r_b ]

where K is the stagewise system of riccati.py with W = ∇²ℒ + JᵀD⁻¹J, and the border V, B has one column for each parameter and total.
Variables of a single knot have left it (local.py): of a knot's nz variables nk are in K.
"""

from typing import NamedTuple

import numpy as np

from armature.optimize.local import add_row, couple
from armature.optimize.loops import inner, part

BLOCK = 3  # rows and columns of W that are made in one go
LANES = 16  # sums over constraints are as long as a multiple of this


class Derivatives(NamedTuple):
    """What the derivative kernel writes for a block of knots, each (knots, size): see stage.py."""

    F: np.ndarray
    Fp: np.ndarray
    g: np.ndarray
    J: np.ndarray
    Jp: np.ndarray
    T: np.ndarray
    H: np.ndarray


class Places(NamedTuple):
    """Where the nonzeros stand, which knot is the block's first, and how many rows a knot has.

    H_flat: where the first entries of H, those without parameters, stand in a knot's W.  J_place: `Local.place` of the columns of J's
    entries.  J_local: (constraints,) see `local.row_entries`.
    """

    first: int
    nr: int
    F_rows: np.ndarray
    F_cols: np.ndarray
    J_first: np.ndarray
    J_cols: np.ndarray
    H_rows: np.ndarray
    H_cols: np.ndarray
    H_flat: np.ndarray
    J_place: np.ndarray
    J_local: np.ndarray


class System(NamedTuple):
    """W: (N+1, nk, nk).  V: (nb, N+1, nk) and Vf: (nb, N, nx), the border's columns in z and in the dynamics.  B: (nb, nb)."""

    W: np.ndarray
    V: np.ndarray
    Vf: np.ndarray
    B: np.ndarray


@inner
def assemble(d, at, weight, used, base, local, system):
    """Write the Hessian, Jacobians and weights of a block of knots into W, V; add them to B.

    used: (nb,) 0 for totals that stay out.  base: curvature in the local variables to begin with.
    """
    W, V, Vf, B = system
    np_, constraints = d.g.shape[1] - local.place.size, at.J_first.size - 1
    root, row, dp = np.zeros((padded(W.shape[1], BLOCK), padded(constraints, LANES))), np.zeros(W.shape[1]), np.zeros(np_)
    for i in range(d.H.shape[0]):
        k = at.first + i
        begin_knot(d.H[i], at, weight[k * at.nr :], base, np_, local, k, W[k], V[:, k], B)
        J, kept = d.J[i], 0
        for c in range(constraints):
            w = weight[k * at.nr + local.place.size + c]
            if w > 0.0:
                start, stop = at.J_first[c], at.J_first[c + 1]
                for j in range(np_):
                    dp[j] = d.Jp[i, c * np_ + j]
                if at.J_local[c] >= 0:
                    w = add_row(w, J, at.J_local[c], at.J_place, start, stop, local, k, row, dp)
                elif stop - start == 1 and np_ == 0:
                    W[k, at.J_place[start], at.J_place[start]] += w * J[start] ** 2
                    continue
                else:
                    row[:] = 0.0
                    for e in range(start, stop):
                        row[at.J_place[e]] = J[e]
                if np_ > 0:
                    add_border(w, row, dp, V[:, k], B)
                share = np.sqrt(w)
                for j in range(row.size):
                    root[j, kept] = share * row[j]
                kept += w > 0.0
        add_square(root, kept, W[k])
        border_columns(d.Fp[i], d.T[i], used, np_, local, k, V, Vf, B)
        couple(local, k, V[:, k], B)


@part
def padded(size, step):
    """The next multiple of a step."""
    return -(-size // step) * step


@part
def begin_knot(H, at, weight, base, np_, local, k, W, V, B):
    """The Hessian of a knot and the weights of its variables' own rows; the local variables start anew."""
    place, nz = local.place, local.place.size
    W[:] = 0.0
    V[:np_] = 0.0
    local.a[k] = base
    local.m[k] = 0.0
    local.mb[k] = 0.0
    local.h[:] = 0.0
    flat = W.reshape(W.size)
    for e in range(at.H_flat.size):
        flat[at.H_flat[e]] = H[e]
    for e in range(at.H_flat.size, H.size):
        a, b, value = at.H_rows[e], at.H_cols[e], H[e]
        if b < nz and place[b] >= 0:
            V[a - nz, place[b]] = value
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


@part
def border_columns(Fp, T, used, np_, local, k, V, Vf, B):
    """The dynamics' derivatives in the parameters, and the totals."""
    width = local.place.size + np_
    for j in range(np_):
        for s in range(Fp.size // np_):
            Vf[j, k, s] = Fp[s * np_ + j]
    for t in range(T.size // width):
        if used[np_ + t] == 0.0:
            continue
        row = T[t * width : (t + 1) * width]
        for a in range(local.place.size):
            if local.place[a] >= 0:
                V[np_ + t, k, local.place[a]] = row[a]
            else:
                local.h[-1 - local.place[a], np_ + t] = row[a]
        for j in range(np_):
            B[np_ + t, j] += row[local.place.size + j]
            B[j, np_ + t] += row[local.place.size + j]


@inner
def add_square(root, kept, W):
    """W += RRᵀ for the first columns of `root`, as many as kept; of W the lower triangle is read. Sums over constraints, nine at a time."""
    n, length = W.shape[0], padded(kept, LANES)
    root[:, kept:length] = 0.0
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


@part
def add_block(W, a, b, x, y, z):
    """Add three neighbours in a row to W and, mirrored, above its diagonal."""
    n = W.shape[0]
    if a < n:
        for j, value in enumerate((x, y, z)):
            if b + j <= a:
                W[a, b + j] += value
                W[b + j, a] = W[a, b + j]


@part
def add_border(w, row, Jp, V, B):
    """Add w JᵀJ_p and w J_pᵀJ_p of one constraint to the border."""
    for j in range(Jp.size):
        for a in range(row.size):
            V[j, a] += w * row[a] * Jp[j]
        for l in range(Jp.size):
            B[j, l] += w * Jp[j] * Jp[l]


@inner
def gradient(d, at, lam, y, r, rp):
    """r_k = ∇_z ℒ at a block of knots for row multipliers y; adds ∇_p ℒ to rp. y: (R,), the totals' last."""
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
def row_steps(d, at, weight, rhat, dz, dp, dy):
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
def border_product(system, used, dz, dlam, out):
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
def remainder(system, used, F, rows, cols, shift, r, gap, rb, dz, dlam, beta, out_r, out_gap, out_b):
    """What (N1) leaves after the step (dz, dλ, β): the right-hand sides for a refinement."""
    W, V, Vf, B = system
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
def add_totals(T, first, used, dz, dp, out):
    """Add to out, (np + nt,), what totals outside the matrix change along (dz, dp) at a block of knots, to first order."""
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
def cost_slope(blocks, dz, dp):
    """Derivative of the cost along (dz, dp)."""
    nz, slope = dz.shape[1], 0.0
    for d, at in blocks:
        for i in range(d.g.shape[0]):
            for a in range(nz):
                slope += d.g[i, a] * dz[at.first + i, a]
            for j in range(dp.size):
                slope += d.g[i, nz + j] * dp[j]
    return slope
