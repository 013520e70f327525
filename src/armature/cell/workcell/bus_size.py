"""What a d.c. bus would need for its voltage to stay within its limit: a larger capacitor, or a
stronger braking resistor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armature.cell.workcell.bus_cycle import BusCycle, run_bus
from armature.drive import Bus

SPAN = 1e4  # largest change of a part that is tried
HALVINGS = 11  # of that span, by ratio: to 0.5 % of the part


def most_volts(bus: Bus) -> float:
    """The voltage that the bus may reach, V."""
    return bus.maximum_voltage if np.isfinite(bus.maximum_voltage) else bus.resistor_voltage


def highest_voltage(bus: Bus, cycle: BusCycle, bends: np.ndarray) -> float:
    """A bound of the voltage at every instant, V. At constant power the stored energy is monotone;
    inside a step it differs from that by `bends` (N,), J, at most."""
    high = float((np.maximum(cycle.stored[:-1], cycle.stored[1:]) + bends).max())
    if not bus.resistance:  # a chopper as strong as needed holds the voltage where it switches on
        high = min(high, bus.capacity)
    return float(bus.voltage_at(high))


@dataclass(frozen=True)
class Enough:
    """Parts of a bus of which one alone would keep its voltage. capacitance: F, at least.
    resistance: of the braking resistor, Ω, at most. None where no such part does."""

    capacitance: float | None
    resistance: float | None

    def __str__(self) -> str:
        found = []
        if self.capacitance is not None:
            found.append(f"a capacitor of at least {_above(self.capacitance)} F")
        if self.resistance is not None:
            found.append(f"a braking resistor of at most {_below(self.resistance)} ohm")
        return " or ".join(found) or "no capacitor and no braking resistor alone is enough"


def enough(bus: Bus, edges: np.ndarray, powers: np.ndarray, bends: np.ndarray) -> Enough:
    """The smallest capacitance and the largest braking resistance, each with the bus as it is
    otherwise, at which the voltage stays within its limit.

    edges: (N+1,) of a cycle, s.  powers: (N, robots), W.  bends: (N,), J."""

    def holds(other: Bus) -> bool:
        return highest_voltage(other, run_bus(other, edges, powers), bends) <= most_volts(other)

    larger = lambda x: replace(bus, capacitance=bus.capacitance * x)
    weaker = lambda x: replace(bus, resistance=bus.resistance / x)
    C = _least_change(lambda x: holds(larger(x)))
    R = _least_change(lambda x: holds(weaker(x))) if bus.resistance else None
    return Enough(
        None if C is None else bus.capacitance * C, None if R is None else bus.resistance / R
    )


def _least_change(holds: Callable[[float], bool]) -> float | None:
    """The least factor above 1 that is enough, by bisection of its logarithm; None where SPAN is
    not."""
    if not holds(SPAN):
        return None
    low, high = 0.0, np.log(SPAN)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))


def _above(x: float) -> str:
    """Three digits, rounded up."""
    unit = 10.0 ** (np.floor(np.log10(x)) - 2)
    return f"{unit * np.ceil(x / unit - 1e-9):.3g}"


def _below(x: float) -> str:
    """Three digits, rounded down."""
    unit = 10.0 ** (np.floor(np.log10(x)) - 2)
    return f"{unit * np.floor(x / unit + 1e-9):.3g}"
