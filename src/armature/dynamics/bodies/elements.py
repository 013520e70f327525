"""Force elements between bodies or on joints: springs, dampers, given forces and torques, and the
user's own.

They act on robots (on links, points in the link's frame) and on mechanisms (on bodies, points in
the body's frame at its centre of mass) alike; "ground" is the world, points in world axes. Plain
formulas on any number type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics.recursion import kinematics
from armature.errors import ArgumentError
from armature.robot.tree import Tree
from armature.spatial.numbers import Number, sqrt
from armature.spatial.vectors import Array, cross, dot, pack

GROUND = "ground"
Vec3 = tuple[float, float, float]


class Moving(NamedTuple):
    """A frame in motion, all in world axes: orientation R (3, 3), origin p, velocity v of the
    origin, angular velocity w, each (3,)."""

    R: Array
    p: Array
    v: Array
    w: Array

    def point(self, at: Array) -> Array:
        """World position of a point of the frame."""
        return self.p + self.R @ at

    def velocity(self, at: Array) -> Array:
        """World velocity of a point fixed in the frame."""
        return self.v + cross(self.w, self.R @ at)


class Load(NamedTuple):
    """Force at a frame's origin and torque about it, world axes, N and N·m."""

    force: Array
    torque: Array


def load_at(frame: Moving, at: Array, force: Array) -> Load:
    """A force at a point of a frame, as a load at its origin."""
    return Load(force, cross(frame.R @ at, force))


@dataclass(frozen=True)
class Element:
    """Base of the elements that act on bodies."""

    @property
    def bodies(self) -> tuple[str, ...]:
        """The bodies or links that it acts on."""
        raise NotImplementedError

    def loads(self, t: Number, frames: Mapping[str, Moving]) -> dict[str, Load]:
        """What it does to each body."""
        raise NotImplementedError

    def joint_forces(self, tree: Tree, t: Number, q: Array, v: Array) -> Array:
        """Generalised forces (nv,) on a robot: Σ JᵀF."""
        frames, jacobians = {GROUND: STILL}, {}
        for link in self.bodies:
            if link != GROUND:
                known_link(tree, link)
                pose, J = (
                    kinematics.link_pose(tree, q, link),
                    kinematics.jacobian(tree, q, link, np.zeros(3)),
                )
                velocity = J @ v
                frames[link], jacobians[link] = (
                    Moving(pose.R, pose.p, velocity[:3], velocity[3:]),
                    J,
                )
        total = np.zeros(tree.nv)
        for link, load in self.loads(t, frames).items():
            if link in jacobians:
                total = total + jacobians[link].T @ np.concatenate([load.force, load.torque])
        return total


STILL = Moving(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


def known_link(tree: Tree, link: str) -> None:
    if link not in tree.frames:
        raise ArgumentError(
            f"a force element acts on {link!r}, which is no link; the links are:"
            f" {', '.join(tree.frames)} and 'ground'"
        )


@dataclass(frozen=True)
class Spring(Element):
    """A spring and damper on the line between a point of `a` and a point of `b`: tension k (L − L₀)
    + c L̇, N.

    at_a, at_b: the points, m.  stiffness k: N/m.  rest_length L₀: m.  damping c: N·s/m.
    """

    a: str
    b: str
    at_a: Vec3 = (0.0, 0.0, 0.0)
    at_b: Vec3 = (0.0, 0.0, 0.0)
    stiffness: float = 0.0
    rest_length: float = 0.0
    damping: float = 0.0

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.a, self.b

    def loads(self, t: Number, frames: Mapping[str, Moving]) -> dict[str, Load]:
        A, B, at_a, at_b = frames[self.a], frames[self.b], np.array(self.at_a), np.array(self.at_b)
        d = B.point(at_b) - A.point(at_a)
        length = sqrt(dot(d, d))
        rate = dot(d, B.velocity(at_b) - A.velocity(at_a)) / length
        pull = d * ((self.stiffness * (length - self.rest_length) + self.damping * rate) / length)
        return {self.a: load_at(A, at_a, pull), self.b: load_at(B, at_b, -pull)}


@dataclass(frozen=True)
class Force(Element):
    """A given force (N) at a point of a body and torque (N·m) on it; `follows`: in the body's axes
    instead of the world's.

    reaction: the body that feels the opposite torque (a motor between two bodies), the ground by
    default."""

    body: str
    force: Vec3 = (0.0, 0.0, 0.0)
    torque: Vec3 = (0.0, 0.0, 0.0)
    at: Vec3 = (0.0, 0.0, 0.0)
    follows: bool = False
    reaction: str = GROUND

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.body, self.reaction

    def loads(self, t: Number, frames: Mapping[str, Moving]) -> dict[str, Load]:
        frame = frames[self.body]
        force, torque = np.array(self.force), np.array(self.torque)
        if self.follows:
            force, torque = frame.R @ force, frame.R @ torque
        at = load_at(frame, np.array(self.at), force)
        return {
            self.body: Load(at.force, at.torque + torque),
            self.reaction: Load(np.zeros(3), -torque),
        }


@dataclass(frozen=True)
class CustomForce(Element):
    """The user's own law: function(t, frames) → {body: (force, torque)}, at the frames' origins,
    world axes; frames[body] is a `Moving`.

    It is called once, with symbols, and compiled: a formula without `if` on values.
    """

    acts_on: tuple[str, ...]
    function: Callable[[Number, Mapping[str, Moving]], Mapping[str, Any]]

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(self.acts_on)

    def loads(self, t: Number, frames: Mapping[str, Moving]) -> dict[str, Load]:
        return {
            body: Load(pack(list(f)), pack(list(n)))
            for body, (f, n) in self.function(t, frames).items()
        }


@dataclass(frozen=True)
class TorsionSpring:
    """A spring and damper on a joint (a robot's) or coordinate (a mechanism's): −k (s − s₀) − c ṡ.

    stiffness k: N·m/rad or N/m.  rest s₀: rad or m.  damping c: N·m·s/rad or N·s/m.
    """

    joint: str
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0

    def effort(self, s: Number, rate: Number) -> Number:
        """Torque or force on the coordinate."""
        return -self.stiffness * (s - self.rest) - self.damping * rate

    def joint_forces(self, tree: Tree, t: Number, q: Array, v: Array) -> Array:
        """Generalised forces (nv,) on a robot."""
        body = next((b for b in tree.bodies if b.name == self.joint and b.kind != "free"), None)
        if body is None:
            names = ", ".join(b.name for b in tree.bodies if b.kind != "free")
            raise ArgumentError(
                f"a torsion spring acts on {self.joint!r}, which is no moving joint; the joints"
                f" are: {names}"
            )
        effort = self.effort(kinematics.coordinate(body, q), kinematics.rate(body, v))
        return pack([body.multiplier * effort if k == body.v else 0.0 for k in range(tree.nv)])
