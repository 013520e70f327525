"""A payload is data: one set of kernels serves all payloads of a link, and gives what kernels with
constants give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_dynamics_compiled import ROBOTS, batch

import armature as arm
from armature.dynamics import kernels
from carried import merged

FIRST, SECOND = (1.0, (0.0, 0.0, 0.1)), (2.5, (0.1, -0.05, 0.2))


def close(got: tuple, expected: tuple) -> None:
    """All numbers agree to 1e-12 of the largest."""
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(
            a, b, rtol=0, atol=1e-12 * max(1.0, float(np.max(np.abs(b), initial=0.0)))
        )


def everything(robot: arm.Robot) -> dict[str, tuple]:
    """What is computed from a robot's masses, at a few states."""
    rng = np.random.default_rng(1)
    q, v, a = (rng.uniform(-1.0, 1.0, (5, robot.n)) for _ in range(3))
    tip, linear = robot.tip, arm.linearize(robot, q, v, a)
    tied = arm.dynamics.constrained_dynamics(robot, q[0], v[0], a[0], lambda q, t: [q[0] - q[1]])
    beams = [
        arm.dynamics.Beam(joint.child, (0.0, 0.0, 0.0), (0.4, 0.1, 0.2))
        for joint in robot.joints
        if joint.kind != "fixed"
    ]
    sections = [
        arm.section_loads(robot, q, v, a, beam.link, along=[0.2, 0.8], beam=beam).wrench
        for beam in beams
    ]
    found = {
        "inverse": (
            arm.inverse_dynamics(robot, q, v, a),
            arm.inverse_dynamics(robot, q, v, a, {tip: np.ones(6)}),
        ),
        "forward": tuple(
            arm.forward_dynamics(robot, q, v, a, method=m)
            for m in ("recursive", "gauss", "gibbs-appell")
        ),
        "base": (
            arm.inverse_dynamics(
                robot, q, v, a, base=arm.dynamics.BaseMotion(angular_velocity=np.ones(3))
            ),
        ),
        "matrices": (arm.mass_matrix(robot, q), arm.bias_forces(robot, q, v)),
        "Coriolis": (arm.dynamics.coriolis_matrix(robot, q, v), arm.coriolis_tensor(robot, q)),
        "energies": (
            arm.dynamics.kinetic_energy(robot, q, v),
            arm.dynamics.potential_energy(robot, q),
        ),
        "derivatives": (
            *arm.inverse_dynamics_derivatives(robot, q, v, a),
            *arm.forward_dynamics_derivatives(robot, q, v, a),
        ),
        "closed forms": (
            arm.dynamics.inverse_dynamics_hessian(robot, q, v, a, v),
            arm.dynamics.inertia_derivatives(robot, q, 2),
        ),
        "linear": (linear.A, linear.B),
        "constrained": (tied.a, tied.N),
        "loads": (arm.dynamics.joint_reactions(robot, q, v, a).wrench, *sections),
        "kinematics": (
            *arm.pose(robot, q, tip),
            arm.jacobian(robot, q, tip),
            arm.kinematics(robot, q, v, a, tip).acceleration,
        ),
    }
    run = arm.simulate(robot, None, q[0], v[0], duration=0.02)
    return found | {"simulation": (run.q, run.v)}


def test_every_function_takes_another_payload_without_compiling(compiles):
    robot = arm.library("planar2")
    everything(robot.with_payload(*FIRST))
    known = len(compiles)
    other = robot.with_payload(*SECOND)
    found = everything(other)
    assert known > 10 and len(compiles) == known
    for name, expected in everything(merged(other)).items():
        close(found[name], expected)


@pytest.mark.parametrize("name", ROBOTS)
def test_trees_with_payloads_on_two_bodies_move_as_those_with_constants(name, compiles):
    robot = ROBOTS[name]
    q, v, a = batch(robot)
    arm.forward_dynamics(robot.with_payload(1.0, link="e").with_payload(0.0, link="weld"), q, v, a)
    other = robot.with_payload(0.3, (0.2, 0.1, 0.0), "e").with_payload(
        2.0, (0.0, 0.3, -0.1), "weld"
    )
    assert len(kernels.carriers(other)) == 2
    got = arm.forward_dynamics(other, q, v, a)
    assert len(compiles) == 1
    expected = arm.forward_dynamics(merged(other), q, v, a)
    assert len(compiles) == 2
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10 * np.max(np.abs(expected)))


def test_what_carries_shares_the_kernels_of_places_with_what_does_not(compiles):
    robot = arm.library("planar2")
    arm.pose(robot, np.zeros(2), robot.tip)
    loaded, heavier = robot.with_payload(3.0), merged(robot.with_payload(1.0))
    for other in (loaded, heavier):
        np.testing.assert_array_equal(
            arm.pose(other, np.ones(2), robot.tip).p, arm.pose(robot, np.ones(2), robot.tip).p
        )
    assert len(compiles) == 1


def test_fingerprint_knows_where_is_carried_but_not_what():
    robot = arm.library("six_axis")
    marks = [
        robot,
        robot.with_payload(0.0),
        robot.with_payload(0.0, link=robot.links[3].name),
        merged(robot.with_payload(1.0)),
    ]
    prints = [kernels.fingerprint(x) for x in marks]
    assert len(set(prints)) == 4
    assert kernels.fingerprint(robot.with_payload(4.0, (0.1, 0.2, 0.3))) == prints[1]
    assert kernels.fingerprint(robot.with_payload(1.0).with_payload(2.0)) == prints[1]
    assert len({kernels.fingerprint(x, masses=False) for x in marks}) == 1


def test_payload_at_the_world_changes_nothing_and_is_refused():
    robot = arm.library("planar2")
    with pytest.raises(arm.errors.ArgumentError, match="no joint moves the link 'base'"):
        robot.with_payload(5.0, link=robot.base)
    base = replace(
        robot.link(robot.base), mass=5.0, payload=(5.0, (0.0, 0.0, 0.0))
    )  # as a file could mark it
    held = replace(
        robot, links=tuple(base if link.name == robot.base else link for link in robot.links)
    )
    assert kernels.carriers(held) == () and kernels.fingerprint(held) == kernels.fingerprint(robot)
