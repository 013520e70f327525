"""Units of joints: rad where they turn, m where they slide."""

from __future__ import annotations

from armature.robot.model import Robot


def unit_of(robot: Robot, joint: str, either: str) -> str:
    """The half of "rad/s or m/s" that fits a joint; all of it where the name is none of a single joint (coupled axes)."""
    kinds = {j.name: j.kind for j in robot.joints}
    turning, _, sliding = either.partition(" or ")
    if joint not in kinds or not sliding:
        return either
    return sliding if kinds[joint] == "prismatic" else turning
