"""Armature's own format: a few numbers per link, all mistakes at once, and a round trip that keeps
every bit."""

import math
from dataclasses import replace

import numpy as np
import pytest
import robot_mechanics as mechanics
from hypothesis import given, settings
from hypothesis import strategies as st

from armature.drive.bus import Bus
from armature.drive.drive import Drive
from armature.drive.friction import Friction
from armature.drive.gear import EfficiencyTable, Gear
from armature.drive.motor import Motor
from armature.drive.supply import NonRegenerative
from armature.drive.thermal import Thermal
from armature.drive.train import Coupling
from armature.errors import ArmatureWarning, FileError
from armature.robot import Joint, Limits, Link, Mimic, Robot, Rotor, library, load
from armature.robot.load import with_floating_base
from armature.robot.load.yaml import robot_from_yaml
from armature.robot.model import Visual


def read(text: str) -> Robot:
    return robot_from_yaml(text, "arm.yaml")


def test_a_few_numbers_per_link_make_a_robot():
    robot = read(
        "links: [{kind: revolute, mass: 2, com: [0, 0, 0.5]}, {kind: prismatic, offset: [0, 0, 1],"
        " axis: -x, mass: 1}]"
    )
    links = (Link("base"), Link("link1", 2.0, (0.0, 0.0, 0.5)), Link("link2", 1.0))
    joints = (
        Joint("joint1", "revolute", "base", "link1"),
        Joint("joint2", "prismatic", "link1", "link2", (0, 0, 1), axis=(-1, 0, 0)),
    )
    assert robot == Robot("robot", links, joints, "base")


def test_a_link_may_be_called_base():
    robot = robot_from_yaml(
        "links: [{name: base, kind: revolute, mass: 1}, {name: arm, kind: revolute, mass: 1}]", "x"
    )
    assert robot.link_names == ("ground", "base", "arm") and robot.base == "ground"
    assert robot_from_yaml(robot.to_yaml(), "y") == robot


def test_units_may_be_written_out():
    robot = read("""
links:
  - {kind: revolute, rpy: [90 deg, 0, -0.5], offset: [250 mm, 0, 1], mass: 500 g,
     limits: {lower: -90 deg, upper: 90 deg, velocity: 30 rpm, torque: 5 kN*m}, rotor: {inertia: 100 g*cm^2, ratio: -50}}
  - {kind: prismatic, limits: {lower: 5 mm, upper: 0.5, velocity: 20 mm/s}}
""")
    joint, slide = robot.joints
    assert joint.limits == Limits(-math.pi / 2, math.pi / 2, 30 * (2 * math.pi / 60), torque=5000.0)
    assert joint.position == (0.25, 0.0, 1.0) and robot.link("link1").mass == 0.5
    assert (
        joint.rotor is not None
        and joint.rotor.inertia == pytest.approx(1e-5, rel=1e-15)
        and joint.rotor.ratio == -50.0
    )
    assert slide.limits.lower == pytest.approx(0.005)
    x, _, z = np.eye(3)
    assert np.allclose(
        joint.rotation, mechanics.about(z, -0.5) @ mechanics.about(x, math.pi / 2), atol=1e-15
    )


def test_trees_name_their_parents():
    robot = read(
        "{base: torso, links: [{name: l, kind: fixed}, {name: r, kind: fixed, parent: torso},"
        " {kind: fixed, parent: l}]}"
    )
    assert [(j.parent, j.child) for j in robot.joints] == [
        ("torso", "l"),
        ("l", "link3"),
        ("torso", "r"),
    ]


# --- solids: moments by quadrature of ∫(r² E − r rᵀ) dm ------------------------------------------


def gauss(n=6):
    return np.polynomial.legendre.leggauss(n)


def moments(points, weights, mass):
    w = weights * mass / weights.sum()
    x, y, z = points
    return np.array(
        [(w * (y**2 + z**2)).sum(), (w * (x**2 + z**2)).sum(), (w * (x**2 + y**2)).sum()]
    )


def box_points(a, b, c):
    t, w = gauss()
    X, Y, Z = np.meshgrid(a / 2 * t, b / 2 * t, c / 2 * t, indexing="ij")
    return (X, Y, Z), np.einsum("i,j,k->ijk", w, w, w)


