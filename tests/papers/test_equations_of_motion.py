"""The papers' own equations of motion, written out by hand, against the recursion that knows
nothing of them."""

from __future__ import annotations

import numpy as np
import pytest

from armature.dynamics import compiled
from armature.dynamics.recursion import recursive
from armature.robot.library import library

G = 9.81


def burgevin(q: np.ndarray, v: np.ndarray, effort: np.ndarray, m: float) -> np.ndarray:
    """φ̈, θ̈, R̈ of the thesis (II, Table 1), with payload m at the tip: m_t, I₀ … I₄ as there."""
    L, m_s, r_h, m_h = 1.0, 3.0, -0.1, 8.0
    J_h_theta, J_h_phi, J_r, J_b = 0.15, 0.15, 0.05, 0.4
    (_, theta, R), (dphi, dtheta, dR), (T_phi, T_theta, F) = q, v, effort
    m_t = m + m_s
    I4 = m_t * R - m_s * L / 2
    I0 = m_t * R**2 - m_s * L * R + m_s * L**2 / 3 + m_h * r_h**2
    I1, I3 = I0 + J_h_theta, I0 + J_h_phi - J_r
    I2 = J_b + J_r * np.cos(theta) ** 2 + (I0 + J_h_phi) * np.sin(theta) ** 2
    ddR = (F + I4 * (dtheta**2 + dphi**2 * np.sin(theta) ** 2)) / m_t - G * np.cos(theta)
    gravity = (I4 + m_h * r_h) * G * np.sin(theta)
    ddtheta = (
        T_theta + gravity - 2 * I4 * dR * dtheta + 0.5 * I3 * dphi**2 * np.sin(2 * theta)
    ) / I1
    ddphi = (
        T_phi - 2 * I4 * dR * dphi * np.sin(theta) ** 2 - I3 * dtheta * dphi * np.sin(2 * theta)
    ) / I2
    return np.array([ddphi, ddtheta, ddR])


def valasek(q: np.ndarray, v: np.ndarray, effort: np.ndarray, m: float) -> np.ndarray:
    """φ̈, ϑ̈, r̈ of (32), the drives' K u as torques and force, for a point mass m."""
    g = 9.80665
    (_, theta, r), (dphi, dtheta, dr), (K2u2, K3u3, K1u1) = q, v, effort
    ddr = K1u1 / m - g * np.sin(theta) + r * dtheta**2 + r * np.cos(theta) ** 2 * dphi**2
    ddphi = K2u2 / (m * r**2 * np.cos(theta) ** 2) - 2 * dphi * (dr / r - dtheta * np.tan(theta))
    ddtheta = (
        K3u3 / (m * r**2)
        - dphi**2 * np.sin(theta) * np.cos(theta)
        - 2 * dr * dtheta / r
        - g * np.cos(theta) / r
    )
    return np.array([ddphi, ddtheta, ddr])


def states(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """φ anywhere, θ well off the poles, r between 0.3 and 2."""
    rng = np.random.default_rng(1983)
    q = rng.uniform([-np.pi, 0.2, 0.3], [np.pi, 1.3, 2.0], (count, 3)) * rng.choice(
        [-1.0, 1.0], (count, 1)
    ) ** np.array([1, 1, 2])
    return q, 3.0 * rng.normal(size=(count, 3)), 30.0 * rng.normal(size=(count, 3))


@pytest.mark.parametrize("payload", [0.0, 2.0])
@pytest.mark.parametrize(
    ("name", "equations", "own"), [("burgevin", burgevin, 0.0), ("valasek", valasek, 1.0)]
)
def test_the_papers_equations_of_motion(name: str, equations, own: float, payload: float):
    robot = library(name).with_payload(payload)
    assert robot.joint_names == ("phi", "theta", "r")
    q, v, effort = states(40)
    expected = np.array([equations(*state, own + payload) for state in zip(q, v, effort)])
    plain = np.array(
        [recursive.forward_dynamics(robot.tree, *state) for state in zip(q, v, effort)]
    )
    size = np.abs(expected).max(axis=1, keepdims=True)
    assert np.abs((plain - expected) / size).max() < 1e-12
    assert np.abs((compiled.forward_dynamics(robot, q, v, effort) - expected) / size).max() < 1e-12
