"""Stand-in drives for a robot whose file names none: motors of the catalogue with a plain gear,
sized by gravity and speed.

Each joint gets the weakest motor, all of one voltage, and with it the gear of the least torque, of
which

- the peak torque is at least twice what gravity asks for anywhere in the joints' ranges plus what
  brings the joint to its speed in
  `RISE` seconds against the friction that the robot's file names, and a tenth of what the strongest
  joint needs (for what the hand will carry), though not more than the joint's own limit of torque,
  unless that is no real one (`doubtful_torque_limits`),
- the continuous torque holds the robot anywhere and overcomes dry friction besides, and is a third
  of that peak,
- the speed without load is a third above the joint's limit of velocity (one above `FASTEST` is a
  placeholder, as none is).

Where no voltage has motors that are strong and fast enough for all joints, each joint takes the
best of all voltages.

What the robot's file knows of a drive stays (`as_the_file_says`): its rotor and its dry friction,
as MJCF and identified robots have them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from armature.drive import Amplifier, Drive, Gear, Motor
from armature.drive.catalogue import catalogue
from armature.dynamics.positioning.workspace import (
    doubtful_torque_limits,
    gravity_torques,
    joint_inertias,
)
from armature.robot.model import Joint, Robot

NAME = "stand-in"
RATIOS = (1, 5, 10, 20, 30, 50, 80, 100, 120, 160)
EFFICIENCY = 0.8  # of every gear, both ways
PEAK, HOLD, FAST = (
    2.0,
    1.0,
    1.33,
)  # times gravity for a moment and for long; times the limit of velocity without load
LASTING = 1 / 3  # of the peak torque, for long
# of what the strongest joint needs: what every joint that turns has at least, for what the hand
# will carry
PAYLOAD = 0.1
VOLTAGES = 24.0, 48.0, 325.0, 560.0
RISE = 0.3  # s to the joint's speed
SPEED = {
    False: 2.0,
    True: 0.5,
}  # rad/s, m/s: of joints without a limit of velocity, by whether they slide
FASTEST = {False: 100.0, True: 10.0}  # rad/s, m/s: limits of velocity above that are placeholders
LEAST = {False: 0.1, True: 5.0}  # N·m, N: what a joint needs at least


@dataclass(frozen=True)
class Need:
    """What a joint asks of its drive: for a moment and for long, N·m or N, and its speed, rad/s or
    m/s."""

    peak: float
    lasting: float
    speed: float


def with_stand_ins(robot: Robot) -> Robot:
    """The same robot with a stand-in drive at every joint that can have one, if it has no
    drives."""
    return robot if robot.drives else robot.with_drives(stand_ins(robot))


def has_stand_ins(robot: Robot) -> bool:
    """Whether a robot has stand-in drives."""
    return any(
        drive.name.startswith(NAME) for coupling in robot.drives for drive in coupling.drives
    )


def stand_ins(robot: Robot) -> dict[str, Drive]:
    """{joint: drive} for every joint with one coordinate and no partner."""
    needs = needed(robot)
    joints = drivable(robot)
    for volts in VOLTAGES:
        found = {joint.name: stand_in(joint, needs[joint.name], volts) for joint in joints}
        if all(found.values()):
            break
    else:
        found = {joint.name: stand_in(joint, needs[joint.name]) for joint in joints}
    return {
        joint.name: as_the_file_says(
            joint, found[joint.name] or strongest(joint, needs[joint.name])
        )
        for joint in joints
    }


def as_the_file_says(joint: Joint, drive: Drive) -> Drive:
    """The drive without rotor inertia where the robot's file has the joint's rotor, and without
    losses in the gear where it has the joint's dry friction: these are measured with the gear."""
    if joint.rotor is not None and joint.rotor.inertia > 0.0:
        drive = replace(drive, motor=replace(drive.motor, inertia=0.0))
    if joint.friction.coulomb > 0.0:
        drive = replace(drive, gear=replace(drive.gear, efficiency=1.0))
    return drive


def drivable(robot: Robot) -> list[Joint]:
    """Joints that can have a drive of their own."""
    kinds = ("revolute", "continuous", "prismatic")
    return [
        j for j in robot.joints if j.name in robot.joint_names and j.kind in kinds and not j.passive
    ]


