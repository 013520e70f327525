"""Linearised equations along a motion (Z7), (4.1) and (4.2), with constraints, force elements and
the deviation ΔN of the reactions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armature.annotations import Numbers
from armature.dynamics.differentiation.differentiated import jacobian, to_tangent
from armature.dynamics.differentiation.gradient import inverse_dynamics_gradient
from armature.dynamics.holonomic.constrained import (
    RANK,
    apply,
    digest,
    inputs_of,
    pseudo_inverse,
    reference_at,
    traced_terms,
    with_closures,
)
from armature.dynamics.holonomic.constraints import Constraint, constraint
from armature.dynamics.kernels import check_moves, kernel
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.friction import friction_torque
from armature.dynamics.recursion.mass import back_substitute, factor, mass_matrix
from armature.errors import ArgumentError, MissingExtraError
from armature.kernel.trace import Shape, trace
from armature.robot.model import Robot
from armature.spatial.vectors import Array

NO_CONSTRAINT = constraint(lambda q, t: [], "no constraint")


@dataclass(frozen=True, eq=False)
class Linearization:
    """ẋ = A x + B u near a state (or one for each state of a batch): x = (Δq, Δv), u = Δτ.

    A: (..., k, k), B: (..., k, n).  Without constraints k = 2n; with them x are the coordinates (y,
    ẏ) of Δq = basis · y on what the constraints leave free (the basis carried along the motion
    without turning), k = 2(n − rank Γ).
    dN: (..., m, k + n): ΔN = dN · (x, u), the deviation of the reactions.  N: (..., m).  a: (...,
    n) accelerations at the state.
    basis: (..., n, k/2).
    """

    A: np.ndarray
    B: np.ndarray
    dN: np.ndarray
    N: np.ndarray
    a: np.ndarray
    basis: np.ndarray

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """Of A, (..., k), 1/s, by falling real part."""
        values = np.linalg.eigvals(self.A)
        return np.take_along_axis(values, np.lexsort((values.imag, -values.real), axis=-1), axis=-1)

    @property
    def frequencies(self) -> np.ndarray:
        """|eigenvalue|/2π, (..., k), Hz: natural frequencies, undamped."""
        return np.abs(self.eigenvalues) / (2 * np.pi)

    def to_control(self) -> Any:
        """A python-control StateSpace whose outputs are the state x; for one state."""
        try:
            import control
        except ImportError:
            raise MissingExtraError("Linearization.to_control", "control", "control") from None
        if self.A.ndim != 2:
            raise ArgumentError(
                f"to_control() takes one state, not a batch of shape {self.A.shape[:-2]}: linearize"
                " each state by itself"
            )
        k, n = self.B.shape
        return control.StateSpace(self.A, self.B, np.eye(k), np.zeros((k, n)))


def linearize(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    tau: Numbers,
    constraints: Any = None,
    t: Numbers = 0.0,
    *,
    elements: Sequence[Any] = (),
    friction: bool = False,
) -> Linearization:
    """Linearise the motion near states q (..., nq), v (..., n) under torques tau (..., n); a
    trajectory is a batch of states.

    constraints: a Constraint, a function f(q, t), or a list of them; the states must fulfil them; a
    robot's own loops are among them.  t: times (...), s.
    elements: force elements (springs, dampers).  friction: include the joints' friction, dry
    friction rounded over 0.01 rad/s or m/s."""
    check_moves(robot)
    c = with_closures(robot, constraints) or NO_CONSTRAINT
    forces = _Forces(robot, tuple(elements), friction)
    state = [np.asarray(x, dtype=float) for x in (q, v)]
    inputs = [*state, *reference_at(c, t), tau, np.asarray(t, dtype=float)]
    a, N = _motion(robot, c, forces, inputs)
    if not np.all(np.isfinite(a)):
        raise ArgumentError(
            "the accelerations are not finite; check that q, v and tau are finite, and their units"
        )
    return _assemble(
        robot,
        np.asarray(v, dtype=float),
        a,
        N,
        Coefficients(*_coefficients(robot, c, forces)(*inputs, a, N)),
    )


class _Forces(NamedTuple):
    """What acts besides the dynamics: the torques, force elements, friction."""

    robot: Robot
    elements: tuple[Any, ...]
    friction: bool

    def __call__(self, t: Any, q: Array, v: Array, tau: Array) -> Array:
        """Q (nv,)."""
        total = tau
        for element in self.elements:
            total = total + element.joint_forces(self.robot.tree, t, q, v)
        return total - friction_torque(self.robot, v, tau) if self.friction else total

    def key(self) -> str:
        """Names them for the kernels' cache: the digest of what they compute."""
        if not self.elements and not self.friction:
            return ""
        robot = self.robot
        expression = trace(
            self, {"t": (), "q": robot.nq, "v": robot.nv, "tau": robot.nv}, name="forces"
        )
        return hashlib.sha256(expression.function.serialize().encode()).hexdigest()


