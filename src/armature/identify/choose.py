"""Which model predicts best: groups of friction features and the trust in the description, by
cross-validation.

The folds are the recordings, or blocks in time of a single one. Weights and scales of the residuals
come from the largest model with a loose prior, so that they do not depend on what is being chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armature.identify.estimate import Noise, moments, reweighted, solve
from armature.identify.friction import ALWAYS, CHOSEN
from armature.identify.layout import Layout
from armature.identify.prior import Prior
from armature.identify.rows import Data

TRUSTS = (0.05, 0.15, 0.5, 1.5, 5.0)  # relative standard deviations of the description, tried
LOOSE = 5.0  # the trust with which the residuals' scales are found
BLOCKS = 5  # folds of a single recording
WORTH = 0.99  # of the error: what a further group of features must reach to be taken


def choose(
    places: Layout, data: Data, given: Prior, progress: Callable[[str], None] | None
) -> tuple[tuple[str, ...], float, Noise]:
    """Groups of features and trust of least cross-validated error; weights of the largest model."""
    noise, _ = reweighted(places, data, given, LOOSE, np.ones(places.size, dtype=bool))
    score = _scorer(places, data, given, noise)
    groups: tuple[str, ...] = tuple(g for g in places.groups if g not in CHOSEN)
    trust = min(TRUSTS, key=lambda x: score(groups, x))
    best = score(groups, trust)
    while rest := [g for g in CHOSEN if g not in groups]:
        if progress is not None:
            progress(
                f"cross-validation: {', '.join(g for g in groups if g not in ALWAYS) or 'first'}"
            )
        trials = {g: score((*groups, g), trust) for g in rest}
        added = min(trials, key=lambda g: trials[g])
        if trials[added] > WORTH * best:
            break
        groups = (*groups, added)
        trust = min(TRUSTS, key=lambda x: score(groups, x))
        best = score(groups, trust)
    return groups, trust, noise


def _scorer(
    places: Layout, data: Data, given: Prior, noise: Noise
) -> Callable[[tuple[str, ...], float], float]:
    """The cross-validated error of groups and a trust, in squares of the residuals' scales."""
    parts = [moments(data, noise.weights, fold) for fold in folds(data)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part

    def score(groups: tuple[str, ...], trust: float) -> float:
        kept = places.only(groups)
        total = 0.0
        for part in parts:
            fit = solve(places, data, whole - part, noise.scale, given, trust, kept, False)
            for j, (rows, table) in enumerate(zip(data.joints, part.tables)):
                u = np.concatenate([fit.phi[rows.columns], [1.0]]) / fit.gains[j]
                u = np.append(u, -1.0)
                total += float(u @ table @ u) / noise.scale[j] ** 2
        return total

    return score


def folds(data: Data) -> list[np.ndarray]:
    """Masks of rows: the recordings, or blocks in time where there is only one."""
    if len(data.names) > 1:
        return [data.recording == k for k in range(len(data.names))]
    block = np.arange(len(data.t)) * BLOCKS // len(data.t)
    return [block == k for k in range(BLOCKS)]
