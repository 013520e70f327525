"""Time shared out among motions and stops so that their energies together are least: exact over the
curves that it is given, of any shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from armature.study.allocate import allocate, least_costs

GRID = 240  # steps into which the spare time is cut
FINER = 16  # parts of such a step, around what the steps gave
SAME = 1e-3  # of a duration: points of a curve that are one
AROUND = 2  # steps to either side of it


@dataclass(frozen=True, eq=False)
class EnergyCurve:
    """Energy of a motion against its duration. durations: (K,) rising, s.  energies: (K,), J, with
    the coils of the brakes.  motions: K motions, for guesses.  Between the points a monotone cubic.
    """

    durations: np.ndarray
    energies: np.ndarray
    motions: Sequence[Any] = ()

    @property
    def least(self) -> float:
        """The least time, s."""
        return float(self.durations[0])

    def with_point(self, plan: Any, coil: float = 0.0) -> EnergyCurve:
        """The curve with a plan (duration, energy, trajectory) as a point, in place of one at the
        same duration. coil: W of the brakes, added."""
        near = np.abs(self.durations - plan.duration) < SAME * plan.duration
        if near[0] or not self.durations[0] < plan.duration <= self.durations[-1] * (1 + SAME):
            return self
        rows = [
            row
            for row, other in zip(zip(self.durations, self.energies, self.motions), near)
            if not other
        ]
        rows.append((plan.duration, plan.energy + coil * plan.duration, plan.trajectory))
        rows.sort(key=lambda row: row[0])
        T, E, motions = zip(*rows)
        return EnergyCurve(np.array(T), np.array(E), motions)

    def __call__(self, T: Any) -> np.ndarray:
        """Energy at durations T, J; infinite outside the curve."""
        T = np.asarray(T, dtype=float)
        slack = 1e-9 * self.durations[-1]
        inside = (self.durations[0] - slack <= T) & (self.durations[-1] + slack >= T)
        if len(self.durations) == 1:
            return np.where(inside, self.energies[0], np.inf)
        at = np.clip(T, self.durations[0], self.durations[-1])
        return np.where(inside, PchipInterpolator(self.durations, self.energies)(at), np.inf)


Cost = Callable[[np.ndarray], np.ndarray]


def share(costs: Sequence[Cost], spare: float) -> tuple[list[float], float]:
    """How much of `spare` (s) each use gets, all of it in sum, and the least sum of costs, J.

    costs: of each use its energy with so much more time than its least, (K,) s → (K,) J. Dynamic
    programming over a grid, exact on it for any shape, then once more over a finer grid around
    that."""
    if spare <= 0.0:
        return [0.0] * len(costs), float(sum(c(np.zeros(1))[0] for c in costs))
    step = spare / GRID
    given, _ = allocate([c(step * np.arange(GRID + 1)) for c in costs], GRID)
    lower = [max(0, g - AROUND) for g in given]
    fine = step / FINER
    windows = [np.arange(FINER * (g + AROUND - low) + 1) for g, low in zip(given, lower)]
    left = FINER * (GRID - sum(lower))
    finer, energy = allocate(
        [c(low * step + fine * w) for c, low, w in zip(costs, lower, windows)], left
    )
    return [low * step + fine * k for low, k in zip(lower, finer)], energy


def share_curve(costs: Sequence[Cost], spare: float) -> tuple[np.ndarray, np.ndarray]:
    """Spare times from 0 to `spare` (s) and the least energy with each (J): the whole curve at
    once."""
    times = np.linspace(0.0, spare, GRID + 1)
    return times, least_costs([c(times) for c in costs], GRID)
