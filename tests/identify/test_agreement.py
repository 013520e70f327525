"""Order, signs and units of a recording's columns: what is wrong is refused in a sentence, what is
right is not."""

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.identify.agreement import agreement
from armature.identify.recording import Recording
from identify.simulated import Truth, motion, robots

TRUTH = Truth(robots()["ur5"])
RUN = TRUTH.recording(10, duration=20.0)
_, _, SPEEDS, _ = motion(TRUTH.robot, 10, 20.0)


def checked(recording, robot=None):
    return agreement(robot or TRUTH.described(), [recording], TRUTH.gains, 8.0)


def test_a_right_recording_agrees_with_a_description_that_is_thirty_percent_wrong():
    sentence = checked(replace(RUN, v=SPEEDS))
    assert "agree" in sentence and "elbow_joint" in sentence


@pytest.mark.parametrize("seed", range(6))
def test_other_wrong_descriptions_and_motions_are_not_refused(seed):
    assert checked(TRUTH.recording(100 + seed, duration=20.0), TRUTH.described(seed))


def test_currents_in_another_order_are_refused_with_both_names():
    order = [0, 2, 1, 3, 4, 5]
    with pytest.raises(
        arm.ArmatureError, match=r"another order.*shoulder_lift_joint holds that of elbow_joint"
    ):
        checked(replace(RUN, current=RUN.current[:, order]))


def test_all_columns_in_another_order_are_refused():
    order = [1, 0, 2, 3, 4, 5]
    with pytest.raises(arm.ArmatureError, match="another order"):
        checked(replace(RUN, q=RUN.q[:, order], current=RUN.current[:, order]))


@pytest.mark.parametrize("joint", range(6))
def test_a_reversed_current_is_refused_with_its_joint(joint):
    current = RUN.current.copy()
    current[:, joint] *= -1
    with pytest.raises(arm.ArmatureError, match=TRUTH.robot.joint_names[joint]):
        checked(replace(RUN, current=current))


def test_friction_alone_refuses_nothing_where_gravity_has_the_right_sign():
    """A short or poor motion may seem to have friction that gives power."""
    truth = Truth(TRUTH.robot)
    truth.viscous = truth.viscous * np.array([1, -1, 1, 1, 1, 1])
    run = truth.recording(10, duration=20.0)
    assert "shoulder_lift_joint" in agreement(truth.described(), [run], truth.gains, 8.0)


@pytest.mark.parametrize("joint", [1, 2])
def test_a_joint_whose_direction_is_not_the_descriptions_is_refused(joint):
    q, current = RUN.q.copy(), RUN.current.copy()
    q[:, joint] *= -1
    current[:, joint] *= -1
    with pytest.raises(arm.ArmatureError, match=r"direction|another order"):
        checked(replace(RUN, q=q, current=current))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: np.degrees(v), "degrees"),
        (lambda v: -v, "sign opposite"),
        (lambda v: v[:, [1, 0, 2, 3, 4, 5]], "are those of joint"),
    ],
)
def test_speeds_that_are_not_derivatives_of_positions_are_refused(change, words):
    with pytest.raises(arm.ArmatureError, match=words):
        checked(Recording(RUN.t, RUN.q, change(SPEEDS), current=RUN.current))
