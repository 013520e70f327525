"""A d.c. bus shared by several axes, or robots: capacitor, rectifier that cannot feed back, braking
resistor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from armature.drive.component import Component, quantity
from armature.drive.corner import ramp
from armature.drive.supply import Account, Epigraph, _count, _sum
from armature.errors import RobotError
from armature.spatial.numbers import Number


@dataclass(frozen=True)
class Bus(Component):
    """A d.c. bus: the rectifier keeps it at `voltage` and gives, never takes; braking charges the
    capacitor up to
    `resistor_voltage`, where the chopper starts to burn the rest in the braking resistor.

    capacitance: C, F.  voltage: U₀, V.  resistor_voltage: U_r > U₀, V.  resistance: of the braking
    resistor, Ω (0: as small as needed).
    maximum_voltage: at which the amplifiers switch off, V.
    The stored energy is counted from U₀: E = ½C(U² − U₀²), between 0 and the `capacity`.
    """

    capacitance: float = quantity(
        "F", above=0, hint="give the capacitance of all capacitors on the bus"
    )
    voltage: float = quantity("V", above=0, hint="give the rectified voltage")
    resistor_voltage: float = quantity(
        "V", above=0, hint="give the voltage at which the braking resistor switches on"
    )
    resistance: float = quantity(
        "ohm",
        0.0,
        least=0,
        hint="give the braking resistor, or 0 for one that is always strong enough",
    )
    maximum_voltage: float = quantity(
        "V", inf, above=0, hint="leave it out if there is no such limit"
    )
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.voltage < self.resistor_voltage <= self.maximum_voltage:
            raise RobotError(
                f"{self.label}: needs voltage < resistor_voltage ≤ maximum_voltage, got"
                f" {self.voltage:g}, {self.resistor_voltage:g}, {self.maximum_voltage:g} V; raise"
                " resistor_voltage above voltage"
            )

    @property
    def capacity(self) -> float:
        """Energy that the capacitor takes before the resistor switches on, J."""
        return self.energy(self.resistor_voltage)

    def energy(self, voltage: Number) -> Number:
        """½C(U² − U₀²), J."""
        return 0.5 * self.capacitance * (voltage * voltage - self.voltage**2)

    def voltage_at(self, stored: np.ndarray | float) -> np.ndarray | float:
        """Bus voltage U, V, with the energy `stored` above U₀, J."""
        return np.sqrt(self.voltage**2 + 2 * np.asarray(stored) / self.capacitance)[()]

    def resistor_power(self, stored: Number) -> Number:
        """Most that the braking resistor burns at the stored energy, W: U²/R."""
        return (
            inf
            if self.resistance == 0
            else (self.voltage**2 + 2 * stored / self.capacitance) / self.resistance
        )

    def drawn(self, powers: Sequence[Number], width: float = 0.0) -> Number:
        """What the rectifier gives without help from the capacitor, max(0, ΣP), W: an upper bound;
        `width` (W): at most width/2 above."""
        return ramp(_sum(powers), width)

    def slacks(self, axes: int) -> int:
        """Two: power from the rectifier, power into the resistor."""
        return 2

    def epigraph(self, powers: Sequence[Number], slacks: Sequence[Number]) -> Epigraph:
        """The rectifier's and the resistor's power as free variables ≥ 0, the stored energy as a
        state with rate = rectifier − resistor − ΣP kept in [0, capacity]: exact, since an optimum
        never burns what it could keep."""
        _count(slacks, 2)
        source, resistor = slacks
        return Epigraph(source, (-source, -resistor), source - resistor - _sum(powers))

    def account(self, dt: np.ndarray, powers: np.ndarray, stored: float = 0.0) -> Account:
        """The accounts of M steps of dt (M,) seconds with the axes' mean powers (M, axes), W;
        starts with `stored` J in the capacitor.

        Energy is conserved exactly; the split between rectifier and resistor is exact for powers
        constant in each step unless the resistor is overloaded: then it is of first order in the
        steps.
        """
        demand = dt * np.sum(powers, axis=-1)
        level, drawn, burnt = np.empty_like(demand), np.empty_like(demand), np.empty_like(demand)
        energy = stored
        for n in range(len(demand)):
            energy, drawn[n], burnt[n] = self._exchange(energy, demand[n], dt[n])
            level[n] = energy
        zero = np.zeros_like(demand)
        return Account(drawn, zero, burnt, zero, level)

    def _exchange(self, energy: float, demand: float, dt: float) -> tuple[float, float, float]:
        """Stored energy after the axes took `demand` J (or gave, if negative) in dt seconds, and
        what rectifier and resistor did, J."""
        energy -= demand
        source = max(0.0, -energy)  # at U₀ the rectifier gives what is missing
        energy += source
        # above U_r the chopper burns the surplus, as far as U²/R allows (implicit step: U falls
        # while it burns)
        most = (
            self.resistor_power(energy) * dt / (1 + 2 * dt / (self.resistance * self.capacitance))
            if self.resistance
            else inf
        )
        burnt = min(max(0.0, energy - self.capacity), most)
        return energy - burnt, source, burnt
