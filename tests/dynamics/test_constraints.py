"""Constraints: their terms, reactions (2.19) and accelerations, against the complex step, bordered
systems and mechanisms known in full."""

from __future__ import annotations

import numpy as np
import pytest

from armature.dynamics import compiled
from armature.dynamics.holonomic import constraints as made
from armature.dynamics.holonomic.constrained import constrained_dynamics, constraint_terms
from armature.dynamics.recursion import recursive
from armature.dynamics.recursion.mass import mass_matrix
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.library import library
from armature.robot.load import with_floating_base
from armature.robot.model import Joint, Link, Robot
from armature.spatial.numbers import cos, sin
from random_robots import assert_near, q_rate, random_q

ARM = library("six_axis")
TIP = ARM.tips[0]


def circle(t):
    return np.array([0.3 + 0.1 * cos(2.0 * t), 0.1 * sin(2.0 * t), 0.5 + 0.0 * t])


def turning(t):
    c, s = cos(t), sin(t)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), circle(t)


def sampled_circle(t):
    t = np.asarray(t, dtype=float)
    c, s, one = np.cos(2 * t), np.sin(2 * t), np.ones_like(t)
    p = np.stack([0.3 + 0.1 * c, 0.1 * s, 0.5 * one], axis=-1)
    return (
        p,
        np.stack([-0.2 * s, 0.2 * c, 0 * one], axis=-1),
        np.stack([-0.4 * c, -0.4 * s, 0 * one], axis=-1),
    )


CONSTRAINTS = {
    "formula": made.constraint(
        lambda q, t: [q[0] * q[1] - np.sin(q[2]) * t, q[3] + q[4] ** 2 - t * t]
    ),
    "point": made.follow_point(TIP, circle, (0.0, 0.0, 0.1)),
    "pose": made.follow_pose(TIP, turning),
    "orientation": made.keep_orientation(TIP, np.eye(3)),
    "surface": made.on_surface(TIP, lambda p: p[0] ** 2 + p[1] ** 2 + p[2] ** 2 - 0.4),
    "line": made.on_line(TIP, (0.2, 0.1, 0.3), (1.0, 2.0, 0.5)),
    "coupling": made.couple_joints({ARM.joint_names[0]: 1.0, ARM.joint_names[3]: -2.5}, 0.3),
    "several": made.together(
        made.on_surface(ARM.link_names[4], lambda p: p[0]),
        made.follow_point(TIP, sampled_circle, sampled=True),
    ),
}


def equations(c: made.Constraint, robot: Robot, q, t):
    """f on plain (complex) numbers, the reference by its series about the real time."""
    r, dr, ddr = c.reference(np.real(t))
    h = t - np.real(t)
    return c.equations(robot, q, r + h * dr + 0.5 * h * h * ddr)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_terms_equal_the_complex_step(name):
    c, rng = CONSTRAINTS[name], np.random.default_rng(0)
    q, v, t, h = rng.normal(size=6), rng.normal(size=6), 0.7, 1e-30
    terms = constraint_terms(ARM, c, q, v, t)
    assert_near(terms.f, np.real(equations(c, ARM, q, t)))
    assert_near(
        terms.jacobian,
        np.stack([np.imag(equations(c, ARM, q + 1j * h * e, t)) / h for e in np.eye(6)], axis=-1),
    )
    assert_near(terms.rate, np.imag(equations(c, ARM, q + 1j * h * v, t + 1j * h)) / h)
    e = 1e-5  # Γ̇q̇ + (∂f/∂t)˙: ḟ differenced along the motion without acceleration
    rates = [constraint_terms(ARM, c, q + s * e * v, v, t + s * e).rate for s in (-2, -1, 1, 2)]
    assert_near(
        terms.curvature, (rates[0] - 8 * rates[1] + 8 * rates[2] - rates[3]) / (12 * e), 1e-8
    )


def test_terms_of_a_floating_robot_are_in_its_tangent_space():
    robot = with_floating_base(library("planar2"))
    c = made.follow_point(robot.tips[0], circle)
    rng, h = np.random.default_rng(1), 1e-30
    q, v = random_q(robot, rng), rng.normal(size=robot.nv)
    terms = constraint_terms(robot, c, q, v, 0.3)
    columns = [
        np.imag(equations(c, robot, q + 1j * h * q_rate(robot, q, e), 0.3)) / h
        for e in np.eye(robot.nv)
    ]
    assert_near(terms.jacobian, np.stack(columns, axis=-1))
    assert_near(
        terms.rate, np.imag(equations(c, robot, q + 1j * h * q_rate(robot, q, v), 0.3 + 1j * h)) / h
    )


@pytest.mark.parametrize("name", ["formula", "point", "several"])
def test_reactions_solve_the_bordered_system(name):
    c, rng = CONSTRAINTS[name], np.random.default_rng(2)
    q, v, tau, t = (
        rng.normal(size=(4, 6)),
        rng.normal(size=(4, 6)),
        rng.normal(size=(4, 6)),
        np.linspace(0, 1, 4),
    )
    found = constrained_dynamics(ARM, q, v, tau, c, t)
    terms = constraint_terms(ARM, c, q, v, t)
    for k in range(4):
        G, m = terms.jacobian[k], terms.jacobian.shape[1]
        M, b = mass_matrix(ARM.tree, q[k]), recursive.bias_forces(ARM.tree, q[k], v[k])
        K = np.block([[M, -G.T], [G, np.zeros((m, m))]])
        x = np.linalg.solve(K, np.concatenate([tau[k] - b, -terms.curvature[k]]))
        assert_near(found.a[k], x[:6], 1e-9)
        assert_near(found.N[k], x[6:], 1e-9)
    assert (
        np.all(found.rank == m)
        and np.max(found.residual) < 1e-9
        and found.note == "the reactions are unique"
    )


