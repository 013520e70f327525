"""Holding brakes: closed by a spring, opened by current."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from armature.drive.component import Component, quantity


@dataclass(frozen=True)
class Brake(Component):
    """A brake that holds without current.

    torque: that it holds, seen at the joint, N·m (N).  engage_time, release_time: s.  power: of its
    coil while released, W."""

    torque: float = quantity(
        "N*m", inf, above=0, hint="give the torque that it holds, seen at the joint"
    )
    engage_time: float = quantity("s", 0.0, least=0, hint="give a time")
    release_time: float = quantity("s", 0.0, least=0, hint="give a time")
    power: float = quantity("W", 0.0, least=0, hint="give the coil's power while released")
    name: str = ""

    @property
    def shortest_rest(self) -> float:
        """Closing and opening take so long, s; in a shorter rest the motor holds."""
        return self.engage_time + self.release_time

    def can_hold(self, torque: float) -> bool:
        """True if the load's torque at the joint is within what the brake holds."""
        return abs(torque) <= self.torque

    def rest_energy(self, duration: float, holding_power: float) -> float:
        """Energy of a rest, J, on the brake where that is possible: while it closes and opens the
        motor holds with `holding_power` (W) and the coil is fed while it opens; in between neither
        takes anything. Never more than holding by the motor for the whole rest."""
        by_motor = (holding_power + self.power) * duration
        if duration < self.shortest_rest:
            return by_motor
        return min(by_motor, holding_power * self.shortest_rest + self.power * self.release_time)
