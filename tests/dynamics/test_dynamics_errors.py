"""What is refused, and that the message says which joint, link or array and what to do."""

from __future__ import annotations

import numpy as np
import pytest

from armature.dynamics import compiled, kernels
from armature.dynamics.recursion import recursive
from armature.errors import ArgumentError, RobotError
from armature.robot.library import library
from armature.robot.model import Joint, Link, Mimic, Robot, Rotor
from random_robots import random_link, rotation, unit

ARM = library("burgevin")
Q = np.array([0.1, 0.2, 0.5])


def test_arrays_of_the_wrong_shape_are_named():
    with pytest.raises(ArgumentError, match=r"q has shape \(2,\); expected \(\.\.\., 3\)"):
        compiled.inverse_dynamics(ARM, Q[:2], Q, Q)
    with pytest.raises(ArgumentError, match=r"v has shape \(4, 2\)"):
        compiled.inverse_dynamics(ARM, Q, np.zeros((4, 2)), Q)
    with pytest.raises(ArgumentError, match="tau"):
        compiled.forward_dynamics(ARM, Q, Q, np.zeros(4))
    with pytest.raises(ArgumentError, match="broadcast"):
        compiled.inverse_dynamics(ARM, np.zeros((4, 3)), np.zeros((5, 3)), Q)
    with pytest.raises(ArgumentError, match="numbers"):
        compiled.mass_matrix(ARM, ["a", "b", "c"])
    with pytest.raises(ArgumentError, match="wrench slider"):
        compiled.inverse_dynamics(ARM, Q, Q, Q, {"slider": np.zeros(3)})


@pytest.mark.parametrize(
    "call",
    [
        lambda: compiled.pose(ARM, Q, "slyder"),
        lambda: compiled.jacobian(ARM, Q, "slyder"),
        lambda: compiled.point_kinematics(ARM, Q, Q, Q, "slyder"),
        lambda: compiled.inverse_dynamics(ARM, Q, Q, Q, {"slyder": np.zeros(6)}),
        lambda: compiled.forward_dynamics(ARM, Q, Q, Q, {"slyder": np.zeros(6)}),
    ],
)
def test_an_unknown_link_is_named_and_the_known_ones_are_listed(call):
    with pytest.raises(ArgumentError, match=r"slyder.*slider"):
        call()


def test_an_unknown_method_is_named():
    with pytest.raises(ArgumentError, match=r"newton.*recursive"):
        compiled.forward_dynamics(ARM, Q, Q, Q, method="newton")


def chain(*parts: tuple[Joint, Link]) -> Robot:
    return Robot(
        "chain",
        (Link("base"), *(link for _, link in parts)),
        tuple(joint for joint, _ in parts),
        "base",
    )


def body(name: str) -> Link:
    return random_link(name, "solid", np.random.default_rng(0))


def on_its_axis() -> Robot:
    """A point mass on the axis of its joint, which is slanted and reached through turned frames:
    zero but for rounding."""
    rng = np.random.default_rng(4)
    axis, R, p = np.array(unit(rng)), np.array(rotation(rng)), rng.normal(size=3)
    point = Link("point", 1.0, tuple(R.T @ (0.7 * axis - p)))
    weld = Joint("weld", "fixed", "arm", "point", tuple(p), tuple(map(tuple, R)))
    return chain(
        (Joint("good", "revolute", "base", "first"), body("first")),
        (
            Joint("bad", "revolute", "first", "arm", (0.1, 0.2, 0.3), rotation(rng), tuple(axis)),
            Link("arm"),
        ),
        (weld, point),
    )