def test_redundant_constraints_give_the_same_motion_and_are_told():
    rng = np.random.default_rng(3)
    q, v, tau = rng.normal(size=(3, 6))
    once = CONSTRAINTS["surface"]
    twice = made.together(once, once)
    single, double = (
        constrained_dynamics(ARM, q, v, tau, once),
        constrained_dynamics(ARM, q, v, tau, twice),
    )
    assert_near(double.a, single.a, 1e-10)
    assert_near(double.N, np.repeat(single.N / 2, 2), 1e-9)
    assert double.rank == 1 and "rank 1 of 2" in double.note


def test_contradicting_constraints_leave_a_residual():
    q, v, tau = np.random.default_rng(4).normal(size=(3, 6))
    found = constrained_dynamics(ARM, q, v, tau, [lambda q, t: [q[0]], lambda q, t: [q[0] - t * t]])
    assert found.residual > 0.5


def test_pendulum_on_a_rail_equals_a_pendulum():
    # a point mass free in a plane, held on a circle about the origin: q̈ and the rod's force are
    # known
    links = (Link("base"), Link("car"), Link("bob", 2.0))
    joints = (
        Joint("x", "prismatic", "base", "car", axis=(1, 0, 0)),
        Joint("z", "prismatic", "car", "bob", axis=(0, 0, 1)),
    )
    robot = Robot("bead", links, joints, "base")
    angle, speed, length = 0.6, 1.3, 0.8
    radial, along = (
        np.array([np.sin(angle), -np.cos(angle)]),
        np.array([np.cos(angle), np.sin(angle)]),
    )
    rod = made.constraint(lambda q, t: [0.5 * (q[0] ** 2 + q[1] ** 2 - length**2)])
    found = constrained_dynamics(robot, length * radial, length * speed * along, np.zeros(2), rod)
    assert_near(found.a, -9.81 * np.sin(angle) * along - length * speed**2 * radial, 1e-12)
    assert_near(found.N * length, [-2.0 * (9.81 * np.cos(angle) + length * speed**2)], 1e-12)


def test_loop_closure_equals_the_mimic_mechanism():
    # a parallelogram as two cranks and a coupler that meets the second crank; the same with mimic
    # joints
    joint = lambda name, parent, child, x, **more: Joint(
        name, "revolute", parent, child, (x, 0.0, 0.0), axis=(0, 1, 0), **more
    )
    rod = lambda name, m: Link(name, m, (0.0, 0.0, 0.5), (m / 12, m / 12, 0.0, 0.0, 0.0, 0.0))
    links = (Link("base"), rod("left", 1.0), Link("bar", 2.0, (0.5, 0.0, 0.0)), rod("right", 3.0))
    top = Joint("top", "revolute", "left", "bar", (0.0, 0.0, 1.0), axis=(0, 1, 0))
    robot = Robot(
        "four-bar",
        links,
        (joint("a", "base", "left", 0.0), top, joint("b", "base", "right", 1.0)),
        "base",
    )
    meet = made.points_meet(
        "bar", (1.0, 0.0, 0.0), "right", (0.0, 0.0, 1.0), along=[[1, 0, 0], [0, 0, 1]]
    )
    angle, speed = 0.5, 1.1
    names = list(robot.joint_names)
    sign = np.array([{"a": 1.0, "top": -1.0, "b": 1.0}[n] for n in names])
    found = constrained_dynamics(robot, sign * angle, sign * speed, np.zeros(3), meet)
    # one degree of freedom: inertia ⅓(1 + 3) + 2 with bar mass at the top, gravity on ½(1 + 3) + 2
    exact = 9.81 * (2.0 + 2.0) * np.sin(angle) / (4.0 / 3.0 + 2.0)
    assert_near(found.a, sign * exact, 1e-12)


def test_joints_can_follow_a_trajectory():
    t = np.linspace(0.0, 1.0, 11)
    motion = Trajectory(
        t, np.outer(t**2, np.ones(6)), np.outer(2 * t, np.ones(6)), 2 * np.ones((11, 6))
    )
    q, v, tau = np.random.default_rng(5).normal(size=(3, 6))
    assert_near(
        constrained_dynamics(ARM, q, v, tau, made.joint_motion(motion), 0.35).a,
        2 * np.ones(6),
        1e-9,
    )
    formula = made.joint_motion(lambda t: [t * t] * 6)
    terms, same = (
        constraint_terms(ARM, c, q, v, 0.35) for c in (formula, made.joint_motion(motion))
    )
    for ours, theirs in zip(terms, same):
        assert_near(ours, theirs, 1e-10)


def test_mistakes_are_named():
    state = np.zeros(6), np.zeros(6)
    with pytest.raises(ArgumentError, match="no link 'hand'"):
        constraint_terms(ARM, made.on_surface("hand", lambda p: p[0]), *state)
    with pytest.raises(ArgumentError, match="no joint"):
        constraint_terms(ARM, made.couple_joints({"elbow of the moon": 1.0}), *state)
    with pytest.raises(ArgumentError, match="list of them; got int"):
        constraint_terms(ARM, 3, *state)
    with pytest.raises(ArgumentError, match="r, ṙ and r̈"):
        constraint_terms(
            ARM, made.follow_point(TIP, lambda t: (np.zeros(2),) * 3, sampled=True), *state
        )
    assert compiled.mass_matrix(ARM, np.zeros(6)).shape == (6, 6)
