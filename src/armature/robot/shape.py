"""Shapes of links: what pictures draw, and what keeps clear of the floor."""

from __future__ import annotations

from dataclasses import dataclass

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]
IDENTITY: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vec3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Visual:
    """A shape of a link, for pictures or for clearances.

    shape: "box", "cylinder", "capsule", "sphere" or "mesh".
    size: box edges x, y, z; cylinder and capsule radius, length (along z); sphere radius; mesh
    scale x, y, z; m.
    position (m), rotation: the shape's frame in the link's frame.  file: a mesh's file name as the
    robot's file gives it.
    colour: red, green, blue, opacity in 0..1, or None.  path: the mesh's file where it was found.
    """

    shape: str
    size: tuple[float, ...]
    position: Vec3 = ZERO
    rotation: Mat3 = IDENTITY
    file: str | None = None
    colour: tuple[float, float, float, float] | None = None
    path: str | None = None
