"""What one axis does at an instant: torques, currents, powers and losses."""

from __future__ import annotations

from dataclasses import dataclass, fields

from armature.spatial.numbers import Number


@dataclass(frozen=True, eq=False)
class Flow:
    """What one axis does at an instant; numbers, arrays or symbols.

    torque: at the joint, N·m (N).  velocity: of the joint, rad/s (m/s).  gear_torque: what passes
    the gear, at the joint, N·m.
    motor_speed: rad/s.  current: A.  voltage: V.
    Powers in W: mechanical (torque × velocity), the losses friction, gear, iron, copper, amplifier
    (with standby), `terminal` (at the motor's terminals) and `power` (taken from the supply) =
    mechanical + all losses, exactly."""

    torque: Number
    velocity: Number
    gear_torque: Number
    motor_speed: Number
    current: Number
    voltage: Number
    mechanical: Number
    friction: Number
    gear: Number
    iron: Number
    copper: Number
    amplifier: Number
    terminal: Number
    power: Number

    @property
    def current_squared(self) -> Number:
        """A²; its mean over a cycle is the square of the continuous (r.m.s.) current."""
        return self.current * self.current


FLOW_QUANTITIES = tuple(f.name for f in fields(Flow))