def cylinder_points(radius, length):
    t, w = gauss()
    phi = np.arange(8) * np.pi / 4
    R, P, Z = np.meshgrid(radius * (t + 1) / 2, phi, length / 2 * t, indexing="ij")
    return (R * np.cos(P), R * np.sin(P), Z), np.einsum("i,j,k->ijk", w, np.ones(8), w) * R


def sphere_points(radius):
    t, w = gauss()
    phi = np.arange(8) * np.pi / 4
    R, P, C = np.meshgrid(radius * (t + 1) / 2, phi, t, indexing="ij")
    S = np.sqrt(1 - C**2)
    return (R * S * np.cos(P), R * S * np.sin(P), R * C), np.einsum(
        "i,j,k->ijk", w, np.ones(8), w
    ) * R**2


SOLIDS = {
    "{kind: box, size: [0.3, 0.4, 0.7]}": box_points(0.3, 0.4, 0.7),
    "{kind: cylinder, radius: 0.2, length: 0.9}": cylinder_points(0.2, 0.9),
    "{kind: cylinder, radius: 0.2, length: 0.9, along: x}": (
        cylinder_points(0.2, 0.9)[0][::-1],
        cylinder_points(0.2, 0.9)[1],
    ),
    "{kind: rod, length: 0.9}": cylinder_points(1e-9, 0.9),
    "{kind: sphere, radius: 0.3}": sphere_points(0.3),
}


@pytest.mark.parametrize("shape", SOLIDS)
def test_solids_have_the_moments_of_their_volume(shape):
    link = read(f"links: [{{kind: revolute, mass: 2.5, com: [1, 2, 3], shape: {shape}}}]").link(
        "link1"
    )
    expected = moments(*SOLIDS[shape], 2.5)
    assert np.allclose(link.inertia, [*expected, 0, 0, 0], rtol=0, atol=1e-13)
    assert (
        link.com == (1.0, 2.0, 3.0)
        and len(link.visuals) == 1
        and link.visuals[0].position == link.com
    )


# --- Zaremba's description -----------------------------------------------------------------------


@pytest.mark.parametrize("n", range(1, 7))
def test_zarembas_six_kinds_of_joint(n):
    """(1.1): rotation C₁C₂C₃; a sliding joint's offset is in its own axes, a turning one's in the
    parent's."""
    turns, offset = (0.3, -0.4, 0.5), np.array([0.1, 0.2, 0.3])
    joint = read(f"links: [{{n: {n}, turns: {list(turns)}, offset: {offset.tolist()}}}]").joints[0]
    C = (
        mechanics.about(np.eye(3)[0], turns[0])
        @ mechanics.about(np.eye(3)[1], turns[1])
        @ mechanics.about(np.eye(3)[2], turns[2])
    )
    assert np.allclose(joint.rotation, C, atol=1e-15)
    assert joint.kind == ("prismatic" if n <= 3 else "revolute") and joint.axis == tuple(
        np.eye(3)[(n - 1) % 3]
    )
    assert np.allclose(joint.position, C @ offset if n <= 3 else offset, atol=1e-15)


# --- mistakes ------------------------------------------------------------------------------------


def test_all_mistakes_are_told_at_once_with_path_and_line():
    with pytest.raises(FileError) as caught:
        read("""name: arm
links:
  - {kind: revolut, mass: 1}
  - kind: revolute
    mas: 2
    com: [1, 2, x]
  - {n: 7}
gravty: 9.81
base: {mass: much}
""")
    assert str(caught.value).splitlines() == [
        (
            "arm.yaml:3: links[0].kind: 'revolut' is not known; give 'revolute', 'continuous',"
            " 'prismatic', 'planar', 'floating' or 'fixed'"
        ),
        "  line 5: links[1].mas: there is no such key; did you mean 'mass'?",
        (
            "  line 6: links[1].com[2]: 'x' is not a number; give one in SI units, or text with a"
            ' unit, such as "1.5 m"'
        ),
        "  line 7: links[2].n: Input should be less than or equal to 6",
        "  line 8: gravty: there is no such key; did you mean 'gravity'?",
        (
            "  line 9: base.mass: 'much' is not a number; give one in SI units, or text with a"
            ' unit, such as "1.5 kg"'
        ),
    ]


