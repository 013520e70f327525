"""Standard errors that hold where residuals are not alike and not independent, and where the
description is worse than the trust that predicts best.

With H the information of the recordings, Λ the prior that the estimate was made with, and Λ' =
Λ Λ_g⁻¹ Λ what that does where the description's inertias are wrong by GUESSED (Λ_g), the errors
have the covariance

    (H + Λ)⁻¹ (Σ_b u_b u_bᵀ + Λ') (H + Λ)⁻¹,

u_b the derivatives of the weighted squares summed over a second: residuals that depend on time,
speed or one another make these vary more than H says. No direction counts as better known than by
(H + Λ)⁻¹."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from armature.identify.estimate import Estimate, Noise
from armature.identify.prior import Prior
from armature.identify.rows import Data

SECOND = 1.0  # s: blocks that count as independent
GUESSED = 0.5  # trust in a description as far as standard errors go


def with_certainty(
    found: Estimate, given: Prior, trust: float, data: Data, noise: Noise
) -> Estimate:
    """The estimate with the covariance above. trust: that it was made with."""
    p, n = len(found.phi), len(found.gains)
    free = np.concatenate([found.kept, given.gain_spread > 0])
    precision = np.zeros((p + n, p + n))
    precision[:p, :p] = given.precision(trust)
    spread = np.where(given.gain_spread > 0, given.gain_spread, 1.0)
    precision[p:, p:] = np.diag(1.0 / spread**2)
    wrong = precision.copy()
    wrong[:p, :p] += given.inertial * (max(GUESSED / trust, 1.0) ** 2 - 1.0) / trust**2
    H = (found.information + precision)[np.ix_(free, free)]
    u = _scores(found, data, noise)[:, free]
    size = 1.0 / np.sqrt(np.diag(H))
    L = cholesky(H * np.outer(size, size), lower=True)
    G = (u.T @ u + wrong[np.ix_(free, free)]) * np.outer(size, size)
    inner = solve_triangular(L, solve_triangular(L, G, lower=True).T, lower=True)
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    half = solve_triangular(L.T, vectors) * np.sqrt(np.maximum(values, 1.0)) * size[:, None]
    covariance = np.zeros_like(precision)
    covariance[np.ix_(free, free)] = half @ half.T
    return replace(found, covariance=covariance)


def _scores(found: Estimate, data: Data, noise: Noise) -> np.ndarray:
    """(B, p + n) sums over seconds of the derivatives of the weighted squares by φ and log
    gains."""
    p, n = len(found.phi), len(found.gains)
    seconds = data.recording * 1e6 + np.floor(data.t / SECOND)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(seconds)) + 1])
    u = np.zeros((len(starts), p + n))
    predicted = data.predicted(found.phi, found.gains)
    for j, rows in enumerate(data.joints):
        pull = noise.weights[:, j] * (rows.y - predicted[:, j]) / noise.scale[j] ** 2
        table = np.column_stack([rows.X / found.gains[j], -predicted[:, j]]) * pull[:, None]
        u[:, np.append(rows.columns, p + j)] += np.add.reduceat(table, starts, axis=0)
    return u
