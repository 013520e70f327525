"""Distance rows of the optimiser: tangents of distances, planes along a motion, their rows in the
solver's model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.scene.test_around import GOAL, START, limited
from tests.scene.test_free_path import wall
from tests.scene.test_scene import coal_least

import armature as arm
from armature.dynamics.compiled import link_poses
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.plane_rows import UNIT, GuardedMove
from armature.optimize.transcription.planes import Planes
from armature.optimize.transcription.transcribe import At
from armature.scene.collision import collision_model
from armature.scene.near import near_spheres, outward


def every_shape() -> arm.Scene:
    """One of each, turned."""
    corners = np.random.default_rng(1).normal(size=(12, 3))
    turned = {"rpy": (0.3, -0.5, 1.1)}
    scene = arm.Scene().with_box("box", (0.3, 0.4, 0.5), (0.1, 0.2, 0.3), **turned)
    scene = scene.with_cylinder("post", 0.2, 0.5, (0.3, 0.1, 0.2), **turned)
    scene = scene.with_half_space("wall", (0.0, 0.0, 0.1), **turned)
    scene = scene.with_hull("rock", corners, (0.0, 0.1, 0.2), **turned)
    scene = scene.with_sphere("lamp", 0.2, (0.3, 0.4, 0.1))
    return scene.with_capsule("pipe", 0.1, 0.4, (0.1, 0.1, 0.1), **turned)


def test_gradients_of_distances_are_those_of_differences_and_tangents_bound_from_below():
    model, rng = collision_model(limited(), every_shape()), np.random.default_rng(0)
    for k in range(len(every_shape().obstacles)):
        x, y = rng.uniform(-1.0, 1.0, (2, 200, 3))
        at = lambda points, k=k: outward(model, np.full(len(points), k), points.copy())
        d, n = at(x)
        step = 1e-6
        numeric = [(at(x + step * e)[0] - at(x - step * e)[0]) / (2 * step) for e in np.eye(3)]
        assert np.quantile(np.abs(np.stack(numeric, axis=1) - n).max(1), 0.98) < 1e-7
        assert np.all(at(y)[0] >= d + np.sum(n * (y - x), axis=1) - 1e-12)


def test_near_spheres_are_the_nearest_by_brute_force_and_apart():
    robot, scene = limited(), wall()
    model = collision_model(robot, scene)
    q = np.random.default_rng(2).uniform(-1.0, 1.0, (20, robot.n))
    near = near_spheres(model, q, np.full(len(model.first), 9.0), 3, 0.05)
    least = model.distances(q)[0]
    assert np.allclose(near.distance[:, :, 0], least, atol=1e-12)
    outer = model.second < 0
    chosen = near.node[:, outer]
    for a, b in ((0, 1), (0, 2), (1, 2)):
        both = (chosen[..., a] >= 0) & (chosen[..., b] >= 0)
        x, y = (model.spheres.node[chosen[..., k][both], :3] for k in (a, b))
        assert np.all(np.linalg.norm(x - y, axis=1) >= 0.05)
    assert np.all(
        np.diff(near.distance[:, outer], axis=2)[np.isfinite(near.distance[:, outer, 1:])] >= 0
    )


@pytest.fixture(scope="module")
def plan() -> arm.Solution:
    return arm.minimize_time(limited(), arm.Move(START, GOAL, floor=None, scene=wall()), knots=40)


def test_rows_of_the_model_are_distances_of_spheres_from_their_planes(plan):
    """The compiled row, and the same from the poses of links by another function."""
    robot, motion = limited(), plan.trajectory
    model = collision_model(robot, wall())
    planes = Planes(robot, model, motion, np.full(len(model.first), 1e-3), 5e-3)
    move = arm.Move(START, GOAL, duration=motion.duration, floor=None)
    task = GuardedMove(robot, move, "regenerative", 40, planes=planes)
    rows = planes.rows(task.times / task.duration)
    problem = task.problem(Weights(time=1.0))
    at, count = task.driven.rows_at, rows.bound.shape[1]
    low = problem.constraints[0][:, at : at + count]
    assert np.isfinite(low[1:]).any() and not np.isfinite(low[0]).any()
    assert np.allclose(low[1:], rows.bound[1:-1] / UNIT)
    # the traced rows are n·x with x from the poses of links, and the reference keeps them
    bodies = np.repeat(np.arange(len(task.driven.slots)), task.driven.slots)
    q, none = planes.states(task.times / task.duration), np.zeros(robot.n)
    for k in (5, 20, 33):
        data = problem.data[k][len(problem.data[k]) - 6 * count :]
        instant = At(q[k], none, none, none, none, none, none, none, data)
        traced = task.driven.rates_between(instant, instant, 1.0)[-count:]
        poses = link_poses(robot, q[k])
        for slot, b in enumerate(bodies):
            link = next(x for x, f in robot.tree.frames.items() if f.body == b)
            frame, place = robot.tree.frames[link], list(robot.link_names).index(link)
            R = np.asarray(poses.R)[place] @ np.asarray(frame.R).T
            p = np.asarray(poses.p)[place] - R @ np.asarray(frame.p)
            value = rows.normal[k, slot] @ (R @ rows.centre[k, slot] + p)
            assert float(traced[slot]) * UNIT == pytest.approx(value, abs=1e-12)
            assert value >= rows.bound[k, slot] - 1e-9


def test_least_energy_around_an_obstacle_costs_less_than_along_the_first_free_path(plan):
    robot = arm.library("planar2")
    scene = arm.Scene().with_sphere("lamp", 0.25, (0.0, 0.0, -1.9))
    move = arm.Move([-0.9, 0.2], [0.9, 0.2], duration=2.5, floor=None, scene=scene)
    alone = arm.minimize_energy(robot, replace(move, scene=None), knots=40)
    assert not arm.clearance(robot, scene, alone.trajectory).free
    found = arm.minimize_energy(robot, move, knots=40)
    assert found.ok and found.certificate.ok and found.scene is not None
    assert arm.distance(robot, scene, found.trajectory(np.linspace(0, 2.5, 500)).q).least.min() > 0
    assert found.baseline is not None and found.baseline.name == "free path"
    assert found.energy < found.baseline.ledger.energy


def test_via_points_among_obstacles_are_passed_and_the_motion_is_free():
    via = [[-0.3, -0.4, 0.3], [0.4, -0.4, 0.2]]
    found = arm.minimize_time(
        limited(), arm.Move(START, GOAL, via=via, floor=None, scene=wall()), knots=60
    )
    t = np.linspace(0.0, found.duration, 300)
    assert found.ok and coal_least(limited(), wall(), found.trajectory(t).q) > 0.0
    passed = found.trajectory(np.linspace(0.0, found.duration, 4000)).q
    assert all(np.abs(passed - place).max(1).min() < 5e-3 for place in via)


def test_a_saved_plan_keeps_its_scene(plan, tmp_path):
    file = plan.save(tmp_path / "plan.json")
    again = arm.job.load_plan(file)
    assert again.scene == plan.scene and again.certificate.ok
    text = file.read_text()
    name = wall().names[0]
    file.write_text(text.replace(f'"name": "{name}"', '"name": "other"', 1))
    with pytest.warns(arm.errors.ArmatureWarning, match="certificate is not valid"):
        assert not arm.job.load_plan(file).ok


def test_another_scene_compiles_nothing(plan, monkeypatch):
    from armature.kernel import machine_code

    def refuse(*_):
        raise AssertionError("compiled")

    for name in ("assemble", "assemble_optimized"):
        if hasattr(machine_code, name):
            monkeypatch.setattr(machine_code, name, refuse)
    scene = wall().with_sphere("ball", 0.05, (0.3, -0.2, 1.4))
    found = arm.minimize_time(limited(), arm.Move(START, GOAL, floor=None, scene=scene), knots=40)
    assert found.ok


def test_a_duration_too_short_for_the_way_round_names_one_that_is_enough():
    robot = arm.library("planar2")
    scene = arm.Scene().with_sphere("lamp", 0.25, (0.0, 0.0, -1.9))
    move = arm.Move([-0.9, 0.2], [0.9, 0.2], duration=0.02, floor=None, scene=scene)
    found = arm.minimize_energy(robot, move, knots=40)
    assert not found.ok and found.diagnosis is not None
    enough = found.diagnosis.shortest_duration
    assert enough is not None and "round the obstacles" in found.diagnosis.sentence
    assert arm.minimize_energy(robot, replace(move, duration=1.01 * enough), knots=40).ok


def test_ways_around_an_obstacle_differ_are_free_and_ranked_by_energy():
    robot = arm.library("planar2")
    scene = arm.Scene().with_sphere("lamp", 0.25, (0.0, 0.0, -1.9))
    move = arm.Move([-0.9, 0.2], [0.9, 0.2], duration=2.5, floor=None, scene=scene)
    ways = arm.ways_round(robot, move, knots=40, most=3)
    assert ways and all(way.solution.ok for way in ways)
    assert all(arm.clearance(robot, scene, way.solution.trajectory).free for way in ways)
    assert list(ways) == sorted(ways, key=lambda way: way.energy)
    blocked = scene.with_sphere("rock", 0.3, arm.pose(robot, move.goal, robot.link_names[-1]).p)
    with pytest.raises(arm.errors.ArgumentError, match="goal is in collision"):
        arm.ways_round(robot, replace(move, scene=blocked), knots=40)
