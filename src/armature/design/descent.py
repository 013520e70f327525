"""A quasi-Newton method between bounds 0 … 1 for few unknowns, whose function may have no value
somewhere (a move that cannot be made): steps are then shortened."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

FIRST = 0.1  # length of the first step, and the longest of any
TOLERANCE = 1e-8  # of what the cost may still fall by a full step, as a part of the cost
SHORTEST = 1e-9  # step at which a search ends
ARMIJO = 1e-4
BACKTRACKS = 25
LOGARITHMIC = 2.0  # bounds of the same sign that are farther apart than this factor: by logarithms


class Evaluation(NamedTuple):
    """cost: infinite where there is no value.  slope: its gradient.  known: what the next
    evaluation may start from."""

    cost: float
    slope: np.ndarray
    known: Any


def descend(
    function: Callable[[np.ndarray, Any], Evaluation], y: np.ndarray, H: np.ndarray, iterations: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The least of a function(y, known) near y, all y within 0 … 1; the Hessian there; and whether
    the tolerance was met. H: the Hessian where it is known, else zeros."""
    here = function(y, None)
    if not math.isfinite(here.cost):
        return y, H, False
    for _ in range(iterations):
        free = ~(((y <= 0.0) & (here.slope > 0.0)) | ((y >= 1.0) & (here.slope < 0.0)))
        step, gain = direction(H, here.slope, free)
        if gain <= TOLERANCE * abs(here.cost):
            return y, H, True
        trial, there = backtrack(function, y, here, step)
        if there is None:
            return y, H, False
        H = updated(H, trial - y, there.slope - here.slope)
        y, here = trial, there
    return y, H, False


def direction(H: np.ndarray, slope: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, float]:
    """A step of at most FIRST that leads down among the free unknowns, and what the cost would fall
    by it. H: the Hessian found so far, zeros before the first step."""
    step = np.zeros(slope.size)
    if not free.any():
        return step, 0.0
    g, part = slope[free], H[np.ix_(free, free)]
    values, vectors = np.linalg.eigh(part)
    least = np.abs(g).max() / FIRST
    curved = values > 1e-8 * max(values.max(), 1e-300)
    values = np.where(curved, values, max(least, 1e-300))
    step[free] = -(vectors @ ((vectors.T @ g) / values))
    step *= min(1.0, FIRST / np.abs(step).max()) if step.any() else 1.0
    return step, float(-slope @ step)


def backtrack(
    function: Callable[[np.ndarray, Any], Evaluation],
    y: np.ndarray,
    here: Evaluation,
    step: np.ndarray,
) -> tuple[np.ndarray, Evaluation | None]:
    """The first point along the step, halved again and again, at which the function has fallen."""
    length = 1.0
    for _ in range(BACKTRACKS):
        trial = np.clip(y + length * step, 0.0, 1.0)
        if np.abs(trial - y).max() < SHORTEST:
            break
        there = function(trial, here.known)
        if there.cost <= here.cost + ARMIJO * float(here.slope @ (trial - y)):
            return trial, there
        length *= 0.5
    return y, None


def updated(H: np.ndarray, s: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Powell's damped BFGS update of the Hessian; the first takes the curvature along the step for
    all unknowns."""
    if not H.any():
        curvature = float(s @ d) / float(s @ s)
        H = np.eye(s.size) * (
            curvature if curvature > 0.0 else np.linalg.norm(d) / np.linalg.norm(s)
        )
    Hs, sd = H @ s, float(s @ d)
    sHs = float(s @ Hs)
    if sHs <= 0.0:
        return H
    if sd < 0.2 * sHs:
        part = 0.8 * sHs / (sHs - sd)
        d = part * d + (1.0 - part) * Hs
        sd = float(s @ d)
    return H - np.outer(Hs, Hs) / sHs + np.outer(d, d) / sd


@dataclass(frozen=True, eq=False)
class Scale:
    """Parameters as numbers y from 0 to 1 between their bounds; by logarithms where these are far
    apart and positive."""

    bounds: np.ndarray

    @property
    def logarithmic(self) -> np.ndarray:
        """(count,) which go by logarithms."""
        low, high = self.bounds.T
        return (low > 0.0) & (high > LOGARITHMIC * np.maximum(low, 1e-300))

    def places(self, p: np.ndarray) -> np.ndarray:
        """y of p."""
        low, high = self.bounds.T
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.log(p / low) / np.log(high / low)
        return np.where(self.logarithmic, far, (p - low) / (high - low))

    def values(self, y: np.ndarray) -> np.ndarray:
        """p of y."""
        low, high = self.bounds.T
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            far = low * (high / low) ** y
        return np.clip(np.where(self.logarithmic, far, low + (high - low) * y), low, high)

    def slopes(self, p: np.ndarray) -> np.ndarray:
        """dp/dy."""
        low, high = self.bounds.T
        with np.errstate(divide="ignore", invalid="ignore"):
            far = p * np.log(high / low)
        return np.where(self.logarithmic, far, high - low)
