"""Forward dynamics by Gibbs and Appell (V2): G from the recursion (2.1), its coefficients from
probes, equations (2.2) solved.

G = ½ q̈ᵀα q̈ + βᵀq̈ + γ. α does not depend on velocities, gravity or outside forces, so it is
probed without them: literal probes at the full state take differences of large numbers and lose
hundreds to thousands of times cond(M)·eps."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.dynamics.recursion.kinematics import Motion, motions, placements, rate
from armature.dynamics.recursion.recursive import FIXED, Base, Wrenches, outside_wrenches
from armature.robot.tree import Body, Tree
from armature.spatial.numbers import Number
from armature.spatial.vectors import Array, cross, dot


def gibbs_function(
    tree: Tree,
    q: Array,
    v: Array,
    a: Array,
    wrenches: Wrenches | None = None,
    base: Base = FIXED,
    gravity: bool = True,
) -> Number:
    """G (1.2) at accelerations a (nv,), J/s²: Σ over bodies of ½∫r̈² dm, less the power-like term
    F·r̈ of the given forces.

    With r̈ = a + K r over a body, ½∫r̈² dm = ½ m a·a + a·K h + ½ tr(K Σ Kᵀ), Σ = ∫r rᵀdm = ½ tr(J)
    E − J."""
    places = placements(tree, q)
    outside = outside_wrenches(tree, places, wrenches, base.R)
    start = Motion(
        base.w, base.dw, np.zeros(3), base.a - base.R.T @ tree.gravity if gravity else base.a
    )
    moving = motions(tree, q, v, a, start)
    G: Number = 0.0
    for i, (body, m) in enumerate(zip(tree.bodies, moving)):
        G = G + _energy_of_acceleration(body, m)
        if i in outside:
            G = G - dot(outside[i].f, m.a) - dot(outside[i].n, m.dw)
        if body.rotor:
            G = G + _rotor(body, moving[body.parent] if body.parent >= 0 else start, v, a)
    return G


def _energy_of_acceleration(body: Body, m: Motion) -> Number:
    K = m.spin()
    spread = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    turning = sum((x * y for x, y in zip((K @ spread).ravel(), K.ravel())), 0.0)
    return 0.5 * body.mass * dot(m.a, m.a) + dot(m.a, K @ body.first_moment) + 0.5 * turning


def _rotor(body: Body, carrier: Motion, v: Array, a: Array) -> Number:
    """(R): d[½ q̈ᵣ² + q̈ᵣ ε·ω̇ + q̇ᵣ ω̇·(ω × ε)], the rotor's share beyond being locked to its
    carrier."""
    speed, faster, e = body.ratio * rate(body, v), body.ratio * rate(body, a), body.rotor_axis
    return body.rotor * (
        0.5 * faster * faster
        + faster * dot(e, carrier.dw)
        + speed * dot(carrier.dw, cross(carrier.w, e))
    )


# the probes --------------------------------------------------------------------------------------


def pair_probes(n: int) -> Array:
    """The n(n+1)/2 probes of α: e_i, then e_i + e_j for i < j; (n(n+1)/2, n)."""
    i, j = np.triu_indices(n, 1)
    return np.vstack([np.eye(n), np.eye(n)[i] + np.eye(n)[j]])


def alpha(values: Array) -> Array:
    """α (..., n, n) from G at the pair probes (..., n(n+1)/2): α_ii = 2G(e_i), α_ij = G(e_i + e_j)
    − G(e_i) − G(e_j)."""
    n = round((np.sqrt(8 * values.shape[-1] + 1) - 1) / 2)
    result = np.empty((*values.shape[:-1], n, n))
    own = values[..., :n]
    result[..., range(n), range(n)] = 2.0 * own
    i, j = np.triu_indices(n, 1)
    result[..., i, j] = result[..., j, i] = values[..., n:] - own[..., i] - own[..., j]
    return result


def beta(values: Array, alpha: Array) -> Array:
    """β (..., n) from G at q̈ = 0 and at each e_i, (..., 1 + n): β_i = G(e_i) − G(0) − ½α_ii."""
    return values[..., 1:] - values[..., :1] - 0.5 * np.diagonal(alpha, axis1=-2, axis2=-1)


def solve(alpha: Array, beta: Array, tau: Any, G: Array, D: Array) -> Array:
    """(2.2): α q̈ = Q − β, with loops + ΓᵀN such that Γ q̈ = D, redundant rows by the
    pseudo-inverse."""
    free = np.linalg.solve(alpha, (np.asarray(tau, dtype=float) - beta)[..., None])
    if not D.size:
        return free[..., 0]
    Y = np.linalg.solve(alpha, np.swapaxes(G, -1, -2))
    N = np.linalg.pinv(G @ Y, rcond=1e-10, hermitian=True) @ (D[..., None] - G @ free)
    return (free + Y @ N)[..., 0]
