"""Stages of programs: parts of a scene go with the hand, upright moves keep the tool axis, paths
begin where the robot is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.cell.program.plan_program import plan_program
from armature.cell.program.program import Along, Dwell, Grip, MoveTo, Program, Release
from armature.cell.program.stages import Leg, stages

ROBOT = arm.library("planar2")
HOME, PART, TABLE = [0.3, 0.2], [1.1, -0.5], [-0.4, 0.7]


def legs(program: Program) -> list[Leg]:
    return [s for s in stages(program) if isinstance(s, Leg)]


def test_a_part_of_the_scene_moves_with_the_hand_from_where_it_lay() -> None:
    hand = arm.pose(ROBOT, np.array(PART), ROBOT.tip)
    scene = arm.Scene().with_box(
        "part", (0.1, 0.05, 0.02), position=hand.p + [0.0, 0.1, 0.0], rpy=(0.1, 0.2, 0.3)
    )
    steps = (MoveTo(PART), Grip(1.0, thing="part"), MoveTo(TABLE), Release(), MoveTo("start"))
    fetch, carry, back = legs(Program(ROBOT, HOME, steps, scene=scene))
    assert [o.link for o in fetch.scene.obstacles] == [None]
    carried = carry.scene.obstacles[0]
    assert carried.link == ROBOT.tip
    lay = scene.obstacles[0]
    # seen from the world at the grip it is where it lay, and turned as it lay
    assert np.allclose(hand.R @ carried.position + hand.p, lay.position)
    assert np.allclose(
        hand.R @ np.array(carried.rotation).reshape(3, 3), np.array(lay.rotation).reshape(3, 3)
    )
    # put down, it stays where the hand was then, and only what holds it may touch it
    there, left = arm.pose(ROBOT, np.array(TABLE), ROBOT.tip), back.scene.obstacles[0]
    assert left.link is None
    assert np.allclose(left.position, there.R @ carried.position + there.p)
    assert (ROBOT.tip, "part") in back.scene.allowed and ("upper", "part") not in back.scene.allowed


def test_a_step_that_is_blocked_goes_around_and_is_proved_free() -> None:
    start, goal = np.array(HOME), np.array([-0.9, 0.7])
    part = arm.pose(ROBOT, start, ROBOT.tip).p
    way = arm.pose(ROBOT, (start + goal) / 2, ROBOT.tip).p
    scene = arm.Scene(allowed=()).with_sphere("post", 0.15, position=0.9 * np.asarray(way))
    scene = scene.with_sphere("part", 0.03, part)
    steps = (Grip(0.5, thing="part"), MoveTo(goal, name="carry"), Release(), MoveTo("start"))
    given = Program(ROBOT, start, steps, scene=scene, knots=20)
    plan = plan_program(given, "time")
    assert plan.ok and set(plan.certificate.clearances or ()) == {leg.name for leg in plan.legs}
    open_ = plan_program(replace(given, scene=None, steps=(steps[1], steps[3])), "time")
    assert plan.cycle > open_.cycle
    for leg, straight in zip(plan.legs, open_.legs):
        # the spheres' distance at many instants, by the poses of the hand alone
        q = lambda motion: motion(np.linspace(motion.t[0], motion.t[-1], 400)).q
        assert arm.scene.distance(ROBOT, leg.leg.scene, q(leg.plan.trajectory)).least.min() > 0.0
        assert arm.scene.distance(ROBOT, leg.leg.scene, q(straight.plan.trajectory)).least.min() < 0


def test_a_step_that_nothing_leads_around_is_named() -> None:
    inside = arm.Scene().with_sphere("block", 0.2, arm.pose(ROBOT, np.array(PART), ROBOT.tip).p)
    steps = MoveTo(PART, name="out"), MoveTo("start", name="back")
    with pytest.raises(arm.ArmatureError, match=r"step 'out' of robot 'planar2'.*goal.*block"):
        plan_program(Program(ROBOT, HOME, steps, scene=inside, knots=20), "time")


def test_an_upright_move_keeps_the_tool_axis_on_a_straight_line() -> None:
    robot = arm.library("six_axis")
    home = np.array([0.0, -1.2, 1.4, -0.2, 1.57, 0.0])
    at = arm.pose(robot, home, robot.tip)
    goal = (at.R, at.p + [0.0, 0.2, -0.1])
    down, _ = legs(
        Program(robot, home, (MoveTo(goal, upright=True, name="down"), MoveTo("start", name="up")))
    )
    curve = down.task.curve(robot)
    poses = arm.pose(robot, np.array([curve(p).q for p in np.linspace(0.0, 1.0, 11)]), robot.tip)
    assert np.allclose(poses.R[..., 2], at.R[:, 2], atol=1e-5)
    assert np.allclose(np.cross(poses.p - at.p, [0.0, 0.2, -0.1]), 0.0, atol=1e-6)
    assert np.allclose(poses.p[-1], goal[1], atol=1e-6) and np.allclose(down.q1, curve(1.0).q)
    tilted = home + [0, 0.3, 0, 0, 0, 0]
    with pytest.raises(
        arm.ArmatureError,
        match=r"step 'tip over' of robot 'six_axis': the tool axis at the goal is 17.2° off",
    ):
        legs(Program(robot, home, (MoveTo(tilted, upright=True, name="tip over"), MoveTo("start"))))


def test_an_upright_move_to_another_posture_than_a_straight_way_leads_to_is_refused() -> None:
    robot = arm.library("six_axis")
    home = np.array([0.0, -1.2, 1.4, -0.2, 1.57, 0.0])
    at = arm.pose(robot, home, robot.tip)
    there = arm.inverse_kinematics(robot, (at.R, at.p + [0.0, 0.2, -0.1]), robot.tip, seed=home)
    by_joints = lambda q: (MoveTo(q, upright=True, name="over"), MoveTo("start"))
    near, *_, far = sorted(there.solutions, key=lambda q: np.abs(q - home).max())
    assert np.allclose(legs(Program(robot, home, by_joints(near)))[0].q1, near, atol=1e-4)
    with pytest.raises(
        arm.ArmatureError, match=r"'over' .* with \w+ at .* give the goal as a pose"
    ):
        legs(Program(robot, home, by_joints(far)))


def test_a_path_begins_where_the_robot_is_and_is_part_of_the_cycle() -> None:
    path = arm.motion.joint_path([HOME, [0.8, 0.0], PART])
    seam, back = legs(Program(ROBOT, HOME, (Along(path, name="seam"), MoveTo("start"))))
    assert np.allclose(seam.q1, PART) and np.allclose(back.q0, PART)
    with pytest.raises(
        arm.ArmatureError,
        match=r"step 'seam' of robot 'planar2': the path begins with shoulder at 0.3, .* stands at -0.4",
    ):
        legs(Program(ROBOT, TABLE, (Along(path, name="seam"), MoveTo("start"))))


def test_waiting_goes_before_a_grip_where_the_empty_robot_waits_for_less() -> None:
    steps = (MoveTo(PART), Grip(2.0, seconds=0.1), MoveTo(TABLE), Release(0.1), MoveTo("start"))
    stops = [s for s in stages(Program(ROBOT, HOME, steps)) if not isinstance(s, Leg)]
    at_part, at_table = stops[0], stops[1]
    assert (
        at_part.pauses[at_part.waiting].robot is ROBOT
        and at_table.pauses[at_table.waiting].robot is ROBOT
    )
    fixed = [
        s
        for s in stages(
            Program(ROBOT, HOME, (MoveTo(PART), Dwell(0.2, fixed=True), MoveTo("start")))
        )
        if not isinstance(s, Leg)
    ]
    assert fixed[0].waiting == -1 and fixed[0].seconds == 0.2
