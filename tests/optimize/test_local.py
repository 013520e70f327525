"""Variables of a single knot leave the Newton system exactly: every step is that of the whole
system."""

import casadi as ca
import numpy as np
import pytest

from armature.optimize.problem.problem import Guess, Model, Problem
from armature.optimize.solver import evaluate, local
from armature.optimize.solver.interior import Interior, Options, solve
from armature.optimize.solver.workspace import IDLE, stages

N = 12


def model(totals=True):
    """A pendulum of free duration that pays for max(0, power) twice: a slack above two powers, and
    one with bounds of its own."""
    h = lambda p: p[0] / N
    power = lambda x, u: u[0] * (x[1] + 0.3 * u[0])
    return Model(
        nx=2,
        nu=3,
        np=1,
        dynamics=lambda x, u, p, d: [x[0] + h(p) * x[1], x[1] + h(p) * (u[0] - ca.sin(x[0]))],
        cost=lambda x, u, p, d: h(p) * (u[1] + 0.5 * u[2] + 0.2 + 0.05 * u[0] ** 2),
        constraints=lambda x, u, p, d: [
            power(x, u) * p[0] - u[1],
            0.5 * power(x, u) - 2 * u[1],
            -u[1],
            u[0] - u[2],
            x[1] ** 2,
        ],
        totals=(lambda x, u, p, d: [h(p) * (u[1] + x[0]), h(p) * u[2]]) if totals else None,
    )


def problem(m):
    low, high = np.full((N + 1, 2), -np.inf), np.full((N + 1, 2), np.inf)
    low[0] = high[0] = 0.0
    low[N] = high[N] = (1.0, 0.0)
    u = np.array([-20.0, -np.inf, 0.0]), np.array([20.0, np.inf, 30.0])
    c = np.full(5, -np.inf), np.array([0.0, 0.0, 0.0, 0.0, 50.0])
    return Problem(m, N, x=(low, high), u=u, p=(0.2, 5.0), constraints=c, totals=(-np.inf, 3.0))


def search(question, whole, monkeypatch):
    """A search at its first point; whole: nothing leaves the system."""
    IDLE.clear()
    with monkeypatch.context() as patch:
        if whole:
            patch.setattr(evaluate, "places", lambda layout, nx, nz: np.arange(nz))
        found = Interior(question, Options(), None, np.inf)
    rng = np.random.default_rng(3)
    found.start(Guess(x=rng.normal(size=(N + 1, 2)), u=rng.normal(size=(N, 3)), p=1.5))
    found.errors()
    return found


def test_slacks_are_local_and_motion_is_not():
    m = model()
    place = local.places(stages(m)[0].layout, 2, 5)
    assert place.tolist() == [0, 1, 2, -1, -2]


def test_of_two_slacks_in_one_row_one_is_local():
    m = Model(
        1,
        3,
        lambda x, u, p, d: [x[0] + u[0]],
        lambda x, u, p, d: u[1] + u[2],
        lambda x, u, p, d: [x[0] - u[1] - u[2], u[2] - u[0]],
    )
    assert local.places(stages(m)[0].layout, 1, 4).tolist() == [0, 1, -1, 2]


def test_variables_with_curvature_or_dynamics_are_not_local():
    m = Model(
        1,
        3,
        lambda x, u, p, d: [x[0] + u[0]],
        lambda x, u, p, d: u[1] ** 2 + x[0] * u[2],
        lambda x, u, p, d: [-u[1], -u[2]],
    )
    assert (local.places(stages(m)[0].layout, 1, 4) >= 0).all()


@pytest.mark.parametrize("totals", [True, False])
@pytest.mark.parametrize("shift", [0.0, 50.0])
def test_steps_are_those_of_the_whole_system(totals, shift, monkeypatch):
    question = problem(model(totals))
    steps = []
    for whole in (False, True):
        found = search(question, whole, monkeypatch)
        d = found.direction
        d.metric[:] = 1.0
        if whole:
            assert (found.evaluator.place >= 0).all()
            d.metric[3:] = 0.0  # local variables get no added curvature
        d.assemble(found.point, *found.parameters)
        d.floor = shift
        assert d.factor()
        d.solve(found.point, found.point.gap, found.mu, found.rho, found.elastic)
        steps.append(
            [a.copy() for a in (d.dz, d.dlam, d.beta, d.dy, d.step.s, d.step.a, d.border.influence)]
        )
    for mine, theirs in zip(*steps):
        np.testing.assert_allclose(
            mine,
            theirs,
            rtol=1e-9,
            atol=1e-10 * np.abs(theirs[np.isfinite(theirs)]).max(initial=0.0),
        )


def test_first_multipliers_are_those_of_the_whole_system(monkeypatch):
    question = problem(model())
    points = [search(question, whole, monkeypatch).point for whole in (False, True)]
    np.testing.assert_allclose(points[0].lam, points[1].lam, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(points[0].rows.y, points[1].rows.y, rtol=1e-9, atol=1e-9)


def test_active_rows_of_any_weight_leave_no_rounding():
    """Weights 1e8 and 1e-6: what is left of both, w₁w₂/(w₁ + w₂) ggᵀ, is exact, where the
    subtraction has lost all digits."""
    place = np.array([0, 1, -1])
    it = local.workspace(place, 1, 0)
    J, g = np.array([2.0, 3.0, -1.0, -1.0]), np.array([2.0, 3.0])
    d, dp = np.zeros(2), np.zeros(0)
    W = np.zeros((2, 2))
    for w, entry, start, stop in ((1e8, 2, 0, 3), (1e-6, 3, 3, 4)):
        share = local.add_row(w, J, entry, np.array([0, 1, -1, -1]), start, stop, it, 0, d, dp)
        W += share * np.outer(d, d)
    np.testing.assert_allclose(W, 1e8 * 1e-6 / (1e8 + 1e-6) * np.outer(g, g), rtol=1e-14)


def test_optimum_is_that_of_the_whole_system(monkeypatch):
    question = problem(model())
    IDLE.clear()
    mine = solve(question, Guess(p=1.5))
    IDLE.clear()
    monkeypatch.setattr(evaluate, "places", lambda layout, nx, nz: np.arange(nz))
    theirs = solve(question, Guess(p=1.5))
    IDLE.clear()
    assert mine.ok and theirs.ok
    np.testing.assert_allclose(mine.cost, theirs.cost, rtol=1e-7)
    np.testing.assert_allclose(mine.p, theirs.p, rtol=1e-5)
