"""Winding and housing: exact steps against an integrator, steady states against algebra, runaway
told as such."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from armature.drive import Thermal
from armature.errors import RobotError

T = Thermal(2.0, 5.0, 20.0, 600.0, maximum=125.0, ambient=25.0)


def test_steps_are_the_exact_solution():
    dt, copper, iron = (
        np.array([3.0, 10.0, 40.0]),
        np.array([20.0, 0.0, 5.0]),
        np.array([1.0, 0.5, 0.0]),
    )
    got = T.cycle(dt, copper, iron).temperatures(25.0, 25.0)
    x = np.array([25.0, 25.0])
    for n in range(3):
        rhs = lambda _, y, n=n: T.rates(y[0], y[1], copper[n], iron[n])
        x = solve_ivp(rhs, (0, dt[n]), x, rtol=1e-11, atol=1e-11).y[:, -1]
        assert got[n + 1] == pytest.approx(x, abs=1e-7)


def test_steady_state_of_constant_heat_is_algebra():
    # T_w − T_a = P (R_wh + R_ha) with P = P₂₀ (1 + α (T_w − 20)), the iron's heat through R_ha only
    p, iron, a = 10.0, 2.0, T.coefficient
    rise = (p * (1 + a * (25 - 20)) * 7.0 + iron * 5.0) / (1 - a * p * 7.0)
    w, _ = T.cycle(np.array([100.0]), np.array([p]), np.array([iron])).steady()
    assert w == pytest.approx(25 + rise, rel=1e-10)


def test_many_cycles_reach_the_steady_cycle():
    cycle = T.cycle(np.full(10, 0.5), np.linspace(0, 40, 10), np.zeros(10))
    assert cycle.after(5000, 25.0, 25.0) == pytest.approx(cycle.steady(), abs=1e-6)
    two = cycle.temperatures(*cycle.temperatures(30.0, 28.0)[-1])[-1]
    assert cycle.after(2, 30.0, 28.0) == pytest.approx(tuple(two))
    start = cycle.steady()
    assert cycle.temperatures(*start)[-1] == pytest.approx(start)  # it repeats


def test_runaway_is_infinite():
    # α P₂₀ (R_wh + R_ha) > 1: more resistance, more heat, more resistance
    assert T.cycle(
        np.array([1.0]), np.array([1.05 / (T.coefficient * 7.0)]), np.zeros(1)
    ).steady() == (np.inf, np.inf)


def test_heat_beyond_all_numbers_is_infinite():
    cycle = T.cycle(np.array([1.0]), np.array([1e200]), np.zeros(1))
    assert cycle.steady() == (np.inf, np.inf)


def test_refuses_a_thermal_resistance_of_zero():
    with pytest.raises(RobotError, match=r"thermal.*winding_housing.*above 0"):
        Thermal(0.0, 5.0, 20.0, 600.0)


def test_exponentials_of_many_matrices_equal_scipys():
    from scipy.linalg import expm

    from armature.drive.thermal import exponentials

    X = (
        np.random.default_rng(0).normal(size=(50, 3, 3))
        * np.geomspace(1e-6, 5.0, 50)[:, None, None]
    )
    assert np.allclose(exponentials(X), expm(X), rtol=1e-12, atol=1e-13)
