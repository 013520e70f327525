"""A problem with its kernels and arrays: evaluates all knots in one call, without allocating."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armature.errors import ArgumentError
from armature.kernel import Kernel
from armature.optimize.problem.problem import Problem, filled, interval
from armature.optimize.problem.stage import Stage
from armature.optimize.solver import newton
from armature.optimize.solver.local import places, row_entries
from armature.optimize.solver.loops import Held, hold
from armature.optimize.solver.rows import EQUATION, RIGID, Limits, Rows, limits_of
from armature.optimize.solver.system import Derivatives, Places

RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


@dataclass(frozen=True)
class Sizes:
    """N steps; nx, nu, nz = nx + nu, np, nt totals; nr = nz + constraints, rows a knot; R rows in
    all; nxi, nw of the inner function."""

    N: int
    nx: int
    nu: int
    np: int
    nt: int
    nr: int
    nxi: int = 0
    nw: int = 0

    @property
    def nz(self) -> int:
        return self.nx + self.nu

    @property
    def R(self) -> int:
        return (self.N + 1) * self.nr + self.np + self.nt


@dataclass(frozen=True)
class Point:
    """An iterate and its function values. z: (N+1, nz), u_N = 0; lam: (N+1, nx), lam[0] = 0; v:
    (R,) values of the rows.

    xi, omega: (N, …) arguments and values of the shared inner function at all points of the steps.
    memory: what all of these are views of.  held: what loops need of it (loops.py).
    """

    memory: np.ndarray
    z: np.ndarray
    p: np.ndarray
    lam: np.ndarray
    f: np.ndarray
    v: np.ndarray
    t: np.ndarray
    l: np.ndarray
    gap: np.ndarray
    xi: np.ndarray
    omega: np.ndarray
    rows: Rows
    held: Held

    def copy_from(self, other: Point) -> None:
        """Take over another point's numbers."""
        np.copyto(self.memory, other.memory)


def empty_point(n: Sizes) -> Point:
    """A point of zeros."""
    N, knots = n.N, n.N + 1
    shapes = [
        (knots, n.nz),
        (n.np,),
        (knots, n.nx),
        (N, n.nx),
        (n.R,),
        (knots, n.nt),
        (knots, 1),
        (N, n.nx),
        (N, n.nxi),
        (N, n.nw),
    ]
    memory, views = views_of_one([*shapes, *[(n.R,)] * len(Rows._fields)])
    own, rows = views[: len(shapes)], Rows(*views[len(shapes) :])
    z, p, lam, _, v, _, _, gap, *_ = own
    return Point(memory, *own, rows=rows, held=hold(newton.Point(z, p, lam, v, gap, rows)))


def views_of_one(shapes: Sequence[tuple[int, ...]]) -> tuple[np.ndarray, list[np.ndarray]]:
    """One piece of memory, zero, and an array of each shape in it."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    memory = np.full(int(ends[-1]), 0.0)
    return memory, [part.reshape(shape) for part, shape in zip(np.split(memory, ends[:-1]), shapes)]


class Block:
    """The knots that share a stage: 0 … N−1, or N."""

    def __init__(
        self, stage: Stage, first: int, count: int, n: Sizes, data: np.ndarray, place: np.ndarray
    ):
        self.stage, self.first, self.count, self.n, self.data = stage, first, count, n, data
        layout = stage.layout
        where = (
            layout.F_rows,
            layout.F_cols,
            layout.J_first,
            layout.J_cols,
            layout.H_rows,
            layout.H_cols,
        )
        inside = layout.H_rows < n.nz  # ordered by row: these come first
        flat = place[layout.H_rows[inside]] * np.sum(place >= 0) + place[layout.H_cols[inside]]
        self.at = Places(
            first, n.nr, *where, flat, place[layout.J_cols], row_entries(layout, place)
        )
        self.d = Derivatives(*(np.zeros((count, a.size)) for a in stage.derivatives.outputs))
        self.w = np.ones(1 + stage.nc + stage.nt)
        passed = (
            (*stage.points.inputs[1:], *stage.points.outputs) if stage.points else ()
        )  # m, D, S, C
        self.shared = [np.zeros((count, points_of(stage) * a.size)) for a in passed]

    def inputs(self, point: Point) -> list[tuple[np.ndarray, int]]:
        """(first row, stride) of the inputs z, p, d, w."""
        return [
            (point.z[self.first :], self.n.nz),
            (point.p, 0),
            (self.data[self.first :], self.data.shape[1]),
            (self.w, 0),
        ]

    def values_call(self, point: Point) -> Call:
        """The call that fills f, c, t, l of this block's knots at a point."""
        n, k = self.n, self.first
        outputs = [
            (point.f[k:], n.nx),
            (point.v[k * n.nr + n.nz :], n.nr),
            (point.t[k:], n.nt),
            (point.l[k:], 1),
        ]
        outputs += [(point.xi, n.nxi), (point.omega, n.nw)] if self.stage.points else []
        return Call(self.stage.values, [*self.inputs(point), *outputs], self.count)

    def derivatives_calls(self, point: Point) -> list[Call]:
        """The calls that fill the derivatives of this block's knots at a point whose values are
        known."""
        n, k, stage = self.n, self.first, self.stage
        multipliers = [
            (point.lam[k + 1 :], n.nx),
            (point.rows.y[k * n.nr + n.nz :], n.nr),
            (point.rows.y[n.R - n.nt :], 0),
        ]
        inputs, outputs = [*self.inputs(point), *multipliers], [(a, a.shape[1]) for a in self.d]
        if stage.outer is None or stage.points is None:
            return [Call(stage.derivatives, [*inputs, *outputs], self.count)]
        # (C2) at all points of all knots, then (C1), (C3)
        omega, (m, D, S, C) = (point.omega, n.nw), ((a, a.shape[1]) for a in self.shared)
        arrays, sizes = (
            [point.xi, *self.shared],
            [a.size for a in (*stage.points.inputs, *stage.points.outputs)],
        )
        return [
            Call(stage.outer, [*inputs, omega, m, D], self.count),
            Call(stage.points, list(zip(arrays, sizes)), self.count * points_of(stage)),
            Call(stage.derivatives, [*inputs, omega, S, C, *outputs], self.count),
        ]


