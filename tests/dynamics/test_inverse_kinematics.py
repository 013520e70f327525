"""Inverse kinematics against closed forms of the same arms, and its answers where there is none."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armature.dynamics import compiled
from armature.dynamics.positioning.inverse_kinematics import Status, even_points, inverse_kinematics
from armature.errors import ArgumentError
from armature.robot.bounds import bounds
from armature.robot.library import library
from armature.robot.model import Joint, Limits, Link, Mimic, Robot

TOOLS = {
    "six_axis": "tool",
    "seven_axis": "tool",
    "scara": "flange",
    "planar2": "tip",
    "burgevin": "slider",
}


def wrapped(q: np.ndarray) -> np.ndarray:
    return np.mod(q + np.pi, 2 * np.pi) - np.pi


def drawn(robot: Robot, count: int, seed: int) -> np.ndarray:
    """Configurations within the ranges, angles within half a turn of zero."""
    limits = bounds(robot)
    return np.random.default_rng(seed).uniform(
        np.maximum(limits.lower, -np.pi), np.minimum(limits.upper, np.pi), (count, robot.n)
    )


def six_axis_branches(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The eight configurations of the built-in six-axis arm by plane geometry: three parallel axes,
    then two turns of the wrist."""
    found = []
    w = p - 0.08 * R[:, 1]  # where the last two axes meet the flange
    bearing, lean = np.arctan2(w[1], w[0]), np.arcsin((0.135 - 0.12 + 0.095) / np.hypot(w[0], w[1]))
    for q1 in (bearing - lean, bearing + lean - np.pi):
        turn = Rotation.from_euler("z", -q1).as_matrix()
        M, v = turn @ R, turn @ w
        for q5 in (np.arccos(M[1, 1]), -np.arccos(M[1, 1])):
            tilt = np.arctan2(M[2, 1] / np.sin(q5), -M[0, 1] / np.sin(q5))
            q6 = np.arctan2(M[1, 2] / np.sin(q5), M[1, 0] / np.sin(q5))
            x, z = v[0] + 0.095 * np.sin(tilt), v[2] + 0.095 * np.cos(tilt) - 0.09
            cosine = (x * x + z * z - 0.425**2 - 0.39**2) / (2 * 0.425 * 0.39)
            for q3 in (np.arccos(cosine), -np.arccos(cosine)) if abs(cosine) < 1 else ():
                q2 = np.arctan2(-z, x) - np.arctan2(0.39 * np.sin(q3), 0.425 + 0.39 * np.cos(q3))
                found.append([q1, q2, q3, tilt - q2 - q3, q5, q6])
    return wrapped(np.array(found))


def test_all_branches_of_the_six_axis_arm_are_found():
    robot = library("six_axis")
    poses = compiled.pose(robot, drawn(robot, 200, 0), "tool")
    complete, eight = 0, 0
    for R, p in zip(poses.R, poses.p):
        expected = six_axis_branches(R, p)
        np.testing.assert_allclose(
            compiled.pose(robot, expected, "tool").p,
            np.broadcast_to(p, (len(expected), 3)),
            atol=1e-7,
        )
        expected = expected[np.abs(expected[:, 2]) <= np.radians(160)]
        found = inverse_kinematics(robot, compiled.Pose(R, p), "tool")
        assert found.errors.max() < 1e-9
        distance = np.abs(wrapped(found.solutions[:, None] - expected[None])).max(-1)
        assert np.all(distance.min(1) < 1e-6)  # nothing that is not a solution, and none twice
        complete += len(found) == len(expected) and np.all(distance.min(0) < 1e-6)
        eight += len(expected) == 8
    assert complete >= 198 and eight > 100


@pytest.mark.parametrize("full", [True, False], ids=["pose", "point"])
@pytest.mark.parametrize("name", TOOLS)
def test_solutions_reach_the_pose_within_the_ranges(name: str, full: bool):
    robot, link = library(name), TOOLS[name]
    limits = bounds(robot)
    for q in drawn(robot, 15, 3):
        pose = compiled.pose(robot, q, link)
        found = inverse_kinematics(robot, pose if full else pose.p, link, seed=q)
        again = compiled.pose(robot, found.solutions, link)
        assert found.ok and found.status is Status.FOUND
        assert np.abs(again.p - pose.p).max() < 1e-9 and (
            not full or np.abs(again.R - pose.R).max() < 1e-9
        )
        assert np.all(found.solutions >= limits.lower) and np.all(found.solutions <= limits.upper)
        np.testing.assert_allclose(found.best, q, atol=1e-6)  # the seed itself is a solution


