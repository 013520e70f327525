"""The URDF reader: what it reads, and the one readable message with its line for what it does
not."""

import math
import time
import warnings
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
import robot_mechanics as mechanics

from armature.drive.friction import Friction
from armature.errors import ArgumentError, ArmatureWarning, FileError
from armature.robot import Limits, Mimic, Robot, load

ARM = """<?xml version="1.0"?>
<!-- a comment -->
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><cylinder radius="0.1" length="1"/></geometry><material name="grey"/></visual>
    <visual><geometry><mesh filename="package://a/b.stl" scale="2 2 2"/></geometry></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="lower"><inertial><mass value="1e0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
  <link name="finger"/><link name="thumb"/><link name="cart"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
    <axis xyz="0 0 2"/>
    <limit lower="-1" upper="1.5" velocity="2" effort="30"/>
    <dynamics damping="0.7" friction="0.2"/>
    <safety_controller k_velocity="10"/>
  </joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
  <joint name="grip" type="prismatic"><parent link="lower"/><child link="finger"/><axis xyz="0 1 0"/></joint>
  <joint name="grip2" type="prismatic"><parent link="lower"/><child link="thumb"/><axis xyz="0 -1 0"/>
    <mimic joint="grip" multiplier="-1" offset="0.01"/></joint>
  <joint name="slide" type="planar"><parent link="base"/><child link="cart"/><axis xyz="0 0 1"/></joint>
  <transmission name="t1"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder"/>
    <actuator name="m1"><mechanicalReduction>-79.2</mechanicalReduction></actuator></transmission>
  <ros2_control name="c" type="system">
    <transmission name="t2"><joint name="elbow" role="joint1"><mechanical_reduction>0.07</mechanical_reduction></joint></transmission>
  </ros2_control>
  <gazebo reference="upper"><whatever/></gazebo>
</robot>
"""


def read(tmp_path: Path, text: str | bytes, name: str = "arm.urdf") -> Robot:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path)


@pytest.fixture
def arm(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmatureWarning)
        return read(tmp_path, ARM)


def test_every_kind_of_element_is_read(arm):
    shoulder, elbow = arm.joint("shoulder"), arm.joint("elbow")
    assert shoulder.limits == Limits(-1.0, 1.5, 2.0, torque=30.0) and shoulder.friction == Friction(
        0.7, 0.2
    )
    assert elbow.limits == Limits(velocity=1.0, torque=5.0) and elbow.axis == (1.0, 0.0, 0.0)
    assert (shoulder.reduction, elbow.reduction, arm.joint("grip").reduction) == (-79.2, 0.07, None)
    assert (
        arm.joint("grip2").mimic == Mimic("grip", -1.0, 0.01)
        and arm.joint("slide").kind == "planar"
    )
    assert arm.gravity == (0.0, 0.0, -9.81) and arm.base == "base" and arm.name == "arm"


def test_inertia_is_turned_into_the_links_axes(arm):
    # a quarter turn about z: x' = y, y' = −x
    assert np.allclose(arm.link("upper").inertia, (0.2, 0.1, 0.25, -0.01, -0.03, 0.02), atol=1e-16)
    assert arm.link("upper").com == (0.0, 0.0, 0.5)


def test_joint_frames_are_roll_pitch_yaw_about_fixed_axes(arm):
    x, y, z = np.eye(3)
    R = mechanics.about(z, 0.3) @ mechanics.about(y, 0.2) @ mechanics.about(x, 0.1)
    assert np.allclose(arm.joint("shoulder").rotation, R, atol=1e-15) and arm.joint(
        "shoulder"
    ).position == (0.0, 0.0, 0.3)


def test_visuals_are_kept_small(arm):
    cylinder, mesh = arm.link("upper").visuals
    assert (cylinder.shape, cylinder.size, cylinder.position) == (
        "cylinder",
        (0.1, 1.0),
        (0.0, 0.0, 1.0),
    )
    assert cylinder.colour == (0.5, 0.5, 0.5, 1.0)
    assert (mesh.shape, mesh.size, mesh.file) == ("mesh", (2.0, 2.0, 2.0), "package://a/b.stl")


def test_a_long_axis_is_taken_with_length_one_and_a_warning(tmp_path):
    with pytest.warns(
        ArmatureWarning, match=r"arm\.urdf:18: joint 'shoulder': its axis '0 0 2' has length 2"
    ):
        robot = read(tmp_path, ARM)
    assert robot.joint("shoulder").axis == (0.0, 0.0, 1.0)


def robot_of(*lines: str) -> str:
    return "\n".join(['<robot name="r">', *lines, "</robot>"])


