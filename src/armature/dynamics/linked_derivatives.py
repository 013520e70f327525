"""First derivatives for long mechanisms: the loop over the links carries a directional derivative,
one row for each direction."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.dynamics import linked
from armature.dynamics.recursion.kinematics import placement
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import skew


def inverse(
    robot: Robot, q: Any, v: Any, a: Any, source: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂τ/∂q (tangent space), ∂τ/∂v, ∂τ/∂a = M, each (..., n, n)."""
    tree, n = robot.tree, robot.nv
    batch, (q, v, a) = linked.rows_of({"q": (q, tree.nq), "v": (v, n), "a": (a, n)})
    dq, dv = np.empty((len(q), n, n)), np.empty((len(q), n, n))
    zero_q, zero_v = np.zeros((n, tree.nq)), np.zeros((n, n))
    for row in range(len(q)):
        state = q[row], v[row], a[row]
        dq[row] = _along(robot, state, (tangent_directions(tree, q[row]), zero_v, zero_v), source).T
        dv[row] = _along(robot, state, (zero_q, np.eye(n), zero_v), source).T
    M = linked.mass_matrix(robot, q, source)
    return dq.reshape(*batch, n, n), dv.reshape(*batch, n, n), M.reshape(*batch, n, n)


def forward(
    robot: Robot, q: Any, v: Any, tau: Any, source: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂q̈/∂q = −M⁻¹ ∂τ/∂q, ∂q̈/∂v = −M⁻¹ ∂τ/∂v at a = q̈, and M⁻¹."""
    qdd = linked.run(robot, "forward_dynamics", source, q, v, tau, None)
    dq, dv, M = inverse(robot, q, v, qdd, source)
    inverse_M = np.linalg.inv(M)
    return -inverse_M @ dq, -inverse_M @ dv, inverse_M


def _along(
    robot: Robot, state: tuple[np.ndarray, ...], directions: tuple[np.ndarray, ...], source: str
) -> np.ndarray:
    """dτ (directions, n) of inverse dynamics along rows of directions in q, v and a."""
    tree = robot.tree
    program = linked.program_of(robot, "inverse_dynamics", source, tangent=True)
    program.base["spin"][:] = 0.0
    program.base["spin"][:, 6:9] = -tree.gravity
    count = len(directions[0])
    arrays = [
        paired(tree, np.broadcast_to(x, d.shape), d, k == 0)
        for k, (x, d) in enumerate(zip(state, directions))
    ]
    out = np.empty((count, 2 * tree.nv))
    program.run([*arrays, out], count)
    return unpaired(tree, out)


def paired(tree: Tree, values: np.ndarray, tangents: np.ndarray, coordinates: bool) -> np.ndarray:
    """Rows in which each body's values are followed by their tangents."""
    rows = np.empty((len(values), 2 * values.shape[1]))
    for start, size in _spans(tree, coordinates):
        rows[:, 2 * start : 2 * start + size] = values[:, start : start + size]
        rows[:, 2 * start + size : 2 * (start + size)] = tangents[:, start : start + size]
    return rows


def unpaired(tree: Tree, rows: np.ndarray) -> np.ndarray:
    """The tangents of rows made of pairs."""
    tangents = np.empty((len(rows), rows.shape[1] // 2))
    for start, size in _spans(tree, False):
        tangents[:, start : start + size] = rows[:, 2 * start + size : 2 * (start + size)]
    return tangents


def _spans(tree: Tree, coordinates: bool) -> list[tuple[int, int]]:
    """First index and number of each body's entries in q (coordinates) or in v."""
    free = 7 if coordinates else 6
    return [((b.q if coordinates else b.v), free if b.kind == "free" else 1) for b in tree.bodies]


def tangent_directions(tree: Tree, q: np.ndarray) -> np.ndarray:
    """(nv, nq): the change of q along each unit of v; ẋ = R u and quaternion rate ½ [w E + ⟨ε⟩;
    −εᵀ] ω for a floating base."""
    directions = np.zeros((tree.nv, tree.nq))
    for body in tree.bodies:
        if body.kind != "free":
            directions[body.v, body.q] = 1.0
            continue
        turn = placement(body, q).turn
        epsilon, w = q[body.q + 3 : body.q + 6], q[body.q + 6]
        rate = 0.5 * np.concatenate([w * np.eye(3) + skew(epsilon), -epsilon[None, :]])
        directions[body.v : body.v + 3, body.q : body.q + 3] = np.asarray(turn).T
        directions[body.v + 3 : body.v + 6, body.q + 3 : body.q + 7] = rate.T
    return directions