def test_planar_arm_by_the_law_of_cosines():
    robot = library(
        "planar2"
    )  # hanging down, turning about −y: the tip is at (sin a + sin(a + b), −cos a − cos(a + b))
    for radius, angle in ((1.3, 0.4), (0.7, -2.0), (1.9, 1.1)):
        point = [radius * np.sin(angle), 0.0, -radius * np.cos(angle)]
        elbow = np.arccos(radius**2 / 2 - 1)
        expected = [[angle - elbow / 2, elbow], [angle + elbow / 2, -elbow]]
        found = inverse_kinematics(robot, point, "tip", seed=expected[1])
        inside = [e for e in expected[::-1] if abs(e[1]) <= np.radians(150)]
        np.testing.assert_allclose(wrapped(found.solutions - inside), 0.0, atol=1e-9)


def test_burgevins_arm_in_spherical_coordinates():
    """phi turns without end, theta runs from −135° to 250°: over the top is a second way, with two
    turns of theta."""
    robot = library("burgevin")
    p = np.array([0.5, 0.3, -0.4])
    r, phi = np.linalg.norm(p), np.arctan2(p[1], p[0])
    theta = np.arccos(p[2] / r)
    found = inverse_kinematics(robot, p, "slider", seed=[0.0, 1.0, 0.5])
    expected = [
        [phi, theta, r],
        [phi - np.pi, 2 * np.pi - theta, r],
    ]  # the turn of theta nearest to the seed
    np.testing.assert_allclose(found.solutions, expected, atol=1e-12)
    turns = inverse_kinematics(robot, p, "slider", seed=[0.0, 1.0, 0.5], turns=True)
    assert len(turns) == 9 and turns.errors.max() < 1e-12
    assert any(np.allclose(s, [phi + np.pi, -theta, r]) for s in turns)


def test_full_turns_are_listed_where_ranges_allow():
    robot = library("six_axis")
    q = np.array([0.4, -1.0, 0.9, -0.5, 0.8, 0.2])
    pose = compiled.pose(robot, q, "tool")
    one, all_turns = (
        inverse_kinematics(robot, pose, "tool"),
        inverse_kinematics(robot, pose, "tool", seed=q, turns=True, most=1000),
    )
    assert len(all_turns) == 32 * len(one)  # five joints of ±360° have two turns each
    np.testing.assert_allclose(all_turns.best, q, atol=1e-12)
    assert (
        np.all(np.diff(np.linalg.norm(all_turns.solutions - q, axis=1)) >= -1e-12)
        and all_turns.errors.max() < 1e-9
    )


def test_all_notations_of_a_pose_mean_the_same():
    robot = library("six_axis")
    pose = compiled.pose(robot, np.array([0.4, -1.0, 0.9, -0.5, 0.8, 0.2]), "tool")
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.R, pose.p
    quaternion = Rotation.from_matrix(pose.R).as_quat()
    notations = (pose, (pose.R, pose.p), matrix, (pose.p, quaternion), [pose.p, -3 * quaternion])
    answers = [inverse_kinematics(robot, x, "tool").solutions for x in notations]
    for other in answers[1:]:
        np.testing.assert_allclose(other, answers[0], atol=1e-9)


def test_redundant_arm_gives_different_configurations_and_the_nearest_first():
    robot = library("seven_axis")
    q = np.array([0.3, 0.7, -0.4, 1.2, 0.5, -0.6, 0.1])
    seed = q + 0.15
    pose = compiled.pose(robot, q, "tool")
    found = inverse_kinematics(robot, pose, "tool", seed=seed, most=20)
    assert len(found) == 20 and found.errors.max() < 1e-9
    away = np.linalg.norm(found.solutions - seed, axis=1)
    assert np.all(np.diff(away) >= 0) and away[-1] > 3.0
    # nearest on the curve of solutions: what is left to the seed has no part along the null space
    # of J
    J = compiled.jacobian(robot, found.best, "tool")
    null = np.linalg.svd(J)[2][-1]
    assert abs(null @ (seed - found.best)) < 1e-4 < np.linalg.norm(seed - found.best)


def test_unreachable_is_told_with_the_nearest_configuration():
    robot = library("planar2")
    found = inverse_kinematics(robot, [3.0, 0.0, 0.0], "tip")
    assert found.status is Status.UNREACHABLE and not found.ok and found.solutions.shape == (0, 2)
    np.testing.assert_allclose([found.distance, *found.nearest], [1.0, np.pi / 2, 0.0], atol=1e-6)
    assert "1 m away" in found.message
    with pytest.raises(ArgumentError, match="no configuration reaches"):
        _ = found.best
    beside = inverse_kinematics(robot, [0.0, 0.5, 1.0], "tip")  # the plane of the arm is y = 0
    assert beside.distance == pytest.approx(0.5, abs=1e-9)
    far = inverse_kinematics(library("six_axis"), (np.eye(3), [2.0, 0.0, 0.0]), "tool")
    assert far.status is Status.UNREACHABLE and far.distance > 1.0


