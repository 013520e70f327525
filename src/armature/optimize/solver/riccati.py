"""The linear algebra of one Newton step: a Riccati recursion over the knots, linear in their
number.

It solves the stagewise system, for k = 0 … N (no control and no dynamics at k = N),

    (R1)  W_k dz_k + F_kᵀ dλ_{k+1} − (dλ_k, 0) = −r_k,      z = (x, u),
    (R2)  F_k dz_k − dx_{k+1} = −b_k,

with F = [A B] given by its nonzeros only, so that simple dynamics cost little. With the cost to go
½dxᵀP dx + pᵀdx:

    (R3)  M = W + FᵀP₊F,   M_uu = L Lᵀ,   Y = L⁻¹M_ux,   P = M_xx − YᵀY,
    (R4)  q = r + Fᵀ(p₊ + P₊b),   y = L⁻¹q_u,   p = q_x − Yᵀy,
    (R5)  dx₀ = −P₀⁻¹p₀,   du = −L⁻ᵀ(Y dx + y),   dx₊ = F dz + b,   dλ = P dx + p.

The Cholesky factors of every M_uu and of P₀ exist exactly when W is positive definite on the
motions that the dynamics allow: the inertia test of an interior-point method at no cost.
"""

from typing import NamedTuple

import numpy as np

from armature.optimize.solver.loops import Indices, Matrices, Matrix, Vector, inner, loop


class Factors(NamedTuple):
    """What `factor` leaves for `solve`, by knot. P: (N+1, nx, nx); L: (N, nu, nu); Y: (N, nu, nx);
    L0: (nx, nx); the rest is scratch."""

    P: Matrices
    L: Matrices
    Y: Matrices
    L0: Matrix
    M: Matrix  # (nz, nz)
    G: Matrix  # (nz, nx), the transpose of P F
    T: Matrix  # (nx, nz), P F
    p: Matrix  # (N+1, nx)
    y: Matrix  # (N, nu)
    t: Vector  # (nz,)


def workspace(N: int, nx: int, nu: int) -> Factors:
    """Arrays for N steps with nx states and nu controls."""
    nz = nx + nu
    shapes = [
        (N + 1, nx, nx),
        (N, nu, nu),
        (N, nu, nx),
        (nx, nx),
        (nz, nz),
        (nz, nx),
        (nx, nz),
        (N + 1, nx),
        (N, nu),
        (nz,),
    ]
    return Factors(*(np.zeros(shape) for shape in shapes))


@inner
def cholesky(A: Matrix, L: Matrix, offset: int, n: int) -> bool:
    """L Lᵀ = the n × n block of A that starts at (offset, offset), lower triangle read; False when
    it is not positive definite."""
    for j in range(n):
        pivot = A[offset + j, offset + j]
        floor = 1e-13 * abs(pivot)
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        if not pivot > floor:
            return False
        root = np.sqrt(pivot)
        L[j, j] = root
        inverse = 1.0 / root
        for i in range(j + 1, n):
            value = A[offset + i, offset + j]
            for k in range(j):
                value -= L[i, k] * L[j, k]
            L[i, j] = value * inverse
    return True


@inner
def sandwich(
    W: Matrix,
    F: Vector,
    rows: Indices,
    cols: Indices,
    P: Matrix,
    shift: Vector,
    M: Matrix,
    G: Matrix,
    T: Matrix,
) -> None:
    """M = W + diag(shift) + FᵀP F, (R3), by the nonzeros of F; rows of contiguous memory
    throughout."""
    nz, nx = M.shape[0], P.shape[0]
    G[:] = 0.0
    for e in range(F.size):
        i, a, value = rows[e], cols[e], F[e]
        for j in range(nx):
            G[a, j] += value * P[i, j]
    for a in range(nz):
        for i in range(nx):
            T[i, a] = G[a, i]
    for a in range(nz):
        for b in range(nz):
            M[a, b] = W[a, b]
        M[a, a] += shift[a]
    for e in range(F.size):
        i, a, value = rows[e], cols[e], F[e]
        for b in range(nz):
            M[a, b] += value * T[i, b]


