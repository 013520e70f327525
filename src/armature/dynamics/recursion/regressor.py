"""Inverse dynamics as a linear map of the bodies' inertial parameters. Plain, on any number type.

τ = Y(q, q̇, q̈) π,   π = (m, h, J) of every body: mass, first moment h = m c (3), inertia about the
origin of the body's frame (xx, yy, zz, xy, xz, yz); the Newton–Euler equations f = m a + K h, n = J
ω̇ + ω × J ω + h × a are linear in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.dynamics.recursion.kinematics import placements
from armature.dynamics.recursion.recursive import FIXED, Spin, newton_euler, spin_step
from armature.dynamics.recursion.sweep import base_to_tip
from armature.robot.tree import Body, Tree
from armature.spatial.numbers import Number
from armature.spatial.vectors import Array, dot, pack

INERTIAL = 10  # m, m c (3), J (xx, yy, zz, xy, xz, yz)
INERTIA_ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def inertia_regressor(tree: Tree, q: Array, v: Array, a: Array) -> Array:
    """Y (nv · 10 nb,), row by row: joint torques per inertial parameter; rotors and friction are
    not in it."""
    places = placements(tree, q)
    start = Spin(FIXED.w, FIXED.dw, FIXED.a - FIXED.R.T @ tree.gravity)
    spins = base_to_tip(tree, lambda i, body, up: spin_step(body, places[i], up, v, a), start)
    columns = INERTIAL * len(tree.bodies)
    Y: list[list[Number]] = [[0.0] * columns for _ in range(tree.nv)]
    for k, body in enumerate(tree.bodies):
        for p in range(INERTIAL):
            f, n = newton_euler(with_unit_parameter(body, p), spins[k], None)
            i = k
            while (
                i >= 0
            ):  # the wrench goes down to the base; every joint on its way feels its share
                carrier = tree.bodies[i]
                felt = dot(carrier.axis, n if carrier.kind == "revolute" else f)
                row = Y[carrier.v]
                row[INERTIAL * k + p] = row[INERTIAL * k + p] + carrier.multiplier * felt
                f, n = places[i].wrench_to_parent(f, n)
                i = carrier.parent
    return pack([x for row in Y for x in row])


def with_unit_parameter(body: Body, p: int) -> Body:
    """The body with one inertial parameter 1 and all others 0."""
    h, J = np.zeros(3), np.zeros((3, 3))
    if 1 <= p <= 3:
        h[p - 1] = 1.0
    elif p >= 4:
        i, j = INERTIA_ENTRIES[p - 4]
        J[i, j] = J[j, i] = 1.0
    return replace(body, mass=1.0 if p == 0 else 0.0, first_moment=h, inertia=J)


def inertial_parameters(body: Body) -> np.ndarray:
    """(10,) m, m c, J about the origin of the body's frame: kg, kg·m, kg·m²."""
    J = [body.inertia[i, j] for i, j in INERTIA_ENTRIES]
    return np.array([body.mass, *body.first_moment, *J], dtype=float)
