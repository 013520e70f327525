"""Loop closures from YAML: the `loops` of a robot's own file, or a side file next to a URDF."""

from __future__ import annotations

from os import PathLike
from typing import Any

from armature.document import checked_file
from armature.errors import ArmatureError, FileError
from armature.robot import frames
from armature.robot.load.schema import LoopPart, LoopsFile
from armature.robot.loop import EYE, Loop, closing_frame
from armature.robot.model import Robot


def loops_from_file(robot: Robot, path: str | PathLike[str]) -> tuple[tuple[Loop, ...], tuple[str, ...]]:
    """The loops and the names of passive joints that a side file gives: `loops: [...]` and `passive: [...]`."""
    part = checked_file(LoopsFile, path)
    try:
        return tuple(loop_of(robot, p, i) for i, p in enumerate(part.loops, 1)), part.passive
    except ArmatureError as e:
        raise FileError(str(e), path) from None


def loop_of(robot: Robot, part: LoopPart, number: int) -> Loop:
    """A loop; what is not given on b's side is where a's frame lies at the reference coordinates."""
    rotation_a: Any = part.rotation_a or (EYE if part.rpy_a is None else frames.from_rpy(*part.rpy_a))
    rotation_b: Any = part.rotation_b or (None if part.rpy_b is None else frames.from_rpy(*part.rpy_b))
    position_b: Any = part.at_b
    for link in (part.a, part.b):
        robot.link(link)
    if position_b is None or rotation_b is None:
        seen, turned = closing_frame(robot, part.a, part.at_a, rotation_a, part.b, part.reference)
        position_b, rotation_b = position_b or seen, rotation_b or turned
    return Loop(part.name or f"loop{number}", part.kind, part.a, part.b, part.at_a, position_b, rotation_a, rotation_b, part.axis)
