"""Rotations and inertias of plain floats: what the readers need to bring every file into one form.

Rotations are rows of a matrix that takes vectors of the rotated frame to the outer one; inertias
are (xx, yy, zz, xy, xz, yz)."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]
Inertia = tuple[float, float, float, float, float, float]
POINT: Inertia = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def elementary(axis: int, angle: float) -> Mat3:
    """C_k(α), the rotation by `angle` (rad) about the axis 1, 2 or 3 (x, y, z): Zaremba's
    elementary rotations."""
    c, s = math.cos(angle), math.sin(angle)
    if axis == 1:
        return ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
    if axis == 2:
        return ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c))
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


def multiply(A: Mat3, B: Mat3) -> Mat3:
    """A B."""
    x, y, z = (tuple(sum(row[k] * B[k][j] for k in range(3)) for j in range(3)) for row in A)
    return (x, y, z)  # type: ignore[return-value]


def transpose(A: Mat3) -> Mat3:
    """Aᵀ, the inverse of a rotation."""
    x, y, z = zip(*A)
    return (x, y, z)


def apply(A: Mat3, v: Sequence[float]) -> Vec3:
    """A v."""
    x, y, z = (row[0] * v[0] + row[1] * v[1] + row[2] * v[2] for row in A)
    return (x, y, z)


def add(a: Vec3, b: Vec3) -> Vec3:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def from_rpy(roll: float, pitch: float, yaw: float) -> Mat3:
    """C₃(yaw) C₂(pitch) C₁(roll): URDF's fixed-axis angles, rad."""
    if roll == pitch == yaw == 0.0:
        return ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    return multiply(multiply(elementary(3, yaw), elementary(2, pitch)), elementary(1, roll))


def to_rpy(R: Mat3) -> Vec3:
    """Roll, pitch and yaw (rad) of a rotation; all of it is yaw where both turn about one axis."""
    pitch = math.asin(min(1.0, max(-1.0, -R[2][0])))
    if abs(R[2][0]) > 1.0 - 1e-12:
        return 0.0, pitch, math.atan2(-R[0][1], R[1][1])
    return math.atan2(R[2][1], R[2][2]), pitch, math.atan2(R[1][0], R[0][0])


def from_quaternion(w: float, x: float, y: float, z: float) -> Mat3:
    """The rotation of a quaternion of any positive length."""
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)),
    )


def about_axis(axis: Vec3, angle: float) -> Mat3:
    """The rotation by `angle` (rad) about a unit vector: E + sin α ⟨e⟩ + (1 − cos α)⟨e⟩⟨e⟩."""
    x, y, z = axis
    s, c = math.sin(angle), math.cos(angle)
    d = 1.0 - c
    return (
        (c + d * x * x, d * x * y - s * z, d * x * z + s * y),
        (d * x * y + s * z, c + d * y * y, d * y * z - s * x),
        (d * x * z - s * y, d * y * z + s * x, c + d * z * z),
    )


def as_matrix(J: Sequence[float]) -> Mat3:
    """The symmetric matrix of six moments."""
    xx, yy, zz, xy, xz, yz = J
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def rotated(J: Inertia, R: Mat3) -> Inertia:
    """R J Rᵀ: an inertia given in the rotated frame's axes, in those of the outer frame."""
    if R == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        return J
    M = multiply(multiply(R, as_matrix(J)), transpose(R))
    return (M[0][0], M[1][1], M[2][2], M[0][1], M[0][2], M[1][2])


def point_inertia(mass: float, r: Vec3) -> Inertia:
    """m(rᵀr E − r rᵀ): a point mass at r, about the origin (Steiner's term)."""
    x, y, z = r
    return (
        mass * (y * y + z * z),
        mass * (x * x + z * z),
        mass * (x * x + y * y),
        -mass * x * y,
        -mass * x * z,
        -mass * y * z,
    )


def joined(bodies: Sequence[tuple[float, Vec3, Inertia]]) -> tuple[float, Vec3, Inertia]:
    """Several (mass, centre, inertia about it), all in one frame's axes, as one body; the inertia
    is about the common centre.

    A negative mass takes something away again."""
    mass = sum(m for m, _, _ in bodies)
    heavy = [c for m, c, _ in bodies if m != 0.0]
    if len(heavy) < 2:
        centre = heavy[0] if heavy else bodies[0][1]
    else:
        x, y, z = (sum(m * c[k] for m, c, _ in bodies) / mass for k in range(3))
        centre = (x, y, z)
    terms = []
    for m, c, J in bodies:
        terms += [J, point_inertia(m, (c[0] - centre[0], c[1] - centre[1], c[2] - centre[2]))]
    xx, yy, zz, xy, xz, yz = (sum(column) for column in zip(*terms))
    return mass, centre, (xx, yy, zz, xy, xz, yz)