def inertial(inside: str) -> str:
    return robot_of(f'<link name="a"><inertial>{inside}</inertial></link>')


A, B, C = (f'<link name="{n}"/>' for n in "abc")
J = '<joint name="j" type="{}"><parent link="a"/><child link="b"/>{}</joint>'
K = '<joint name="k" type="fixed"><parent link="{}"/><child link="{}"/></joint>'
ZEROS = '<inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'


def joint(inside: str, kind: str = "revolute") -> str:
    return robot_of(A, B, J.format(kind, inside))


BROKEN = [
    ("", None, "empty"),
    ("   \n ", None, "empty"),
    ("hello", 1, "not well-formed XML"),
    ("<robot><link></robot>", 1, "not well-formed XML"),
    (ARM[:700], None, "not well-formed XML"),
    ("<sdf/>", 1, "begins with <robot"),
    (robot_of(), 1, "has no <link>"),
    (robot_of("<link/>"), 2, "<link> has no name"),
    (robot_of(A, A), 3, "link 'a': this name is taken"),
    (robot_of(A, B), 3, "2 links have no parent (a, b)"),
    (inertial('<mass value="-1"/>' + ZEROS), 2, "mass is -1 kg"),
    (inertial('<mass value="nan"/>' + ZEROS), 2, "value='nan' is not a number"),
    (inertial('<mass value="inf"/>' + ZEROS), 2, "value='inf' is not a number"),
    (inertial('<mass value="1,5"/>' + ZEROS), 2, "use a point for the decimal mark"),
    (inertial('<mass value="1e999"/>' + ZEROS), 2, "too large"),
    (inertial('<mass value="${m}"/>' + ZEROS), 2, "is not a number"),
    (inertial('<mass value="1_0"/>' + ZEROS), 2, "is not a number"),
    (inertial('<mass value="１"/>' + ZEROS), 2, "is not a number"),
    (inertial('<mass value=""/>' + ZEROS), 2, "is not a number"),
    (inertial("<mass/>" + ZEROS), 2, "has no value"),
    (inertial(ZEROS), 2, "has no <mass>"),
    (inertial('<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyz="0"/>'), 2, "has no iyy"),
    (inertial('<origin xyz="1 2"/><mass value="1"/>' + ZEROS), 2, "has 2 values; give 3"),
    (
        inertial('<mass value="1"/>' + ZEROS.replace("0", "1.7e308") + '<origin rpy="1 1 1"/>'),
        2,
        "inertia is",
    ),
    (joint("", "screw"), 4, "has the type 'screw'; take one of"),
    (
        robot_of(A, B, '<joint name="j"><parent link="a"/><child link="b"/></joint>'),
        4,
        "has no type",
    ),
    (
        robot_of(A, B, '<joint name="j" type="fixed"><parent link="a"/></joint>'),
        4,
        "'j' has no <child>",
    ),
    (
        robot_of(A, B, '<joint name="j" type="fixed"><parent/><child link="b"/></joint>'),
        4,
        "<parent> has no link",
    ),
    (robot_of(A, J.format("fixed", "")), 3, "child link 'b' does not exist"),
    (joint('<axis xyz="0 0 0"/>'), 4, "no direction"),
    (joint('<axis xyz="0 0 x"/>'), 4, "xyz='x' is not a number"),
    (joint('<limit lower="1" upper="-1"/>'), 4, "joint 'j': limit lower 1 is above upper -1"),
    (joint('<limit effort="-3"/>'), 4, "joint 'j': limit torque is -3"),
    (joint('<dynamics damping="-3"/>'), 4, "joint 'j':"),
    (joint('<mimic joint="k"/>'), 4, "mimics the joint 'k', which does not exist"),
    (joint('<mimic joint="j"/>'), 4, "in a circle"),
    (joint("<mimic/>"), 4, "<mimic> has no joint"),
    (
        robot_of(A, B, C, J.format("fixed", ""), K.format("c", "b")),
        6,
        "already the child of joint 'j'",
    ),
    (robot_of(A, B, J.format("fixed", ""), K.format("b", "a")), None, "the links form a loop"),
    (robot_of(A, K.format("a", "a")), 3, "the links form a loop (a -> a)"),
    (joint("") + "\n<x/>", 6, "not well-formed"),
    ('<!DOCTYPE r [<!ENTITY a "b">]>\n' + robot_of(A), 1, "entities, which are not expanded"),
    (
        (
            '<!DOCTYPE r [\n<!ENTITY a SYSTEM "file:///etc/hostname">]>\n<robot name="&a;"><link'
            ' name="a"/></robot>'
        ),
        2,
        "not expanded",
    ),
    ('<?xml version="1.0" encoding="utf-7"?>' + robot_of(A), 1, "encoding 'utf-7' is not known"),
    (
        '<?xml version="1.0" encoding="klingon"?>' + robot_of(A),
        1,
        "encoding 'klingon' is not known",
    ),
    (robot_of('<link name="caf\xe9"/>').encode("latin-1"), 2, "the bytes are not utf-8"),
    ("<a>" * 100_000, None, "not well-formed"),
    (
        (
            '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="m"/><link'
            ' name="a"/></robot>'
        ),
        1,
        "name the file .xacro",
    ),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN, ids=range(len(BROKEN)))
