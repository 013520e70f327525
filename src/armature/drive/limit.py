"""A limit that a drive imposes, as data: g(flow) ≤ 0 with its unit and scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.drive.flow import Flow
from armature.spatial.numbers import Number


@dataclass(frozen=True)
class Limit:
    """sign × quantity − bound ≤ 0, at every instant or, with `mean`, for the mean over the cycle.

    name: what messages call it.  quantity: a field of Flow.  bound: in `unit`, > 0, also the
    natural scale of g."""

    name: str
    quantity: str
    bound: float
    unit: str
    sign: float = 1.0
    mean: bool = False

    def __call__(self, flow: Flow) -> Number:
        """g, in the limit's unit; for a `mean` limit the integrand, whose mean over the cycle must
        be ≤ 0."""
        return self.sign * getattr(flow, self.quantity) - self.bound

    def scaled(self, flow: Flow) -> Number:
        """g divided by its bound: −1 far inside, 0 at the limit."""
        return self(flow) / self.bound

    def worst(self, t: np.ndarray, flow: Flow) -> tuple[float, float]:
        """(largest g, time at which it occurs) over instants t (N,); for a `mean` limit the mean by
        the trapezoidal rule, at the end."""
        g = np.broadcast_to(self(flow), np.shape(t))
        if self.mean:
            return float(np.sum(np.diff(t) * (g[1:] + g[:-1]) / 2) / (t[-1] - t[0])), float(t[-1])
        worst = int(np.argmax(g))
        return float(g[worst]), float(t[worst])


def readable(value: float, bound: float, unit: str) -> tuple[float, float, str]:
    """A limited quantity as a data sheet gives it: the mean of a squared current is the square of
    its root mean square, A."""
    if unit != "A²":
        return value, bound, unit
    return float(np.sqrt(max(value, 0.0))), float(np.sqrt(bound)), "A (rms)"


def two_sided(name: str, quantity: str, bound: float, unit: str) -> tuple[Limit, Limit]:
    """|quantity| ≤ bound as two smooth inequalities."""
    return Limit(name, quantity, bound, unit), Limit(name, quantity, bound, unit, sign=-1.0)
