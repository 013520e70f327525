"""Couplings between bodies: what their positions must obey, f(x, s, t) = 0, as plain functions on
any number type.

From f the rows A ẍ + B s̈ = D of (1.3) follow by automatic differentiation (`rows.py`). A joint is
described once, by a point and an axis in the world at the mechanism's reference placement. E_a,
E_b: the joint's axes x, y, z carried by each body, z along its axis;
d: from the joint's point on a to that on b. The ground is a body that stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.errors import ArgumentError
from armature.spatial.numbers import atan2, cos, sin
from armature.spatial.vectors import Array, dot, pack

GROUND = "ground"
Vec3 = tuple[float, float, float]


class Placed(NamedTuple):
    """A body's orientation R (3, 3) and centre of mass p (3,) in the world."""

    R: Array
    p: Array


class Ends(NamedTuple):
    """A joint as both bodies carry it: axes E_a, E_b (3, 3), columns x, y, z; d from a's point to
    b's; all in the world."""

    A: Array
    B: Array
    d: Array


def _tilt(e: Ends) -> list:
    """b's z axis has no part along a's x and y."""
    return [dot(e.A[:, 0], e.B[:, 2]), dot(e.A[:, 1], e.B[:, 2])]


def _turn(e: Ends) -> Any:
    """Angle of b against a about the common z axis, as (sine, cosine)."""
    return dot(e.A[:, 1], e.B[:, 0]), dot(e.A[:, 0], e.B[:, 0])


JOINTS: dict[str, Callable[[Ends], list]] = {
    "revolute": lambda e: [*e.d, *_tilt(e)],
    "spherical": lambda e: [*e.d],
    "universal": lambda e: [*e.d, dot(e.A[:, 2], e.B[:, 0])],
    "cylindrical": lambda e: [dot(e.A[:, 0], e.d), dot(e.A[:, 1], e.d), *_tilt(e)],
    "prismatic": lambda e: [
        dot(e.A[:, 0], e.d),
        dot(e.A[:, 1], e.d),
        *_tilt(e),
        dot(e.A[:, 0], e.B[:, 1]),
    ],
    "planar": lambda e: [dot(e.A[:, 2], e.d), *_tilt(e)],
    "fixed": lambda e: [*e.d, *_tilt(e), dot(e.A[:, 0], e.B[:, 1])],
}


def angle(e: Ends, s: Any) -> list:
    """Angle of b against a, less the coordinate s; wrapped, so that s may count turns."""
    sine, cosine = _turn(e)
    return [atan2(sine * cos(s) - cosine * sin(s), cosine * cos(s) + sine * sin(s))]


def slide(e: Ends, s: Any) -> list:
    """Displacement of b along a's z axis, less the coordinate s."""
    return [dot(e.A[:, 2], e.d) - s]


COORDINATES: dict[str, Callable[[Ends, Any], list]] = {"angle": angle, "slide": slide}
OFFERS = {"revolute": ("angle",), "prismatic": ("slide",), "cylindrical": ("angle", "slide")}


@dataclass(frozen=True)
class Coupling:
    """One coupling of a mechanism; make them with the functions below.

    kind: couplings of one kind share a kernel.  bodies, coordinates: those that f depends on.
    residual: f(placed bodies, coordinates, t, numbers) → list.  numbers: constants of this one.
    joint: its reference data."""

    name: str
    kind: str
    bodies: tuple[str, ...]
    coordinates: tuple[str, ...]
    residual: Callable[[Sequence[Placed], Sequence[Any], Any, Array], list]
    numbers: tuple[float, ...] = ()
    joint: Joint | None = None
    shared: bool = True  # the residual is the same function for all couplings of this kind


@dataclass(frozen=True)
class Joint:
    """Where a joint sits at the reference placement: its point on a and on b and its axes (columns
    x, y, z), in the world."""

    at_a: Vec3
    at_b: Vec3
    axes: tuple[Vec3, Vec3, Vec3]


