"""Small problems whose answers are known from theory or from the literature."""

import casadi as ca
import numpy as np

from armature.optimize.problem.problem import Model


def rk4(field):
    """A Runge–Kutta step of length d₀, or p₀d₀ when there is a free duration p₀."""

    def step(x, u, p, d):
        h = p[0] * d[0] if p.numel() else d[0]
        k1 = field(x, u)
        k2 = field(x + h / 2 * k1, u)
        k3 = field(x + h / 2 * k2, u)
        k4 = field(x + h * k3, u)
        return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return step


def ends(N, first, last):
    """Bounds of the state that fix the first and the last one; None leaves a number free."""
    low = np.full((N + 1, len(first)), -np.inf)
    high = -low.copy()
    for k, state in ((0, first), (N, last)):
        for i, value in enumerate(state):
            if value is not None:
                low[k, i] = high[k, i] = value
    return low, high


def double_integrator(free_time=False, cost="energy"):
    """q̈ = u, exact for constant u."""

    def dynamics(x, u, p, d):
        h = p[0] * d[0] if free_time else d[0]
        return [x[0] + h * x[1] + h * h / 2 * u[0], x[1] + h * u[0]]

    def price(x, u, p, d):
        h = p[0] * d[0] if free_time else d[0]
        return h * u[0] ** 2 if cost == "energy" else h

    return Model(
        2,
        1,
        dynamics,
        price,
        np=int(free_time),
        nd=1,
        state_names=("position", "velocity"),
        control_names=("acceleration",),
    )


def rayleigh():
    """x₁' = x₂, x₂' = −x₁ + x₂(1.4 − 0.14x₂²) + 4u, cost ∫u² + x₁² as a third state."""
    field = lambda x, u: ca.vertcat(
        x[1], -x[0] + x[1] * (1.4 - 0.14 * x[1] ** 2) + 4 * u[0], u[0] ** 2 + x[0] ** 2
    )
    return Model(3, 1, rk4(field), lambda x, u, p, d: 0.0, end_cost=lambda x, p, d: x[2], nd=1)


def van_der_pol():
    """x₁' = x₂, x₂' = −x₁ + x₂(1 − x₁²) + u, least time."""
    field = lambda x, u: ca.vertcat(x[1], -x[0] + x[1] * (1 - x[0] ** 2) + u[0])
    return Model(2, 1, rk4(field), lambda x, u, p, d: p[0] * d[0], np=1, nd=1)


def brachistochrone(g=9.81):
    """A bead on a wire at the angle u below the horizontal, least time."""
    field = lambda x, u: ca.vertcat(x[2] * ca.cos(u[0]), x[2] * ca.sin(u[0]), g * ca.sin(u[0]))
    return Model(3, 1, rk4(field), lambda x, u, p, d: p[0] * d[0], np=1, nd=1)
