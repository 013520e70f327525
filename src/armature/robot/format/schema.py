"""What a robot's YAML may say, as pydantic models: every mistake is reported at once, with its
path."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from armature.document import suggestion
from armature.drive.friction import Friction
from armature.robot import frames
from armature.robot.format.quantities import (
    Acceleration,
    Angle,
    Bound,
    Coordinate,
    Jerk,
    Length,
    Mass,
    Moment,
    Number,
    Rate,
    Torque,
    TorqueRate,
)
from armature.robot.loop import LoopKind
from armature.robot.parts import Kind
from armature.robot.structure import MOST_LINKS

Name = Annotated[str, Field(min_length=1, max_length=1000)]
Point = tuple[Length, Length, Length]
LETTERS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def _direction(value: Any) -> Any:
    """x, y, z, -x, … as vectors."""
    if not isinstance(value, str):
        return value
    letter, sign = value.strip().lstrip("+-"), -1.0 if value.strip().startswith("-") else 1.0
    if letter not in LETTERS:
        raise ValueError(f"{value!r} is no direction; give x, y, z, -x, -y, -z or three numbers")
    return tuple(sign * c + 0.0 for c in LETTERS[letter])


Direction = Annotated[
    tuple[Number, Number, Number],
    BeforeValidator(_direction),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["x", "y", "z", "-x", "-y", "-z"]},
                {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
            ]
        }
    ),
]


class Part(BaseModel):
    """A mapping that knows its keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class LimitsPart(Part):
    """Limits of a joint."""

    lower: Bound = float("-inf")
    upper: Bound = float("inf")
    velocity: Rate = float("inf")
    acceleration: Acceleration = float("inf")
    jerk: Jerk = float("inf")
    torque: Torque = float("inf")
    torque_rate: TorqueRate = float("inf")


class RotorPart(Part):
    """The rotor of a joint's motor."""

    inertia: Moment
    ratio: Number = 1.0
    axis: Direction | None = None


class MimicPart(Part):
    """A joint driven by another."""

    joint: Name
    multiplier: Number = 1.0
    offset: Coordinate = 0.0


class ShapePart(Part):
    """A uniform solid around the link's centre of mass, from which its inertia follows."""

    kind: Literal["box", "rod", "cylinder", "sphere"]
    size: Point | None = None
    length: Length | None = None
    radius: Length | None = None
    along: Literal["x", "y", "z"] = "z"

    @model_validator(mode="after")
    def _complete(self) -> ShapePart:
        needed = {
            "box": ("size",),
            "rod": ("length",),
            "cylinder": ("radius", "length"),
            "sphere": ("radius",),
        }[self.kind]
        for key in ("size", "length", "radius"):
            if (getattr(self, key) is not None) != (key in needed):
                raise ValueError(f"a {self.kind} is described by {' and '.join(needed)}")
        return self

    def inertia(self, m: float) -> frames.Inertia:
        """Moments (kg·m²) about the centre of a uniform solid of mass m (kg)."""
        if self.kind == "box" and self.size is not None:
            x, y, z = (s * s for s in self.size)
            return (m * (y + z) / 12, m * (x + z) / 12, m * (x + y) / 12, 0.0, 0.0, 0.0)
        r, h = self.radius or 0.0, self.length or 0.0
        if self.kind == "sphere":
            return (0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r, 0.0, 0.0, 0.0)
        across, along = m * (3 * r * r + h * h) / 12, m * r * r / 2
        moments = [along if axis == self.along else across for axis in "xyz"]
        return (moments[0], moments[1], moments[2], 0.0, 0.0, 0.0)


class VisualPart(Part):
    """A shape for the pictures."""

    shape: Literal["box", "cylinder", "capsule", "sphere", "mesh"]
    size: tuple[Length, ...]
    position: Point = (0.0, 0.0, 0.0)
    rotation: (
        tuple[
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
        ]
        | None
    ) = None
    file: str | None = None
    colour: tuple[Number, Number, Number, Number] | None = None


