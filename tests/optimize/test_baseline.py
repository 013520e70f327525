"""The ordinary motion that a plan is compared with does the same task: via points, velocities given
there, closed loops."""

from dataclasses import replace

import numpy as np
import pytest
from linkages import ends, four_bar

import armature as arm
from armature.dynamics.holonomic.closed_loops import loop_rows
from armature.optimize.certificate.certify import worst_margin
from armature.optimize.planner.baseline import baseline
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.loop_move import move_problem

START, MIDDLE, GOAL = np.array([0.2, 0.3]), np.array([0.7, 0.2]), np.array([1.0, -0.5])


def gentle(robot):
    """The robot with a limit of jerk, and slow joints, which the joint cubic breaks."""
    return robot.with_limits({name: {"jerk": 1e3, "velocity": 1.0} for name in robot.joint_names})


@pytest.mark.parametrize("velocity", [0.0, [0.3, -0.2]])
def test_a_quintic_passes_via_points_as_it_is_told(velocity):
    via = arm.Via(MIDDLE, velocity=velocity)
    found = baseline(
        move_problem(
            gentle(arm.library("planar2")), arm.Move(START, GOAL, 0.9, via=[via]), None, 40
        ),
        0.9,
    )
    assert found.name == "joint quintic" and found.feasible
    q, v, a = (getattr(found.trajectory, x) for x in "qva")
    k = int(np.abs(q - MIDDLE).max(1).argmin())
    np.testing.assert_allclose(q[[0, k, -1]], [START, MIDDLE, GOAL], atol=1e-12)
    np.testing.assert_allclose(
        v[[0, k, -1]], [[0.0, 0.0], np.broadcast_to(velocity, 2), [0.0, 0.0]], atol=1e-9
    )
    np.testing.assert_allclose(a[[0, k, -1]], 0.0, atol=1e-9)


def test_a_quintic_keeps_loops_closed():
    robot = gentle(four_bar())
    found = baseline(move_problem(robot, arm.Move(*ends(robot, [0.4], [1.6]), 0.6), None, 40), 0.6)
    f, fd, *_ = loop_rows(robot)(found.trajectory.q, found.trajectory.v)
    assert found.name == "joint quintic" and max(np.abs(f).max(), np.abs(fd).max()) < 1e-9


@pytest.mark.parametrize("velocity", [0.0, [0.6, -0.4]])
def test_a_baseline_that_is_said_to_keep_all_limits_does(velocity):
    """In another duration a motion with a given velocity is another one, not the same run
    slower."""
    slow = arm.library("planar2").with_limits(
        {"elbow": {"velocity": 1.2}, "shoulder": {"acceleration": 3.0}}
    )
    task = arm.Move(START, GOAL, 0.9, via=[arm.Via(MIDDLE, velocity=velocity)])
    found = baseline(move_problem(slow, task, None, 40), 0.9)
    assert found.feasible and worst_margin(slow, found.trajectory).fraction > -2e-3


def test_a_motion_that_passes_a_via_point_at_another_velocity_does_not_do_the_task():
    task = lambda v: arm.Move(START, GOAL, 1.5, via=[arm.Via(MIDDLE, at=0.7, velocity=v)])
    problems = [posed(arm.library("planar2"), task(v), None, 20) for v in (0.1, 0.2)]
    found = Pipeline(Weights(energy=1.0)).least_energy(problems[0])
    assert found.runs and not replace(found, problem=problems[1]).runs
