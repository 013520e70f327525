"""Directions that keep away from bounds, and searches that end when little is left to gain."""

from dataclasses import replace

import numpy as np
import pytest

from armature import library
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.solver import barrier, newton, rows
from armature.optimize.solver.interior import Interior, Options, solve
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move

EXACT = Options(tolerance=1e-6, iterations=200)

SIX = library("six_axis")
MOVE = Move([0.3, -0.5, 0.4, -0.2, 0.6, 0.1], [-0.6, 0.2, -0.3, 0.5, -0.4, 0.8], 1.2)
FAR = Move(
    [-0.2, 0.8, 0.9, -0.3, 0.1, -0.4], [0.7, -0.7, -0.5, 0.8, -0.6, 0.5], 1.2
)  # with one optimum, where MOVE has several


def stopped_search(supply="non-regenerative", iterations=8, **options):
    """A search in the middle of its way, with a direction at hand."""
    task = MoveProblem(SIX, MOVE, supply, 20)
    search = Interior(
        task.problem(Weights(energy=1.0)), Options(iterations=iterations, **options), None, np.inf
    )
    search.start(task.guess())
    search.iterate()
    search.errors()
    assert search.find_direction()
    return search


def products(search, primal, dual):
    """Products of distances and multipliers after a step of these lengths, lower and upper bounds
    of all bounded rows."""
    point, step, limits = search.point.rows, search.direction.step, search.limits
    bounded = limits.kind == rows.BOUNDED
    s = point.s + primal * step.s
    low, high = bounded & np.isfinite(limits.lower), bounded & np.isfinite(limits.upper)
    with np.errstate(invalid="ignore"):
        below = ((s - limits.lower) * (point.a + dual * step.a))[low]
        above = ((limits.upper - s) * (point.b + dual * step.b))[high]
    return np.concatenate([below, above])


def linear(search):
    """The same to first order: a(s − lower) + a ds + (s − lower) da."""
    whole, none = products(search, 1.0, 1.0), products(search, 0.0, 0.0)
    crosswise = products(search, 1.0, 0.0) + products(search, 0.0, 1.0) - none - whole
    return whole + crosswise


def test_a_full_newton_step_makes_all_products_the_barrier_to_first_order():
    search = stopped_search()
    np.testing.assert_allclose(linear(search), search.mu, rtol=1e-6, atol=1e-9)


def test_a_corrected_direction_aims_at_what_products_of_a_longer_step_lack():
    """(I5), with numbers made here as the witness."""
    search = stopped_search(iterations=6)
    primal, dual = search.to_boundary()
    ahead = [min(1.0, length + barrier.AHEAD) for length in (primal, dual)]
    before = products(search, *ahead)
    mu = search.mu
    expected = mu + np.maximum(np.clip(before, 0.1 * mu, 10 * mu) - before, -10 * mu)
    newton.centre(search.direction.held, search.point.held, *ahead, mu)
    barrier.again(search)
    assert np.abs(expected - mu).max() > 0.1 * mu
    np.testing.assert_allclose(linear(search), expected, rtol=1e-5, atol=1e-6 * mu)


def test_a_correction_that_does_not_pay_leaves_the_direction_as_it_was():
    search = stopped_search(centred=True)
    before = search.direction.dz.copy()
    assert barrier.corrected(search, 1.0, 1.0) is None  # a full step needs none
    longest = barrier.SHORT - 1e-9
    if barrier.corrected(search, longest, longest) is None:
        np.testing.assert_array_equal(search.direction.dz, before)
    assert not stopped_search(centred=False).direction.added.any()


@pytest.mark.parametrize("supply", ["regenerative", "non-regenerative"])
def test_corrected_directions_lead_to_the_same_optimum(supply):
    task = MoveProblem(SIX, MOVE, supply, 30)
    problem = task.problem(Weights(energy=1.0))
    plain, centred = (solve(problem, task.guess(), Options(centred=way)) for way in (False, True))
    assert plain.ok and centred.ok and centred.cost == pytest.approx(plain.cost, rel=1e-6)


@pytest.mark.parametrize("accuracy", [1e-2, 1e-3, 1e-4])
def test_what_an_early_end_leaves_is_what_was_asked_for(accuracy):
    task = MoveProblem(SIX, FAR, "non-regenerative", 30)
    problem = task.problem(Weights(energy=1.0))
    exact = solve(problem, task.guess())
    early = solve(problem, task.guess(), Options(accuracy=accuracy))
    assert early.ok and len(early.iterations) < len(exact.iterations)
    assert abs(early.cost - exact.cost) < 2 * accuracy * abs(exact.cost)


@pytest.mark.parametrize("supply", ["regenerative", "non-regenerative"])
def test_a_plan_costs_hardly_more_than_one_solved_to_the_last_digit(supply):
    quick, exact = (
        minimize_energy(SIX, FAR, supply),
        minimize_energy(SIX, FAR, supply, options=replace(EXACT, tolerance=1e-8)),
    )
    assert quick.certificate.ok and quick.energy - exact.energy < 1e-3 * abs(exact.energy)
