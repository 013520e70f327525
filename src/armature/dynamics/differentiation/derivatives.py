"""Derivatives of the dynamics as the library uses them: of the closed forms and of automatic
differentiation, what needs fewer operations.

Those are the closed ones, of `gradient` and `hessian`, on any number type; the counts that decide
are in docs/closed_forms.md and made by benchmarks/closed_forms.py.
"""

from __future__ import annotations

import numpy as np

from armature.dynamics.differentiation.gradient import inverse_dynamics_gradient
from armature.dynamics.differentiation.hessian import torque_hessian
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.mass import back_substitute, factor, mass_matrix
from armature.robot.tree import Tree
from armature.spatial.vectors import Array


def inverse(tree: Tree, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M: (nv, nv), in the tangent space of q."""
    return inverse_dynamics_gradient(tree, q, v, a)


def forward(tree: Tree, q: Array, v: Array, tau: Array) -> tuple[Array, Array, Array]:
    """∂q̈/∂q = −M⁻¹ ∂τ/∂q, ∂q̈/∂v = −M⁻¹ ∂τ/∂v, ∂q̈/∂τ = M⁻¹, the derivatives of τ taken at a =
    q̈."""
    _, dq, dv, dtau = forward_with_value(tree, q, v, tau)
    return dq, dv, dtau


def forward_with_value(
    tree: Tree, q: Array, v: Array, tau: Array
) -> tuple[Array, Array, Array, Array]:
    """q̈ and its derivatives in q, v and τ, from one factorisation of M."""
    F, n = factor(mass_matrix(tree, q)), tree.nv
    qdd = back_substitute(F, tau - recursive.bias_forces(tree, q, v))
    dq, dv, _ = inverse_dynamics_gradient(tree, q, v, qdd)
    solved = back_substitute(F, np.concatenate([-dq, -dv], axis=1))
    return qdd, solved[:, :n], solved[:, n:], symmetric_inverse(F)


def hessian(tree: Tree, q: Array, v: Array, a: Array, weights: Array) -> Array:
    """∂²(λ·τ) in (q, v, a), (3n, 3n), λ = weights (n,); without a floating base."""
    return torque_hessian(tree, q, v, a, weights)


def symmetric_inverse(F: Array) -> Array:
    """M⁻¹ = L⁻¹D⁻¹L⁻ᵀ from the factors of M = LᵀDL, computed on one side of the diagonal."""
    n = len(F)
    X = np.zeros((n, n), dtype=F.dtype)  # L⁻¹, unit lower
    for k in range(n):
        X[k, k] = 1.0
        for j in range(k):
            X[k, j] = sum((-F[k, i] * X[i, j] for i in range(j, k)), 0.0)
    W = np.zeros((n, n), dtype=F.dtype)
    scaled = X / np.diag(F)
    for i in range(n):
        for j in range(i + 1):
            W[i, j] = W[j, i] = sum((scaled[i, k] * X[j, k] for k in range(j + 1)), 0.0)
    return W