def _ends(placed: Sequence[Placed], numbers: Array) -> Ends:
    """Numbers: point and axes on a, then on b, each in that body's frame (3 + 9 each)."""
    a, b = placed
    on_a, E_a, on_b, E_b = (
        numbers[:3],
        numbers[3:12].reshape(3, 3),
        numbers[12:15],
        numbers[15:24].reshape(3, 3),
    )
    return Ends(a.R @ E_a, b.R @ E_b, b.p + b.R @ on_b - a.p - a.R @ on_a)


def _joint_coupling(
    name: str,
    kind: str,
    a: str,
    b: str,
    at: Vec3,
    axis: Vec3,
    at_b: Vec3 | None,
    second: Vec3 | None,
) -> Coupling:
    rows = JOINTS[kind]
    residual = lambda placed, s, t, numbers: rows(_ends(placed, numbers))
    return Coupling(
        name,
        kind,
        (a, b),
        (),
        residual,
        joint=Joint(_vec(at), _vec(at if at_b is None else at_b), _axes(name, axis, second)),
    )


def _vec(x: Any) -> Vec3:
    a, b, c = (float(y) for y in x)
    return a, b, c


def _axes(name: str, axis: Any, second: Any) -> tuple[Vec3, Vec3, Vec3]:
    """Columns x, y, z of a right-handed triad with z along `axis` and x along `second` where
    given."""
    z = np.array(axis, dtype=float)
    if z.shape != (3,) or not np.linalg.norm(z) > 0:
        raise ArgumentError(
            f"coupling {name!r}: its axis is {axis!r}; give three numbers, not all zero"
        )
    z = z / np.linalg.norm(z)
    x = np.array(np.eye(3)[np.argmin(np.abs(z))] if second is None else second, dtype=float)
    x = x - z * (x @ z)
    if second is not None and np.linalg.norm(x) < 1e-9 * np.linalg.norm(second):
        raise ArgumentError(
            f"coupling {name!r}: its two axes are parallel; a universal joint needs two"
            " perpendicular ones"
        )
    x /= np.linalg.norm(x)
    return _vec(x), _vec(np.cross(z, x)), _vec(z)


def revolute(name: str, a: str, b: str, at: Any, axis: Any, at_b: Any = None) -> Coupling:
    """A hinge between bodies a and b: common point `at` (m) and axis, in the world at the reference
    placement.

    at_b: the point on b, where the reference placement is not assembled (`Mechanism.assemble`
    closes it)."""
    return _joint_coupling(name, "revolute", a, b, at, axis, at_b, None)


def prismatic(name: str, a: str, b: str, at: Any, axis: Any, at_b: Any = None) -> Coupling:
    """b slides along the axis through `at` and does not turn."""
    return _joint_coupling(name, "prismatic", a, b, at, axis, at_b, None)


def cylindrical(name: str, a: str, b: str, at: Any, axis: Any, at_b: Any = None) -> Coupling:
    """b slides along and turns about the axis through `at`."""
    return _joint_coupling(name, "cylindrical", a, b, at, axis, at_b, None)


def spherical(name: str, a: str, b: str, at: Any, at_b: Any = None) -> Coupling:
    """A common point."""
    return _joint_coupling(name, "spherical", a, b, at, (0.0, 0.0, 1.0), at_b, None)


def universal(
    name: str, a: str, b: str, at: Any, axis: Any, second: Any, at_b: Any = None
) -> Coupling:
    """A common point and two perpendicular axes: `axis` on a, `second` on b."""
    return _joint_coupling(name, "universal", a, b, at, axis, at_b, second)


def planar(name: str, a: str, b: str, at: Any, normal: Any, at_b: Any = None) -> Coupling:
    """b moves in a's plane through `at` with this normal."""
    return _joint_coupling(name, "planar", a, b, at, normal, at_b, None)


def fixed(name: str, a: str, b: str, at: Any, at_b: Any = None) -> Coupling:
    """b is welded to a."""
    return _joint_coupling(name, "fixed", a, b, at, (0.0, 0.0, 1.0), at_b, None)


