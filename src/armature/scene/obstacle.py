"""Obstacles: convex shapes with a name and a pose, in the world or on a link of the robot."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError, RobotError
from armature.robot import guard
from armature.robot.shape import IDENTITY, ZERO, Mat3, Vec3

SHAPES = {
    "box": 3,
    "sphere": 1,
    "capsule": 2,
    "cylinder": 2,
    "half-space": 0,
    "hull": 0,
}  # and their numbers
FLAT = 1e-6  # m: a hull thinner than this has no inside


@dataclass(frozen=True)
class Obstacle:
    """A convex shape that a robot keeps clear of, or that it carries.

    name: several obstacles of one name are one object.  shape: "box", "sphere", "capsule",
    "cylinder", "half-space" or "hull".
    size: box edges x, y, z; radius of a sphere; radius and length (along z, without a capsule's
    caps) of a cylinder and a capsule; m.
    position (m), rotation: its frame in the world, or in the frame of the link that carries it. A
    half-space is all below its z = 0.
    margin: how far it is to be kept from, m; distances count from there.  link: the link that
    carries it; None in the world.
    points: corners of a hull in its frame, m.
    """

    name: str
    shape: str
    size: tuple[float, ...] = ()
    position: Vec3 = ZERO
    rotation: Mat3 = IDENTITY
    margin: float = 0.0
    link: str | None = None
    points: tuple[Vec3, ...] = ()

    def __post_init__(self) -> None:
        try:
            self._normalise()
        except RobotError as error:
            raise ArgumentError(str(error)) from None

    def _normalise(self) -> None:
        where = f"obstacle {guard.name('obstacle', self.name)!r}: "
        if self.shape not in SHAPES:
            raise ArgumentError(f"{where}shape = {self.shape!r} must be one of {', '.join(SHAPES)}")
        size = guard.vector(where + "size", self.size, SHAPES[self.shape])
        if (
            not all(x > 0.0 for x in size[:1])
            or not all(x >= 0.0 for x in size)
            or (self.shape == "box" and not all(size))
        ):
            raise ArgumentError(
                f"{where}size = {size} of a {self.shape} must be lengths above 0, m"
            )
        margin = guard.number(where + "margin", self.margin)
        if margin < 0.0:
            raise ArgumentError(f"{where}margin = {margin:g} m must not be negative")
        if self.shape == "half-space" and self.link is not None:
            raise ArgumentError(
                f"{where}a half-space has no end and cannot be carried by {self.link}; give a box"
            )
        points = tuple(guard.vector(where + "points", p, 3) for p in self.points)
        if self.shape == "hull":
            _check_hull(where, points)
        values = {"size": size, "margin": margin, "points": points}
        values["position"] = guard.vector(where + "position", self.position, 3)
        values["rotation"] = guard.rotation(where + "rotation", self.rotation)
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __str__(self) -> str:
        lengths = " × ".join(f"{x:.3g}" for x in self.size)
        corners = (
            f"{len(self.points)} corners" if self.points else f"{lengths} m".removeprefix(" m")
        )
        place = f"on {self.link} " if self.link else ""
        return (
            f"{self.name}: {self.shape} {corners} {place}at"
            f" ({', '.join(f'{x:.3g}' for x in self.position)})"
        )

    @property
    def corners(self) -> np.ndarray:
        """(k, 3) points in its frame, m, whose convex hull, swept by a ball of radius `ball`,
        contains it."""
        if self.shape == "hull":
            return np.array(self.points)
        half = {
            "box": lambda x, y, z: (x / 2, y / 2, z / 2),
            "sphere": lambda r: (0.0, 0.0, 0.0),
            "capsule": lambda r, length: (0.0, 0.0, length / 2),
            "cylinder": lambda r, length: (r, r, length / 2),
        }[self.shape](*self.size)
        return np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * half

    @property
    def ball(self) -> float:
        """Radius of the ball that it is swept by, m."""
        return self.size[0] if self.shape in ("sphere", "capsule") else 0.0


def _check_hull(where: str, points: tuple[Vec3, ...]) -> None:
    """Refuse points without a volume."""
    spread = np.array(points) - np.mean(points, axis=0) if points else np.zeros((1, 3))
    if len(points) < 4 or np.linalg.svd(spread, compute_uv=False)[-1] < FLAT * math.sqrt(
        len(points)
    ):
        raise ArgumentError(
            f"{where}a hull needs at least four points that do not lie in a plane, got"
            f" {len(points)}"
        )


def vector(value: Any) -> Vec3:
    """Three numbers."""
    x, y, z = (float(v) for v in value)
    return (x, y, z)


def matrix(value: Iterable[Any]) -> Mat3:
    """The rows of a 3 × 3 matrix."""
    a, b, c = (vector(row) for row in value)
    return (a, b, c)
