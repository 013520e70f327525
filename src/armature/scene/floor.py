"""The floor: a half-space that links stay above, and the height of a part over it as a plain
formula.

    (F1)  h = z + r·c − b − Σₖ sₖ |r·eₖ| − d √(1 − (r·e₃)²)

of a part with centre c, axes e, half edges s, disc d and ball b (`robot.cover.Part`), on a body
whose origin is at height z and whose rotation has the third row r. With |x| ≈ √(x² + ε²), which is
never less, it is smooth and never tells more than the true height."""

from __future__ import annotations

from dataclasses import dataclass, replace

from armature.errors import several
from armature.robot.cover import Part
from armature.robot.tree import Tree
from armature.spatial.numbers import Number, sqrt
from armature.spatial.vectors import Array, dot, pack

LIMIT = "height above the floor"  # what the certificate calls it
SMOOTH = 0.02  # ε of (F1) in the optimiser: a part of half edge 0.1 m seems at most 2 mm larger


@dataclass(frozen=True)
class Watched:
    """A part in its body's frame. body: index.  centre: m.  axes: three unit vectors.  half, disc,
    ball: as in `Part`."""

    link: str
    body: int
    centre: tuple[float, ...]
    axes: tuple[tuple[float, ...], ...]
    half: tuple[float, float, float]
    disc: float
    ball: float


@dataclass(frozen=True)
class Floor:
    """A floor that a robot keeps clear of.

    height: z, m.  parts: what stays above it.  least: (F1), smooth, of every part above the floor
    at the task's own places, m, the lowest.
    margin: height above the floor, m, that the optimiser keeps at knots away from these places.
    standing: links that are left out: they stand on the floor, or no joint changes their height.
    assumed: whether nobody gave it."""

    height: float
    parts: tuple[Watched, ...] = ()
    least: tuple[float, ...] = ()
    margin: float = 0.0
    standing: tuple[str, ...] = ()
    assumed: bool = False

    @property
    def words(self) -> str:
        """The floor in a sentence."""
        stands = f"; it carries {several(self.standing)}" if self.standing else ""
        return (
            f"floor at z = {round(self.height, 4) + 0.0:.4g}"
            f" m{' (assumed, under the base)' if self.assumed else ''}{stands}"
        )

    def keeping(self, margin: float) -> Floor:
        """The same with another height kept at knots, m."""
        return replace(self, margin=margin)


def watched(tree: Tree, part: Part) -> Watched:
    """A part of a link in the frame of the body that the link is welded to."""
    frame = tree.frames[part.link]
    centre = frame.R @ pack(part.centre) + frame.p
    axes = tuple(tuple(float(x) for x in frame.R @ pack(axis)) for axis in part.axes)
    return Watched(
        part.link,
        frame.body,
        tuple(float(x) for x in centre),
        axes,
        part.half,
        part.disc,
        part.ball,
    )


def part_height(part: Watched, row: Array, z: Number, smooth: float = 0.0) -> Number:
    """(F1): the height of a part's lowest point, m. row: third row of its body's rotation.  z:
    height of the body's origin, m."""
    found = z + dot(row, pack(part.centre)) - part.ball
    for half, axis in zip(part.half, part.axes):
        if half:
            found = found - half * sqrt(dot(row, pack(axis)) ** 2 + smooth**2)
    if part.disc:
        found = found - part.disc * sqrt(1.0 - dot(row, pack(part.axes[2])) ** 2 + smooth**2)
    return found
