"""Estimation: weighted least squares with the description as prior, made physically consistent by a
small convex programme.

    minimise  Σ_j Σ_t w (y_j − (X_j φ + known)/K_j)²/s_j² + (φ − φ₀)ᵀ Λ (φ − φ₀) + Σ_j (log K_j −
    log K_j0)²/spread² subject to  P_b(φ) ⪰ ε P_b(φ₀) for every body, rotor, viscous and dry
    friction ≥ 0

s_j² is the residual's variance times its correlation time, so that the first term counts
independent samples; w are Huber's weights; gains K_j enter by linearisation (Gauss–Newton). Without
the constraints the minimum is a linear system; the programme is solved by Clarabel where that
minimum is not consistent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.dynamics.recursion.regressor import INERTIAL
from armature.errors import ArgumentError
from armature.identify import pseudo_inertia
from armature.identify.layout import Layout
from armature.identify.prior import Prior
from armature.identify.rows import Data

SMALLEST = 0.02  # ε: no body shrinks to less than this part of its prior in any direction
HUBER = 2.0  # standard deviations from which a residual counts less
ROUNDS = 6  # of reweighting
GAIN_ROUNDS = 8
TINY = 1e-12
RESOLUTION = 1e-6  # of a signal's r.m.s.: no sensor is better


@dataclass(frozen=True, eq=False)
class Moments:
    """Weighted second moments of (X, known, y) of each joint: all that the estimation needs.

    tables: n matrices (p_j + 2, p_j + 2).  counts: (n,) sums of weights.
    """

    tables: tuple[np.ndarray, ...]
    counts: np.ndarray

    def __add__(self, other: Moments) -> Moments:
        tables = tuple(a + b for a, b in zip(self.tables, other.tables))
        return Moments(tables, self.counts + other.counts)

    def __sub__(self, other: Moments) -> Moments:
        tables = tuple(a - b for a, b in zip(self.tables, other.tables))
        return Moments(tables, self.counts - other.counts)


@dataclass(frozen=True, eq=False)
class Noise:
    """weights: (N, n) of Huber, 0 … 1.  scale: (n,) s_j in units of the measured signal."""

    weights: np.ndarray
    scale: np.ndarray


@dataclass(frozen=True, eq=False)
class Estimate:
    """phi: (p,).  gains: (n,) N·m per measured unit.  covariance: (p + n, p + n) of φ and log
    gains.
    information: (p + n, p + n) of the data alone.  kept: (p,) parameters of the model.
    prior_gains: (n,)."""

    phi: np.ndarray
    gains: np.ndarray
    covariance: np.ndarray
    information: np.ndarray
    kept: np.ndarray
    prior_gains: np.ndarray


def moments(data: Data, weights: np.ndarray, chosen: np.ndarray | None = None) -> Moments:
    """Second moments of all rows, or of the chosen ones (mask)."""
    tables, counts = [], []
    for j, rows in enumerate(data.joints):
        pick = slice(None) if chosen is None else chosen
        w = weights[pick, j]
        A = np.column_stack([rows.X[pick], rows.known[pick], rows.y[pick]])
        tables.append((A * w[:, None]).T @ A)
        counts.append(float(np.sum(w)))
    return Moments(tuple(tables), np.array(counts))


def solve(
    layout: Layout,
    data: Data,
    sums: Moments,
    scale: np.ndarray,
    given: Prior,
    trust: float,
    kept: np.ndarray,
    consistent: bool = True,
    start: Estimate | None = None,
) -> Estimate:
    """The estimate from second moments. kept: (p,) parameters of the model; others are zero.

    consistent: False leaves the constraints out (for comparing models)."""
    p, n = layout.size, len(given.gains)
    phi = given.mean * kept if start is None else start.phi * kept
    logs = np.log(given.gains if start is None else start.gains)
    free = np.concatenate([kept, given.gain_spread > 0])
    precision = np.zeros((p + n, p + n))
    precision[:p, :p] = given.precision(trust)
    gain_weight = 1.0 / np.where(given.gain_spread > 0, given.gain_spread, 1.0) ** 2
    precision[p:, p:] = np.diag(gain_weight)
    mean = np.concatenate([given.mean, np.log(given.gains)])
    rounds = GAIN_ROUNDS if np.any(given.gain_spread > 0) else 1
    information = np.zeros_like(precision)
    for _ in range(rounds):
        information, right = _normal(data, sums, scale, phi, logs, p)
        whole = information + precision
        x = np.concatenate([phi, logs])
        H = whole[np.ix_(free, free)]
        g = (right + precision @ mean)[free] - whole[np.ix_(free, ~free)] @ x[~free]
        x[free] = _minimum(layout, H, g, free, given, consistent)
        moved = np.abs(x[p:] - logs).max(initial=0.0)
        phi, logs = x[:p] * kept, np.clip(x[p:], logs - 1.0, logs + 1.0)
        if moved < 1e-6:
            break
    covariance = np.zeros_like(precision)
    covariance[np.ix_(free, free)] = np.linalg.inv((information + precision)[np.ix_(free, free)])
    return Estimate(phi, np.exp(logs), covariance, information, kept, given.gains)


def _normal(
    data: Data, sums: Moments, scale: np.ndarray, phi: np.ndarray, logs: np.ndarray, p: int
) -> tuple[np.ndarray, np.ndarray]:
    """Normal equations of the linearised residuals: matrix and right side for (φ, log gains)."""
    n = len(logs)
    H, g = np.zeros((p + n, p + n)), np.zeros(p + n)
    for j, (rows, table) in enumerate(zip(data.joints, sums.tables)):
        c, k = np.exp(-logs[j]), len(rows.columns)
        # residual = B x + d with x = (φ_j, log K_j): y ≈ c X φ + c known − (log K − log K₀) c (X φ₀
        # + known)
        B = np.zeros((k + 2, k + 1))
        B[:k, :k] = c * np.eye(k)
        B[:k, k], B[k, k] = -c * phi[rows.columns], -c
        d = np.zeros(k + 2)
        d[k], d[k + 1] = c, -1.0
        d = d - B[:, k] * logs[j]
        own = np.append(rows.columns, p + j)
        H[np.ix_(own, own)] += B.T @ table @ B / scale[j] ** 2
        g[own] -= B.T @ table @ d / scale[j] ** 2
    return H, g


def _minimum(
    layout: Layout, H: np.ndarray, g: np.ndarray, free: np.ndarray, given: Prior, consistent: bool
) -> np.ndarray:
    """The minimiser of ½ xᵀHx − gᵀx over the free parameters, consistent where that is asked."""
    size = 1.0 / np.sqrt(np.diag(H))
    x = size * np.linalg.solve(H * np.outer(size, size) + 1e-13 * np.eye(len(g)), size * g)
    if not consistent:
        return x
    rows, bound, cones = _constraints(layout, free, given)
    if np.all(_slacks(rows @ x - bound, cones) >= -TINY):
        return x
    return x + _programme(H, rows, bound - rows @ x, cones, size)


def _constraints(
    layout: Layout, free: np.ndarray, given: Prior
) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Rows A and bounds b with A x ≥ b: a block of signs, then triangles of 4 × 4 matrices."""
    total = len(free)
    signs = []
    for axis in range(len(layout.columns)):
        for groups in (("rotor",), ("viscous",), ("load",), ("coulomb", "hysteresis", "speeds")):
            row = np.zeros(total)
            row[layout.of(axis, *groups)] = 1.0
            if np.any(row[free]):
                signs.append(row)
    blocks, bounds = [], []
    weights = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in pseudo_inertia.TRIANGLE])
    for k in range(0, layout.inertial, INERTIAL):
        block = np.zeros((len(weights), total))
        for r, (i, j) in enumerate(pseudo_inertia.TRIANGLE):
            block[r, k : k + INERTIAL] = weights[r] * pseudo_inertia.BASIS[:, i, j]
        least = SMALLEST * pseudo_inertia.matrix(given.mean[k : k + INERTIAL])
        blocks.append(block)
        bounds.append(weights * np.array([least[i, j] for i, j in pseudo_inertia.TRIANGLE]))
    A = np.vstack([*signs, *blocks])[:, free]
    return A, np.concatenate([np.zeros(len(signs)), *bounds]), (len(signs), len(blocks))


