"""Motion under holonomic constraints: reactions N by (2.19), accelerations, and the terms that
control needs. Batched, compiled."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from armature.annotations import Numbers
from armature.dynamics.differentiation.differentiated import array_of, jacobian, to_tangent
from armature.dynamics.holonomic.constraints import Constraint, as_constraint, together
from armature.dynamics.holonomic.loops import closures, coordinate_rates
from armature.dynamics.kernels import check_moves, kernel
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.mass import back_substitute, factor, mass_matrix
from armature.errors import ArgumentError
from armature.kernel.symbol import to_casadi
from armature.kernel.trace import Shape, trace
from armature.memo import memo
from armature.robot.loop import Loop
from armature.robot.model import Robot
from armature.spatial.vectors import Array

RANK = 1e-12  # eigenvalues below this part of the largest count as zero


class ConstraintTerms(NamedTuple):
    """A constraint at a state: f (..., m), Γ = ∂f/∂q (..., m, n) (tangent space), ḟ (..., m), and
    f̈ − Γq̈ = Γ̇q̇ + (∂f/∂t)˙ (..., m)."""

    f: np.ndarray
    jacobian: np.ndarray
    rate: np.ndarray
    curvature: np.ndarray


class ConstrainedMotion(NamedTuple):
    """Motion under constraints.

    a: accelerations (..., n).  N: reactions (..., m) in A q̈ + b = Q + ΓᵀN; the smallest ones where
    they are not unique.
    rank: (...) of Γ.  residual: (...) largest |f̈| that remains: not zero where equations
    contradict each other."""

    a: np.ndarray
    N: np.ndarray
    rank: np.ndarray
    residual: np.ndarray

    @property
    def note(self) -> str:
        """What is to be said about the reactions."""
        m = self.N.shape[-1]
        if np.all(self.rank == m):
            return "the reactions are unique"
        return (
            f"Γ has rank {int(np.min(self.rank))} of {m}: the reactions are not unique, and those"
            " of least squares were taken"
        )


@dataclass(frozen=True)
class _Closures:
    """The equations of a robot's loops."""

    loops: tuple[Loop, ...]

    def __call__(self, robot: Robot, q: Array, r: Array) -> list:
        return [x for rows in closures(robot.tree, self.loops, q) for x in rows]


def with_closures(robot: Robot, given: Any) -> Constraint | None:
    """What is given (or None), and the closure of the robot's own loops."""
    own = Constraint("closed loops", _Closures(robot.loops)) if robot.loops else None
    if given is None:
        return own
    return as_constraint(given) if own is None else together(own, as_constraint(given))


def digest(robot: Robot, c: Constraint) -> tuple[str, int]:
    """Names a constraint's equations (digest of what was traced), and counts them."""

    def build() -> tuple[str, int]:
        expression = trace(
            lambda q, r: c.equations(robot, q, r), {"q": robot.nq, "r": c.size}, name="constraint"
        )
        return (
            hashlib.sha256(expression.function.serialize().encode()).hexdigest(),
            expression.outputs[0].size,
        )

    # kept with the robot while the constraint lives: constraints hash by identity of their
    # functions
    store = memo(robot, "constraints")
    if c not in store:
        store[c] = build()
    return store[c]


def traced_terms(
    robot: Robot, c: Constraint, q: Array, v: Array, r: Array, dr: Array, ddr: Array
) -> ConstraintTerms:
    """The terms on symbols: ḟ and Γ̇q̇ + (∂f/∂t)˙ are directional derivatives along (q̇, ṙ) and
    (q̇, ṙ, r̈)."""
    f = c.equations(robot, q, r)
    dq = coordinate_rates(robot.tree, q, v)
    rate = _along(f, (q, r), (dq, dr))
    curvature = _along(rate, (q, r, dr), (dq, dr, ddr))
    return ConstraintTerms(f, to_tangent(robot.tree, q, jacobian(f, q)), rate, curvature)


def _along(f: Array, x: tuple[Array, ...], dx: tuple[Array, ...]) -> Array:
    """Directional derivative Σ ∂f/∂x · dx."""
    point, direction = (ca.vertcat(*(to_casadi(part) for part in parts)) for parts in (x, dx))
    return array_of(ca.jtimes(to_casadi(f), point, direction)).reshape(len(f))


