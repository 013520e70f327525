"""Closed loops on top of the tree: a joint between two links that the tree does not connect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

from armature.errors import RobotError
from armature.robot import frames, guard

if TYPE_CHECKING:
    from armature.robot.model import Joint, Robot

Vec3 = tuple[float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]
LoopKind = Literal["revolute", "spherical", "fixed", "prismatic", "cylindrical", "universal", "planar"]
EYE: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Loop:
    """A loop closure: two frames, one on link a, one on link b, that a joint of this kind holds together.

    position_a, rotation_a: the closing frame in a's frame, m and rows of a matrix; position_b, rotation_b: in b's.
    axis: of the joint in the closing frame (normal of a planar one, a's axis of a universal one, whose other axis is perpendicular).
    """

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
            raise RobotError(f"{where}its kind is {self.kind!r}; take one of {', '.join(get_args(LoopKind))}")
        for side in ("a", "b"):
            position, rotation = getattr(self, f"position_{side}"), getattr(self, f"rotation_{side}")
            object.__setattr__(self, f"position_{side}", guard.vector(f"{where}position_{side}", position, 3))
            object.__setattr__(self, f"rotation_{side}", guard.rotation(f"{where}rotation_{side}", rotation))
        object.__setattr__(self, "axis", guard.unit(where + "axis", self.axis))


def check_loops(loops: tuple[Loop, ...], links: Iterable[str]) -> None:
    """Refuse loops with repeated names, unknown links, or both ends on one link."""
    known, seen = set(links), set()
    for loop in loops:
        if loop.name in seen:
            raise RobotError(f"loop {loop.name!r}: this name is taken by another loop; rename one of them")
        seen.add(loop.name)
        for link in (loop.a, loop.b):
            if link not in known:
                raise RobotError(f"loop {loop.name!r}: there is no link {link!r}; {guard.suggestion(link, sorted(known))}")
        if loop.a == loop.b:
            raise RobotError(f"loop {loop.name!r}: both ends are on link {loop.a!r}; give two different links")


def refuse_loops(robot: Robot, what: str) -> None:
    """For parts that know open trees only: refuse a robot with loops."""
    if robot.loops:
        names = ", ".join(loop.name for loop in robot.loops)
        raise RobotError(f"robot {robot.name!r} has closed loops ({names}), which {what} does not offer; try mimic joints instead")


def with_loops(robot: Robot, loops: Any, passive: Iterable[str] = ()) -> Robot:
    """The robot with these loops (or those of a YAML file) added, and the named joints passive."""
    if isinstance(loops, (str, PathLike)):
        from armature.robot.load.loops import loops_from_file

        loops, more = loops_from_file(robot, loops)
        passive = [*passive, *more]
    names = {guard.known("joint", name, [j.name for j in robot.joints]) for name in passive}
    joints = tuple(replace(j, passive=True) if j.name in names else j for j in robot.joints)
    return replace(robot, joints=joints, loops=(*robot.loops, *loops))


def closing_frame(robot: Robot, link: str, position: Vec3, rotation: Mat3, other: str, at: Mapping[str, float]) -> tuple[Vec3, Mat3]:
    """A frame of one link, seen from another, when the joints have the given coordinates (zero where not given)."""
    R, p = pose_at(robot, link, at)
    R_o, p_o = pose_at(robot, other, at)
    world = frames.add(frames.apply(R, position), p)
    back = frames.transpose(R_o)
    seen = frames.apply(back, (world[0] - p_o[0], world[1] - p_o[1], world[2] - p_o[2]))
    return seen, frames.multiply(back, frames.multiply(R, rotation))


def pose_at(robot: Robot, link: str, at: Mapping[str, float]) -> tuple[Mat3, Vec3]:
    """Orientation and origin of a link's frame in the world at given joint coordinates."""
    carried = {j.child: j for j in robot.joints}
    path: list[Joint] = []
    while link in carried:
        path.append(carried[link])
        link = carried[link].parent
    R, p = EYE, (0.0, 0.0, 0.0)
    for j in reversed(path):
        q = at.get(j.name, 0.0) if j.mimic is None else j.mimic.multiplier * at.get(j.mimic.joint, 0.0) + j.mimic.offset
        p = frames.add(p, frames.apply(R, j.position))
        R = frames.multiply(R, j.rotation)
        if j.kind == "prismatic":
            p = frames.add(p, frames.apply(R, (q * j.axis[0], q * j.axis[1], q * j.axis[2])))
        elif j.kind in ("revolute", "continuous"):
            R = frames.multiply(R, frames.about_axis(j.axis, q))
    return R, p