def _slacks(values: np.ndarray, cones: tuple[int, int]) -> np.ndarray:
    """Signs, and the least eigenvalue of each body, relative to its size."""
    count, bodies = cones
    found = list(values[:count])
    for k in range(bodies):
        triangle = values[count + 10 * k : count + 10 * (k + 1)]
        P = np.zeros((4, 4))
        for value, (i, j) in zip(triangle, pseudo_inertia.TRIANGLE):
            P[i, j] = P[j, i] = value if i == j else value / np.sqrt(2.0)
        found.append(float(np.linalg.eigvalsh(P)[0]))
    return np.array(found)


def _programme(
    H: np.ndarray,
    rows: np.ndarray,
    bound: np.ndarray,
    cones: tuple[int, int],
    size: np.ndarray,
) -> np.ndarray:
    """½ dᵀHd → min subject to rows d − bound in the cones, by Clarabel, in scaled variables.

    d counts from the minimum without constraints: the solver's relative tolerance is of what they
    cost, not of all that was measured.
    """
    import importlib

    from scipy.sparse import csc_matrix

    clarabel: Any = importlib.import_module("clarabel")  # it carries no types

    scaled = H * np.outer(size, size)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    kinds = [clarabel.NonnegativeConeT(cones[0])] if cones[0] else []
    kinds += [clarabel.PSDTriangleConeT(4)] * cones[1]
    A = -rows * size
    norms = np.maximum(np.abs(rows * size).max(axis=1), TINY)
    # rows of one matrix must be scaled alike
    count = cones[0]
    for k in range(cones[1]):
        block = slice(count + 10 * k, count + 10 * (k + 1))
        norms[block] = norms[block].max()
    solver = clarabel.DefaultSolver(
        csc_matrix(np.triu(scaled)),
        np.zeros(len(size)),
        csc_matrix(A / norms[:, None]),
        -bound / norms,
        kinds,
        settings,
    )
    answer = solver.solve()
    if str(answer.status) not in ("Solved", "AlmostSolved"):
        raise ArgumentError(
            f"no physically consistent robot fits the recordings ({answer.status}); check units, "
            "signs and the order of the joints"
        )
    return size * np.array(answer.x)