@loop
def factor(
    W: Matrices, F: Matrix, rows: Indices, cols: Indices, shift: Vector, factors: Factors
) -> bool:
    """Factor the system of (R1), (R2) with W + diag(shift); False when it is not positive definite
    on the motions that the dynamics allow.

    W: (N+1, nz, nz) symmetric; F: (N, nonzeros) of the Jacobian [A B] at the places (rows, cols);
    shift: (nz,)."""
    P, L, Y, L0, M = factors.P, factors.L, factors.Y, factors.L0, factors.M
    N, nu, nx = Y.shape
    for i in range(nx):
        for j in range(nx):
            P[N, i, j] = W[N, i, j]
        P[N, i, i] += shift[i]
    for k in range(N - 1, -1, -1):
        sandwich(W[k], F[k], rows, cols, P[k + 1], shift, M, factors.G, factors.T)
        if not cholesky(M, L[k], nx, nu):
            return False
        # Y = L⁻¹ M_ux, row by row
        for i in range(nu):
            for j in range(nx):
                Y[k, i, j] = M[nx + i, j]
            for a in range(i):
                value = L[k, i, a]
                for j in range(nx):
                    Y[k, i, j] -= value * Y[k, a, j]
            inverse = 1.0 / L[k, i, i]
            for j in range(nx):
                Y[k, i, j] *= inverse
        # P = M_xx − YᵀY
        for i in range(nx):
            for j in range(nx):
                P[k, i, j] = 0.5 * (M[i, j] + M[j, i])
        for a in range(nu):
            for i in range(nx):
                value = Y[k, a, i]
                for j in range(nx):
                    P[k, i, j] -= value * Y[k, a, j]
    return cholesky(P[0], L0, 0, nx)


@inner
def forward_solve(L: Matrix, v: Vector) -> None:
    """v ← L⁻¹v."""
    for i in range(v.size):
        for j in range(i):
            v[i] -= L[i, j] * v[j]
        v[i] /= L[i, i]


@inner
def backward_solve(L: Matrix, v: Vector) -> None:
    """v ← L⁻ᵀv."""
    for i in range(v.size - 1, -1, -1):
        for j in range(i + 1, v.size):
            v[i] -= L[j, i] * v[j]
        v[i] /= L[i, i]


@loop
def solve(
    F: Matrix,
    rows: Indices,
    cols: Indices,
    r: Matrix,
    b: Matrix,
    factors: Factors,
    dz: Matrix,
    dlam: Matrix,
) -> None:
    """Solve (R1), (R2) for one right-hand side. r: (N+1, nz), b: (N, nx) in; dz: (N+1, nz), dlam:
    (N+1, nx) out, dlam[0] = 0."""
    P, L, Y, p, y, t = factors.P, factors.L, factors.Y, factors.p, factors.y, factors.t
    N, nu, nx = Y.shape
    for i in range(nx):
        p[N, i] = r[N, i]
    # (R4), from the last knot to the first
    for k in range(N - 1, -1, -1):
        for i in range(t.size):
            t[i] = r[k, i]
        for i in range(nx):
            value = p[k + 1, i]
            for j in range(nx):
                value += P[k + 1, i, j] * b[k, j]
            p[k, i] = value  # p₊ + P₊b, for the moment
        for e in range(rows.size):
            t[cols[e]] += F[k, e] * p[k, rows[e]]
        for a in range(nu):
            y[k, a] = t[nx + a]
        forward_solve(L[k], y[k])
        for i in range(nx):
            p[k, i] = t[i]
        for a in range(nu):
            for i in range(nx):
                p[k, i] -= Y[k, a, i] * y[k, a]
    # (R5), from the first knot to the last
    for i in range(nx):
        dz[0, i] = -p[0, i]
        dlam[0, i] = 0.0
    forward_solve(factors.L0, dz[0, :nx])
    backward_solve(factors.L0, dz[0, :nx])
    for k in range(N):
        u = dz[k, nx:]
        for a in range(nu):
            u[a] = -y[k, a]
            for i in range(nx):
                u[a] -= Y[k, a, i] * dz[k, i]
        backward_solve(L[k], u)
        for i in range(nx):
            dz[k + 1, i] = b[k, i]
        for e in range(rows.size):
            dz[k + 1, rows[e]] += F[k, e] * dz[k, cols[e]]
        for i in range(nx):
            value = p[k + 1, i]
            for j in range(nx):
                value += P[k + 1, i, j] * dz[k + 1, j]
            dlam[k + 1, i] = value
    dz[N, nx:] = 0.0
