"""Mass matrix by composite inertias, and solves with it. Plain functions on any number type."""

from __future__ import annotations

import numpy as np

from armature.dynamics.recursion.kinematics import Placement, placements
from armature.dynamics.recursion.sweep import tip_to_base
from armature.robot.tree import Body, Tree
from armature.spatial.inertia import Rigid
from armature.spatial.numbers import is_symbol
from armature.spatial.vectors import Array, cross, dot, skew


def mass_matrix(tree: Tree, q: Array) -> Array:
    """M (nv, nv): the force that a unit acceleration of joint i needs, felt at every joint that
    carries it."""
    places = placements(tree, q)
    total = composites(tree, places)
    M = np.zeros((tree.nv, tree.nv), dtype=object)
    for i, body in enumerate(tree.bodies):
        _columns(tree, M, places, i, body, total[i])
    return (
        M
        if any(is_symbol(x) for x in M.flat)
        else M.astype(np.result_type(*(np.asarray(x) for x in M.flat), float))
    )


def composites(tree: Tree, places: list[Placement]) -> list[Rigid]:
    """Inertia of each body together with all that it carries, about its own origin."""
    own = [Rigid(b.mass, b.first_moment, b.inertia) for b in tree.bodies]
    return tip_to_base(tree, lambda i, body, inertia: places[i].rigid_to_parent(inertia), own)


def _columns(
    tree: Tree, M: Array, places: list[Placement], i: int, body: Body, inertia: Rigid
) -> None:
    """Joint i's column of M: its wrench F = Θ B about the body's origin, then carried to the
    base."""
    if body.kind == "free":
        h = skew(inertia.h)
        M[body.v : body.v + 6, body.v : body.v + 6] = np.block(
            [[inertia.m * np.eye(3), -h], [h, inertia.J]]
        )
        return
    e = body.axis
    if body.kind == "revolute":
        f, n, own = cross(e, inertia.h), inertia.J @ e, dot(e, inertia.J @ e)
    else:
        f, n, own = inertia.m * e, cross(inertia.h, e), inertia.m
    M[body.v, body.v] = M[body.v, body.v] + body.multiplier**2 * (own + body.rotor * body.ratio**2)
    # towards the base; the rotor's coupling d r ε joins on the carrier (R)
    f, n = places[i].wrench_to_parent(f, n)
    if body.rotor:
        n = n + body.rotor * body.ratio * body.rotor_axis
    j = body.parent
    while j >= 0:
        carrier = tree.bodies[j]
        felt = (
            [*f, *n]
            if carrier.kind == "free"
            else [dot(carrier.axis, n if carrier.kind == "revolute" else f)]
        )
        for k, value in enumerate(felt):
            value = body.multiplier * carrier.multiplier * value
            M[carrier.v + k, body.v] = M[carrier.v + k, body.v] + value
            M[body.v, carrier.v + k] = M[body.v, carrier.v + k] + value
        f, n = places[j].wrench_to_parent(f, n)
        j = carrier.parent


def factor(M: Array) -> Array:
    """The unit lower L and diagonal D of M = LᵀDL, eliminating the last row first; returned as one
    matrix, D on the diagonal.

    Rows are ordered base to tip: branches that do not carry each other keep their zeros.
    """
    F = M.copy()
    n = len(F)
    for k in range(n - 1, -1, -1):
        for i in range(k - 1, -1, -1):
            if not _is_zero(F[k, i]):
                ratio = F[k, i] / F[k, k]
                for j in range(i + 1):
                    if not _is_zero(F[k, j]):
                        F[i, j] = F[i, j] - ratio * F[k, j]
                F[k, i] = ratio
    return F


def _is_zero(x) -> bool:
    """A structural zero: the number 0, or a symbol known to be it."""
    return x.is_zero() if hasattr(x, "is_zero") else bool(x == 0.0)


def back_substitute(F: Array, rhs: Array) -> Array:
    """Solve LᵀDL x = rhs with the result of `factor`."""
    x = rhs.copy() if F.dtype != object else np.array(rhs, dtype=object)
    n = len(F)
    # Lᵀ y = rhs, from the last row
    for k in range(n - 1, -1, -1):
        for i in range(k):
            if not _is_zero(F[k, i]):
                x[i] = x[i] - F[k, i] * x[k]
    # D z = y, L x = z, from the first row
    for k in range(n):
        x[k] = x[k] / F[k, k]
        for i in range(k):
            if not _is_zero(F[k, i]):
                x[k] = x[k] - F[k, i] * x[i]
    return x


def solve_positive(M: Array, rhs: Array) -> Array:
    """M⁻¹ rhs for a symmetric positive definite M, without pivoting."""
    return back_substitute(factor(M), rhs)


def pivots(tree: Tree, q: Array) -> list[tuple[str, float, float]]:
    """(joint, pivot D of M = LᵀDL, what rounding of D is measured by): D is zero where a joint
    moves no mass or inertia.

    The measure is the diagonal of M, and for a turning joint also the moments of all that it
    carries about any axis through it."""
    M = np.asarray(mass_matrix(tree, q), dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        D = np.diag(factor(M))
    scale = np.abs(np.diag(M))
    for body, total in zip(tree.bodies, composites(tree, placements(tree, q))):
        if body.kind == "revolute":
            scale[body.v] = max(scale[body.v], body.multiplier**2 * np.trace(total.J))
    found = []
    for body in tree.bodies:
        if not body.mimic:
            found += [
                (body.name, float(D[k]), float(scale[k]))
                for k in range(body.v, body.v + (6 if body.kind == "free" else 1))
            ]
    return found
