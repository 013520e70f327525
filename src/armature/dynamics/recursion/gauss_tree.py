"""Forward dynamics of a tree straight from Gauss's principle (V1): minimise (1.2) under the
couplings (3.1), one sparse KKT system.

Unknowns: ẍ (acceleration of the origin less gravity, ω̇) of every body in its own axes, all q̈, and
the reactions λ of the couplings ẍ_i − X_i ẍ_parent − B_i q̈_i = f_i. It is the reference for the
recursion, which eliminates the same unknowns one after the other."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix, diags_array
from scipy.sparse.linalg import splu

from armature.dynamics.recursion.kinematics import placements, rate
from armature.dynamics.recursion.recursive import (
    FIXED,
    Base,
    Carried,
    Wrenches,
    carry,
    outside_wrenches,
    own_cost,
)
from armature.dynamics.recursion.sweep import base_to_tip
from armature.robot.tree import Body, Tree
from armature.spatial.vectors import Array, cross, skew


def terms(
    tree: Tree, q: Array, v: Array, wrenches: Wrenches | None = None, base: Base = FIXED
) -> tuple[Array, Array, Array]:
    """X (nb, 6, 6), f (nb, 6) of the couplings and R = −W z̈ (nb, 6) of the bodies, at one state;
    any number type."""
    places = placements(tree, q)
    outside = outside_wrenches(tree, places, wrenches, base.R)
    start = Carried(base.w, np.zeros(3), np.zeros(3))
    carried = base_to_tip(tree, lambda i, body, parent: carry(body, places[i], parent, v), start)
    costs = [
        own_cost(body, c, outside.get(i)) for i, (body, c) in enumerate(zip(tree.bodies, carried))
    ]
    R = [np.concatenate([c.r_lin, c.r_ang]) for c in costs]
    f = [np.concatenate([c.f_lin, c.f_ang]) for c in carried]
    X = []
    for i, body in enumerate(tree.bodies):
        # a = Rᵀ(a' + ω̇' × p), ω̇ = Rᵀω̇'
        turn = places[i].matrix().T
        X.append(np.block([[turn, -turn @ skew(places[i].p)], [np.zeros((3, 3)), turn]]))
        if body.rotor and body.parent >= 0:
            # (R) the rotor's gyroscopic torque on its carrier: d q̇ᵣ ω' × ε
            spin = body.rotor * body.ratio * rate(body, v)
            R[body.parent] = R[body.parent] + np.concatenate(
                [np.zeros(3), spin * cross(carried[body.parent].w, body.rotor_axis)]
            )
    ends = np.concatenate([base.a - base.R.T @ tree.gravity, base.dw])
    for i, body in enumerate(tree.bodies):
        if body.parent < 0:
            f[i] = f[i] + X[i] @ ends
    return np.array(X), np.array(f), np.array(R)


def solve(
    tree: Tree,
    X: Array,
    f: Array,
    R: Array,
    tau: Array,
    base_spin: Array,
    G: Array | None = None,
    D: Array | None = None,
) -> tuple[Array, Array]:
    """q̈ (nv,) and the wrench (nb, 6) that each joint carries, from the terms of one state
    (floats); base_spin: ω̇ of the base (3,).

    G (m, nv), D (m,): further rows Γ q̈ = D of loops. They may repeat each other: a small −ε beside
    them, and refinement."""
    G, D = (np.empty((0, tree.nv)), np.empty(0)) if G is None or D is None else (G, D)
    nb, nv, m = len(tree.bodies), tree.nv, len(D)
    size = 12 * nb + nv + m
    rows, columns, values = [], [], []

    def put(i: int, j: int, block: Array) -> None:
        r, c = np.nonzero(block)
        rows.extend(i + r)
        columns.extend(j + c)
        values.extend(block[r, c])

    rhs = np.concatenate([-R.ravel(), tau, f.ravel(), D])
    put(12 * nb + nv, 6 * nb, G)
    put(6 * nb, 12 * nb + nv, G.T)
    for i, body in enumerate(tree.bodies):
        x, k, q = 6 * i, 6 * nb + nv + 6 * i, 6 * nb + body.v
        put(x, x, weight(body))
        couplings = [(x, np.eye(6)), (q, -subspace(body))]
        if body.parent >= 0:
            couplings.append((6 * body.parent, -X[i]))
        for column, block in couplings:
            put(k, column, block)
            put(column, k, block.T)
        if body.rotor:
            _rotor(body, put, q, rhs, base_spin)
    K = csc_matrix((values, (rows, columns)), shape=(size, size))
    epsilon = diags_array(np.concatenate([np.zeros(size - m), np.full(m, -1e-9)]), format="csc")
    factor = splu(csc_matrix(K + epsilon) if m else K)
    x = factor.solve(rhs)
    for _ in range(3 if m else 1):
        x += factor.solve(rhs - K @ x)
    return x[6 * nb : 6 * nb + nv], x[6 * nb + nv : 12 * nb + nv].reshape(nb, 6)


def _rotor(body: Body, put, q: int, rhs: Array, base_spin: Array) -> None:
    """(R): ½ d r² q̈² and q̈ d r ε·ω̇ of the carrier."""
    put(q, q, np.array([[body.multiplier**2 * body.rotor * body.ratio**2]]))
    link = body.multiplier * body.rotor * body.ratio * body.rotor_axis[None, :]
    if body.parent >= 0:
        put(q, 6 * body.parent + 3, link)
        put(6 * body.parent + 3, q, link.T)
    else:
        rhs[q] -= link[0] @ base_spin


def weight(body: Body) -> Array:
    """W (6, 6) of a body about its origin: [[mE, ⟨h⟩ᵀ], [⟨h⟩, J]]."""
    h = skew(body.first_moment)
    return np.block([[body.mass * np.eye(3), -h], [h, body.inertia]])


def subspace(body: Body) -> Array:
    """B (6, 1 or 6): the body's acceleration for each unit of its q̈."""
    if body.kind == "free":
        return np.eye(6)
    column = (
        np.concatenate([np.zeros(3), body.axis])
        if body.kind == "revolute"
        else np.concatenate([body.axis, np.zeros(3)])
    )
    return body.multiplier * column[:, None]
