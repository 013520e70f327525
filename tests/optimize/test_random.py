"""A thousand random problems, and independent solvers on some of them."""

import collections

import casadi as ca
import numpy as np
import pytest
from random_problems import random_problem

from armature.optimize.problem.nlp import as_nlp, pack
from armature.optimize.problem.problem import Guess, Model, Problem
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import solve


def test_a_thousand_random_problems_converge():
    """3 to 9 states, unstable nonlinear dynamics, random active limits: at least 99 % converge, and
    the others say why."""
    endings = collections.Counter()
    for seed in range(1000):
        result = solve(*random_problem(seed))
        endings[result.status] += 1
        if not result.ok:
            # which of the two depends on the rounding of the machine's vector units
            assert result.status in (Status.INFEASIBLE, Status.STALLED) and result.violations
    assert endings[Status.CONVERGED] >= 990, endings


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 9])
def test_random_problems_end_at_the_optimum_that_ipopt_finds(seed):
    problem, guess = random_problem(seed)
    answer = as_nlp(problem, options={"ipopt.tol": 1e-9}).solve(guess)
    result = solve(problem, guess)
    assert answer.converged and result.ok
    assert result.cost == pytest.approx(answer.cost, rel=1e-6)
    np.testing.assert_allclose(result.x, answer.x, atol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_random_convex_problems_against_an_active_set_method(seed):
    """Linear dynamics, convex quadratic cost, bounds, mixed constraints, a total and a free
    parameter; CasADi's own QP solver."""
    rng = np.random.default_rng(seed)
    nx, nu, N = 4, 2, 10
    A, B, e = (
        0.9 * np.eye(nx) + 0.1 * rng.normal(size=(nx, nx)),
        rng.normal(size=(nx, nu)),
        rng.normal(size=nx),
    )
    root = rng.normal(size=(nx + nu, nx + nu))
    W, c, C = (
        root @ root.T + 0.1 * np.eye(nx + nu),
        rng.normal(size=nx + nu),
        rng.normal(size=(2, nx + nu)),
    )
    z = lambda x, u: ca.vertcat(x, u)
    model = Model(
        nx,
        nu,
        lambda x, u, p, d: A @ x + B @ u + e * p[0],
        lambda x, u, p, d: ca.bilin(W, z(x, u)) + ca.dot(c, z(x, u)) + p[0] ** 2,
        constraints=lambda x, u, p, d: C @ z(x, u) + p[0],
        totals=lambda x, u, p, d: [ca.sum1(u) + x[0]],
        end_cost=lambda x, p, d: ca.sumsqr(x),
        end_constraints=lambda x, p, d: [x[0] + x[1]],
        np=1,
    )
    low, high = np.full((N + 1, nx), -3.0), np.full((N + 1, nx), 3.0)
    low[0] = high[0] = rng.uniform(-1, 1, nx)
    problem = Problem(
        model, N, (low, high), (-0.7, 0.7), (-1, 1), (-4, 4), (0.1, 0.1), (-np.inf, 0.2)
    )
    quiet = {
        "print_time": False,
        "print_header": False,
        "print_iteration": False,
        "print_status": False,
    }
    inside = {
        "print_time": False,
        "print_header": False,
        "print_iter": False,
        "print_info": False,
        "error_on_fail": False,
    }
    answer = as_nlp(problem, "sqpmethod", quiet | {"qpsol": "qrqp", "qpsol_options": inside}).solve(
        Guess()
    )
    result = solve(problem)
    assert result.ok and answer.converged
    assert result.cost == pytest.approx(answer.cost, rel=1e-7)
    np.testing.assert_allclose(
        pack(result.x, result.u, result.p), pack(answer.x, answer.u, answer.p), atol=1e-5
    )
    np.testing.assert_allclose(
        result.multipliers.totals, answer.constraint_multipliers[-1:], atol=1e-5
    )
