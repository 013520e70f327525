"""Joints that stay where they are: the same robot with some joints welded, so that they need no
drive and no place in a plan."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import replace

from armature.errors import ArgumentError
from armature.robot import frames, guard
from armature.robot.description import R, RobotDescription
from armature.robot.parts import Joint, Limits


def with_held(robot: R, joints: Mapping[str, float] | Iterable[str]) -> R:
    """The robot with joints welded at a coordinate (rad or m): {name: value}, or names alone, which
    are held at 0 or, where their range leaves 0 out, at its nearer end.

    A name may be a pattern such as "gripper_*", and stand alone. Joints that mimic a held one are
    held with it; drives of held joints are left out.
    """
    names = [joints] if isinstance(joints, str) else joints
    given = dict(names) if isinstance(names, Mapping) else dict.fromkeys(names)
    held = {name: value for pattern, value in given.items() for name in _matching(robot, pattern)}
    places = {
        name: (
            resting(robot.joint(name)) if value is None else guard.number(f"joint {name!r}", value)
        )
        for name, value in held.items()
    }
    for joint in robot.joints:
        if joint.mimic is not None and joint.mimic.joint in places:
            places[joint.name] = (
                joint.mimic.multiplier * places[joint.mimic.joint] + joint.mimic.offset
            )
    drives = tuple(c for c in robot.drives if not set(c.joints) <= set(places))
    for coupling in drives:
        if half := set(coupling.joints) & set(places):
            raise ArgumentError(
                f"joint {min(half)!r} shares its drives with {', '.join(coupling.joints)}; hold all"
                " of them or none"
            )
    moved = tuple(_welded(j, places[j.name]) if j.name in places else j for j in robot.joints)
    return replace(robot, joints=moved, drives=drives)


def resting(joint: Joint) -> float:
    """0, or the end of the joint's range that is nearer to it, rad or m."""
    return min(max(0.0, joint.limits.lower), joint.limits.upper)


def _matching(robot: RobotDescription, pattern: str) -> list[str]:
    """Moving joints by name or pattern; an ArgumentError where there are none."""
    free = [
        j.name
        for j in robot.joints
        if j.kind in ("revolute", "continuous", "prismatic") and j.mimic is None
    ]
    found = (
        fnmatch.filter(free, pattern)
        if any(c in pattern for c in "*?[")
        else [guard.known("moving joint", pattern, free)]
    )
    if not found:
        raise ArgumentError(
            f"no moving joint is called like {pattern!r}; there are: {', '.join(free[:12])}"
        )
    return found


def _welded(joint: Joint, value: float) -> Joint:
    """The joint at its coordinate, fixed: the child's frame turned or shifted by it."""
    rotation, position = joint.rotation, joint.position
    if joint.kind == "prismatic":
        shift = frames.apply(rotation, [value * a for a in joint.axis])
        position = frames.add(position, shift)
    else:
        rotation = frames.multiply(rotation, frames.about_axis(joint.axis, value))
    return Joint(
        joint.name, "fixed", joint.parent, joint.child, position, rotation, limits=Limits()
    )
