"""Times are exact at both ends: of plans, of samples at their duration, of files."""

import numpy as np
import pytest

import armature as arm
from armature.motion.trajectory import Trajectory

ROBOT = arm.library("planar2")


@pytest.mark.parametrize("duration, knots", [(0.53, 200), (0.7, 100), (1.1, 130)])
def test_a_plan_ends_at_the_duration_asked_for(duration, knots, tmp_path):
    plan = arm.minimize_energy(
        ROBOT, arm.Move([0.0, 0.0], [0.4, 0.5], duration=duration), knots=knots
    )
    motion = plan.trajectory
    assert motion.t[0] == 0.0 and motion.t[-1] == duration
    assert np.array_equal(motion(duration).a, motion.a[-1]) and np.any(motion.a[-1])
    samples = motion(np.linspace(0.0, duration, 7))
    assert np.array_equal(samples.a[-1], motion.a[-1]) and np.array_equal(samples.q[0], motion.q[0])
    assert plan.baseline.trajectory.t[-1] == duration
    for ending in ("csv", "npz", "json", "yaml"):
        motion.save(tmp_path / f"plan.{ending}")
        assert Trajectory.load(tmp_path / f"plan.{ending}").t[-1] == duration


def test_given_passing_times_are_knots():
    plan = arm.minimize_energy(
        ROBOT,
        arm.Move([0.0, 0.0], [0.4, 0.5], duration=1.1, via=[arm.optimize.Via([0.3, 0.1], at=0.37)]),
    )
    assert plan.trajectory.t[-1] == 1.1 and 0.37 in plan.trajectory.t
    free = arm.minimize_energy(
        ROBOT, arm.Move([0.0, 0.0], [0.4, 0.5], duration=1.1, via=[[0.3, 0.1]])
    )
    assert free.trajectory.t[-1] == 1.1


def test_a_path_ends_at_the_duration_asked_for():
    task = arm.FollowPath(arm.motion.joint_path([[0.0, 0.5], [0.3, 0.9], [0.8, 1.2]]), duration=1.3)
    plan = arm.minimize_energy(ROBOT, task)
    assert plan.ok and plan.trajectory.t[-1] == 1.3
    assert (
        plan.certificate.ok and "distance from the path's end" in plan.certificate.margins["elbow"]
    )


def test_the_end_is_reached_where_a_motion_does_not_begin_at_zero():
    t = 0.1 + 0.7 * np.linspace(0.0, 1.0, 8)
    motion = Trajectory(t, t[:, None], np.ones((8, 1)), np.full((8, 1), 2.0))
    assert motion(t[0] + motion.duration).a == pytest.approx(2.0)
    assert motion(t[-1] + 1e-6).a == 0.0
