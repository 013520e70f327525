"""Riding the boundary (31): where a motion touches a limit, the next one is made to move along it
instead of being stopped by it.

A limit g(q, q̇, q̈) ≤ 0 that is touched at a knot t_c adds a multiplier to the maximum of the
hamiltonian, W(w* − w) = ψ₂ − L_a − μ g_a at t_c, and jumps to the conjugate system, of ψ₂ by μ g_v
and of ψ₁ by μ g_q; and the equation that g does not change to first order:
    (R1)  Λ·δw = g_a δw(t_c) + g_v ∫₀^{t_c} δw dt + g_q ∫₀^{t_c} (t_c − t) δw dt = 0
So w* − w is the steepest descent projected, in the metric W of (29), on the motions that keep ends
and contacts: δI ≤ 0 as before. Limits of joint ranges (g_q alone), of speeds, and of torques,
currents and voltages are treated alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
TOUCHING = 2e-3  # of a limit: nearer than this the motion touches it
RANGES = 12  # places of contact for each end of a range
OTHERS = 80  # for each other limit
INSIDE = 1e-6  # of a limit, left free when a motion is put back
PROBE = 1e-6  # for slopes by central differences
NEWTON = 4  # corrections that put a motion back on its limits


@dataclass(frozen=True, eq=False)
class Contacts:
    """Where a motion touches limits. rows, knots: (K,) which limit, where.  weights: (K, N+1, d), Λ
    of (R1) on accelerations at knots."""

    rows: Array
    knots: Array
    weights: Array

    def __len__(self) -> int:
        return len(self.rows)

    def chosen(self, keep: Array) -> Contacts:
        """Some of them."""
        return Contacts(self.rows[keep], self.knots[keep], self.weights[keep])


def contacts(run: Any) -> Contacts:
    """The contacts of a run's iterate (an `Approximations`)."""
    x, v = run.knots()
    _, rows = run.along.values(x, v, run.w)
    found = [
        (int(r), int(k))
        for r in np.flatnonzero(~run.along.mean())
        for k in touched(run, rows[:, r], int(r))
    ]
    which, knots = (np.array([pair[i] for pair in found], dtype=int) for i in (0, 1))
    if not found:
        return Contacts(which, knots, np.zeros((0, *run.w.shape)))
    slopes = row_slopes(run.along, x[knots], v[knots], run.w[knots], which)
    weights = np.zeros((len(found), *run.w.shape))
    for c, k in enumerate(knots):
        weights[c] = (
            run.moment_until(k)[:, None] * slopes[c, 0] + run.rise_until(k)[:, None] * slopes[c, 1]
        )
        weights[c, k] += slopes[c, 2]
    return Contacts(which, knots, weights)


def touched(run: Any, excess: Array, row: int) -> Array:
    """The knots at which a limit is touched, spread evenly where there are too many; ends of ranges
    and of the path not at the ends."""
    named = run.along.at.rows
    place = row >= len(named) or "range" in named[row].limit
    near = np.flatnonzero(excess > -TOUCHING)
    near = near[(near > 0) & (near < len(excess) - 1)] if place else near
    most = RANGES if place else OTHERS
    return (
        near[np.unique(np.linspace(0, len(near) - 1, min(len(near), most)).astype(int))]
        if len(near)
        else near
    )


def row_slopes(along: Any, x: Array, v: Array, a: Array, rows: Array) -> Array:
    """(K, 3, d): how K rows change with place, speed and acceleration at K instants (K, d), by
    central differences."""
    state, d = np.stack([x, v, a], axis=1), x.shape[1]
    size = PROBE * np.maximum(1.0, np.abs(state))
    result = np.empty_like(state)
    for part in range(3):
        for j in range(d):
            ends = []
            for sign in (1.0, -1.0):
                moved = state.copy()
                moved[:, part, j] += sign * size[:, part, j]
                ends.append(along.values(*np.moveaxis(moved, 1, 0))[1][np.arange(len(rows)), rows])
            result[:, part, j] = (ends[0] - ends[1]) / (2 * size[:, part, j])
    return result


def excesses(run: Any, w: Array, held: Contacts) -> Array:
    """(K,) by how much the limits of contacts are exceeded at their knots by another motion, with a
    little left free."""
    x, v = run.motion(w)
    return (
        run.along.values(x[held.knots], v[held.knots], w[held.knots])[1][
            np.arange(len(held)), held.rows
        ]
        + INSIDE
    )
