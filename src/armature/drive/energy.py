"""Energies from sampled powers."""

from __future__ import annotations

import numpy as np


def interval_energy(t: np.ndarray, power: np.ndarray) -> np.ndarray:
    """∫ power dt over each of the N − 1 intervals between instants t (N,); power (N, ...); result (N − 1, ...), J.

    The mean of the two parabolas through the interval's ends and a neighbour: trapezium − h³/6 · (second divided difference),
    of fourth order on smooth powers, steps of any size.
    """
    power = np.asarray(power, dtype=float)
    h = np.diff(t).reshape((-1,) + (1,) * (power.ndim - 1))
    trapezium = h * (power[1:] + power[:-1]) / 2
    if len(t) < 3:
        return trapezium
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(h > 0, np.diff(power, axis=0) / h, 0.0)
        span = h[1:] + h[:-1]
        bend = np.where((h[1:] > 0) & (h[:-1] > 0), np.diff(slope, axis=0) / span, 0.0)
    at = np.concatenate([bend[:1], (bend[1:] + bend[:-1]) / 2, bend[-1:]])
    return trapezium - h**3 / 6 * at


def integral(t: np.ndarray, power: np.ndarray) -> np.ndarray:
    """∫ power dt over all instants t (N,); power (N, ...); result (...), J."""
    return np.sum(interval_energy(t, power), axis=0)


def both_ways(t: np.ndarray, power: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Energy that flows forwards and backwards in each interval, both ≥ 0 (N − 1, ...); their difference is `interval_energy` exactly.

    Where power changes sign within an interval it is cut at the zero of the straight line between its ends.
    """
    power = np.asarray(power, dtype=float)
    net = interval_energy(t, power)
    h = np.diff(t).reshape((-1,) + (1,) * (power.ndim - 1))
    a, b = power[:-1], power[1:]
    mixed = a * b < 0
    with np.errstate(divide="ignore", invalid="ignore"):
        forward = np.where(mixed, h * np.maximum(a, b) ** 2 / (2 * np.abs(b - a)), 0.0)
        backward = np.where(mixed, h * np.minimum(a, b) ** 2 / (2 * np.abs(b - a)), 0.0)
    # what the line leaves out goes to the side it belongs to
    rest = net - forward + backward
    return forward + np.maximum(0.0, rest), backward + np.maximum(0.0, -rest)
