"""Starts from what is known: an earlier plan of a neighbouring task, finer knots, limits written
once."""

from dataclasses import replace

import numpy as np
import pytest

from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.solver.interior import Options, solve
from armature.optimize.transcription.carry import Known, carried
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.library import library

ARM = library("burgevin").with_payload(2.0)
START, GOAL = np.array([0.0, 1.2, 0.4]), np.array([1.2, 1.8, 0.7])
SHARP = Options(tolerance=1e-8)


def test_a_neighbouring_plan_as_guess_gives_the_same_optimum_in_fewer_iterations():
    first = minimize_energy(ARM, Move(START, GOAL, 0.9, smoothness=0.0))
    task = Move(START, GOAL + [0.03, -0.02, 0.01], 0.92, smoothness=0.0)
    cold, warm = minimize_energy(ARM, task), minimize_energy(ARM, task, guess=first)
    assert warm.ok and warm.energy == pytest.approx(cold.energy, rel=2e-4)
    assert len(warm.iterations) < len(cold.iterations)


def test_a_plan_of_another_robot_serves_as_a_motion_only():
    other = library("scara")
    known = minimize_energy(other, Move([0.0, 0.5, 0.05, 0.0], [0.5, 0.2, 0.1, 0.3], 1.0))
    assert not Known(known.result, known.trajectory).fits(MoveProblem(ARM, Move(START, GOAL, 0.9)))


def test_multipliers_carried_to_twice_the_knots_lead_to_the_same_optimum_as_a_cold_start():
    coarse = MoveProblem(ARM, Move(START, GOAL, 0.9), None, 40)
    result = solve(coarse.problem(Weights(energy=1.0)), coarse.guess())
    fine = replace(coarse, N=80)
    problem = fine.problem(Weights(energy=1.0))
    cold = solve(problem, fine.guess(), SHARP)
    warm = solve(
        problem, carried(result, coarse.trajectory(result), fine), replace(SHARP, warm_barrier=1e-6)
    )
    assert warm.ok and warm.cost == pytest.approx(cold.cost, rel=1e-7)
    assert len(warm.iterations) < len(cold.iterations)


def test_multipliers_brought_to_three_times_the_knots_are_nearly_those_found_there():
    coarse = MoveProblem(ARM, Move(START, GOAL, 0.9), "non-regenerative", 30)
    result = solve(coarse.problem(Weights(energy=1.0)), coarse.guess(), SHARP)
    fine = replace(coarse, N=90)
    found = solve(fine.problem(Weights(energy=1.0)), fine.guess(), SHARP)
    start = carried(result, coarse.trajectory(result), fine)
    n = ARM.n
    lam, right = (m.lam[:, : 2 * n] for m in (start.multipliers, found.multipliers))
    assert (np.abs(lam - right) < 0.25 * np.abs(right).max(0)).all()
    rows, known = (
        m.rows[: 91 * (m.rows.size // 91)].reshape(91, -1)
        for m in (start.multipliers, found.multipliers)
    )
    # the ends' conditions have their multipliers, and the limits of positions next to them, which
    # are far away, none
    assert np.abs(known[[0, -1], :n]).max() > 1.0 and rows[[0, -1], :n] == pytest.approx(
        known[[0, -1], :n], rel=0.1
    )
    assert np.abs(rows[1:-1, :n]).max() < 1e-5 and np.abs(known[1:-1, :n]).max() < 1e-5
    # slacks follow the power
    assert np.abs(start.u[:, n:] - found.u[:, n:]).max() < 0.15 * np.abs(found.u[:, n:]).max()


def test_limits_at_the_end_of_a_step_stand_once_and_hold_all_the_same():
    problem = MoveProblem(ARM, Move(START, GOAL, 0.45), None, 40)
    once = problem.problem(Weights(energy=1.0))
    twice = replace(once, constraints=problem.driven.constraint_bounds())
    a, b = solve(once, problem.guess(), SHARP), solve(twice, problem.guess(), SHARP)
    assert np.isinf(once.constraints[1][:-1]).any() and np.isfinite(once.constraints[1][-1]).all()
    assert a.ok and b.ok and a.cost == pytest.approx(b.cost, rel=1e-6)
