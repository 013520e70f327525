"""Stabilising control (3.1): the error obeys (3.5) exactly, in all three cases; singular states are
damped and told. The servo (K7)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from armature.dynamics import compiled
from armature.dynamics.holonomic import constraints as made
from armature.dynamics.holonomic.closed_loops import close_loops
from armature.dynamics.holonomic.constrained import constraint_terms
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.library import library
from armature.robot.loop import Loop
from armature.robot.model import Joint, Link, Robot
from armature.simulate.constraint_controller import ConstraintController, damped_inverse
from armature.simulate.run import simulate
from armature.simulate.servo import Servo
from armature.spatial.numbers import cos, sin
from random_robots import assert_near

ARM = library("six_axis").with_friction(
    {name: {"viscous": 0.0, "coulomb": 0.0} for name in library("six_axis").joint_names}
)
START = np.array([0.3, -0.9, 1.2, 0.4, 0.7, -0.2])
TIP = ARM.tips[0]


def circle_about(centre: np.ndarray):
    return lambda t: np.array(
        [centre[0] + 0.05 * (cos(3 * t) - 1), centre[1] + 0.05 * sin(3 * t), centre[2] + 0.0 * t]
    )


def tasks() -> dict:
    hand = compiled.pose(ARM, START, TIP).p
    follow = made.follow_point(TIP, circle_about(hand))
    joints = made.joint_motion(lambda t: [x + 0.2 * sin(t + k) for k, x in enumerate(START)])
    return {"m < n": follow, "m = n": joints}


@pytest.mark.parametrize("case", ["m < n", "m = n"])
def test_error_obeys_its_equation_exactly(case):
    task, rng = tasks()[case], np.random.default_rng(0)
    m = constraint_terms(ARM, task, START, np.zeros(6)).f.size
    gamma0 = np.diag(np.linspace(30.0, 60.0, m)) + 3.0 * np.eye(m, k=1)
    control = ConstraintController(ARM, task, gamma0, 11.0)
    run = simulate(
        ARM,
        control,
        START + 0.06 * rng.normal(size=6),
        0.2 * rng.normal(size=6),
        0.8,
        rtol=1e-10,
        atol=1e-12,
    )
    error = control.error(run.t, run.q, run.v)
    companion = np.block([[np.zeros((m, m)), np.eye(m)], [-gamma0, -11.0 * np.eye(m)]])
    start = np.concatenate([error.f[0], error.rate[0]])
    exact = np.array([expm(companion * t) @ start for t in run.t])
    assert_near(np.hstack([error.f, error.rate]), exact, 1e-8)
    assert (
        np.abs(error.f[0]).max() > 5e-3
        and np.abs(error.f[-1]).max() < 0.2 * np.abs(error.f[0]).max()
    )
    assert control.report.damped == 0 and "kept its rank" in str(control.report)


def test_more_equations_than_joints_are_met_in_the_least_squares_sense():
    # two wishes for the same joint: it settles between them
    robot = library("planar2").with_gravity((0.0, 0.0, 0.0))
    wishes = made.constraint(lambda q, t: [q[0] - 0.2, q[0] - 0.6, q[1] + 0.1])
    control = ConstraintController(robot, wishes, 25.0, 10.0)
    run = simulate(robot, control, [0.0, 0.3], None, 4.0)
    assert_near(run.q[-1], [0.4, -0.1], 1e-6)


def test_joint_motion_becomes_computed_torque():
    t = np.linspace(0.0, 1.0, 21)
    motion = Trajectory(
        t, np.outer(t**3, np.ones(6)), np.outer(3 * t**2, np.ones(6)), np.outer(6 * t, np.ones(6))
    )
    control = ConstraintController(ARM, made.joint_motion(motion), 100.0, 20.0)
    q, v = START, 0.1 * START
    sample = motion(0.43)
    exact = compiled.inverse_dynamics(
        ARM, q, v, sample.a + 20.0 * (sample.v - v) + 100.0 * (sample.q - q)
    )
    assert_near(control(0.43, q, v), exact, 1e-12)


def test_null_motion_moves_the_arm_and_not_the_hand():
    hand = compiled.pose(ARM, START, TIP).p
    rest = made.follow_point(TIP, lambda t: hand + 0.0 * t)
    push = lambda t, q, v: np.array([3.0, -2.0, 1.0, 4.0, -3.0, 2.0]) - 4.0 * v
    still, moved = (
        simulate(
            ARM,
            ConstraintController(ARM, rest, 100.0, 20.0, null_motion=null),
            START,
            None,
            0.5,
            rtol=1e-10,
            atol=1e-12,
        )
        for null in (0.0, push)
    )
    assert_near(still.q[-1], START, 1e-8)
    assert np.abs(moved.q[-1] - START).max() > 0.1
    assert_near(compiled.pose(ARM, moved.q, TIP).p, np.broadcast_to(hand, (len(moved.t), 3)), 1e-8)


def test_self_motions_die_out_by_default():
    hand = compiled.pose(ARM, START, TIP).p
    control = ConstraintController(
        ARM, made.follow_point(TIP, lambda t: hand + 0.0 * t), 100.0, 20.0
    )
    run = simulate(ARM, control, START, np.ones(6), 2.0)
    assert np.abs(run.v[-1]).max() < 1e-6


def test_singular_states_are_damped_and_told():
    # a hand asked to go beyond its reach: it stretches towards the point, stays bounded, and the
    # report says when
    robot = library("planar2").with_gravity((0.0, 0.0, 0.0))
    tip, here = robot.tips[0], compiled.pose(robot, [0.4, 0.9], robot.tips[0]).p
    plane = np.linalg.svd(
        compiled.jacobian(robot, [[0.4, 0.9], [0.1, 0.5]], tip)[:, :3]
        .transpose(1, 0, 2)
        .reshape(3, -1)
    )[0][:, :2]
    reach = np.linalg.norm(compiled.pose(robot, [0.0, 0.0], tip).p)
    away = 1.2 * reach * here / np.linalg.norm(here)
    task = made.constraint(
        lambda q, t: (
            plane.T @ (made._place(robot, q, tip, np.zeros(3))[1] - here - (away - here) * t)
        )
    )
    control = ConstraintController(robot, task, 100.0, 20.0)
    run = simulate(robot, control, [0.4, 0.9], None, 1.5, max_step=0.01)
    assert run.ok and np.abs(run.v).max() < 15.0 and np.abs(run.tau).max() < 500.0
    assert_near(np.linalg.norm(compiled.pose(robot, run.q[-1], tip).p), reach, 1e-6)
    assert control.report.damped > 0 and "near singular" in str(control.report)


def test_robot_with_a_loop_follows_with_its_motor_alone():
    # a four-bar whose crank alone is driven: the crank's error obeys (3.5), the passive joints get
    # no torque, the loop stays closed
    rod = lambda name, m, a: Link(
        name, m, (0.0, 0.0, a / 2), (m * a * a / 12, m * a * a / 12, 0.0, 0.0, 0.0, 0.0)
    )
    joint = lambda name, parent, child, at: Joint(
        name, "revolute", parent, child, at, axis=(0, 1, 0)
    )
    joints = (
        joint("a", "base", "crank", (0,) * 3),
        joint("b", "crank", "coupler", (0, 0, 0.4)),
        joint("c", "base", "rocker", (0.9, 0, 0)),
    )
    robot = Robot(
        "four-bar",
        (Link("base"), rod("crank", 1.0, 0.4), rod("coupler", 2.0, 1.0), rod("rocker", 1.5, 0.8)),
        joints,
        "base",
    )
    pin = Loop("pin", "revolute", "coupler", "rocker", (0, 0, 1.0), (0, 0, 0.8), axis=(0, 1, 0))
    robot = robot.with_loops([pin], passive=["b", "c"])
    task = made.constraint(lambda q, t: [q[0] - 0.3 - 0.4 * np.sin(2.0 * t)])
    control = ConstraintController(robot, task, 25.0, 10.0)
    start = close_loops(robot, np.array([0.35, 1.2, 0.2]))
    run = simulate(robot, control, start, None, 1.0)
    assert_near(run.tau[:, 1:], np.zeros((len(run.t), 2)), 1e-9)
    error = run.q[:, 0] - 0.3 - 0.4 * np.sin(2.0 * run.t)
    start_error, start_rate = error[0], -0.8
    exact = np.exp(-5.0 * run.t) * (start_error + (start_rate + 5.0 * start_error) * run.t)
    assert_near(error, exact, 1e-6)


def test_damped_inverse_is_the_inverse_away_from_singularity_and_bounded_near_it():
    G = np.random.default_rng(1).normal(size=(5, 3, 6))
    found = damped_inverse(G, 1e-3)
    assert_near(G @ found.matrix, np.broadcast_to(np.eye(3), (5, 3, 3)), 1e-12)
    assert_near(G @ found.free, np.zeros((5, 3, 6)), 1e-12)
    for size in (1e-2, 1e-4, 1e-12, 0.0):
        assert np.linalg.norm(damped_inverse(np.array([[size, 0.0]]), 1e-2).matrix, 2) <= 1e2


def test_mistakes_are_named():
    task = tasks()["m < n"]
    with pytest.raises(ArgumentError, match="does not fade"):
        ConstraintController(ARM, task, 100.0, -1.0)
    with pytest.raises(ArgumentError, match="one for each equation"):
        ConstraintController(ARM, task, np.ones(2), 1.0)
    with pytest.raises(ArgumentError, match="does not depend on the joints"):
        ConstraintController(ARM, lambda q, t: [t], 1.0, 1.0)
    with pytest.raises(ArgumentError, match="null_motion"):
        ConstraintController(ARM, task, 100.0, 20.0, null_motion=lambda t, q, v: np.zeros(2))(
            0.0, START, 0 * START
        )


# the servo ---------------------------------------------------------------------------------------


def plan(robot, goal: np.ndarray, duration: float = 1.0) -> Trajectory:
    t = np.linspace(0.0, duration, 101)
    s = t / duration
    ramp, rate, bend = (
        10 * s**3 - 15 * s**4 + 6 * s**5,
        30 * s**2 - 60 * s**3 + 30 * s**4,
        60 * s - 180 * s**2 + 120 * s**3,
    )
    return Trajectory(
        t,
        np.outer(ramp, goal),
        np.outer(rate, goal) / duration,
        np.outer(bend, goal) / duration**2,
        robot.joint_names,
    )


def test_feed_forward_alone_runs_the_plan_on_the_model():
    robot = library("six_axis")
    motion = plan(robot, np.array([0.8, -0.5, 0.6, 0.3, -0.4, 0.9]))
    servo = Servo(robot, motion, 0.0, 0.0, limited=False)
    run = simulate(
        robot, servo, motion.q[0], motion.v[0], 1.0, rtol=1e-9, atol=1e-11, max_step=0.02
    )
    assert_near(run.q[-1], motion.q[-1], 1e-5)


def test_servo_holds_the_plan_on_a_heavier_robot():
    robot = library("six_axis")
    motion = plan(robot, np.array([0.8, -0.5, 0.6, 0.3, -0.4, 0.9]))
    heavy = robot.with_payload(1.0)
    errors = []
    for k in (200.0, 2000.0):
        servo = Servo(robot, motion, k, 0.1 * k, limited=False)
        run = simulate(heavy, servo, motion.q[0], None, 1.0, times=motion.t, rtol=1e-6, atol=1e-8)
        errors.append(np.abs(run.q - motion.q).max())
    assert errors[1] < 0.2 * errors[0] and errors[1] < 0.02


def test_servo_keeps_the_torque_limits():
    robot = library("six_axis").with_limits({name: {"torque": 5.0} for name in ARM.joint_names})
    servo = Servo(robot, plan(robot, np.ones(6)), 1e4, 10.0)
    assert np.abs(servo(0.5, np.zeros(6), np.zeros(6))).max() == 5.0
    with pytest.raises(ArgumentError, match="holds no torques"):
        Servo(robot, plan(robot, np.ones(6)), 1.0, 1.0, feed_forward="planned")
    with pytest.raises(ArgumentError, match="moves 6 joints"):
        Servo(library("planar2"), plan(robot, np.ones(6)), 1.0, 1.0)
