"""Inertias seen from another frame, on any number type.

A child frame is turned by R and shifted by p against its parent: x_parent = R x_child + p.
Six-vectors are (linear, angular)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armature.spatial.numbers import Number
from armature.spatial.vectors import Array, pack, skew


class Rigid(NamedTuple):
    """Inertia of a rigid body: mass, first moment m c (3,), and moments J (3, 3) about the frame's
    origin."""

    m: Number
    h: Array
    J: Array

    def __add__(self, other: Rigid) -> Rigid:  # type: ignore[override]
        return Rigid(self.m + other.m, self.h + other.h, self.J + other.J)


class Blocks(NamedTuple):
    """A symmetric 6 × 6 matrix [[A, B], [Bᵀ, C]]: A and C symmetric, all (3, 3)."""

    A: Array
    B: Array
    C: Array

    def __add__(self, other: Blocks) -> Blocks:  # type: ignore[override]
        return Blocks(self.A + other.A, self.B + other.B, self.C + other.C)


def blocks_of(m: Number, h: Array, J: Array) -> Blocks:
    """Θ = [[mE, ⟨h⟩ᵀ], [⟨h⟩, J]]: forces from the linear and angular acceleration of the frame's
    origin."""
    return Blocks(m * np.eye(3), -skew(h), J)


def rotate_symmetric(R: Array, S: Array) -> Array:
    """R S Rᵀ of a symmetric S, computed on one side of the diagonal."""
    T = R @ S
    entry = lambda i, j: T[i, 0] * R[j, 0] + T[i, 1] * R[j, 1] + T[i, 2] * R[j, 2]
    xx, yy, zz, xy, xz, yz = (
        entry(0, 0),
        entry(1, 1),
        entry(2, 2),
        entry(0, 1),
        entry(0, 2),
        entry(1, 2),
    )
    return pack([xx, xy, xz, xy, yy, yz, xz, yz, zz], (3, 3))


def symmetrize_upper(S: Array) -> Array:
    """The symmetric matrix with the upper triangle of S: symbols below the diagonal become the same
    ones as above."""
    return pack(
        [S[0, 0], S[0, 1], S[0, 2], S[0, 1], S[1, 1], S[1, 2], S[0, 2], S[1, 2], S[2, 2]], (3, 3)
    )


def shift_rigid(body: Rigid, p: Array) -> Rigid:
    """The inertia about an origin from which the body's frame is shifted by p: the parallel-axis
    theorem with h ≠ 0."""
    ph = p[0] * body.h[0] + p[1] * body.h[1] + p[2] * body.h[2]
    pp = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
    outer = np.outer(p, body.h)
    J = body.J + (2.0 * ph + body.m * pp) * np.eye(3) - outer - outer.T - body.m * np.outer(p, p)
    return Rigid(body.m, body.h + body.m * p, symmetrize_upper(J))


def shift_blocks(P: Blocks, p: Array) -> Blocks:
    """Xᵀ P X of a pure shift: B' = B − A⟨p⟩, C' = C + ⟨p⟩B' − Bᵀ⟨p⟩."""
    px = skew(p)
    B = P.B - P.A @ px
    return Blocks(P.A, B, symmetrize_upper(P.C + px @ B - P.B.T @ px))


def eliminate_column(P: Blocks, k: int, angular: bool, D: Number, rest: float) -> Blocks:
    """P − c cᵀ/D for column c number k of the linear or angular half, where D = c_k + rest.

    In row and column k that is exactly c · rest/D: a plain zero where rest is zero.
    """
    c_lin, c_ang = (P.B[:, k], P.C[:, k]) if angular else (P.A[:, k], P.B[k, :])
    s_lin, s_ang = c_lin / D, c_ang / D
    A, B, C = (
        P.A - np.outer(s_lin, c_lin),
        P.B - np.outer(s_lin, c_ang),
        P.C - np.outer(s_ang, c_ang),
    )
    if angular:
        B[:, k], C[:, k], C[k, :] = s_lin * rest, s_ang * rest, s_ang * rest
    else:
        A[:, k], A[k, :], B[k, :] = s_lin * rest, s_lin * rest, s_ang * rest
    return Blocks(symmetrize_upper(A), B, symmetrize_upper(C))
