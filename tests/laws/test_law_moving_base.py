"""A prescribed motion of the base, and a floating base, against the same robot carried by
joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from scipy.spatial.transform import Rotation

from armature.dynamics.recursion import energy, kinematics, mass, recursive
from armature.robot.model import Joint, Link, Robot
from random_robots import Sample, assert_near, few, random_wrenches, rotation, sample, samples

EULER = tuple(
    zip(
        ("x", "y", "z", "roll", "pitch", "yaw"),
        2 * [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)],
    )
)


def on_floating_base(robot: Robot) -> Robot:
    """The robot's base carried by a floating joint."""
    carrier = Joint("carrier", "floating", "ground", robot.base)
    return Robot(
        "carried", (Link("ground"), *robot.links), (carrier, *robot.joints), "ground", robot.gravity
    )


def on_six_joints(robot: Robot) -> Robot:
    """A robot with a floating base, the floating joint replaced by three sliding and three turning
    ones."""
    free = next(j for j in robot.joints if j.kind == "floating")
    names = [free.parent, *(f"on {name}" for name, _ in EULER[:-1]), free.child]
    kinds = 3 * ["prismatic"] + 3 * ["continuous"]
    six = [
        Joint(name, kind, names[k], names[k + 1], axis=axis)
        for k, ((name, axis), kind) in enumerate(zip(EULER, kinds))
    ]
    six[0] = replace(six[0], position=free.position, rotation=free.rotation)
    joints = tuple(j for j in robot.joints if j is not free)
    return Robot(
        "six",
        (*robot.links, *(Link(name) for name in names[1:-1])),
        (*six, *joints),
        robot.base,
        robot.gravity,
    )


def random_base(rng: np.random.Generator) -> recursive.Base:
    return recursive.Base(np.array(rotation(rng)), *rng.normal(size=(3, 3)))


@few
@given(samples(floating=False))
def test_a_prescribed_base_motion_is_a_floating_base_forced_to_it(s: Sample):
    base, u, wrenches = random_base(s.rng), s.rng.normal(size=3), random_wrenches(s)
    carried = on_floating_base(s.robot).tree
    q = np.concatenate([s.rng.normal(size=3), Rotation.from_matrix(base.R).as_quat(), s.q])
    v = np.concatenate([u, base.w, s.v])
    a = np.concatenate(
        [base.a - np.cross(base.w, u), base.dw, s.a]
    )  # the origin's acceleration is u̇ + ω × u
    expected = recursive.inverse_dynamics(carried, q, v, a, wrenches)[6:]
    tau = recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, wrenches, base)
    assert_near(tau, expected, 1e-12, scale=100.0)
    M = mass.mass_matrix(s.tree, s.q)
    assert_near(
        recursive.forward_dynamics(s.tree, s.q, s.v, tau, wrenches, base),
        s.a,
        1e-13 * np.linalg.cond(M),
        scale=10.0,
    )


@few
@given(samples(floating=False))
def test_a_base_turned_at_a_constant_rate_is_a_base_on_a_driven_joint(s: Sample):
    """The turntable: a revolute joint about a world axis, forced to angle, rate and
    acceleration."""
    turntable = Joint("turntable", "revolute", "ground", s.robot.base, axis=(0.0, 0.6, 0.8))
    carried = Robot(
        "turned",
        (Link("ground"), *s.robot.links),
        (turntable, *s.robot.joints),
        "ground",
        s.robot.gravity,
    ).tree
    axis, angle, rate, faster = np.array([0.0, 0.6, 0.8]), *s.rng.normal(size=3)
    base = recursive.Base(
        Rotation.from_rotvec(angle * axis).as_matrix(), rate * axis, faster * axis, np.zeros(3)
    )
    expected = recursive.inverse_dynamics(
        carried, np.r_[angle, s.q], np.r_[rate, s.v], np.r_[faster, s.a]
    )[1:]
    assert_near(
        recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, base=base), expected, 1e-12, scale=100.0
    )


