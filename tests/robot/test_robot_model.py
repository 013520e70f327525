"""Robots as data: what is refused, what is kept, and what the with_… methods change."""

import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
import robot_mechanics as mechanics

from armature.drive.friction import Friction
from armature.errors import ArgumentError, ArmatureError, FileError, RobotError
from armature.robot import Joint, Limits, Link, Mimic, Robot, Rotor, check, library


def chain(n=3, **changes) -> Robot:
    links = tuple(
        Link(f"l{i}", 1.0 + i, (0.1, 0.2, 0.3), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
        for i in range(n + 1)
    )
    joints = tuple(
        Joint(f"j{i}", "revolute", f"l{i}", f"l{i + 1}", (0.0, 0.1, 0.5), axis=(0.0, 1.0, 0.0))
        for i in range(n)
    )
    return replace(Robot("chain", links, joints, "l0"), **changes)


IMPOSSIBLE = [
    (lambda: Link("a", -1.0), "mass is -1 kg"),
    (lambda: Link("a", math.nan), "mass is nan"),
    (lambda: Link("a", "heavy"), "'heavy', which is not a number"),
    (lambda: Link("a", 1.0, (0.0, math.inf, 0.0)), "com is inf"),
    (lambda: Link("a", 1.0, (0.0, 0.0)), "com has 2 values; give 3"),
    (lambda: Link("a", 1.0, inertia=(1.0, 1.0, 1.0)), "inertia has 3 values; give 6"),
    (lambda: Link(""), "name of a link"),
    (lambda: Link("x" * 1001), "has 1001 characters"),
    (lambda: Joint("j", "screw", "a", "b"), "kind is 'screw'"),
    (lambda: Joint("j", "revolute", "a", "b", axis=(0, 0, 0)), "no direction"),
    (lambda: Joint("j", "revolute", "a", "b", axis=(0, math.nan, 0)), "axis is nan"),
    (
        lambda: Joint("j", "revolute", "a", "b", rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1))),
        "not a rotation",
    ),
    (
        lambda: Joint("j", "revolute", "a", "b", rotation=((2, 0, 0), (0, 1, 0), (0, 0, 1))),
        "not a rotation",
    ),
    (
        lambda: Joint("j", "revolute", "a", "b", friction=Friction(viscous=math.inf)),
        "viscous = inf",
    ),
    (lambda: Limits(lower=1.0, upper=-1.0), "lower 1 is above upper -1"),
    (lambda: Limits(velocity=-1.0), "velocity is -1"),
    (lambda: Limits(torque=math.nan), "torque is nan"),
    (lambda: Rotor(-1e-3), "rotor inertia is -0.001"),
    (lambda: Rotor(1e-3, axis=(0, 0, 0)), "rotor axis"),
    (lambda: Mimic("j", math.nan), "multiplier is nan"),
    (lambda: Robot("r", (), (), "a"), "no link"),
    (lambda: Robot("r", (Link("a"), Link("a")), (), "a"), "'a': this name is taken"),
    (lambda: Robot("r", (Link("a"), Link("b")), (), "a"), "2 links have no parent (a, b)"),
    (
        lambda: Robot("r", (Link("a"),), (Joint("j", "fixed", "a", "bb"),), "a"),
        "child link 'bb' does not exist",
    ),
    (
        lambda: Robot("r", (Link("a"), Link("b")), (Joint("j", "fixed", "a", "b"),), "b"),
        "link without a parent is 'a'",
    ),
    (lambda: chain(gravity=(0, 0, math.nan)), "gravity is nan"),
    (
        lambda: chain(joints=(*chain().joints, Joint("k", "fixed", "l0", "l2"))),
        "already the child of joint 'j1'",
    ),
    (
        lambda: chain(joints=(*chain().joints[:2], Joint("j0", "fixed", "l2", "l3"))),
        "joint 'j0': this name is taken",
    ),
    (
        lambda: chain(
            joints=(*chain().joints[:2], Joint("j2", "revolute", "l2", "l3", mimic=Mimic("j9")))
        ),
        "mimics the joint 'j9'",
    ),
    (
        lambda: chain(
            joints=(*chain().joints[:2], Joint("j2", "revolute", "l2", "l3", mimic=Mimic("j2")))
        ),
        "in a circle (j2 -> j2)",
    ),
    (
        lambda: chain(
            joints=(*chain().joints[:2], Joint("j2", "planar", "l2", "l3", mimic=Mimic("j1")))
        ),
        "planar joint cannot mimic",
    ),
]


@pytest.mark.parametrize(("make", "message"), IMPOSSIBLE, ids=[m for _, m in IMPOSSIBLE])
def test_what_cannot_be_is_refused_with_its_name_and_value(make, message):
    with pytest.raises(RobotError) as caught:
        make()
    assert message in str(caught.value)


