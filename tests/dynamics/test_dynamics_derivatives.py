"""First derivatives of the dynamics against the complex step of the plain functions, in the tangent
space of a floating base too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_dynamics_compiled import ROBOTS, batch

from armature.dynamics import compiled
from armature.dynamics.recursion import kinematics, mass, recursive
from armature.robot.load import with_floating_base
from armature.robot.model import Robot
from random_robots import along, assert_near, random_joint, random_link, random_q, random_rotor

H = 1e-30


def long_robot(floating: bool, bodies: int = 45) -> Robot:
    """A tree with more bodies than are unrolled, so that the loop over the links computes it; its
    base floats, or it has planar joints."""
    rng = np.random.default_rng(11)
    links, joints = [random_link("l0", "solid", rng)], []
    for i in range(1, bodies + 1):
        kind = (
            "revolute",
            "continuous",
            "revolute" if floating or i % 8 == 2 else "planar",
            "prismatic",
        )[i % 4]
        joint = random_joint(
            f"j{i}",
            kind,
            ("slanted", "-x", "+y", "-z")[i % 4],
            f"l{max(0, i - 1 - i % 3)}",
            f"l{i}",
            rng,
        )
        links.append(random_link(f"l{i}", "solid", rng))
        rotor = {5: "gyroscopic", 10: "plain"}.get(i, "none")
        joints.append(replace(joint, rotor=random_rotor(rotor, rng)))
    robot = Robot("long", tuple(links), tuple(joints), "l0", (1.0, -2.0, -9.0))
    return with_floating_base(robot) if floating else robot


def complex_step(robot: Robot, function, q, v, x) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """∂/∂q (in the tangent space), ∂/∂v and ∂/∂x of function(tree, q, v, x)."""
    tree, unit = robot.tree, np.eye(robot.nv)
    dq = [along(robot, lambda moved: function(tree, moved, v, x), q, e) for e in unit]
    dv = [np.imag(function(tree, q, v + 1j * H * e, x)) / H for e in unit]
    dx = [np.imag(function(tree, q, v, x + 1j * H * e)) / H for e in unit]
    return np.transpose(dq), np.transpose(dv), np.transpose(dx)


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_inverse_dynamics_are_the_complex_step(name: str):
    robot = ROBOTS[name]
    q, v, a = batch(robot, 3)
    found = compiled.inverse_dynamics_derivatives(robot, q, v, a)
    for k in range(len(q)):
        for actual, expected in zip(
            found, complex_step(robot, recursive.inverse_dynamics, q[k], v[k], a[k])
        ):
            assert_near(actual[k], expected, 1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_forward_dynamics_are_the_complex_step(name: str):
    robot = ROBOTS[name]
    q, v, tau = batch(robot, 3)
    found = compiled.forward_dynamics_derivatives(robot, q, v, tau)
    for k in range(len(q)):
        cond = np.linalg.cond(mass.mass_matrix(robot.tree, q[k]))
        for actual, expected in zip(
            found, complex_step(robot, recursive.forward_dynamics, q[k], v[k], tau[k])
        ):
            assert_near(actual[k], expected, 1e-14 * cond)


def test_the_derivative_by_torque_is_the_inverse_mass_matrix():
    robot = ROBOTS["mimic"]
    q, v, tau = batch(robot)
    M = compiled.mass_matrix(robot, q)
    found = compiled.forward_dynamics_derivatives(robot, q, v, tau).dtau
    assert_near(
        found @ M, np.broadcast_to(np.eye(robot.n), M.shape), 1e-14 * np.linalg.cond(M).max()
    )
    assert_near(found, np.swapaxes(found, -1, -2), 1e-14 * np.linalg.cond(M).max())


@pytest.mark.parametrize("floating", [True, False])
def test_the_loop_over_links_gives_the_same_dynamics_and_derivatives(floating: bool):
    """Above the number of bodies that are unrolled, public functions run the loop: dynamics and
    derivatives as by the plain functions."""
    robot, rng = long_robot(floating), np.random.default_rng(2)
    tree = robot.tree
    q, v, a = random_q(robot, rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    wrenches = {"l7": rng.normal(size=6), "l45": rng.normal(size=6), robot.base: rng.normal(size=6)}
    tau = recursive.inverse_dynamics(tree, q, v, a, wrenches)
    M = mass.mass_matrix(tree, q)
    cond = np.linalg.cond(M)
    assert_near(compiled.inverse_dynamics(robot, q, v, a, wrenches), tau, 1e-12)
    assert_near(compiled.forward_dynamics(robot, q, v, tau, wrenches), a, 1e-14 * cond, scale=10.0)
    several = compiled.inverse_dynamics(
        robot, np.tile(q, (2, 3, 1)), v, np.stack([a, a, 2.0 * a]), wrenches
    )
    assert_near(several, np.tile([tau, tau, tau + M @ a], (2, 1, 1)), 1e-12)
    assert_near(compiled.mass_matrix(robot, q), M, 1e-12)
    assert_near(compiled.bias_forces(robot, q, v), recursive.bias_forces(tree, q, v), 1e-12)
    assert_near(compiled.pose(robot, q, "l45").p, kinematics.link_pose(tree, q, "l45").p, 1e-13)
    dq, dv, _ = complex_step(robot, recursive.inverse_dynamics, q, v, a)
    for actual, expected in zip(compiled.inverse_dynamics_derivatives(robot, q, v, a), (dq, dv, M)):
        assert_near(actual, expected, 1e-11)
    forward = compiled.forward_dynamics_derivatives(
        robot, q, v, recursive.inverse_dynamics(tree, q, v, a)
    )
    for actual, expected in zip(
        forward, (-np.linalg.solve(M, dq), -np.linalg.solve(M, dv), np.linalg.inv(M))
    ):
        assert_near(actual, expected, 1e-13 * cond)
