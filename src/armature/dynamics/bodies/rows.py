"""The rows A ẍ + B s̈ = D of (1.3) from a coupling f(x, s, t) = 0, by automatic differentiation of
the traced f.

A body's velocity is (v of its centre, world axes; ω, its own axes): Ṙ = R⟨ω⟩, ṗ = v. With the total
time derivative d/dt, ḟ = A ẋ + B ṡ + ∂f/∂t, so A = ∂ḟ/∂ẋ, B = ∂ḟ/∂ṡ, and D = −(dḟ/dt at ẍ = 0, s̈ =
0)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from armature.dynamics.bodies.couplings import Placed
from armature.kernel import Kernel
from armature.kernel.kernel import compile
from armature.kernel.symbol import from_casadi_column, to_casadi
from armature.kernel.trace import Shape
from armature.spatial.vectors import Array, pack, skew


def rows_kernel(residual: Callable, bodies: int, coordinates: int, numbers: int) -> Kernel:
    """(R (k,3,3), p (k,3), u (k,6), s (c,), ds (c,), t, numbers) → f, ḟ, A (m, 6k), B (m, c), D;
    absent inputs have one dummy entry."""
    k, c = max(bodies, 1), max(coordinates, 1)

    def plain(R, p, u, s, ds, t, constants):
        placed = [Placed(R[i], p[i]) for i in range(bodies)]
        f = to_casadi(pack(list(residual(placed, s[:coordinates], t, constants))))
        turning = [R[i] @ skew(u[i, 3:]) for i in range(k)]
        x = _column(R, p, s, pack([t]))
        rate = _column(np.array(turning), u[:, :3], ds, np.ones(1))
        fd = ca.jtimes(f, x, rate)
        D = -ca.jtimes(fd, x, rate)
        A, B = ca.jacobian(fd, _column(u)), ca.jacobian(fd, _column(ds))
        vector = lambda e: from_casadi_column(ca.densify(e), (f.shape[0],))
        return vector(f), vector(fd), _matrix(A), _matrix(B), vector(D)

    inputs: dict[str, Shape | int] = {
        "R": (k, 3, 3),
        "p": (k, 3),
        "u": (k, 6),
        "s": c,
        "ds": c,
        "t": (),
        "numbers": max(numbers, 1),
    }
    return compile(plain, inputs, ("f", "fd", "A", "B", "D"), symbols="numpy")


def _column(*arrays: Array) -> ca.SX:
    return ca.vertcat(*(to_casadi(a.ravel()) for a in arrays))


def _matrix(M: ca.SX) -> Any:
    return from_casadi_column(ca.vec(ca.densify(M).T), M.shape)
