"""Curves made of polynomials, with their derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Piecewise:
    """K polynomials one after the other, each in the distance from its own beginning.

    breaks: (K+1,), increasing.  coefficients: (K, degree + 1, d), constant terms first.
    """

    breaks: np.ndarray
    coefficients: np.ndarray

    def __call__(self, p: np.ndarray, orders: int = 3) -> list[np.ndarray]:
        """Value and derivatives up to `orders` at p (...), each (..., d); the outer pieces go on
        beyond the ends."""
        p = np.asarray(p, dtype=float)
        k = np.clip(np.searchsorted(self.breaks, p, side="right") - 1, 0, len(self.breaks) - 2)
        s, c = (p - self.breaks[k])[..., None], self.coefficients[k]
        results = []
        for _ in range(orders + 1):
            results.append(_horner(c, s))
            c = (
                c[..., 1:, :] * np.arange(1, c.shape[-2])[:, None]
                if c.shape[-2] > 1
                else np.zeros_like(c)
            )
        return results

    @classmethod
    def spline(cls, p: np.ndarray, values: np.ndarray, closed: bool = False) -> Piecewise:
        """The cubic spline with continuous second derivative through values (k, d) at p (k,);
        closed: the last value equals the first."""
        from scipy.interpolate import CubicSpline

        made = CubicSpline(p, values, bc_type="periodic" if closed else "not-a-knot")
        return cls(
            np.asarray(p, dtype=float), np.ascontiguousarray(made.c[::-1].transpose(1, 0, 2))
        )

    @classmethod
    def hermite(cls, p: np.ndarray, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> Piecewise:
        """Polynomials of fifth degree that meet value, slope and curvature (k, d) at every p
        (k,)."""
        h = np.diff(p)[:, None]
        v, a = dq[:-1] * h, ddq[:-1] * h * h
        # what the start's own parabola leaves of value, slope and curvature at the end
        r0, r1, r2 = np.diff(q, axis=0) - v - a / 2, dq[1:] * h - v - a, ddq[1:] * h * h - a
        c = [
            q[:-1],
            v,
            a / 2,
            10 * r0 - 4 * r1 + r2 / 2,
            -15 * r0 + 7 * r1 - r2,
            6 * r0 - 3 * r1 + r2 / 2,
        ]
        return cls(
            np.asarray(p, dtype=float), np.stack([x / h**k for k, x in enumerate(c)], axis=1)
        )


def _horner(c: np.ndarray, s: np.ndarray) -> np.ndarray:
    """c₀ + s(c₁ + s(c₂ + …)), c (..., degree + 1, d)."""
    total = c[..., -1, :] + 0.0 * s
    for k in range(c.shape[-2] - 2, -1, -1):
        total = c[..., k, :] + s * total
    return total
