"""Where a base stands best: what is planned there holds in the world, and symmetry is kept."""

from __future__ import annotations

import numpy as np
import pytest

import armature as arm
from armature.design.base_motions import Cell, evaluate_cell
from armature.design.layout import layout_of


@pytest.fixture(scope="module")
def robot():
    return arm.library("six_axis")


@pytest.fixture(scope="module")
def poses(robot):
    R = arm.pose(robot, [0.0, -1.2, 1.6, -0.4, 0.0, 0.0], "tool").R
    return [(R, np.array([0.5, 0.3, 0.3])), (R, np.array([0.5, -0.4, 0.4]))]


@pytest.fixture(scope="module")
def placed(robot, poses):
    return arm.place_base(
        robot,
        poses,
        [-0.1, 0.1, 3.0],
        [-0.1, 0.1],
        (0.0, np.pi / 2),
        duration=1.0,
        knots=30,
        refine=1,
    )


def test_plans_reach_the_poses_in_the_world(placed, poses):
    """By the robot that stands there, whose kinematics know nothing of the moved world."""
    assert placed.ok
    motion = placed.plans[0].trajectory
    for q, (R, p) in zip((motion.q[0], motion.q[-1]), poses):
        found = arm.pose(placed.robot, q, "tool")
        assert found.p == pytest.approx(p, abs=1e-6) and pytest.approx(R, abs=1e-6) == found.R


def test_best_place_is_no_worse_than_every_place_of_the_map(placed):
    assert placed.cost <= np.nanmin(placed.costs) * (1 + 1e-9)
    assert placed.costs.shape == (2, 3)


def test_places_out_of_reach_are_empty_with_their_reason(placed):
    assert np.all(np.isnan(placed.costs[:, 2]))
    assert placed.reasons[2, 0] == "a pose is out of reach"


def test_world_turned_with_its_base_costs_the_same(robot, poses):
    """Poses and place turned by 0.7 rad about the vertical: the same joints, the same energy."""
    c, s = np.cos(0.7), np.sin(0.7)
    Z = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    turned = [(Z @ R, Z @ p) for R, p in poses]
    costs = []
    for stops, place, yaw in ((poses, [0.1, 0.05, 0.0], 0.2), (turned, Z @ [0.1, 0.05, 0.0], 0.9)):
        layout = layout_of(robot, stops, None, 1.0, "energy", None, "auto", None, 30, 0.0)
        found = evaluate_cell((layout, Cell(float(place[0]), float(place[1]), (yaw,))))
        costs.append(found["cost"])
    assert costs[1] == pytest.approx(costs[0], rel=1e-3)


def test_obstacle_at_a_pose_rules_its_places_out(robot, poses):
    scene = arm.Scene().with_sphere("ball", 0.1, poses[0][1])
    with pytest.raises(arm.ArmatureError, match="into an obstacle"):
        arm.place_base(robot, poses, [0.0], [0.0], [0.0], duration=1.0, scene=scene)


def test_scene_of_a_move_stands_in_the_world(robot, poses):
    """Given with the move or beside it: the same places are ruled out."""
    scene = arm.Scene().with_sphere("ball", 0.1, poses[0][1])
    move = arm.Move(*poses, duration=1.0, scene=scene)
    with pytest.raises(arm.ArmatureError, match="into an obstacle"):
        arm.place_base(robot, move, [0.0], [0.0], (0.0,), knots=30, refine=0)


def test_goals_of_a_program_stay_in_the_world():
    """Poses and durations of its plan, with what is carried; paths are refused."""
    planar, cell = arm.library("planar2"), arm.cell
    goal = arm.pose(planar, [0.2, 0.5], planar.tips[0])
    steps = (cell.MoveTo((goal.R, goal.p)), cell.Grip(0.5), cell.MoveTo("start"), cell.Release())
    program = cell.Program(planar, [-0.4, 0.8], steps, cycle=3.0, knots=20, points=4)
    plan = cell.plan_program(program)
    layout = layout_of(planar, plan, None, None, "energy", None, "auto", None, 20, 0.0)
    assert layout.stops[1].p == pytest.approx(goal.p)
    assert [move.duration for move in layout.moves] == [leg.duration for leg in plan.legs]
    carried = [robot.mass - planar.mass for robot in layout.robots]
    assert carried == pytest.approx([0.0, 0.5])
    way = cell.Along(arm.motion.joint_path([[-0.4, 0.8], [0.0, 0.5]]))
    program = cell.Program(planar, [-0.4, 0.8], (way, cell.MoveTo("start")), cycle=4.0, knots=20)
    with pytest.raises(arm.ArmatureError, match="cannot be placed yet"):
        arm.place_base(planar, program, [0.0], [0.0])
