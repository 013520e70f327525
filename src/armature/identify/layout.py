"""Which parameters there are and where each stands in the vector φ = (π of all bodies, features of
all axes)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armature.dynamics.recursion.regressor import INERTIAL
from armature.identify.friction import GROUPS, Feature, features
from armature.robot.model import Robot

NAMES = ("m", "mx", "my", "mz", "Jxx", "Jyy", "Jzz", "Jxy", "Jxz", "Jyz")


@dataclass(frozen=True, eq=False)
class Layout:
    """The model's columns.

    axes: (m, n) axis velocity = axes × joint velocity: the joints, then motors that move several.
    axis_names: m.  columns: features of every axis.
    """

    robot: Robot
    axes: np.ndarray
    axis_names: tuple[str, ...]
    columns: tuple[tuple[Feature, ...], ...]

    @property
    def inertial(self) -> int:
        """Number of inertial parameters."""
        return INERTIAL * len(self.robot.tree.bodies)

    @cached_property
    def starts(self) -> np.ndarray:
        """(m + 1,) where each axis's features begin in φ."""
        sizes = [len(c) for c in self.columns]
        return self.inertial + np.concatenate([[0], np.cumsum(sizes)]).astype(int)

    @property
    def size(self) -> int:
        """Length of φ."""
        return int(self.starts[-1])

    def of(self, axis: int, *groups: str) -> list[int]:
        """Places in φ of an axis's features of these groups."""
        start = int(self.starts[axis])
        return [start + k for k, f in enumerate(self.columns[axis]) if f.group in groups]

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups that any axis has."""
        own = {feature.group for columns in self.columns for feature in columns}
        return tuple(group for group in GROUPS if group in own)

    def only(self, groups: tuple[str, ...]) -> np.ndarray:
        """(size,) True for inertial parameters and for features of these groups."""
        kept = np.arange(self.size) < self.inertial
        for axis in range(len(self.columns)):
            kept[self.of(axis, *groups)] = True
        return kept

    def joint_columns(self, joint: int) -> np.ndarray:
        """Places in φ that can act on a joint: bodies beyond it, features of its axes."""
        tree = self.robot.tree
        found = []
        for k in range(len(tree.bodies)):
            if any(tree.bodies[i].v == joint for i in tree.path(k)):
                found += range(INERTIAL * k, INERTIAL * (k + 1))
        for axis in np.flatnonzero(self.axes[:, joint]):
            found += range(int(self.starts[axis]), int(self.starts[axis + 1]))
        return np.array(found, dtype=int)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of all parameters."""
        found = [f"{b.name}.{p}" for b in self.robot.tree.bodies for p in NAMES]
        for name, columns in zip(self.axis_names, self.columns):
            found += [f"{name}.{f.label}" for f in columns]
        return tuple(found)


def layout(
    robot: Robot,
    speeds: np.ndarray,
    noise: np.ndarray,
    transmission: np.ndarray | None = None,
    springs: tuple[str, ...] = (),
) -> Layout:
    """The columns of a robot. speeds, noise: (n,) typical speeds of the joints and their noise,
    rad/s.

    transmission: (n, n) motor angles per joint angle; rows that move several joints are axes too.
    springs: joints with a counterbalance.
    """
    n = robot.n
    rows, names = list(np.eye(n)), list(robot.joint_names)
    if transmission is not None:
        for k, row in enumerate(np.asarray(transmission, dtype=float)):
            if np.count_nonzero(row) > 1:
                rows.append(row / np.abs(row).max())
                names.append(f"motor {k + 1}")
    axes = np.array(rows)
    typical, errors = np.abs(axes) @ speeds, np.abs(axes) @ noise
    columns = []
    for k, (speed, error) in enumerate(zip(typical, errors)):
        left_out = ("spring",) if k < n else ("spring", "offset", "load")
        own = tuple(
            g for g in GROUPS if g not in left_out or (g == "spring" and names[k] in springs)
        )
        columns.append(features(own, float(speed), float(error)))
    return Layout(robot, axes, tuple(names), tuple(columns))