def points_of(stage: Stage) -> int:
    """At how many points of a step the inner function is taken."""
    return stage.values.outputs[4].size // stage.points.inputs[0].size if stage.points else 0


class Call:
    """A kernel call with its table of addresses made once."""

    def __init__(self, kernel: Kernel, arguments: list[tuple[np.ndarray, int]], count: int):
        self.kept = kernel, arguments
        self.table = np.array([a.ctypes.data for a, _ in arguments], dtype=np.int64)
        self.strides = np.array([stride for _, stride in arguments], dtype=np.int64)
        self.count = count
        self.run = RUN(kernel.address)
        self.where = self.table.ctypes.data, self.strides.ctypes.data

    def __call__(self) -> None:
        self.run(*self.where, self.count)


class Evaluator:
    """All knots of a problem: values at the current and the trial point, derivatives at the current
    one. place: see local.py."""

    def __init__(self, problem: Problem, running: Stage, end: Stage):
        m, N = problem.model, problem.N
        if running.nt and end.nt and running.nt != end.nt:
            raise ArgumentError(
                f"totals gives {running.nt} numbers and end_totals {end.nt}; they are added, so"
                " give as many"
            )
        nr = m.nx + m.nu + max(running.nc, end.nc)
        inner = (a.size for a in running.values.outputs[4:])
        self.n = n = Sizes(N, m.nx, m.nu, m.np, max(running.nt, end.nt), nr, *inner)
        self.data = np.zeros((N + 1, m.nd))
        self.place = places(running.layout, n.nx, n.nz)
        self.blocks = (
            Block(running, 0, N, n, self.data, self.place),
            Block(end, N, 1, n, self.data, self.place),
        )
        self.limits = Limits(np.zeros(n.R), np.zeros(n.R), np.zeros(n.R, dtype=np.int64))
        self.ask(problem)
        self.point, self.trial = empty_point(n), empty_point(n)
        self._values = {
            id(point): [block.values_call(point) for block in self.blocks]
            for point in (self.point, self.trial)
        }
        self._derivatives = {
            id(point): [call for block in self.blocks for call in block.derivatives_calls(point)]
            for point in (self.point, self.trial)
        }

    def ask(self, problem: Problem) -> None:
        """Take over the numbers of another question to the same model with as many steps."""
        self.problem = problem
        self.data[:] = filled(problem.data, self.data.shape, "data")
        for mine, asked in zip(
            self.limits, self.all_limits(*(block.stage.nc for block in self.blocks))
        ):
            np.copyto(mine, asked)
        for block in self.blocks:
            block.w[:] = 1.0

    def all_limits(self, nc: int, nc_end: int) -> Limits:
        """The bounds of every row in one vector."""
        q, n = self.problem, self.n
        sides = []
        x, u = interval(q.x, (n.N + 1, n.nx), "x"), interval(q.u, (n.N, n.nu), "u")
        c, end = (
            interval(q.constraints, (n.N, nc), "constraints"),
            interval(q.end, (nc_end,), "end constraints"),
        )
        p, t = interval(q.p, (n.np,), "p"), interval(q.totals, (n.nt,), "totals")
        for side, free in ((0, -np.inf), (1, np.inf)):
            knots = np.full((n.N + 1, n.nr), free)
            knots[:, : n.nx] = x[side]
            knots[: n.N, n.nx : n.nz] = u[side]
            knots[: n.N, n.nz : n.nz + nc] = c[side]
            knots[n.N, n.nz : n.nz + nc_end] = end[side]
            sides.append(np.concatenate([knots.ravel(), p[side], t[side]]))
        limits = limits_of(*sides)
        start = limits.kind[: n.nx]
        start[start == EQUATION] = RIGID
        return limits

    def values(self, point: Point) -> tuple[float, float]:
        """Fill f, v, t, l and gap of the current or the trial point; (scaled cost, Σ|gap|)."""
        for call in self._values[id(point)]:
            call()
        return float(point.l.sum()), newton.complete(point.held, point.t, point.f, self.n.nr)

    def derivatives(self) -> None:
        """Fill the derivatives of all blocks at the current point."""
        for call in self._derivatives[id(self.point)]:
            call()

    def exchange(self) -> None:
        """The trial point becomes the current one, and the current one the place for trials."""
        self.point, self.trial = self.trial, self.point

    def straighten(self) -> bool:
        """The Hessian again, with the inner function taken as straight (m = 0 in (C2): Gauss and
        Newton); False when there is none."""
        if not self.blocks[0].shared:
            return False
        self.blocks[0].shared[0][:] = 0.0
        for call in self._derivatives[id(self.point)][1:3]:
            call()
        return True
