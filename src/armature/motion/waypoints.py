"""Waypoints from a CSV file: x, y, z and, where the orientation matters, qx, qy, qz, qw."""

from __future__ import annotations

from os import PathLike

import numpy as np

from armature.errors import ArgumentError, FileError
from armature.motion.goal import Goal
from armature.motion.rotation import from_quaternion
from armature.motion.table import read_table

POSITION, ORIENTATION = ["x", "y", "z"], ["qx", "qy", "qz", "qw"]


def load_waypoints(path: str | PathLike[str]) -> list[Goal]:
    """Points or poses from a CSV file with the header x,y,z or x,y,z,qx,qy,qz,qw (m; quaternions of
    any length). Lines with # are notes."""
    table = read_table(path)
    names = [name.strip().lower() for name in table.names]
    missing = [n for n in POSITION if n not in names] + [
        n for n in ORIENTATION if n not in names and set(ORIENTATION) & set(names)
    ]
    if missing:
        raise FileError(
            f"there is no column {missing[0]!r}; the header must name x,y,z or x,y,z,qx,qy,qz,qw",
            path,
            table.header_line,
        )
    if len(table.values) < 2:
        raise FileError(
            f"the file has {len(table.values)} waypoints; a path needs at least two", path
        )
    columns = {name: table.values[:, k] for k, name in enumerate(names)}
    p = np.column_stack([columns[n] for n in POSITION])
    if "qx" not in columns:
        return [Goal(x) for x in p]
    goals = []
    for x, q, where in zip(
        p, np.column_stack([columns[n] for n in ORIENTATION]), table.lines.tolist()
    ):
        try:
            goals.append(Goal(x, from_quaternion(q)))
        except ArgumentError as e:
            raise FileError(str(e), path, where) from None
    return goals
