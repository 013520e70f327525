"""Rotations as the page has them: quaternions w x y z."""

from __future__ import annotations

import numpy as np


def quaternions(R: np.ndarray) -> np.ndarray:
    """(k, 4) w x y z of rotations (k, 3, 3)."""
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=-1)


def matrix(wxyz: np.ndarray) -> np.ndarray:
    """(3, 3) of a quaternion w x y z."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(np.roll(wxyz, -1)).as_matrix()
