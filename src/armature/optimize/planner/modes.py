"""Modes: in every step a joint moves forward, moves backward, or stands, so that laws with corners
are exact."""

from __future__ import annotations

import numpy as np

from armature.motion.trajectory import Trajectory


def directions(motion: Trajectory, slow: np.ndarray, turning: bool) -> np.ndarray:
    """(N, n) which way every joint moves in a step, ±1; 0 where its mean speed is below `slow`
    (n,), and, unless joints turn at knots, where it turns inside."""
    mean = np.diff(motion.q, axis=0) / np.diff(motion.t)[:, None]
    same = turning | (np.sign(motion.v[:-1]) * np.sign(motion.v[1:]) >= 0)
    return np.where((np.abs(mean) > slow) & same, np.sign(mean), 0.0)


def standstill(modes: np.ndarray) -> np.ndarray:
    """(N, n) steps without a direction that have another one beside them."""
    slow = np.pad(modes == 0.0, ((1, 1), (0, 0)))
    return slow[1:-1] & (slow[:-2] | slow[2:])
