"""Stabilising control of a motion given as f(q, t) = 0 (Z6), equation (3.1), for m < n, m = n and m
> n equations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.holonomic.constrained import (
    ConstraintTerms,
    apply,
    constraint_terms,
    with_closures,
)
from armature.dynamics.holonomic.constraints import as_constraint
from armature.errors import ArgumentError
from armature.robot.model import Robot
from armature.simulate.rollout import neutral

PROBES = 64  # random states from which the usual size of Γ is taken


@dataclass(frozen=True)
class ControlReport:
    """How a controller fared: calls, those in which Γ was damped, Γ's smallest singular value (as a
    part of its usual size), and when."""

    calls: int = 0
    damped: int = 0
    smallest: float = float("inf")
    at: float = float("nan")

    def __str__(self) -> str:
        if not self.damped:
            return (
                f"Γ kept its rank in all {self.calls} calls; its smallest singular value was"
                f" {self.smallest:.3g} of the usual size"
            )
        return (
            f"Γ was near singular, and damped, in {self.damped} of {self.calls} calls (its smallest"
            f" singular value fell to {self.smallest:.3g} of the usual size at t = {self.at:.6g}"
            " s): there the error does not obey (3.5); lead the task round it"
        )


class Inverse(NamedTuple):
    """Γ⁺ (..., n, m), damped; what it leaves free E − Γ⁺Γ (..., n, n); the smallest singular value
    that is needed (...)."""

    matrix: np.ndarray
    free: np.ndarray
    smallest: np.ndarray


class ConstraintController:
    """Q = b − A{Γ⁺[Γ̇q̇ + (∂f/∂t)˙ + Γ₁ḟ + Γ₀f] − (E − Γ⁺Γ)v}: then f̈ + Γ₁ḟ + Γ₀f = 0 while Γ has
    full row rank (3.1), (3.5).

    robot: the model that the controller computes with.  constraint: a Constraint, a function f(q,
    t), or a list of them: m equations, those of the robot's own loops first.
    gamma0, gamma1: Γ₀ (1/s²), Γ₁ (1/s): a number, (m,) for a diagonal, or (m, m).
    null_motion(t, q, v): the free vector v of (3.1), accelerations (n,) that move the arm without
    disturbing f; by default −Γ₁ (its mean) times q̇, so that self-motions die out; 0 for none.
    singular: singular values of Γ below this part of the smallest one's usual size are damped:
    forces stay bounded, and `report` tells."""

    def __init__(
        self,
        robot: Robot,
        constraint: Any,
        gamma0: Any,
        gamma1: Any,
        null_motion: Callable[[Any, np.ndarray, np.ndarray], Any] | float | None = None,
        singular: float = 0.2,
    ):
        self.robot, self.constraint = (
            robot,
            with_closures(robot, as_constraint(constraint)) or as_constraint(constraint),
        )
        if not 0.0 < singular < 1.0:
            raise ArgumentError(f"singular is {singular}; give a part between 0 and 1, such as 0.2")
        probe = self._probe()
        self.m = probe.shape[-2]
        self.gamma0, self.gamma1 = _gain("gamma0", gamma0, self.m), _gain("gamma1", gamma1, self.m)
        _check_stable(self.gamma0, self.gamma1)
        self.usual = _usual_size(probe, self.constraint.name)
        self.threshold = singular * self.usual
        self.damping = float(np.trace(self.gamma1)) / self.m
        self._null = null_motion
        self.report = ControlReport()

    def _probe(self) -> np.ndarray:
        """Γ at random configurations, (PROBES, m, n)."""
        rng = np.random.default_rng(0)
        q = np.broadcast_to(neutral(self.robot), (PROBES, self.robot.nq)).copy()
        for body in self.robot.tree.bodies:
            if body.kind != "free":
                q[:, body.q] = rng.uniform(-np.pi, np.pi, PROBES)
        return constraint_terms(
            self.robot, self.constraint, q, np.zeros((PROBES, self.robot.nv))
        ).jacobian

    def __call__(self, t: Any, q: Any, v: Any) -> np.ndarray:
        """Joint torques and forces (..., n) at times t (...), s, and states q (..., nq), v (...,
        n)."""
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        terms = constraint_terms(self.robot, self.constraint, q, v, t)
        inverse = damped_inverse(terms.jacobian, self.threshold)
        self._note(t, inverse.smallest)
        # q̈ = −Γ⁺[Γ̇q̇ + (∂f/∂t)˙ + Γ₁ḟ + Γ₀f] + (E − Γ⁺Γ)v
        wanted = terms.curvature + apply(self.gamma1, terms.rate) + apply(self.gamma0, terms.f)
        a = -apply(inverse.matrix, wanted) + apply(inverse.free, self._null_motion(t, q, v))
        return inverse_dynamics(self.robot, q, v, a)

    def _null_motion(self, t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self._null is None:
            return -self.damping * v
        wanted = self._null(t, q, v) if callable(self._null) else self._null
        value = np.asarray(wanted, dtype=float)
        if value.shape not in ((), v.shape):
            raise ArgumentError(
                f"null_motion gives shape {value.shape}; expected {v.shape}, an acceleration for"
                " each joint"
            )
        return np.broadcast_to(value, v.shape)

    def _note(self, t: Any, smallest: np.ndarray) -> None:
        old, low = self.report, float(np.min(smallest)) / self.usual
        at = float(np.ravel(np.broadcast_to(t, smallest.shape))[np.argmin(smallest)])
        lower = low < old.smallest
        damped = old.damped + int(np.any(smallest < self.threshold))
        self.report = ControlReport(
            old.calls + 1, damped, low if lower else old.smallest, at if lower else old.at
        )

    def error(self, t: Any, q: Any, v: Any) -> ConstraintTerms:
        """f, Γ, ḟ and f̈ − Γq̈ at states (...) and times (...)."""
        return constraint_terms(self.robot, self.constraint, q, v, t)


def _usual_size(probe: np.ndarray, name: str) -> float:
    """The smallest singular value of Γ in usual configurations (median); those that always vanish
    (redundant equations) do not count."""
    medians = np.median(np.linalg.svd(probe, compute_uv=False), axis=0)
    if not medians[0] > 0.0:
        raise ArgumentError(
            f"the constraint {name!r} does not depend on the joints: no torque can change it"
        )
    return float(np.min(medians[medians > 1e-6 * medians[0]]))


def damped_inverse(G: np.ndarray, threshold: float) -> Inverse:
    """Γ⁺ with 1/σ for singular values above the threshold ε, and σ/ε² below: nowhere larger than
    1/ε, and continuous."""
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    gain = s / np.maximum(s, threshold) ** 2
    matrix = np.einsum("...ki,...k,...jk->...ij", Vt, gain, U)
    free = np.eye(G.shape[-1]) - np.einsum("...ki,...k,...kj->...ij", Vt, gain * s, Vt)
    return Inverse(matrix, free, s[..., -1])


def _gain(name: str, value: Any, m: int) -> np.ndarray:
    """A number, a diagonal or a matrix as (m, m)."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {value!r}; give a number, ({m},) or ({m}, {m})") from None
    if array.shape == (m, m):
        return array
    if array.shape not in ((), (m,)):
        raise ArgumentError(
            f"{name} has shape {array.shape}; give a number, ({m},) or ({m}, {m}): one for each"
            " equation"
        )
    return array * np.eye(m)


def _check_stable(gamma0: np.ndarray, gamma1: np.ndarray) -> None:
    """All solutions of f̈ + Γ₁ḟ + Γ₀f = 0 must fade."""
    m = len(gamma0)
    companion = np.block([[np.zeros((m, m)), np.eye(m)], [-gamma0, -gamma1]])
    slowest = float(np.max(np.linalg.eigvals(companion).real))
    if not slowest < 0.0:
        raise ArgumentError(
            f"with these gamma0 and gamma1 an error does not fade (its rate is {slowest:.3g} 1/s);"
            " take positive ones, such as 100 and 20"
        )
