"""The thesis's own algorithm: where it converges it gives the discrete optimum; where it does not,
it says so."""

import itertools

import numpy as np
import pytest
from bench_models import ends
from test_thesis_cases import solve_forward
from thesis import CASES, K, cubic, currents, forward, radians

from armature.optimize.problem.problem import Model, Problem
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import solve
from armature.optimize.solver.ohno import OhnoStage, ohno, thesis_stages


def stages_of(case, N, inequalities=None):
    d = case["T_s"] / N
    acceleration = lambda q, v, i: forward(q, v, K * i, case["payload_kg"])
    return thesis_stages(
        3, acceleration, lambda q, v, i: d * sum(i**2), inequalities, d, N, radians(case["qf"])
    )


def start(case, N):
    q, v, a = cubic(radians(case["q0"]), radians(case["qf"]), case["T_s"], N)
    return np.concatenate([q[0], v[0]]), np.array(currents(2.0)(q.T, v.T, a.T)).T[:N]


NEAR = ("rot180_R50_T1_m2", "ext_30_80_T1_m2")
FAR = ("top_R50_T1_m2", "gen3_T0.8_m2")


def named(names):
    return [c for c in CASES if c["name"] in names]


@pytest.mark.parametrize("case", named(NEAR), ids=NEAR)
def test_converges_to_the_discrete_optimum_from_the_cubic_motion(case):
    result = ohno(stages_of(case, 20), *start(case, 20))
    assert result.ok
    assert result.cost == pytest.approx(case["E_euler_J"]["20"], rel=1e-6)
    np.testing.assert_allclose(result.x[-1], [*radians(case["qf"]), 0, 0, 0], atol=1e-8)


@pytest.mark.parametrize("case", named(FAR), ids=FAR)
def test_converges_only_from_the_neighbourhood_of_the_optimum(case):
    """From the cubic motion it diverges and says so; from an earlier solution, a little off, it
    converges."""
    assert ohno(stages_of(case, 20), *start(case, 20)).status is Status.STALLED
    best = solve_forward(case, 20, "euler")
    result = ohno(stages_of(case, 20), best.x[0], 1.002 * best.u)
    assert result.ok
    assert result.cost == pytest.approx(case["E_euler_J"]["20"], rel=1e-6)


def test_converges_quadratically():
    case = CASES[1]
    changes = ohno(stages_of(case, 20), *start(case, 20), tolerance=1e-11).changes
    late = [c for c in changes if 1e-9 < c < 0.3]
    assert len(late) >= 2
    assert all(after < 20 * before**2 for before, after in itertools.pairwise(late))


def test_a_linear_quadratic_problem_takes_one_iteration():
    stage = OhnoStage(
        2,
        1,
        lambda x, u: [x[0] + 0.1 * x[1], x[1] + 0.1 * u[0]],
        lambda x, u: x[0] ** 2 + 0.1 * u[0] ** 2,
    )
    result = ohno([stage] * 15, (1, 0), np.zeros((15, 1)))
    assert result.ok and len(result.changes) == 2  # the second finds nothing to change


def test_active_inequalities_need_the_right_multipliers_at_the_start():
    """−½ ≤ u: T = 0 has solutions that break the bound (found from λ = 0) or have a multiplier of
    the wrong sign (from 0.3)."""
    step, cost = (
        lambda x, u: [x[0] + 0.3 * x[1], x[1] + 0.3 * u[0]],
        lambda x, u: x[0] ** 2 + 0.1 * u[0] ** 2,
    )
    stage = OhnoStage(2, 1, step, cost, lambda x, u: [-0.5 - u[0]])
    blind, wrong, right = (
        ohno([stage] * 6, (1, 0), np.zeros((6, 1)), multiplier=m) for m in (0.0, 0.3, 1.0)
    )
    assert blind.status is Status.STALLED and blind.u.min() < -0.6
    assert wrong.status is Status.STALLED and min(lam.min() for lam in wrong.lam) < -1e-4
    model = Model(2, 1, lambda x, u, p, d: step(x, u), lambda x, u, p, d: cost(x, u))
    best = solve(Problem(model, 6, x=ends(6, (1, 0), (None, None)), u=(-0.5, np.inf)))
    assert right.ok and best.ok
    assert right.cost == pytest.approx(best.cost, rel=1e-6)
    np.testing.assert_allclose(right.u, best.u, atol=1e-4)


def test_a_bad_start_ends_with_an_honest_status():
    case = CASES[0]
    result = ohno(stages_of(case, 20), start(case, 20)[0], 40.0 * np.ones((20, 3)), iterations=30)
    assert result.status is Status.STALLED and not result.ok
