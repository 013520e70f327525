"""Closed loops for the planners: which coordinates are free, how the others follow, and the
dynamics under the loops, in symbols.

Closures f(q) = 0 with Γ = ∂ḟ/∂v and D = −Γ̇v (holonomic/loops.py) tie the coordinates. Of the rows,
as many are kept as are independent (loops in a plane repeat themselves), and as many coordinates
depend on the rest, without motors where that is possible:

    (L1)  q_d: f(q_i, q_d) = 0,   v_d = −Γ_d⁻¹Γ_i v_i,   a_d = Γ_d⁻¹(D − Γ_i a_i)
    (L2)  torques at the free coordinates alone: τ_i + Bᵀτ_d with B = −Γ_d⁻¹Γ_i, where τ are those
    of the open tree
    (L3)  under torques: M a + b = τ + ΓᵀN,   Γ a = D − 2αḟ − α²f      (Baumgarte: what integration
        leaves of f, ḟ dies out)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.linalg import qr

from armature.dynamics.holonomic import loops
from armature.dynamics.holonomic.closed_loops import close_loops, loop_rows
from armature.dynamics.kernels import traced_tree
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.mass import back_substitute, factor, mass_matrix
from armature.errors import ArgumentError
from armature.kernel.symbol import from_casadi_column, symbols, to_casadi
from armature.kernel.trace import FREE
from armature.robot.model import Robot
from armature.spatial.vectors import Array, pack

RANK = 1e-8  # singular values below this part of the largest are zero
WAY, POLISH = 6, 3  # steps of Newton's method on the way from a known configuration, and at its end
OPEN = 1e-6  # m or rad that a loop may be open at an end of a move
# least singular value of Γ_d, against the largest of Γ, at which the loops still tie the
# coordinates
SINGULAR = 1e-4


@dataclass(frozen=True)
class Closure:
    """The loops of a robot on its n coordinates.

    rows: those kept.  dependent: coordinates that follow from the others, as many as rows. Both
    empty without loops."""

    robot: Robot
    rows: tuple[int, ...] = ()
    dependent: tuple[int, ...] = ()

    @cached_property
    def independent(self) -> tuple[int, ...]:
        """The free coordinates."""
        return tuple(j for j in range(self.robot.nv) if j not in self.dependent)

    @property
    def order(self) -> list[int]:
        """Where coordinate j stands in (free, dependent)."""
        return [int(k) for k in np.argsort([*self.independent, *self.dependent])]

    # numbers -------------------------------------------------------------------------------------

    def follow(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(L1): the motion (K, n) with its free coordinates kept and the others put where the loops
        want them, knot after knot."""
        if not self.rows:
            return q, v, a
        a = np.array(a)
        free, tied = list(self.independent), list(self.dependent)
        q = self.closed(q)
        v = (self.followers(q) @ v[:, free, None])[..., 0]
        D, G = self._rates(q, v)
        a[:, tied] = np.linalg.solve(
            G[:, :, tied], D[..., None] - G[:, :, free] @ a[:, free, None]
        )[..., 0]
        return q, v, a

    def followers(self, q: np.ndarray) -> np.ndarray:
        """(K, n, free): ∂v/∂v_i at configurations (K, n)."""
        G, free, tied = self._rates(q, 0.0 * q)[1], list(self.independent), list(self.dependent)
        B = np.zeros((len(q), self.robot.nv, len(free)))
        B[:, free] = np.eye(len(free))
        B[:, tied] = -np.linalg.solve(G[:, :, tied], G[:, :, free])
        return B

    def closed(self, q: np.ndarray) -> np.ndarray:
        """The path (K, n) with its loops closed, beginning from its first point; the dependent
        coordinates of the others do not count."""
        if not self.rows:
            return q
        q, names = np.array(q), [self.robot.joint_names[j] for j in self.independent]
        free, tied = list(self.independent), list(self.dependent)
        # some points one after the other, each moved on along (L1); the rest from a curve through
        # these, all at once
        some = np.unique(np.linspace(0, len(q) - 1, min(len(q), 33)).round().astype(int))
        for before, k in zip([0, *some[:-1]], some):
            if k:
                G = self._rates(q[before][None], 0.0 * q[:1])[1][0]
                q[k, tied] = q[before, tied] - np.linalg.solve(
                    G[:, tied], G[:, free] @ (q[k, free] - q[before, free])
                )
            q[k] = close_loops(self.robot, q[k], names)
        if len(some) == len(q):
            return q
        q[:, tied] = CubicSpline(some, q[some][:, tied])(np.arange(len(q)))
        return close_loops(self.robot, q, names)

    def _rates(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D (K, rows) and Γ (K, rows, n) of the rows kept."""
        _, _, D, G = loop_rows(self.robot)(q, v)
        return D[:, list(self.rows)], G[:, list(self.rows)]

    # symbols -------------------------------------------------------------------------------------

    @cached_property
    def residual(self) -> ca.Function:
        """q -> f of the rows kept."""
        q = symbols("q", self.robot.nv)
        return ca.Function(
            "f", [to_casadi(q)], [to_casadi(self._rows(q, symbols("v", self.robot.nv)).f)]
        )

    @cached_property
    def torque(self) -> ca.Function:
        """(free coordinates, their velocities, their accelerations, dependent coordinates) -> τ, v,
        a of the tree: (L1), (L2)."""
        n, free, tied = self.robot.nv, list(self.independent), list(self.dependent)
        x = [ca.SX.sym(name, len(free)) for name in ("q", "v", "a")]
        dependent = ca.SX.sym("d", len(tied))
        q, v = symbols("q", n), symbols("v", n)
        r = self._rows(q, v)
        parts = [from_casadi_column(part, (len(free),)) for part in x]
        steps = ca.Function("rows", [to_casadi(q), to_casadi(v)], [to_casadi(r.D), to_casadi(r.G)])
        whole = lambda i, d: pack([*i, *d])[self.order]
        qs = whole(parts[0], from_casadi_column(dependent, (len(tied),)))
        G = matrix(steps(to_casadi(qs), ca.SX.zeros(n))[1])
        A = to_casadi(G[:, tied])
        B = matrix(-divided(A, to_casadi(G[:, free])))
        vs = whole(parts[1], B @ parts[1])
        D = divided(A, steps(to_casadi(qs), to_casadi(vs))[0])
        a = whole(parts[2], from_casadi_column(D, (len(tied),)) + B @ parts[2])
        tau = recursive.inverse_dynamics(traced_tree(self.robot), qs, vs, a)
        shared = tau[free] + B.T @ tau[tied]
        return ca.Function(
            "torque",
            [*x, dependent],
            [to_casadi(whole(shared, np.zeros(len(tied)))), to_casadi(vs), to_casadi(a)],
            FREE,
        )

    @cached_property
    def dependence(self) -> ca.Function:
        """(free coordinates, dependent ones) -> f, ∂f/∂(free), ∂f/∂(dependent)."""
        free, tied = ca.SX.sym("q", len(self.independent)), ca.SX.sym("d", len(self.dependent))
        f = self.residual(ca.vertcat(free, tied)[self.order])
        return ca.Function(
            "dependence", [free, tied], [f, ca.jacobian(f, free), ca.jacobian(f, tied)]
        )

    @cached_property
    def opening(self) -> ca.Function:
        """q -> det ∂f/∂(dependent): zero where the free coordinates no longer hold the others."""
        q = ca.SX.sym("q", self.robot.nv)
        return ca.Function(
            "opening",
            [q],
            [ca.det(self.dependence(q[list(self.independent)], q[list(self.dependent)])[2])],
        )

    @cached_property
    def solved(self) -> ca.Function:
        """(free coordinates, a closed configuration q to begin from) -> dependent coordinates:
        Newton's method along the straight way."""
        free, q = ca.SX.sym("q", len(self.independent)), ca.SX.sym("c", self.robot.nv)
        first, tied = q[list(self.independent)], q[list(self.dependent)]
        for k in range(1, WAY + POLISH + 1):
            f, _, J = self.dependence(first + min(1.0, k / WAY) * (free - first), tied)
            tied = tied - divided(J, f)
        return ca.Function("solved", [free, q], [tied])

    @cached_property
    def acceleration(self) -> ca.Function:
        """(q, v, generalised forces, α) -> a: (L3)."""
        n, tree = self.robot.nv, traced_tree(self.robot)
        q, v, force, alpha = symbols("q", n), symbols("v", n), symbols("f", n), symbols("alpha", ())
        if not self.rows:
            a = recursive.forward_dynamics(tree, q, v, force)
        else:
            r = self._rows(q, v)
            wanted = r.D - 2.0 * alpha * r.fd - alpha * alpha * r.f
            M = factor(mass_matrix(tree, q))
            Y = back_substitute(M, r.G.T)
            free = back_substitute(M, force - recursive.bias_forces(tree, q, v))
            a = free + Y @ back_substitute(factor(r.G @ Y), wanted - r.G @ free)
        return ca.Function(
            "acceleration", [to_casadi(x) for x in (q, v, force, alpha)], [to_casadi(a)], FREE
        )

    def _rows(self, q: Array, v: Array) -> loops.LoopRows:
        found = loops.rows(self.robot.tree, self.robot.loops, q, v)
        return loops.LoopRows(*(part[list(self.rows)] for part in found))


def matrix(values: ca.SX) -> Array:
    """A symbolic matrix as an array of symbols."""
    return from_casadi_column(ca.vec(ca.densify(values).T), values.shape)


def divided(A: ca.SX, b: ca.SX) -> ca.SX:
    """A⁻¹b of small symbolic matrices."""
    return ca.inv(ca.sparsify(A)) @ b if A.numel() else b


def closure(robot: Robot, q: Any) -> Closure:
    """The closure of a robot, chosen where its loops tie the coordinates best among configurations
    q (K, n), which must be closed."""
    q = np.atleast_2d(np.asarray(q, dtype=float))
    if not robot.loops:
        return Closure(robot)
    G = loop_rows(robot)(q, np.zeros_like(q))[3]
    values = np.linalg.svd(G, compute_uv=False)
    ranks = (values > RANK * values.max()).sum(1)
    rank = int(ranks.max())
    best = int(np.argmax(values[:, rank - 1]))
    rows = np.sort(pivoted(G[best].T)[1][:rank])
    return Closure(robot, tuple(int(k) for k in rows), _dependent(robot, G[best][rows], rank))


def pivoted(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and the order of the columns of a QR factorisation, the most independent first."""
    found: Any = qr(A, mode="r", pivoting=True)
    return found[0], found[1]


def _dependent(robot: Robot, G: np.ndarray, rank: int) -> tuple[int, ...]:
    """Coordinates that follow from the rest: without motors as far as they go, then others."""
    driven = (
        np.array(robot.drivetrain.driven)
        if robot.drives
        else ~np.isin(np.arange(robot.nv), robot.passive)
    )
    chosen: list[int] = []
    for group in (np.flatnonzero(~driven), np.flatnonzero(driven)):
        basis = np.linalg.qr(G[:, chosen])[0] if chosen else np.zeros((rank, 0))
        rest = G[:, group] - basis @ (basis.T @ G[:, group])
        if len(chosen) < rank and len(group):
            R, pivots = pivoted(rest)
            good = int((np.abs(np.diag(R)) > SINGULAR * np.abs(G).max()).sum())
            chosen += [int(group[k]) for k in pivots[: min(good, rank - len(chosen))]]
    return tuple(sorted(chosen))


def check_closed(robot: Robot, q: np.ndarray, what: str) -> None:
    """Refuse a configuration whose loops are open."""
    if not robot.loops:
        return
    f = np.abs(loop_rows(robot)(q, np.zeros(robot.nv))[0])
    worst = int(np.argmax(f))
    if f[worst] > OPEN:
        name = loops.moving_rows(robot.tree, robot.loops)[worst][0]
        raise ArgumentError(
            f"loop {name!r} is open by {f[worst]:.3g} (m or rad) at the {what}; close it:"
            " arm.close_loops(robot, q)"
        )