class BodyPart(Part):
    """A link's mass."""

    name: Name | None = None
    mass: Mass = 0.0
    com: Point = (0.0, 0.0, 0.0)
    inertia: tuple[Moment, ...] | None = None
    shape: ShapePart | None = None
    visuals: tuple[VisualPart, ...] = ()

    @model_validator(mode="after")
    def _one_inertia(self) -> BodyPart:
        if self.inertia is not None and len(self.inertia) not in (3, 6):
            raise ValueError(
                f"inertia has {len(self.inertia)} values; give 3 (xx, yy, zz) or 6 (xx, yy, zz, xy,"
                " xz, yz)"
            )
        if self.inertia is not None and self.shape is not None:
            raise ValueError("both inertia and shape are given; give one of them")
        return self

    def moments(self) -> frames.Inertia:
        """(xx, yy, zz, xy, xz, yz) about the centre of mass, kg·m²; zeros for a point mass."""
        if self.shape is not None:
            return self.shape.inertia(self.mass)
        xx, yy, zz, xy, xz, yz = (*(self.inertia or (0.0, 0.0, 0.0)), 0.0, 0.0, 0.0)[:6]
        return (xx, yy, zz, xy, xz, yz)


def _friction(value: Any) -> Any:
    """Friction as a mapping of the fields that the drives define."""
    names = [f.name for f in fields(Friction)]
    if isinstance(value, dict):
        for key in value:
            if key not in names:
                raise ValueError(f"there is no {key!r} in friction; {suggestion(key, names)}")
    return value


class LinkPart(BodyPart):
    """A link and the joint that carries it."""

    joint: Name | None = None
    kind: Kind | None = None
    parent: Name | None = None
    offset: Point = (0.0, 0.0, 0.0)
    rpy: tuple[Angle, Angle, Angle] | None = None
    turns: tuple[Angle, Angle, Angle] | None = None
    rotation: (
        tuple[
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
        ]
        | None
    ) = None
    axis: Direction | None = None
    n: Annotated[int, Field(ge=1, le=6, strict=True)] | None = None
    limits: LimitsPart = LimitsPart()
    friction: Annotated[dict[str, Number], BeforeValidator(_friction)] = Field(default_factory=dict)
    rotor: RotorPart | None = None
    mimic: MimicPart | None = None
    reduction: Number | None = None
    passive: bool = False

    @model_validator(mode="after")
    def _one_way(self) -> LinkPart:
        if sum(x is not None for x in (self.rpy, self.turns, self.rotation)) > 1:
            raise ValueError(
                "the frame's rotation is given more than once; give one of rpy, turns, rotation"
            )
        if (self.n is None) == (self.kind is None):
            raise ValueError(
                "give the joint's kind (revolute, continuous, prismatic, planar, floating, fixed),"
                " or else n in 1..6"
            )
        if self.n is not None and self.axis is not None:
            raise ValueError(
                "n already says the axis (1-3 along, 4-6 about x, y, z); leave axis out"
            )
        return self


class LoopPart(Part):
    """A joint that closes a loop between two links; b's side may be left to the reference
    coordinates, {joint: value}."""

    name: Name | None = None
    kind: LoopKind
    a: Name
    b: Name
    at_a: Point = (0.0, 0.0, 0.0)
    at_b: Point | None = None
    rpy_a: tuple[Angle, Angle, Angle] | None = None
    rpy_b: tuple[Angle, Angle, Angle] | None = None
    rotation_a: (
        tuple[
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
        ]
        | None
    ) = None
    rotation_b: (
        tuple[
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
            tuple[Number, Number, Number],
        ]
        | None
    ) = None
    axis: Direction = (0.0, 0.0, 1.0)
    reference: dict[str, Coordinate] = Field(default_factory=dict)


class LoopsFile(Part):
    """A side file: loops, and joints without a motor."""

    loops: tuple[LoopPart, ...] = ()
    passive: tuple[Name, ...] = ()


def _named(value: Any) -> Any:
    """A body given by its name alone."""
    return {"name": value} if isinstance(value, str) else value


class ModelErrorPart(Part):
    """What identification found of the model's errors, in %."""

    torque: Number
    energy: Number
    held_out: bool = True


class RobotPart(Part):
    """The whole file."""

    armature: Literal[1] = 1
    name: str = "robot"
    gravity: tuple[Number, Number, Number] = (0.0, 0.0, -9.81)
    base: Annotated[BodyPart, BeforeValidator(_named)] = BodyPart()
    links: tuple[LinkPart, ...] = Field((), max_length=MOST_LINKS)
    loops: tuple[LoopPart, ...] = Field((), max_length=MOST_LINKS)
    drives: dict[str, Any] | None = (
        None  # these three are read by the drives' own reader, with its units and catalogue
    )
    couplings: list[Any] | None = None
    supply: str | dict[str, Any] | None = None
    model_error: ModelErrorPart | None = None
