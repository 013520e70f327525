"""What a robot is: links, joints and gravity, frozen and hashable. Nothing here computes dynamics."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from armature.drive.friction import Friction

if TYPE_CHECKING:
    from armature.robot.tree import Tree

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]
Kind = Literal["revolute", "continuous", "prismatic", "planar", "floating", "fixed"]
IDENTITY: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vec3 = (0.0, 0.0, 0.0)
INF = math.inf


@dataclass(frozen=True)
class Link:
    """A rigid body.

    mass: kg, ≥ 0.  com: centre of mass in the link's frame, m.
    inertia: (xx, yy, zz, xy, xz, yz) about the centre of mass, in the axes of the link's frame, kg·m²; zeros for a point mass.
    """

    name: str
    mass: float = 0.0
    com: Vec3 = ZERO
    inertia: tuple[float, float, float, float, float, float] = (0.0,) * 6
    visuals: tuple = field(default=(), compare=False)  # what the pictures draw; no influence on dynamics


@dataclass(frozen=True)
class Limits:
    """Limits of one joint, SI; infinite where there is none. torque is a force for a prismatic joint."""

    lower: float = -INF
    upper: float = INF
    velocity: float = INF
    acceleration: float = INF
    jerk: float = INF
    torque: float = INF
    torque_rate: float = INF


@dataclass(frozen=True)
class Rotor:
    """The rotor of a joint's motor, carried by the joint's parent link (V4).

    inertia: d, kg·m², about the rotor's own axis.  ratio: rotor angle per joint coordinate (gear ratio, signed; rad/m for a prismatic joint).
    axis: unit vector of the rotor's axis in the *parent* link's frame, which brings the gyroscopic coupling; None leaves it out (MuJoCo's armature).
    The parent link's own inertia includes the rotor, locked.
    """

    inertia: float
    ratio: float = 1.0
    axis: Vec3 | None = None


@dataclass(frozen=True)
class Mimic:
    """This joint's coordinate = multiplier × (coordinate of `joint`) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """What connects a link to its parent.

    position, rotation: the joint's frame (= the child link's frame at coordinate 0) in the parent link's frame; rotation as rows of a matrix, m.
    axis: unit vector in the joint's frame; the normal of the plane for a planar joint.
    A planar joint has coordinates (x, y, angle): along two axes of the plane, then about the normal; a floating one those of a floating base.
    """

    name: str
    kind: Kind
    parent: str
    child: str
    position: Vec3 = ZERO
    rotation: Mat3 = IDENTITY
    axis: Vec3 = (0.0, 0.0, 1.0)
    limits: Limits = Limits()
    friction: Friction = Friction()
    rotor: Rotor | None = None
    mimic: Mimic | None = None


@dataclass(frozen=True)
class Robot:
    """A mechanism: links, the joints that connect them, and gravity (m/s², world axes).

    `base` is the link that stands in the world. Joints are ordered base to tip, document order within a branch.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    base: str
    gravity: Vec3 = (0.0, 0.0, -9.81)

    @cached_property
    def tree(self) -> Tree:
        """The mechanism as numbers for the dynamics: welded links merged, one moving body for each degree of freedom."""
        from armature.robot.tree import build_tree

        return build_tree(self)

    @property
    def n(self) -> int:
        """Number of independent velocities."""
        return self.tree.nv

    @property
    def nv(self) -> int:
        """Number of independent velocities."""
        return self.tree.nv

    @property
    def nq(self) -> int:
        """Number of coordinates; differs from `nv` only with a floating base."""
        return self.tree.nq

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent moving joints in the order of q and v."""
        return self.tree.joint_names

    def with_gravity(self, gravity: Vec3) -> Robot:
        """The same robot under another gravity vector, m/s², world axes."""
        x, y, z = (float(g) for g in gravity)
        return replace(self, gravity=(x, y, z))
