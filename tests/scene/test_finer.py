"""Covers where links pass something more closely than their spheres can tell, judged by coal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from tests.scene.test_scene import coal_least, elbow

import armature as arm
from armature.robot.shape import Visual
from armature.scene.collision import collision_model, told_apart
from armature.scene.covers import distance_function, outline
from armature.scene.obstacle import Obstacle

TIGHT = np.array([0.2, 0.9, 0.4])  # where a lamp is next to the box of l1
FREE = np.array([-0.9, 0.2, 0.4])


def lamp(gap: float) -> arm.Scene:
    """A ball beside the largest face of l1 at TIGHT, gap m away."""
    pose = arm.pose(elbow(), TIGHT, "l1")
    middle = pose.R @ np.array([0.0, 0.03 + 0.05 + gap, 0.15]) + pose.p
    return arm.Scene().with_sphere("lamp", 0.05, middle.tolist())


def folded() -> tuple[arm.Robot, np.ndarray]:
    """An arm whose second link comes within 1 mm of its base."""
    robot = elbow()
    base = replace(robot.links[0], collisions=(Visual("box", (0.2, 0.2, 0.1), (0.15, 0.0, 0.0)),))
    low, high = 1.5, 2.5  # the corner of l1 is above the base, and inside it
    robot, at = replace(robot, links=(base, *robot.links[1:])), lambda a: np.array([0.1, a, -a])
    for _ in range(40):
        middle = (low + high) / 2
        inside = coal_least(robot, arm.Scene(), at(middle)[None]) < 1e-3
        low, high = (low, middle) if inside else (middle, high)
    return robot, at(low)


def near(robot: arm.Robot, scene: arm.Scene, q: np.ndarray) -> float:
    """The least distance of covers."""
    return float(arm.distance(robot, scene, q).least)


def tight() -> list[tuple[arm.Robot, arm.Scene, np.ndarray]]:
    """A link beside an obstacle, and two links beside each other."""
    robot, q = folded()
    pose = arm.pose(elbow(), TIGHT, "l2")
    middle = pose.R @ np.array([0.0, 0.04 + 0.05 + 1e-3, 0.2]) + pose.p
    beside = arm.Scene().with_sphere("ball", 0.05, middle.tolist())  # a cylinder
    return [(elbow(), lamp(1e-3), TIGHT), (robot, arm.Scene(), q), (elbow(), beside, TIGHT)]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_links_beside_each_other_are_told_apart_and_never_farther_than_they_are(which):
    robot, scene, q = tight()[which]
    true = coal_least(robot, scene, q[None])
    assert near(robot, scene, q) < 0.0 < true < 1.5e-3
    finer = told_apart(robot, scene, q[None])
    assert finer.close == (tuple(q.tolist()),)
    assert 0.2 * true < near(robot, finer, q) <= true + 1e-9
    other = q + np.random.default_rng(2).uniform(-0.02, 0.02, (40, 3))
    exact = np.array([coal_least(robot, scene, x[None]) for x in other])
    told = arm.distance(robot, finer, other).least
    assert np.all(told[exact > 0.0] <= exact[exact > 0.0] + 1e-9)
    assert np.all(told[exact < -1e-9] < 0.0) and np.any(exact < 0.0)


@pytest.mark.parametrize("which", [0, 1])
def test_finer_covers_contain_the_surface_of_their_links(which):
    robot, scene, q = tight()[which]
    model = collision_model(robot, told_apart(robot, scene, q[None]))
    k = model.names.index("l1")
    rows = np.arange(model.spheres.first[k], model.spheres.first[k + 1])
    balls = model.spheres.node[rows[model.spheres.skip[rows] == rows + 1]]
    rng = np.random.default_rng(3)
    x = rng.uniform(-0.5, 0.5, (4000, 3))
    x[np.arange(4000), rng.integers(0, 3, 4000)] = rng.choice([-0.5, 0.5], 4000)
    x = x * (0.08, 0.06, 0.3) + (0.0, 0.0, 0.15)  # on the six faces
    out = np.linalg.norm(x[:, None] - balls[None, :, :3], axis=2) - balls[None, :, 3]
    assert out.min(1).max() <= 1e-9


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder"])
def test_the_outline_of_a_round_shape_contains_it_and_stays_near(kind):
    size = {"sphere": (0.05,), "capsule": (0.05, 0.2), "cylinder": (0.05, 0.2)}[kind]
    corners = outline(Obstacle("it", kind, size))
    planes = ConvexHull(corners).equations
    across = np.linalg.norm(planes[:, :2], axis=1) if kind == "cylinder" else 1.0
    half = size[1] / 2 if len(size) > 1 else 0.0
    reach = 0.05 * across + half * np.abs(planes[:, 2])
    assert np.all(reach <= -planes[:, 3] + 1e-9)
    axis = np.clip(corners[:, 2], -half, half)[:, None] * (0.0, 0.0, 1.0)
    out = np.linalg.norm(corners - axis, axis=1) - 0.05
    if kind == "cylinder":
        out = distance_function(Obstacle("it", kind, size))(corners)
    assert 0.0 <= out.max() < 0.004 * (0.05 + half)


def test_links_that_overlap_are_not_told_apart():
    for scene in (lamp(-1e-3), lamp(-0.02)):
        assert told_apart(elbow(), scene, TIGHT[None]) is scene
        with pytest.raises(arm.ArmatureError, match=r"the start is in collision: l1 .* lamp"):
            arm.scene.free_path(elbow(), scene, TIGHT, FREE)


def test_a_scene_with_room_for_the_spheres_stays_as_it_is():
    scene = lamp(0.05)
    assert told_apart(elbow(), scene, np.array([TIGHT, FREE])) is scene


def test_a_motion_from_beside_an_obstacle_is_proved_free_and_coal_agrees():
    robot, scene = elbow(), lamp(1e-3)
    path = arm.scene.free_path(robot, scene, TIGHT, FREE)
    assert len(path.points) >= 2 and path.clearance > 0.0
    t = np.linspace(0.0, 1.0, 400)[:, None]
    legs = [(1 - t) * a + t * b for a, b in zip(path.points, path.points[1:])]
    assert coal_least(robot, scene, np.vstack(legs)) > 0.0
    q = np.array([TIGHT, TIGHT + 0.3 * (path.points[1] - TIGHT)])
    still = np.zeros((2, 3))
    proof = arm.clearance(robot, scene, arm.Trajectory([0.0, 1.0], q, still, still))
    assert proof.free and 0.0 < proof.clearance <= 1e-3
    sides = [TIGHT + (turn, 0.0, 0.0) for turn in (0.15, -0.15)]
    into = min(sides, key=lambda x: coal_least(robot, scene, x[None]))
    assert coal_least(robot, scene, into[None]) < -0.005
    motion = arm.Trajectory([0.0, 1.0], np.array([TIGHT, into]), still, still)
    assert not arm.clearance(robot, scene, motion).free


def test_a_move_passes_close_to_an_obstacle_at_a_via_point():
    robot, scene = elbow(), lamp(1e-3)
    limits = {"velocity": 1.0, "acceleration": 4.0}
    robot = robot.with_limits(dict.fromkeys(robot.joint_names, limits))
    via = arm.optimize.Via(TIGHT)
    plan = arm.minimize_time(
        robot, arm.Move(FREE, FREE * 0.5, via=[via], floor=None, scene=scene), knots=40
    )
    assert plan.ok, plan.diagnosis
    q = plan.trajectory(np.linspace(0.0, plan.duration, 400)).q
    assert coal_least(robot, scene, q) > 0.0
    assert np.linalg.norm(q - TIGHT, axis=1).min() < 0.02
