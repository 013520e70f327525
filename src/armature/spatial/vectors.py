"""Vectors and rotations of three-space on any number type. Vectors are arrays of shape (3,),
rotations (3, 3).

Arrays hold floats, complex numbers, or (dtype object) symbols; `@`, `+` and `*` of NumPy work on
all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armature.spatial.numbers import Number, is_symbol

Array = np.ndarray


def pack(values: Sequence[Number], shape: tuple[int, ...] = (-1,)) -> Array:
    """An array of these numbers; dtype object as soon as one of them is a symbol."""
    if any(is_symbol(x) for x in values):
        array = np.empty(len(values), dtype=object)
        for i, x in enumerate(values):
            array[i] = x
        return array.reshape(shape)
    return np.array(values).reshape(shape)


def cross(a: Array, b: Array) -> Array:
    """a × b."""
    return pack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def dot(a: Array, b: Array) -> Number:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def skew(a: Array) -> Array:
    """⟨a⟩, the matrix of the cross product: ⟨a⟩ b = a × b."""
    o = 0.0
    return pack([o, -a[2], a[1], a[2], o, -a[0], -a[1], a[0], o], (3, 3))


def about_axis(axis: Array, cosine: Number, sine: Number) -> Array:
    """Rotation about a unit axis: e eᵀ + cos (E − e eᵀ) + sin ⟨e⟩; entries that are constant stay
    numbers."""
    along = np.outer(axis, axis)
    across = np.eye(3) - along
    turn = skew(axis)
    entries = [
        (a if a else 0.0) + (cosine * b if b else 0.0) + (sine * c if c else 0.0)
        for a, b, c in zip(along.ravel(), across.ravel(), turn.ravel())
    ]
    return pack(entries, (3, 3))


def from_quaternion(x: Number, y: Number, z: Number, w: Number) -> Array:
    """Rotation of a quaternion (x, y, z, w) of any length but zero: E + s(⟨ε⟩⟨ε⟩ + w⟨ε⟩), s =
    2/(ε·ε + w²)."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    rows = [
        1.0 - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
        s * (x * y + w * z),
        1.0 - s * (x * x + z * z),
        s * (y * z - w * x),
        s * (x * z - w * y),
        s * (y * z + w * x),
        1.0 - s * (x * x + y * y),
    ]
    return pack(rows, (3, 3))
