"""MJCF actuators as torque limits, loops between sites, and models that would take too much memory
or time."""

import os
import struct
import time
import zlib

import mujoco
import numpy as np
import pytest

from armature.errors import ArmatureWarning, FileError
from armature.robot import load

INF = float("inf")


def read(tmp_path, text, name="arm.xml"):
    (tmp_path / name).write_text(text)
    return load(tmp_path / name)


def arm(actuators, joint=""):
    return f"""<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0" {joint}/><geom size="0.1"/></body></worldbody>
      <actuator>{actuators}</actuator></mujoco>"""


ACTUATORS = [
    ('<motor joint="j" forcerange="-20 20"/>', "", 20.0),
    ('<motor joint="j" ctrlrange="-1 1" gear="30"/>', "", 30.0),
    ('<motor joint="j" ctrlrange="-1 1" forcerange="-0.5 0.5" gear="-30"/>', "", 15.0),
    ('<general joint="j" gainprm="4" ctrlrange="-2 2"/>', "", 8.0),
    ('<position joint="j" kp="100" ctrlrange="-3 3" forcerange="-12 12"/>', "", 12.0),
    ('<position joint="j" kp="100" ctrlrange="-3 3"/>', "", INF),
    ('<velocity joint="j" kv="5" forcerange="-7 7"/>', "", 7.0),
    ('<motor joint="j" forcerange="-20 20"/><motor joint="j" forcerange="-5 5"/>', "", 25.0),
    ('<motor joint="j" forcerange="-20 20"/><motor joint="j"/>', "", INF),
    ('<motor joint="j" forcerange="-20 20"/>', 'actuatorfrcrange="-9 9"', 9.0),
    ("", 'actuatorfrcrange="-9 9"', 9.0),
    ("", "", INF),
]


@pytest.mark.parametrize(("actuators", "joint", "limit"), ACTUATORS)
def test_torque_limit_is_what_actuators_can_give(tmp_path, actuators, joint, limit):
    robot = read(tmp_path, arm(actuators, joint))
    assert robot.joint("j").limits.torque == pytest.approx(limit)
    if limit < INF:  # MuJoCo's own forces at very large controls never exceed it, and reach it
        model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
        data = mujoco.MjData(model)
        data.ctrl[:] = 1e6
        mujoco.mj_forward(model, data)
        assert abs(data.qfrc_actuator[0]) == pytest.approx(limit if model.nu else 0.0)


def test_the_smaller_side_of_a_range_counts_and_is_said(tmp_path):
    with pytest.warns(ArmatureWarning, match="taken as ±10"):
        robot = read(tmp_path, arm('<motor joint="j" forcerange="-10 30"/>'))
    assert robot.joint("j").limits.torque == 10.0


FOUR_BAR = """<mujoco><worldbody><site name="ground" pos="1 0 0" euler="0 90 0"/><body name="a"><joint axis="0 1 0"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 1 0 0"/><site name="end" pos="1 0 0" euler="0 90 0"/></body></worldbody>
  <equality><{kind} name="c" site1="end" site2="ground"/></equality></mujoco>"""


@pytest.mark.parametrize(("kind", "read_as"), [("connect", "spherical"), ("weld", "fixed")])
def test_loops_between_sites_are_read(tmp_path, kind, read_as):
    (loop,) = read(tmp_path, FOUR_BAR.format(kind=kind)).loops
    assert (loop.kind, loop.a, loop.b) == (read_as, "a", "world")
    assert np.allclose(loop.position_a, (1, 0, 0)) and np.allclose(loop.position_b, (1, 0, 0))
    assert np.allclose(loop.rotation_a, loop.rotation_b)


def test_shapes_for_looks_are_drawn_and_else_those_that_collide(tmp_path):
    collide = '<geom type="capsule" size="0.05 0.2"/>'
    looks = '<geom type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0" mass="0"/>'
    body = "<mujoco><worldbody><body name='b'><joint/>{}</body></worldbody></mujoco>"
    assert [v.shape for v in read(tmp_path, body.format(collide)).link("b").visuals] == ["capsule"]
    both = read(tmp_path, body.format(collide + looks)).link("b")
    assert [v.shape for v in both.visuals] == ["box"] and [v.shape for v in both.collisions] == [
        "capsule"
    ]


