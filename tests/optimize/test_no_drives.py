"""Least time of robots with joint limits and no drives: moves and paths, proved, reported and
saved; no energy is counted."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.cli.main import run
from armature.plot import words

URDF = """<robot name="slider">
  <link name="base"/>
  <link name="cart"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-5" upper="5" effort="8" velocity="1.5"/></joint>
</robot>"""
WAY, LIMIT, SPEED, MASS = 1.0, 8.0, 1.5, 2.0
TRAPEZOID = WAY / SPEED + SPEED * MASS / LIMIT  # accelerate at F/m, cruise, brake


@pytest.fixture
def slider(tmp_path):
    (tmp_path / "slider.urdf").write_text(URDF)
    return arm.load(tmp_path / "slider.urdf")


def tasks(robot):
    return arm.Move(np.zeros(1), np.full(1, WAY)), arm.FollowPath(arm.joint_path([[0.0], [WAY]]))


def test_torque_limits_alone_give_the_trapezoid_for_moves_and_paths(slider):
    for task in tasks(slider):
        found = arm.minimize_time(slider, task)
        assert found.ok and found.certificate.ok
        assert abs(found.duration / TRAPEZOID - 1.0) < 3e-3


def test_limits_of_velocity_and_acceleration_alone_will_do(slider):
    free = slider.with_limits({"x": {"torque": np.inf, "acceleration": LIMIT / MASS}})
    for task in tasks(free):
        found = arm.minimize_time(free, task)
        assert found.ok and found.certificate.ok
        assert abs(found.duration / TRAPEZOID - 1.0) < 3e-3


def test_joint_friction_is_overcome_within_the_torque_limit_and_in_the_certificate(slider):
    rubbing = slider.with_friction({"x": {"coulomb": 2.0}})
    found = arm.minimize_time(rubbing, tasks(rubbing)[0])
    # accelerates with F − c, brakes with F + c, cruises between
    up, down = (LIMIT - 2.0) / MASS, (LIMIT + 2.0) / MASS
    exact = WAY / SPEED + SPEED * (1 / up + 1 / down) / 2
    assert found.ok and found.certificate.ok and found.certificate.tracking_error < 1e-4
    assert abs(found.duration / exact - 1.0) < 3e-3


def test_energy_is_said_not_to_be_counted_and_survives_saving(slider, tmp_path):
    found = arm.minimize_time(slider, tasks(slider)[0], knots=40)
    assert math.isnan(found.energy) and math.isnan(found.losses) and found.saving is None
    assert "not counted" in str(found) and "not counted" in str(found.certificate)
    assert " J" not in words.headline(found) and all(
        " J " not in line for line in words.summary(found)
    )
    again = arm.load_plan(found.save(tmp_path / "plan", report=True))
    assert again.ok and math.isnan(again.energy) and again.certificate.ok
    assert "not counted" in (tmp_path / "plan" / "report.html").read_text()


def test_least_energy_still_asks_for_drives(slider):
    for task in tasks(slider):
        with pytest.raises(arm.ArgumentError, match="no drives"):
            arm.minimize_energy(slider, replace(task, duration=2.0))


def test_the_command_line_plans_the_least_time_and_answers_null_for_energies(
    slider, tmp_path, capsys
):
    command = [
        "plan",
        str(tmp_path / "slider.urdf"),
        "--from",
        "0",
        "--to",
        "1",
        "--objective",
        "time",
        "--knots",
        "40",
    ]
    assert run([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (
        told["ok"]
        and told["energy"] is None
        and told["saving"] is None
        and told["certificate"]["ok"]
    )
    assert run(command) == 0
    assert "energy not counted: no drives" in capsys.readouterr().out
