"""Joint friction."""

from __future__ import annotations

import math
from dataclasses import dataclass

from armature.drive.component import Component, quantity
from armature.drive.corner import EXACT, Smooth, magnitude, rounded, side
from armature.spatial.numbers import Number, exp


@dataclass(frozen=True)
class Friction(Component):
    """Friction of a joint, on the joint's side of the gear; it always opposes the motion.

    viscous: N·m·s/rad or N·s/m.  coulomb: N·m or N.
    stiction: what breaking away takes above Coulomb's, N·m or N; it decays with velocity as
    exp(−(v/stribeck_velocity)²).
    stribeck_velocity: rad/s or m/s.  load: friction per unit of the torque or force carried,
    dimensionless. All are ≥ 0 (stribeck_velocity > 0).
    """

    viscous: float = quantity(
        "N*m*s/rad", 0.0, least=0, hint="friction takes energy, never gives it"
    )
    coulomb: float = quantity("N*m", 0.0, least=0, hint="friction takes energy, never gives it")
    stiction: float = quantity(
        "N*m", 0.0, least=0, hint="give what breaking away takes above Coulomb's friction"
    )
    stribeck_velocity: float = quantity(
        "rad/s", 0.1, above=0, hint="give the velocity at which stiction has fallen to 1/e"
    )
    load: float = quantity(
        "", 0.0, least=0, most=0.95, hint="give the friction per unit of torque carried"
    )

    def torque(self, v: Number, load: Number = 0.0, smooth: Smooth = EXACT) -> Number:
        """Torque or force that the friction takes from the drive at velocity v under the torque
        `load`; N·m or N.

        c v + [f_c + f_s exp(−(v/v_s)²)] sign v + μ |load| sign v; zero at standstill, where
        `holding` says what it can carry.
        Smooth: the power v·torque is off by at most 0.3003 [(coulomb + stiction) smooth.velocity +
        load-coefficient · smooth.power]."""
        result = self.viscous * v
        if rounded(self.coulomb) or rounded(self.stiction):
            dry = self.coulomb
            if rounded(self.stiction):
                dry = dry + self.stiction * exp(-((v / self.stribeck_velocity) ** 2))
            result = result + dry * smooth.side(v)
        if rounded(self.load) and rounded(smooth.torque):
            result = result + self.load * magnitude(load, smooth.torque) * smooth.side(v)
        elif rounded(self.load):
            # |load| sign v = load · sign(load · v): one corner instead of two
            result = result + self.load * load * side(load * smooth.sense(v), smooth.power)
        return result

    def holding(self, load: float = 0.0) -> float:
        """The largest torque or force that the friction carries at standstill under `load`; N·m or
        N."""
        return self.coulomb + self.stiction + self.load * abs(load)

    @property
    def peak_velocity(self) -> float:
        """|v| > 0 at which the friction has its local maximum, rad/s or m/s; 0 where it is largest
        at standstill or has none.

        Stribeck's law rises with the viscous part, peaks where c = 2 f_s v/v_s² exp(−(v/v_s)²), and
        falls before it rises again."""
        if not (self.viscous and self.stiction):
            return 0.0
        wanted = self.viscous * self.stribeck_velocity / (2 * self.stiction)
        low, high = 0.0, 0.5**0.5  # x exp(−x²) rises up to 1/√2
        if wanted >= high * math.exp(-0.5):
            return 0.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if middle * math.exp(-middle * middle) < wanted else (low, middle)
            )
        return high * self.stribeck_velocity
