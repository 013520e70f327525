"""Limits and drives as they are set on the page, and where the camera stands; without a browser."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import armature as arm
from armature.drive import catalogue
from armature.errors import ArmatureError
from armature.robot import frames
from armature.web.panel import most_payload
from armature.web.panel.drives import MOTOR, Choice, drive_of, with_drive, with_limits
from armature.web.panel.style import legend
from armature.web.panel.tool import carriers, tool_of, with_tool, without_tool
from armature.web.space import camera
from armature.web.space.geometry import corners, same_shape, shapes, shrunk
from armature.web.wish import first_wish, hand

ROBOT = arm.library("six_axis")


def choice(robot=ROBOT, joint="pan", **changes):
    """The drive of a joint as the page shows it, with changes."""
    drive = drive_of(robot, joint)
    numbers = {name: getattr(drive.motor, name) for name in MOTOR}
    given = Choice(
        drive.motor,
        drive.gear,
        numbers,
        drive.gear.ratio,
        drive.gear.efficiency,
        drive.amplifier.voltage,
    )
    return replace(given, **changes)


def test_limits_typed_on_the_page_are_the_robots_limits():
    robot = with_limits(ROBOT, "lift", {"velocity": 1.5, "acceleration": 4.0, "torque": inf})
    limits = robot.joint("lift").limits
    assert (limits.velocity, limits.acceleration, limits.torque) == (1.5, 4.0, inf)
    assert limits.lower == ROBOT.joint("lift").limits.lower and robot.joint("pan") == ROBOT.joint(
        "pan"
    )
    assert same_shape(robot, ROBOT)


def test_typed_limit_is_kept_by_the_plan():
    robot = with_limits(
        arm.library("planar2"), arm.library("planar2").joint_names[0], {"velocity": 0.7}
    )
    plan = replace(first_wish(robot), duration=2.5).job(30).run()
    assert plan.ok and np.abs(plan.trajectory.v[:, 0]).max() <= 0.7 + 1e-6


def test_drive_that_is_not_changed_stays_the_same():
    assert drive_of(with_drive(ROBOT, "pan", choice()), "pan") == drive_of(ROBOT, "pan")


def test_motor_and_gear_come_from_the_catalogue_or_from_typed_numbers():
    motor, gear = next(iter(catalogue().motors.values())), next(iter(catalogue().gears.values()))
    numbers = {name: getattr(motor, name) for name in MOTOR}
    efficiency = gear.efficiency if isinstance(gear.efficiency, float) else None
    given = choice(motor=motor, gear=gear, numbers=numbers, ratio=gear.ratio, efficiency=efficiency)
    drive = drive_of(with_drive(ROBOT, "pan", given), "pan")
    assert (drive.motor, drive.gear) == (motor, gear)
    typed = replace(
        given,
        numbers={**numbers, "resistance": 2 * motor.resistance},
        ratio=1.5 * gear.ratio,
        voltage=24.0,
    )
    robot = with_drive(ROBOT, "pan", typed)
    drive = drive_of(robot, "pan")
    assert drive.motor == replace(motor, resistance=2 * motor.resistance, name="")
    assert drive.gear.ratio == 1.5 * gear.ratio and drive.amplifier.voltage == 24.0
    assert robot.joint("pan").rotor.ratio == 1.5 * gear.ratio  # the rotor turns with the new gear


def test_impossible_numbers_are_refused_in_a_sentence():
    with pytest.raises(ArmatureError, match="resistance"):
        with_drive(ROBOT, "pan", choice(numbers={"resistance": -1.0}))
    with pytest.raises(ArmatureError, match="ratio"):
        with_drive(ROBOT, "pan", choice(ratio=0.0))


# tool and payload --------------------------------------------------------------------------------


def test_tool_that_is_set_is_the_hand_and_stands_where_it_was_typed():
    q, place, rpy = first_wish(ROBOT).start, (0.01, 0.02, 0.15), (0.3, -0.4, 0.5)
    flange = arm.pose(ROBOT, q, "tool")
    for robot in (
        with_tool(ROBOT, "tool", place, rpy),
        with_tool(with_tool(ROBOT, "flange", (1, 1, 1), (0, 0, 0)), "tool", place, rpy),
    ):
        seen = arm.pose(robot, q, hand(robot))
        np.testing.assert_allclose(seen.p, flange.p + flange.R @ np.array(place), atol=1e-12)
        turned = Rotation.from_euler("xyz", rpy).as_matrix()  # about fixed axes, as in URDF
        np.testing.assert_allclose(flange.R.T @ seen.R, turned, atol=1e-12)
        np.testing.assert_allclose(frames.to_rpy(tool_of(robot).rotation), rpy, atol=1e-12)
        assert carriers(robot) == ("tool", "flange")
        assert without_tool(robot) == ROBOT
    assert without_tool(ROBOT) is ROBOT


def test_upright_tool_keeps_its_direction_on_the_page():
    robot = with_tool(ROBOT, "tool", (0, 0, 0), (0.3, np.pi / 2, 0.5))
    again = with_tool(robot, "tool", (0, 0, 0), frames.to_rpy(tool_of(robot).rotation))
    np.testing.assert_allclose(tool_of(again).rotation, tool_of(robot).rotation, atol=1e-12)


def test_tool_that_carries_the_files_payload_is_not_taken_off():
    with pytest.raises(ArmatureError, match="payload"):
        without_tool(ROBOT.with_tool((0, 0, 0.1)).with_payload(2.0))


def test_payload_with_a_centre_and_inertia_weighs_on_the_joints_there():
    wish = replace(first_wish(ROBOT), payload=2.0)
    R, turns = arm.pose(ROBOT, wish.start, "tool").R, arm.jacobian(ROBOT, wish.start, "tool")[3:]
    torque = lambda wish, a: np.asarray(
        arm.inverse_dynamics(wish.loaded, wish.start, np.zeros(6), a)
    )
    # a centre aside lifts by the axes' turn about it: virtual work of its weight
    aside, shift = replace(wish, centre=(0.1, 0.02, 0.0)), R @ np.array([0.1, 0.02, 0.0])
    weight = 2.0 * 9.81 * np.cross(turns.T, shift)[:, 2]
    np.testing.assert_allclose(
        torque(aside, np.zeros(6)) - torque(wish, np.zeros(6)), weight, atol=1e-9
    )
    # an inertia resists turning of the hand
    a, moments = np.arange(1.0, 7.0), np.array([0.02, 0.03, 0.04])
    body = replace(wish, inertia=tuple(moments))
    resisted = turns.T @ (R @ np.diag(moments) @ R.T) @ turns @ a
    np.testing.assert_allclose(torque(body, a) - torque(wish, a), resisted, atol=1e-9)
    assert not body.same_move(wish) and not aside.same_move(wish)
    assert replace(body, payload=0.0).loaded.mass == pytest.approx(
        ROBOT.mass
    )  # nothing carried: nothing counts


# where the camera stands -------------------------------------------------------------------------


def projected(points, position, look_at, window):
    """Pixels (k, 2) from the canvas's top left, by a pinhole camera written down independently."""
    ahead = (look_at - position) / np.linalg.norm(look_at - position)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    d = points - position
    depth = d @ ahead
    assert np.all(depth > 0.0)
    focal = window.height / 2 / np.tan(camera.FIELD / 2)
    x, y = focal * (d @ right) / depth, focal * (d @ np.cross(right, ahead)) / depth
    return np.stack([window.width / 2 + x, window.height / 2 - y], axis=-1)