MISTAKES = [
    ("", 1, "empty"),
    ("- 1", 1, "not a mapping"),
    ("a: [1", 1, "not well-formed YAML"),
    ("name: a\nname: b", 2, "'name' stands twice"),
    ("links:\n  - {mass: 1}", 2, "give the joint's kind"),
    ("links:\n  - {kind: fixed, n: 3}", 2, "give the joint's kind"),
    ("links:\n  - {n: 3, axis: x}", 2, "leave axis out"),
    ("links:\n  - {n: true}", 2, "n"),
    (
        "links:\n  - {kind: fixed, rpy: [0, 0, 0], turns: [0, 0, 0]}",
        2,
        "one of rpy, turns, rotation",
    ),
    ("links:\n  - {kind: fixed, mass: true}", 2, "True is not a number"),
    ("links:\n  - {kind: fixed, mass: 3 m}", 2, "'3 m' is not a number"),
    ("links:\n  - {kind: fixed, mass: .nan}", 2, "links[0].mass"),
    ("links:\n  - {kind: fixed, mass: .inf}", 2, "links[0].mass: this is not a finite number"),
    (
        "links:\n  - {kind: fixed, rpy: [1e999, 0, 0]}",
        2,
        "links[0].rpy[0]: this is not a finite number",
    ),
    (
        "links:\n  - {kind: fixed, mass: 1, shape: {kind: sphere, radius: 1e200}}",
        2,
        "links[0].shape.radius: 1e+200 is beyond",
    ),
    ("links:\n  - {kind: fixed, mass: -1}", 2, "link 'link1': mass is -1 kg"),
    ("links:\n  - {kind: fixed, inertia: [1]}", 2, "give 3 (xx, yy, zz) or 6"),
    (
        "links:\n  - {kind: fixed, inertia: [1, 1, 1], shape: {kind: sphere, radius: 1}}",
        2,
        "both inertia and shape",
    ),
    ("links:\n  - {kind: fixed, shape: {kind: rod, radius: 1}}", 2, "a rod is described by length"),
    ("links:\n  - {kind: revolute, axis: w}", 2, "'w' is no direction"),
    ("links:\n  - {kind: revolute, axis: [0, 0, 0]}", 2, "has no direction"),
    (
        "links:\n  - {kind: revolute, limits: {lower: 1, upper: 0}}",
        2,
        "joint 'joint1': limit lower 1 is above upper 0",
    ),
    ("links:\n  - {kind: revolute, friction: {viscus: 1}}", 2, "did you mean 'viscous'?"),
    ("links:\n  - {kind: revolute, friction: {viscous: -1}}", 2, "joint 'joint1':"),
    ("links:\n  - {kind: revolute, mimic: {joint: x}}", 2, "mimics the joint 'x'"),
    ("links:\n  - {kind: revolute}\n  - {kind: fixed, parent: bse}", 3, "did you mean 'base'?"),
    ("links:\n  - {kind: revolute, name: a}\n  - {kind: fixed, name: a}", 3, "this name is taken"),
    ("links:\n  - {kind: fixed, rotation: [[1, 0, 0], [0, 2, 0], [0, 0, 1]]}", 2, "not a rotation"),
    ("armature: 2", 1, "armature"),
]


@pytest.mark.parametrize(("text", "line", "message"), MISTAKES, ids=[m for _, _, m in MISTAKES])
def test_each_mistake_has_its_line(text, line, message):
    with pytest.raises(FileError) as caught:
        read(text)
    assert message in str(caught.value) and caught.value.line == line


def test_doubtful_inertias_are_warned_of():
    with pytest.warns(
        ArmatureWarning, match=r"arm\.yaml:2: link 'link1': no body has this inertia"
    ):
        read("links:\n  - {kind: revolute, inertia: [1, 1, 3]}")


# --- round trip ----------------------------------------------------------------------------------

numbers = st.floats(
    -1e15, 1e15
)  # what a file may hold: lengths and angles up to 1e6, others up to 1e15
sizes = st.floats(0, 1e15)
lengths = st.floats(-1e6, 1e6)
points = st.tuples(lengths, lengths, lengths)
vectors = st.tuples(numbers, numbers, numbers)
names = st.text(st.characters(blacklist_categories=("Cs",)), min_size=1, max_size=8)
axes = st.tuples(*[st.floats(-10, 10)] * 3).filter(lambda a: math.hypot(*a) > 1e-3)
KINDS = ["revolute", "continuous", "prismatic", "planar", "floating", "fixed"]


