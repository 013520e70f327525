"""The smallest margin at the knots is the one that the certificate's margins tell there, whatever limit it belongs to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import worst_margin
from armature.optimize.planner.room import Room
from armature.robot.library import library
from armature.robot.model import Robot


def moving(robot: Robot, scale: float, seed: int) -> Trajectory:
    """A motion from rest to rest, knots without a pattern."""
    t = np.sort(np.random.default_rng(seed).uniform(0.0, 1.0, 24)).clip(1e-3)
    t = np.unique(np.concatenate([[0.0], t, [1.0]]))
    way = scale * np.random.default_rng(seed + 1).uniform(-1.0, 1.0, robot.nv)
    s = t[:, None]
    return Trajectory(t, way * s**2 * (3 - 2 * s), way * 6 * s * (1 - s), way * (6 - 12 * s), robot.joint_names, interpolation="linear")


def limited(robot: Robot, **limits: float) -> Robot:
    joints = tuple(replace(j, limits=replace(j.limits, **limits)) if j.name in robot.joint_names else j for j in robot.joints)
    return replace(robot, joints=joints)


@pytest.mark.parametrize("scale", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("limits", [{}, {"jerk": 40.0}, {"torque_rate": 300.0}, {"acceleration": 5.0}, {"velocity": 0.6}, {"torque": 20.0}])
def test_the_room_at_knots_is_the_smallest_of_all_margins_there(scale: float, limits: dict[str, float]):
    robot = limited(library("six_axis"), **limits)
    motion = moving(robot, scale, 7)
    worst = worst_margin(robot, motion, 1)
    assert worst is not None
    assert Room(robot)(motion) == pytest.approx(worst.fraction, rel=1e-6, abs=1e-7)


def test_without_limits_all_is_room():
    robot = library("planar2")
    free = limited(replace(robot, drives=()), lower=-np.inf, upper=np.inf, velocity=np.inf, acceleration=np.inf, torque=np.inf)
    assert Room(free)(moving(free, 1.0, 3)) == 1.0