@pytest.mark.parametrize("view", camera.VIEWS)
@pytest.mark.parametrize("size", [(1400, 900), (1000, 500), (390, 844)])
@pytest.mark.parametrize("scale", [0.1, 1.0, 8.0])
def test_robots_of_any_size_fill_what_the_panels_leave_and_nothing_is_covered(view, size, scale):
    points = scale * (
        np.random.default_rng(3).uniform(-1, 1, (40, 3)) * [1.0, 0.5, 0.8] + [0.3, 0.1, 0.7]
    )
    window = camera.canvas(*size, 690)
    seen = projected(points, *camera.fit(points, view, window), window)
    bottom = window.height * (1 - window.covered)
    assert (
        np.all(seen >= 0.0)
        and np.all(seen[:, 0] <= window.width)
        and np.all(seen[:, 1] <= bottom + 1e-6)
    )
    fill = np.ptp(seen, axis=0) / [window.width, bottom]
    assert fill.max() > 0.6


def test_copies_of_a_robot_share_no_surface():
    parts, _ = shapes(ROBOT, ())
    for name, group in shrunk(parts, 0.97).items():
        for small, full in zip(group, parts[name]):
            outside = np.abs(small.vertices - full.vertices).max(axis=0)
            assert np.all(
                outside <= 0.03 * np.ptp(np.concatenate([p.vertices for p in parts[name]]), axis=0)
            )
            assert np.ptp(small.vertices, axis=0) == pytest.approx(
                0.97 * np.ptp(full.vertices, axis=0)
            )


def test_boxes_hold_all_shapes():
    parts, _ = shapes(ROBOT, ())
    for k, box in corners(ROBOT, parts).items():
        for part in parts[ROBOT.links[k].name]:
            assert np.all(part.vertices >= box.min(axis=0) - 1e-12) and np.all(
                part.vertices <= box.max(axis=0) + 1e-12
            )


@pytest.mark.parametrize(("name", "low", "high"), [("planar2", 0.1, 20), ("six_axis", 5, 30)])
def test_payload_slider_ends_at_a_round_mass_near_half_of_the_robots(name, low, high):
    most = most_payload(arm.library(name))
    assert (
        low <= most <= high and 0.5 * arm.library(name).mass <= most <= 1.3 * arm.library(name).mass
    )


def test_legend_names_only_what_is_seen():
    assert "pinned plan" in legend("pinned plan") and "via" in legend("none", True)
    assert "ordinary" not in legend("none") and "via" not in legend("none")
