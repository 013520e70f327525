"""A mechanism's couplings and forces as arrays: every kind of coupling evaluated for all its
members in one kernel call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics.bodies.couplings import GROUND, Coupling
from armature.dynamics.bodies.elements import STILL, Element, Moving, TorsionSpring
from armature.dynamics.bodies.rows import rows_kernel
from armature.kernel import Kernel
from armature.kernel.kernel import compile
from armature.kernel.trace import Shape
from armature.spatial.vectors import pack


class Bodies(NamedTuple):
    """Poses and velocities of all bodies, the ground last: R (nb+1, 3, 3), p (nb+1, 3), u (nb+1,
    6); coordinates s, ds (c+1,)."""

    R: np.ndarray
    p: np.ndarray
    u: np.ndarray
    s: np.ndarray
    ds: np.ndarray


def rotations(quaternions: np.ndarray) -> np.ndarray:
    """(..., 3, 3) from unit quaternions (..., 4), x y z w."""
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    rows = [
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    ]
    rows += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return np.stack(rows, axis=-1).reshape(*x.shape, 3, 3)


def unpack(q: np.ndarray, v: np.ndarray, bodies: int) -> Bodies:
    """State vectors (7 nb + c,), (6 nb + c,) as arrays with the ground's row, and a dummy
    coordinate, appended."""
    x = np.vstack([q[: 7 * bodies].reshape(bodies, 7), [[0, 0, 0, 0, 0, 0, 1]]])
    u = np.vstack([v[: 6 * bodies].reshape(bodies, 6), np.zeros((1, 6))])
    return Bodies(
        rotations(x[:, 3:]),
        x[:, :3],
        u,
        np.append(q[7 * bodies :], 0.0),
        np.append(v[6 * bodies :], 0.0),
    )


class Rows(NamedTuple):
    """f, ḟ, D (rows,) and the values of (A, B), in the order of the pattern."""

    f: np.ndarray
    fd: np.ndarray
    D: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Group:
    """Couplings of one kind: their kernel, bodies (count, k) and coordinates (count, c) by index,
    numbers (count, P), row indices (count, m), and which of the kernel's A and B entries are kept
    (those of the ground are not)."""

    kernel: Kernel
    bodies: np.ndarray
    coordinates: np.ndarray
    numbers: np.ndarray
    rows: np.ndarray
    keep_A: np.ndarray
    keep_B: np.ndarray


class Couplings:
    """All couplings of a mechanism. pattern: (rows, columns) of the values that `evaluate` gives;
    names: of the coupling of each row."""

    def __init__(
        self,
        couplings: Sequence[Coupling],
        body_index: dict[str, int],
        coordinate_index: dict[str, int],
        numbers: list[np.ndarray],
    ):
        self.nb = len(body_index) - 1  # the ground is one
        kinds: dict[str, list[int]] = {}
        for i, c in enumerate(couplings):
            kinds.setdefault(c.kind, []).append(i)
        kernels = {
            kind: self._kernel(couplings[members[0]], len(numbers[members[0]]))
            for kind, members in kinds.items()
        }
        sizes = [kernels[c.kind].outputs[0].size for c in couplings]
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.rows = int(first[-1])
        self.first = first
        self.names = [c.name for c, size in zip(couplings, sizes) for _ in range(size)]
        self.groups, patterns = [], []
        for kind, members in kinds.items():
            group, pattern = self._group(
                kernels[kind],
                [couplings[i] for i in members],
                first[members],
                body_index,
                coordinate_index,
            )
            self.groups.append(Group(numbers=_padded([numbers[i] for i in members]), **group))
            patterns.append(pattern)
        self.pattern = (
            tuple(np.concatenate(side) for side in zip(*patterns))
            if patterns
            else (np.empty(0, int), np.empty(0, int))
        )

    @staticmethod
    def _kernel(c: Coupling, numbers: int) -> Kernel:
        return rows_kernel(c.residual, len(c.bodies), len(c.coordinates), numbers)

    def _group(
        self,
        kernel: Kernel,
        members: list[Coupling],
        first: np.ndarray,
        bodies: dict,
        coordinates: dict,
    ) -> tuple[dict, tuple]:
        m, count = kernel.outputs[0].size, len(members)
        k, c = kernel.inputs[0].shape[0], kernel.inputs[3].size
        at = np.array([[bodies[b] for b in x.bodies] or [bodies[GROUND]] for x in members])
        on = np.array(
            [[coordinates[s] for s in x.coordinates] or [len(coordinates)] for x in members]
        )
        rows = first[:, None] + np.arange(m)
        # entries of A and B: row, column, and whether the column exists
        column_A = np.broadcast_to(
            (6 * at[:, :, None] + np.arange(6)).reshape(count, 1, 6 * k), (count, m, 6 * k)
        )
        column_B = np.broadcast_to((6 * self.nb + on)[:, None, :], (count, m, c))
        keep_A = column_A < 6 * self.nb
        keep_B = column_B < 6 * self.nb + len(coordinates)
        row_A, row_B = (np.broadcast_to(rows[:, :, None], x.shape) for x in (column_A, column_B))
        pattern = (
            np.concatenate([row_A[keep_A], row_B[keep_B]]),
            np.concatenate([column_A[keep_A], column_B[keep_B]]),
        )
        return {
            "kernel": kernel,
            "bodies": at,
            "coordinates": on,
            "rows": rows,
            "keep_A": keep_A,
            "keep_B": keep_B,
        }, pattern

    def evaluate(self, t: float, x: Bodies) -> Rows:
        """f, ḟ, D and the values of A and B at a state."""
        f, fd, D, values = np.empty(self.rows), np.empty(self.rows), np.empty(self.rows), []
        for g in self.groups:
            state = (
                x.R[g.bodies],
                x.p[g.bodies],
                x.u[g.bodies],
                x.s[g.coordinates],
                x.ds[g.coordinates],
            )
            f[g.rows], fd[g.rows], A, B, D[g.rows] = g.kernel(*state, np.array(t), g.numbers)
            values += [A[g.keep_A], B[g.keep_B]]
        return Rows(f, fd, D, np.concatenate(values) if values else np.empty(0))


def _padded(numbers: list[np.ndarray]) -> np.ndarray:
    """(count, at least 1)."""
    return np.array(numbers) if len(numbers[0]) else np.zeros((len(numbers), 1))


class Loads:
    """All force elements of a mechanism as one kernel: loads on the bodies (nb, 6), torques in the
    body's axes, and on coordinates (c,)."""

    def __init__(
        self, elements: Sequence[Any], body_index: dict[str, int], coordinate_index: dict[str, int]
    ):
        self.nb, self.c = len(body_index) - 1, len(coordinate_index)
        self.names = sorted(
            {b for e in elements if isinstance(e, Element) for b in e.bodies} - {GROUND},
            key=body_index.__getitem__,
        )
        self.index = np.array([body_index[b] for b in self.names], dtype=int)
        self.kernel = self._kernel(elements, coordinate_index) if elements else None

    def _kernel(self, elements: Sequence[Any], coordinates: dict[str, int]) -> Kernel:
        k, c = max(len(self.names), 1), max(self.c, 1)

        def plain(t, R, p, u, s, ds):
            frames = {GROUND: STILL} | {
                b: Moving(R[i], p[i], u[i, :3], R[i] @ u[i, 3:]) for i, b in enumerate(self.names)
            }
            loads: list[Any] = [np.zeros(6) for _ in range(k)]
            efforts: list[Any] = [0.0] * c
            for e in elements:
                if isinstance(e, TorsionSpring):
                    i = coordinates[e.joint]
                    efforts[i] = efforts[i] + e.effort(s[i], ds[i])
                    continue
                for body, load in e.loads(t, frames).items():
                    if body != GROUND:
                        i = self.names.index(body)
                        loads[i] = loads[i] + np.concatenate([load.force, R[i].T @ load.torque])
            return np.array(loads), pack(efforts)

        inputs: dict[str, Shape | int] = {
            "t": (),
            "R": (k, 3, 3),
            "p": (k, 3),
            "u": (k, 6),
            "s": c,
            "ds": c,
        }
        return compile(plain, inputs, ("loads", "efforts"), symbols="numpy")

    def evaluate(self, t: float, x: Bodies) -> tuple[np.ndarray, np.ndarray]:
        loads, efforts = np.zeros((self.nb, 6)), np.zeros(self.c)
        if self.kernel is not None:
            at = self.index if len(self.index) else np.array([self.nb])
            found, on = self.kernel(
                np.array(t),
                x.R[at],
                x.p[at],
                x.u[at],
                x.s[: max(self.c, 1)],
                x.ds[: max(self.c, 1)],
            )
            loads[self.index] = found[: len(self.index)]
            efforts[:] = on[: self.c]
        return loads, efforts
