"""Momentum: the sum over the links, kept by a robot that floats freely, changed by gravity and by
what acts from outside."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from armature.dynamics.recursion import energy, kinematics, recursive
from random_robots import Sample, along, assert_near, few, random_wrenches, sample, samples


@few
@given(samples(rotors=("none", "plain")))
def test_momentum_is_the_sum_over_the_links(s: Sample):
    linear, angular = np.zeros(3), np.zeros(3)
    for name in s.moving_links:
        link = s.robot.link(name)
        xx, yy, zz, xy, xz, yz = link.inertia
        R, p = kinematics.link_pose(s.tree, s.q, name)
        velocity, _ = kinematics.point_motion(s.tree, s.q, s.v, s.a, name, np.array(link.com))
        own = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T @ velocity[3:]
        linear = linear + link.mass * velocity[:3]
        angular = angular + own + link.mass * np.cross(p + R @ np.array(link.com), velocity[:3])
    assert_near(energy.momentum(s.tree, s.q, s.v), [*linear, *angular], 1e-13)


@few
@given(samples(floating=True))
def test_a_free_floating_robot_keeps_its_momentum(s: Sample):
    """Whatever its drives do; no gravity, nothing from outside; spinning rotors carry their share
    of the angular momentum."""
    s = sample(s.robot.with_gravity((0.0, 0.0, 0.0)), int(s.rng.integers(1 << 30)))
    tau = np.concatenate([np.zeros(6), 10.0 * s.rng.normal(size=s.robot.nv - 6)])
    a = recursive.forward_dynamics(s.tree, s.q, s.v, tau)
    change = along(s.robot, lambda q, v: energy.momentum(s.tree, q, v), s.q, s.v, a)
    assert_near(change, np.zeros(6), 1e-12, scale=float(np.abs(a).max()) * s.robot.mass * 10.0)


@few
@given(samples(floating=True))
def test_momentum_changes_by_gravity_and_by_what_acts_from_outside(s: Sample):
    wrenches = random_wrenches(s)
    tau = np.concatenate([np.zeros(6), s.rng.normal(size=s.robot.nv - 6)])
    a = recursive.forward_dynamics(s.tree, s.q, s.v, tau, wrenches)
    force, torque = np.zeros(3), np.zeros(3)
    for name in s.moving_links:
        R, p = kinematics.link_pose(s.tree, s.q, name)
        weight = s.robot.link(name).mass * s.tree.gravity
        force, torque = (
            force + weight,
            torque + np.cross(p + R @ np.array(s.robot.link(name).com), weight),
        )
        if name in wrenches:
            force = force + wrenches[name][:3]
            torque = torque + wrenches[name][3:] + np.cross(p, wrenches[name][:3])
    change = along(s.robot, lambda q, v: energy.momentum(s.tree, q, v), s.q, s.v, a)
    assert_near(
        change, [*force, *torque], 1e-12, scale=float(np.abs(a).max()) * s.robot.mass * 10.0
    )
