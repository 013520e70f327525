"""Where the bodies are and how they move: placements, poses, Jacobians, velocities and
accelerations of points (Z8).

Plain functions on any number type; q, v, a are arrays of shape (nq,), (nv,), (nv,).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armature.dynamics.recursion.sweep import base_to_tip
from armature.robot.tree import Body, Tree
from armature.spatial.inertia import Blocks, Rigid, rotate_symmetric, shift_blocks, shift_rigid
from armature.spatial.numbers import cos, sin
from armature.spatial.vectors import Array, about_axis, cross, from_quaternion, pack, skew


class Placement(NamedTuple):
    """A body's frame in its parent's: x_parent = fixed · turn · x + p.

    The constant and the moving rotation stay apart: applied one after the other they cost less than
    their dense product."""

    fixed: Array
    turn: Array | None
    p: Array

    def matrix(self) -> Array:
        """R = fixed · turn."""
        return self.fixed if self.turn is None else self.fixed @ self.turn

    def to_parent(self, x: Array) -> Array:
        """Turn a vector into the parent's axes."""
        return self.fixed @ x if self.turn is None else self.fixed @ (self.turn @ x)

    def to_child(self, x: Array) -> Array:
        """Turn a vector into the body's axes."""
        y = self.fixed.T @ x
        return y if self.turn is None else self.turn.T @ y

    def rotate_symmetric(self, S: Array) -> Array:
        """R S Rᵀ."""
        if self.turn is not None:
            S = rotate_symmetric(self.turn, S)
        return rotate_symmetric(self.fixed, S)

    def rotate(self, B: Array) -> Array:
        """R B Rᵀ."""
        if self.turn is not None:
            B = self.turn @ B @ self.turn.T
        return self.fixed @ B @ self.fixed.T

    def rigid_to_parent(self, body: Rigid) -> Rigid:
        """A rigid body's inertia about the parent's origin, in the parent's axes."""
        return shift_rigid(
            Rigid(body.m, self.to_parent(body.h), self.rotate_symmetric(body.J)), self.p
        )

    def blocks_to_parent(self, P: Blocks) -> Blocks:
        """Xᵀ P X."""
        return shift_blocks(
            Blocks(self.rotate_symmetric(P.A), self.rotate(P.B), self.rotate_symmetric(P.C)), self.p
        )

    def wrench_to_parent(self, force: Array, torque: Array) -> tuple[Array, Array]:
        """A wrench about the body's origin as one about the parent's, in the parent's axes."""
        f = self.to_parent(force)
        return f, self.to_parent(torque) + cross(self.p, f)


def placement(body: Body, q: Array) -> Placement:
    """The body's frame in its parent's at coordinates q."""
    if body.kind == "free":
        x, y, z, qx, qy, qz, qw = q[body.q : body.q + 7]
        return Placement(body.R, from_quaternion(qx, qy, qz, qw), body.p + body.R @ pack([x, y, z]))
    s = coordinate(body, q)
    if body.kind == "prismatic":
        return Placement(body.R, None, body.p + (body.R @ body.axis) * s)
    return Placement(body.R, about_axis(body.axis, cos(s), sin(s)), body.p)


def coordinate(body: Body, q: Array):
    """Angle or displacement of a one-axis joint: multiplier · q + offset."""
    s = q[body.q] if body.multiplier == 1.0 else body.multiplier * q[body.q]
    return s + body.offset if body.offset else s


def rate(body: Body, v: Array):
    """Velocity (or acceleration) of a one-axis joint: multiplier · v."""
    return v[body.v] if body.multiplier == 1.0 else body.multiplier * v[body.v]


def placements(tree: Tree, q: Array) -> list[Placement]:
    """Every body's frame in its parent's."""
    return [placement(body, q) for body in tree.bodies]


class Pose(NamedTuple):
    """Orientation R (3, 3) and origin p (3,) of a frame in the world: x_world = R x + p."""

    R: Array
    p: Array


WORLD = Pose(np.eye(3), np.zeros(3))


def link_pose(tree: Tree, q: Array, link: str) -> Pose:
    """Pose of a link's frame in the world."""
    frame = tree.frames[link]
    pose = WORLD
    for i in tree.path(frame.body):
        place = placement(tree.bodies[i], q)
        pose = Pose(_turn(pose.R, place), pose.R @ place.p + pose.p)
    return Pose(pose.R @ frame.R, pose.R @ frame.p + pose.p)


def _turn(R: Array, place: Placement) -> Array:
    R = R @ place.fixed
    return R if place.turn is None else R @ place.turn