def reweighted(
    layout: Layout, data: Data, given: Prior, trust: float, kept: np.ndarray
) -> tuple[Noise, Estimate]:
    """Iteratively reweighted least squares: Huber's weights, 0 at rest, and the residuals'
    scales."""
    y = data.measured
    weights = data.moving.astype(float)
    least = np.maximum(RESOLUTION * np.sqrt(np.mean(y**2, axis=0)), TINY)
    scale = np.maximum(np.std(y, axis=0), least)
    found = None
    for _ in range(ROUNDS):
        sums = moments(data, weights)
        found = solve(layout, data, sums, scale, given, trust, kept, False, found)
        residual = y - data.predicted(found.phi, found.gains)
        among = np.where(data.moving, residual, np.nan)
        spread = np.maximum(
            1.4826 * np.nanmedian(np.abs(among), axis=0), 1e-3 * np.nanstd(among, axis=0)
        )
        spread = np.maximum(spread, least)
        weights = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(residual), TINY))
        weights = weights * data.moving
        rms = np.sqrt(np.sum(weights * residual**2, axis=0) / np.sum(weights, axis=0))
        times = correlation_times(residual * np.sqrt(weights), data.recording)
        scale = np.maximum(rms * np.sqrt(times), least)
    assert found is not None
    return Noise(weights, scale), found


def correlation_times(residual: np.ndarray, recording: np.ndarray) -> np.ndarray:
    """(n,) rows that count as one independent sample: 1 + 2 Σ ρ_k up to the first ρ_k < 0.05."""
    times = np.ones(residual.shape[1])
    total = np.sum(residual**2, axis=0)
    open_ = np.ones(residual.shape[1], dtype=bool)
    for lag in range(1, min(200, len(residual) // 4)):
        same = recording[lag:] == recording[:-lag]
        rho = np.sum(residual[lag:] * residual[:-lag] * same[:, None], axis=0) / np.maximum(
            total, TINY
        )
        open_ &= rho > 0.05
        if not open_.any():
            break
        times += 2.0 * np.where(open_, rho, 0.0)
    return times
