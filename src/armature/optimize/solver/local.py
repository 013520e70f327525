"""Variables of a single knot: controls that neither the dynamics nor the curvature of the
Lagrangian know, such as a supply's slacks.

Such a variable s meets the others in rows only, no row has two of them, and it leaves the Newton
system (N1) before the sweep over the knots. Its rows are σ s + g·x with the weights w, x being the
knot's other variables and the parameters. Taken one after the other, from a = 0 and m = 0 on, they
leave

    (L1)  d = g − σm,   W += wa/(a + wσ²) ddᵀ,   m += wσ/(a + wσ²) d,   a += wσ²

Then a is the curvature in s and am its coupling to x. All terms are positive: W_xx − W_xs
W_sx/W_ss, which is the same, would subtract nearly equal numbers where a row is active. The
couplings h to parameters and totals that come from the Lagrangian itself follow,

    (L2)  V −= mhᵀ,   B −= m_b hᵀ + hm_bᵀ + hhᵀ/a,   m_b += h/a

m_b being the parameters' part of m; and for each right-hand side

    (L3)  r_x −= m r_s,   r_b −= m_b r_s,      ds = −(r_s/a + m·dx + m_b·β)
"""

from typing import NamedTuple

import numpy as np

from armature.optimize.solver.loops import Indices, Matrices, Matrix, Vector, inner


class Local(NamedTuple):
    """Local variables of all knots, nl each. a: (N+1, nl).  m: (N+1, nl, nk), mb: (N+1, nl, nb).
    h: (nl, nb), of one knot.

    place: (nz,) where a variable stands among the nk others, or −1, −2, … for the first, second, …
    local one."""

    place: Indices
    a: Matrix
    m: Matrices
    mb: Matrices
    h: Matrix


def workspace(place: np.ndarray, knots: int, nb: int) -> Local:
    """Arrays for these knots and nb columns of the border."""
    nl = int(np.sum(place < 0))
    return Local(
        place,
        np.zeros((knots, nl)),
        np.zeros((knots, nl, place.size - nl)),
        np.zeros((knots, nl, nb)),
        np.zeros((nl, nb)),
    )


def places(layout, nx: int, nz: int) -> np.ndarray:
    """`Local.place` from the places of a step's nonzeros (stage.Layout): of two candidates in one
    row the first is local."""
    free = np.arange(nz) >= nx
    free[layout.F_cols] = False
    inside = (layout.H_rows < nz) & (layout.H_cols < nz)
    free[layout.H_rows[inside]] = free[layout.H_cols[inside]] = False
    for first, stop in zip(layout.J_first[:-1], layout.J_first[1:]):
        candidates = [j for j in layout.J_cols[first:stop] if free[j]]
        free[candidates[1:]] = False
    return np.where(free, -np.cumsum(free.astype(np.int64)), np.cumsum(~free) - 1)


def row_entries(layout, place: np.ndarray) -> np.ndarray:
    """(constraints,) which entry of J is the local variable of a row, −1 where it has none."""
    hits = [
        np.flatnonzero(place[layout.J_cols[i:j]] < 0)
        for i, j in zip(layout.J_first[:-1], layout.J_first[1:])
    ]
    return np.array(
        [first + hit[0] if hit.size else -1 for first, hit in zip(layout.J_first, hits)],
        dtype=np.int64,
    )


@inner
def add_row(
    w: float,
    J: Vector,
    entry: int,
    place: Indices,
    start: int,
    stop: int,
    local: Local,
    k: int,
    d: Vector,
    dp: Vector,
) -> float:
    """(L1) for one row at the knot k; returns what its ddᵀ counts. J[start:stop]: its gradient, at
    `place`, J[entry] the local part.

    d: (nk,) out.  dp: (np,) the gradient in the parameters in, its part of d out.
    """
    e, sigma = -1 - place[entry], J[entry]
    m, mb, a = local.m[k, e], local.mb[k, e], local.a[k, e]
    whole = a + w * sigma * sigma
    gain = w * sigma / whole
    for j in range(d.size):
        d[j] = -sigma * m[j]
    for j in range(start, stop):
        if place[j] >= 0:
            d[place[j]] += J[j]
    for j in range(d.size):
        m[j] += gain * d[j]
    for j in range(dp.size):
        dp[j] -= sigma * mb[j]
        mb[j] += gain * dp[j]
    local.a[k, e] = whole
    return w * a / whole


@inner
def couple(local: Local, k: int, V: Matrices, B: Matrix) -> None:
    """(L2) at the knot k, one entry of h after the other; a variable without rows gets a unit
    curvature."""
    h = local.h
    for e in range(h.shape[0]):
        m, mb = local.m[k, e], local.mb[k, e]
        if local.a[k, e] == 0.0:
            local.a[k, e] = 1.0
        a = local.a[k, e]
        for j in range(h.shape[1]):
            value = h[e, j]
            if value != 0.0:
                for i in range(m.size):
                    V[j, k, i] -= value * m[i]
                for l in range(h.shape[1]):
                    B[j, l] -= value * mb[l]
                    B[l, j] -= value * mb[l]
                B[j, j] -= value * value / a
                mb[j] += value / a


@inner
def fold(local: Local, r: Matrix, rb: Vector, out: Matrix, out_b: Vector) -> None:
    """(L3), right-hand side: r (knots, nz), rb (nb,) in; out (knots, nk), out_b (nb,)."""
    for j in range(rb.size):
        out_b[j] = rb[j]
    for k in range(r.shape[0]):
        for i in range(local.place.size):
            if local.place[i] >= 0:
                out[k, local.place[i]] = r[k, i]
        for i in range(local.place.size):
            e = -1 - local.place[i]
            if e >= 0 and r[k, i] != 0.0:
                for j in range(out.shape[1]):
                    out[k, j] -= local.m[k, e, j] * r[k, i]
                for j in range(rb.size):
                    out_b[j] -= local.mb[k, e, j] * r[k, i]


@inner
def unfold(local: Local, r: Matrix, step: Matrix, beta: Vector, dz: Matrix) -> None:
    """(L3), solution: r (knots, nz), step (knots, nk) of the other variables, beta (nb,) in; dz
    (knots, nz) out."""
    for k in range(r.shape[0]):
        for i in range(local.place.size):
            if local.place[i] >= 0:
                dz[k, i] = step[k, local.place[i]]
            else:
                e = -1 - local.place[i]
                value = r[k, i] / local.a[k, e]
                for j in range(step.shape[1]):
                    value += local.m[k, e, j] * step[k, j]
                for j in range(beta.size):
                    value += local.mb[k, e, j] * beta[j]
                dz[k, i] = -value
