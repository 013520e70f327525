"""What a choice of drives is judged by: a weighted sum of energy, losses, mass and price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError

TERMS = ("energy", "losses", "mass", "price")
UNITS = {"energy": "J", "losses": "J", "mass": "kg", "price": ""}


@dataclass(frozen=True)
class Objective:
    """Weights of energy (1/J, of all tasks together), losses (1/J), mass (1/kg) and price."""

    energy: float = 0.0
    losses: float = 0.0
    mass: float = 0.0
    price: float = 0.0

    def __call__(self, energy: Any, losses: Any, mass: Any, price: Any) -> Any:
        """The weighted sum, of numbers or columns."""
        values = (energy, losses, mass, price)
        return sum(getattr(self, name) * value for name, value in zip(TERMS, values))

    @property
    def unit(self) -> str:
        """Of the sum: that of its one term, or none."""
        terms = [name for name in TERMS if getattr(self, name)]
        return UNITS[terms[0]] if len(terms) == 1 and getattr(self, terms[0]) == 1.0 else ""

    @property
    def first(self) -> str:
        """The first of its terms."""
        return next(name for name in TERMS if getattr(self, name))

    @property
    def planned(self) -> bool:
        """Whether the motion matters to it."""
        return bool(self.energy or self.losses)


def objective_of(given: str | Mapping[str, float] | Objective) -> Objective:
    """An objective from its name, or from weights {"energy": 1.0, "mass": 20.0}."""
    if isinstance(given, Objective):
        return given
    weights = {given: 1.0} if isinstance(given, str) else dict(given)
    unknown = [name for name in weights if name not in TERMS]
    if unknown:
        raise ArgumentError(
            f"objective: {unknown[0]!r} is not known; take {', '.join(TERMS)}, or weights of them,"
            ' e.g. {"energy": 1, "mass": 20}'
        )
    values = {name: float(weight) for name, weight in weights.items()}
    if not any(values.values()) or any(w < 0 or not np.isfinite(w) for w in values.values()):
        raise ArgumentError(f"objective: weights {weights} must be ≥ 0 and not all 0")
    return Objective(**values)
