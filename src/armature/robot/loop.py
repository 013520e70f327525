"""Closed loops on top of the tree: a joint between two links that the tree does not connect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from armature.errors import RobotError
from armature.robot import guard

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]
LoopKind = Literal[
    "revolute", "spherical", "fixed", "prismatic", "cylindrical", "universal", "planar"
]
EYE: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Loop:
    """A loop closure: two frames, one on link a, one on link b, that a joint of this kind holds
    together.

    position_a, rotation_a: the closing frame in a's frame, m and rows of a matrix; position_b,
    rotation_b: in b's.
    axis: of the joint in the closing frame (normal of a planar one, a's axis of a universal one,
    whose other axis is perpendicular)."""

    name: str
    kind: LoopKind
    a: str
    b: str
    position_a: Vec3 = (0.0, 0.0, 0.0)
    position_b: Vec3 = (0.0, 0.0, 0.0)
    rotation_a: Mat3 = EYE
    rotation_b: Mat3 = EYE
    axis: Vec3 = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        where = f"loop {guard.name('loop', self.name)!r}: "
        if self.kind not in get_args(LoopKind):
            raise RobotError(
                f"{where}its kind is {self.kind!r}; take one of {', '.join(get_args(LoopKind))}"
            )
        for side in ("a", "b"):
            position, rotation = (
                getattr(self, f"position_{side}"),
                getattr(self, f"rotation_{side}"),
            )
            object.__setattr__(
                self, f"position_{side}", guard.vector(f"{where}position_{side}", position, 3)
            )
            object.__setattr__(
                self, f"rotation_{side}", guard.rotation(f"{where}rotation_{side}", rotation)
            )
        object.__setattr__(self, "axis", guard.unit(where + "axis", self.axis))


def check_loops(loops: tuple[Loop, ...], links: Iterable[str]) -> None:
    """Refuse loops with repeated names, unknown links, or both ends on one link."""
    known, seen = set(links), set()
    for loop in loops:
        if loop.name in seen:
            raise RobotError(
                f"loop {loop.name!r}: this name is taken by another loop; rename one of them"
            )
        seen.add(loop.name)
        for link in (loop.a, loop.b):
            if link not in known:
                raise RobotError(
                    f"loop {loop.name!r}: there is no link {link!r};"
                    f" {guard.suggestion(link, sorted(known))}"
                )
        if loop.a == loop.b:
            raise RobotError(
                f"loop {loop.name!r}: both ends are on link {loop.a!r}; give two different links"
            )


class HasLoops(Protocol):
    """A robot, of which its name and its loops are asked."""

    @property
    def name(self) -> str: ...

    @property
    def loops(self) -> tuple[Loop, ...]: ...


def refuse_loops(robot: HasLoops, what: str) -> None:
    """For parts that know open trees only: refuse a robot with loops."""
    if robot.loops:
        names = ", ".join(loop.name for loop in robot.loops)
        raise RobotError(
            f"robot {robot.name!r} has closed loops ({names}), which {what} does not offer; try"
            " mimic joints instead"
        )