def inputs_of(robot: Robot, c: Constraint) -> dict[str, Shape | int]:
    """The inputs that all kernels with a constraint begin with."""
    return {"q": robot.nq, "v": robot.nv, "r": c.size, "dr": c.size, "ddr": c.size}


def reference_at(c: Constraint, t: Any) -> list[np.ndarray]:
    """r, ṙ, r̈ at times t."""
    parts = [np.asarray(x, dtype=float) for x in c.reference(t)]
    if len(parts) != 3 or any(p.shape[-1:] != (c.size,) for p in parts):
        shapes = ", ".join(str(p.shape) for p in parts)
        raise ArgumentError(
            f"the reference of {c.name!r} must give r, ṙ and r̈, each (..., {c.size}); got shapes"
            f" {shapes}"
        )
    return parts


def constraint_terms(
    robot: Robot, constraint: Any, q: Numbers, v: Numbers, t: Numbers = 0.0
) -> ConstraintTerms:
    """f, Γ, ḟ and Γ̇q̇ + (∂f/∂t)˙ at states q (..., nq), v (..., n) and times t (...)."""
    c = as_constraint(constraint)
    plain = lambda tree, *x: tuple(traced_terms(robot, c, *x))
    run = kernel(
        robot, "constraint_terms", plain, inputs_of(robot, c), digest(robot, c), masses=False
    )
    return ConstraintTerms(*run(q, v, *reference_at(c, t)))


def constrained_dynamics(
    robot: Robot, q: Numbers, v: Numbers, tau: Numbers, constraint: Any, t: Numbers = 0.0
) -> ConstrainedMotion:
    """Accelerations and reactions under constraints (2.16)–(2.19), in A q̈ + b = Q + ΓᵀN.

    q (..., nq), v (..., n), tau (..., n), t (...) s.  constraint: a Constraint, a function f(q, t),
    or a list of them. A state off the constraint keeps its error: only f̈ = 0 is imposed
    (ConstraintController brings it back). A robot's own loops come first among the equations.
    """
    check_moves(robot)
    c = with_closures(robot, as_constraint(constraint)) or as_constraint(constraint)
    name = digest(robot, c)

    def plain(tree, q, v, r, dr, ddr, tau):
        terms = traced_terms(robot, c, q, v, r, dr, ddr)
        F = factor(mass_matrix(tree, q))
        free = back_substitute(F, tau - recursive.bias_forces(tree, q, v))
        X = back_substitute(F, terms.jacobian.T)
        return free, X, terms.jacobian @ X, terms.jacobian @ free + terms.curvature

    run = kernel(
        robot, "constrained_dynamics", plain, inputs_of(robot, c) | {"tau": robot.nv}, name
    )
    free, X, D, wanted = run(q, v, *reference_at(c, t), tau)
    inverse, rank = pseudo_inverse(D)
    # (2.19) N = −D⁻¹{Γ A⁻¹(Q − b) + Γ̇q̇ + (∂f/∂t)˙}
    N = -apply(inverse, wanted)
    residual = np.max(np.abs(apply(D, N) + wanted), axis=-1, initial=0.0)
    return ConstrainedMotion(free + apply(X, N), N, rank, residual)


def apply(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Matrix times vector over a batch."""
    return np.einsum("...ij,...j->...i", matrix, x)


def pseudo_inverse(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """D⁺ and rank of symmetric semidefinite matrices (..., m, m), after scaling to a unit diagonal:
    units of f do not matter."""
    diagonal = np.einsum("...ii->...i", D)
    scale = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)), 1.0)
    w, U = np.linalg.eigh(D * scale[..., :, None] * scale[..., None, :])
    keep = w > RANK * np.maximum(w[..., -1:], np.finfo(float).tiny)
    inverse = np.einsum(
        "...ik,...k,...jk->...ij", U, np.where(keep, 1.0 / np.where(keep, w, 1.0), 0.0), U
    )
    return inverse * scale[..., :, None] * scale[..., None, :], np.sum(keep, axis=-1)
