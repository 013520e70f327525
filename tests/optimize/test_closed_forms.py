"""Optima known from theory and from the literature."""

import casadi as ca
import numpy as np
import pytest
from bench_models import brachistochrone, double_integrator, ends, rayleigh, van_der_pol

from armature.optimize.problem.problem import Guess, Model, Problem
from armature.optimize.solver.interior import solve


@pytest.mark.parametrize("N", [2, 5, 30])
def test_least_energy_of_a_double_integrator(N):
    """∫u² = 12/(1 − 1/N²) for a unit move in unit time with N constant accelerations; its optimum
    is linear in time."""
    result = solve(Problem(double_integrator(), N, x=ends(N, (0, 0), (1, 0)), data=1 / N))
    assert result.ok
    assert result.cost == pytest.approx(12 / (1 - 1 / N**2), rel=1e-8)
    slopes = np.diff(result.u[:, 0])
    np.testing.assert_allclose(slopes, slopes[0], rtol=1e-6)


def test_least_time_of_a_double_integrator():
    """T = 2√(distance / acceleration), full acceleration then full braking."""
    N = 40
    problem = Problem(
        double_integrator(True, "time"),
        N,
        x=ends(N, (0, 0), (3, 0)),
        u=(-2, 2),
        p=(0.01, 100),
        data=1 / N,
    )
    result = solve(problem, Guess(p=5))
    assert result.ok
    assert result.p[0] == pytest.approx(2 * np.sqrt(3 / 2), rel=1e-6)
    np.testing.assert_allclose(result.u[:, 0], np.where(np.arange(N) < N / 2, 2, -2), atol=1e-4)


def test_linear_quadratic_regulator_equals_the_riccati_equation():
    """The optimal control is −K_k x_k with the gains of the backward recursion, and the cost
    x₀ᵀP₀x₀."""
    rng = np.random.default_rng(1)
    A, B, N = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), 12
    Q, R, x0 = np.diag([1.0, 2.0, 0.5]), np.diag([1.0, 0.3]), np.array([1.0, -2.0, 0.5])
    model = Model(
        3,
        2,
        lambda x, u, p, d: A @ x + B @ u,
        lambda x, u, p, d: ca.bilin(Q, x) + ca.bilin(R, u),
        end_cost=lambda x, p, d: ca.bilin(Q, x),
    )
    result = solve(Problem(model, N, x=ends(N, x0, (None,) * 3)))
    P, gains = Q, []
    for _ in range(N):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
        gains.insert(0, K)
    assert result.cost == pytest.approx(x0 @ P @ x0, rel=1e-8)
    np.testing.assert_allclose(result.u, [-K @ x for K, x in zip(gains, result.x)], atol=1e-6)
    np.testing.assert_allclose(
        result.multipliers.lam[1],
        2 * (A.T @ result.multipliers.lam[2] / 2 + Q @ result.x[1]),
        rtol=1e-5,
    )


def test_brachistochrone_is_a_cycloid():
    """From rest at the origin to a point of the cycloid (r, φ): T = φ√(r/g)."""
    N, phi, g = 100, 2.4, 9.81
    r = 1 / (1 - np.cos(phi))
    target = (r * (phi - np.sin(phi)), 1.0, None)
    result = solve(
        Problem(brachistochrone(g), N, x=ends(N, (0, 0, 0), target), p=(0.05, 5), data=1 / N),
        Guess(u=0.7, p=1),
    )
    assert result.ok
    assert result.p[0] == pytest.approx(phi * np.sqrt(r / g), rel=1e-5)


@pytest.mark.parametrize(
    ("T", "bound", "last", "cost"),
    [(2.5, np.inf, (None, None, None), 29.376), (4.5, 1.0, (0, 0, None), 44.7209)],
    ids=["free control, free end (Jacobson and Mayne)", "|u| ≤ 1, fixed end (Maurer and Augustin)"],
)
def test_rayleigh_problem(T, bound, last, cost):
    N = 200
    result = solve(
        Problem(rayleigh(), N, x=ends(N, (-5, -5, 0), last), u=(-bound, bound), data=T / N)
    )
    assert result.ok
    assert result.cost == pytest.approx(cost, rel=1e-4)


def test_van_der_pol_oscillator_in_least_time():
    """T = 1.2540747 from (−0.4, 0.6) to (0.6, 0.4) with |u| ≤ 1 (Maurer and Osmolovskii)."""
    N = 200
    problem = Problem(
        van_der_pol(), N, x=ends(N, (-0.4, 0.6), (0.6, 0.4)), u=(-1, 1), p=(0.1, 10), data=1 / N
    )
    result = solve(problem, Guess(p=2))
    assert result.ok
    assert result.p[0] == pytest.approx(1.2540747, rel=1e-4)
    assert np.sum(np.abs(result.u) < 0.99) <= 2  # bang-bang: one switch
