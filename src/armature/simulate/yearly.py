"""What a motion takes in a year: kilowatt-hours and money."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from armature.errors import ArgumentError

JOULES = 3.6e6  # of a kWh


@dataclass(frozen=True)
class Yearly:
    """Energy and its price in a year of equal cycles.

    energy: kWh from the supply.  cost: in the currency of the price, None without one.
    saved, saved_cost: against the ordinary motion, None where there is none to compare with.
    """

    cycles: float
    energy: float
    cost: float | None = None
    saved: float | None = None
    saved_cost: float | None = None

    def __str__(self) -> str:
        cost = "" if self.cost is None else f", {self.cost:,.2f} at the price given"
        text = f"in a year of {self.cycles:,.0f} cycles: {self.energy:,.4g} kWh{cost}"
        if self.saved is None:
            return text
        money = "" if self.saved_cost is None else f" and {abs(self.saved_cost):,.2f}"
        return (
            f"{text}; {abs(self.saved):,.4g} kWh{money} {'less' if self.saved >= 0 else 'more'}"
            " than the ordinary motion"
        )


def yearly(
    energy: float,
    ordinary: float | None,
    cycles_per_day: float,
    price: float | None = None,
    days: float = 365.0,
) -> Yearly:
    """A year of a motion.

    energy, ordinary: J drawn in one cycle by the motion and by the one to compare with.
    cycles_per_day: cycles on a working day.
    price: of a kWh, in any currency.  days: worked in a year.
    """
    for name, value in (("cycles_per_day", cycles_per_day), ("price", price), ("days", days)):
        optional = name == "price" and value is None
        if not optional and not (
            isinstance(value, Real) and not isinstance(value, bool) and 0 <= value < math.inf
        ):
            raise ArgumentError(f"{name} = {value!r} must be a number, 0 or more")
    cycles = float(cycles_per_day) * float(days)
    used = cycles * energy / JOULES
    saved = None if ordinary is None else cycles * (ordinary - energy) / JOULES
    paid = lambda kilowatt_hours: (
        None if price is None or kilowatt_hours is None else float(price) * kilowatt_hours
    )
    return Yearly(cycles, used, paid(used), saved, paid(saved))