def rod(name: str, a: str, b: str, at_a: Any, at_b: Any, length: float | None = None) -> Coupling:
    """A massless rod: a constant distance between a point of a and a point of b, m; by default that
    of the reference placement."""
    if length is None:
        length = float(np.linalg.norm(np.subtract(at_a, at_b)))
    if not length > 0:
        raise ArgumentError(
            f"coupling {name!r}: its length is {length}; a rod needs a positive one (use a"
            " spherical joint for 0)"
        )

    def residual(placed: Sequence[Placed], s: Any, t: Any, numbers: Array) -> list:
        d = _ends(placed, numbers).d
        return [(dot(d, d) - numbers[24] * numbers[24]) / (2.0 * numbers[24])]

    place = Joint(_vec(at_a), _vec(at_b), _axes(name, (0, 0, 1), None))
    return Coupling(name, "rod", (a, b), (), residual, (float(length),), place)


def coordinate_row(name: str, joint: Coupling, kind: str) -> Coupling:
    """The coupling that makes a coordinate follow a joint: its "angle" or its "slide"."""
    if kind not in OFFERS.get(joint.kind, ()):
        offered = ", ".join(OFFERS.get(joint.kind, ())) or "none"
        raise ArgumentError(
            f"coordinate {name!r}: the {joint.kind} joint {joint.name!r} has no {kind}; it offers:"
            f" {offered}"
        )
    rows = COORDINATES[kind]
    residual = lambda placed, s, t, numbers: rows(_ends(placed, numbers), s[0])
    return Coupling(
        f"{name} of {joint.name}",
        f"coordinate {kind}",
        joint.bodies,
        (name,),
        residual,
        joint=joint.joint,
    )


def gear(name: str, driven: str, driver: str, ratio: float, offset: float = 0.0) -> Coupling:
    """driven = ratio × driver + offset, between two coordinates: gears (ratio < 0 for external
    ones), belts, screws."""
    residual = lambda placed, s, t, numbers: [s[0] - numbers[0] * s[1] - numbers[1]]
    return Coupling(name, "gear", (), (driven, driver), residual, (float(ratio), float(offset)))


def belt(
    name: str,
    driven: str,
    driver: str,
    driver_radius: float,
    driven_radius: float,
    crossed: bool = False,
) -> Coupling:
    """A belt over two pulleys: the angles are as the radii are inversely; opposite when crossed."""
    return gear(name, driven, driver, (-1.0 if crossed else 1.0) * driver_radius / driven_radius)


def rack_and_pinion(name: str, rack: str, pinion: str, radius: float) -> Coupling:
    """rack (a slide, m) = radius × pinion (an angle, rad)."""
    return gear(name, rack, pinion, radius)


def prescribed(name: str, coordinate: str, function: Callable[[Any], Any]) -> Coupling:
    """A coordinate that follows a given function of time, written with `armature.spatial.numbers`
    (sin, cos, …) or plain arithmetic."""
    residual = lambda placed, s, t, numbers: [s[0] - function(t)]
    return Coupling(name, f"prescribed {name}", (), (coordinate,), residual, shared=False)


def guided_point(name: str, body: str, at: Any, function: Callable[[Any], Any]) -> Coupling:
    """A point of a body, `at` at the reference placement, that follows function(t) → (x, y, z),
    m."""
    residual = lambda placed, s, t, numbers: list(
        placed[1].p + placed[1].R @ numbers[12:15] - pack(list(function(t)))
    )
    place = Joint(_vec(at), _vec(at), _axes(name, (0, 0, 1), None))
    return Coupling(name, f"guided {name}", (GROUND, body), (), residual, joint=place, shared=False)


def custom(
    name: str, bodies: Sequence[str], function: Callable, coordinates: Sequence[str] = ()
) -> Coupling:
    """The user's own f = 0: function(bodies, coordinates, t) → list of residuals; bodies are
    `Placed` (R, p), in the given order.

    It is called once, with symbols: a smooth formula without `if` on values.
    """
    residual = lambda placed, s, t, numbers: list(function(placed, s, t))
    return Coupling(
        name, f"custom {name}", tuple(bodies), tuple(coordinates), residual, shared=False
    )
