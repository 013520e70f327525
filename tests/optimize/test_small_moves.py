"""Moves that go hardly anywhere, and points that lie close together in time: the same laws as for large ones."""

import numpy as np
import pytest

import armature as arm

ROBOT = arm.library("planar2")
START = np.array([0.2, 0.3])


@pytest.mark.parametrize("way", [1e-3, 1e-4])
def test_the_least_time_of_a_short_move_grows_with_the_root_of_its_way(way):
    """Between places so near all torques are constants, so x(t/s)·s² is a motion where x(t) is one."""
    short, longer = (arm.minimize_time(ROBOT, arm.Move(START, START + d)) for d in (way, 4 * way))
    assert short.ok and longer.ok and short.certificate.ok
    assert longer.duration / short.duration == pytest.approx(2.0, rel=5e-3)


@pytest.mark.parametrize("way", [1e-3, 1e-4, 1e-6])
def test_a_plan_arrives_however_short_its_way_is(way):
    fast = arm.minimize_time(ROBOT, arm.Move(START, START + way), knots=50)
    cheap = arm.minimize_energy(ROBOT, arm.Move(START, START + way, 0.1))
    for plan in (fast, cheap):
        assert plan.ok and np.abs(plan.trajectory.q[[0, -1]] - [START, START + way]).max() < 1e-3 * way


@pytest.mark.parametrize("knots", [10, 100])
def test_points_closer_in_time_than_knots_are_all_passed(knots):
    goal, (a, b) = np.array([1.0, -0.5]), (0.75, 0.755)
    middle = (START + goal) / 2
    plan = arm.minimize_energy(ROBOT, arm.Move(START, goal, 1.5, via=(arm.Via(middle, a), arm.Via(middle + 0.006, b))), knots=knots)
    assert plan.ok and np.abs(plan.trajectory([a, b]).q - [middle, middle + 0.006]).max() < 1e-6


def test_an_earlier_plan_is_a_start_of_a_least_time():
    task = arm.Move(START, START + 0.5, 1.0)
    known = arm.minimize_energy(ROBOT, task)
    assert arm.minimize_time(ROBOT, task, guess=known, starts=1).duration < known.duration
