"""Time-varying linear-quadratic control along a planned motion: the gains of a Servo from the
linearised equations (4.1)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import expm

from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.holonomic.linear import linearize
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.simulate.servo import Servo


def lqr(
    robot: Robot,
    plan: Trajectory,
    state_weight: Any,
    torque_weight: Any,
    steps: int = 200,
    limited: bool = True,
) -> Servo:
    """The servo that makes ∫ xᵀQx + uᵀRu dt + x(T)ᵀQx(T) least, x = (Δq, Δv), u the torque besides
    the planned one.

    state_weight: Q, a number, (2n,) or (2n, 2n).  torque_weight: R, a number, (n,) or (n, n).
    steps: over the plan's duration."""
    n = robot.nv
    Q, R = _weight("state_weight", state_weight, 2 * n), _weight("torque_weight", torque_weight, n)
    if not np.all(np.linalg.eigvalsh(R) > 0.0):
        raise ArgumentError(
            "torque_weight must be positive: with torques that cost nothing the gains have no bound"
        )
    t = np.linspace(plan.t[0], plan.t[-1], steps + 1)
    q, v, a = plan(t)
    linear = linearize(robot, q, v, inverse_dynamics(robot, q, v, a))
    gains = _gains(linear.A, linear.B, Q, R, t[1] - t[0])
    return Servo(
        robot,
        plan,
        partial(_between, t, gains[:, :, :n]),
        partial(_between, t, gains[:, :, n:]),
        limited=limited,
    )


def _weight(name: str, value: Any, size: int) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape not in ((), (size,), (size, size)):
        raise ArgumentError(
            f"{name} has shape {array.shape}; give a number, ({size},) or ({size}, {size})"
        )
    matrix = array if array.ndim == 2 else array * np.eye(size)
    if not np.allclose(matrix, matrix.T) or not np.all(np.linalg.eigvalsh(matrix) >= 0.0):
        raise ArgumentError(f"{name} must be symmetric and not negative")
    return matrix


def _gains(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, h: float) -> np.ndarray:
    """K = R⁻¹BᵀS at each time, S from Riccati's equation −Ṡ = AᵀS + SA − SBR⁻¹BᵀS + Q backwards
    from S(T) = Q.

    Over a step, with A and B of its two ends averaged, it is solved exactly: S = Y X⁻¹ with (X, Y)
    = exp(−Z h)(E, S₊), Z = [[A, −BR⁻¹Bᵀ], [−Q, −Aᵀ]] (Hamilton's matrix).
    """
    k, S = A.shape[-1], Q.copy()
    by_R = np.linalg.solve(R, np.swapaxes(B, -1, -2))
    Z = np.zeros((len(A), 2 * k, 2 * k))
    Z[:, :k, :k], Z[:, :k, k:], Z[:, k:, :k], Z[:, k:, k:] = (
        A,
        -B @ by_R,
        -Q,
        -np.swapaxes(A, -1, -2),
    )
    steps = expm(-0.5 * h * (Z[1:] + Z[:-1]))
    found = [by_R[-1] @ S]
    for step, gain in zip(steps[::-1], by_R[-2::-1]):
        X, Y = step[:k, :k] + step[:k, k:] @ S, step[k:, :k] + step[k:, k:] @ S
        S = np.linalg.solve(X.T, Y.T).T
        S = 0.5 * (S + S.T)
        found.append(gain @ S)
    return np.array(found[::-1])


def _between(t: np.ndarray, gains: np.ndarray, now: float) -> np.ndarray:
    """The gains at an instant: straight between the steps, constant outside."""
    x = np.clip((now - t[0]) / (t[1] - t[0]), 0.0, len(t) - 1.0)
    k = min(int(x), len(t) - 2)
    return gains[k] + (x - k) * (gains[k + 1] - gains[k])