def test_a_loop_beside_the_tree_is_named():
    links = tuple(Link(n) for n in "abcd")
    joints = (
        Joint("ab", "fixed", "a", "b"),
        Joint("cd", "fixed", "c", "d"),
        Joint("dc", "fixed", "d", "c"),
    )
    with pytest.raises(RobotError, match=r"loop \((c -> d -> c|d -> c -> d)\)"):
        Robot("r", links, joints, "a")


def test_robots_are_values():
    a, b = chain(), chain()
    assert a == b and hash(a) == hash(b) and a is not b
    assert chain(gravity=(0.0, 0.0, 0.0)) != a
    assert len({a, b, a.with_gravity((0, 0, -1.62))}) == 2
    with pytest.raises(FrozenInstanceError):
        a.name = "other"  # type: ignore[misc]


def test_pickling_keeps_the_data_and_nothing_else():
    a = chain()
    hash(a)
    b = pickle.loads(pickle.dumps(a))
    assert b == a and hash(b) == hash(a)
    assert set(vars(pickle.loads(pickle.dumps(a)))) == {f.name for f in fields(Robot)}


def test_numbers_of_any_kind_become_floats():
    link = Link("a", np.float32(2), np.array([1, 2, 3]), [1, 1, 1, 0, 0, 0])
    assert link == Link("a", 2.0, (1.0, 2.0, 3.0), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
    assert isinstance(link.com[0], float) and hash(link) is not None


def test_joints_and_links_are_put_in_order_base_to_tip():
    robot = chain()
    shuffled = Robot("chain", robot.links[::-1], robot.joints[::-1], "l0")
    assert shuffled == robot


def test_branches_keep_document_order():
    links = tuple(Link(n) for n in "abcde")
    joints = (
        Joint("2", "fixed", "b", "c"),
        Joint("1", "fixed", "a", "b"),
        Joint("4", "fixed", "a", "e"),
        Joint("3", "fixed", "b", "d"),
    )
    robot = Robot("r", links, joints, "a")
    assert [j.name for j in robot.joints] == ["1", "2", "3", "4"]
    assert [link.name for link in robot.links] == list("abcde")
    assert robot.tips == ("c", "d", "e")


def test_axes_get_length_one_and_unit_ones_keep_every_bit():
    assert Joint("j", "revolute", "a", "b", axis=(0, 0, -2)).axis == (0.0, 0.0, -1.0)
    axis = Joint("j", "revolute", "a", "b", axis=(1, 2, 3)).axis
    assert Joint("j", "revolute", "a", "b", axis=axis).axis == axis
    assert Joint("j", "fixed", "a", "b", axis=(0, 0, 0)).axis == (0.0, 0.0, 1.0)


def test_mimic_chains_are_resolved_to_the_free_joint():
    joints = chain().joints
    joints = (
        joints[0],
        replace(joints[1], mimic=Mimic("j2", 2.0, 0.5)),
        replace(joints[2], mimic=Mimic("j0", -3.0, 0.25)),
    )
    robot = chain(joints=joints)
    assert robot.joint("j2").mimic == Mimic("j0", -3.0, 0.25)
    assert robot.joint("j1").mimic == Mimic("j0", -6.0, 1.0)


@pytest.mark.parametrize("link", [None, "l1", "l2"])
def test_payload_adds_the_energy_of_a_point_mass(link):
    robot, at = chain(), (0.3, -0.2, 0.7)
    loaded = robot.with_payload(2.5, at, link)
    q = {"j0": 0.3, "j1": -0.8, "j2": 1.1}
    weld = Joint("w", "fixed", link or "l3", "mass", at)
    witness = Robot("w", (*robot.links, Link("mass", 2.5)), (*robot.joints, weld), "l0")
    assert np.allclose(
        mechanics.mass_matrix(loaded, q), mechanics.mass_matrix(witness, q), rtol=0, atol=1e-13
    )
    assert np.isclose(
        mechanics.potential_energy(loaded, q), mechanics.potential_energy(witness, q), rtol=1e-14
    )
    assert loaded.mass == pytest.approx(robot.mass + 2.5)


def test_payload_on_a_massless_link_is_the_payload_itself():
    robot = Robot(
        "r", (Link("a"), Link("b", 0.0, (9.0, 9.0, 9.0))), (Joint("j", "revolute", "a", "b"),), "a"
    )
    assert robot.with_payload(1.5, (0.1, 0.2, 0.3)).link("b") == Link("b", 1.5, (0.1, 0.2, 0.3))
    assert robot.with_payload(0.0) == robot


def test_payload_on_a_tree_asks_for_the_link():
    links = tuple(Link(n) for n in "abc")
    robot = Robot("r", links, (Joint("1", "fixed", "a", "b"), Joint("2", "fixed", "a", "c")), "a")
    with pytest.raises(
        ArgumentError, match="2 tips; say which link carries the payload: link=one of b, c"
    ):
        robot.with_payload(1.0)
    assert robot.with_payload(1.0, link="c").link("c").mass == 1.0


def test_limits_change_what_they_name_and_keep_the_rest():
    robot = library("burgevin").with_limits({"r": {"velocity": 2.0}, "phi": {"lower": -1.0}})
    assert robot.joint("r").limits == Limits(0.16, 0.91, 2.0)
    assert robot.joint("phi").limits == Limits(lower=-1.0)
    assert robot.joint("theta") == library("burgevin").joint("theta")
    assert robot.with_limits({"r": Limits()}).joint("r").limits == Limits()


MOVEIT = """default_velocity_scaling_factor: 0.1
joint_limits:
  r: {has_velocity_limits: true, max_velocity: 1.5, has_acceleration_limits: false, max_acceleration: 3, has_jerk_limits: true, max_jerk: 9}
  theta: {has_position_limits: true, min_position: -1, max_position: 1, has_effort_limits: true, max_effort: 20.5}
"""


def test_moveits_limits_are_taken_as_they_are(tmp_path):
    path = tmp_path / "joint_limits.yaml"
    path.write_text(MOVEIT)
    robot = library("burgevin").with_limits(path)
    assert robot.joint("r").limits == Limits(0.16, 0.91, 1.5, jerk=9.0)
    assert robot.joint("theta").limits == Limits(-1.0, 1.0, torque=20.5)
    path.write_text(MOVEIT.replace("theta", "tetha"))
    with pytest.raises(
        FileError, match=r"joint_limits\.yaml: there is no joint 'tetha'; did you mean 'theta'"
    ):
        library("burgevin").with_limits(str(path))
    path.write_text("joint_limits: 3")
    with pytest.raises(FileError, match="no mapping"):
        library("burgevin").with_limits(path)


def test_friction_changes_what_it_names():
    robot = (
        library("burgevin")
        .with_friction({"r": {"viscous": 20}})
        .with_friction({"r": {"coulomb": 1.5}})
    )
    assert robot.joint("r").friction == Friction(20.0, 1.5)


REFUSED_CHANGES = [
    (
        lambda r: r.with_limits({"tetha": {"velocity": 1}}),
        "no joint 'tetha'; did you mean 'theta'?",
    ),
    (lambda r: r.with_limits({"r": {"speed": 1}}), "there is no 'speed'"),
    (lambda r: r.with_limits({"r": {"velocity": -1}}), "joint 'r': limit velocity is -1"),
    (lambda r: r.with_limits({"r": {"velocity": "fast"}}), "joint 'r': limits velocity is 'fast'"),
    (
        lambda r: r.with_limits({"r": {"lower": 2.0}}),
        "joint 'r': limit lower 2 is above upper 0.91",
    ),
    (lambda r: r.with_limits({"r": 3}), "joint 'r': limits is 3; give a dictionary"),
    (lambda r: r.with_limits([1]), "give a dictionary"),
    (lambda r: r.with_friction({"r": {"viscous": -1}}), "joint 'r':"),
    (lambda r: r.with_friction({"r": {"viscus": 1}}), "did you mean 'viscous'?"),
    (lambda r: r.with_payload(-1.0), "payload mass is -1 kg"),
    (lambda r: r.with_payload(1.0, at=(1, 2)), "has 2 values; give 3"),
    (lambda r: r.with_payload(1.0, link="slidr"), "did you mean 'slider'?"),
    (lambda r: r.with_gravity((0, 0)), "gravity has 2 values"),
    (lambda r: r.link("hed"), "did you mean 'head'?"),
    (lambda r: r.joint("x"), "there are: phi, theta, r"),
]


@pytest.mark.parametrize(
    ("change", "message"), REFUSED_CHANGES, ids=[m for _, m in REFUSED_CHANGES]
)
def test_changes_that_make_no_sense_are_refused(change, message):
    with pytest.raises(ArmatureError) as caught:
        change(library("burgevin"))
    assert message in str(caught.value)


def test_summary_and_repr_say_what_the_robot_is():
    robot = library("burgevin")
    assert repr(robot) == "<Robot 'burgevin': 4 links, 3 moving joints, 11 kg>"
    lines = robot.summary().splitlines()
    assert len(lines) == 2 + 3 and "0.16 … 0.91" in lines[-1]


def test_check_lists_inertias_of_no_body():
    moments = {"a": (0, 0, 0), "neg": (1, 1, -0.1), "tri": (1, 1, 3), "rod": (1, 1, 0)}
    links = tuple(Link(name, 1.0, inertia=(*J, 0, 0, 0)) for name, J in moments.items())
    joints = tuple(Joint(f"to_{x.name}", "fixed", "a", x.name) for x in links[1:])
    problems = check(Robot("r", links, joints, "a"))
    assert [p.name for p in problems] == ["neg", "tri"]
    assert "-0.1, 1, 1" in str(problems[0]) and "sum of the others" in str(problems[1])


def test_saving_says_what_it_cannot_do(tmp_path):
    with pytest.raises(ArgumentError, match=r"saved as \.yaml"):
        chain().save(tmp_path / "robot.urdf")
    with pytest.raises(FileError, match="cannot be written"):
        chain().save(tmp_path / "missing" / "robot.yaml")
