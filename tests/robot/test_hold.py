"""Held joints: the robot with welded joints moves as the whole robot does when those joints stand
still."""

import numpy as np
import pytest

import armature as arm
from armature.errors import ArgumentError
from armature.robot.hold import with_held


def test_a_held_joint_acts_as_one_that_stands_still():
    robot = arm.library("six_axis")
    held = with_held(robot, {"elbow": 0.7, "wrist_2": -0.3})
    assert held.joint_names == ("pan", "lift", "wrist_1", "wrist_3")
    rng, free = np.random.default_rng(3), [0, 1, 3, 5]
    q, v, a = (np.zeros((5, 6)) for _ in range(3))
    for x in (q, v, a):
        x[:, free] = rng.normal(size=(5, 4))
    q[:, 2], q[:, 4] = 0.7, -0.3
    whole = arm.inverse_dynamics(robot, q, v, a)[:, free]
    assert np.allclose(
        arm.inverse_dynamics(held, q[:, free], v[:, free], a[:, free]), whole, rtol=0, atol=1e-9
    )
    assert np.allclose(
        arm.pose(held, q[:, free], "tool").p, arm.pose(robot, q, "tool").p, atol=1e-12
    )


def test_drives_of_held_joints_go_and_patterns_find_joints():
    held = with_held(arm.library("six_axis"), ["wrist_*"])
    assert held.joint_names == ("pan", "lift", "elbow") and len(held.drives) == 3
    assert with_held(arm.library("six_axis"), "wrist_*").joint_names == held.joint_names


def test_a_sliding_joint_is_held_inside_its_range():
    held = with_held(arm.library("burgevin"), ["r"])  # its range is 0.16 … 0.91 m
    q = np.array([0.3, 0.8])
    whole = arm.pose(arm.library("burgevin"), np.array([0.3, 0.8, 0.16]), "slider")
    assert np.allclose(arm.pose(held, q, "slider").p, whole.p)


def test_a_mimic_is_held_with_its_master(tmp_path):
    (tmp_path / "hand.yaml").write_text(
        "links:\n  - {joint: arm, kind: revolute, axis: y, mass: 1, com: [0.1, 0, 0], name:"
        " forearm}\n  - {joint: left, kind: prismatic, axis: y, mass: 0.1, name: l}\n  - {joint:"
        " right, kind: prismatic, axis: -y, mass: 0.1, name: r, parent: forearm, mimic: {joint:"
        " left, offset: 0.01}}\n"
    )
    held = with_held(arm.load(tmp_path / "hand.yaml"), {"left": 0.02})
    assert held.joint_names == ("arm",)
    assert arm.pose(held, np.zeros(1), "r").p[1] == pytest.approx(-0.03)


@pytest.mark.parametrize("name", ["elbo", "x_*"])
def test_unknown_joints_are_refused_with_names(name):
    with pytest.raises(ArgumentError, match=r"pan|elbow"):
        with_held(arm.library("six_axis"), [name])