def needed(robot: Robot) -> dict[str, Need]:
    """What each joint asks of its drive."""
    bare = replace(robot, drives=())
    if bare.nq == bare.nv and not bare.loops:
        hold, inertia = gravity_torques(bare), joint_inertias(bare)
    else:  # a floating base, or loops: what single joints hold is not known
        hold, inertia = np.zeros(robot.nv), np.zeros(robot.nv)
    at = {
        joint.name: robot.joint_names.index(joint.name) + robot.nv - len(robot.joint_names)
        for joint in drivable(robot)
    }
    turns = [PEAK * hold[at[joint.name]] for joint in drivable(robot) if joint.kind != "prismatic"]
    spare = PAYLOAD * max(turns, default=0.0)
    doubtful = doubtful_torque_limits(bare)
    found = {}
    for joint in drivable(robot):
        k, trusted = at[joint.name], joint.name not in doubtful
        found[joint.name] = _need(joint, float(hold[k]), float(inertia[k]), spare, trusted)
    return found


def _need(joint: Joint, hold: float, inertia: float, spare: float, trusted: bool) -> Need:
    """spare: what a joint that turns has at least, N·m; trusted: whether its torque limit is."""
    slides, limits = joint.kind == "prismatic", joint.limits
    known = 0.0 < limits.velocity <= FASTEST[slides]
    speed = limits.velocity if known else SPEED[slides]
    friction = joint.friction.coulomb + joint.friction.viscous * speed
    peak = PEAK * hold + inertia * speed / RISE + friction
    peak = max(peak, LEAST[slides], 0.0 if slides else spare)
    if trusted:
        peak = min(peak, limits.torque)
    lasting = max(HOLD * hold + joint.friction.coulomb, LASTING * peak)
    return Need(float(peak), float(lasting), speed)


def stand_in(joint: Joint, need: Need, volts: float = np.inf) -> Drive | None:
    """The weakest drive of a voltage that gives what a joint needs; None where there is none.
    Linear motors have their own voltage."""
    fit = [d for d in choices(joint) if volts in (d.amplifier.voltage, np.inf) or d.motor.linear]
    fit = [
        d
        for d in fit
        if top_speed(d) >= FAST * need.speed
        and peak_torque(d) >= need.peak
        and lasting_torque(d) >= need.lasting
    ]
    return min(
        fit,
        key=lambda d: (d.motor.torque_constant * d.motor.continuous_current, peak_torque(d)),
        default=None,
    )


def strongest(joint: Joint, need: Need) -> Drive:
    """The strongest drive of those that are fast enough, or the fastest."""
    quick = [d for d in choices(joint) if top_speed(d) >= FAST * need.speed] or [
        max(choices(joint), key=top_speed)
    ]
    return max(quick, key=lasting_torque)


def choices(joint: Joint) -> tuple[Drive, ...]:
    """All stand-ins for a joint, by its kind and the gear ratio that the robot's file names, if
    any. A joint that slides by a screw or rack has one, in rad/m, and a motor that turns."""
    ratio = abs(joint.reduction or 1.0)
    return sliding() if joint.kind == "prismatic" and ratio == 1.0 else turning(ratio)


def peak_torque(drive: Drive) -> float:
    """What a stand-in gives for a moment at the joint, N·m or N."""
    return (
        drive.gear.ratio
        * drive.motor.torque_constant
        * drive.motor.peak_current
        * _efficiency(drive)
    )


def lasting_torque(drive: Drive) -> float:
    """What it gives for long, N·m or N."""
    return (
        drive.gear.ratio
        * drive.motor.torque_constant
        * drive.motor.continuous_current
        * _efficiency(drive)
    )


def top_speed(drive: Drive) -> float:
    """Its speed without load at the joint, rad/s or m/s."""
    return (
        min(drive.amplifier.voltage / drive.motor.k_e, drive.motor.maximum_speed) / drive.gear.ratio
    )


def _efficiency(drive: Drive) -> float:
    return 1.0 if drive.gear.ratio == 1 else EFFICIENCY


@functools.cache
def turning(reduction: float = 1.0) -> tuple[Drive, ...]:
    """Stand-ins for joints that turn; reduction: the ratio that the robot's file names, 1 where it
    names none."""
    motors = [m for m in catalogue().motors.values() if not m.linear]
    return tuple(
        _drive(motor, ratio)
        for motor in motors
        for ratio in (RATIOS if reduction == 1.0 else (reduction,))
    )


@functools.cache
def sliding() -> tuple[Drive, ...]:
    """Stand-ins for joints that slide: linear motors."""
    return tuple(_drive(motor, 1) for motor in catalogue().motors.values() if motor.linear)


def _drive(motor: Motor, ratio: float) -> Drive:
    gear = Gear(float(ratio)) if ratio == 1 else Gear(float(ratio), efficiency=EFFICIENCY)
    return Drive(motor, gear, Amplifier(voltage_of(motor)), name=NAME)


def voltage_of(motor: Motor) -> float:
    """The voltage in a motor's name: torque-48v-joint-s runs on 48 V."""
    return float(
        next(
            part[:-1]
            for part in motor.name.split("-")
            if part.endswith("v") and part[:-1].isdigit()
        )
    )
