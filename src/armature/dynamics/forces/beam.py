"""Where a link's mass lies along it: what of the link and of all that it carries is beyond a
section."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.robot import guard
from armature.robot.model import Link, Robot

NEAR = 1e-9  # joints this close before a section (as a part of the beam) count as beyond it


@dataclass(frozen=True, eq=False)
class Beam:
    """A link as a beam from `start` to `end` (3,), in the link's frame, m.

    link: its name.  masses: (K, 4) point masses x, y, z (m, link frame), mass (kg) that make up the
    link; None for a uniform beam. The masses' sum must be the link's. What the link's centre of
    mass and inertia differ from the beam's is spread evenly along it."""

    link: str
    start: np.ndarray
    end: np.ndarray
    masses: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(
                self,
                name,
                np.array(
                    guard.vector(f"beam of link {self.link!r}: {name}", getattr(self, name), 3)
                ),
            )
        if not self.length > 0.0:
            raise ArgumentError(
                f"the beam of link {self.link!r} has no length; give start and end, two points of"
                " the link"
            )
        if self.masses is not None:
            object.__setattr__(self, "masses", _points(self.link, self.masses))

    @property
    def length(self) -> float:
        """m."""
        return float(np.linalg.norm(self.end - self.start))

    @property
    def direction(self) -> np.ndarray:
        """Unit vector from start to end, (3,), link axes."""
        return (self.end - self.start) / self.length

    def fraction(self, point: np.ndarray) -> float | np.ndarray:
        """How far along the beam a point of the link (..., 3) is: 0 at its start, 1 at its end."""
        return (point - self.start) @ self.direction / self.length

    def point(self, s: float) -> np.ndarray:
        """The beam's point at s, (3,)."""
        return self.start + s * (self.end - self.start)

    def beyond(self, link: Link, s: float) -> np.ndarray:
        """(10,) of the part of the link beyond the section s: m, m c, J about the link's origin."""
        s = min(max(s, 0.0), 1.0)
        whole = _numbers(link.mass, np.array(link.com), _matrix(link.inertia))
        if self.masses is None:
            all_of_it, far = self._uniform(link.mass, 0.0), self._uniform(link.mass, s)
        else:
            total = self.masses[:, 3].sum()
            if abs(total - link.mass) > 1e-6 * max(link.mass, 1e-12):
                raise ArgumentError(
                    f"the masses of the beam of link {link.name!r} add up to {total:g} kg; the link"
                    f" has {link.mass:g} kg"
                )
            all_of_it, far = (
                _cloud(self.masses),
                _cloud(self.masses[self.fraction(self.masses[:, :3]) >= s - NEAR]),
            )
        rest = (1.0 - s) * (whole - all_of_it)
        return far + rest

    def _uniform(self, mass: float, s: float) -> np.ndarray:
        """A thin uniform rod from s to the end: m L(1 − s) …, moments m l²/12 across it."""
        m, along, u = mass * (1.0 - s), self.length * (1.0 - s), self.direction
        return _numbers(
            m, self.point(0.5 * (1.0 + s)), m * along**2 / 12.0 * (np.eye(3) - np.outer(u, u))
        )

    def carried_beyond(self, robot: Robot, s: float) -> tuple[str, ...]:
        """Names of all links that hang on the link beyond the section s."""
        found: list[str] = []
        for joint in robot.joints:  # base to tip: parents come first
            hangs = (
                joint.parent == self.link and self.fraction(np.array(joint.position)) >= s - NEAR
            )
            if hangs or joint.parent in found:
                found.append(joint.child)
        return tuple(found)


def beam_of(robot: Robot, link: str) -> Beam:
    """Uniform, from the link's origin to the farthest joint that it carries, or through the centre
    of mass of a last link."""
    joints = [np.array(j.position) for j in robot.joints if j.parent == link]
    body = robot.link(link)
    ends = [p for p in joints if np.linalg.norm(p) > 0.0] or [2.0 * np.array(body.com)]
    end = max(ends, key=lambda p: float(np.linalg.norm(p)))
    if not np.linalg.norm(end) > 0.0:
        raise ArgumentError(
            f"link {link!r} has no extent (its next joint and its centre of mass are at its"
            f" origin); give beam=Beam({link!r}, start, end)"
        )
    return Beam(link, np.zeros(3), end)


def _points(link: str, masses: Any) -> np.ndarray:
    array = np.asarray(masses, dtype=float)
    if (
        array.ndim != 2
        or array.shape[1] != 4
        or not np.all(np.isfinite(array))
        or not np.all(array[:, 3] >= 0.0)
    ):
        raise ArgumentError(
            f"the masses of the beam of link {link!r} have shape {array.shape}; give rows x, y, z"
            " (m), mass ≥ 0 (kg)"
        )
    return array


def _matrix(inertia: tuple) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _numbers(m: float, c: np.ndarray, J: np.ndarray) -> np.ndarray:
    """m, m c, and (xx, yy, zz, xy, xz, yz) about the origin, (10,), from the centre c and J about
    it."""
    J = J + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.array([m, *(m * c), J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])


def _cloud(points: np.ndarray) -> np.ndarray:
    return sum((_numbers(m, np.array(p), np.zeros((3, 3))) for *p, m in points), np.zeros(10))
