"""Linearised equations: derivatives, neighbouring motions (open, floating, closed loops with
springs), reactions, and published modes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from armature.drive.friction import Friction
from armature.dynamics import compiled
from armature.dynamics.bodies.elements import Spring, TorsionSpring
from armature.dynamics.holonomic import constraints as made
from armature.dynamics.holonomic.constrained import constrained_dynamics, constraint_terms
from armature.dynamics.holonomic.linear import linearize
from armature.errors import ArgumentError
from armature.robot.library import library
from armature.robot.load import with_floating_base
from armature.robot.loop import Loop
from armature.robot.model import Joint, Link, Robot
from armature.simulate.run import simulate
from random_robots import assert_near, random_q

ARM = library("six_axis")


def rk4(A, x: np.ndarray, steps: int) -> np.ndarray:
    """x(1) of ẋ = A(t) x; A has 2·steps + 1 rows over the time 0 … T, already multiplied by T."""
    h = 1.0 / steps
    for k in range(steps):
        a, b, c = A[2 * k], A[2 * k + 1], A[2 * k + 2]
        k1 = a @ x
        k2 = b @ (x + h / 2 * k1)
        k3 = b @ (x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + c @ (x + h * k3))
    return x


def test_open_chain_has_the_derivatives_of_forward_dynamics():
    q, v, tau = np.random.default_rng(0).normal(size=(3, 4, 6))
    found, exact = linearize(ARM, q, v, tau), compiled.forward_dynamics_derivatives(ARM, q, v, tau)
    assert_near(found.A[:, 6:], np.concatenate([exact.dq, exact.dv], axis=-1), 1e-11)
    assert_near(found.A[:, :6], np.broadcast_to(np.eye(12)[6:], (4, 6, 12)))
    assert_near(found.B[:, 6:], exact.dtau, 1e-11)
    assert found.dN.shape == (4, 0, 18)


def test_neighbouring_motion_of_an_open_chain_with_springs_and_friction():
    # three joints, one spring across two links, viscous friction: simulate from two neighbouring
    # states
    robot = library("burgevin").with_friction(
        {name: Friction(viscous=5.0) for name in ("phi", "theta", "r")}
    )
    spring = Spring("ground", robot.tips[0], (0.5, 0.2, 1.0), (0.0, 0.0, 0.0), 400.0, 0.3, 20.0)
    q0, v0, tau, T = (
        np.array([0.2, 0.9, 1.6]),
        np.array([0.5, -0.4, 0.3]),
        np.array([10.0, 20.0, 400.0]),
        0.3,
    )
    times = np.linspace(0.0, T, 101)
    run = lambda q, v: simulate(
        robot, tau, q, v, T, times=times, elements=[spring], rtol=1e-12, atol=1e-13
    )
    nominal = run(q0, v0)
    A = linearize(robot, nominal.q, nominal.v, tau, elements=[spring], friction=True).A
    for direction in np.random.default_rng(1).normal(size=(2, 6)):
        e = 1e-5
        ends = [run(q0 + s * e * direction[:3], v0 + s * e * direction[3:]) for s in (1, -1)]
        difference = np.concatenate([(ends[0].q - ends[1].q)[-1], (ends[0].v - ends[1].v)[-1]]) / (
            2 * e
        )
        assert_near(rk4(A * T, direction, 50), difference, 1e-6)


def test_neighbouring_motion_of_a_floating_robot():
    scara = library("scara")
    robot = with_floating_base(
        scara.with_friction({name: Friction() for name in scara.joint_names})
    )
    rng, T, e = np.random.default_rng(2), 0.2, 1e-5
    q0, v0, times = random_q(robot, rng), rng.normal(size=robot.nv), np.linspace(0.0, T, 81)
    free = next(b for b in robot.tree.bodies if b.kind == "free")
    run = lambda q, v: simulate(robot, None, q, v, T, times=times, rtol=1e-12, atol=1e-13)
    nominal = run(q0, v0)
    A = linearize(robot, nominal.q, nominal.v, np.zeros(robot.nv), friction=True).A
    n = robot.nv

    def moved(q, dx):
        """q moved along tangent directions: x + R ξ, R exp ξ."""
        new = q.copy()
        here, turn = (
            Rotation.from_quat(q[free.q + 3 : free.q + 7]),
            Rotation.from_rotvec(dx[free.v + 3 : free.v + 6]),
        )
        new[free.q : free.q + 3] += here.apply(dx[free.v : free.v + 3])
        new[free.q + 3 : free.q + 7] = (here * turn).as_quat()
        for b in robot.tree.bodies:
            if b.kind != "free":
                new[b.q] += dx[b.v]
        return new

    def difference(q, p):
        out = np.zeros(n)
        here = Rotation.from_quat(p[free.q + 3 : free.q + 7])
        out[free.v : free.v + 3] = here.inv().apply((q - p)[free.q : free.q + 3])
        out[free.v + 3 : free.v + 6] = (
            here.inv() * Rotation.from_quat(q[free.q + 3 : free.q + 7])
        ).as_rotvec()
        for b in robot.tree.bodies:
            if b.kind != "free":
                out[b.v] = q[b.q] - p[b.q]
        return out

    direction = rng.normal(size=2 * n)
    ends = [run(moved(q0, s * e * direction[:n]), v0 + s * e * direction[n:]) for s in (1, -1)]
    change = [
        np.concatenate([difference(x.q[-1], nominal.q[-1]), x.v[-1] - nominal.v[-1]]) for x in ends
    ]
    assert_near(rk4(A * T, direction, 40), (change[0] - change[1]) / (2 * e), 1e-6)


# closed loops ------------------------------------------------------------------------------------


def four_bar() -> tuple[Robot, made.Constraint, list]:
    """A crank, a coupler and a rocker of unequal lengths, with springs on two joints."""
    rod = lambda name, m, a: Link(
        name, m, (0.0, 0.0, a / 2), (m * a * a / 12, m * a * a / 12, 0.0, 0.0, 0.0, 0.0)
    )
    joint = lambda name, parent, child, at: Joint(
        name, "revolute", parent, child, at, axis=(0, 1, 0)
    )
    links = (
        Link("base"),
        rod("crank", 1.0, 0.4),
        rod("coupler", 2.0, 1.0),
        rod("rocker", 1.5, 0.8),
    )
    joints = (
        joint("a", "base", "crank", (0,) * 3),
        joint("b", "crank", "coupler", (0, 0, 0.4)),
        joint("c", "base", "rocker", (0.9, 0, 0)),
    )
    loop = made.points_meet(
        "coupler", (0, 0, 1.0), "rocker", (0, 0, 0.8), along=[[1, 0, 0], [0, 0, 1]]
    )
    return (
        Robot("four-bar", links, joints, "base"),
        loop,
        [TorsionSpring("a", 30.0, 0.2, 0.5), TorsionSpring("b", 5.0, 1.0)],
    )


def closed(robot: Robot, loop: made.Constraint, q: np.ndarray) -> np.ndarray:
    """The nearest closed configuration."""
    for _ in range(30):
        terms = constraint_terms(robot, loop, q, np.zeros(robot.nv))
        q = q - np.linalg.pinv(terms.jacobian) @ terms.f
    return q


def test_neighbouring_motion_of_a_closed_loop_with_springs():
    robot, loop, springs = four_bar()
    q0 = closed(robot, loop, np.array([0.3, 1.2, 0.2]))
    tangent = lambda q: np.linalg.svd(constraint_terms(robot, loop, q, np.zeros(3)).jacobian)[2][-1]
    T0, duration, e = tangent(q0), 0.2, 1e-5
    forces = lambda q, v: sum(
        np.asarray(s.joint_forces(robot.tree, 0.0, q, v), dtype=float) for s in springs
    )
    f = lambda t, x: np.concatenate(
        [x[3:], constrained_dynamics(robot, x[:3], x[3:], forces(x[:3], x[3:]), loop).a]
    )
    times = np.linspace(0.0, duration, 201)
    run = lambda q, v: (
        solve_ivp(
            f, (0, duration), np.concatenate([q, v]), "DOP853", times, rtol=1e-12, atol=1e-13
        ).y.T
    )
    nominal = run(q0, 2.0 * T0)
    q, v = nominal[:, :3], nominal[:, 3:]
    found = linearize(robot, q, v, np.zeros(3), loop, elements=springs)
    assert found.A.shape == (201, 2, 2)
    # the basis of one direction, its sign carried along; A does not depend on it
    difference = []
    for s in (1, -1):
        start = closed(robot, loop, q0 + s * e * 0.7 * T0)
        speed = (2.0 + s * e * -1.1) * tangent(start) * np.sign(tangent(start) @ T0)
        difference.append(run(start, speed)[-1])
    change = (difference[0] - difference[1]) / (2 * e)
    end = found.basis[-1][:, 0] * np.sign(found.basis[-1][:, 0] @ v[-1])
    assert np.all(np.linalg.norm(v, axis=1) > 0.1)
    assert_near(
        rk4(found.A * duration, np.array([0.7, -1.1]), 100),
        [end @ change[:3], end @ change[3:]],
        1e-6,
    )


def test_loops_of_the_robot_itself_are_its_constraints():
    robot, loop, springs = four_bar()
    own = robot.with_loops(
        [Loop("pin", "revolute", "coupler", "rocker", (0, 0, 1.0), (0, 0, 0.8), axis=(0, 1, 0))]
    )
    q = closed(robot, loop, np.array([0.3, 1.2, 0.2]))
    given, found = (
        linearize(robot, q, 0 * q, 0 * q, loop, elements=springs),
        linearize(own, q, 0 * q, 0 * q, elements=springs),
    )
    assert_near(found.eigenvalues.imag, given.eigenvalues.imag, 1e-8)
    assert_near(found.eigenvalues.real, given.eigenvalues.real, 1e-8)


def test_deviation_of_the_reactions():
    robot, loop, _ = four_bar()
    q = closed(robot, loop, np.array([0.3, 1.2, 0.2]))
    T = np.linalg.svd(constraint_terms(robot, loop, q, np.zeros(3)).jacobian)[2][-1]
    v, tau, e = 2.0 * T, np.array([1.0, -2.0, 3.0]), 1e-6
    found = linearize(robot, q, v, tau, loop)
    assert_near(found.N, constrained_dynamics(robot, q, v, tau, loop).N, 1e-10)
    T = found.basis[:, 0]

    def reactions(y1, y2, u):
        """N at a neighbouring admissible state, to first order in y."""
        p = closed(robot, loop, q + T * y1)
        G = constraint_terms(robot, loop, p, np.zeros(3)).jacobian
        w = v + T * y2
        w = w - np.linalg.pinv(G) @ (G @ w)
        return constrained_dynamics(robot, p, w, tau + u, loop).N

    steps = [(e, 0, np.zeros(3)), (0, e, np.zeros(3)), *((0, 0, e * d) for d in np.eye(3))]
    columns = [(reactions(*s) - reactions(*(-np.asarray(x) for x in s))) / (2 * e) for s in steps]
    assert_near(found.dN, np.stack(columns, axis=-1), 1e-6)


def test_redundant_constraints_change_nothing():
    robot, loop, springs = four_bar()
    q = closed(robot, loop, np.array([0.3, 1.2, 0.2]))
    once, twice = (
        linearize(robot, q, 0 * q, 0 * q, c, elements=springs)
        for c in (loop, made.together(loop, loop))
    )
    assert_near(
        np.sort_complex(twice.eigenvalues).imag, np.sort_complex(once.eigenvalues).imag, 1e-8
    )
    assert twice.dN.shape == (4, 5) and once.dN.shape == (2, 5)


def test_flyball_governor_has_its_published_eigenvalues():
    data = json.loads((Path(__file__).parents[1] / "data" / "multibody.json").read_text())["A05"]
    p, J = data["parameters"], data["inertia"]
    axial, cross = J["rod_and_shaft_axial"], J["rod_and_shaft_transverse"]
    # rods along x, ball at the end: the centre and the inertia of both together
    m, M = p["rod_mass"], p["ball_mass"]
    c = (0.5 * m + M) / (m + M)
    across = cross + m * (0.5 - c) ** 2 + M * (1 - c) ** 2
    arm = lambda name, s: Link(
        name, m + M, (s * c, 0.0, 0.0), (axial, across, across, 0.0, 0.0, 0.0)
    )
    shaft = Link("shaft", p["shaft_mass"], (0, 0, 0.5), (cross, cross, axial, 0.0, 0.0, 0.0))
    slider = Link("slider", p["slider_mass"], (0, 0, 0), (J["slider"],) * 3 + (0.0,) * 3)
    joints = (
        Joint("spin", "continuous", "base", "shaft"),
        Joint("s", "prismatic", "shaft", "slider"),
        Joint("left", "revolute", "shaft", "arm1", (0.05, 0, 1.0), axis=(0, 1, 0)),
        Joint("right", "revolute", "shaft", "arm2", (-0.05, 0, 1.0), axis=(0, -1, 0)),
    )
    robot = Robot(
        "governor", (Link("base"), shaft, slider, arm("arm1", 1), arm("arm2", -1)), joints, "base"
    )
    spring = lambda arm, s: Spring(
        arm, "slider", (s * 0.5, 0, 0), (s * 0.05, 0, 0), p["K"], p["rest_length"], p["C"]
    )
    alpha = np.radians(p["alpha0_deg"])
    order = {name: k for k, name in enumerate(robot.joint_names)}
    q, v = np.zeros(4), np.zeros(4)
    q[order["s"]], q[order["left"]], q[order["right"]] = p["s0"], alpha, alpha
    v[order["spin"]] = p["omega0"]
    even = made.couple_joints({"left": 1.0, "right": -1.0})
    found = linearize(
        robot, q, v, np.zeros(4), even, elements=[spring("arm1", 1), spring("arm2", -1)]
    )
    values = found.eigenvalues
    fast, slow = np.sort(values.real)[:2]
    assert fast == pytest.approx(-8117.2, abs=0.1) and slow == pytest.approx(-20.05, abs=0.02)
    assert np.max(values.imag) == pytest.approx(7.346, abs=2e-3)


def test_hanging_pendulum_has_its_frequency():
    joint = Joint("hinge", "continuous", "base", "bob", axis=(0.0, 1.0, 0.0))
    robot = Robot("pendulum", (Link("base"), Link("bob", 2.0, (0.0, 0.0, -0.7))), (joint,), "base")
    found = linearize(robot, np.zeros(1), np.zeros(1), np.zeros(1))
    assert_near(found.frequencies, np.full(2, np.sqrt(9.81 / 0.7) / (2 * np.pi)), 1e-12)


def test_python_control_gets_the_same_system():
    q, v, tau = np.random.default_rng(3).normal(size=(3, 6))
    found = linearize(ARM, q, v, tau)
    system = found.to_control()
    assert_near(np.sort(system.poles().real), np.sort(found.eigenvalues.real), 1e-8)
    assert_near(system.B, found.B)
    with pytest.raises(ArgumentError, match="batch of shape"):
        linearize(ARM, np.stack([q, q]), v, tau).to_control()


def test_states_of_different_rank_are_told_apart():
    robot = library("planar2")
    wall = made.constraint(lambda q, t: [q[0] ** 2 - 0.25, q[0] * q[1]])
    with pytest.raises(ArgumentError, match="rank 1 in some states and 2"):
        linearize(robot, np.array([[0.5, 0.3], [0.0, 0.3]]), np.zeros(2), np.zeros(2), wall)
