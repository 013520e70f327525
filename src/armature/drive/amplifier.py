"""The power amplifier between supply and motor."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from armature.drive.component import Component, quantity
from armature.drive.corner import EXACT, Smooth, by_direction
from armature.spatial.numbers import Number, is_symbol


@dataclass(frozen=True)
class Amplifier(Component):
    """A servo amplifier.

    voltage: largest at the motor, V [33].  peak_current, continuous_current: A (continuous: root
    mean square over the cycle).
    efficiency: in (0, 1], the same both ways.  standby: power that it always takes, W.
    """

    voltage: float = quantity("V", inf, above=0, hint="leave it out if there is no such limit")
    peak_current: float = quantity("A", inf, above=0, hint="leave it out if there is no such limit")
    continuous_current: float = quantity(
        "A", inf, above=0, hint="leave it out if there is no such limit"
    )
    efficiency: float = quantity("", 1.0, above=0, most=1, hint="give a fraction, not per cent")
    standby: float = quantity("W", 0.0, least=0, hint="give the power it takes without motion")
    name: str = ""

    def taken(self, terminal: Number, smooth: Smooth = EXACT) -> Number:
        """Power taken from the supply, W, when the motor's terminals take `terminal` (negative:
        given back).

        max(P/η, ηP) + standby; smooth: off by at most 0.3003·smooth.power·(1/η − η)/2.
        """
        if not is_symbol(self.efficiency) and self.efficiency == 1.0:
            return terminal + self.standby
        return (
            terminal * by_direction(terminal, 1 / self.efficiency, self.efficiency, smooth.power)
            + self.standby
        )
