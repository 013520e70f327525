"""Limits proved at every instant: cells are divided until the bound of the variation proves each
row, or a point exceeds a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armature.optimize.certificate.rows import ALLOWED, Margin, Source, Table
from armature.simulate.pieces import Pieces, Points

PARTS = 4  # of a cell that is not proved yet
ROUNDS = 12  # then a cell is 4^12 times shorter than at the beginning
MOST = 400_000  # points in one round


class Proof(NamedTuple):
    """margins: the worst of every row at the points that were looked at.  proved: every row is kept
    (to 1e-3) in all cells, or a point
    that exceeds it was found.  instants: how many points.  open: what is not proved, and when.
    why: what cannot be proved."""

    margins: list[Margin]
    proved: bool
    instants: int
    open: tuple[Margin, ...] = ()
    why: str = ""


def prove(
    pieces: Pieces, sources: Sequence[Source], points: Points, first: Sequence[Table] | None = None
) -> Proof:
    """Prove the rows of all sources. points: to begin with.  first: the sources' tables there,
    where they are known already."""
    tables = list(first) if first is not None else [source(points) for source in sources]
    found = [m for table in tables for m in table.margins(points.t)]
    why = ", ".join(table.why for table in tables if table.rise is None)
    instants, left = len(points.t), points
    for _ in range(ROUNDS):
        undecided = _undecided(tables, left)
        if not undecided.any():
            return Proof(found, not why, instants, why=why)
        if np.count_nonzero(undecided) * (PARTS + 1) > MOST:
            break
        left = divided(pieces, left, np.flatnonzero(undecided))
        tables = [source(left) for source in sources]
        instants += len(left.t)
        found = [
            min(pair, key=lambda m: m.fraction)
            for pair in zip(found, (m for x in tables for m in x.margins(left.t)))
        ]
    return Proof(found, False, instants, tuple(_open(tables, left)))


def _undecided(tables: Sequence[Table], points: Points) -> np.ndarray:
    """(P − 1,) cells in which a row is neither proved nor exceeded at an end."""
    found = np.zeros(len(points.t) - 1, dtype=bool)
    for table in tables:
        if table.rise is not None and table.labels:
            found |= _not_proved(table).any(1)
    return found & points.cells


def _not_proved(table: Table) -> np.ndarray:
    """(P − 1, R) whether a row that its ends keep may be exceeded in between."""
    assert table.rise is not None
    scale = np.array([x.scale for x in table.labels])
    ends = np.maximum(table.beyond[1:], table.beyond[:-1])
    return (ends <= ALLOWED) & (ends + table.rise() / scale > ALLOWED)


def divided(pieces: Pieces, points: Points, cells: np.ndarray) -> Points:
    """The chosen cells, each as a piece of its own with PARTS − 1 points inside."""
    part = np.arange(PARTS + 1) / PARTS
    begin, end = points.x[cells, None], points.x[cells + 1, None]
    x = begin + (end - begin) * part
    x[:, -1] = end[:, 0]
    step, piece = (
        np.repeat(points.step[cells], PARTS + 1),
        np.repeat(np.arange(len(cells)), PARTS + 1),
    )
    return pieces.at(step, x.ravel(), piece, np.repeat((begin + end) / 2, PARTS + 1))


def _open(tables: Sequence[Table], points: Points) -> list[Margin]:
    """The rows that are not proved, where they come nearest to their limit."""
    found = []
    for table in tables:
        if table.rise is not None and table.labels:
            doubtful = _not_proved(table) & points.cells[:, None]
            ends = np.where(doubtful, table.beyond[:-1], -np.inf)
            for k in np.flatnonzero(doubtful.any(0)).tolist():
                i = int(ends[:, k].argmax())
                found.append(table.labels[k].margin(float(table.values[i, k]), float(points.t[i])))
    return found