def unstable(model):
    """Two steps of a simulation that MuJoCo warns of, and logs."""
    data = mujoco.MjData(model)
    data.qvel[:] = 1e30
    mujoco.mj_step(model, data)


def test_no_log_is_left_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compiled = mujoco.MjModel.from_xml_string(arm(""))

    def noisy(path):
        unstable(compiled)
        return compiled

    monkeypatch.setattr(mujoco.MjModel, "from_xml_path", noisy, raising=False)
    with pytest.warns(ArmatureWarning, match="MuJoCo warns: .*unstable"):
        read(tmp_path, arm(""))
    assert os.listdir(tmp_path) == ["arm.xml"]
    assert mujoco.get_mju_user_warning() is None


def png(width, height):
    """A PNG file that claims a size in its header."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + head
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    )


NESTED = (
    '<replicate count="1000">' * 4 + '<body><joint/><geom size="0.1"/></body>' + "</replicate>" * 4
)
WORLD = "<mujoco>{}<worldbody>{}</worldbody></mujoco>"
BOMBS = {
    "replicate": WORLD.format("", '<replicate count="1000000000"><geom size="1"/></replicate>'),
    "nested replicate": WORLD.format("", NESTED),
    "composite": WORLD.format(
        "",
        '<body><composite type="cable" count="1000000 1 1" size="1"><geom'
        ' size="1"/></composite></body>',
    ),
    "flexcomp": WORLD.format(
        "", '<flexcomp type="grid" count="1000 1000 1000" spacing="1 1 1" name="f"/>'
    ),
    "texture": WORLD.format(
        '<asset><texture name="t" type="2d" builtin="flat" width="100000"'
        ' height="100000"/></asset>',
        "",
    ),
    "cube texture": WORLD.format(
        '<asset><texture name="t" type="cube" builtin="flat" width="50000" height="1"/></asset>', ""
    ),
    "height field": WORLD.format(
        '<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>', ""
    ),
    "user array": WORLD.format('<size nuser_body="2000000000"/>', ""),
    "user data": WORLD.format('<size nuserdata="2000000000"/>', ""),
    "memory": WORLD.format('<size memory="900G"/>', ""),
    "custom number": WORLD.format('<custom><numeric name="n" size="400000000"/></custom>', ""),
    "sensor": (
        WORLD.format("", "").replace(
            "</mujoco>", '<sensor><user dim="2000000000"/></sensor></mujoco>'
        )
    ),
    "built-in mesh": WORLD.format(
        '<asset><mesh name="m" builtin="sphere" params="100000"/></asset>', ""
    ),
    "pipe as mesh": WORLD.format('<asset><mesh name="m" file="pipe.stl"/></asset>', ""),
    "pipe as include": WORLD.format('<include file="pipe.stl"/>', ""),
    "device as height field": WORLD.format(
        '<asset><hfield name="h" file="/dev/zero" size="1 1 1 1"/></asset>', ""
    ),
    "wide picture": WORLD.format(
        '<asset><texture name="t" type="2d" file="wide.png"/></asset>', ""
    ),
    "included": WORLD.format('<include file="part.xml"/>', ""),
    "infinite count": WORLD.format("", '<replicate count="inf"><geom size="1"/></replicate>'),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_model_that_grows_too_large_is_refused_before_it_is_compiled(tmp_path, monkeypatch, name):
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "wide.png").write_bytes(png(100_000, 100_000))
    (tmp_path / "part.xml").write_text(BOMBS["nested replicate"].replace("mujoco", "mujocoinclude"))
    monkeypatch.setattr(
        mujoco.MjModel,
        "from_xml_path",
        lambda path: pytest.fail("the compiler was called"),
        raising=False,
    )
    start = time.process_time()
    with pytest.raises(FileError) as caught:
        read(tmp_path, BOMBS[name])
    assert "\n" not in str(caught.value) and time.process_time() - start < 5


def test_a_model_of_many_parts_is_still_read(tmp_path):
    text = WORLD.format(
        "",
        '<replicate count="200" offset="0 0 0.1"><body><joint axis="0 1 0"/><geom'
        ' size="0.1"/></body></replicate>',
    )
    assert read(tmp_path, text).n == 200
