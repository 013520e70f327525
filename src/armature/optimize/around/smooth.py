"""From the corners of a free path to a smooth curve that is free too."""

from __future__ import annotations

import itertools

import numpy as np

from armature.motion.path import JointPath
from armature.motion.shapes import joint_path
from armature.scene.free_path import Search

WIDTHS = (0.2, 0.12, 0.07, 0.04, 0.02, 0.01)  # of a path's length over which corners are rounded
SAMPLES, PLACES = 801, 400  # of the polygon that is rounded; where the curve is looked at
POINTS = 6  # that the curve is made through, for every width of its length


def smooth_path(search: Search, points: np.ndarray, margins: np.ndarray) -> JointPath | None:
    """The smoothest curve near a polygon (k, n) that is free at states close to each other; None
    where even the sharpest is not. margins: (pairs,) kept between each pair, m."""
    if len(points) == 2:
        return joint_path(points)
    for width in WIDTHS:
        found = rounded(points, width)
        if is_free(search, found, margins):
            return found
    return None


def rounded(points: np.ndarray, width: float) -> JointPath:
    """A polygon (k, n) averaged over parts `width` of its length, from its first to its last
    point."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    s = np.linspace(0.0, way[-1], SAMPLES)
    dense = np.stack([np.interp(s, way, column) for column in points.T], axis=1)
    half = max(int(width * SAMPLES / 2), 1)
    # points mirrored at both ends: there the average is the end itself, and the curve straight
    before, after = 2 * dense[0] - dense[half:0:-1], 2 * dense[-1] - dense[-2 : -half - 2 : -1]
    x = np.linspace(-1.0, 1.0, 2 * half + 1)
    weights = (1.0 - x**2) ** 2 + 1e-12
    weights /= weights.sum()
    whole = np.concatenate([before, dense, after])
    smooth = np.stack([np.convolve(column, weights, "valid") for column in whole.T], axis=1)
    smooth[0], smooth[-1] = points[0], points[-1]
    rows = np.linspace(0, SAMPLES - 1, min(int(POINTS / width), SAMPLES // 4) + 1).astype(int)
    return joint_path(smooth[rows])


def is_free(search: Search, path: JointPath, margins: np.ndarray) -> bool:
    """Whether a curve is free, and inside the joints' ranges, at states close to each other."""
    q = path(np.linspace(0.0, 1.0, PLACES)).q
    inside = np.all((q >= search.lower - 1e-9) & (q <= search.upper + 1e-9))
    return bool(inside) and all(search.free(a, b, margins) for a, b in itertools.pairwise(q))