def jacobian(tree: Tree, q: Array, link: str, at: Array) -> Array:
    """(6, nv): linear and angular velocity, world axes, of the point `at` (3,) of a link's frame,
    for each unit of v."""
    frame = tree.frames[link]
    pose, axes = WORLD, []
    for i in tree.path(frame.body):
        body = tree.bodies[i]
        place = placement(body, q)
        pose = Pose(_turn(pose.R, place), pose.R @ place.p + pose.p)
        axes.append((body, pose))
    point = pose.R @ (frame.R @ at + frame.p) + pose.p
    J = np.zeros(
        (6, tree.nv), dtype=object if any(p.R.dtype == object for _, p in axes) else pose.R.dtype
    )
    for body, where in axes:
        for k, column in enumerate(_columns(body, where, point)):
            J[:, body.v + k] = J[:, body.v + k] + body.multiplier * column
    return J


def _columns(body: Body, where: Pose, point: Array) -> list[Array]:
    """Velocity of a world point for each unit velocity of one joint."""
    turning = lambda e: np.concatenate([cross(e, point - where.p), e])
    sliding = lambda e: np.concatenate([e, 0.0 * e])
    if body.kind == "free":
        return [sliding(where.R[:, k]) for k in range(3)] + [
            turning(where.R[:, k]) for k in range(3)
        ]
    e = where.R @ body.axis
    return [turning(e) if body.kind == "revolute" else sliding(e)]


class Motion(NamedTuple):
    """Motion of a body's frame in its own axes: angular velocity ω, angular acceleration ω̇,
    velocity u and acceleration a of its origin."""

    w: Array
    dw: Array
    u: Array
    a: Array

    def spin(self) -> Array:
        """K = ⟨ω̇⟩ + ⟨ω⟩⟨ω⟩: a point at r has the acceleration a + K r."""
        return spin_matrix(self.w, self.dw)


def spin_matrix(w: Array, dw: Array) -> Array:
    """K = ⟨ω̇⟩ + ⟨ω⟩⟨ω⟩."""
    xx, yy, zz = -w[0] * w[0], -w[1] * w[1], -w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    rows = [
        yy + zz,
        xy - dw[2],
        xz + dw[1],
        xy + dw[2],
        xx + zz,
        yz - dw[0],
        xz - dw[1],
        yz + dw[0],
        xx + yy,
    ]
    return pack(rows, (3, 3))


def motions(tree: Tree, q: Array, v: Array, a: Array, base: Motion) -> list[Motion]:
    """Motion of every body, from that of the base."""

    def step(i: int, body: Body, parent: Motion) -> Motion:
        place = placement(body, q)
        w, dw = place.to_child(parent.w), place.to_child(parent.dw)
        u = place.to_child(parent.u + cross(parent.w, place.p))
        acc = place.to_child(parent.a + parent.spin() @ place.p)
        if body.kind == "free":
            u_rel, w_rel = v[body.v : body.v + 3], v[body.v + 3 : body.v + 6]
            acc = acc + a[body.v : body.v + 3] + cross(w_rel, u_rel) + 2.0 * cross(w, u_rel)
            return Motion(
                w + w_rel, dw + a[body.v + 3 : body.v + 6] + cross(w, w_rel), u + u_rel, acc
            )
        sd, sdd = rate(body, v), rate(body, a)
        if body.kind == "prismatic":
            return Motion(
                w, dw, u + body.axis * sd, acc + body.axis * sdd + 2.0 * cross(w, body.axis * sd)
            )
        return Motion(w + body.axis * sd, dw + body.axis * sdd + cross(w, body.axis * sd), u, acc)

    return base_to_tip(tree, step, base)


def still() -> Motion:
    """A base at rest."""
    zero = np.zeros(3)
    return Motion(zero, zero, zero, zero)


def point_motion(
    tree: Tree, q: Array, v: Array, a: Array, link: str, at: Array
) -> tuple[Array, Array]:
    """Velocity and acceleration (6,), each (linear, angular) in world axes, of the point `at` of a
    link's frame."""
    frame = tree.frames[link]
    if frame.body < 0:
        return np.zeros(6), np.zeros(6)
    R = link_pose(tree, q, link).R @ frame.R.T
    m = motions(tree, q, v, a, still())[frame.body]
    r = frame.R @ at + frame.p
    velocity = np.concatenate([R @ (m.u + skew(m.w) @ r), R @ m.w])
    return velocity, np.concatenate([R @ (m.a + m.spin() @ r), R @ m.dw])
