"""Loads in sections, joint reactions, drive effort and accuracy: beams known by hand, cut robots,
Pinocchio's forces, Monte Carlo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from armature.drive.friction import Friction
from armature.dynamics import compiled
from armature.dynamics.forces.beam import Beam
from armature.dynamics.forces.loads import (
    drive_effort,
    joint_reactions,
    section_loads,
    worst_section_loads,
)
from armature.dynamics.positioning.accuracy import JointErrors, hand_accuracy
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.library import library
from armature.robot.load import load
from armature.robot.model import Joint, Link, Robot, Rotor
from random_robots import assert_near

UR5 = (
    Path(pin.__file__).parents[4]
    / "share"
    / "example-robot-data"
    / "robots"
    / "ur_description/urdf/ur5_robot.urdf"
)
SECTIONS = np.linspace(0.0, 1.0, 6)


def swinging_rod(payload: float = 0.0) -> Robot:
    """A uniform rod of 3 kg and 2 m along x that turns about the vertical, with a point mass at its
    end."""
    rod = Link("rod", 3.0, (1.0, 0.0, 0.0), (0.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    links = (Link("base"), rod, Link("tool", payload))
    joints = (
        Joint("turn", "continuous", "base", "rod"),
        Joint("weld", "fixed", "rod", "tool", (2.0, 0.0, 0.0)),
    )
    return Robot("rod", links, joints, "base")


def test_cantilever_carries_its_weight():
    # shear w(L − x) and moment w(L − x)²/2 upwards about −y, and the payload's m g, m g (L − x)
    x, g, m = 2.0 * (1.0 - SECTIONS), 9.81, 0.7
    found = section_loads(swinging_rod(m), np.zeros(1), None, None, "rod", along=SECTIONS)
    assert_near(found.wrench[:, 2], 1.5 * g * x + m * g)
    assert_near(found.wrench[:, 4], -1.5 * g * x**2 / 2 - m * g * x)
    assert_near(found.bending, 1.5 * g * x**2 / 2 + m * g * x)
    assert_near(found.torsion, np.zeros(6))


def test_spinning_rod_carries_its_centrifugal_force():
    # tension ∫ ρ ω² r dr = ρ ω²(L² − r²)/2; angular acceleration α bends by ∫ ρ α r (r − x) dr
    w, alpha, r, m = 5.0, 7.0, 2.0 * SECTIONS, 0.7
    found = section_loads(
        swinging_rod(m).with_gravity((0, 0, 0)), [0.3], [w], [alpha], "rod", along=SECTIONS
    )
    assert_near(found.axial, -(1.5 * w**2 * (4.0 - r**2) / 2 + m * w**2 * 2.0))
    assert_near(found.wrench[:, 1], 1.5 * alpha * (4.0 - r**2) / 2 + m * alpha * 2.0)
    assert_near(
        found.wrench[:, 5],
        1.5 * alpha * ((8.0 - r**3) / 3 - r * (4.0 - r**2) / 2) + m * alpha * 2.0 * (2.0 - r),
    )


def test_last_section_carries_only_what_hangs_there():
    found = section_loads(swinging_rod(0.7), np.zeros(1), None, None, "rod", at=[2.0, 0.0, 0.0])
    assert_near(found.wrench, [0.0, 0.0, 0.7 * 9.81, 0.0, 0.0, 0.0])
    assert_near(
        section_loads(swinging_rod(), np.zeros(1), None, None, "rod", along=1.0).wrench, np.zeros(6)
    )


def test_given_masses_count_where_they_are():
    robot = swinging_rod()
    lumps = Beam(
        "rod", (0, 0, 0), (2.0, 0, 0), [[0.5, 0, 0, 1.0], [1.0, 0, 0, 1.0], [1.5, 0, 0, 1.0]]
    )
    found = section_loads(robot, [0.0], None, None, "rod", along=[0.0, 0.3, 0.6, 0.9], beam=lumps)
    assert_near(found.wrench[:, 2], 9.81 * np.array([3.0, 2.0, 1.0, 0.0]))
    # the centre of mass is where the link says, also when the lumps say otherwise
    moved = Beam("rod", (0, 0, 0), (2.0, 0, 0), [[0.5, 0.1, 0, 3.0]])
    assert_near(section_loads(robot, [0.0], None, None, "rod", beam=moved).wrench[4], -3.0 * 9.81)
    with pytest.raises(ArgumentError, match="add up to 1 kg; the link has 3 kg"):
        section_loads(
            robot,
            [0.0],
            None,
            None,
            "rod",
            beam=Beam("rod", (0, 0, 0), (2, 0, 0), [[0, 0, 0, 1.0]]),
        )


def cut(robot: Robot, link: str, s: float) -> tuple[Robot, int]:
    """The robot with a uniform link cut at s and held together by three sliding and three turning
    joints; the first one's number."""
    beam_end = next(np.array(j.position) for j in robot.joints if j.parent == link)
    whole = robot.link(link)
    u, length, point = (
        beam_end / np.linalg.norm(beam_end),
        np.linalg.norm(beam_end),
        tuple(s * beam_end),
    )
    across = np.eye(3) - np.outer(u, u)
    six = lambda J: (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    rod = lambda m, a: six(m * a**2 / 12 * across)
    near_part = Link(link, s * whole.mass, tuple(s / 2 * beam_end), rod(s * whole.mass, s * length))
    far_part = Link(
        "far",
        (1 - s) * whole.mass,
        tuple((1 - s) / 2 * beam_end),
        rod((1 - s) * whole.mass, (1 - s) * length),
    )
    axes = [("prismatic", e) for e in np.eye(3)] + [("revolute", e) for e in np.eye(3)]
    names = [link, *(f"cut{k}" for k in range(5)), "far"]
    probes = [
        Joint(
            f"probe{k}", kind, names[k], names[k + 1], point if k == 0 else (0, 0, 0), axis=tuple(e)
        )
        for k, (kind, e) in enumerate(axes)
    ]
    moved = lambda j: (
        replace(j, parent="far", position=tuple(np.array(j.position) - point))
        if j.parent == link
        else j
    )
    links = [near_part if x.name == link else x for x in robot.links] + [
        *(Link(n) for n in names[1:-1]),
        far_part,
    ]
    new = Robot(
        "cut", tuple(links), (*probes, *(moved(j) for j in robot.joints)), robot.base, robot.gravity
    )
    return new, new.joint_names.index("probe0")


def uniform_arm() -> Robot:
    """Four uniform links, one of them sliding, with geared rotors and a tool."""
    ends = [(0.1, 0.0, 0.4), (0.7, 0.0, 0.1), (0.5, 0.2, 0.0), (0.3, 0.0, 0.0)]

    def rod(name: str, m: float, end: tuple) -> Link:
        e = np.array(end)
        J = m / 12 * (e @ e * np.eye(3) - np.outer(e, e))
        return Link(name, m, tuple(e / 2), (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))

    links = [
        Link("base"),
        *(rod(f"l{k}", 1.0 + k, e) for k, e in enumerate(ends)),
        Link("tool", 0.8, (0.05, 0.02, 0.0)),
    ]
    kinds = [
        ("revolute", (0, 0, 1)),
        ("revolute", (0, 1, 0)),
        ("prismatic", (1, 0, 0)),
        ("revolute", (0.6, 0.8, 0)),
    ]
    rotors = [None, Rotor(1e-3, 50.0, (0.0, 1.0, 0.0)), None, Rotor(1e-3, -30.0, (1.0, 0.0, 0.0))]
    joints = [
        Joint(
            f"j{k}",
            kind,
            "base" if k == 0 else f"l{k - 1}",
            f"l{k}",
            (0, 0, 0) if k == 0 else ends[k - 1],
            axis=axis,
            rotor=rotors[k],
        )
        for k, (kind, axis) in enumerate(kinds)
    ]
    return Robot(
        "arm", tuple(links), (*joints, Joint("weld", "fixed", "l3", "tool", ends[3])), "base"
    )


@pytest.mark.parametrize("link", ["l0", "l1", "l2", "l3"])
def test_section_carries_what_joints_in_its_place_would_feel(link):
    robot = uniform_arm()
    q, v, a = np.random.default_rng(0).normal(size=(3, robot.n))
    push = {"tool": np.array([3.0, -2.0, 5.0, 0.4, 0.1, -0.2])}
    found = section_loads(robot, q, v, a, link, along=[0.25, 0.7], wrenches=push)
    for k, s in enumerate((0.25, 0.7)):
        probed, first = cut(robot, link, s)
        full = [np.zeros(probed.n) for _ in range(3)]
        for x, y in zip(full, (q, v, a)):
            for name in robot.joint_names:
                x[probed.joint_names.index(name)] = y[robot.joint_names.index(name)]
        tau = compiled.inverse_dynamics(probed, *full, wrenches=push)
        assert_near(found.wrench[k], tau[first : first + 6], 1e-10)


def test_reactions_at_the_origin_are_the_joint_reactions():
    robot = uniform_arm()
    q, v, a = np.random.default_rng(1).normal(size=(3, 5, robot.n))
    reactions, tau = joint_reactions(robot, q, v, a), compiled.inverse_dynamics(robot, q, v, a)
    assert reactions.joints == ("j0", "j1", "j2", "j3")
    for k in range(4):
        assert_near(reactions.of(f"j{k}"), section_loads(robot, q, v, a, f"l{k}").wrench, 1e-10)
    assert_near(reactions.of("j0")[:, 5], tau[:, 0], 1e-10)
    assert_near(reactions.of("j2")[:, 0], tau[:, 2], 1e-10)


def test_joint_reactions_equal_pinocchio_forces():
    robot, model = load(UR5), pin.buildModelFromUrdf(str(UR5))
    data = model.createData()
    q, v, a = np.random.default_rng(2).normal(size=(3, 6))
    pin.rnea(model, data, q, v, a)
    found = joint_reactions(robot, q, v, a)
    for name in robot.joint_names:
        assert_near(found.of(name), data.f[model.getJointId(name)].vector, 1e-11)


def swing(robot: Robot) -> Trajectory:
    t = np.linspace(0.0, 1.0, 51)
    phase, rate = np.arange(robot.n), 2 * np.pi
    return Trajectory(
        t,
        np.sin(rate * t[:, None] + phase),
        rate * np.cos(rate * t[:, None] + phase),
        -(rate**2) * np.sin(rate * t[:, None] + phase),
    )


def test_worst_loads_bound_all_loads_of_the_motion():
    robot = uniform_arm()
    motion = swing(robot)
    worst = worst_section_loads(robot, motion, "l1")
    loads = section_loads(robot, motion.q, motion.v, motion.a, "l1", along=np.linspace(0, 1, 21))
    for name, found in worst.items():
        assert abs(found.value) == pytest.approx(np.abs(getattr(loads, name)).max())
        k, s = int(np.argmin(np.abs(motion.t - found.time))), round(20 * found.along)
        assert getattr(loads, name)[k, s] == pytest.approx(found.value)


def test_effort_is_the_torque_with_friction():
    robot = library("burgevin").with_friction(
        {name: Friction(viscous=3.0, coulomb=0.0) for name in ("phi", "theta", "r")}
    )
    motion = swing(robot)
    effort = drive_effort(robot, motion)
    assert_near(
        effort.tau, compiled.inverse_dynamics(robot, motion.q, motion.v, motion.a) + 3.0 * motion.v
    )
    assert_near(effort.peak, np.abs(effort.tau).max(axis=0))
    assert_near(effort.work, np.trapezoid(effort.tau * motion.v, motion.t, axis=0))
    assert np.all(effort.rms < effort.peak) and np.all(effort.peak_power > 0)


def test_mistakes_are_named():
    robot = uniform_arm()
    with pytest.raises(ArgumentError, match="from 0 to 1"):
        section_loads(robot, np.zeros(4), None, None, "l1", along=1.5)
    with pytest.raises(ArgumentError, match="not both"):
        section_loads(robot, np.zeros(4), None, None, "l1", at=np.zeros(3), along=0.5)
    with pytest.raises(ArgumentError, match=r"\(3,\), or several"):
        section_loads(robot, np.zeros(4), None, None, "l1", at=np.zeros(2))
    with pytest.raises(ArgumentError, match="no link"):
        section_loads(robot, np.zeros(4), None, None, "forearm")
    with pytest.raises(ArgumentError, match="no extent"):
        section_loads(swinging_rod(), np.zeros(1), None, None, "tool")


# accuracy ----------------------------------------------------------------------------------------


def test_scatter_of_the_hand_equals_monte_carlo():
    robot = library("six_axis")
    q, rng, count = np.array([0.3, -0.9, 1.2, 0.4, 0.7, -0.2]), np.random.default_rng(3), 200_000
    names = robot.joint_names
    errors = JointErrors(
        resolution=2e-4, backlash={names[1]: 5e-4}, servo=np.linspace(1e-4, 3e-4, 6)
    )
    found = hand_accuracy(robot, q, robot.tips[0], errors)
    play = np.zeros(6)
    play[1] = 5e-4
    even = lambda width: width * (rng.random((count, 6)) - 0.5)
    off = even(2e-4) + even(play) + np.linspace(1e-4, 3e-4, 6) * rng.normal(size=(count, 6))
    p = compiled.pose(robot, q + off, robot.tips[0]).p - compiled.pose(robot, q, robot.tips[0]).p
    assert_near(found.covariance[:3, :3] * 1e8, np.cov(p.T) * 1e8, 0.02)
    axes, directions = found.ellipsoid(0.95)
    inside = np.sum((p @ directions / axes) ** 2, axis=1) < 1.0
    assert np.mean(inside) == pytest.approx(0.95, abs=0.005)
    assert found.radius == pytest.approx(np.sqrt(np.mean(np.sum(p**2, axis=1))), rel=0.01)


def test_box_is_reached_by_the_worst_corner_and_never_passed():
    robot = library("scara")
    q = np.full(robot.n, 0.3)
    errors = JointErrors(resolution=1e-5, backlash=2e-5)
    found = hand_accuracy(robot, q, robot.tips[0], errors)
    corners = np.array(np.meshgrid(*[[-1.5e-5, 1.5e-5]] * robot.n)).reshape(robot.n, -1).T
    p = (
        compiled.pose(robot, q + corners, robot.tips[0]).p
        - compiled.pose(robot, q, robot.tips[0]).p
    )
    assert_near(np.abs(p).max(axis=0) * 1e5, found.box[:3] * 1e5, 1e-4)


def test_elastic_joints_sag_under_the_weight():
    # a rod held level by a joint of stiffness k sags by its length times m g L/2 / k
    rod = Link("rod", 3.0, (1.0, 0.0, 0.0), (0.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    joints = (Joint("lift", "revolute", "base", "rod", axis=(0, 1, 0)),)
    robot = Robot("rod", (Link("base"), rod), joints, "base")
    found = hand_accuracy(robot, np.zeros(1), "rod", JointErrors(stiffness=1e5), at=(2.0, 0.0, 0.0))
    assert_near(found.shift[:3], [0.0, 0.0, -2.0 * 3.0 * 9.81 / 1e5], 1e-12)
    assert_near(found.covariance, np.zeros((6, 6)))


def test_wrong_errors_are_named():
    robot = library("planar2")
    for wrong, words in (
        ({"servo": -1.0}, "servo"),
        ({"stiffness": 0.0}, "positive"),
        ({"backlash": {"wrist": 1.0}}, "wrist"),
    ):
        with pytest.raises(ArgumentError, match=words):
            hand_accuracy(robot, np.zeros(2), robot.tips[0], JointErrors(**wrong))
