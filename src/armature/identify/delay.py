"""The delay of measured currents or torques behind positions: the shift with which the model
explains them best.

One delay for all recordings of a logger. Least squares of the shifted signals on the same
regressor: y(t + d) against X(t)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.identify.layout import Layout
from armature.identify.recording import Recording
from armature.identify.rows import collect
from armature.identify.signals import Grid, grids, typical_step

LARGEST = 0.03  # s
STEPS = 15  # to each side
ROWS = 5  # for each column, at least
WORTH = 0.1  # fall of the mean log of the joints' errors for which a delay is taken


def shifted(recording: Recording, delay: float) -> Recording:
    """The recording with currents and torques taken `delay` s later, so that they belong to the
    positions of their time."""
    if not delay:
        return recording
    t, first = np.unique(recording.t, return_index=True)
    at = lambda x: np.column_stack(
        [np.interp(recording.t + delay, t, column) for column in x[first].T]
    )
    fields = {
        name: at(x) for name in ("current", "torque") if (x := getattr(recording, name)) is not None
    }
    return replace(recording, **fields)


def estimated_delay(places: Layout, recordings: list[Recording], cutoff: float) -> float:
    """s by which currents or torques come after the positions; 0 where no shift explains them
    clearly better, or where samples are too few or too far apart to tell."""
    if max(typical_step(r.t) for r in recordings) > LARGEST / 2:
        return 0.0
    data = collect(places, recordings, cutoff)
    kept = places.only(places.groups)  # hysteresis too, which looks like a delay where joints turn
    bases = []
    for joint, rows in enumerate(data.joints):
        seen = data.moving[:, joint][:, None] * rows.X[:, kept[rows.columns]]
        bases.append(_orthonormal(seen))
        if data.moving[:, joint].sum() < ROWS * bases[-1].shape[1]:
            return 0.0
    signals = [
        (grid, grid.filtered(grid.measured)) for r in recordings for grid in grids(r, cutoff)
    ]
    shifts = np.linspace(-LARGEST, LARGEST, 2 * STEPS + 1)
    errors = np.array([_error(_late(signals, float(d)) * data.moving, bases) for d in shifts])
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


def _late(signals: list[tuple[Grid, np.ndarray]], delay: float) -> np.ndarray:
    """(N, n) filtered signals at the rows of the estimation, taken `delay` s later."""
    parts = []
    for grid, y in signals:
        at = grid.t[grid.rows] + delay
        parts.append(np.column_stack([np.interp(at, grid.t, column) for column in y.T]))
    return np.concatenate(parts)


def _error(measured: np.ndarray, bases: list[np.ndarray]) -> float:
    """Mean over joints of the log of what the regressor leaves of the measured signals."""
    found = []
    for y, U in zip(measured.T, bases):
        rest = y - U @ (U.T @ y)
        found.append(0.5 * np.log(max(float(rest @ rest) / max(float(y @ y), 1e-300), 1e-12)))
    return float(np.mean(found))
