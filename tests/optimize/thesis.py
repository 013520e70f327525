"""Burgevin's robot in closed form (R, θ, φ), and his cases."""

import functools
import json
from pathlib import Path

import casadi as ca
import numpy as np

DATA = json.loads((Path(__file__).parent.parent / "data" / "burgevin.json").read_text())
ROBOT = DATA["robot"]
CASES = DATA["regenerative_no_friction"]
K = np.array([20.0, 1.7 / 0.15, 1.7 / 0.15])  # N/A, N·m/A
LARGEST_CURRENT = np.sqrt(80.0)  # peak heat 80 W in 1 Ω


def inertias(q, m):
    """m_t, I₄, I₁, I₂, I₃ of the equations of motion."""
    r, L, m_s = ROBOT, ROBOT["L"], ROBOT["m_s"]
    m_t = m + m_s
    I0 = m_t * q[0] ** 2 - m_s * L * q[0] + m_s * L**2 / 3 + r["m_h"] * r["r_h"] ** 2
    I2 = r["J_b"] + r["J_r"] * ca.cos(q[1]) ** 2 + (I0 + r["J_h_phi"]) * ca.sin(q[1]) ** 2
    return m_t, m_t * q[0] - m_s * L / 2, I0 + r["J_h_theta"], I2, I0 + r["J_h_phi"] - r["J_r"]


def forward(q, v, tau, m):
    """R̈, θ̈, φ̈."""
    m_t, I4, I1, I2, I3 = inertias(q, m)
    s, c, g, head = ca.sin(q[1]), ca.cos(q[1]), ROBOT["g"], ROBOT["m_h"] * ROBOT["r_h"]
    return [
        (tau[0] + I4 * (v[1] ** 2 + v[2] ** 2 * s**2)) / m_t - g * c,
        (tau[1] + (I4 + head) * g * s - 2 * I4 * v[0] * v[1] + I3 * v[2] ** 2 * s * c) / I1,
        (tau[2] - 2 * I4 * v[0] * v[2] * s**2 - 2 * I3 * v[1] * v[2] * s * c) / I2,
    ]


def inverse(q, v, a, m):
    """F, T_θ, T_φ."""
    m_t, I4, I1, I2, I3 = inertias(q, m)
    s, c, g, head = ca.sin(q[1]), ca.cos(q[1]), ROBOT["g"], ROBOT["m_h"] * ROBOT["r_h"]
    return [
        m_t * (a[0] + g * c) - I4 * (v[1] ** 2 + v[2] ** 2 * s**2),
        I1 * a[1] - (I4 + head) * g * s + 2 * I4 * v[0] * v[1] - I3 * v[2] ** 2 * s * c,
        I2 * a[2] + 2 * I4 * v[0] * v[2] * s**2 + 2 * I3 * v[1] * v[2] * s * c,
    ]


def radians(q):
    """(R, θ, φ) of the file in SI units."""
    return np.array(q) * [1, np.pi / 180, np.pi / 180]


def cubic(q0, qf, T, N):
    """[52]: q, v, a at the knots."""
    s, d = np.linspace(0, 1, N + 1)[:, None], qf - q0
    return q0 + d * (3 * s**2 - 2 * s**3), d * (6 * s - 6 * s**2) / T, d * (6 - 12 * s) / T**2


def case_limits(case, N):
    """Bounds of (q, v): ranges of R and θ, ends at rest."""
    low, high = np.full((N + 1, 6), -np.inf), np.full((N + 1, 6), np.inf)
    low[:, 0], high[:, 0] = ROBOT["R_range_m"]
    low[:, 1], high[:, 1] = np.deg2rad(case["theta_limits_deg"])
    for k, q in ((0, case["q0"]), (N, case["qf"])):
        low[k] = high[k] = [*radians(q), 0, 0, 0]
    return low, high


@functools.cache
def currents(m):
    """The currents of a motion, as a function of arrays."""
    q, v, a = (ca.SX.sym(name, 3) for name in "qva")
    return ca.Function("currents", [q, v, a], [ca.vertcat(*inverse(q, v, a, m)) / K])
