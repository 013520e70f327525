"""Three routes to the accelerations: recursion, Gauss's principle, Gibbs–Appell. One answer."""

import numpy as np
import pytest

from armature.dynamics import compiled, kernels
from armature.dynamics.recursion import gauss_tree
from armature.errors import ArgumentError
from armature.robot.library import library
from armature.robot.model import Joint, Link, Mimic, Robot, Rotor

EPS = np.finfo(float).eps


def link(name: str, seed: int) -> Link:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    J = A @ A.T * 0.05
    return Link(
        name,
        1.0 + rng.uniform(),
        tuple(rng.uniform(-0.2, 0.2, 3)),
        (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]),
    )


def branched(base: str = "fixed") -> Robot:
    """A tree with rotors (gyroscopic ones too), a telescoping joint, a mimic, slanted axes; on a
    fixed or floating base."""
    links = (Link("world"), *(link(f"l{i}", i) for i in range(7)))
    joints = (
        Joint("j0", "revolute" if base == "fixed" else "floating", "world", "l0", (0.1, 0, 0.2)),
        Joint(
            "j1",
            "revolute",
            "l0",
            "l1",
            (0.3, 0.1, 0),
            axis=(0, 1, 1),
            rotor=Rotor(2e-4, 80.0, (0.0, 0.6, 0.8)),
        ),
        Joint(
            "j2",
            "prismatic",
            "l1",
            "l2",
            (0, 0, 0.4),
            axis=(1, 0, 0),
            rotor=Rotor(1e-4, 300.0, (1.0, 0.0, 0.0)),
        ),
        Joint("j3", "revolute", "l1", "l3", (0, 0.2, 0), axis=(1, 0, 0)),
        Joint(
            "j4", "continuous", "l3", "l4", (0.2, 0, 0), axis=(0, 0, -1), rotor=Rotor(3e-4, -60.0)
        ),
        Joint(
            "j5", "revolute", "l0", "l5", (0, 0.3, 0), axis=(0, 1, 0), mimic=Mimic("j3", -0.7, 0.2)
        ),
        Joint("j6", "prismatic", "l5", "l6", (0, 0, 0.1), axis=(0, 0, 1)),
    )
    return Robot(f"branched {base}", links, joints, "world")


ROBOTS = {
    "tree": branched(),
    "floating": branched("floating"),
    **{name: library(name) for name in ("planar2", "scara", "six_axis", "seven_axis", "burgevin")},
}


def state(robot: Robot, batch: tuple = (5,)):
    rng = np.random.default_rng(7)
    q = rng.uniform(-1, 1, (*batch, robot.nq)) + (0.3 if robot.name == "burgevin" else 0.0)
    for body in robot.tree.bodies:
        if body.kind == "free":
            q[..., body.q + 3 : body.q + 7] /= np.linalg.norm(
                q[..., body.q + 3 : body.q + 7], axis=-1, keepdims=True
            )
    return q, rng.uniform(-1, 1, (*batch, robot.nv)), rng.uniform(-5, 5, (*batch, robot.nv))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("method, loss", [("gauss", 10), ("gibbs-appell", 500)])
def test_all_routes_give_the_same_accelerations(name, method, loss):
    # rounding times cond(M)·eps; probes at rest lose less than the literal ones, which lose 500 to
    # 10,000 of it
    robot = ROBOTS[name]
    q, v, tau = state(robot)
    rng = np.random.default_rng(3)
    wrenches = {robot.tips[0]: rng.normal(size=(5, 6)), robot.links[1].name: rng.normal(size=6)}
    expected = compiled.forward_dynamics(robot, q, v, tau, wrenches)
    found = compiled.forward_dynamics(robot, q, v, tau, wrenches, method=method)
    cond = np.linalg.cond(compiled.mass_matrix(robot, q))
    error = np.max(np.abs(found - expected), axis=-1) / np.max(np.abs(expected), axis=-1)
    assert np.all(error < loss * cond * EPS)


@pytest.mark.parametrize("method", ["gauss", "gibbs-appell"])
def test_routes_agree_on_a_moving_base(method):
    robot = ROBOTS["tree"]
    q, v, tau = state(robot)
    rng = np.random.default_rng(5)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    base = kernels.BaseMotion(R * np.linalg.det(R), *rng.normal(size=(3, 3)))
    expected = compiled.forward_dynamics(robot, q, v, tau, base=base)
    found = compiled.forward_dynamics(robot, q, v, tau, base=base, method=method)
    assert np.allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_joint_wrench_is_what_carries_the_arm():
    # statics: the first joint's wrench balances the weight of all that it carries
    robot = library("six_axis")
    q, v = np.full(6, 0.3), np.zeros(6)
    tau = compiled.bias_forces(robot, q, v)
    X, f, R = gauss_tree.terms(robot.tree, q, v)
    qdd, wrench = gauss_tree.solve(robot.tree, X, f, R, tau, np.zeros(3))
    assert np.allclose(qdd, 0.0, atol=1e-9)
    carried = sum(b.mass for b in robot.tree.bodies)
    assert np.linalg.norm(wrench[0, :3]) == pytest.approx(carried * 9.81, rel=1e-12)


def test_unknown_methods_are_named():
    robot = library("planar2")
    with pytest.raises(ArgumentError, match="'gauss'"):
        compiled.forward_dynamics(robot, np.zeros(2), np.zeros(2), np.zeros(2), method="lagrange")
    with pytest.raises(ArgumentError, match="link 'nose'"):
        compiled.forward_dynamics(
            robot, np.zeros(2), np.zeros(2), np.zeros(2), {"nose": np.zeros(6)}, method="gauss"
        )
