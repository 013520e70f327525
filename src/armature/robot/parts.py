"""What a robot is made of: links, joints and what belongs to them, frozen and hashable; every
number is checked when it is given."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from armature.drive.friction import Friction
from armature.errors import RobotError
from armature.robot import guard
from armature.robot.shape import IDENTITY, ZERO, Mat3, Vec3, Visual

Kind = Literal["revolute", "continuous", "prismatic", "planar", "floating", "fixed"]
INF = math.inf


def set_fields(item: object, **values: Any) -> None:
    """Store normalised values in a frozen dataclass that is being made."""
    for key, value in values.items():
        object.__setattr__(item, key, value)


@dataclass(frozen=True)
class Link:
    """A rigid body.

    mass: kg, ≥ 0.  com: centre of mass in the link's frame, m.
    inertia: (xx, yy, zz, xy, xz, yz) about the centre of mass, in the axes of the link's frame,
    kg·m²; zeros for a point mass.
    payload: how much of the mass is a payload that `Robot.with_payload` added, kg, and where; None
    where nothing is carried."""

    name: str
    mass: float = 0.0
    com: Vec3 = ZERO
    inertia: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    visuals: tuple[Visual, ...] = field(
        default=(), compare=False
    )  # what the pictures draw; no influence on dynamics
    payload: tuple[float, Vec3] | None = field(default=None, compare=False)
    collisions: tuple[Visual, ...] = field(default=(), compare=False)  # its shape for clearances

    def __post_init__(self) -> None:
        where = f"link {guard.name('link', self.name)!r}: "
        mass = guard.number(where + "mass", self.mass)
        if mass < 0.0:
            raise RobotError(
                f"{where}mass is {mass:g} kg; a mass cannot be negative: correct it (0 for a"
                " massless frame)"
            )
        com, inertia = (
            guard.vector(where + "com", self.com, 3),
            guard.vector(where + "inertia", self.inertia, 6),
        )
        set_fields(self, mass=mass, com=com, inertia=inertia, visuals=tuple(self.visuals))


@dataclass(frozen=True)
class Limits:
    """Limits of one joint, SI; infinite where there is none. torque is a force for a prismatic
    joint."""

    lower: float = -INF
    upper: float = INF
    velocity: float = INF
    acceleration: float = INF
    jerk: float = INF
    torque: float = INF
    torque_rate: float = INF

    def __post_init__(self) -> None:
        for f in fields(self):
            value = guard.number(f"limit {f.name}", getattr(self, f.name), infinite=True)
            if f.name not in ("lower", "upper") and value < 0.0:
                raise RobotError(
                    f"limit {f.name} is {value:g}; it is a magnitude: give a number ≥ 0"
                )
            set_fields(self, **{f.name: value})
        if self.lower > self.upper or self.lower == INF or self.upper == -INF:
            raise RobotError(
                f"limit lower {self.lower:g} is above upper {self.upper:g}; exchange or correct"
                " them"
            )


@dataclass(frozen=True)
class Rotor:
    """The rotor of a joint's motor, carried by the joint's parent link (V4).

    inertia: d, kg·m², about the rotor's own axis.
    ratio: rotor angle per joint coordinate (gear ratio, signed; rad/m for a prismatic joint).
    axis: unit vector of the rotor's axis in the *parent* link's frame, which brings the gyroscopic
    coupling; None leaves it out (MuJoCo's armature).
    The parent link's own inertia includes the rotor, locked.
    """

    inertia: float
    ratio: float = 1.0
    axis: Vec3 | None = None

    def __post_init__(self) -> None:
        inertia, ratio = (
            guard.number("rotor inertia", self.inertia),
            guard.number("rotor ratio", self.ratio),
        )
        if inertia < 0.0:
            raise RobotError(
                f"rotor inertia is {inertia:g} kg·m²; it cannot be negative: correct it"
            )
        set_fields(
            self,
            inertia=inertia,
            ratio=ratio,
            axis=None if self.axis is None else guard.unit("rotor axis", self.axis),
        )


@dataclass(frozen=True)
class Mimic:
    """This joint's coordinate = multiplier × (coordinate of `joint`) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        guard.name("joint to mimic", self.joint)
        set_fields(
            self,
            multiplier=guard.number("mimic multiplier", self.multiplier),
            offset=guard.number("mimic offset", self.offset),
        )


@dataclass(frozen=True)
class Joint:
    """What connects a link to its parent.

    position (m), rotation (rows of a matrix): the joint's frame (= the child link's frame at
    coordinate 0) in the parent link's frame.
    axis: direction in the joint's frame, made a unit vector; the normal of a planar joint's plane;
    fixed and floating ones have none. A planar joint has coordinates (x, y, angle): along two axes
    of the plane, then about the normal; a floating one those of a free base.
    passive: it has no motor.
    reduction: gear ratio named by the file (`<mechanicalReduction>`), signed; a note for the
    drives, no influence on dynamics."""

    name: str
    kind: Kind
    parent: str
    child: str
    position: Vec3 = ZERO
    rotation: Mat3 = IDENTITY
    axis: Vec3 = (0.0, 0.0, 1.0)
    limits: Limits = Limits()
    friction: Friction = Friction()  # noqa: RUF009 (frozen)
    rotor: Rotor | None = None
    mimic: Mimic | None = None
    reduction: float | None = None
    passive: bool = False

    def __post_init__(self) -> None:
        where = f"joint {guard.name('joint', self.name)!r}: "
        if self.kind not in get_args(Kind):
            raise RobotError(
                f"{where}its kind is {self.kind!r}; take one of {', '.join(get_args(Kind))}"
            )
        guard.name(f"link (parent of joint {self.name!r})", self.parent)
        guard.name(f"link (child of joint {self.name!r})", self.child)
        directed = self.kind not in ("fixed", "floating")
        set_fields(
            self,
            position=guard.vector(where + "position", self.position, 3),
            rotation=(
                IDENTITY
                if self.rotation == IDENTITY
                else guard.rotation(where + "rotation", self.rotation)
            ),
            axis=guard.unit(where + "axis", self.axis) if directed else (0.0, 0.0, 1.0),
            reduction=(
                None
                if self.reduction is None
                else guard.number(where + "reduction", self.reduction)
            ),
        )