def test_ranges_in_the_way_are_told_by_joint():
    robot = library("planar2")
    elbow = np.radians(170)  # beyond 150°
    point = compiled.pose(robot, np.array([0.2, elbow]), "tip").p
    found = inverse_kinematics(robot, point, "tip")
    assert (
        found.status is Status.OUT_OF_RANGE
        and "'elbow'" in found.message
        and f"{elbow:.4f}"[:5] in found.message
    )
    # the nearest point within the range is on the circle of radius 2 cos 75°
    assert found.distance == pytest.approx(
        2 * np.cos(np.radians(75)) - np.linalg.norm(point), abs=1e-9
    )


def test_singular_poses_are_told():
    robot = library("planar2")
    stretched = inverse_kinematics(robot, [0.0, 0.0, 2.0], "tip")
    assert (
        stretched.status is Status.SINGULAR
        and stretched.errors.max() < 1e-9
        and stretched.conditioning.max() < 1e-4
    )
    robot = library("six_axis")
    q = np.array([0.3, -1.0, 1.2, -0.5, 0.0, 0.7])  # wrist 1 and wrist 3 in line
    aligned = inverse_kinematics(robot, compiled.pose(robot, q, "tool"), "tool", seed=q)
    assert aligned.conditioning[0] < 1e-4 and aligned.errors.max() < 1e-9
    np.testing.assert_allclose(aligned.best, q, atol=1e-9)


def test_mimic_joints_move_with_their_master_and_floating_bases_stay():
    links = (Link("base", 1.0), Link("a", 1.0), Link("b", 1.0), Link("tip"))
    joints = (
        Joint("j1", "revolute", "base", "a", limits=Limits(-3, 3)),
        Joint("j2", "revolute", "a", "b", (1.0, 0.0, 0.0), mimic=Mimic("j1", -2.0, 0.3)),
        Joint("weld", "fixed", "b", "tip", (1.0, 0.0, 0.0)),
    )
    robot = Robot("pantograph", links, joints, "base")
    target = compiled.pose(robot, np.array([0.4]), "tip")
    np.testing.assert_allclose(
        inverse_kinematics(robot, target, "tip").solutions, [[0.4]], atol=1e-9
    )
    free = Robot(
        "free",
        (Link("world"), *links),
        (Joint("free", "floating", "world", "base"), *joints),
        "world",
    )
    base = [0.1, 0.2, 0.3, 0.0, 0.0, np.sin(0.2), np.cos(0.2)]
    target = compiled.pose(free, np.array([*base, 0.4]), "tip")
    np.testing.assert_allclose(
        inverse_kinematics(free, target, "tip", seed=[*base, 0.0]).solutions,
        [[*base, 0.4]],
        atol=1e-9,
    )


def test_the_answer_is_the_same_every_time_and_quick():
    robot = library("six_axis")
    pose = compiled.pose(robot, np.array([0.4, -1.0, 0.9, -0.5, 0.8, 0.2]), "tool")
    first = inverse_kinematics(robot, pose, "tool")
    times = []
    for _ in range(15):
        start = time.process_time()
        again = inverse_kinematics(robot, pose, "tool")
        times.append(time.process_time() - start)
        assert np.array_equal(again.solutions, first.solutions)
    assert len(first) == 8 and min(times) < 0.02


def test_starts_are_spread_evenly():
    x = even_points(0, 4096, 3)
    counts, _ = np.histogramdd(x, bins=8, range=[(0, 1)] * 3)
    assert counts.min() > 0 and counts.max() < 20  # 8 on average


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        ([1.0, 2.0], "shape"),
        (np.full((4, 4), 1.0), "last row"),
        ((2 * np.eye(3), np.zeros(3)), "not a rotation"),
        ((np.zeros(3), np.zeros(4)), "no direction"),
        ("here", "not made of numbers"),
        ([np.nan, 0.0, 0.0], "finite"),
    ],
)
def test_bad_poses_are_refused_with_advice(pose, message):
    with pytest.raises(ArgumentError, match=message):
        inverse_kinematics(library("six_axis"), pose, "tool")


def test_bad_links_and_seeds_are_refused():
    robot = library("six_axis")
    with pytest.raises(ArgumentError, match="not in robot"):
        inverse_kinematics(robot, np.zeros(3), "hand")
    with pytest.raises(ArgumentError, match="moved by no joint"):
        inverse_kinematics(robot, np.zeros(3), robot.base)
    with pytest.raises(ArgumentError, match="seed"):
        inverse_kinematics(robot, np.zeros(3), "tool", seed=[1.0])


@pytest.mark.parametrize("counts", [{"most": 0}, {"most": 2.5}, {"starts": -1}, {"starts": True}])
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(ArgumentError, match="must be a whole number, 1 or more"):
        inverse_kinematics(library("planar2"), [0.3, 0.0, 0.2], "forearm", **counts)