def free_state(s: Sample, six: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, velocities and accelerations of the floating robot that moves as the one on six
    joints, both on a fixed base."""
    free = next(j for j in s.robot.joints if j.kind == "floating")
    R, p = kinematics.link_pose(six.tree, six.q, free.child)
    velocity, acceleration = kinematics.point_motion(
        six.tree, six.q, six.v, six.a, free.child, np.zeros(3)
    )
    u, w = R.T @ velocity[:3], R.T @ velocity[3:]
    R0 = np.array(free.rotation)
    q = np.concatenate(
        [R0.T @ (p - np.array(free.position)), Rotation.from_matrix(R0.T @ R).as_quat(), six.q[6:]]
    )
    v = np.concatenate([u, w, six.v[6:]])
    return (
        q,
        v,
        np.concatenate(
            [R.T @ acceleration[:3] - np.cross(w, u), R.T @ acceleration[3:], six.a[6:]]
        ),
    )


@few
@given(samples(floating=True, most=4))
def test_a_floating_base_is_six_single_joints(s: Sample):
    """Also while the ground under both moves in a prescribed way: torques agree through Jᵀ,
    accelerations by each other's inverse."""
    wrenches = random_wrenches(s, 2)
    six = sample(on_six_joints(s.robot), 5)
    q, v, a = free_state(s, six)
    child = next(j for j in s.robot.joints if j.kind == "floating").child
    for base in (recursive.FIXED, random_base(s.rng)):
        tau = recursive.inverse_dynamics(s.tree, q, v, a, wrenches, base)
        single = recursive.inverse_dynamics(six.tree, six.q, six.v, six.a, wrenches, base)
        R = kinematics.link_pose(s.tree, q, child).R
        J = kinematics.jacobian(six.tree, six.q, child, np.zeros(3))[:, :6]
        assert_near(single[6:], tau[6:], 1e-11, scale=100.0)
        assert_near(
            single[:6], J.T @ np.concatenate([R @ tau[:3], R @ tau[3:6]]), 1e-11, scale=100.0
        )
        M = mass.mass_matrix(s.tree, q)
        assert_near(
            recursive.forward_dynamics(s.tree, q, v, tau, wrenches, base),
            a,
            1e-13 * np.linalg.cond(M),
            scale=10.0,
        )


@few
@given(samples(floating=True, most=4))
def test_energy_and_momentum_of_a_floating_base_are_those_of_six_single_joints(s: Sample):
    six = sample(on_six_joints(s.robot), 6)
    q, v, _ = free_state(s, six)
    assert_near(
        energy.kinetic_energy(s.tree, q, v), energy.kinetic_energy(six.tree, six.q, six.v), 1e-12
    )
    assert_near(energy.potential_energy(s.tree, q), energy.potential_energy(six.tree, six.q), 1e-12)
    assert_near(energy.momentum(s.tree, q, v), energy.momentum(six.tree, six.q, six.v), 1e-12)


def test_a_body_at_rest_on_a_turning_base_feels_the_centrifugal_force():
    slide = Joint("slide", "prismatic", "base", "bob", axis=(1.0, 0.0, 0.0))
    arm = Robot("arm", (Link("base"), Link("bob", 2.0)), (slide,), "base", (0.0, 0.0, 0.0))
    base = recursive.Base(np.eye(3), np.array([0.0, 0.0, 3.0]), np.zeros(3), np.zeros(3))
    q, zero = np.array([0.7]), np.zeros(1)
    assert_near(
        recursive.inverse_dynamics(arm.tree, q, zero, zero, base=base), [-2.0 * 9.0 * 0.7], 1e-15
    )
    assert_near(recursive.forward_dynamics(arm.tree, q, zero, zero, base=base), [9.0 * 0.7], 1e-15)


def test_the_length_of_a_quaternion_does_not_matter():
    """A floating base turned by a quaternion twice as long is the same base."""
    from armature.dynamics.compiled import forward_dynamics, inverse_dynamics

    robot = Robot(
        "body",
        (Link("world"), Link("body", 2.0, (0.1, 0.2, 0.3), (0.3, 0.2, 0.25, 0.01, 0.02, 0.03))),
        (Joint("root", "floating", "world", "body"),),
        "world",
    )
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=7), rng.normal(size=6), rng.normal(size=6)
    longer = np.concatenate([q[:3], 2.5 * q[3:]])
    tau = inverse_dynamics(robot, q, v, a)
    assert np.allclose(inverse_dynamics(robot, longer, v, a), tau, rtol=1e-13, atol=1e-13)
    assert np.allclose(forward_dynamics(robot, longer, v, tau), a, rtol=1e-11, atol=1e-11)
