"""Derivatives of the dynamics by automatic differentiation of what was traced: the witness and the
rival of the closed forms.

These run on symbols only. The library takes from here what needs fewer operations than the closed
forms (docs/closed_forms.md)."""

from __future__ import annotations

import casadi as ca
import numpy as np

from armature.dynamics.differentiation.gradient import Gradient
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.kinematics import placement
from armature.dynamics.recursion.mass import back_substitute, factor, mass_matrix
from armature.kernel.symbol import from_casadi_column, symbols, to_casadi
from armature.robot.tree import Tree
from armature.spatial.vectors import Array, pack, skew


def inverse(tree: Tree, q: Array, v: Array, a: Array) -> Gradient:
    """∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M."""
    tau = recursive.inverse_dynamics(tree, q, v, a)
    return Gradient(to_tangent(tree, q, jacobian(tau, q)), jacobian(tau, v), mass_matrix(tree, q))


def forward(tree: Tree, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
    """∂q̈/∂q = −M⁻¹ ∂τ/∂q, ∂q̈/∂v = −M⁻¹ ∂τ/∂v, ∂q̈/∂τ = M⁻¹, the derivatives of τ taken at a =
    q̈."""
    F = factor(mass_matrix(tree, q))
    a = symbols("a", tree.nv)
    dq, dv, _ = inverse(tree, q, v, a)
    qdd = back_substitute(F, tau - recursive.bias_forces(tree, q, v))
    dq, dv = _replace(dq, a, qdd), _replace(dv, a, qdd)
    n = tree.nv
    solved = back_substitute(F, np.concatenate([-dq, -dv, np.eye(n)], axis=1))
    return solved[:, :n], solved[:, n : 2 * n], solved[:, 2 * n :]


def hessian(tree: Tree, q: Array, v: Array, a: Array, weights: Array) -> Array:
    """∂²(λ·τ) in (q, v, a), (3n, 3n), by differentiating λ·τ twice."""
    tau = recursive.inverse_dynamics(tree, q, v, a)
    total = sum((w * t for w, t in zip(weights, tau)), 0.0)
    H, _ = ca.hessian(to_casadi(pack([total])), to_casadi(np.concatenate([q, v, a])))
    return array_of(H)


def to_tangent(tree: Tree, q: Array, J: Array) -> Array:
    """Columns for the coordinates of a floating base → columns for its six tangent directions (body
    axes)."""
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
        epsilon = pack([x, y, z])
        rate = np.concatenate([w * np.eye(3) + skew(epsilon), -epsilon[None, :]]) * 0.5
        columns += [
            J[:, body.q : body.q + 3] @ placement(body, q).turn,
            J[:, body.q + 3 : body.q + 7] @ rate,
        ]
    return np.concatenate(columns, axis=1)


def jacobian(f: Array, x: Array) -> Array:
    """∂f/∂x as an array of symbols."""
    return array_of(ca.jacobian(to_casadi(f), to_casadi(x)))


def _replace(matrix: Array, x: Array, value: Array) -> Array:
    """The matrix with symbols x replaced by expressions."""
    return array_of(ca.substitute(to_casadi(matrix), to_casadi(x), to_casadi(value)))


def array_of(M: ca.SX) -> Array:
    """A CasADi matrix as an array of symbols."""
    return from_casadi_column(ca.vec(ca.densify(M).T), M.shape)
