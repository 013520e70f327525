"""Poses from the robot's own data; Jacobians and accelerations as derivatives of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.transform import Rotation

from armature.dynamics.recursion import kinematics
from armature.robot.model import Joint, Link, Robot
from random_robots import Sample, along, assert_near, few, samples


def joint_transform(joint, s) -> np.ndarray:
    """4 × 4: the child link's frame in the parent link's, coordinates s (as many as the joint
    has)."""
    fixed, moving = np.eye(4), np.eye(4)
    fixed[:3, :3], fixed[:3, 3] = joint.rotation, joint.position
    axis = np.array(joint.axis)
    if joint.kind in ("revolute", "continuous"):
        moving[:3, :3] = Rotation.from_rotvec(axis * s[0]).as_matrix()
    elif joint.kind == "prismatic":
        moving[:3, 3] = axis * s[0]
    elif joint.kind == "floating":
        moving[:3, 3], moving[:3, :3] = s[:3], Rotation.from_quat(s[3:]).as_matrix()
    return fixed @ moving


def poses_by_hand(s: Sample) -> dict[str, np.ndarray]:
    """Every link's pose, 4 × 4, by multiplying joint transforms along the file's own joints (robots
    without planar joints)."""
    names = list(s.robot.joint_names)
    first = dict(
        zip(
            names, np.cumsum([0] + [7 if s.robot.joint(n).kind == "floating" else 1 for n in names])
        )
    )

    def coordinates(joint) -> np.ndarray:
        if joint.mimic is not None:
            return (
                joint.mimic.multiplier * coordinates(s.robot.joint(joint.mimic.joint))
                + joint.mimic.offset
            )
        size = {"fixed": 0, "floating": 7}.get(joint.kind, 1)
        return s.q[first[joint.name] : first[joint.name] + size] if size else np.zeros(0)

    found = {s.robot.base: np.eye(4)}
    for joint in s.robot.joints:
        found[joint.child] = found[joint.parent] @ joint_transform(joint, coordinates(joint))
    return found


@few
@given(samples(kinds=("revolute", "continuous", "prismatic", "fixed")))
def test_poses_are_products_of_the_joints_own_transforms(s: Sample):
    for link, T in poses_by_hand(s).items():
        R, p = kinematics.link_pose(s.tree, s.q, link)
        assert_near(R, T[:3, :3], 1e-14)
        assert_near(p, T[:3, 3], 1e-14)


@few
@given(samples())
def test_jacobian_is_the_derivative_of_the_pose(s: Sample):
    for link in s.robot.link_names:
        at = s.rng.normal(size=3)
        J = kinematics.jacobian(s.tree, s.q, link, at)
        R = kinematics.link_pose(s.tree, s.q, link).R
        point = lambda q, link=link, at=at: (
            kinematics.link_pose(s.tree, q, link).p + kinematics.link_pose(s.tree, q, link).R @ at
        )
        turn = lambda q, link=link: kinematics.link_pose(s.tree, q, link).R
        spin = along(s.robot, turn, s.q, s.v) @ R.T
        assert_near(J[:3] @ s.v, along(s.robot, point, s.q, s.v), 1e-13)
        assert_near(J[3:] @ s.v, [spin[2, 1], spin[0, 2], spin[1, 0]], 1e-13)


@few
@given(samples())
def test_acceleration_of_a_point_is_J_a_plus_Jdot_v(s: Sample):
    for link in s.robot.link_names:
        at = s.rng.normal(size=3)
        J = lambda q, link=link, at=at: kinematics.jacobian(s.tree, q, link, at)
        velocity, acceleration = kinematics.point_motion(s.tree, s.q, s.v, s.a, link, at)
        assert_near(velocity, J(s.q) @ s.v, 1e-13)
        assert_near(acceleration, J(s.q) @ s.a + along(s.robot, J, s.q, s.v) @ s.v, 1e-12)


@pytest.mark.parametrize("off", [0.0, 1e-17, 1e-12, 4.4e-8, 1e-4])
def test_an_axis_almost_along_a_coordinate_axis_is_taken_as_it_is(off: float):
    """cos 4.4e-8 rounds to 1 − 1e-15: the axis must not be snapped by its largest entry alone."""
    axis = np.array([0.0, -1.0, -off])
    joint = Joint("j", "revolute", "base", "arm", axis=tuple(axis))
    robot = Robot("almost", (Link("base"), Link("arm", 1.0, (0.1, 0.2, 0.3))), (joint,), "base")
    expected = Rotation.from_rotvec(2.0 * np.array(joint.axis)).as_matrix()
    assert_near(kinematics.link_pose(robot.tree, np.array([2.0]), "arm").R, expected, 4e-15)
