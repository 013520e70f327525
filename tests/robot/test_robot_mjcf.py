"""The MJCF reader against MuJoCo itself: the same mass matrix, gravity torques and positions at the
same coordinates."""

import warnings

import mujoco
import numpy as np
import pytest
import robot_mechanics as mechanics

from armature.drive.friction import Friction
from armature.errors import ArmatureWarning, FileError, MissingExtraError
from armature.robot import Limits, Mimic, Rotor, load

ARM = """<mujoco model="arm">
  <compiler angle="degree"/>
  <option gravity="0.3 0.1 -9.7"/>
  <default><joint damping="0.5"/><geom density="800"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="turret" pos="0 0 0.3" euler="10 20 30">
      <joint name="pan" axis="0 0 1" range="-90 120" armature="0.2" frictionloss="0.3" actuatorfrcrange="-40 40"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0" euler="20 0 10"/>
      <body name="arm" pos="0.1 0 0.2" quat="0.8 0.6 0 0">
        <joint name="tilt" axis="0 1 0.5" pos="0.1 -0.2 0.05" ref="25"/>
        <joint name="reach" type="slide" axis="1 0 0.2" pos="0.3 0.3 0.1" ref="0.15"/>
        <joint axis="1 0 0" pos="0 0.1 0"/>
        <geom type="capsule" size="0.05 0.2" pos="0.2 0 0"/>
        <body name="tool" pos="0.4 0 0">
          <inertial pos="0.01 0.02 0.03" mass="0.7" fullinertia="0.02 0.03 0.04 0.001 0.002 0.003"/>
        </body>
        <body pos="0 0.2 0"><joint name="finger" axis="0 1 0" type="slide"/><geom size="0.03"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>"""


def read(tmp_path, text, name="arm.xml"):
    (tmp_path / name).write_text(text)
    return load(tmp_path / name)


@pytest.mark.parametrize("seed", range(5))
def test_dynamics_are_mujocos(tmp_path, seed):
    robot, model = read(tmp_path, ARM), mujoco.MjModel.from_xml_string(ARM)
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    data.qpos[:] = rng.uniform(-1, 1, model.nq)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    for k, column in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, M[k], column)
    names = [model.joint(i).name or "arm_joint3" for i in range(model.njnt)]
    assert mechanics.free_joints(robot) == names
    q = dict(zip(names, data.qpos))
    assert np.allclose(mechanics.mass_matrix(robot, q), M, rtol=0, atol=1e-13)
    assert np.allclose(mechanics.gravity_torque(robot, q), data.qfrc_bias, rtol=0, atol=1e-12)
    for body in ("turret", "arm", "tool"):
        R, p = mechanics.poses(robot, q)[body]
        assert np.allclose(p, data.body(body).xpos, atol=1e-14) and np.allclose(
            R.ravel(), data.body(body).xmat, atol=1e-14
        )


def test_joint_properties_are_read(tmp_path):
    pan = read(tmp_path, ARM).joint("pan")
    assert pan.rotor == Rotor(0.2) and pan.friction == Friction(0.5, 0.3)
    assert pan.limits == Limits(np.radians(-90), np.radians(120), torque=40.0)
    assert read(tmp_path, ARM).gravity == (0.3, 0.1, -9.7)


def test_linear_equalities_are_mimics_and_constants_are_locks(tmp_path):
    equality = """<equality><joint joint1="finger" joint2="pan" polycoef="0.05 2 0 0 0"/><joint joint1="reach" polycoef="0.1 0 0 0 0"/>
      <joint joint1="tilt" joint2="pan" polycoef="0 1 1 0 0"/><weld body1="tool"/></equality></mujoco>"""
    with pytest.warns(ArmatureWarning) as caught:
        robot = read(tmp_path, ARM.replace("</mujoco>", equality))
    assert ["(joint)" in str(w.message) for w in caught] == [True]
    assert [(c.kind, c.a, c.b) for c in robot.loops] == [("fixed", "tool", robot.base)]
    assert (
        robot.joint("finger").mimic == Mimic("pan", 2.0, 0.05)
        and robot.joint("reach").kind == "fixed"
    )
    plain = read(tmp_path, ARM)
    q = {"pan": 0.3, "tilt": 0.4, "arm_joint3": -0.2}
    expected = mechanics.poses(plain, {**q, "reach": 0.25, "finger": 0.65})
    for link, (R, p) in mechanics.poses(robot, q).items():
        assert np.allclose(R, expected[link][0], atol=1e-14) and np.allclose(
            p, expected[link][1], atol=1e-14
        )


def test_mimics_count_from_the_reference_values(tmp_path):
    equality = (
        '<equality><joint joint1="tilt" joint2="reach" polycoef="0.1 3 0 0 0"/></equality></mujoco>'
    )
    mimic = read(tmp_path, ARM.replace("</mujoco>", equality)).joint("tilt").mimic
    assert mimic is not None and (mimic.joint, mimic.multiplier) == ("reach", 3.0)
    assert mimic.offset == pytest.approx(np.radians(25) + 0.1 - 3 * 0.15, abs=1e-15)


def test_a_free_joint_is_a_floating_base(tmp_path):
    body = '<body name="b" pos="1 2 3"><freejoint name="root"/><geom size="0.1"/></body>'
    robot = read(tmp_path, f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    joint = robot.joint("root")
    assert (joint.kind, joint.parent, joint.position) == (
        "floating",
        "world",
        (0.0, 0.0, 0.0),
    ) and (robot.nq, robot.nv) == (7, 6)


def test_what_has_no_counterpart_is_warned_of(tmp_path):
    with pytest.warns(ArmatureWarning, match="springs of the joints finger"):
        read(tmp_path, ARM.replace('name="finger"', 'name="finger" stiffness="10"'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, ARM)


def test_gravity_can_be_switched_off(tmp_path):
    text = ARM.replace("<worldbody>", '<option><flag gravity="disable"/></option><worldbody>', 1)
    assert read(tmp_path, text).gravity == (0.0, 0.0, 0.0)


BROKEN = [
    ("<mujoco>", 1, "not well-formed"),
    ("<mujoco>\n<foo/></mujoco>", 2, "MuJoCo refuses it"),
    ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", 1, "mass and inertia"),
    (
        "<mujoco><worldbody><body><joint type='ball'/><geom size='1'/></body></worldbody></mujoco>",
        None,
        "write it as three hinges",
    ),
    ("<mujoco><asset><mesh file='none.stl'/></asset></mujoco>", None, "MuJoCo refuses it"),
    ("<mujocoinclude/>", 1, "MJCF begins with <mujoco>"),
    ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', 1, "entities"),
]


@pytest.mark.parametrize(("text", "line", "message"), BROKEN, ids=[m for _, _, m in BROKEN])
def test_broken_files_are_answered_by_one_message(tmp_path, text, line, message):
    with pytest.raises(FileError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert line is None or caught.value.line == line


def test_a_missing_extra_is_told_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match="mujoco"):
        read(tmp_path, "<mujoco/>")
