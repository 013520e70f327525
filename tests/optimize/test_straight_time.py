"""Least time along a path with limits of joints alone: exact trapezoids, TOPP-RA on a fine grid,
limits between knots."""

from dataclasses import replace

import numpy as np
import pytest
import toppra as ta

import armature as arm
from armature.optimize.certificate.certify import worst_margin
from armature.optimize.path.straight_time import is_straight
from armature.robot.bounds import bounds


def plain(name: str) -> arm.Robot:
    """A library robot with limits of velocity, acceleration and torque, and nothing else."""
    robot = replace(arm.library(name), drives=())
    robot = robot.with_friction(
        {joint: {"viscous": 0.0, "coulomb": 0.0} for joint in robot.joint_names}
    )
    return robot.with_limits(
        {joint: {"jerk": np.inf, "torque_rate": np.inf} for joint in robot.joint_names}
    )


def toppra_time(robot, path, grid=2000):
    ta.setup_logging("ERROR")
    b, p, scheme = (
        bounds(robot),
        np.linspace(0.0, 1.0, grid + 1),
        ta.constraint.DiscretizationType.Interpolation,
    )
    both = lambda x: np.column_stack([-x, x])
    inverse = lambda q, v, a: arm.inverse_dynamics(robot, q, v, a)
    limits = [
        ta.constraint.JointVelocityConstraint(both(b.velocity)),
        ta.constraint.JointAccelerationConstraint(
            both(b.acceleration), discretization_scheme=scheme
        ),
        ta.constraint.JointTorqueConstraint(
            inverse, both(b.torque), np.zeros(robot.n), discretization_scheme=scheme
        ),
    ]
    theirs = ta.SplineInterpolator(path.breaks, path(path.breaks).q, bc_type="not-a-knot")
    s = ta.algorithm.TOPPRA(
        limits, theirs, gridpoints=p, solver_wrapper="seidel"
    ).compute_parameterization(0, 0)[1]
    return float(np.sum(2 * np.diff(p) / (s[1:] + s[:-1])))


@pytest.mark.parametrize("name", ["six_axis", "scara", "seven_axis"])
def test_the_default_is_within_a_thousandth_of_toppra_on_a_fine_grid_and_keeps_limits_between_knots(
    name,
):
    robot = plain(name)
    low, high = (np.clip(x, -2.0, 2.0) for x in (bounds(robot).lower, bounds(robot).upper))
    for seed in (11, 12):
        path = arm.joint_path(
            np.random.default_rng(seed).uniform(
                0.8 * low + 0.2 * high, 0.2 * low + 0.8 * high, (5, robot.n)
            )
        )
        found = arm.minimize_time(robot, arm.FollowPath(path))
        assert found.ok and worst_margin(robot, found.trajectory).fraction >= -1e-9
        assert -2e-3 < found.duration / toppra_time(robot, path) - 1.0 < 1e-3


def test_the_motion_stays_on_its_path_and_ends_at_rest():
    robot = plain("scara")
    path = arm.joint_path([[0.0, 0.5, 0.1, 0.0], [0.6, 0.9, 0.05, 0.5], [1.2, 0.2, 0.1, 1.0]])
    motion = arm.minimize_time(robot, arm.FollowPath(path)).trajectory
    np.testing.assert_allclose(motion.q[[0, -1]], path(np.array([0.0, 1.0])).q, atol=1e-12)
    np.testing.assert_allclose(motion.v[[0, -1]], 0.0, atol=1e-9)
    places = path(np.linspace(0.0, 1.0, 20001)).q
    for q in motion(np.linspace(0.0, motion.duration, 23)).q:
        assert np.linalg.norm(places - q, axis=1).min() < 1e-4


def test_a_current_limit_is_as_straight_as_a_torque_limit_and_a_voltage_is_not_ignored():
    """One joint, no friction: I k = 5 N·m on 0.02 kg·m² over 20 rad; with 12 V the voltage counts,
    and the interior solver takes over."""
    joint = arm.Joint("j", "continuous", "base", "wheel", axis=(0, 0, 1))
    robot = arm.Robot(
        "wheel",
        (arm.Link("base"), arm.Link("wheel", 1.0, (0, 0, 0), (0.02, 0.02, 0.02, 0, 0, 0))),
        (joint,),
        "base",
    )
    motor = arm.Motor(resistance=1.0, torque_constant=0.5, peak_current=10.0)
    task = arm.FollowPath(arm.joint_path([[0.0], [20.0]]))
    strong = robot.with_drives({"j": arm.Drive(motor, arm.Gear(1.0), arm.Amplifier(1e4))})
    assert is_straight(strong)
    assert arm.minimize_time(strong, task).duration == pytest.approx(
        2 * np.sqrt(20.0 * 0.02 / 5.0), rel=1e-3
    )
    weak = arm.minimize_time(
        robot.with_drives({"j": arm.Drive(motor, arm.Gear(1.0), arm.Amplifier(12.0))}), task
    )
    assert (
        weak.ok
        and weak.certificate.ok
        and weak.certificate.margins["j"]["voltage"].fraction == pytest.approx(0.0, abs=1e-3)
    )
    assert weak.duration > 1.2 * 2 * np.sqrt(20.0 * 0.02 / 5.0)


def test_viscous_friction_and_rates_are_left_to_the_interior_solver():
    robot = plain("scara")
    name = robot.joint_names[0]
    assert is_straight(robot) and is_straight(robot.with_friction({name: {"coulomb": 1.0}}))
    assert not is_straight(robot.with_friction({name: {"viscous": 1.0}}))
    assert not is_straight(robot.with_limits({name: {"jerk": 100.0}}))
