"""The linear relation measured = (regressor · φ)/gain, joint by joint, as rows for the
estimation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armature.dynamics.recursion.regressor import INERTIAL
from armature.identify.friction import column
from armature.identify.layout import Layout
from armature.identify.recording import Recording
from armature.identify.regressor import prior_parameters, regressor
from armature.identify.signals import Grid, grids

STANDING = 0.02  # of the typical speed: below it a joint stands
NEXT = 4  # rows, one period of the cutoff, that still belong to a motion
LEAST_MOVING = 0.05  # of all rows
BLOCK = 20_000  # grid points at once: bounds the memory


@dataclass(frozen=True, eq=False)
class Rows:
    """Filtered and thinned rows of all recordings for one joint.

    columns: (p,) places in φ.  X: (N, p) torque per parameter.  known: (N,) torque of a known
    payload.  y: (N,) measured, A or N·m.
    """

    columns: np.ndarray
    X: np.ndarray
    known: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, eq=False)
class Data:
    """Rows of every joint, with what is common to them.

    recording: (N,) number of the recording.  t: (N,) s.  v: (N, n) speeds.  names: of recordings.
    step: s between rows of one grid.  moving: (N, n) joints that do not stand: at rest stiction
    leaves the torque open.
    """

    joints: tuple[Rows, ...]
    recording: np.ndarray
    t: np.ndarray
    v: np.ndarray
    names: tuple[str, ...]
    step: float
    moving: np.ndarray

    def predicted(self, phi: np.ndarray, gains: np.ndarray) -> np.ndarray:
        """(N, n) what the model says of the measured signals."""
        parts = [(r.X @ phi[r.columns] + r.known) / k for r, k in zip(self.joints, gains)]
        return np.column_stack(parts)

    @property
    def measured(self) -> np.ndarray:
        """(N, n)."""
        return np.column_stack([r.y for r in self.joints])


def collect(
    layout: Layout,
    recordings: list[Recording],
    cutoff: float,
    load_parameters: np.ndarray | None = None,
    progress: Callable[[str], None] | None = None,
) -> Data:
    """Rows of all recordings. cutoff: Hz.

    load_parameters: π with which load-dependent friction knows the load; the description's first.
    """
    prior = prior_parameters(layout.robot) if load_parameters is None else load_parameters
    tables: list[list[np.ndarray]] = [[] for _ in range(layout.robot.n)]
    about, speeds, step = [], [], 0.0
    for number, recording in enumerate(recordings):
        if progress is not None:
            progress(f"regressor of {recording.name}")
        for grid in grids(recording, cutoff):
            pick, step = grid.rows, max(step, grid.row_step)
            for joint, table in enumerate(_tables(layout, grid, recording, prior)):
                tables[joint].append(table[pick])
            t = grid.t[pick]
            about.append(np.column_stack([np.full(len(t), number), t]))
            speeds.append(grid.v[pick])
    joints = []
    for joint in range(layout.robot.n):
        table, columns = np.concatenate(tables[joint]), layout.joint_columns(joint)
        joints.append(Rows(columns, table[:, :-2], table[:, -2], table[:, -1]))
    where = np.concatenate(about)
    names, v = tuple(r.name for r in recordings), np.concatenate(speeds)
    number = where[:, 0].astype(int)
    return Data(tuple(joints), number, where[:, 1], v, names, step, moving(v, number))


def moving(v: np.ndarray, number: np.ndarray) -> np.ndarray:
    """(N, n) rows at which joints move: faster than a part of their typical speed, or next to such
    a row of the same recording. A joint that stands nearly all the time counts as moving."""
    fast = np.abs(v) > STANDING * np.sqrt(np.mean(v**2, axis=0))
    found = fast.copy()
    for shift in range(1, NEXT + 1):
        same = (number[shift:] == number[:-shift])[:, None]
        found[shift:] |= fast[:-shift] & same
        found[:-shift] |= fast[shift:] & same
    return found | (found.mean(axis=0) < LEAST_MOVING)


def _tables(
    layout: Layout, grid: Grid, recording: Recording, prior: np.ndarray
) -> list[np.ndarray]:
    """[X | known | y] of every joint on a grid, filtered."""
    N, n = grid.q.shape
    bodies, tip = layout.inertial, payload_body(layout, recording)
    sizes = [len(layout.joint_columns(j)) + 2 for j in range(n)]
    tables = [np.zeros((N, size)) for size in sizes]
    loads = np.empty((N, n))
    for first in range(0, N, BLOCK):
        part = slice(first, min(first + BLOCK, N))
        Y = regressor(layout.robot, grid.q[part], grid.v[part], grid.a[part])
        loads[part] = Y @ (prior + tip)
        for j, table in enumerate(tables):
            columns = layout.joint_columns(j)
            rigid = columns[columns < bodies]
            table[part, : len(rigid)] = Y[:, j, rigid]
            table[part, -2] = Y[:, j] @ tip
    for axis, row in enumerate(layout.axes):
        q, v, a = grid.q @ row, grid.v @ row, grid.a @ row
        load = loads @ row / (row @ row)
        for k, feature in enumerate(layout.columns[axis]):
            values = column(feature, q, v, a, load)
            for j in np.flatnonzero(row):
                place = np.searchsorted(layout.joint_columns(int(j)), layout.starts[axis] + k)
                tables[j][:, place] = row[j] * values
    for j, table in enumerate(tables):
        table[:, -1] = grid.measured[:, j]
        table[:] = grid.filtered(table)
    return tables


def payload_body(layout: Layout, recording: Recording) -> np.ndarray:
    """(10 nb,) inertial parameters that a known payload adds to the tip's body."""
    added = np.zeros(layout.inertial)
    if recording.payload:
        robot = layout.robot.with_payload(recording.payload, at=recording.payload_at)
        added = prior_parameters(robot) - prior_parameters(layout.robot)
    return added


__all__ = ["INERTIAL", "Data", "Rows", "collect"]