MOVES_NOTHING = {
    "massless tip": chain(
        (Joint("good", "revolute", "base", "a"), body("a")),
        (Joint("bad", "revolute", "a", "b"), Link("b")),
    ),
    "massless slide": chain(
        (Joint("good", "revolute", "base", "a"), body("a")),
        (Joint("bad", "prismatic", "a", "b"), Link("b")),
    ),
    "point on its axis": on_its_axis(),
    "two joints in one": chain(
        (Joint("bad", "revolute", "base", "a"), Link("a")),
        (Joint("same", "revolute", "a", "b"), body("b")),
    ),
    "rod along its axis": chain(
        (
            Joint("bad", "revolute", "base", "a"),
            Link("a", 1.0, (0.0, 0.0, 0.5), (0.1, 0.1, 0.0, 0.0, 0.0, 0.0)),
        )
    ),
    "massless floating": chain((Joint("bad", "floating", "base", "a"), Link("a"))),
    "floating point": chain((Joint("bad", "floating", "base", "a"), Link("a", 1.0))),
}


@pytest.mark.parametrize("name", MOVES_NOTHING)
def test_a_joint_that_moves_nothing_is_refused_by_name_when_its_acceleration_is_asked(name: str):
    robot = MOVES_NOTHING[name]
    q, v = kernels.random_configuration(robot.tree, np.random.default_rng(1)), np.ones(robot.nv)
    for call in (compiled.forward_dynamics, compiled.forward_dynamics_derivatives):
        with pytest.raises(RobotError, match="joint 'bad' moves no mass"):
            call(robot, q, v, v)
    # everything that needs no acceleration still works
    assert np.all(np.isfinite(compiled.inverse_dynamics(robot, q, v, v)))
    assert np.all(np.isfinite(compiled.mass_matrix(robot, q)))


def test_a_rotor_a_mimic_or_a_massless_middle_link_is_enough_to_move():
    tip = Joint("tip", "revolute", "a", "b")
    arm = (Joint("good", "revolute", "base", "a"), body("a"))
    with_rotor = chain(
        arm, (Joint("tip", "revolute", "a", "b", rotor=Rotor(1e-3, 10.0)), Link("b"))
    )
    with_mimic = chain(
        arm, (Joint("tip", "revolute", "a", "b", mimic=Mimic("good", 2.0)), Link("b"))
    )
    in_between = chain(
        arm,
        (tip, Link("b")),
        (
            Joint("last", "prismatic", "b", "c", axis=(1.0, 0.0, 0.0)),
            Link("c", 1.0, (0.1, 0.2, 0.0)),
        ),
    )
    for robot in (with_rotor, with_mimic, in_between):
        zero = np.zeros(robot.n)
        assert np.all(np.isfinite(compiled.forward_dynamics(robot, zero + 0.3, zero, zero + 1.0)))
    near_nothing = compiled.forward_dynamics(
        with_rotor, np.zeros(2), np.zeros(2), np.array([0.0, 0.1])
    )
    assert near_nothing[1] == pytest.approx(0.1 / (1e-3 * 10.0**2))


def test_a_floating_or_planar_joint_in_the_wrong_place_is_refused():
    with pytest.raises(RobotError, match="floating joint 'two' hangs on the moving link 'a'"):
        _ = chain(
            (Joint("one", "revolute", "base", "a"), body("a")),
            (Joint("two", "floating", "a", "b"), body("b")),
        ).n
    with pytest.raises(RobotError, match="'plane' is planar and cannot have a rotor"):
        _ = chain((Joint("plane", "planar", "base", "a", rotor=Rotor(1e-3)), body("a"))).n


def test_a_robot_without_moving_joints_has_empty_dynamics():
    robot = chain((Joint("weld", "fixed", "base", "a", (1.0, 2.0, 3.0)), body("a")))
    none = np.zeros(0)
    assert robot.n == 0
    assert compiled.inverse_dynamics(robot, none, none, none).shape == (0,)
    assert compiled.forward_dynamics(robot, none, none, none).shape == (0,)
    assert compiled.mass_matrix(robot, none).shape == (0, 0)
    assert recursive.inverse_dynamics(robot.tree, none, none, none).shape == (0,)
    np.testing.assert_allclose(compiled.pose(robot, none, "a").p, [1.0, 2.0, 3.0])