def test_broken_files_are_answered_by_one_message_with_the_line(tmp_path, text, line, message):
    with pytest.raises(FileError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value) and str(caught.value).startswith(str(tmp_path / "arm.urdf"))
    assert line is None or caught.value.line == line
    assert caught.value.__cause__ is None and "\n" not in str(caught.value)


def test_a_billion_laughs_are_refused_at_once(tmp_path):
    bomb = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    start = time.process_time()
    with pytest.raises(FileError, match="entities"):
        read(tmp_path, f'<!DOCTYPE r [<!ENTITY l0 "lol">{bomb}]><robot name="&l11;"/>')
    for encoding in ("utf-16", "utf-16-le"):
        text = (
            f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE r [<!ENTITY l0'
            f' "lol">{bomb}]><robot name="&l11;"/>'
        )
        with pytest.raises(FileError):
            read(tmp_path, text.encode(encoding))
    assert time.process_time() - start < 2.0


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(FileError, match="there is no such file"):
        load(tmp_path / "missing.urdf")
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(FileError, match="this is a directory"):
        load(tmp_path / "folder.urdf")
    with pytest.raises(FileError, match=r"suffix '\.stl' is not known"):
        load(tmp_path / "part.stl")
    with pytest.raises(FileError, match="cannot be opened"):
        load("nul\0.urdf")
    for wrong in (3, None, b"arm.urdf"):
        with pytest.raises(ArgumentError, match=r"path (is|=)"):
            load(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="looks like XML text"):
        load(ARM)


def test_a_file_of_more_than_64_MB_is_refused_unread(tmp_path):
    with open(tmp_path / "big.urdf", "wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(FileError, match="65 MB; at most 64 MB"):
        load(tmp_path / "big.urdf")


def test_a_million_joints_are_refused_in_bounded_time(tmp_path):
    start = time.process_time()
    body = "".join(f'<link name="{i}"/><joint name="{i}" type="fixed"/>' for i in range(1_000_000))
    made = time.process_time()
    with pytest.raises(FileError, match="tags or attributes"):
        read(tmp_path, robot_of(body))
    assert time.process_time() - made < 5.0 + (made - start)


def test_more_links_than_any_robot_has_are_refused(tmp_path):
    with pytest.raises(FileError, match="110000 links; at most 20000"):
        read(tmp_path, robot_of(*(f'<link name="{i}"/>' for i in range(110_000))))


def test_a_chain_of_five_thousand_links_loads(tmp_path):
    lines = [
        f'<link name="l{i}"><inertial><mass value="1"/>{ZEROS}</inertial></link>'
        for i in range(5001)
    ]
    lines += [
        f'<joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(5000)
    ]
    start = time.process_time()
    robot = read(tmp_path, robot_of(*reversed(lines)))
    assert time.process_time() - start < 20.0
    assert (
        len(robot.joints) == 5000
        and robot.joints[4999].child == "l5000"
        and robot.tips == ("l5000",)
    )


def test_unphysical_inertias_are_kept_with_a_warning(tmp_path):
    text = inertial(
        '<mass value="1"/>\n<inertia ixx="1" iyy="1" izz="-0.5" ixy="0" ixz="0" iyz="0"/>'
    )
    with pytest.warns(ArmatureWarning, match=r"arm\.urdf:2: link 'a': no body has this inertia"):
        robot = read(tmp_path, text)
    assert robot.link("a").inertia == (1.0, 1.0, -0.5, 0.0, 0.0, 0.0)


def test_a_robot_without_any_mass_is_a_doubt(tmp_path):
    joint = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>'
    heavy = (
        '<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
        ' iyz="0"/></inertial></link>'
    )
    with pytest.warns(
        ArmatureWarning, match=r"arm\.urdf:1: robot 'r': no link that moves has a mass"
    ):
        read(tmp_path, f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, f'<robot name="r"><link name="a"/>{heavy}{joint}</robot>')


def test_repairs_are_warnings_with_the_line(tmp_path):
    with pytest.warns(ArmatureWarning, match=r"arm\.urdf:2: .*taken as a point mass"):
        assert read(tmp_path, inertial('<mass value="1"/>')).link("a").inertia == (0.0,) * 6
    with pytest.warns(ArmatureWarning, match="ixy, ixz, iyz missing"):
        read(tmp_path, inertial('<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>'))
    with pytest.warns(ArmatureWarning, match=r"arm\.urdf:3: <transmission> names the joint 'x'"):
        read(
            tmp_path,
            robot_of(
                A,
                "<transmission><joint"
                ' name="x"/><mechanicalReduction>3</mechanicalReduction></transmission>',
            ),
        )
    with pytest.warns(ArmatureWarning) as caught:
        turn = (
            '<joint name="j{0}" type="revolute"><parent link="a"/><child link="l{0}"/><axis xyz="0'
            ' 0 9"/></joint>'
        )
        lines = [turn.format(i) for i in range(500)]
        read(tmp_path, robot_of(A, *(f'<link name="l{i}"/>' for i in range(500)), *lines))
    assert len(caught) == 20


def test_clean_files_are_read_in_silence(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = read(tmp_path, ARM.replace('xyz="0 0 2"', 'xyz="0 0 1"'))
    assert robot.joints


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_declared_encodings_are_understood(tmp_path, encoding):
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?><robot name="r"><link name="café"/></robot>'
    assert read(tmp_path, text.encode(encoding)).base == "café"


def test_a_default_namespace_is_no_obstacle(tmp_path):
    assert (
        read(tmp_path, '<robot name="r" xmlns="http://www.ros.org"><link name="a"/></robot>').base
        == "a"
    )


def test_an_xml_file_is_a_urdf_by_its_root(tmp_path):
    assert read(tmp_path, robot_of(A), "arm.xml").base == "a"


def test_infinite_limits_are_no_limits(tmp_path):
    limits = (
        read(tmp_path, joint('<limit lower="-inf" upper="inf" velocity="INF" effort="3"/>'))
        .joint("j")
        .limits
    )
    assert limits == Limits(torque=3.0)


def test_differentials_take_each_joints_own_reduction(tmp_path):
    block = """<transmission><joint name="j"><mechanicalReduction>-1</mechanicalReduction></joint><joint name="k"/>
      <actuator name="1"><mechanicalReduction>7</mechanicalReduction></actuator><actuator name="2"/></transmission>"""
    more = '<joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint>'
    robot = read(tmp_path, robot_of(A, B, C, J.format("revolute", ""), more, block))
    assert robot.joint("j").reduction == -1.0 and robot.joint("k").reduction is None


def test_a_floating_base_is_a_joint_to_the_world(tmp_path):
    path = tmp_path / "arm.urdf"
    weld = '<joint name="root_joint" type="fixed"><parent link="world"/><child link="b"/></joint>'
    path.write_text(robot_of('<link name="world"/>', B, weld))
    robot = load(path, floating_base=True)
    first = robot.joints[0]
    assert (first.name, first.kind, first.parent, first.child) == (
        "root_joint_",
        "floating",
        "world_",
        "world",
    )
    assert robot.base == "world_" and (robot.nq, robot.nv) == (7, 6)


def test_xacro_macros_are_expanded(tmp_path):
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    body = (
        '<xacro:property name="m" value="${1 + 2}"/><link name="a"><inertial><mass value="${m}"/>'
        + ZEROS
        + "</inertial></link></robot>"
    )
    assert read(tmp_path, head + body, "a.xacro").link("a").mass == 3.0
    with pytest.raises(FileError, match="'k' is not defined"):
        read(tmp_path, head + body.replace("${m}", "${k}"), "a.xacro")


# --- real files ----------------------------------------------------------------------------------

PACKAGE = distribution("example-robot-data")
REAL = sorted(str(f) for f in PACKAGE.files or () if str(f).endswith(".urdf"))
REFUSED = {
    "ur3.urdf": "has no <link>",
    "alex_psyonic_hands.urdf": "mimics the joint 'index_q1', which does not exist",
}


def test_the_collection_is_there():
    assert len(REAL) >= 60


@pytest.mark.parametrize("name", REAL, ids=[Path(n).name for n in REAL])
def test_real_robots_load_or_are_refused_with_the_line(name):
    path = PACKAGE.locate_file(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmatureWarning)
        if Path(name).name in REFUSED:
            with pytest.raises(FileError) as caught:
                load(str(path))
            assert REFUSED[Path(name).name] in str(caught.value) and caught.value.line
            return
        robot = load(str(path))
    assert robot.mass > 0 and all(math.isfinite(x) for link in robot.links for x in link.inertia)
    assert len(robot.links) == len(robot.joints) + 1
