"""Which link is the hand: what a payload, a path or a pose belongs to where none is named.

One rule. The hand is at the end of the longest chain of actuated joints. Fingers, wheels, heads and
cameras do not count: joints named so, and branches alike in length at the end of a chain (a
gripper's fingers). A branch of at least half as many joints as the longest
chain is another arm: then the user is asked. A tool centre point that was given (`Robot.with_tool`)
is the hand; else, of the frames welded to the end, the one with the most telling name is taken:
tool0, tcp, tool, ee, flange, hand; never a camera or sensor."""

from __future__ import annotations

import re
from dataclasses import dataclass

from armature.errors import ArgumentError
from armature.robot.description import RobotDescription
from armature.robot.parts import Joint

FINGER = re.compile("finger|thumb|knuckle|jaw|wheel", re.IGNORECASE)
SHORT = 0.1  # m: a stroke of fingers
TOOL = "_tool_centre_point"  # how the joint of a tool that the user gave is named
ASIDE = re.compile(
    r"cam(era)?|head|neck|imu|lidar|laser|light|lamp|led|optical|sensor|ft|force|torque|screen|display|depth|rgb|color|ir|gps|antenna"
)
NAMES = (  # most telling first
    re.compile("tool0"),
    re.compile("tcp|toolcenterpoint"),
    re.compile("tool|toolframe|tip"),
    re.compile("ee|eef|endeffector|effector"),
    re.compile("flange"),
    re.compile("hand|gripper|palm|grasp"),
)


def tip(robot: RobotDescription, what: str = "is meant") -> str:
    """The hand of a robot with one arm; an ArgumentError lists the hands where there are several.
    `what` is for its words."""
    found = hands(robot)
    if len(found) == 1:
        return found[0]
    shown = ", ".join(found[:12]) + (", …" if len(found) > 12 else "")
    ends = "arms" if robot.n else "tips"
    raise ArgumentError(
        f"the robot {robot.name!r} has {len(found)} {ends}; say which link {what}: link=one of"
        f" {shown}"
    )


def hands(robot: RobotDescription) -> tuple[str, ...]:
    """The hand of every arm, in the file's order; of a robot without a moving joint all tips."""
    branches = _branches(robot)
    if not branches:
        return robot.tips
    chosen = _arms(branches)
    return tuple(_end(robot, arm, [b for b in branches if b not in chosen]) for arm in chosen)


@dataclass(frozen=True)
class _Branch:
    """Actuated joints from the base to a last moving link."""

    joints: tuple[Joint, ...]

    def own(self, other: _Branch) -> tuple[Joint, ...]:
        """The joints that are not on another branch's way."""
        return tuple(j for j in self.joints if j not in other.joints)


def _branches(robot: RobotDescription) -> list[_Branch]:
    moving = [j for j in robot.joints if j.kind != "fixed" and j.mimic is None]
    able = [j for j in moving if not j.passive] or moving
    counted = [j for j in able if not is_finger(robot, j)] or able
    chosen = {j.child: j for j in counted}
    ways = [
        tuple(
            chosen[name]
            for name in reversed([j.child, *ancestors(robot, j.child)])
            if name in chosen
        )
        for j in counted
    ]
    inner = {j for way in ways for j in way[:-1]}
    found = [_Branch(way) for way in ways if way[-1] not in inner]
    straight = [
        b for b in found if not _is_aside(b.joints[-1].name) and not _is_aside(b.joints[-1].child)
    ]
    return straight or found


def _arms(branches: list[_Branch]) -> list[_Branch]:
    """The longest branch, and those that are arms beside it and beside each other."""
    longest = max(branches, key=lambda b: len(b.joints))
    chosen = [longest]
    for branch in branches:
        if all(2 * len(branch.own(arm)) >= len(longest.joints) for arm in chosen):
            chosen.append(branch)
    return [b for b in branches if b in chosen]


def _end(robot: RobotDescription, arm: _Branch, others: list[_Branch]) -> str:
    """The hand of an arm: the most telling frame at its last moving link, or at the palm where its
    fingers part."""
    fingers = [
        len(b.own(arm))
        for b in others
        if 0 < len(b.own(arm)) == len(arm.own(b)) and 2 * len(b.own(arm)) < len(arm.joints)
    ]
    last = arm.joints[-1 - max(fingers, default=0)].child
    welded = _welded(robot, last)
    given = [j.child for j in robot.joints if is_tool(j) and j.child in welded]
    if given:
        return given[-1]
    free = [name for name in welded if not _is_aside(name) and not FINGER.search(name)]
    for kind in NAMES:
        named = [name for name in free if any(kind.fullmatch(word) for word in _words(name))]
        if named:
            return named[-1]
    carriers = [j.parent for j in robot.joints if j.kind != "fixed" and j.parent in welded]
    leaves = [name for name in free if name in robot.tips]
    return carriers[-1] if carriers else leaves[0] if len(leaves) == 1 else last


def is_tool(joint: Joint) -> bool:
    """Whether a joint holds a tool centre point that the user gave."""
    return joint.kind == "fixed" and joint.name.endswith(TOOL)


def _welded(robot: RobotDescription, last: str) -> list[str]:
    """A link and the frames welded to it, nearest first."""
    found = [last]
    for name in found:
        found += [j.child for j in robot.joints if j.kind == "fixed" and j.parent == name]
    return found


def _words(name: str) -> list[str]:
    """panda_hand_tcp as panda, hand, tcp, and neighbours together: handtcp."""
    words = [w.lower() for w in re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", name) if w]
    runs = (
        "".join(words[k : k + count]) for count in (1, 2, 3) for k in range(len(words) - count + 1)
    )
    return list(runs)


def _is_aside(name: str) -> bool:
    """Whether a name is that of a camera, sensor, head or the like."""
    return any(ASIDE.fullmatch(word) for word in _words(name))


def is_finger(robot: RobotDescription, joint: Joint) -> bool:
    """Whether a joint is of a gripper or a wheel: by its name or that of what it moves, or if it
    slides less than 0.1 m at the end of a branch."""
    carries = any(j.parent == joint.child and j.kind != "fixed" for j in robot.joints)
    slides = (
        joint.kind == "prismatic"
        and joint.limits.upper - joint.limits.lower < SHORT
        and not carries
    )
    named = (
        FINGER.search(joint.name) or FINGER.search(joint.child) or "gripper" in joint.name.lower()
    )
    return slides or bool(named)


def moves(robot: RobotDescription, name: str) -> bool:
    """Whether any joint moves a link."""
    children = {j.child for j in robot.joints if j.kind != "fixed"}
    return any(link in children for link in (name, *ancestors(robot, name)))


def ancestors(robot: RobotDescription, name: str) -> list[str]:
    """The links that carry a link, nearest first."""
    parent = {j.child: j.parent for j in robot.joints}
    found = []
    while name in parent:
        name = parent[name]
        found.append(name)
    return found
