"""Rotations as arrays with any leading axes: matrices (..., 3, 3), rotation vectors (..., 3) and
quaternions (..., 4) as x, y, z, w."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.errors import ArgumentError

SLACK = 1e-5  # matrices nearer than this to a rotation are one, printed with few digits


def skew(a: np.ndarray) -> np.ndarray:
    """⟨a⟩ (..., 3, 3): ⟨a⟩ b = a × b."""
    x, y, z = np.moveaxis(np.asarray(a, dtype=float), -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack(row, -1) for row in ((o, -z, y), (z, o, -x), (-y, x, o))], -2)


def exp(a: np.ndarray) -> np.ndarray:
    """The rotation about a by the angle |a|: E + sin θ/θ ⟨a⟩ + (1 − cos θ)/θ² ⟨a⟩²."""
    a = np.asarray(a, dtype=float)
    angle = np.linalg.norm(a, axis=-1)[..., None, None]
    half = np.sinc(angle / (2 * np.pi))  # sin(θ/2)/(θ/2)
    A = skew(a)
    return np.eye(3) + np.sinc(angle / np.pi) * A + 0.5 * half * half * (A @ A)


def log(R: np.ndarray) -> np.ndarray:
    """The rotation vector (..., 3) of a rotation, its angle in [0, π]."""
    q = to_quaternion(R)
    size = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[..., 3:])
    return q[..., :3] * np.divide(angle, size, out=np.full_like(size, 2.0), where=size > 0.0)


def from_quaternion(q: Any) -> np.ndarray:
    """The rotation of a quaternion (x, y, z, w) of any positive length."""
    q = np.asarray(q, dtype=float)
    size = np.linalg.norm(q, axis=-1, keepdims=True)
    if q.shape[-1:] != (4,) or not np.all((size > 1e-9) & np.isfinite(size)):
        raise ArgumentError(
            f"the quaternion {q.tolist()} has no direction; give x, y, z, w of length 1"
        )
    v, w = q[..., :3] / size, (q[..., 3:] / size)[..., None]
    A = skew(v)
    return np.eye(3) + 2.0 * w * A + 2.0 * (A @ A)


def to_quaternion(R: np.ndarray) -> np.ndarray:
    """The unit quaternion (..., 4), x y z w with w ≥ 0, of a rotation: the largest of its four
    squares decides the formula."""
    R = np.asarray(R, dtype=float)
    t = np.trace(R, axis1=-2, axis2=-1)[..., None]
    squares = np.concatenate([1.0 + 2.0 * np.diagonal(R, axis1=-2, axis2=-1) - t, 1.0 + t], -1)
    a, b = np.array([2, 0, 1]), np.array([1, 2, 0])
    minus, plus = R[..., a, b] - R[..., b, a], R[..., a, b] + R[..., b, a]  # (yz, zx, xy)
    x, y, z = np.moveaxis(minus, -1, 0)
    yz, zx, xy = np.moveaxis(plus, -1, 0)
    s0, s1, s2, s3 = np.moveaxis(squares, -1, 0)
    rows = np.stack(
        [
            np.stack(r, -1)
            for r in ((s0, xy, zx, x), (xy, s1, yz, y), (zx, yz, s2, z), (x, y, z, s3))
        ],
        -2,
    )
    q = np.take_along_axis(rows, np.argmax(squares, -1)[..., None, None], -2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.where(q[..., 3:] < 0.0, -q, q)


def as_rotation(value: Any, what: str = "the rotation") -> np.ndarray:
    """A rotation matrix (3, 3) from a matrix (made exactly orthogonal) or a quaternion x y z w."""
    R = np.asarray(value, dtype=float)
    if R.shape == (4,):
        return from_quaternion(R)
    if R.shape != (3, 3):
        raise ArgumentError(
            f"{what} has shape {R.shape}; give a matrix (3, 3) or a quaternion x, y, z, w"
        )
    if (
        not np.all(np.isfinite(R))
        or np.abs(R @ R.T - np.eye(3)).max() > SLACK
        or np.linalg.det(R) < 0.0
    ):
        raise ArgumentError(
            f"{what} is not a rotation: its rows must be unit vectors at right angles, right-handed"
        )
    U, _, V = np.linalg.svd(R)
    return U @ V
