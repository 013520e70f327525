"""Whatever the bytes are: an ArmatureError or a robot comes out, soon."""

import time
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armature.errors import ArmatureError
from armature.robot import Robot
from armature.robot.load.urdf import robot_from_urdf
from armature.robot.load.xml import parse
from armature.robot.load.yaml import robot_from_yaml

SEED = """<?xml version="1.0"?>
<robot name="arm"><link name="base"/><link name="upper"><inertial><origin xyz="0 0 0.5" rpy="0 0.1 0"/><mass value="2"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="tip"/><joint name="a" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1.5" velocity="2" effort="30"/><dynamics damping="0.7" friction="0.2"/></joint>
<joint name="b" type="prismatic"><parent link="upper"/><child link="tip"/><mimic joint="a" multiplier="-1" offset="0.01"/></joint>
<transmission name="t"><joint name="a"/><actuator name="m"><mechanicalReduction>100</mechanicalReduction></actuator></transmission>
</robot>"""

YAML_SEED = """armature: 1
name: arm
gravity: [0, 0, -9.81]
base: {name: base, mass: 3}
links:
  - {name: upper, joint: a, kind: revolute, offset: [0, 0, 0.3], rpy: [0, 90 deg, 0], axis: z, mass: 2 kg, shape: {kind: rod, length: 1}}
  - {name: tip, joint: b, n: 2, mass: 1, inertia: [1, 1, 1], limits: {lower: 0, upper: 10 mm}, mimic: {joint: a}, rotor: {inertia: 1e-5}}
drives: {a: {motor: {resistance: 1 ohm, torque_constant: 0.1}, gear: {ratio: 50, efficiency: 0.9}}}
supply: {kind: bus, capacitance: 1 mF, voltage: 300, resistor_voltage: 380 V}
"""

WORDS = [
    "nan",
    "inf",
    "-1",
    "1e999",
    "1e308",
    "-1e308",
    "5e-324",
    "9" * 400,
    "",
    "0",
    "0x10",
    "~",
    "é",
    "\x00",
    "\ufffe",
    "\n",
    "\t",
]
WORDS += [
    "base",
    "upper",
    "tip",
    "a",
    "b",
    "floating",
    "planar",
    "fixed",
    "<link/>",
    "<joint/>",
    "<!DOCTYPE r [<!ENTITY x 'y'>]>",
]
WORDS += [
    '"',
    "'",
    "<",
    ">",
    "/",
    "=",
    "&",
    "&lt;",
    "&x;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
]
WORDS += ["{", "}", "[", "]", ":", "- ", "*x", "&x ", "!!float", "%YAML 1.1\n---\n", "<<"]
ENCODINGS = ["utf-8", "utf-16", "utf-16-le", "utf-32", "latin-1", "utf-7"]
QUICK = settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def mutations(draw, seed: str) -> str:
    """The seed with pieces removed, repeated, moved or replaced by awkward words."""
    text = seed
    for _ in range(draw(st.integers(1, 6))):
        i, j = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        j = min(j, i + draw(st.sampled_from([0, 1, 3, 10, 60, len(text)])))
        piece = draw(st.sampled_from(["", text[i:j] * 2, *WORDS]))
        text = (text[:i] + piece + text[j:])[: 4 * len(seed)]
    return text


@st.composite
def numbers_replaced(draw) -> str:
    """The seed, well-formed, with one of its attribute values replaced: reaches the checks behind
    the parser."""
    parts = SEED.split('"')
    k = draw(st.integers(2, (len(parts) - 1) // 2 - 1)) * 2 + 1
    words = [w for w in WORDS if not set(w) & set('<>&"\0\ufffe')]
    parts[k] = draw(
        st.one_of(st.floats().map(repr), st.sampled_from([*words, "1e300 1e300 1e300", "0 0 0"]))
    )
    return '"'.join(parts)


def expect_robot_or_error(read, *arguments) -> None:
    """Either a robot or an ArmatureError with a message, within seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert isinstance(read(*arguments), Robot)
        except ArmatureError as e:
            assert str(e).startswith("fuzz.")
    assert time.process_time() - start < 5.0


def read_urdf(data: bytes) -> Robot:
    return robot_from_urdf(parse(data, "fuzz.urdf"), "fuzz.urdf")


def read_yaml(text: str) -> Robot:
    return robot_from_yaml(text, "fuzz.yaml")


@QUICK
@given(mutations(SEED), st.sampled_from(ENCODINGS))
def test_mutated_xml_gives_a_robot_or_an_armature_error(text, encoding):
    expect_robot_or_error(read_urdf, text.encode(encoding, "replace"))


@QUICK
@given(numbers_replaced())
def test_strange_values_give_a_robot_or_an_armature_error(text):
    expect_robot_or_error(read_urdf, text.encode())


@QUICK
@given(st.binary(max_size=300))
def test_arbitrary_bytes_give_an_armature_error(data):
    expect_robot_or_error(read_urdf, data)
    expect_robot_or_error(read_urdf, b"<?xml version='1.0'?><robot>" + data)


def test_truncated_xml_gives_an_armature_error():
    for n in range(len(SEED) - 1):
        expect_robot_or_error(read_urdf, SEED[:n].encode())


@QUICK
@given(mutations(YAML_SEED))
def test_mutated_yaml_gives_a_robot_or_an_armature_error(text):
    expect_robot_or_error(read_yaml, text)


def test_the_seeds_themselves_are_robots():
    assert len(read_urdf(SEED.encode()).joints) == len(read_yaml(YAML_SEED).joints) == 2


BOMBS = {
    "aliases": (
        "a: &a [1, 1]\n"
        + "".join(
            f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n"
            for i in range(12)
        )
    ),
    "itself": "links: &x [*x]",
    "deep": "[" * 20_000,
    "deep mapping": "{a: " * 20_000,
    "long integer": "name: x\ngravity: [0, 0, " + "9" * 10_000 + "]",
    "tag": "!!python/object/apply:os.system ['true']",
    "merge": "links: [{<<: 3}]",
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_yaml_bombs_give_an_armature_error(text):
    start = time.process_time()
    with pytest.raises(ArmatureError):
        read_yaml(text)
    assert time.process_time() - start < 10.0
