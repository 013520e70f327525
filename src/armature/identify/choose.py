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
BLOCKS = 5  # of each recording in time; the folds of a single one
WORTH = 0.99  # of the error: what a further group of features must reach to be taken


def choose(
    places: Layout, data: Data, given: Prior, progress: Callable[[str], None] | None
) -> tuple[tuple[str, ...], float, Noise]:
    """Groups of features and trust that predict best; weights of the largest model."""
    noise, _ = reweighted(places, data, given, LOOSE, np.ones(places.size, dtype=bool))
    losses = _losses(places, data, given, noise)
    groups: tuple[str, ...] = tuple(g for g in places.groups if g not in CHOSEN)
    trust, best = _trust(losses, groups)
    while rest := [g for g in CHOSEN if g not in groups]:
        if progress is not None:
            progress(
                f"cross-validation: {', '.join(g for g in groups if g not in ALWAYS) or 'first'}"
            )
        trials = {g: losses((*groups, g), trust).sum() for g in rest}
        added = min(trials, key=lambda g: trials[g])
        if trials[added] > WORTH * best:
            break
        groups = (*groups, added)
        trust, best = _trust(losses, groups)
    return groups, trust, noise


def _trust(
    losses: Callable[[tuple[str, ...], float], np.ndarray], groups: tuple[str, ...]
) -> tuple[float, float]:
    """The firmest trust in the description that is not worse than the best one by more than the
    standard error of their difference, and its loss."""
    found = [losses(groups, trust) for trust in TRUSTS]
    best = min(found, key=np.sum)
    for trust, own in zip(TRUSTS, found):
        more = own - best
        if more.sum() <= np.std(more) * np.sqrt(len(more)):
            return trust, float(own.sum())
    raise AssertionError("the best trust is not worse than itself")


def _losses(
    places: Layout, data: Data, given: Prior, noise: Noise
) -> Callable[[tuple[str, ...], float], np.ndarray]:
    """The cross-validated losses of groups and a trust, in squares of the residuals' scales: one
    for each block in time, predicted without its fold."""
    parts = [[moments(data, noise.weights, block) for block in fold] for fold in folds(data)]
    sums = [sum(fold[1:], fold[0]) for fold in parts]
    whole = sum(sums[1:], sums[0])

    def losses(groups: tuple[str, ...], trust: float) -> np.ndarray:
        kept = places.only(groups)
        found = []
        for own, fold in zip(sums, parts):
            fit = solve(places, data, whole - own, noise.scale, given, trust, kept, False)
            for block in fold:
                total = 0.0
                for j, (rows, table) in enumerate(zip(data.joints, block.tables)):
                    u = np.concatenate([fit.phi[rows.columns], [1.0]]) / fit.gains[j]
                    u = np.append(u, -1.0)
                    total += float(u @ table @ u) / noise.scale[j] ** 2
                found.append(total)
        return np.array(found)

    return losses


def folds(data: Data) -> list[list[np.ndarray]]:
    """Folds, each as masks of its blocks of rows: the recordings, or blocks in time where there is
    only one."""
    blocks = []
    for k in range(len(data.names)):
        own = np.flatnonzero(data.recording == k)
        parts = np.array_split(own, BLOCKS)
        blocks.append([np.isin(np.arange(len(data.t)), part) for part in parts])
    return blocks if len(blocks) > 1 else [[block] for block in blocks[0]]
