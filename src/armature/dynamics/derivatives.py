"""First derivatives of the dynamics: automatic differentiation of the traced inverse dynamics, and ∂q̈ = −M⁻¹ ∂τ.

These run on symbols only: they differentiate what `recursive` has traced.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from armature.dynamics import recursive
from armature.dynamics.mass import back_substitute, factor, mass_matrix
from armature.kernel.symbol import from_casadi_column, symbols, to_casadi
from armature.robot.tree import Tree
from armature.spatial.vectors import Array, pack, skew


def inverse(tree: Tree, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M."""
    tau = recursive.inverse_dynamics(tree, q, v, a)
    return to_tangent(tree, q, _jacobian(tau, q)), _jacobian(tau, v), mass_matrix(tree, q)


def forward(tree: Tree, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
    """∂q̈/∂q = −M⁻¹ ∂τ/∂q, ∂q̈/∂v = −M⁻¹ ∂τ/∂v, ∂q̈/∂τ = M⁻¹, the derivatives of τ taken at a = q̈."""
    F = factor(mass_matrix(tree, q))
    a = symbols("a", tree.nv)
    dq, dv, _ = inverse(tree, q, v, a)
    # q̈ from the same factors
    qdd = back_substitute(F, tau - recursive.bias_forces(tree, q, v))
    dq, dv = _replace(dq, a, qdd), _replace(dv, a, qdd)
    n = tree.nv
    solved = back_substitute(F, np.concatenate([-dq, -dv, np.eye(n)], axis=1))
    return solved[:, :n], solved[:, n : 2 * n], solved[:, 2 * n :]


def to_tangent(tree: Tree, q: Array, J: Array) -> Array:
    """Columns for the coordinates of a floating base → columns for its six tangent directions (body axes)."""
    if tree.nq == tree.nv:
        return J
    columns = []
    for body in tree.bodies:
        if body.mimic:
            continue
        if body.kind != "free":
            columns.append(J[:, body.q : body.q + 1])
            continue
        # ẋ = R u; quaternion rate = ½ [[w E + ⟨ε⟩], [−εᵀ]] ω
        x, y, z, w = q[body.q + 3 : body.q + 7]
        R = recursive.placements(tree, q)[tree.bodies.index(body)].turn
        epsilon = pack([x, y, z])
        rate = np.concatenate([w * np.eye(3) + skew(epsilon), -epsilon[None, :]]) * 0.5
        columns += [J[:, body.q : body.q + 3] @ R, J[:, body.q + 3 : body.q + 7] @ rate]
    return np.concatenate(columns, axis=1)


def _jacobian(f: Array, x: Array) -> Array:
    """∂f/∂x as an array of symbols."""
    return _array(ca.jacobian(to_casadi(f), to_casadi(x)))


def _replace(matrix: Array, x: Array, value: Array) -> Array:
    """The matrix with symbols x replaced by expressions."""
    return _array(ca.substitute(to_casadi(matrix), to_casadi(x), to_casadi(value)))


def _array(M: ca.SX) -> Array:
    return from_casadi_column(ca.vec(ca.densify(M).T), M.shape)
