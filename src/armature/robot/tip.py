"""Which link is the hand: what a payload, a path or a pose belongs to where none is named."""

from __future__ import annotations

from armature.errors import ArgumentError
from armature.robot.model import Robot

FLANGES = ("tool0", "tool", "tcp")  # names of the flange's frame, by ROS-Industrial's convention and common use


def tip(robot: Robot, what: str = "is meant") -> str:
    """The tip of a chain. Frames welded to the last moving link of a chain do not make it a tree: then it is the frame named tool0 (tool,
    tcp), the only such frame, or the last moving link itself.

    An ArgumentError lists the tips where moving links branch; `what` is for its words.
    """
    tips = robot.tips
    if len(tips) == 1:
        return tips[0]
    last = last_moving(robot)
    if last is None:
        shown = ", ".join(tips[:12]) + (", …" if len(tips) > 12 else "")
        raise ArgumentError(f"the robot {robot.name!r} has {len(tips)} tips; say which link {what}: link=one of {shown}")
    welded = [name for name in tips if last in ancestors(robot, name)]
    named = [name for name in FLANGES if name in welded]
    return named[0] if named else welded[0] if len(welded) == 1 else last


def last_moving(robot: Robot) -> str | None:
    """The last link that moves, where the links that joints move form one chain; None where they branch or nothing moves."""
    moving = [j.child for j in robot.joints if j.kind != "fixed"]
    if not moving:
        return None
    last = max(moving, key=lambda name: len(ancestors(robot, name)))
    return last if set(moving) <= {last, *ancestors(robot, last)} else None


def ancestors(robot: Robot, name: str) -> list[str]:
    """The links that carry a link, nearest first."""
    parent = {j.child: j.parent for j in robot.joints}
    found = []
    while name in parent:
        name = parent[name]
        found.append(name)
    return found