def _inputs(robot: Robot, c: Constraint) -> dict[str, Shape | int]:
    return inputs_of(robot, c) | {"tau": robot.nv, "t": ()}


def _motion(
    robot: Robot, c: Constraint, forces: _Forces, inputs: list
) -> tuple[np.ndarray, np.ndarray]:
    """q̈ and N at the states, (2.19)."""

    def plain(tree, q, v, r, dr, ddr, tau, t):
        terms = traced_terms(robot, c, q, v, r, dr, ddr)
        F = factor(mass_matrix(tree, q))
        free = back_substitute(F, forces(t, q, v, tau) - recursive.bias_forces(tree, q, v))
        X = back_substitute(F, terms.jacobian.T)
        return free, X, terms.jacobian @ X, terms.jacobian @ free + terms.curvature

    free, X, D, wanted = kernel(
        robot, "linear motion", plain, _inputs(robot, c), digest(robot, c), forces.key()
    )(*inputs)
    if D.shape[-1] == 0:
        return free, np.zeros((*free.shape[:-1], 0))
    N = -apply(pseudo_inverse(D)[0], wanted)
    return free + apply(X, N), N


class Coefficients(NamedTuple):
    """The matrices of (4.1) and of the constraints' second derivative: M, ∂R/∂q, ∂R/∂v for R =
    τ_inverse − Q − ΓᵀN, ∂Q/∂τ; Γ, ∂ḟ/∂q, ∂f̈/∂q, ∂f̈/∂v."""

    M: np.ndarray
    Rq: np.ndarray
    Rv: np.ndarray
    Qtau: np.ndarray
    G: np.ndarray
    H: np.ndarray
    Sq: np.ndarray
    Sv: np.ndarray


def _coefficients(robot: Robot, c: Constraint, forces: _Forces) -> Any:
    """The kernel of the coefficients at (state, q̈, N)."""

    def plain(tree, q, v, r, dr, ddr, tau, t, a, N):
        terms = traced_terms(robot, c, q, v, r, dr, ddr)
        by_q = lambda f: to_tangent(tree, q, jacobian(f, q))
        gradient, Q = inverse_dynamics_gradient(tree, q, v, a), forces(t, q, v, tau)
        # (4.1), with the term (∂Γᵀ/∂q · N)Δq that the paper leaves out
        Rq = gradient.dq - by_q(Q + (terms.jacobian.T @ N if len(terms.f) else 0.0))
        second = terms.jacobian @ a + terms.curvature
        rows = (
            (by_q(terms.rate), by_q(second), jacobian(second, v))
            if len(terms.f)
            else (np.zeros((0, tree.nv)),) * 3
        )
        return (
            gradient.da,
            Rq,
            gradient.dv - jacobian(Q, v),
            jacobian(Q, tau),
            terms.jacobian,
            *rows,
        )

    name, m = digest(robot, c)
    return kernel(
        robot,
        "linear coefficients",
        plain,
        _inputs(robot, c) | {"a": robot.nv, "N": m},
        name,
        forces.key(),
    )


