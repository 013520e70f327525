"""Gears: what passes from the motor's shaft to the joint, by direction of power flow ([20], [54],
corrected)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np

from armature.drive.component import Component, quantity
from armature.drive.corner import (
    EXACT,
    Smooth,
    by_direction,
    fraction,
    magnitude,
    ramp,
    undo_direction,
)
from armature.errors import RobotError
from armature.spatial.numbers import Number, is_symbol

Rule = Literal["mechanical", "thesis"]
# of a fixed point: the efficiency changes little with the torque, each pass gains a digit or more
TABLE_PASSES = 5


@dataclass(frozen=True)
class EfficiencyTable:
    """Efficiency over the motor's speed and the torque carried: linear between the entries,
    constant outside.

    speeds: rad/s at the motor's shaft, rising.  loads: N·m (N) at the joint, rising.
    values: one row for each speed, one entry for each load, in (0, 1].
    """

    speeds: tuple[float, ...]
    loads: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        for name in ("speeds", "loads"):
            axis = tuple(float(x) for x in getattr(self, name))
            object.__setattr__(self, name, axis)
            if not axis or axis[0] < 0 or any(b <= a for a, b in itertools.pairwise(axis)):
                raise RobotError(
                    f"efficiency table: {name} = {axis} must start at 0 or above and rise; sort"
                    " them and remove repeated entries"
                )
        object.__setattr__(
            self, "values", tuple(tuple(float(x) for x in row) for row in self.values)
        )
        if len(self.values) != len(self.speeds) or any(
            len(row) != len(self.loads) for row in self.values
        ):
            raise RobotError(
                f"efficiency table: needs {len(self.speeds)} rows (speeds) of {len(self.loads)}"
                " values (loads)"
            )
        bad = [x for row in self.values for x in row if not 0 < x <= 1]
        if bad:
            raise RobotError(
                f"efficiency table: value {bad[0]:g} must be above 0 and at most 1; give fractions,"
                " not per cent"
            )

    def __call__(self, speed: Number, load: Number, width: float = 0.0) -> Number:
        """Efficiency at a speed and a load (signs do not matter). `width` rounds the corners, as a
        fraction of a cell: the result is off by at most (width/2) · Σ|mixed differences of the
        values| + the slope times the rounding of |x| at zero."""
        # bilinear interpolation as Σ D_ij a_i(speed) b_j(load): D are differences of the values, a
        # and b fractions of a cell passed
        a = self._passed(speed, self.speeds, width)
        b = self._passed(load, self.loads, width)
        differences = np.diff(
            np.diff(np.array(self.values), axis=0, prepend=0.0), axis=1, prepend=0.0
        )
        return sum(
            float(differences[i, j]) * (a[i] * b[j]) for i in range(len(a)) for j in range(len(b))
        )

    @staticmethod
    def _passed(x: Number, knots: tuple[float, ...], width: float) -> list[Number]:
        if len(knots) == 1:
            return [1.0]
        size = magnitude(x, width * (knots[1] - knots[0]))
        return [1.0] + [
            fraction(size, start, end, width) for start, end in itertools.pairwise(knots)
        ]


@dataclass(frozen=True)
class Gear(Component):
    """A reduction: rotor angle = ratio × joint coordinate.

    ratio: signed; rad/rad, or rad/m for a screw or pinion on a prismatic joint (the thesis's
    1/Red).
    efficiency: η in (0, 1] or an EfficiencyTable; joint torque = η·ratio·shaft torque while the
    motor drives, ratio·shaft torque/η while it is driven.
    efficiency_back: another η while the load drives, in [0, 1]; 0: self-locking.  inertia: at the
    motor's shaft, kg·m².
    backlash: full play at the joint, rad or m.  stiffness: at the joint, N·m/rad.
    maximum_torque: carried at the joint, N·m.  maximum_speed: at the motor's shaft, rad/s.
    mass: of the whole gear, kg, and price, in any currency: for the choice of drives only.
    rule: which power decides the direction: "mechanical" (i q̇, physics) or "thesis" (R i² + K i
    q̇, as printed in [20], [54])."""

    ratio: float = quantity(
        "", 1.0, hint="give the rotor's angle per joint coordinate, with its sign"
    )
    efficiency: float | EfficiencyTable = 1.0
    efficiency_back: float | None = quantity(
        "", None, least=0, most=1, hint="give a fraction, not per cent"
    )
    inertia: float = quantity(
        "kg*m^2", 0.0, least=0, hint="give the gear's inertia at the motor's shaft"
    )
    backlash: float = quantity("rad", 0.0, least=0, hint="give the full play at the joint")
    stiffness: float = quantity("N*m/rad", inf, above=0, hint="leave it out for a rigid gear")
    maximum_torque: float = quantity(
        "N*m", inf, above=0, hint="leave it out if there is no such limit"
    )
    maximum_speed: float = quantity(
        "rad/s", inf, above=0, hint="leave it out if there is no such limit"
    )
    rule: Rule = "mechanical"
    name: str = ""
    mass: float = quantity("kg", 0.0, least=0, hint="give the mass of the whole gear")
    price: float = quantity("", 0.0, least=0, hint="give its price, in any currency")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ratio == 0 or not np.isfinite(self.ratio):
            raise RobotError(
                f"{self.label}: ratio = {self.ratio:g} must be finite and not 0; give the rotor's"
                " angle per joint coordinate, with its sign"
            )
        if not isinstance(self.efficiency, EfficiencyTable):
            rule = quantity("", above=0, most=1, hint="give a fraction, not per cent").metadata
            object.__setattr__(
                self, "efficiency", self._checked("efficiency", self.efficiency, rule)
            )
        if self.rule not in ("mechanical", "thesis"):
            raise RobotError(f"{self.label}: rule = {self.rule!r} must be 'mechanical' or 'thesis'")

    @property
    def lossless(self) -> bool:
        """True where both directions pass all power."""
        if is_symbol(self.efficiency) or is_symbol(self.efficiency_back):
            return False
        return self.efficiency == 1.0 and self.efficiency_back in (None, 1.0)

    @property
    def self_locking(self) -> bool:
        """True where no load drives the motor: what the gear carries then does not follow from the
        motor's torque."""
        return self.efficiency_back == 0.0

    def factors(
        self, torque: Number, velocity: Number, smooth: Smooth = EXACT
    ) -> tuple[Number, Number]:
        """(1/η, η_back): motor torque per torque carried, both at the joint, while the motor drives
        and while it is driven."""
        if isinstance(self.efficiency, EfficiencyTable):
            eta = self.efficiency(self.ratio * velocity, torque, smooth.table)
        else:
            eta = self.efficiency
        return 1 / eta, eta if self.efficiency_back is None else self.efficiency_back

    def effort(
        self,
        torque: Number,
        velocity: Number,
        smooth: Smooth = EXACT,
        resistance: Number = 0.0,
        constant: float = 1.0,
    ) -> Number:
        """[20] backwards: motor torque, seen at the joint (= ratio × shaft torque), for a torque
        carried at a joint velocity.

        At standstill the least that holds; `holding_band` gives all that do. resistance (Ω) and
        constant (K at the joint, N·m/A) serve rule="thesis". Smooth: the power effort × velocity is
        off by at most 0.3003·smooth.power·(1/η − η)/2, and the effort stays in the holding band.
        """
        if self.lossless:
            return torque
        forward, backward = self.factors(torque, velocity, smooth)
        deciding = torque * smooth.sense(velocity)
        if self.rule == "thesis":
            # electrical power with the lesser current; where both branches fulfil [20] this takes
            # the one with less heat
            least = backward * torque / constant
            deciding = (resistance * least + constant * velocity) * least
        return torque * by_direction(deciding, forward, backward, smooth.power)

    def one_sided(self, torque: Number, velocity: Number, sign: float, smooth: Smooth) -> Number:
        """The effort for a torque carried if the joint moves forward (sign 1) or backward (−1),
        whatever its velocity: convex or concave,

        ½(1/η + η_b) c ± ½(1/η − η_b) (√(c² + w²) − w),   w = smooth.torque; zero at c = 0, so that
        a wide w adds no load."""
        forward, backward = self.factors(torque, velocity, smooth)
        return (forward + backward) / 2 * torque + sign * (forward - backward) / 2 * (
            magnitude(torque, smooth.torque) - smooth.torque
        )

    def delivered(
        self,
        effort: Number,
        velocity: Number,
        smooth: Smooth = EXACT,
        resistance: Number = 0.0,
        constant: float = 1.0,
    ) -> Number:
        """[20]: torque that reaches the joint from a motor torque seen at the joint; efficiency
        tables are read at what arrives."""
        if self.lossless:
            return effort
        carried = effort
        for _ in range(TABLE_PASSES if isinstance(self.efficiency, EfficiencyTable) else 1):
            carried = self._carried(effort, carried, velocity, smooth, resistance, constant)
        return carried

    def _carried(
        self,
        effort: Number,
        estimate: Number,
        velocity: Number,
        smooth: Smooth,
        resistance: Number,
        constant: float,
    ) -> Number:
        """One pass of `delivered`, with the efficiency at an estimate of the torque carried."""
        forward, backward = self.factors(estimate, velocity, smooth)
        if isinstance(backward, float) and backward == 0.0:
            raise RobotError(
                f"{self.label}: self-locking (efficiency_back = 0) leaves the driven torque open;"
                " give a small efficiency_back"
            )
        if self.rule == "thesis":
            electrical = resistance * (effort / constant) ** 2 + effort * velocity
            return effort * by_direction(electrical, 1 / forward, 1 / backward, smooth.power)
        return undo_direction(effort, velocity, forward, backward, smooth.power)

    def holding_band(self, torque: float) -> tuple[float, float]:
        """At standstill any motor torque (seen at the joint) between these holds the load: η·torque
        and torque/η, sorted."""
        forward, backward = self.factors(torque, 0.0)
        a, b = sorted((float(backward * torque), float(forward * torque)))
        return a, b

    def mode(self, torque: Number, velocity: Number, driving: bool) -> tuple[Number, Number]:
        """The law with its direction fixed: (motor torque at the joint, g) with g ≤ 0 in W where
        the direction is right."""
        forward, backward = self.factors(torque, velocity)
        return (
            (torque * forward, -torque * velocity)
            if driving
            else (torque * backward, torque * velocity)
        )

    def complementarity(
        self, torque: Number, velocity: Number, plus: Number, minus: Number, direction: Number
    ) -> tuple[Number, tuple[Number, ...], tuple[Number, ...]]:
        """The exact law, standstill included, without a corner: (motor torque at the joint,
        equations = 0, inequalities ≤ 0).

        plus, minus ≥ 0 (W) are the two parts of the power carried, direction in [−1, 1] is free
        only where both vanish."""
        forward, backward = self.factors(torque, velocity)
        effort = torque * ((forward + backward) / 2 + (forward - backward) / 2 * direction)
        equations = (
            torque * velocity - plus + minus,
            (1 - direction) * plus,
            (1 + direction) * minus,
        )
        return effort, equations, (-plus, -minus, direction - 1, -1 - direction)

    def twist_torque(self, twist: Number, width: float = 0.0) -> Number:
        """Torque at the joint for a twist (rotor angle/ratio − joint coordinate): nothing within
        the backlash, stiffness beyond; N·m.

        `width` (rad or m) rounds the two corners; error at most stiffness × width/2."""
        half = self.backlash / 2
        return self.stiffness * (ramp(twist - half, width) - ramp(-twist - half, width))

    def lost_motion(self, torque: float) -> float:
        """How far the joint may be from where the motor's angle says, under a torque: half the
        backlash + wind-up; rad or m."""
        return self.backlash / 2 + abs(torque) / self.stiffness
