"""What links occupy: convex parts around their collision shapes.

A part is a box, swept by a disc about its third axis and by a ball: boxes, cylinders, capsules and
spheres exactly, meshes inside the box or cylinder of least volume that was fitted to their corner
points. Without shapes, limbs between the joints stand for the links."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np

from armature.errors import ArmatureWarning, FileError
from armature.memo import once, share
from armature.robot.mesh import read_mesh
from armature.robot.model import Link, Robot
from armature.robot.shape import IDENTITY, ZERO, Mat3, Vec3, Visual

LIMB = 0.02  # of the reach: radius of a limb that stands for a link without shapes
CARRIED = 0.01  # m: radius of the ball that stands for a payload


@dataclass(frozen=True)
class Part:
    """A convex part of a link, in the link's frame.

    centre: m.  axes: three unit vectors.  half: half edges of the box along them, m.  disc: radius
    of the disc about the third axis, m.
    ball: radius of the ball, m.  measured: whether it was made from a shape of the robot's file.
    """

    link: str
    centre: Vec3
    axes: Mat3 = IDENTITY
    half: Vec3 = ZERO
    disc: float = 0.0
    ball: float = 0.0
    measured: bool = True

    @property
    def size(self) -> float:
        """How far its farthest point is from its centre, m."""
        return math.hypot(math.hypot(*self.half[:2]) + self.disc, self.half[2]) + self.ball


def cover(robot: Robot) -> tuple[Part, ...]:
    """The parts of all links and of what they carry, in the order of the links; kept with the
    robot."""
    return once(robot, "cover", _cover)


def _cover(robot: Robot) -> tuple[Part, ...]:
    shaped = any(link.collisions for link in robot.links)
    found = [part for link in robot.links for part in _parts(robot, link, shaped)]
    return (*found, *(part for link in robot.links for part in _carried(link)))


def with_floor(robot: Robot, floor: object) -> Robot:
    """The same robot, which shall keep clear of a floor; what is compiled and computed for it is
    shared."""
    same = replace(robot, floor=floor)
    share(robot, same, ("kernels", "models"), ("cover", "moves"))
    shared = ("tree", "drivetrain", "passive", "_hash")
    same.__dict__.update({key: robot.__dict__[key] for key in shared if key in robot.__dict__})
    return same


def _parts(robot: Robot, link: Link, shaped: bool) -> list[Part]:
    """The parts of a link. shaped: whether the file has collision shapes, so that a link without
    one is only a frame."""
    shapes = link.collisions if shaped else link.visuals
    found = [part for shape in shapes if (part := _part(link.name, shape)) is not None]
    if found or (not shapes and any(x.collisions or x.visuals for x in robot.links)):
        return found
    return _limbs(robot, link)


def _carried(link: Link) -> list[Part]:
    """A payload as a ball at its place, also one of 0 kg: another one then compiles nothing."""
    if link.payload is None:
        return []
    return [Part(link.name, link.payload[1], ball=CARRIED, measured=False)]


def _part(link: str, shape: Visual) -> Part | None:
    """A shape of a file as a part; None for a mesh that was not found or cannot be read."""
    axes = _columns(shape.rotation)
    if shape.shape == "box" and len(shape.size) == 3:
        x, y, z = (abs(edge) / 2 for edge in shape.size)
        return Part(link, shape.position, axes, (x, y, z))
    if shape.shape == "sphere":
        return Part(link, shape.position, axes, ball=abs(shape.size[0]))
    if shape.shape == "cylinder":
        return Part(
            link, shape.position, axes, (0.0, 0.0, abs(shape.size[1]) / 2), disc=abs(shape.size[0])
        )
    if shape.shape == "capsule":
        return Part(
            link, shape.position, axes, (0.0, 0.0, abs(shape.size[1]) / 2), ball=abs(shape.size[0])
        )
    if shape.shape != "mesh" or not shape.path:
        return None
    try:
        points = read_mesh(shape.path).points
    except FileError as e:
        warnings.warn(
            f"link {link!r}: {e}; its clearances are computed without this mesh",
            ArmatureWarning,
            stacklevel=2,
        )
        return None
    scaled = points * np.broadcast_to(np.asarray(shape.size or 1.0, dtype=float), 3)
    R = np.asarray(shape.rotation)
    return fitted(link, scaled @ R.T + np.asarray(shape.position), R.T)


def fitted(link: str, points: np.ndarray, own: np.ndarray | None = None) -> Part:
    """The box or cylinder of least volume around points (k, 3), along the link's axes, the shape's
    `own` (rows) or the principal ones."""
    principal = np.linalg.eigh(np.cov(points.T) if len(points) > 1 else np.eye(3))[1].T
    candidates = []
    for axes in (np.eye(3) if own is None else own, np.eye(3), principal):
        across = points @ axes.T
        low, high = across.min(0), across.max(0)
        middle, half = (low + high) / 2, (high - low) / 2
        centre = _vector(axes.T @ middle)
        candidates.append((8.0 * half.prod(), Part(link, centre, _rows(axes), _vector(half))))
        for k in range(3):
            order = [(k + 1) % 3, (k + 2) % 3, k]
            radius = float(np.linalg.norm((across - middle)[:, order[:2]], axis=1).max())
            part = Part(link, centre, _rows(axes[order]), (0.0, 0.0, float(half[k])), disc=radius)
            candidates.append((2.0 * math.pi * radius**2 * half[k], part))
    return min(candidates, key=lambda pair: pair[0])[1]


def _limbs(robot: Robot, link: Link) -> list[Part]:
    """Capsules from a link's origin to the joints that it carries; a ball where it carries none."""
    radius = LIMB * max(0.05, math.fsum(math.hypot(*j.position) for j in robot.joints))
    ends = [
        joint.position
        for joint in robot.joints
        if joint.parent == link.name and math.hypot(*joint.position) > 0.0
    ]
    if not ends:
        return [Part(link.name, ZERO, ball=radius, measured=False)]
    return [_capsule(link.name, np.array(end), radius) for end in ends]


def _capsule(link: str, end: np.ndarray, radius: float) -> Part:
    """A capsule from the link's origin to a point of its frame."""
    length = float(np.linalg.norm(end))
    z = end / length
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x = x / np.linalg.norm(x)
    axes = _rows(np.array([x, np.cross(z, x), z]))
    return Part(link, _vector(end / 2), axes, (0.0, 0.0, length / 2), ball=radius, measured=False)


def _columns(R: Mat3) -> Mat3:
    return _rows(np.asarray(R, dtype=float).T)


def _rows(A: np.ndarray) -> Mat3:
    a, b, c = (_vector(row) for row in A)
    return (a, b, c)


def _vector(x: np.ndarray) -> Vec3:
    a, b, c = (float(value) for value in x)
    return (a, b, c)