def _assemble(
    robot: Robot, v: np.ndarray, a: np.ndarray, N: np.ndarray, k: Coefficients
) -> Linearization:
    """(4.2): Δq̈ and ΔN from the coefficients, then the state equations of the free coordinates."""
    solve = lambda rhs: np.linalg.solve(k.M, rhs)
    by = [solve(-k.Rq), solve(-k.Rv), solve(k.Qtau)]
    X = solve(np.swapaxes(k.G, -1, -2))
    D = k.G @ X
    inverse = pseudo_inverse(D)[0] if D.shape[-1] else D
    # ΔN = −D⁺(Γ Δq̈_free + Δ(Γ̇q̇ + (∂f/∂t)˙))
    dN = [-inverse @ (k.G @ x + s) for x, s in zip(by, (k.Sq, k.Sv, 0.0))]
    aq, av, atau = (x + X @ n for x, n in zip(by, dN))
    T, G_plus = _free_basis(k.G)
    omega = _transport(robot, v, T)
    Tt = np.swapaxes(T, -1, -2)
    along = -G_plus @ k.H @ T  # Δv = T y₂ − Γ⁺(∂ḟ/∂q) T y₁
    carried = np.swapaxes(G_plus @ (k.H - k.G @ omega) @ T, -1, -2) @ -along
    A = _blocks(
        Tt @ omega @ T,
        np.broadcast_to(np.eye(T.shape[-1]), (*T.shape[:-2], T.shape[-1], T.shape[-1])),
        Tt @ (aq @ T + av @ along) + carried,
        Tt @ av @ T,
    )
    B = np.concatenate([np.zeros_like(Tt @ atau), Tt @ atau], axis=-2)
    deviation = np.concatenate([dN[0] @ T + dN[1] @ along, dN[1] @ T, dN[2]], axis=-1)
    return Linearization(A, B, deviation, N, a, T)


def _blocks(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    return np.concatenate(
        [np.concatenate([a, b], axis=-1), np.concatenate([c, d], axis=-1)], axis=-2
    )


def _free_basis(G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An orthonormal basis of what Γ leaves free (..., n, k), and Γ⁺ (..., n, m)."""
    m, n = G.shape[-2:]
    if m == 0:
        return np.broadcast_to(np.eye(n), (*G.shape[:-2], n, n)), np.zeros((*G.shape[:-2], n, 0))
    _, s, Vt = np.linalg.svd(G)
    ranks = np.sum(s > np.sqrt(RANK) * s[..., :1], axis=-1)
    if np.ndim(ranks) and np.ptp(ranks):
        low, high = int(np.min(ranks)), int(np.max(ranks))
        raise ArgumentError(
            f"the constraints have rank {low} in some states and {high} in others; linearize these"
            " states apart"
        )
    rank = int(np.max(ranks))
    return np.swapaxes(Vt[..., rank:, :], -1, -2), np.linalg.pinv(G, rcond=float(np.sqrt(RANK)))


def _transport(robot: Robot, v: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Ω (..., n, n) in (Δq)˙ = Δv + Ω Δq: zero but for a floating base, whose deviations are seen
    in its own turning axes."""
    omega = np.zeros((*T.shape[:-2], robot.nv, robot.nv))
    for body in robot.tree.bodies:
        if body.kind == "free":
            u, w = v[..., body.v : body.v + 3], v[..., body.v + 3 : body.v + 6]
            first, last = slice(body.v, body.v + 3), slice(body.v + 3, body.v + 6)
            omega[..., first, first] = omega[..., last, last] = -_skew(w)
            omega[..., first, last] = -_skew(u)
    return omega


def _skew(w: np.ndarray) -> np.ndarray:
    x, y, z = np.moveaxis(w, -1, 0)
    o = np.zeros_like(x)
    return np.stack(
        [np.stack(row, axis=-1) for row in ((o, -z, y), (z, o, -x), (-y, x, o))], axis=-2
    )
