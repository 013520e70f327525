"""Drives for a robot whose file names none: the smallest of the catalogue's joint motors that can give the joint's torque."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import isfinite

from armature.drive import Amplifier, Drive, Gear, Motor, catalogue
from armature.robot.library import library
from armature.robot.model import Joint, Robot

TURNING = ("torque-48v-joint-s", "torque-48v-joint-m", "torque-48v-joint-l", "servo-560v-2kw")
SLIDING = ("linear-48v-100n", "linear-325v-500n")
RATIO = 100.0
NOTE = (
    "Its file names no drives: typical ones of the catalogue were put in, just strong enough for each joint. "
    "Open a YAML file with your drives to see your own energy (`armature init` writes one to fill in)."
)


def with_typical_drives(robot: Robot) -> Robot:
    """The same robot with a drive at every joint that can have one, if it has none."""
    if robot.drives:
        return robot
    moving = [
        j for j in robot.joints if j.name in robot.joint_names and j.kind in ("revolute", "continuous", "prismatic") and not j.passive
    ]
    return robot.with_drives({joint.name: _drive(joint) for joint in moving})


@lru_cache(maxsize=64)
def is_typical(robot: Robot) -> bool:
    """Whether a robot outside the library has nothing but these drives."""
    bare = replace(robot, drives=())
    return bool(robot.drives) and robot.name not in library() and with_typical_drives(bare).drives == robot.drives


def _drive(joint: Joint) -> Drive:
    slides = joint.kind == "prismatic"
    named = abs(joint.reduction or 1.0)  # files without a gear often say 1
    ratio = 1.0 if slides else named if named != 1.0 else RATIO
    motors = [catalogue().motors[name] for name in (SLIDING if slides else TURNING)]
    wanted = joint.limits.torque if isfinite(joint.limits.torque) else 0.0
    strong = [m for m in motors if m.peak_current * m.torque_constant * ratio >= wanted]
    motor = strong[0] if strong else motors[-1]
    return Drive(motor, Gear(ratio), Amplifier(_voltage(motor)))


def _voltage(motor: Motor) -> float:
    """The voltage in a motor's name: torque-48v-joint-s runs on 48 V."""
    return float(next(part[:-1] for part in motor.name.split("-") if part.endswith("v") and part[:-1].isdigit()))
