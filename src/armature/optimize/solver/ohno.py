"""Ohno's differential dynamic programming as the thesis used it, literally: [41]–[49] of Burgevin
1983.

At every step n the Kuhn–Tucker conditions of one-step minimisation are a square system in y = (u,
λ, μ),

    [41]  F = L + V₊(f) + λᵀg + μᵀh
    [44]  T = (F_u, λ∘g, h) = 0,    J = ∂T/∂y,   K = ∂T/∂x
    [47]  ỹ = y − J⁻¹T,   [46]  dy*/dx = −J⁻¹K,   V_x = F_x(ỹ),   V_xx = F_xx − F_xy J⁻¹K
    [48]  x' = f(x', u') forwards,   y' = ỹ − J⁻¹K (x' − x)
    [49]  stop when max‖y' − y‖ < ε

There is no barrier, no line search and no regularisation: it converges from the neighbourhood of an
optimum at which it knows which inequalities are active, and fails elsewhere. The interior-point
solver (interior.py) is its descendant; this one is kept to compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from armature.optimize.problem.result import Status
from armature.optimize.problem.stage import column
from armature.optimize.transcription.transcribe import vector


@dataclass(frozen=True, eq=False)
class OhnoStage:
    """One step: functions of symbols (x, u). step: x after it.  cost: L.  inequalities: g ≤ 0.
    equalities: h = 0, as many as the controls at most."""

    nx: int
    nu: int
    step: Callable[[Any, Any], Any]
    cost: Callable[[Any, Any], Any]
    inequalities: Callable[[Any, Any], Any] | None = None
    equalities: Callable[[Any, Any], Any] | None = None

    @cached_property
    def parts(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        """x, u, L, f, g, h as symbols."""
        x, u = ca.SX.sym("x", self.nx), ca.SX.sym("u", self.nu)
        optional = [
            column(part(x, u)) if part else ca.SX(0, 1)
            for part in (self.inequalities, self.equalities)
        ]
        return x, u, column(self.cost(x, u)), column(self.step(x, u)), optional[0], optional[1]

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of inequalities and equalities."""
        return self.parts[4].numel(), self.parts[5].numel()

    @cached_property
    def values(self) -> ca.Function:
        """(x, u) -> f, L."""
        x, u, L, f, _, _ = self.parts
        return ca.Function("values", [x, u], [f, L])

    @cached_property
    def expansion(self) -> ca.Function:
        """(x, u, λ, μ, V_x) -> g, h, ∇L, ∂f, ∂g, ∂h, ∇²(L + V_xᵀf + λᵀg + μᵀh), in (x, u)."""
        x, u, L, f, g, h = self.parts
        lam, mu, Vx = (
            ca.SX.sym(name, part.numel()) for name, part in (("lam", g), ("mu", h), ("Vx", f))
        )
        z = ca.vertcat(x, u)
        H = ca.hessian(L + ca.dot(Vx, f) + ca.dot(lam, g) + ca.dot(mu, h), z)[0]
        outputs = [g, h, ca.gradient(L, z), *(ca.jacobian(part, z) for part in (f, g, h)), H]
        return ca.Function("expansion", [x, u, lam, mu, Vx], [ca.densify(o) for o in outputs])


@dataclass(frozen=True)
class OhnoResult:
    """status; x: (N+1, nx), u: (N, nu); cost; changes: max‖y' − y‖ of every iteration; multipliers
    λ, μ by step."""

    status: Status
    x: np.ndarray
    u: np.ndarray
    cost: float
    changes: tuple[float, ...]
    lam: tuple[np.ndarray, ...]
    mu: tuple[np.ndarray, ...]

    @property
    def ok(self) -> bool:
        """Whether it converged."""
        return self.status.ok


@dataclass(frozen=True)
class Feedback:
    """ỹ and J⁻¹K of a step."""

    y: np.ndarray
    gain: np.ndarray


def ohno(
    stages: Sequence[OhnoStage],
    x0: Any,
    u: Any,
    multiplier: float = 0.0,
    tolerance: float = 1e-8,
    iterations: int = 100,
) -> OhnoResult:
    """Newton's method on the Kuhn–Tucker conditions, step by step backwards, then forwards.

    stages: one for each step (the same object where steps are alike).  x0: (nx,).  u: (N, nu), the
    starting controls.
    multiplier: start of every λ: with 0 inequalities are never active, with more they may become
    so."""
    y = [
        np.concatenate([uk, np.full(s.sizes[0], multiplier), np.zeros(s.sizes[1])])
        for s, uk in zip(stages, np.array(u, dtype=float))
    ]
    x = rollout(stages, np.array(x0, dtype=float), y)
    changes: list[float] = []
    for _ in range(iterations):
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # a diverging search overflows; the next lines see it
            feedback = backward(stages, x, y)
            if feedback is None:
                return finish(Status.STALLED, stages, x, y, changes)
            x, new = forward(stages, x, feedback)
            changes.append(max(float(np.linalg.norm(a - b)) for a, b in zip(new, y)))
        y = new
        if not changes[-1] < 1e12:
            return finish(Status.STALLED, stages, x, y, changes)
        if (
            changes[-1] < tolerance
        ):  # [49]; a solution of T = 0 is an optimum only with the signs of [42]
            return finish(
                Status.CONVERGED if right_signs(stages, x, y) else Status.STALLED,
                stages,
                x,
                y,
                changes,
            )
    return finish(Status.ITERATIONS, stages, x, y, changes)


