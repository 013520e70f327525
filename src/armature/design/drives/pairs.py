"""All pairs of a motor and a gear that fit a joint, as columns of numbers: bounds and costs are
computed from them for thousands of pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from armature.design.drives.catalogue_file import fitting
from armature.drive.amplifier import Amplifier
from armature.drive.catalogue import Catalogue
from armature.drive.drive import IDEAL_AMPLIFIER, NO_FRICTION, NO_GEAR, Drive
from armature.drive.gear import EfficiencyTable, Gear
from armature.drive.motor import Motor
from armature.errors import ArgumentError
from armature.robot.model import Robot

DIRECT = "direct drive"


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of motors and gears for one joint. Every column is (pairs,), SI, seen at the motor's
    shaft unless said otherwise.

    motors, gears: places in the lists of parts.  template: amplifier, friction and brake of the
    joint's drive.
    """

    joint: str
    parts: tuple[tuple[Motor, ...], tuple[Gear, ...]]
    voltages: np.ndarray
    template: Drive | None
    motors: np.ndarray
    gears: np.ndarray

    def __len__(self) -> int:
        return len(self.motors)

    def chosen(self, which: np.ndarray) -> Pairs:
        """Some of the pairs: their places, or a mask."""
        return replace(self, motors=self.motors[which], gears=self.gears[which])

    def drive(self, k: int) -> Drive:
        """The k-th pair as a drive, with the amplifier, friction and brake of the joint's own."""
        motor, gear = self.parts[0][self.motors[k]], self.parts[1][self.gears[k]]
        if self.template is not None:
            return replace(self.template, motor=motor, gear=gear, name="")
        volts = float(self.voltages[self.motors[k]])
        amplifier = Amplifier(voltage=volts) if np.isfinite(volts) else IDEAL_AMPLIFIER
        return Drive(motor, gear, amplifier, NO_FRICTION)

    def name(self, k: int) -> str:
        """Motor and gear by name."""
        motor, gear = self.parts[0][self.motors[k]], self.parts[1][self.gears[k]]
        return f"{motor.name} + {gear.name or DIRECT}"

    # columns -------------------------------------------------------------------------------------

    def _motor(self, name: str) -> np.ndarray:
        return np.array([getattr(m, name) for m in self.parts[0]])[self.motors]

    def _gear(self, name: str) -> np.ndarray:
        return np.array([getattr(g, name) for g in self.parts[1]])[self.gears]

    @cached_property
    def resistance(self) -> np.ndarray:
        """R, Ω."""
        return self._motor("resistance")

    @cached_property
    def constant(self) -> np.ndarray:
        """K, N·m/A."""
        return self._motor("torque_constant")

    @cached_property
    def back_emf(self) -> np.ndarray:
        """V·s/rad."""
        return self._motor("k_e")

    @cached_property
    def ratio(self) -> np.ndarray:
        """N > 0."""
        return self._gear("ratio")

    @cached_property
    def inertia(self) -> np.ndarray:
        """Rotor and gear seen at the joint, kg·m² (kg)."""
        return (self._motor("inertia") + self._gear("inertia")) * self.ratio**2

    @cached_property
    def iron(self) -> np.ndarray:
        """Constant torque against the motion, N·m."""
        return self._motor("iron_torque")

    @cached_property
    def viscous(self) -> np.ndarray:
        """N·m·s/rad."""
        return self._motor("viscous")

    @cached_property
    def efficiency(self) -> np.ndarray:
        """η while the motor drives; the greatest of a table."""
        return np.array([_best(g) for g in self.parts[1]])[self.gears]

    @cached_property
    def efficiency_back(self) -> np.ndarray:
        """η while the load drives."""
        back = [_best(g) if g.efficiency_back is None else g.efficiency_back for g in self.parts[1]]
        return np.array(back)[self.gears]

    @cached_property
    def holding_efficiency(self) -> np.ndarray:
        """η while the gear holds a load: the least of a table, by which the motor needs least."""
        least = [
            _least(g) if g.efficiency_back is None else g.efficiency_back for g in self.parts[1]
        ]
        return np.array(least)[self.gears]

    @cached_property
    def voltage(self) -> np.ndarray:
        """Largest at the motor, V."""
        if self.template is not None:
            return np.full(len(self), self.template.amplifier.voltage)
        return self.voltages[self.motors]

    @cached_property
    def peak_current(self) -> np.ndarray:
        """A."""
        own = inf if self.template is None else self.template.amplifier.peak_current
        return np.minimum(self._motor("peak_current"), own)

    @cached_property
    def continuous_current(self) -> np.ndarray:
        """A, root mean square; from the mean heat too."""
        own = inf if self.template is None else self.template.amplifier.continuous_current
        heat = np.sqrt(self._motor("average_heat") / self.resistance)
        return np.minimum(np.minimum(self._motor("continuous_current"), heat), own)

    @cached_property
    def speed(self) -> np.ndarray:
        """Largest of motor and gear, rad/s."""
        return np.minimum(self._motor("maximum_speed"), self._gear("maximum_speed"))

    @cached_property
    def gear_torque(self) -> np.ndarray:
        """Largest carried at the joint, N·m (N)."""
        return self._gear("maximum_torque")

    @cached_property
    def peak_heat(self) -> np.ndarray:
        """W."""
        return self._motor("peak_heat")

    @cached_property
    def mass(self) -> np.ndarray:
        """Motor and gear, kg."""
        return self._motor("mass") + self._gear("mass")

    @cached_property
    def price(self) -> np.ndarray:
        """Motor and gear."""
        return self._motor("price") + self._gear("price")


def _best(gear: Gear) -> float:
    eta = gear.efficiency
    return max(map(max, eta.values)) if isinstance(eta, EfficiencyTable) else eta


def _least(gear: Gear) -> float:
    eta = gear.efficiency
    return min(map(min, eta.values)) if isinstance(eta, EfficiencyTable) else eta


def pairs_of(
    robot: Robot, joint: str, found: Catalogue, template: Drive | None, direct: bool
) -> Pairs:
    """The pairs of a catalogue for a joint: rotary motors with gears, or with screws where the
    joint slides; linear motors there without.  direct: motors without a gear, too.

    A gear's direction does not matter here: ratios are positive."""
    kind = robot.joint(joint).kind
    slides = kind == "prismatic"
    motors, gears = list(found.motors), [NO_GEAR, *found.gears.values()]
    gears = [replace(gear, ratio=abs(gear.ratio)) for gear in gears]
    place = {"": 0} | {name: k for k, name in enumerate(found.gears, start=1)}
    at = {name: k for k, name in enumerate(motors)}
    rows = [
        (at[m], place[g])
        for m, g in fitting(found)
        if not found.motors[m].linear and (g in found.screws) == slides
    ]
    for name in motors:
        if found.motors[name].linear == slides and (direct or slides):
            rows.append((at[name], 0))
    if not rows:
        left = f"; left out: {found.notes[0]}" if found.notes else ""
        raise ArgumentError(
            f"joint {joint!r} is {kind}, and the catalogue has no pair of motor and gear for it;"
            f" it has {len(motors)} motors and {len(gears) - 1} gears: check which fit"
            f" together{left}"
        )
    table = np.array(rows)
    parts = tuple(found.motors.values()), tuple(gears)
    voltages = np.array([found.voltages.get(name, inf) for name in motors])
    return Pairs(joint, parts, voltages, template, table[:, 0], table[:, 1])


def count_pairs(pairs: Sequence[Pairs]) -> str:
    """How many pairs there are for each joint."""
    return ", ".join(f"{p.joint} {len(p)}" for p in pairs)
