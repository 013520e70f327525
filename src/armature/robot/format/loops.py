"""Loop closures from YAML: the `loops` of a robot's own file, or a side file next to a URDF."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from armature.document import checked_file
from armature.errors import ArmatureError, FileError
from armature.robot import frames
from armature.robot.description import RobotDescription
from armature.robot.format.schema import LoopPart, LoopsFile
from armature.robot.loop import EYE, Loop, Mat3, Vec3
from armature.robot.parts import Joint


def loops_from_file(
    robot: RobotDescription, path: str | PathLike[str]
) -> tuple[tuple[Loop, ...], tuple[str, ...]]:
    """The loops and the names of passive joints that a side file gives: `loops: [...]` and
    `passive: [...]`."""
    part = checked_file(LoopsFile, path)
    try:
        return tuple(loop_of(robot, p, i) for i, p in enumerate(part.loops, 1)), part.passive
    except ArmatureError as e:
        raise FileError(str(e), path) from None


def loop_of(robot: RobotDescription, part: LoopPart, number: int) -> Loop:
    """A loop; what is not given on b's side is where a's frame lies at the reference
    coordinates."""
    rotation_a: Any = part.rotation_a or (
        EYE if part.rpy_a is None else frames.from_rpy(*part.rpy_a)
    )
    rotation_b: Any = part.rotation_b or (
        None if part.rpy_b is None else frames.from_rpy(*part.rpy_b)
    )
    position_b: Any = part.at_b
    for link in (part.a, part.b):
        robot.link(link)
    if position_b is None or rotation_b is None:
        seen, turned = closing_frame(robot, part.a, part.at_a, rotation_a, part.b, part.reference)
        position_b, rotation_b = position_b or seen, rotation_b or turned
    return Loop(
        part.name or f"loop{number}",
        part.kind,
        part.a,
        part.b,
        part.at_a,
        position_b,
        rotation_a,
        rotation_b,
        part.axis,
    )


def closing_frame(
    robot: RobotDescription,
    link: str,
    position: Vec3,
    rotation: Mat3,
    other: str,
    at: Mapping[str, float],
) -> tuple[Vec3, Mat3]:
    """A frame of one link, seen from another, when the joints have the given coordinates (zero
    where not given)."""
    R, p = pose_at(robot, link, at)
    R_o, p_o = pose_at(robot, other, at)
    world = frames.add(frames.apply(R, position), p)
    back = frames.transpose(R_o)
    seen = frames.apply(back, (world[0] - p_o[0], world[1] - p_o[1], world[2] - p_o[2]))
    return seen, frames.multiply(back, frames.multiply(R, rotation))


def pose_at(robot: RobotDescription, link: str, at: Mapping[str, float]) -> tuple[Mat3, Vec3]:
    """Orientation and origin of a link's frame in the world at given joint coordinates."""
    carried = {j.child: j for j in robot.joints}
    path: list[Joint] = []
    while link in carried:
        path.append(carried[link])
        link = carried[link].parent
    R, p = EYE, (0.0, 0.0, 0.0)
    for j in reversed(path):
        q = (
            at.get(j.name, 0.0)
            if j.mimic is None
            else j.mimic.multiplier * at.get(j.mimic.joint, 0.0) + j.mimic.offset
        )
        p = frames.add(p, frames.apply(R, j.position))
        R = frames.multiply(R, j.rotation)
        if j.kind == "prismatic":
            p = frames.add(p, frames.apply(R, (q * j.axis[0], q * j.axis[1], q * j.axis[2])))
        elif j.kind in ("revolute", "continuous"):
            R = frames.multiply(R, frames.about_axis(j.axis, q))
    return R, p
