"""Names and numbers that a robot may hold: each function returns the value in its one form, or
raises an error that says where."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from armature.document import suggestion
from armature.errors import ArgumentError, RobotError

LONGEST_NAME = 1000


def known(what: str, name: str, names: Iterable[str]) -> str:
    """`name` if it is among `names`; otherwise an ArgumentError that lists the likely ones."""
    names = tuple(names)
    if name in names:
        return name
    raise ArgumentError(f"there is no {what} {name!r}; {suggestion(name, names)}")


def number(where: str, value: Any, infinite: bool = False) -> float:
    """`value` as a finite float (infinite ones too when told), or a RobotError that says where."""
    try:
        x = float(value)
    except (TypeError, ValueError, OverflowError):
        raise RobotError(
            f"{where} is {value!r}, which is not a number; give one in SI units"
        ) from None
    if math.isnan(x) or (math.isinf(x) and not infinite):
        raise RobotError(f"{where} is {x}; give a finite number")
    return x


def vector(where: str, values: Any, n: int) -> tuple:
    """`values` as a tuple of n finite floats, or a RobotError that says where."""
    try:
        values = tuple(values)
    except TypeError:
        raise RobotError(f"{where} is {values!r}; give {n} numbers") from None
    if len(values) != n:
        raise RobotError(f"{where} has {len(values)} values; give {n}")
    return tuple(number(where, v) for v in values)


def name(what: str, value: Any) -> str:
    """`value` if it is a string of 1 to 1,000 characters, or a RobotError."""
    if not isinstance(value, str) or not value:
        raise RobotError(f"the name of a {what} is {value!r}; give a non-empty string")
    if len(value) > LONGEST_NAME:
        raise RobotError(
            f"the name {value[:40]!r}… of a {what} has {len(value)} characters; give at most"
            f" {LONGEST_NAME}"
        )
    return value


def unit(where: str, axis: Any) -> tuple[float, float, float]:
    """`axis` with length 1; bit for bit the same when it has that length already."""
    x, y, z = vector(where, axis, 3)
    length = math.hypot(x, y, z)
    if not 1e-9 < length < math.inf:
        raise RobotError(
            f"{where} ({x:g}, {y:g}, {z:g}) has no direction; give a vector of length 1, such as"
            " (0, 0, 1)"
        )
    if abs(length - 1.0) <= 4e-16:
        return (x, y, z)
    return (x / length, y / length, z / length)


def rotation(where: str, rows: Any) -> tuple:
    """`rows` as a 3×3 rotation matrix, or a RobotError when it is not orthogonal with determinant
    1."""
    try:
        rows = tuple(rows)
    except TypeError:
        raise RobotError(f"{where} is {rows!r}; give the three rows of a matrix") from None
    if len(rows) != 3:
        raise RobotError(f"{where} has {len(rows)} rows; give the three rows of a matrix")
    R = tuple(vector(where, row, 3) for row in rows)
    A = np.array(R)
    if np.abs(A).max() > 2 or np.abs(A @ A.T - np.eye(3)).max() > 1e-9 or np.linalg.det(A) < 0:
        raise RobotError(
            f"{where} is not a rotation: its rows must be unit vectors at right angles,"
            " right-handed"
        )
    return R
