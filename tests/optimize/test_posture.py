"""Goals that are poses: the posture that is asked for, or the nearest one above the floor."""

import itertools

import numpy as np
import pytest

import armature as arm
from armature.dynamics.positioning.heights import part_heights
from armature.job.job_file import load_job
from armature.optimize.planner.floor import floor_at
from armature.optimize.planner.posture import described, features, in_posture

DOWN = np.array(
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
)  # the tool (its y axis) points down
PLACE, OTHER = np.array([0.45, -0.2, 0.25]), np.array([0.25, 0.5, 0.15])
START = np.radians([-37, -85, 113, -118, 90, 53])


def elbow_height(robot: arm.Robot, q: np.ndarray) -> float:
    """Of the elbow above the line from shoulder to wrist, by link origins."""
    shoulder, elbow, wrist = (
        arm.pose(robot, q, link).p for link in ("upper_arm", "forearm", "wrist1")
    )
    s = (elbow - shoulder) @ (wrist - shoulder) / ((wrist - shoulder) @ (wrist - shoulder))
    return float((elbow - shoulder - s * (wrist - shoulder))[2])


@pytest.mark.parametrize(
    "elbow, wrist", [*itertools.product(("up", "down"), ("flipped", "not flipped"))]
)
def test_a_posture_is_the_one_that_its_words_say_and_reaches_the_pose(elbow: str, wrist: str):
    robot = arm.library("six_axis")
    q = in_posture(robot, (DOWN, OTHER), "tool", START, [f"elbow {elbow}", f"wrist {wrist}"])
    assert (
        arm.pose(robot, q, "tool").p == pytest.approx(OTHER, abs=1e-8)
        and pytest.approx(DOWN, abs=1e-8) == arm.pose(robot, q, "tool").R
    )
    assert (elbow_height(robot, q) > 0) == (elbow == "up") and (np.sin(q[4]) < 0) == (
        features(robot, q, "tool")["wrist"] == "flipped"
    )
    assert features(robot, q, "tool")["wrist"] == wrist


def test_as_the_start_keeps_the_features_of_the_start_and_a_seed_its_neighbourhood():
    robot = arm.library("six_axis")
    q = in_posture(robot, (DOWN, OTHER), "tool", START, "as the start")
    assert described(robot, q, "tool") == described(robot, START, "tool")
    for near in arm.inverse_kinematics(robot, (DOWN, OTHER), "tool", seed=START):
        assert in_posture(robot, (DOWN, OTHER), "tool", START, near + 0.05) == pytest.approx(
            near, abs=1e-6
        )


def test_the_default_is_the_nearest_posture_that_keeps_the_floor():
    robot, rng = arm.library("six_axis"), np.random.default_rng(0)
    floor, seen = floor_at(robot, 0.0), 0
    for _ in range(12):
        place = np.array([*rng.uniform(-0.5, 0.5, 2), rng.uniform(0.08, 0.2)])
        every = arm.inverse_kinematics(robot, (DOWN, place), "tool", seed=START)
        if not every.ok:
            continue
        above = [part_heights(robot, q, floor.parts).min() >= 0.0 for q in every]
        if any(above):
            q = in_posture(robot, (DOWN, place), "tool", START, floor=0.0)
            assert part_heights(robot, q, floor.parts).min() >= 0.0
            seen += not all(above)
    assert seen > 0  # some postures would have been below the floor


def test_the_default_posture_is_the_nearest_that_is_free_of_the_scene():
    robot = arm.library("six_axis")
    nearest = in_posture(robot, (DOWN, OTHER), "tool", START, floor=0.0)
    post = arm.Scene().with_box("post", (0.1, 0.1, 0.1), arm.pose(robot, nearest, "forearm").p)
    assert arm.collisions(robot, post, nearest)
    q = in_posture(robot, (DOWN, OTHER), "tool", START, floor=0.0, scene=post)
    assert not arm.collisions(robot, post, q)
    assert arm.pose(robot, q, "tool").p == pytest.approx(OTHER, abs=1e-8)
    move = arm.Move(START, (DOWN, OTHER), 2.0, floor=0.0, scene=post)
    assert move.vectors(robot).q1 == pytest.approx(q)


def test_words_that_are_not_known_or_not_possible_are_answered():
    robot = arm.library("six_axis")
    with pytest.raises(arm.ArmatureError, match=r"elbow sideways.*elbow up"):
        in_posture(robot, (DOWN, OTHER), "tool", START, "elbow sideways")
    with pytest.raises(arm.ArmatureError, match="is not reached with elbow left; it is with elbow"):
        in_posture(robot, (DOWN, OTHER), "tool", START, "elbow left")


def test_moves_and_task_files_take_poses_postures_tools_and_payloads(tmp_path):
    robot = (
        arm.library("six_axis")
        .with_tool((0.0, 0.1, 0.0))
        .with_payload(1.0, inertia=(0.01, 0.01, 0.01))
    )
    ends = arm.Move(START, (DOWN, OTHER), 1.4, posture="elbow up").vectors(robot)
    assert (
        arm.pose(robot, ends.q1, "tcp").p == pytest.approx(OTHER, abs=1e-8)
        and elbow_height(robot, ends.q1) > 0
    )
    (tmp_path / "task.yaml").write_text(
        "armature: 1\nrobot: six_axis\ntool: {position: [0, 0.1, 0]}\npayload: {mass: 1 kg,"
        f" inertia: [0.01, 0.01, 0.01]}}\nfloor: 0\nmove: {{start: {START.tolist()}, duration: 1.4,"
        f" goal: {{position: {OTHER.tolist()}, rpy: [-90 deg, 0, 0], posture: elbow up}}}}\n"
    )
    job = load_job(tmp_path / "task.yaml")
    assert isinstance(job.task, arm.Move)
    assert (
        job.robot.tip == "tcp"
        and job.task.floor == 0.0
        and job.robot.link("tcp").inertia[0] == pytest.approx(0.01)
    )
    assert arm.pose(job.robot, job.task.goal, "tcp").p == pytest.approx(OTHER, abs=1e-8)
    assert elbow_height(job.robot, np.asarray(job.task.goal)) > 0


def test_elbows_of_a_scara_are_to_the_left_or_right_as_seen_from_above():
    robot = arm.library("scara")
    link = robot.link_names[-1]
    for side, sign in (
        ("left", -1.0),
        ("right", 1.0),
    ):  # an elbow that bends the hand to the left lies to the right
        q = np.array([0.4, sign * 0.8, 0.05, 0.2])
        assert features(robot, q, link) == {"elbow": side}
        found = in_posture(robot, arm.pose(robot, q, link), link, -q, f"elbow {side}")
        assert found[:2] == pytest.approx(q[:2], abs=1e-8)


@pytest.mark.parametrize(
    "posture", ["elbow upp", ["elbow up", "wirst flipped"], {"elbo": 1.0}, [0.0, 1.0]]
)
def test_a_misspelt_posture_is_refused_though_the_goal_is_in_joints(posture):
    robot = arm.library("six_axis")
    ends = [0.0, -1.2, 1.2, 0.0, 0.5, 0.0], [0.5, -1.0, 1.0, 0.1, 0.5, 0.0]
    with pytest.raises(arm.ArmatureError, match="posture"):
        arm.minimize_energy(robot, arm.Move(*ends, 2.0, posture=posture))
    assert arm.Move(*ends, 2.0, posture="Elbow  UP").vectors(robot).q1[0] == 0.5
