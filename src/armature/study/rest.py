"""What it costs to stand still: each axis held by its motor, or by its brake where it has one that
holds the load."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.drive import Brake
from armature.dynamics.compiled import inverse_dynamics
from armature.robot.model import Robot


@dataclass(frozen=True)
class RestingAxis:
    """An axis at rest. holding: W that its motor needs.  standby: W that its amplifier always
    takes.  brake: that holds it, or None.
    current: A of the motor that holds.  copper: W of it that heat the winding.  torque: N·m or N at
    the joint that must be held, less what dry friction holds."""

    holding: float
    standby: float
    brake: Brake | None
    current: float = 0.0
    copper: float = 0.0
    torque: float = 0.0

    def by_motor(self, seconds: float) -> float:
        """Energy of a rest with the motor on and the brake released, J."""
        coil = 0.0 if self.brake is None else self.brake.power
        return (self.holding + self.standby + coil) * seconds

    def rest(self, seconds: float) -> float:
        """Energy of a rest, J: on the brake where there is one and it has time to close and
        open."""
        if self.brake is None:
            return self.by_motor(seconds)
        return self.standby * seconds + self.brake.rest_energy(seconds, self.holding)


@dataclass(frozen=True)
class Rest:
    """A robot at rest in one configuration."""

    axes: tuple[RestingAxis, ...]

    def energy(self, seconds: float) -> float:
        """Energy of waiting so long (s), on the brakes where there are any, J."""
        return sum((axis.rest(seconds) for axis in self.axes), 0.0)

    def held(self, seconds: float) -> float:
        """Energy of standing ready so long (s): all motors on, brakes released, J."""
        return sum((axis.by_motor(seconds) for axis in self.axes), 0.0)


def rest(robot: Robot, q: Any) -> Rest:
    """The robot at rest at q (n,), rad or m: gravity's torques, less what dry friction holds,
    carried by motors or brakes."""
    q = np.asarray(q, dtype=float)
    zero, train = np.zeros(robot.n), robot.drivetrain
    load = np.asarray(inverse_dynamics(robot, q, zero, zero))
    left = [np.sign(t) * max(0.0, abs(t) - f.holding(t)) for t, f in zip(load, train.frictions)]
    torques = [float(t) for t in train.axis_torque(left)]
    axes = []
    for drive, torque in zip(train.drives, torques):
        standby = drive.amplifier.standby
        brake = drive.brake if drive.brake is not None and drive.brake.can_hold(torque) else None
        current = float(drive.holding_current(torque))
        copper = drive.motor.resistance * current**2
        axes.append(
            RestingAxis(
                max(0.0, drive.holding_power(torque) - standby),
                standby,
                brake,
                current,
                copper,
                torque,
            )
        )
    return Rest(tuple(axes))


def coil_power(robot: Robot) -> float:
    """What the coils of all brakes take while they are released, W."""
    return sum((d.brake.power for d in robot.drivetrain.drives if d.brake is not None), 0.0)


def with_brakes(robot: Robot, brake: Brake) -> Robot:
    """The robot with this brake on every axis that has none."""
    couplings = (
        replace(c, drives=tuple(d if d.brake else replace(d, brake=brake) for d in c.drives))
        for c in robot.drives
    )
    return replace(robot, drives=tuple(couplings))
