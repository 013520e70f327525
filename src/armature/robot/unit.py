"""Units of joints: rad where they turn, m where they slide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armature.drive.units import parse
from armature.errors import ArgumentError
from armature.robot.model import Robot

LIMIT_UNITS = {
    "lower": "rad or m",
    "upper": "rad or m",
    "velocity": "rad/s or m/s",
    "acceleration": "rad/s^2 or m/s^2",
    "jerk": "rad/s^3 or m/s^3",
    "torque": "N*m or N",
    "torque_rate": "N*m/s or N/s",
}


def unit_of(robot: Robot, joint: str, either: str) -> str:
    """The half of "rad/s or m/s" that fits a joint; all of it where the name is none of a single
    joint (coupled axes)."""
    kinds = {j.name: j.kind for j in robot.joints}
    turning, _, sliding = either.partition(" or ")
    if joint not in kinds or not sliding:
        return either
    return sliding if kinds[joint] == "prismatic" else turning


def suits(robot: Robot, joint: str, value: Any, either: str) -> None:
    """Refuse a text with a unit that is none of a joint's: an angle for one that slides, a length
    for one that turns; as in `unit_of`."""
    unit = unit_of(robot, joint, either)
    if isinstance(value, str) and unit != either:
        try:
            parse(value, unit)
        except ArgumentError as e:
            does = "slides" if robot.joint(joint).kind == "prismatic" else "turns"
            raise ArgumentError(f"joint {joint!r} {does}: {e}") from None


def limits_suit(robot: Robot, joint: str, given: Any) -> None:
    """Refuse units that are none of a joint's in what a file says of its limits, {name: number or
    text}; anything else is not looked at."""
    for key, value in given.items() if isinstance(given, Mapping) else ():
        suits(robot, joint, value, LIMIT_UNITS.get(key, ""))
