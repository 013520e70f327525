"""A xacro file in the app: its arguments, again with others; and a payload slider of the robot's size."""

import pytest

import armature as arm
from armature.errors import ArgumentError
from armature.web.opening import opened
from armature.web.wish import payload_range

XACRO = """<robot name="own" xmlns:xacro="http://wiki.ros.org/xacro"><xacro:arg name="mass" default="2"/><link name="base"/>
  <link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="$(arg mass)"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
  </inertial></link><joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="2" effort="30"/></joint></robot>"""


def test_a_xacro_file_is_read_again_with_other_arguments(tmp_path):
    (tmp_path / "a.xacro").write_text(XACRO)
    opening = opened(str(tmp_path / "a.xacro"), arguments={"mass": "3"})
    assert (
        opening.arguments == "mass:=3"
        and opening.wish.robot.mass == 3.0
        and opening.again is not None
    )
    assert opening.again("mass:=5").wish.robot.mass == 5.0
    assert opening.again("").wish.robot.mass == 2.0
    with pytest.raises(ArgumentError, match="name:=value"):
        opening.again("mass=5")
    assert opened("scara").arguments is None


def test_the_payload_slider_ends_at_about_half_of_what_moves(tmp_path):
    (tmp_path / "a.xacro").write_text(XACRO)
    ends = {
        mass: payload_range(arm.load(tmp_path / "a.xacro", arguments={"mass": mass}))
        for mass in (0, 0.01, 2, 17, 500)
    }
    assert ends == pytest.approx({0: 10.0, 0.01: 0.005, 2: 1.0, 17: 10.0, 500: 500.0})
