"""Meshes of a motion in continuous time, motions on them, and the small numbers that a search
needs of both."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.optimize.control.motion import Motion

SHORTEST = 1e-4  # of the motion: a part between switches may become as short
FEWEST = 4  # steps of a part between switches
# steps of all parts together, at first: few, so that a step that straddles a switch costs something
BETWEEN = 20


@dataclass(frozen=True, eq=False)
class Mesh:
    """Steps of a motion. groups: phase of each part.  counts: steps of each part.  T: s, duration
    of each, a guess."""

    groups: tuple[int, ...]
    counts: tuple[int, ...]
    T: tuple[float, ...]

    @property
    def N(self) -> int:
        """Steps."""
        return sum(self.counts)

    @property
    def part(self) -> np.ndarray:
        """(N,) the part of every step."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def knots(self, T: Any = None) -> np.ndarray:
        """(N+1,) times, s, for durations T of the parts."""
        T = np.asarray(self.T if T is None else T)
        return np.concatenate([[0.0], np.cumsum((T / self.counts)[self.part])])

    @property
    def boundaries(self) -> np.ndarray:
        """Knots at which a phase of the problem ends."""
        last = [
            k
            for k, group in enumerate(self.groups)
            if k + 1 == len(self.groups) or self.groups[k + 1] != group
        ]
        return np.cumsum(self.counts)[last]


@dataclass(frozen=True, eq=False)
class Meshed(Motion):
    """A motion and the mesh it was found on."""

    mesh: Mesh


def change_of(found: Motion, before: Motion) -> float:
    """Of the cost, as a part of it."""
    return abs(found.cost - before.cost) / max(abs(found.cost), 1e-300)


def merged(times: np.ndarray, least: float) -> np.ndarray:
    """Times that lie closer than this together become one."""
    found: list[list[float]] = []
    for t in times:
        if found and t - found[-1][-1] < least:
            found[-1].append(float(t))
        else:
            found.append([float(t)])
    return np.array([np.mean(group) for group in found])


def size_of(values: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,) the largest size of every column, 1 where it is nothing."""
    size = np.maximum(
        *(np.abs(y).max(tuple(range(y.ndim - 1)), initial=0.0) for y in (values, others))
    )
    return np.where(size > 1e-6, size, 1.0)


def middle(low: Any, high: Any) -> np.ndarray:
    """Half-way between bounds; at the finite one, or 0, where one is infinite."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    both = np.isfinite(low) & np.isfinite(high)
    return np.where(
        both, (np.where(both, low, 0.0) + np.where(both, high, 0.0)) / 2, np.clip(0.0, low, high)
    )


def through(
    times: np.ndarray, known: Sequence[tuple[float, float]], low: float, high: float
) -> np.ndarray:
    """Values of one state at the ends of the phases: those that are given, straight between them,
    the nearest beyond."""
    given = [k for k, (a, b) in enumerate(known) if np.isfinite(a) or np.isfinite(b)]
    if not given:
        return np.full(len(times), float(middle(low, high)))
    values = [float(middle(*known[k])) for k in given]
    return np.clip(np.interp(times, times[given], values), low, high)


def equal_steps(T: Any, steps: int) -> Mesh:
    """Equal steps, as many in each phase as its share of the time, a few at least."""
    T = np.asarray(T, dtype=float)
    counts = tuple(int(max(FEWEST, round(steps * t / T.sum()))) for t in T)
    return Mesh(tuple(range(len(T))), counts, tuple(float(t) for t in T))


def parted(best: Any, times: np.ndarray) -> Mesh:
    """Parts between the switches and the ends of phases; steps in proportion to time, a few at
    least."""
    edges = np.concatenate([[0.0], np.cumsum(best.durations)])
    groups, T = [], []
    for k, (a, b) in enumerate(itertools.pairwise(edges)):
        inside = [t for t in times if a + SHORTEST * edges[-1] < t < b - SHORTEST * edges[-1]]
        spots = [a, *inside, b]
        groups += [k] * (len(spots) - 1)
        T += np.diff(spots).tolist()
    counts = [int(max(FEWEST, round(BETWEEN * t / edges[-1]))) for t in T]
    return Mesh(tuple(groups), tuple(counts), tuple(T))
