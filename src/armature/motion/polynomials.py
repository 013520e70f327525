"""The polynomials of a motion between its knots: coefficients, real roots, exact extrema."""

from __future__ import annotations

import numpy as np

from armature.motion.trajectory import Trajectory

MOST = 60  # steps to a root: by halving alone, to the rounding of a double
SAME = 1e-12  # of a step in time: roots nearer than this are one


def coefficients(motion: Trajectory) -> np.ndarray:
    """(N, degree + 1, n): q = Σ c[k] xᵏ in every step, x from 0 at its beginning to 1 at its
    end."""
    h = np.diff(motion.t)[:, None]
    q0, q1 = motion.q[:-1], motion.q[1:]
    v0, v1 = motion.v[:-1] * h, motion.v[1:] * h
    a0, a1 = motion.a[:-1] * h * h, motion.a[1:] * h * h
    if motion.interpolation == "held":
        return np.stack([q0, v0, a0 / 2], axis=1)
    if motion.interpolation == "linear":
        return np.stack([q0, v0, a0 / 2, (a1 - a0) / 6], axis=1)
    dq, dv, da = q1 - q0 - v0 - a0 / 2, v1 - v0 - a0, a1 - a0
    cubic = 10 * dq - 4 * dv + da / 2
    return np.stack(
        [q0, v0, a0 / 2, cubic, -15 * dq + 7 * dv - da, 6 * dq - 3 * dv + da / 2], axis=1
    )


def derivative(c: np.ndarray) -> np.ndarray:
    """Coefficients of the derivative; c: (..., d + 1, n), constant terms first; at least one
    remains."""
    if c.shape[-2] == 1:
        return np.zeros_like(c)
    return c[..., 1:, :] * np.arange(1.0, c.shape[-2])[:, None]


def value(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Σ c[k] xᵏ; c: (..., d + 1, n), x: (..., n) or (..., 1)."""
    total = c[..., -1, :] + 0.0 * x
    for k in range(c.shape[-2] - 2, -1, -1):
        total = total * x + c[..., k, :]
    return total


def roots(c: np.ndarray) -> list[np.ndarray]:
    """Real roots inside (0, 1) of M polynomials and of their derivatives, c (M, d + 1) with
    constant terms first: for the k-th derivative (M, d − k), NaN where there are fewer.

    Between two neighbouring roots of its derivative a polynomial is monotone: each such piece holds
    one root or none."""
    M, degree = len(c), c.shape[1] - 1
    if degree < 1:
        return []
    deeper = roots(c[:, 1:] * np.arange(1.0, degree + 1))
    if degree <= 2:
        return [_quadratic(c), *deeper]
    turns = np.sort(deeper[0], axis=1)
    edges = np.hstack([np.zeros((M, 1)), np.where(np.isnan(turns), 1.0, turns), np.ones((M, 1))])
    at = _at(c, edges)
    found = np.full((M, degree), np.nan)
    rows, part = np.nonzero(at[:, :-1] * at[:, 1:] < 0.0)
    found[rows, part] = _bracketed(
        c[rows], edges[rows, part], edges[rows, part + 1], at[rows, part + 1] > 0.0
    )
    touching = (at[:, 1:-1] == 0.0) & (edges[:, 1:-1] < 1.0)
    found[:, :-1] = np.where(touching, edges[:, 1:-1], found[:, :-1])
    return [found, *deeper]


def _quadratic(c: np.ndarray) -> np.ndarray:
    """(M, d) roots inside (0, 1) of polynomials of degree d = 1 or 2, without cancellation."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if c.shape[1] == 2:
            found = (-c[:, 0] / c[:, 1])[:, None]
        else:
            root = np.sqrt(c[:, 1] ** 2 - 4 * c[:, 2] * c[:, 0])
            sum_of_both = -(c[:, 1] + np.copysign(root, c[:, 1])) / 2
            found = np.stack([sum_of_both / c[:, 2], c[:, 0] / sum_of_both], axis=1)
    return np.where((found > 0.0) & (found < 1.0), found, np.nan)


def _at(c: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(M, ...) values of M polynomials c (M, d + 1) at x (M, ...)."""
    columns = c.T if x.ndim == 1 else c.T[:, :, None]
    total = columns[-1] + 0.0 * x
    for column in columns[-2::-1]:
        total *= x
        total += column
    return total


def _bracketed(c: np.ndarray, low: np.ndarray, high: np.ndarray, rising: np.ndarray) -> np.ndarray:
    """Where polynomials change their sign between low and high, all (R,): Newton's steps, halving
    where they leave the bracket."""
    slope, x = c[:, 1:] * np.arange(1.0, c.shape[1]), (low + high) / 2
    for _ in range(MOST):
        y = _at(c, x)
        beyond = (y > 0.0) == rising
        low, high = np.where(beyond, low, x), np.where(beyond, x, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = x - y / _at(slope, x)
        new = np.where((step > low) & (step < high), step, (low + high) / 2)
        done = np.abs(new - x).max(initial=0.0) < SAME
        x = new
        if done:
            break
    return x


def joint_roots(c: np.ndarray) -> list[np.ndarray]:
    """Roots inside the steps of polynomials c (N, d + 1, n) and of their derivatives: (N, d − k,
    n), NaN where there are fewer."""
    N, size, n = c.shape
    found = roots(np.ascontiguousarray(c.transpose(0, 2, 1)).reshape(N * n, size))
    return [x.reshape(N, n, x.shape[1]).transpose(0, 2, 1) for x in found]


def extremes(c: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(N, m, n) places x and values of all that can be an extremum in a step: both ends and the
    roots `turns` of the derivative."""
    N, _, n = c.shape
    inner = np.where(np.isnan(turns), 0.0, turns)
    x = np.concatenate([np.zeros((N, 1, n)), inner, np.ones((N, 1, n))], axis=1)
    return x, value(c[:, None], x)
