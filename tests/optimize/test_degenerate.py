"""Redundant, contradicting, unbounded and singular problems: the right answer or the right
sentence."""

import casadi as ca
import numpy as np
import pytest
from bench_models import double_integrator, ends

from armature.optimize.problem.problem import Guess, Model, Problem
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import solve

N = 30
H = 1 / N
BEST = 12 / (1 - H**2)
MOVE = ends(N, (0, 0), (1, 0))
STEP = lambda x, u, p, d: [x[0] + H * x[1] + H * H / 2 * u[0], x[1] + H * u[0]]
ENERGY = lambda x, u, p, d: H * u[0] ** 2


def test_redundant_inequalities():
    model = Model(2, 1, STEP, ENERGY, constraints=lambda x, u, p, d: [u[0], 2 * u[0], u[0]])
    bound = 4.5 * np.array([1, 2, 1])
    once = solve(Problem(double_integrator(), N, x=MOVE, u=(-4.5, 4.5), data=H))
    thrice = solve(Problem(model, N, x=MOVE, constraints=(-bound, bound)))
    assert once.ok and thrice.ok
    assert thrice.cost == pytest.approx(once.cost, rel=1e-6)


def via(values):
    low = np.full((N, 3), -np.inf)
    high = -low.copy()
    low[15] = high[15] = values
    return low, high


MULTIPLES = Model(
    2,
    1,
    STEP,
    ENERGY,
    constraints=lambda x, u, p, d: [x[0], 3 * x[0], 2 * x[0]],
    end_constraints=lambda x, p, d: [x[0], x[1], x[0] + x[1]],
    constraint_names=("via", "three times via", "twice via"),
)


def test_redundant_equations_of_any_rank():
    result = solve(
        Problem(MULTIPLES, N, x=MOVE, constraints=via((0.5, 1.5, 1.0)), end=((1, 0, 1), (1, 0, 1)))
    )
    assert result.ok
    assert result.cost == pytest.approx(BEST, rel=1e-8)  # the via point is on the optimal motion


def test_contradicting_equations_are_named():
    result = solve(
        Problem(MULTIPLES, N, x=MOVE, constraints=via((0.5, 1.6, 1.0)), end=((1, 0, 1), (1, 0, 1)))
    )
    assert result.status is Status.INFEASIBLE
    assert "via" in result.violations[0].name and result.violations[0].knot == 15
    assert "via" in result.message


def test_too_little_acceleration_is_infeasible_by_the_known_amount():
    """With |a| ≤ 3 the move reaches 3/4 in unit time."""
    result = solve(Problem(double_integrator(), N, x=MOVE, u=(-3, 3), data=H))
    assert result.status is Status.INFEASIBLE
    worst = result.violations[0]
    assert (worst.name, worst.knot) == ("position", N)
    assert worst.amount == pytest.approx(0.25, abs=1e-3)


def test_bounds_that_leave_a_single_motion():
    """|a| ≤ 4 is just enough: full acceleration, full braking."""
    result = solve(Problem(double_integrator(), N, x=MOVE, u=(-4, 4), data=H))
    assert result.ok
    assert result.cost == pytest.approx(16, rel=1e-5)


def test_a_bound_active_at_every_knot():
    model = Model(2, 1, STEP, lambda x, u, p, d: H * (u[0] - 10) ** 2)
    result = solve(Problem(model, N, x=ends(N, (0, 0), (None, None)), u=(-1, 1)))
    assert result.ok
    np.testing.assert_allclose(result.u, 1, atol=1e-6)


@pytest.mark.parametrize("sign", [1, -1], ids=["linear", "concave"])
def test_unbounded_cost(sign):
    cost = (lambda x, u, p, d: H * u[0]) if sign > 0 else (lambda x, u, p, d: -H * u[0] ** 2)
    result = solve(Problem(Model(2, 1, STEP, cost), N, x=ends(N, (0, 0), (None, None))))
    assert result.status is Status.UNBOUNDED


def test_a_maximum_is_left():
    """At u = 0 the concave cost is stationary; the minimum lies on the bounds."""
    model = Model(2, 1, STEP, lambda x, u, p, d: -H * u[0] ** 2)
    result = solve(Problem(model, N, x=ends(N, (0, 0), (None, None)), u=(-2, 2)))
    assert result.ok
    assert result.cost == pytest.approx(-4, rel=1e-6)


def test_two_controls_that_do_the_same():
    """Only their sum has a price: any split is optimal."""
    model = Model(
        2,
        2,
        lambda x, u, p, d: [x[0] + H * x[1], x[1] + H * (u[0] + u[1])],
        lambda x, u, p, d: H * (u[0] + u[1]) ** 2,
    )
    result = solve(Problem(model, N, x=MOVE))
    assert result.ok
    assert result.cost == pytest.approx(BEST, rel=1e-6)


def test_a_pendulum_turned_upright_from_hanging_still():
    """The start is stationary and the torque too small to lift it directly."""
    step = lambda x, u, p, d: [x[0] + 0.05 * x[1], x[1] + 0.05 * (u[0] - 9.81 * ca.sin(x[0]))]
    model = Model(2, 1, step, lambda x, u, p, d: 0.05 * u[0] ** 2)
    result = solve(Problem(model, 60, x=ends(60, (0, 0), (np.pi, 0)), u=(-6, 6)))
    assert result.ok
    assert result.x[-1, 0] == pytest.approx(np.pi, abs=1e-7)
    assert np.sum(np.diff(np.sign(result.x[1:-1, 1])) != 0) >= 1  # it swings


def test_a_function_without_a_value_is_told():
    model = Model(2, 1, STEP, lambda x, u, p, d: ca.log(x[0] - 5))
    result = solve(Problem(model, N, x=MOVE), Guess())
    assert result.status is Status.INVALID
