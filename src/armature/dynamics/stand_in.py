"""Stand-in drives for a robot whose file names none: motors of the catalogue with a plain gear, sized by gravity and speed.

Each joint gets the smallest motor and gear ratio of which

- the peak torque is at least twice what gravity asks for anywhere in the joints' ranges plus what brings the joint to its speed in
  `RISE` seconds, though not more than the joint's own limit of torque where that can hold the robot at all,
- the continuous torque holds the robot anywhere,
- the speed without load is a third above the joint's limit of velocity.

Where nothing in the catalogue is strong or fast enough, the strongest of those that are fast enough is taken.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from armature.drive import Amplifier, Drive, Gear, Motor
from armature.drive.catalogue import catalogue
from armature.dynamics.workspace import gravity_torques, joint_inertias
from armature.robot.model import Joint, Robot

NAME = "stand-in"
RATIOS = (1, 5, 10, 20, 30, 50, 80, 100, 120, 160)
EFFICIENCY = 0.8  # of every gear, both ways
PEAK, HOLD, FAST = 2.0, 1.0, 1.33  # times gravity for a moment and for long; times the limit of velocity without load
RISE = 0.3  # s to the joint's speed
SPEED = {False: 2.0, True: 0.5}  # rad/s, m/s: of joints without a limit of velocity, by whether they slide
LEAST = {False: 0.1, True: 5.0}  # N·m, N: what a joint needs at least


@dataclass(frozen=True)
class Need:
    """What a joint asks of its drive: for a moment and for long, N·m or N, and its speed, rad/s or m/s."""

    peak: float
    lasting: float
    speed: float


def with_stand_ins(robot: Robot) -> Robot:
    """The same robot with a stand-in drive at every joint that can have one, if it has no drives."""
    return robot if robot.drives else robot.with_drives(stand_ins(robot))


def has_stand_ins(robot: Robot) -> bool:
    """Whether a robot has stand-in drives."""
    return any(drive.name.startswith(NAME) for coupling in robot.drives for drive in coupling.drives)


def stand_ins(robot: Robot) -> dict[str, Drive]:
    """{joint: drive} for every joint with one coordinate and no partner."""
    needs = needed(robot)
    return {joint.name: stand_in(joint, needs[joint.name]) for joint in drivable(robot)}


def drivable(robot: Robot) -> list[Joint]:
    """Joints that can have a drive of their own."""
    kinds = ("revolute", "continuous", "prismatic")
    return [j for j in robot.joints if j.name in robot.joint_names and j.kind in kinds and not j.passive]


def needed(robot: Robot) -> dict[str, Need]:
    """What each joint asks of its drive."""
    bare = replace(robot, drives=())
    if bare.nq == bare.nv and not bare.loops:
        hold, inertia = gravity_torques(bare), joint_inertias(bare)
    else:  # a floating base, or loops: what single joints hold is not known
        hold, inertia = np.zeros(robot.nv), np.zeros(robot.nv)
    return {joint.name: _need(joint, hold[k], inertia[k])
            for joint in drivable(robot) for k in [_column(bare, joint.name)]}  # fmt: skip


def _column(robot: Robot, name: str) -> int:
    return robot.joint_names.index(name) + robot.nv - len(robot.joint_names)


def _need(joint: Joint, hold: float, inertia: float) -> Need:
    slides, limits = joint.kind == "prismatic", joint.limits
    speed = limits.velocity if np.isfinite(limits.velocity) and limits.velocity > 0 else SPEED[slides]
    peak = PEAK * hold + inertia * speed / RISE
    if limits.torque > hold:  # else the file's limit is none: nothing could hold the robot
        peak = min(peak, limits.torque)
    return Need(max(peak, LEAST[slides]), HOLD * hold, speed)


def stand_in(joint: Joint, need: Need) -> Drive:
    """The smallest drive of the catalogue that a joint's need asks for."""
    choices = sliding() if joint.kind == "prismatic" else turning(abs(joint.reduction or 1.0))
    quick = [d for d in choices if top_speed(d) >= FAST * need.speed] or [max(choices, key=top_speed)]
    enough = [d for d in quick if peak_torque(d) >= need.peak and lasting_torque(d) >= need.lasting]
    return min(enough, key=lambda d: (peak_torque(d), d.inertia)) if enough else max(quick, key=lasting_torque)


def peak_torque(drive: Drive) -> float:
    """What a stand-in gives for a moment at the joint, N·m or N."""
    return drive.gear.ratio * drive.motor.torque_constant * drive.motor.peak_current * _efficiency(drive)


def lasting_torque(drive: Drive) -> float:
    """What it gives for long, N·m or N."""
    return drive.gear.ratio * drive.motor.torque_constant * drive.motor.continuous_current * _efficiency(drive)


def top_speed(drive: Drive) -> float:
    """Its speed without load at the joint, rad/s or m/s."""
    return min(drive.amplifier.voltage / drive.motor.k_e, drive.motor.maximum_speed) / drive.gear.ratio


def _efficiency(drive: Drive) -> float:
    return 1.0 if drive.gear.ratio == 1 else EFFICIENCY


@functools.cache
def turning(reduction: float = 1.0) -> tuple[Drive, ...]:
    """Stand-ins for joints that turn; reduction: the ratio that the robot's file names, 1 where it names none."""
    motors = [m for m in catalogue().motors.values() if not m.linear]
    return tuple(_drive(motor, ratio) for motor in motors for ratio in (RATIOS if reduction == 1.0 else (reduction,)))


@functools.cache
def sliding() -> tuple[Drive, ...]:
    """Stand-ins for joints that slide: linear motors."""
    return tuple(_drive(motor, 1) for motor in catalogue().motors.values() if motor.linear)


def _drive(motor: Motor, ratio: float) -> Drive:
    gear = Gear(float(ratio)) if ratio == 1 else Gear(float(ratio), efficiency=EFFICIENCY)
    return Drive(motor, gear, Amplifier(voltage_of(motor)), name=NAME)


def voltage_of(motor: Motor) -> float:
    """The voltage in a motor's name: torque-48v-joint-s runs on 48 V."""
    return float(next(part[:-1] for part in motor.name.split("-") if part.endswith("v") and part[:-1].isdigit()))
