"""Limits along a motion as rows: values at instants, and a bound of how far they can rise between
two of them.

A source of rows is any function of `Points` that returns a `Table`; the prover (prove.py) asks it
for more points where the bound does not yet prove a limit. A new limit (a distance to the floor,
say) is a new source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armature.simulate.pieces import Points

ALLOWED = 1e-3  # violation, as a fraction of the limit


@dataclass(frozen=True)
class Margin:
    """How near a motion comes to one limit.

    joint: joint or axis.  limit: its name.  fraction: (bound − value)/bound at the worst time: 0 at
    the limit, negative beyond it.
    time: s, where the worst occurs.  value, bound: in `unit`.
    """

    joint: str
    limit: str
    fraction: float
    time: float
    value: float
    bound: float
    unit: str

    def __str__(self) -> str:
        how = (
            "is at"
            if abs(self.fraction) <= ALLOWED
            else "is within"
            if self.fraction > 0
            else "exceeds"
        )
        limit = (
            f"{self.limit} {self.value:.6g} {self.unit} {how} its limit {self.bound:.6g}"
            f" {self.unit}"
        )
        return f"{self.joint}: {limit} at t = {round(self.time, 6):.4g} s"


def left(margin: Margin) -> str:
    """How much of a limit is left, in words."""
    part = f"{100 * abs(margin.fraction):.2f} %"
    if part == "0.00 %":
        return "used in full"
    return f"{part} left" if margin.fraction > 0.0 else f"{part} beyond it"


class Label(NamedTuple):
    """One limit: value ≤ bound. joint, limit, unit: for messages.  scale: > 0, by which a violation
    is measured.
    sign: of the value in messages (−1 for a lower bound written as −value ≤ −bound)."""

    joint: str
    limit: str
    bound: float
    unit: str
    scale: float
    sign: float = 1.0

    def margin(self, value: float, time: float) -> Margin:
        """The margin where the limited quantity has this value."""
        fraction = (self.bound - value) / self.scale
        return Margin(
            self.joint,
            self.limit,
            fraction,
            time,
            self.sign * value,
            self.sign * self.bound,
            self.unit,
        )


class Table(NamedTuple):
    """R limits at P points. values: (P, R).  rise: gives (P − 1, R), the most by which a value
    between a point and the next, in one cell, exceeds the larger of both; None where no such bound
    is known, and `why` says why not."""

    labels: Sequence[Label]
    values: np.ndarray
    rise: Callable[[], np.ndarray] | None = None
    why: str = ""

    @property
    def beyond(self) -> np.ndarray:
        """(P, R) by which part of its scale each limit is exceeded; negative where it is kept."""
        bound, scale = np.array([(x.bound, x.scale) for x in self.labels]).reshape(-1, 2).T
        return (self.values - bound) / scale

    def margins(self, t: np.ndarray) -> list[Margin]:
        """The worst of every row. t: (P,) times of the points, s."""
        worst = np.ascontiguousarray(self.beyond.T).argmax(1) if self.labels else []
        return [
            x.margin(float(self.values[i, k]), float(t[i]))
            for k, (x, i) in enumerate(zip(self.labels, worst))
        ]


Source = Callable[[Points], Table]


def scaled(bound: float) -> float:
    """The scale of a limit of magnitude: itself, or 1 where it is zero."""
    return bound if bound > 0.0 else 1.0
