"""A problem with its kernels and arrays: evaluates all knots in one call, without allocating."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from armature.errors import ArgumentError
from armature.kernel import Kernel
from armature.optimize.problem import Problem, filled, interval
from armature.optimize.rows import EQUATION, RIGID, Limits, Rows, empty_rows, limits_of
from armature.optimize.stage import Stage
from armature.optimize.system import Derivatives, Places, fill_rows, gaps

RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


@dataclass(frozen=True)
class Sizes:
    """N steps; nx, nu, nz = nx + nu, np, nt totals; nr = nz + constraints, rows a knot; R rows in all."""

    N: int
    nx: int
    nu: int
    np: int
    nt: int
    nr: int

    @property
    def nz(self) -> int:
        return self.nx + self.nu

    @property
    def R(self) -> int:
        return (self.N + 1) * self.nr + self.np + self.nt


@dataclass(frozen=True)
class Point:
    """An iterate and its function values. z: (N+1, nz), u_N = 0; lam: (N+1, nx), lam[0] = 0; v: (R,) values of the rows."""

    z: np.ndarray
    p: np.ndarray
    lam: np.ndarray
    rows: Rows
    f: np.ndarray
    v: np.ndarray
    t: np.ndarray
    l: np.ndarray
    gap: np.ndarray

    def copy_from(self, other: Point) -> None:
        """Take over another point's numbers."""
        for name in ("z", "p", "lam", "f", "v", "t", "l", "gap"):
            np.copyto(getattr(self, name), getattr(other, name))
        for mine, theirs in zip(self.rows, other.rows):
            np.copyto(mine, theirs)


def empty_point(n: Sizes) -> Point:
    """A point of zeros."""
    knots = n.N + 1
    return Point(
        z=np.zeros((knots, n.nz)), p=np.zeros(n.np), lam=np.zeros((knots, n.nx)), rows=empty_rows(n.R), f=np.zeros((n.N, n.nx)),
        v=np.zeros(n.R), t=np.zeros((knots, n.nt)), l=np.zeros((knots, 1)), gap=np.zeros((n.N, n.nx)),
    )  # fmt: skip


class Block:
    """The knots that share a stage: 0 … N−1, or N."""

    def __init__(self, stage: Stage, first: int, count: int, n: Sizes, data: np.ndarray):
        self.stage, self.first, self.count, self.n, self.data = stage, first, count, n, data
        layout = stage.layout
        self.at = Places(first, n.nr, layout.F_rows, layout.F_cols, layout.J_first, layout.J_cols, layout.H_rows, layout.H_cols)
        self.d = Derivatives(*(np.zeros((count, a.size)) for a in stage.derivatives.outputs))
        self.w = np.ones(1 + stage.nc + stage.nt)

    def inputs(self, point: Point) -> list[tuple[np.ndarray, int]]:
        """(first row, stride) of the inputs z, p, d, w."""
        return [(point.z[self.first :], self.n.nz), (point.p, 0), (self.data[self.first :], self.data.shape[1]), (self.w, 0)]

    def values_call(self, point: Point) -> Call:
        """The call that fills f, c, t, l of this block's knots at a point."""
        n, k = self.n, self.first
        outputs = [(point.f[k:], n.nx), (point.v[k * n.nr + n.nz :], n.nr), (point.t[k:], n.nt), (point.l[k:], 1)]
        return Call(self.stage.values, [*self.inputs(point), *outputs], self.count)

    def derivatives_call(self, point: Point) -> Call:
        """The call that fills the derivatives of this block's knots at a point."""
        n, k = self.n, self.first
        multipliers = [(point.lam[k + 1 :], n.nx), (point.rows.y[k * n.nr + n.nz :], n.nr), (point.rows.y[n.R - n.nt :], 0)]
        outputs = [(a, a.shape[1]) for a in self.d]
        return Call(self.stage.derivatives, [*self.inputs(point), *multipliers, *outputs], self.count)


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
    """All knots of a problem: values at the current and the trial point, derivatives at the current one."""

    def __init__(self, problem: Problem, running: Stage, end: Stage):
        m, N = problem.model, problem.N
        if running.nt and end.nt and running.nt != end.nt:
            raise ArgumentError(f"totals gives {running.nt} numbers and end_totals {end.nt}; they are added, so give as many")
        nr = m.nx + m.nu + max(running.nc, end.nc)
        self.problem = problem
        self.n = n = Sizes(N, m.nx, m.nu, m.np, max(running.nt, end.nt), nr)
        self.data = filled(problem.data, (N + 1, m.nd), "data")
        self.blocks = (Block(running, 0, N, n, self.data), Block(end, N, 1, n, self.data))
        self.limits = self.all_limits(running.nc, end.nc)
        self.point, self.trial = empty_point(n), empty_point(n)
        self._values = {id(point): [block.values_call(point) for block in self.blocks] for point in (self.point, self.trial)}
        self._derivatives = [block.derivatives_call(self.point) for block in self.blocks]

    def all_limits(self, nc: int, nc_end: int) -> Limits:
        """The bounds of every row in one vector."""
        q, n = self.problem, self.n
        sides = []
        x, u = interval(q.x, (n.N + 1, n.nx), "x"), interval(q.u, (n.N, n.nu), "u")
        c, end = interval(q.constraints, (n.N, nc), "constraints"), interval(q.end, (nc_end,), "end constraints")
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
        fill_rows(point.z, point.p, point.t, self.n.nr, point.v)
        return float(point.l.sum()), gaps(point.f, point.z, point.gap)

    def derivatives(self) -> None:
        """Fill the derivatives of all blocks at the current point."""
        for call in self._derivatives:
            call()
