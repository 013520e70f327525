"""Kinetic and potential energy, momentum. Plain functions on any number type."""

from __future__ import annotations

import numpy as np

from armature.dynamics.recursion.kinematics import WORLD, Pose, motions, placement, rate, still
from armature.dynamics.recursion.sweep import base_to_tip
from armature.robot.tree import Body, Tree
from armature.spatial.numbers import Number
from armature.spatial.vectors import Array, cross, dot


def body_poses(tree: Tree, q: Array) -> list[Pose]:
    """Pose of every body's frame in the world."""

    def step(i: int, body: Body, parent: Pose) -> Pose:
        place = placement(body, q)
        return Pose(parent.R @ place.matrix(), parent.R @ place.p + parent.p)

    return base_to_tip(tree, step, WORLD)


def kinetic_energy(tree: Tree, q: Array, v: Array) -> Number:
    """T = Σ ½ m u² + u·(ω × h) + ½ ω·Jω, and for each rotor ½ d q̇ᵣ² + d q̇ᵣ ε·ω, J."""
    moving = motions(tree, q, v, np.zeros(tree.nv), still())
    total: Number = 0.0
    for body, m in zip(tree.bodies, moving):
        total = (
            total
            + 0.5 * body.mass * dot(m.u, m.u)
            + dot(m.u, cross(m.w, body.first_moment))
            + 0.5 * dot(m.w, body.inertia @ m.w)
        )
        if body.rotor:
            speed = body.ratio * rate(body, v)
            carrier = moving[body.parent].w if body.parent >= 0 else np.zeros(3)
            total = total + body.rotor * speed * (0.5 * speed + dot(body.rotor_axis, carrier))
    return total


def potential_energy(tree: Tree, q: Array) -> Number:
    """V = −Σ g·(m p + R h), J; zero at the world's origin."""
    total: Number = 0.0
    for body, pose in zip(tree.bodies, body_poses(tree, q)):
        total = total - dot(tree.gravity, body.mass * pose.p + pose.R @ body.first_moment)
    return total


def momentum(tree: Tree, q: Array, v: Array) -> Array:
    """Linear momentum and angular momentum about the world's origin, (6,), world axes, rotors
    included."""
    moving = motions(tree, q, v, np.zeros(tree.nv), still())
    poses = body_poses(tree, q)
    linear, angular = np.zeros(3), np.zeros(3)
    for body, m, pose in zip(tree.bodies, moving, poses):
        p = pose.R @ (body.mass * m.u + cross(m.w, body.first_moment))
        spin = pose.R @ (body.inertia @ m.w + cross(body.first_moment, m.u))
        linear, angular = linear + p, angular + spin + cross(pose.p, p)
        if body.rotor:
            carrier = poses[body.parent].R if body.parent >= 0 else np.eye(3)
            angular = angular + carrier @ (
                body.rotor * body.ratio * rate(body, v) * body.rotor_axis
            )
    return np.concatenate([linear, angular])
