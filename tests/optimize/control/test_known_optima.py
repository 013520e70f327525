"""Optimal control of own differential equations: values that are known exactly or from independent
computations, and what is refused."""

import numpy as np
import pytest
from problems import KNOWN, cart_pole, coulomb_mass, torque_rate
from scipy.integrate import solve_ivp

import armature as arm
from armature import optimal_control as oc


@pytest.mark.parametrize("name", KNOWN)
def test_the_known_value_is_reached_from_the_default_start(name):
    make, value, tolerance = KNOWN[name]
    found = oc.solve(make())
    assert found.ok
    assert found.cost == pytest.approx(value, rel=tolerance)


def test_the_motion_is_a_solution_of_the_differential_equations():
    """Integrated with the optimal controls by another method, the state arrives."""
    problem = cart_pole()
    found = oc.solve(problem)
    run = solve_ivp(
        lambda t, x: problem.rates(x, found(min(t, 2.0)).u),
        (0, 2),
        np.zeros(4),
        rtol=1e-10,
        atol=1e-11,
        max_step=0.01,
    )
    np.testing.assert_allclose(run.y[:, -1], [1, np.pi, 0, 0], atol=2e-5)
    np.testing.assert_allclose(found(found.knots).x, found.x, atol=1e-9)


def test_controls_switch_where_they_must():
    found = oc.solve(coulomb_mass())
    np.testing.assert_allclose(found.switches, [1.6562089889], atol=0.01)
    np.testing.assert_allclose(found.durations[0], 1 / 3, atol=1e-4)


def test_final_costs_free_parameters_and_states_that_are_free():
    """Least p with x(1) = p·1 and a price on p: minimise (x(1) − 2)² + p² for x' = p: p = 1, cost
    2."""
    goal = oc.final(lambda x, p: (x[0] - 2.0) ** 2 + p[0] ** 2)
    found = oc.solve(
        oc.ControlProblem(1, 0, lambda x, u, p: [p[0]], goal, start=[0], duration=1.0, np=1)
    )
    assert (
        found.ok
        and found.p[0] == pytest.approx(1.0, abs=1e-6)
        and found.cost == pytest.approx(2.0, abs=1e-8)
    )


def test_a_motion_is_a_guess_for_a_neighbouring_problem():
    first = oc.solve(torque_rate(1.0), refine=False)
    again = oc.solve(torque_rate(1.1), guess=first)
    tj, A = 0.05, 20.0
    assert again.cost == pytest.approx(tj + np.sqrt(tj**2 + 4 * 1.1 / A), rel=1e-6)


def test_runge_kutta_steps_serve_models_in_steps():
    """∫u² from rest to rest over a unit of way and time is 12; controls constant in 50 steps come
    within 1e-3 of it."""
    N = 50
    step = oc.rk4(lambda x, u: [x[1], u[0]])
    model = oc.Model(
        2,
        1,
        dynamics=lambda x, u, p, d: step(x, u, p, d, 1 / N),
        cost=lambda x, u, p, d: u[0] ** 2 / N,
    )
    low, high = np.full((N + 1, 2), -np.inf), np.full((N + 1, 2), np.inf)
    low[0], high[0], low[N], high[N] = [0, 0], [0, 0], [1, 0], [1, 0]
    found = oc.solve(oc.Problem(model, N, x=(low, high)))
    assert found.ok and found.cost == pytest.approx(12.0, rel=1e-3)


def test_the_module_is_part_of_the_public_surface():
    assert arm.optimal_control.solve is oc.solve


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": [0]}, "1 entries, there are 2 states"),
        ({"duration": -1.0}, "positive number of seconds"),
        ({"minimize": "money"}, "'money' is not known"),
        ({"u": (1, -1)}, "cross"),
        ({"rates": lambda x, u: [x[1]]}, "gives 1 numbers, there are 2 states"),
        ({"phases": [oc.Phase()], "duration": 1.0}, "duration of each phase"),
        ({"x": ([1, 1], [2, 2])}, "outside its bounds"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(change, words):
    given = {
        "rates": lambda x, u: [x[1], u[0]],
        "start": [0, 0],
        "end": [1, 0],
        "u": (-1, 1),
        **change,
    }
    with pytest.raises(arm.ArgumentError, match=words):
        oc.solve(oc.ControlProblem(2, 1, **given), refine=False)


def test_an_impossible_problem_is_not_called_an_optimum():
    late = oc.ControlProblem(
        2,
        1,
        lambda x, u: [x[1], u[0]],
        "control effort",
        start=[0, 0],
        end=[1, 0],
        u=(-1, 1),
        duration=1.0,
    )
    found = oc.solve(late)
    assert not found.ok and found.message


def test_steps_that_are_too_coarse_are_told():
    """Layers of a second at both ends of 10,000 s: the cost is 3.362, and 800 equal steps do not
    see it."""
    found = oc.solve(
        oc.ControlProblem(
            1,
            1,
            lambda x, u: [u[0] - x[0] ** 3],
            0.5 * oc.integral(lambda x, u: x[0] ** 2 + u[0] ** 2),
            start=[1],
            end=[1.5],
            duration=10_000.0,
        )
    )
    assert not found.ok and found.status is oc.Status.UNRESOLVED
    assert found.error > 1e-4 and "too coarse" in str(found)
