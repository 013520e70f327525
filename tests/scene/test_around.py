"""Plans around obstacles, judged by coal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.scene.test_finer import TIGHT, lamp
from tests.scene.test_free_path import wall
from tests.scene.test_scene import coal_least, elbow, slider

import armature as arm
from armature.optimize.around.around import plan_around
from armature.optimize.around.goal import with_posture
from armature.robot.shape import Visual

START, GOAL = [-0.9, 1.2, 0.3], [0.9, 1.2, 0.3]


def limited() -> arm.Robot:
    """The elbow robot with limits of speed, acceleration and torque."""
    limits = {"velocity": 2.0, "acceleration": 8.0, "torque": 60.0}
    robot = elbow()
    return robot.with_limits(dict.fromkeys(robot.joint_names, limits))


def test_a_blocked_move_is_planned_around_and_free_by_another_judge():
    robot, move = limited(), arm.Move(START, GOAL, floor=None)
    alone = arm.minimize_time(robot, move, knots=40)
    assert not arm.clearance(robot, wall(), alone.trajectory).free
    plan = plan_around(robot, move, wall(), ways=1, knots=60)
    assert plan.ok and plan.certificate.ok
    t = np.linspace(0.0, plan.duration, 300)
    assert coal_least(robot, wall(), plan.trajectory(t).q) > 0.0
    assert np.allclose(plan.trajectory.q[[0, -1]], [START, GOAL], atol=1e-6)
    assert plan.duration > 0.999 * alone.duration
    assert any("l2" in note and "post" in note for note in plan.notes)


def test_a_move_whose_best_motion_is_free_is_planned_as_without_obstacles():
    robot, move = limited(), arm.Move([-0.9, 1.2, 0.3], [-0.3, 0.2, 0.3], floor=None)
    plan = plan_around(robot, move, wall(), knots=40)
    assert plan.duration == pytest.approx(arm.minimize_time(robot, move, knots=40).duration)


def test_places_in_collision_are_refused_with_pair_and_depth():
    scene = arm.Scene().with_box("wall", (0.1, 9.0, 9.0))
    plan = plan_around(slider(), arm.Move([-0.5, 0, 0], [0.02, 0, 0]), scene)
    assert not plan.ok and plan.diagnosis is not None and plan.diagnosis.joint == "ball"
    assert "goal is in collision: ball is 0.08" in plan.diagnosis.sentence
    with pytest.raises(arm.errors.ArgumentError, match="needs a duration"):
        plan_around(slider(), arm.Move([-0.5, 0, 0], [-0.4, 0, 0]), scene, "energy")


TASK = """
robot: burgevin
objective: time
floor: none
knots: 40
move: {{start: [0, 0.3, 0.5], goal: [0.9, 0.3, 0.5]}}
scene: {scene}
"""


def test_a_task_file_has_a_scene_and_its_mistakes_have_their_line(tmp_path):
    file = tmp_path / "task.yaml"
    file.write_text(TASK.format(scene="{objects: {lamp: {sphere: 0.1, position: [0, 0, 9]}}}"))
    job = arm.job.load_job(file)
    assert job.scene is not None and job.scene.names == ("lamp",)
    with pytest.raises(arm.errors.ArgumentError, match="does not go around obstacles"):
        job.without_scene("the curve")
    file.write_text(TASK.format(scene="{objects: {lamp: {ball: 0.1}}}"))
    with pytest.raises(arm.errors.FileError, match="ball"):
        arm.job.load_job(file)
    file.write_text(TASK.format(scene="nowhere.yaml"))
    with pytest.raises(arm.errors.FileError, match="there is no file"):
        arm.job.load_job(file)


def test_a_path_into_an_obstacle_is_refused_with_place_and_pair():
    path = arm.motion.joint_path([START, GOAL])
    with pytest.raises(
        arm.errors.ArgumentError, match=r"in collision from p = 0\..* l2 comes .* into post"
    ):
        plan_around(limited(), arm.FollowPath(path, floor=None), wall())


def test_a_move_by_a_via_point_that_collides_is_not_called_free():
    move = arm.Move(START, GOAL, via=[[0.0, 0.2, 1.2]], floor=None)
    plan = plan_around(limited(), move, wall(), knots=40)
    t = np.linspace(0.0, plan.duration, 300)
    free = coal_least(limited(), wall(), plan.trajectory(t).q) > 0.0
    assert free or (not plan.ok and "post" in str(plan.diagnosis))


def test_the_report_draws_obstacles_where_they_are_and_the_clearance_over_time(tmp_path):
    from armature.plot.page_data import page_data

    robot = arm.library("planar2")
    scene = arm.Scene().with_sphere("lamp", 0.1, (0.2, 0.0, -1.98))
    scene = scene.with_hull("rock", [[0, 0, 3], [1, 0, 3], [0, 1, 3], [0, 0, 4]])
    plan = plan_around(
        robot, arm.Move([-0.9, 0.2], [0.9, 0.2], floor=None), scene, ways=1, knots=40
    )
    assert plan.ok and plan.scene is not None
    shown = page_data(plan)
    base = [link.name for link in robot.links].index(robot.base)
    drawn = shown["scene"]["solids"][base]
    assert [s["at"] for s in drawn if s["kind"] == "sphere" and s["r"] == 0.1] == [
        [0.2, 0.0, -1.98]
    ]
    rock = next(s for s in drawn if s["kind"] == "mesh")
    a, b, c = (np.array(rock["points"])[np.array(rock["faces"])[:, k]] for k in range(3))
    volume = np.sum(np.cross(a, b) * c) / 6  # of faces seen anticlockwise from outside
    assert volume == pytest.approx(1 / 6, abs=1e-3)
    chart = shown["joints"][0]["charts"][0]
    t = np.linspace(0.0, plan.duration, 2000)
    least = arm.distance(robot, scene, plan.trajectory(t).q).least.min()
    assert min(chart["series"][0]["y"]) / 1e3 == pytest.approx(least, abs=0.005)
    assert least >= arm.clearance(robot, scene, plan.trajectory).clearance
    assert plan.report(tmp_path / "plan.html").exists()


def three_in_a_plane() -> arm.Robot:
    """Three links that turn in a plane, with a ball in the middle of each."""
    lengths = (0.4, 0.4, 0.1)
    ball = lambda x: Visual("sphere", (0.03,), (x / 2, 0.0, 0.0))
    links = [arm.robot.Link("l0")]
    links += [arm.robot.Link(f"l{k}", 1.0, collisions=(ball(x),)) for k, x in enumerate(lengths, 1)]
    joints = [
        arm.robot.Joint(
            f"j{k}",
            "revolute",
            f"l{k}",
            f"l{k + 1}",
            ((0.0, *lengths)[k], 0.0, 0.0),
            axis=(0.0, 1.0, 0.0),
            limits=arm.robot.Limits(-3.0, 3.0, velocity=2.0),
        )
        for k in range(3)
    ]
    return arm.Robot("three", tuple(links), tuple(joints), "l0")


def test_of_a_goal_pose_the_posture_that_is_free_is_taken():
    """The elbow may be on either side; an obstacle stands where the nearest posture has its arm."""
    robot, start, near = three_in_a_plane(), np.array([0.85, 0.9, 0.1]), np.array([0.4, 0.8, 0.1])
    goal = arm.pose(robot, near, "l3")
    arm_at = arm.pose(robot, near, "l1")
    scene = arm.Scene().with_sphere("lamp", 0.03, arm_at.p + arm_at.R @ [0.2, 0.0, 0.0])
    move = arm.Move(start, (goal.R, goal.p), link="l3", floor=None)
    other = with_posture(robot, scene, move).goal
    found = arm.pose(robot, other, "l3")
    assert np.allclose(found.p, goal.p, atol=1e-5) and np.allclose(found.R, goal.R, atol=1e-5)
    assert not arm.collisions(robot, scene, other) and arm.collisions(robot, scene, near)
    assert np.allclose(with_posture(robot, arm.Scene(), move).goal, near, atol=1e-5)


def test_check_names_the_pair_that_collides_at_the_start(tmp_path):
    from armature.cli.check import nearness

    file = tmp_path / "task.yaml"
    file.write_text(TASK.format(scene="{objects: {wall: {box: [9, 9, 9]}}}"))
    job = arm.job.load_job(file)
    start, goal = nearness(job.robot, job, None)
    assert start.startswith("start: ") and "in collision" in start and "wall" in start
    assert goal.startswith("goal: ")


def test_a_move_that_has_a_scene_is_planned_around_it():
    robot, move = limited(), arm.Move(START, GOAL, floor=None, scene=wall())
    plan = arm.minimize_time(robot, move, knots=40)
    t = np.linspace(0.0, plan.duration, 300)
    assert plan.ok and coal_least(robot, wall(), plan.trajectory(t).q) > 0.0
    with pytest.raises(arm.errors.ArgumentError, match="does not go around"):
        arm.energy_time_curve(robot, replace(move, duration=3.0))


def test_a_pose_in_collision_in_every_posture_is_refused_with_the_pair():
    scene = arm.Scene().with_box("wall", (0.1, 9.0, 9.0))
    goal = arm.pose(slider(), np.array([0.02, 0.0, 0.0]), "ball")
    with pytest.raises(arm.errors.ArgumentError, match=r"postures .* ball is 0\.08.* inside wall"):
        plan_around(slider(), arm.Move([-0.5, 0, 0], goal), scene)


def test_a_pose_next_to_an_obstacle_is_reached_though_its_spheres_overlap():
    robot, scene = limited(), lamp(1e-3)
    goal = arm.pose(robot, TIGHT, "l2")
    assert with_posture(robot, scene, arm.Move([-0.9, 0.2, 0.4], goal)).goal == pytest.approx(
        TIGHT, abs=1e-4
    )