def right_signs(
    stages: Sequence[OhnoStage], x: np.ndarray, y: list[np.ndarray], tolerance: float = 1e-6
) -> bool:
    """Whether g ≤ 0 and λ ≥ 0, [42], which Newton's method on T = 0 does not look at."""
    for stage, xn, yn in zip(stages, x, y):
        nu, (ng, _) = stage.nu, stage.sizes
        g = np.array(
            stage.expansion(xn, yn[:nu], yn[nu : nu + ng], yn[nu + ng :], np.zeros(stage.nx))[0]
        ).ravel()
        if (g > tolerance).any() or (yn[nu : nu + ng] < -tolerance).any():
            return False
    return True


def rollout(stages: Sequence[OhnoStage], x0: np.ndarray, y: list[np.ndarray]) -> np.ndarray:
    """The motion of the controls in y."""
    x = [x0]
    for stage, yn in zip(stages, y):
        x.append(np.array(stage.values(x[-1], yn[: stage.nu])[0]).ravel())
    return np.array(x)


def backward(
    stages: Sequence[OhnoStage], x: np.ndarray, y: list[np.ndarray]
) -> list[Feedback] | None:
    """[46], [47] from the last step to the first; None when a J is singular."""
    Vx, Vxx = np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1]))
    feedback: list[Feedback] = []
    for stage, xn, yn in zip(reversed(stages), x[-2::-1], reversed(y)):
        found = one_step(stage, xn, yn, Vx, Vxx)
        if found is None:
            return None
        Vx, Vxx, law = found
        feedback.insert(0, law)
    return feedback


def one_step(
    stage: OhnoStage, x: np.ndarray, y: np.ndarray, Vx: np.ndarray, Vxx: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Feedback] | None:
    """V_x, V_xx before the step, and the step's law."""
    nx, nu, (ng, nh) = stage.nx, stage.nu, stage.sizes
    u, lam, mu = y[:nu], y[nu : nu + ng], y[nu + ng :]
    g, h, Lz, fz, gz, hz, H = (np.array(part) for part in stage.expansion(x, u, lam, mu, Vx))
    Fz = Lz.ravel() + fz.T @ Vx + gz.T @ lam + hz.T @ mu
    Fzz = H + fz.T @ Vxx @ fz
    T = np.concatenate([Fz[nx:], lam * g.ravel(), h.ravel()])
    J = np.zeros((nu + ng + nh, nu + ng + nh))
    J[:nu, :nu], J[:nu, nu : nu + ng], J[:nu, nu + ng :] = Fzz[nx:, nx:], gz[:, nx:].T, hz[:, nx:].T
    J[nu : nu + ng, :nu], J[nu : nu + ng, nu : nu + ng] = (
        lam[:, None] * gz[:, nx:],
        np.diag(g.ravel()),
    )
    J[nu + ng :, :nu] = hz[:, nx:]
    K = np.vstack([Fzz[nx:, :nx], lam[:, None] * gz[:, :nx], hz[:, :nx]])
    try:
        change, gain = -np.linalg.solve(J, T), np.linalg.solve(J, K)
    except np.linalg.LinAlgError:
        return None
    Fxy = np.hstack([Fzz[:nx, nx:], gz[:, :nx].T, hz[:, :nx].T])
    before = Fzz[:nx, :nx] - Fxy @ gain
    return Fz[:nx] + Fxy @ change, 0.5 * (before + before.T), Feedback(y + change, gain)


def forward(
    stages: Sequence[OhnoStage], x: np.ndarray, feedback: list[Feedback]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """[48]."""
    new_x, new_y = [x[0]], []
    for stage, xn, law in zip(stages, x, feedback):
        new_y.append(law.y - law.gain @ (new_x[-1] - xn))
        new_x.append(np.array(stage.values(new_x[-1], new_y[-1][: stage.nu])[0]).ravel())
    return np.array(new_x), new_y


def finish(
    status: Status,
    stages: Sequence[OhnoStage],
    x: np.ndarray,
    y: list[np.ndarray],
    changes: list[float],
) -> OhnoResult:
    """The motion and its cost."""
    u = np.array([yn[: s.nu] for s, yn in zip(stages, y)])
    cost = float(sum(float(s.values(xn, un)[1]) for s, xn, un in zip(stages, x, u)))
    lam = tuple(yn[s.nu : s.nu + s.sizes[0]] for s, yn in zip(stages, y))
    mu = tuple(yn[s.nu + s.sizes[0] :] for s, yn in zip(stages, y))
    return OhnoResult(status, x, u, cost, tuple(changes), lam, mu)


def thesis_stages(
    n: int,
    acceleration: Callable,
    cost: Callable,
    inequalities: Callable | None,
    d: float,
    N: int,
    goal: Any,
) -> list[OhnoStage]:
    """The thesis's steps [15] of length d, with the goal at rest as [28] at step N − 2 and [29] at
    step N − 1.

    acceleration: (q, v, i) -> q̈.  cost: (q, v, i) -> L of a step.  inequalities: (q, v, i) -> g ≤
    0.  goal: q_f, (n,)."""
    state = lambda x: (vector(x, 0, n), vector(x, n, n))

    def step(x: Any, u: Any) -> list[Any]:
        q, v = state(x)
        return [
            *(q + d * v),
            *(v + d * np.array(list(acceleration(q, v, vector(u, 0, n))), dtype=object)),
        ]

    def position(
        x: Any, u: Any
    ) -> list[Any]:  # [28]: q after two steps, which the second control cannot change
        q, v = state(x)
        a = np.array(list(acceleration(q, v, vector(u, 0, n))), dtype=object)
        return list(q + 2 * d * v + d * d * a - np.asarray(goal))

    velocity = lambda x, u: step(x, u)[n:]  # [29]
    on = lambda function: lambda x, u: function(*state(x), vector(u, 0, n))
    limits = on(inequalities) if inequalities else None
    kinds = [OhnoStage(2 * n, n, step, on(cost), limits, end) for end in (None, position, velocity)]
    return [kinds[0]] * (N - 2) + kinds[1:]
