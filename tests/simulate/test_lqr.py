"""Time-varying linear-quadratic control: the algebraic Riccati equation at rest, and fewer costs
than other gains along a motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

from armature.dynamics import compiled
from armature.dynamics.holonomic.linear import linearize
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.library import library
from armature.simulate.lqr import lqr
from armature.simulate.run import simulate
from armature.simulate.servo import Servo
from random_robots import assert_near

ROBOT = library("planar2").with_friction(
    {name: {"viscous": 0.0, "coulomb": 0.0} for name in library("planar2").joint_names}
)
Q, R = np.diag([100.0, 100.0, 1.0, 1.0]), 0.1 * np.eye(2)


def hold(q: np.ndarray, duration: float) -> Trajectory:
    t = np.linspace(0.0, duration, 3)
    return Trajectory(t, np.tile(q, (3, 1)), np.zeros((3, 2)), np.zeros((3, 2)))


def test_gains_of_a_long_rest_are_those_of_the_algebraic_riccati_equation():
    q = np.array([0.4, 0.9])
    servo = lqr(ROBOT, hold(q, 5.0), Q, R, steps=500)
    linear = linearize(ROBOT, q, np.zeros(2), compiled.bias_forces(ROBOT, q, np.zeros(2)))
    exact = np.linalg.solve(R, linear.B.T @ solve_continuous_are(linear.A, linear.B, Q, R))
    assert_near(np.hstack([servo.stiffness(0.0), servo.damping(0.0)]), exact, 1e-6)


def test_gains_cost_less_than_others_along_a_motion():
    t = np.linspace(0.0, 1.0, 101)
    s, rate, bend = 3 * t**2 - 2 * t**3, 6 * t - 6 * t**2, 6 - 12 * t
    goal = np.array([1.5, -1.0])
    plan = Trajectory(t, np.outer(s, goal), np.outer(rate, goal), np.outer(bend, goal))
    best = lqr(ROBOT, plan, Q, R, steps=200)
    offset = np.array([0.02, -0.03])

    def cost(servo: Servo) -> float:
        run = simulate(ROBOT, servo, plan.q[0] + offset, plan.v[0], 1.0, times=t)
        x = np.hstack([run.q - plan.q, run.v - plan.v])
        u = np.array([servo(k, a, b) - servo.planned(k) for k, a, b in zip(t, run.q, run.v)])
        running = np.einsum("ki,ij,kj->k", x, Q, x) + np.einsum("ki,ij,kj->k", u, R, u)
        return float(np.trapezoid(running, t) + x[-1] @ Q @ x[-1])

    least = cost(best)
    for factor in (0.8, 1.25):
        scaled = Servo(
            ROBOT,
            plan,
            lambda now, f=factor: f * best.stiffness(now),
            lambda now, f=factor: f * best.damping(now),
        )
        assert least < cost(scaled)


def test_weights_are_checked():
    plan = hold(np.zeros(2), 1.0)
    with pytest.raises(ArgumentError, match="torque_weight must be positive"):
        lqr(ROBOT, plan, 1.0, 0.0)
    with pytest.raises(ArgumentError, match="state_weight"):
        lqr(ROBOT, plan, np.ones(3), 1.0)
