"""How to spend a time among several uses, each with its own cost curve, convex or not: dynamic
programming over a time grid, exact on it.

With c_i(k) the cost of giving use i k steps, the least cost of the first i uses with k steps in all
is
    V_i(k) = min over j of V_{i−1}(k − j) + c_i(j),    V_0(0) = 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armature.errors import ArgumentError


def allocate(costs: Sequence[np.ndarray], steps: int) -> tuple[list[int], float]:
    """How many steps each use gets, so that all are used and the sum of costs is least; and that
    sum.

    costs: for each use its cost with 0, 1, 2, … steps, (K_i,), infinite where impossible; past its
    end a curve is infinite."""
    best, choices = _values(costs, steps)
    if not np.isfinite(best[steps]):
        raise ArgumentError(
            f"no way to spend {steps} steps: all curves end before; let the time be waited for"
        )
    given, left = [], steps
    for choice in reversed(choices):
        given.append(int(choice[left]))
        left -= given[-1]
    return given[::-1], float(best[steps])


def least_costs(costs: Sequence[np.ndarray], steps: int) -> np.ndarray:
    """V(k), the least sum of costs with exactly k steps for k = 0 … steps, (steps + 1,); arguments
    as for `allocate`."""
    return _values(costs, steps)[0]


def _values(costs: Sequence[np.ndarray], steps: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """V(k) of all uses together, and what each use gets in it."""
    if not costs or any(len(c) == 0 for c in costs) or steps < 0:
        raise ArgumentError(
            f"allocate: {len(costs)} curves and {steps} steps; give curves with at least one value,"
            " and steps ≥ 0"
        )
    best = np.full(steps + 1, np.inf)
    best[0] = 0.0
    choices = []
    for cost in costs:
        best, choice = _added(best, np.asarray(cost, dtype=float)[: steps + 1])
        choices.append(choice)
    return best, choices


def _added(best: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """min over j of best(k − j) + cost(j) for all k, and the j of each."""
    steps = len(best)
    sums = np.full((len(cost), steps), np.inf)
    for j, c in enumerate(cost):
        sums[j, j:] = best[: steps - j] + c
    choice = np.argmin(sums, axis=0)
    return sums[choice, np.arange(steps)], choice
