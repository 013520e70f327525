"""The delay of measured currents or torques behind positions: the shift with which the model explains them best.

One delay for all recordings of a logger. Least squares of the shifted signals on the same regressor: y(t + d) against X(t).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.identify.layout import Layout
from armature.identify.recording import Recording
from armature.identify.rows import collect
from armature.identify.signals import grids

LARGEST = 0.03  # s
STEPS = 15  # to each side
WORTH = 0.1  # fall of the mean log of the joints' errors for which a delay is taken


def shifted(recording: Recording, delay: float) -> Recording:
    """The recording with currents and torques taken `delay` s later, so that they belong to the positions of their time."""
    if not delay:
        return recording
    t, first = np.unique(recording.t, return_index=True)
    at = lambda x: np.column_stack([np.interp(recording.t + delay, t, column) for column in x[first].T])
    fields = {name: at(x) for name in ("current", "torque") if (x := getattr(recording, name)) is not None}
    return replace(recording, **fields)


def estimated_delay(places: Layout, recordings: list[Recording], cutoff: float) -> float:
    """s by which currents or torques come after the positions; 0 where no shift explains them clearly better."""
    data = collect(places, recordings, cutoff)
    kept = places.only(places.groups)  # hysteresis too, which looks like a delay where joints turn
    bases = []
    for joint, rows in enumerate(data.joints):
        seen = data.moving[:, joint][:, None] * rows.X[:, kept[rows.columns]]
        bases.append(_orthonormal(seen))
    shifts = np.linspace(-LARGEST, LARGEST, 2 * STEPS + 1)
    errors = np.array([_error(recordings, cutoff, data.moving, bases, float(d)) for d in shifts])
    best, own = int(np.argmin(errors)), STEPS
    if best in (0, len(shifts) - 1) or errors[own] - errors[best] < WORTH:
        return 0.0
    # the vertex of the parabola through three points
    a, b, c = errors[best - 1 : best + 2]
    return float(shifts[best] + 0.5 * (shifts[1] - shifts[0]) * (a - c) / max(a - 2 * b + c, 1e-12))


def _orthonormal(X: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns' span."""
    size = np.linalg.norm(X, axis=0)
    U, s, _ = np.linalg.svd(X[:, size > 0] / size[size > 0], full_matrices=False)
    return U[:, s > 1e-6 * s[0]]


def _error(
    recordings: list[Recording], cutoff: float, moving: np.ndarray, bases: list[np.ndarray], delay: float
) -> float:
    """Mean over joints of the log of what the regressor leaves of the shifted signals."""
    measured = _measured(recordings, cutoff, delay) * moving
    found = []
    for y, U in zip(measured.T, bases):
        rest = y - U @ (U.T @ y)
        found.append(0.5 * np.log(max(float(rest @ rest) / max(float(y @ y), 1e-300), 1e-12)))
    return float(np.mean(found))


def _measured(recordings: list[Recording], cutoff: float, delay: float) -> np.ndarray:
    """(N, n) shifted signals at the rows of the estimation."""
    parts = [
        grid.filtered(grid.measured)[grid.rows]
        for recording in recordings
        for grid in grids(shifted(recording, delay), cutoff)
    ]
    return np.concatenate(parts)
