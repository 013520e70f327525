"""Energy against time: what lies between two optima, what it costs, and how much searching fifty
points take."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from armature.optimize.certificate.certify import worst_margin
from armature.optimize.moves.curve import advise, energy_time_curve
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.moves.sweep import prominent
from armature.optimize.planner.attempt import net_energy
from armature.optimize.planner.back_off import worst_fraction
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.task import Move
from armature.robot.library import library

ARM = library("burgevin").with_payload(2.0)
START, GOAL = np.array([0.0, 1.2, 0.4]), np.array([1.2, 1.8, 0.7])


@pytest.mark.parametrize("supply", ["regenerative", "non-regenerative"])
def test_points_of_a_dense_curve_cost_what_plans_cost_and_keep_the_limits(supply):
    durations = np.geomspace(0.7, 0.95, 13)
    curve = energy_time_curve(
        ARM, Move(START, GOAL, smoothness=0.0), durations, supply, 50, refine=False
    )
    for k in (3, 6, 8, 11):
        plan = minimize_energy(
            ARM, Move(START, GOAL, durations[k], smoothness=0.0), supply, knots=50
        )
        assert curve.energies[k] == pytest.approx(
            plan.energy, abs=1e-3 * max(plan.energy, plan.losses)
        )
    for motion in curve.trajectories:
        assert worst_margin(ARM, motion, 1).fraction > -1e-3


def test_a_dense_curve_lets_joints_turn_elsewhere_at_every_duration():
    """Half a turn of the stretched arm, which is drawn in and let out again on the way."""
    move = Move([0.0, 1.57, 0.9], [3.14, 1.57, 0.9], smoothness=0.0)
    durations = np.geomspace(1.0, 2.5, 30)
    curve = energy_time_curve(ARM, move, durations, "non-regenerative", refine=False)
    for k in (1, 9):
        plan = minimize_energy(ARM, replace(move, duration=durations[k]), "non-regenerative")
        assert curve.energies[k] < 1.01 * plan.energy


def test_fifty_points_take_less_searching_than_thirty_plans():
    counts = [0, 0]

    def counting(place):
        def count(line):
            counts[place] += 1

        return count

    curve = energy_time_curve(
        ARM, Move(START, GOAL, smoothness=0.0), knots=50, callback=counting(0)
    )
    minimize_energy(
        ARM,
        Move(START, GOAL, float(curve.durations[22]), smoothness=0.0),
        knots=50,
        callback=counting(1),
    )
    assert np.all(np.isfinite(curve.energies)) and curve.durations.size == 50
    assert counts[0] < 30 * counts[1]


def test_a_cheapest_motion_at_the_end_of_the_range_is_called_that():
    said = lambda *energies: advise(np.array([1.0, 2.0, 3.0]), np.array(energies), [], None)
    assert "cheapest motion of this range is its longest, 3 s" in said(5.0, 4.0, 3.0)
    assert "longer ones may cost less" in said(5.0, 4.0, 3.0)
    assert "cheapest motion of this range is its shortest, 1 s" in said(3.0, 4.0, 5.0)
    assert said(5.0, 3.0, 4.0).startswith("The cheapest motion takes 2 s and 3 J.")
    assert "of this range" not in said(5.0, 3.0, 4.0)


def test_a_dent_smaller_than_the_accuracy_is_no_minimum():
    energies = np.array([2.0, 1.0, 1.001, 1.0005, 3.0])
    assert prominent(energies, 1, 0.01) and not prominent(energies, 3, 0.01)


def test_no_point_costs_clearly_more_than_a_neighbours_motion_run_at_its_duration():
    """Dry friction holds joints of this arm: searches from a motion where they stand may end at
    worse ones."""
    robot, move = (
        library("scara"),
        Move([-1.82, 0.0, 0.12, -2.36], [-1.72, 2.14, 0.01, -1.85], smoothness=0.0),
    )
    supply, room = (
        move_problem(robot, move, None, 50).driven.supply,
        lambda motion: worst_fraction(robot, motion),
    )
    curve = energy_time_curve(robot, move, refine=False)
    compared = 0
    for (T, energy), motion in itertools.product(
        zip(curve.durations, curve.energies), curve.trajectories
    ):
        f = motion.duration / T
        if 0 < abs(np.log(f)) < 0.05:
            other = replace(motion, t=motion.t / f, v=f * motion.v, a=f**2 * motion.a)
            compared += room(other) > 0
            assert room(other) < 0 or energy < net_energy(robot, other, supply) + 7e-3 * energy
    assert compared > 20


def test_a_curve_without_a_plan_has_no_best_point():
    curve = energy_time_curve(library("planar2"), Move([0.2, 0.3], [1.0, -0.5]), [1e-3, 2e-3])
    assert np.isnan(curve.energies).all() and np.isnan(curve.best).all()


@pytest.mark.parametrize("limits", [{"velocity": 1.0}, {"jerk": 50.0}])
def test_the_durations_of_a_curve_begin_a_little_above_the_least_time(limits):
    robot = library("planar2").with_limits(dict.fromkeys(("shoulder", "elbow"), limits))
    task = Move([0.2, 0.3], [1.0, -0.5])
    least, curve = (
        minimize_time(robot, task).duration,
        energy_time_curve(robot, task, knots=30, refine=False),
    )
    assert 1.0 < curve.durations[0] / least < 1.3 and np.isfinite(curve.energies).all()


def test_minima_of_smooth_motions_cost_what_plans_of_these_durations_cost():
    ends = [0.0, np.pi / 2, 0.3], [0.0, np.pi / 2, 0.8]
    curve = energy_time_curve(
        ARM, Move(*ends, smoothness=0.5), np.linspace(0.8, 1.4, 9), "regenerative", 40
    )
    ((T, energy),) = curve.minima
    plan = minimize_energy(ARM, Move(*ends, T, smoothness=0.5), "regenerative", knots=40)
    assert energy == pytest.approx(plan.energy, rel=1e-3)