@st.composite
def limits(draw):
    low, high = sorted((draw(st.floats(allow_nan=False)), draw(st.floats(allow_nan=False))))
    low, high = min(low, 1e308), max(high, -1e308)
    return Limits(low, high, *(draw(st.floats(0, allow_nan=False)) for _ in range(5)))


@st.composite
def rotations(draw):
    angle = draw(st.floats(-10, 10))
    return tuple(map(tuple, mechanics.about(np.array([0.6, 0.0, 0.8]), angle).tolist()))


@st.composite
def robots(draw):
    """Random trees with everything that a robot may hold."""
    n = draw(st.integers(0, 6))
    link_names = draw(st.lists(names, min_size=n + 1, max_size=n + 1, unique=True))
    joint_names = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    visual = st.builds(
        Visual,
        st.just("mesh"),
        st.tuples(st.floats(0, 1e6)),
        points,
        rotations(),
        st.text(max_size=5),
    )
    visuals = st.lists(visual, max_size=1).map(tuple)
    links = [
        Link(name, draw(sizes), draw(points), tuple(draw(numbers) for _ in range(6)), draw(visuals))
        for name in link_names
    ]
    joints = []
    for i in range(n):
        kind = draw(st.sampled_from(KINDS))
        free = [j.name for j in joints if j.kind in KINDS[:3]]
        mimic = (
            draw(st.none() | st.builds(Mimic, st.sampled_from(free), numbers, numbers))
            if free and kind in KINDS[:3]
            else None
        )
        joints.append(
            Joint(
                joint_names[i],
                kind,
                link_names[draw(st.integers(0, i))],
                link_names[i + 1],
                draw(points),
                draw(rotations()),
                draw(axes),
                draw(limits()),
                Friction(draw(sizes), draw(sizes), draw(sizes)),
                draw(st.none() | st.builds(Rotor, sizes, numbers, st.none() | axes)),
                mimic if mimic is None else replace(mimic, multiplier=1.0, offset=0.0),
                draw(st.none() | lengths),
            )
        )
    return Robot(draw(names), tuple(links), tuple(joints), link_names[0], draw(vectors))


@pytest.mark.filterwarnings("ignore::armature.errors.ArmatureWarning")
@settings(max_examples=60, deadline=None)
@given(robots())
def test_yaml_gives_back_an_equal_robot(robot):
    again = read(robot.to_yaml())
    assert again == robot
    assert [link.visuals for link in again.links] == [link.visuals for link in robot.links]


@pytest.mark.parametrize("name", library())
def test_saved_robots_load_equal(tmp_path, name):
    robot = with_floating_base(library(name)).with_payload(0.1, (0.1, 0.2, 0.3))
    robot.save(tmp_path / "robot.yaml")
    assert load(tmp_path / "robot.yaml") == robot


TABLE = EfficiencyTable((0.0, 100.0), (0.0, 5.0), ((0.5, 0.8), (0.6, 0.9)))
FULL = Drive(
    Motor(0.5, 0.03, inertia=1e-5, thermal=Thermal(1.0, 2.0, 30.0, 600.0)),
    Gear(-100.0, TABLE, rule="thesis"),
    name="big one: 1",
)


@pytest.mark.parametrize("supply", [None, NonRegenerative(), Bus(0.01, 300.0, 380.0)])
def test_drives_and_supply_come_back(supply):
    single = library("planar2").with_drives({"shoulder": FULL, "elbow": Drive(Motor(1.0, 0.02))})
    coupled = single.with_drives(
        [Coupling(("shoulder", "elbow"), (FULL, FULL), ((1.0, 1.0), (1.0, -1.0)))]
    )
    for robot in (replace(single, supply=supply), replace(coupled, supply=supply)):
        assert len(robot.drives) > 0 and read(robot.to_yaml()) == robot


def test_mistakes_in_drives_have_the_files_name():
    with pytest.raises(FileError, match=r"arm\.yaml:2: joint 'joint1'.*resistanse"):
        read(
            "links: [{kind: revolute, mass: 1}]\ndrives: {joint1: {motor: {resistanse: 1,"
            " torque_constant: 1}}}"
        )
    with pytest.raises(FileError, match=r"no joint 'elbw'"):
        read(
            "links: [{kind: revolute, joint: elbow}]\ndrives: {elbw: {motor: {resistance: 1,"
            " torque_constant: 1}}}"
        )
