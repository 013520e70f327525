"""Moves that go hardly anywhere, and points that lie close together in time: the same laws as for
large ones."""

from functools import cache

import numpy as np
import pytest

import armature as arm

ROBOT = arm.library("planar2")
START = np.array([0.2, 0.3])


@pytest.mark.parametrize("way", [1e-3, 1e-4])
def test_the_least_time_of_a_short_move_grows_with_the_root_of_its_way(way):
    """Between places so near all torques are constants, so x(t/s)·s² is a motion where x(t) is
    one."""
    short, longer = (arm.minimize_time(ROBOT, arm.Move(START, START + d)) for d in (way, 4 * way))
    assert short.ok and longer.ok and short.certificate.ok
    assert longer.duration / short.duration == pytest.approx(2.0, rel=5e-3)


AWAY = np.array([1.0, -0.5])


@cache
def least_time(way: float, jerk: float) -> arm.Solution:
    """Of a move that goes so far."""
    robot = ROBOT.with_limits({name: {"jerk": jerk} for name in ROBOT.joint_names})
    return arm.minimize_time(robot, arm.Move(START, START + way * AWAY))


@pytest.mark.parametrize("way", [1e-5, 1e-6])
@pytest.mark.parametrize("jerk, power", [(np.inf, 2), (2000.0, 3)])
def test_least_times_follow_the_root_of_the_way_or_its_third_root_however_short_it_is(
    way, jerk, power
):
    """Solved larger and shrunk; the witness is solved as it is, and so short that jerk alone
    decides where it is limited."""
    short, larger = least_time(way, jerk), least_time(6e-4, jerk)
    assert short.ok and short.certificate.ok and larger.ok
    assert short.duration == pytest.approx(larger.duration * (way / 6e-4) ** (1 / power), rel=5e-3)
    assert np.abs(short.trajectory.q[[0, -1]] - [START, START + way * AWAY]).max() < 1e-3 * way


def test_a_short_move_through_a_point_is_passed_there_and_keeps_to_the_law():
    via = lambda way: arm.Move(START, START + way, via=[START + way * np.array([0.2, 0.8])])
    short, larger = (arm.minimize_time(ROBOT, via(way)) for way in (1e-6, 1e-3))
    assert short.ok and short.certificate.ok and larger.ok
    assert np.abs(short.trajectory.q - START - 1e-6 * np.array([0.2, 0.8])).max(axis=1).min() < 1e-9
    assert short.duration == pytest.approx(larger.duration * 1e-3**0.5, rel=5e-3)


@pytest.mark.parametrize("smoothness", [0.0, 0.1])
def test_a_creep_over_dry_friction_costs_no_more_than_the_joint_cubic(smoothness):
    """One joint alone creeps: every other joint that moves pays its own dry friction."""
    move = arm.Move([0.0, 0.0], [1e-4, 0.0], 1.0, smoothness=smoothness)
    plan = arm.minimize_energy(ROBOT, move, knots=20)
    assert plan.ok and plan.certificate.ok
    assert plan.energy <= plan.baseline.ledger.energy * (1 + 1e-6)


@pytest.mark.parametrize("way", [1e-3, 1e-4, 1e-6])
def test_a_plan_arrives_however_short_its_way_is(way):
    fast = arm.minimize_time(ROBOT, arm.Move(START, START + way), knots=50)
    cheap = arm.minimize_energy(ROBOT, arm.Move(START, START + way, 0.1))
    for plan in (fast, cheap):
        assert (
            plan.ok and np.abs(plan.trajectory.q[[0, -1]] - [START, START + way]).max() < 1e-3 * way
        )


@pytest.mark.parametrize("way", [1e-6, 1e-9])
def test_where_no_search_ends_the_joint_cubic_that_keeps_all_limits_is_the_plan(way):
    robot = arm.library("six_axis")
    plan = arm.minimize_energy(robot, arm.Move([0.0] * 6, [way] * 6, 1.0), knots=40)
    assert plan.ok and plan.certificate.ok
    assert plan.energy <= plan.baseline.ledger.energy * (1 + 1e-6)


@pytest.mark.parametrize("knots", [10, 100])
def test_points_closer_in_time_than_knots_are_all_passed(knots):
    goal, (a, b) = np.array([1.0, -0.5]), (0.75, 0.755)
    middle = (START + goal) / 2
    plan = arm.minimize_energy(
        ROBOT,
        arm.Move(START, goal, 1.5, via=(arm.Via(middle, a), arm.Via(middle + 0.006, b))),
        knots=knots,
    )
    assert plan.ok and np.abs(plan.trajectory([a, b]).q - [middle, middle + 0.006]).max() < 1e-6


def test_an_earlier_plan_is_a_start_of_a_least_time():
    task = arm.Move(START, START + 0.5, 1.0)
    known = arm.minimize_energy(ROBOT, task)
    assert arm.minimize_time(ROBOT, task, guess=known, starts=1).duration < known.duration
