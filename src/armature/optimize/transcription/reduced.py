"""Closed loops by accelerations: the motion of the joints with motors is the solver's, the others
follow from the loops.

The free coordinates move as in (T1). The dependent ones, φ, follow from f(θ, φ) = 0 by Newton's
method from a closed configuration nearby, which is data; velocities, accelerations and the motors'
torques follow from (L1) and (L2) of closure.py: w = T(θ, θ̇, θ̈, φ). So the loops are closed at
every point, nothing drifts, and all that holds for open arms (drives, limits, supplies, corners)
holds here. Derivatives are exact, by the implicit function:

    (R1)  B = ∂φ/∂θ = −f_φ⁻¹f_θ,   ∂w = T_θ + T_φ B
    (R2)  ∂²(m·w) = Zᵀ ∇²(m·T + μ·f) Z,   μ = −f_φ⁻ᵀ(T_φᵀm),   Z = [E; B 0 0]
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from armature.drive import stack
from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.kernels import kernel_numbers
from armature.kernel.trace import FREE
from armature.motion.trajectory import Trajectory
from armature.optimize.problem.problem import Guess, Inner, Model, Problem
from armature.optimize.transcription.closure import Closure, divided
from armature.optimize.transcription.driven import Driven, Weights
from armature.optimize.transcription.transcribe import (
    RULES,
    Accelerations,
    At,
    Instant,
    Shape,
    vector,
)

SOURCES = ("reduced.py", "closure.py")
OPENING = "distance of the loops from a singular position"
# part of its largest value on the joint cubic that det f_φ keeps: nearer, small motors' motions
# move the rest wildly
KEPT = 0.25


@functools.cache
def sources() -> str:
    """Digest of the source that these models are traced from, besides that of any driven model."""
    return hashlib.sha256(
        b"".join(Path(__file__).with_name(name).read_bytes() for name in SOURCES)
    ).hexdigest()


@dataclass(frozen=True)
class ReducedAccelerations(Accelerations):
    """As `Accelerations`, of the free coordinates; q, v, a, τ of the instants are those of all
    joints. The last n data are a closed q."""

    loops: Closure | None = None

    @property
    def closure(self) -> Closure:
        """The loops."""
        assert self.loops is not None
        return self.loops

    def inner(self) -> Inner:
        """w = (τ, v, a of all joints, φ) from ξ = (θ, θ̇, θ̈, a closed configuration)."""
        tools = Implicit(self.closure)
        return Inner(
            self.arguments,
            tools.value,
            3 * self.shape.n + self.closure.robot.n,
            tools.slope,
            tools.curvature,
        )

    def arguments(self, x: Any, u: Any, p: Any, d: Any) -> list[list[Any]]:
        """ξ at every point."""
        h, known = self.shape.step(p, d), self.shape.caller_data(d)[-self.closure.robot.n :]
        return [[*np.concatenate(self.motion(x, u, h, c)[:3]), *known] for c in self.points]

    def at(self, c: float, x: Any, u: Any, p: Any, d: Any, w: Any) -> At:
        """The instant at the point c."""
        s, n, here = self.shape, self.closure.robot.n, w[self.points.index(c)]
        tau, v, a = (vector(here, k * n, n) for k in range(3))
        free, _, _, jerk = self.motion(x, u, s.step(p, d), c)
        tied = vector(here, 3 * n, len(self.closure.dependent))
        q = np.array([*free, *tied], dtype=object)[self.closure.order]
        points = RULES[self.rule][0]
        slacks = vector(u, s.n + (points.index(c) if c in points else 0) * s.slacks, s.slacks)
        stores = vector(x, (3 if self.linear else 2) * s.n, s.stores)
        return At(
            q,
            v,
            a,
            tau,
            jerk,
            slacks,
            stores,
            vector(p, 0, s.durations + s.parameters),
            s.caller_data(d),
        )


class Implicit:
    """w and its derivatives as functions of ξ."""

    def __init__(self, closure: Closure):
        self.closure, self.r, self.k = closure, len(closure.independent), len(closure.dependent)
        r, k = self.r, self.k
        y, m = ca.SX.sym("y", 3 * r + k), ca.SX.sym("m", 3 * closure.robot.n + k)
        self.T = ca.Function(
            "T",
            [y],
            [
                ca.vertcat(
                    *closure.torque(y[:r], y[r : 2 * r], y[2 * r : 3 * r], y[3 * r :]), y[3 * r :]
                )
            ],
            FREE,
        )
        f, f_free, f_tied = closure.dependence(y[:r], y[3 * r :])
        # (R1)
        Z = ca.vertcat(ca.SX.eye(3 * r), ca.horzcat(-divided(f_tied, f_free), ca.SX(k, 2 * r)))
        J = ca.jacobian(self.T(y), y)
        self._slope = ca.Function("slope", [y], [J @ Z], FREE)
        # (R2)
        mu = ca.SX.sym("mu", k)
        H = ca.hessian(ca.dot(m, self.T(y)) + ca.dot(mu, f), y)[0]
        H = ca.substitute(H, mu, -divided(f_tied.T, J[:, 3 * r :].T @ m))
        self._curvature = ca.Function("curvature", [y, m], [Z.T @ H @ Z], FREE)

    def _state(self, xi: ca.SX) -> ca.SX:
        """(θ, θ̇, θ̈, φ)."""
        return ca.vertcat(xi[: 3 * self.r], self.closure.solved(xi[: self.r], xi[3 * self.r :]))

    def value(self, xi: ca.SX) -> ca.SX:
        """ω(ξ)."""
        return self.T(self._state(xi))

    def slope(self, xi: ca.SX) -> ca.SX:
        """∂ω/∂ξ; the configuration to begin from does not matter."""
        S = self._slope(self._state(xi))
        return ca.horzcat(S, ca.SX(S.shape[0], self.closure.robot.n))

    def curvature(self, xi: ca.SX, m: ca.SX) -> ca.SX:
        """∂²(m·ω)/∂ξ²."""
        n = self.closure.robot.n
        return ca.diagcat(self._curvature(self._state(xi), m), ca.SX(n, n))


@dataclass(frozen=True)
class Reduced(Driven):
    """A robot with closed loops, as many motors as it has freedoms, and its supply.

    loops: its closure, whose free coordinates have the motors.
    """

    loops: Closure | None = None

    @property
    def closure(self) -> Closure:
        """The loops."""
        assert self.loops is not None
        return self.loops

    @property
    def coordinates(self) -> tuple[int, ...]:
        """The free coordinates."""
        return self.closure.independent

    @functools.cached_property
    def torques(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the torques at the motors; the others carry none by themselves."""
        upper = np.array(
            [
                self.joint_limit(n, "torque") if j in self.coordinates else np.inf
                for j, n in enumerate(self.robot.joint_names)
            ]
        )
        return -upper, upper

    @functools.cached_property
    def torque_rates(self) -> np.ndarray:
        """Bounds of the torque rates at the motors."""
        names = self.robot.joint_names
        return np.array(
            [
                self.joint_limit(n, "torque_rate") if j in self.coordinates else np.inf
                for j, n in enumerate(names)
            ]
        )

    @functools.cached_property
    def transcription(self) -> Any:
        """The functions of a step."""
        between = self.rates_between if np.isfinite(self.torque_rates).any() else None
        none = lambda *_: ()
        shape, at = self.shape, self.limits_at
        return ReducedAccelerations(
            shape, none, self.instant, self.linear, self.rule, at, between, loops=self.loops
        )

    @functools.cached_property
    def model(self) -> Model:
        """The compiled model, found in the disk cache by what it depends on."""
        made = self.transcription.model(
            f"{self.key} {sources()}"
            f" {(self.robot.loops, self.closure.rows, self.closure.dependent)}"
        )
        return replace(made, parameters=kernel_numbers(self.robot))

    @functools.cached_property
    def followed(self) -> list[tuple[int, str, float, float]]:
        """(joint, quantity, lower, upper) of the limits of dependent joints, which are rows."""
        found = []
        for j in self.closure.dependent:
            limit = lambda what, j=j: self.joint_limit(self.robot.joint_names[j], what)
            found += [(j, "position", limit("lower"), limit("upper"))]
            found += [(j, what, -limit(what), limit(what)) for what in ("velocity", "acceleration")]
        return [row for row in found if np.isfinite(row[2:]).any()]

    @functools.cached_property
    def shape(self) -> Shape:
        """Sizes and names; the last data are a closed configuration."""
        return replace(super().shape, nd=super().shape.nd + self.robot.n)

    def instant(self, at: At) -> Instant:
        """Cost rate and limits at an instant, with those of dependent joints."""
        found, values = (
            super().instant(at),
            {"position": at.q, "velocity": at.v, "acceleration": at.a},
        )
        rows = [values[what][j] for j, what, *_ in self.followed]
        opening = self.closure.opening(ca.vertcat(*(ca.SX(x) for x in at.q)))
        return replace(found, constraints=[*found.constraints, *rows, opening])

    def problem(
        self,
        N: int,
        start: Any,
        goal: Any,
        weights: Weights,
        duration: float | None = None,
        **more: Any,
    ) -> Problem:
        """As `Driven.problem`, with start, goal and directions of the free coordinates. The caller
        adds closed configurations (`known`)."""
        if more.get("directions") is not None:
            directions = np.zeros((N, self.robot.n))
            directions[:, list(self.coordinates)] = more["directions"]
            more["directions"] = directions
        return super().problem(N, start, goal, weights, duration, **more)

    def known(self, problem: Problem, q: np.ndarray) -> Problem:
        """The problem with closed configurations (N+1, n), one near each knot, from which the loops
        are followed.

        The motion keeps away from positions where the loops change their branch: det f_φ keeps its
        sign and a part of its size."""
        data = np.array(problem.data)
        data[:, -self.robot.n :] = q
        opening = np.array(self.closure.opening(q.T)).ravel()
        sign = np.sign(opening[0])
        least = sign * min(KEPT * np.abs(opening).max(), 0.5 * np.abs(opening).min())
        low, high = (
            np.array(np.broadcast_to(side, (problem.N, np.shape(side)[-1])))
            for side in problem.constraints
        )
        rows = [k for k, name in enumerate(self.model.constraint_names) if name == OPENING]
        (low if sign > 0 else high)[:, rows] = least
        return replace(problem, data=data, constraints=(low, high))

    def guess(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, duration: Any) -> Guess:
        """A starting motion from q, v, a of all joints at the knots, (N+1, n) each, with closed
        loops, and slacks that fit."""
        N, free = len(q) - 1, list(self.coordinates)
        h = np.sum(duration) / N
        middle = Trajectory(np.arange(N + 1) * h, q, v, a)((np.arange(N) + 0.5) * h)
        flows = self.robot.drivetrain.flow(
            inverse_dynamics(self.robot, *middle), middle.v, middle.a, smooth=self.smooth
        )
        slacks = np.tile(self.slack_guess(stack(flows, "power")), (1, len(RULES[self.rule][0])))
        x = [
            q[:, free],
            v[:, free],
            *([a[:, free]] if self.linear else []),
            np.zeros((N + 1, self.shape.stores)),
        ]
        steps = np.diff(a[:, free], axis=0) / h if self.linear else (a[1:, free] + a[:-1, free]) / 2
        return Guess(np.hstack(x), np.hstack([steps, slacks]), duration if self.durations else 0.0)


def reduced(closure: Closure, supply: Any, **options: Any) -> Reduced:
    """The model of a robot with closed loops; options: as those of `Driven`."""
    made = Reduced(closure.robot, supply, loops=closure, **options)
    names = tuple(f"{what} of {closure.robot.joint_names[j]}" for j, what, *_ in made.followed)
    bounds = tuple((low, high) for *_, low, high in made.followed)
    return replace(made, extra_names=(*names, OPENING), extra_bounds=(*bounds, (-np.inf, np.inf)))
