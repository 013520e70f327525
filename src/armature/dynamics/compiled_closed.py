"""The closed forms (Z2–Z4) as public, batched functions: compiled on first use and kept with the
robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.annotations import show
from armature.dynamics.differentiation import closed_form, derivatives, differentiated, gradient
from armature.dynamics.kernels import kernel
from armature.dynamics.recursion import mass
from armature.errors import ArgumentError
from armature.kernel.trace import Shape
from armature.robot import guard
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import Array

# up to here theorem 3 needs fewer operations for the symbols d than automatic differentiation
# (docs/closed_forms.md)
FEW_JOINTS = 3
MOST_OUTPUTS = 200_000  # numbers in one result: beyond, the machine code would take minutes to make
MOST_ORDER = 16


def kinematic_derivatives(
    robot: Robot, q: Any, link: str, order: int = 1, at: Any = None, axes: str = "world"
) -> np.ndarray:
    """Derivatives of the Jacobian of a point of a link, of any order, without differentiation
    (1.16), (1.22).

    Returns (..., 6, n, n, …): [:, i, t₁, …, t_p] is the p-th derivative of joint i's column by
    q_{t₁} … q_{t_p}; order 0 is the Jacobian.
    at: the point in the link's frame, (..., 3), m, its origin by default.
    axes: "world" (derivatives of `arm.jacobian`) or "link" (the paper's l: the twist in the link's
    own axes)."""
    guard.known("link", link, robot.tree.frames)
    tree, order = robot.tree, _order(order, 6 * robot.nv, robot.nv)
    if axes not in ("world", "link"):
        raise ArgumentError(
            f"axes is {axes!r}; use 'world' (as arm.jacobian) or 'link' (the link's own)"
        )
    closed_form.refuse_floating(tree)
    function = closed_form.jacobian_derivatives if axes == "world" else closed_form.link_columns
    plain = lambda tree, q, at: function(tree, q, link, at, order)
    inputs: dict[str, Shape | int] = {"q": tree.nq, "at": 3}
    return kernel(robot, "kinematic_derivatives", plain, inputs, link, order, axes, masses=False)(
        q, np.zeros(3) if at is None else at
    )


def coriolis_tensor(robot: Robot, q: Any) -> np.ndarray:
    """The symbols d (2.14), (..., n, n, n): Σ d[i, s, j] v_s v_j are the centrifugal and Coriolis
    forces of joint i; symmetric in s and j.

    With a floating base the rates of its pose are v, not coordinates: d is then ½ ∂²b/∂v_s∂v_j.
    """
    tree = robot.tree
    plain = symbols_by_differentiation if tree.nv > FEW_JOINTS else closed_form.coriolis_symbols
    plain = symbols_by_rates if tree.nq != tree.nv else plain
    return kernel(robot, "coriolis_tensor", plain, {"q": tree.nq})(q)


def symbols_by_differentiation(tree: Tree, q: Array) -> Array:
    """(2.14) with the derivatives of the traced M."""
    n = tree.nv
    dA = differentiated.jacobian(mass.mass_matrix(tree, q).ravel(), q).reshape(n, n, n)
    return 0.5 * (np.swapaxes(dA, 1, 2) + dA - np.moveaxis(dA, 2, 0))


def symbols_by_rates(tree: Tree, q: Array) -> Array:
    """∂b/∂v is linear in v: its values at unit velocities."""
    rest = np.zeros(tree.nv)
    at = [gradient.inverse_dynamics_gradient(tree, q, e, rest).dv for e in np.eye(tree.nv)]
    return 0.5 * np.stack(at, axis=-1)


def coriolis_matrix(robot: Robot, q: Any, v: Any) -> np.ndarray:
    """C(q, v) (..., n, n) with C v = the centrifugal and Coriolis forces, C_ij = Σ d[i, s, j] v_s;

    Ṁ − 2C is skew (fixed base)."""

    def plain(tree, q, v):
        return 0.5 * gradient.inverse_dynamics_gradient(tree, q, v, np.zeros(tree.nv)).dv

    return kernel(robot, "coriolis_matrix", plain, {"q": robot.nq, "v": robot.nv})(q, v)


def inertia_derivatives(robot: Robot, q: Any, order: int = 1) -> np.ndarray:
    """Derivatives of the mass matrix of any order by theorem 3, (2.13): (..., n, n, n, …); [i, j,
    t₁, …] = ∂ᵖa_ij/∂q_{t₁}…"""
    tree, order = robot.tree, _order(order, robot.nv**2, robot.nv)
    closed_form.refuse_floating(tree)
    plain = lambda tree, q: closed_form.inertia_derivatives(tree, q, order)
    return kernel(robot, "inertia_derivatives", plain, {"q": tree.nq}, order)(q)


def inverse_dynamics_hessian(robot: Robot, q: Any, v: Any, a: Any, weights: Any) -> np.ndarray:
    """All second derivatives of λ·τ in (q, v, a), (..., 3n, 3n), symmetric.  weights: λ (...,
    n)."""
    tree = robot.tree
    closed_form.refuse_floating(tree)
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "a": tree.nv, "weights": tree.nv}
    return kernel(robot, "inverse_dynamics_hessian", derivatives.hessian, inputs)(q, v, a, weights)


def _order(order: int, first: int, n: int) -> int:
    """A whole number ≥ 0 whose result is not absurdly large."""
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order < 0:
        raise ArgumentError(f"order is {order!r}; give a whole number: 0, 1, 2, …")
    if order > MOST_ORDER:
        raise ArgumentError(
            f"order is {show(order)}, the limit is {MOST_ORDER}: take a lower order"
        )
    if (count := first * n**order) > MOST_OUTPUTS:
        raise ArgumentError(
            f"order {order} with {n} joints has {count} derivatives; the limit is {MOST_OUTPUTS}:"
            " take a lower order"
        )
    return int(order)
