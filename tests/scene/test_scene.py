"""Scenes: distances against coal, covers that contain their shapes, files, and the proof between
samples."""

from __future__ import annotations

import numpy as np
import pytest

import armature as arm
from armature.kernel import cache
from armature.robot.shape import Visual
from armature.scene.collision import collision_model
from armature.scene.covers import distance_function, link_shapes
from armature.scene.obstacle import Obstacle
from armature.scene.spheres import fit_spheres

coal = pytest.importorskip("coal")

CORNERS = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.25], [0.2, 0.2, 0.2]])
TURN = (0.3, -0.5, 0.7)


def slider() -> arm.Robot:
    """A ball on three sliding joints."""
    ball = arm.robot.Link("ball", 1.0, collisions=(Visual("sphere", (0.05,)),))
    links = [arm.robot.Link("base"), *(arm.robot.Link(f"l{k}", 1.0) for k in "xy"), ball]
    names = ["base", "lx", "ly", "ball"]
    limits = arm.robot.Limits(-1.0, 1.0)
    joints = [
        arm.robot.Joint(k, "prismatic", a, b, axis=axis, limits=limits)
        for k, a, b, axis in zip("xyz", names, names[1:], np.eye(3).tolist())
    ]
    return arm.Robot("slider", tuple(links), tuple(joints), "base")


def elbow() -> arm.Robot:
    """Three links with a turning joint each; boxes and cylinders."""
    shapes = (
        Visual("cylinder", (0.04, 0.3), (0.0, 0.0, 0.15)),
        Visual("box", (0.08, 0.06, 0.3), (0.0, 0.0, 0.15)),
    )
    links = [
        arm.robot.Link("base", collisions=(Visual("box", (0.2, 0.2, 0.1), (0.0, 0.0, -0.05)),))
    ]
    links += [
        arm.robot.Link(
            f"l{k}", 1.0, (0, 0, 0.15), (0.1, 0.1, 0.01, 0, 0, 0), collisions=(shapes[k % 2],)
        )
        for k in range(3)
    ]
    names, axes = ["base", "l0", "l1", "l2"], ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0))
    joints = [
        arm.robot.Joint(
            f"j{k}",
            "revolute",
            names[k],
            names[k + 1],
            (0.0, 0.0, 0.3 if k else 0.0),
            axis=axes[k],
            limits=arm.robot.Limits(-2.5, 2.5),
        )
        for k in range(3)
    ]
    return arm.Robot("elbow", tuple(links), tuple(joints), "base")


def judged(o: Obstacle):
    """The same shape for coal."""
    if o.shape == "hull":
        points = coal.StdVec_Vec3s()
        points.extend([np.array(p) for p in o.points])
        return coal.Convex.convexHull(points, False, "")
    made = {
        "box": coal.Box,
        "sphere": coal.Sphere,
        "capsule": coal.Capsule,
        "cylinder": coal.Cylinder,
    }
    return made[o.shape](*o.size)


def coal_distance(a, Ra, pa, b, Rb, pb) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    first, second = (
        coal.Transform3s(np.asarray(R, dtype=float), np.asarray(p, dtype=float))
        for R, p in ((Ra, pa), (Rb, pb))
    )
    return coal.distance(a, first, b, second, request, result)


@pytest.mark.parametrize("shape", ["box", "sphere", "capsule", "cylinder"])
def test_distance_of_a_ball_is_that_of_coal(shape):
    size = {
        "box": (0.2, 0.3, 0.1),
        "sphere": (0.15,),
        "capsule": (0.08, 0.3),
        "cylinder": (0.1, 0.4),
    }[shape]
    add = getattr(arm.Scene(), f"with_{shape}")
    place = {"position": (0.1, -0.1, 0.2)} | ({} if shape == "sphere" else {"rpy": TURN})
    scene = add("it", size, **place) if shape == "box" else add("it", *size, **place)
    q = np.random.default_rng(3).uniform(-0.6, 0.6, (60, 3))
    found = arm.distance(slider(), scene, q).least
    o = scene.obstacles[0]
    wanted = np.array(
        [
            coal_distance(coal.Sphere(0.05), np.eye(3), x, judged(o), o.rotation, o.position)
            for x in q
        ]
    )
    outside = wanted > 0.0
    assert outside.sum() > 20
    assert np.abs(found - wanted)[outside].max() < 1e-6
    assert np.all(found[wanted < -1e-6] < 0.0)


def test_distance_from_a_hull_is_never_more_than_coals():
    scene = arm.Scene().with_hull("it", CORNERS, (0.1, 0.0, 0.0), TURN)
    q = np.random.default_rng(4).uniform(-0.5, 0.5, (80, 3))
    o = scene.obstacles[0]
    found = arm.distance(slider(), scene, q).least
    wanted = np.array(
        [
            coal_distance(coal.Sphere(0.05), np.eye(3), x, judged(o), o.rotation, o.position)
            for x in q
        ]
    )
    assert np.all(found <= wanted + 1e-6)
    assert np.mean(np.abs(found - wanted)[wanted > 0.0]) < 0.02


BOX, POST = Obstacle("it", "box", (0.1, 0.06, 0.2)), Obstacle("it", "cylinder", (0.05, 0.2))
HULL = Obstacle("it", "hull", points=tuple(map(tuple, CORNERS)))


@pytest.mark.parametrize("shape", [BOX, POST, HULL])
def test_spheres_contain_the_shape_and_reach_out_no_farther_than_told(shape):
    out, distance = 0.01, distance_function(shape)
    spheres = fit_spheres(distance, shape.corners, out)
    low, high = shape.corners.min(0), shape.corners.max(0)
    x = np.random.default_rng(0).uniform(low, high, (40_000, 3))
    x = x[distance(x) <= 0.0]
    depth = np.min(np.linalg.norm(x[:, None] - spheres[:, :3], axis=2) - spheres[:, 3], axis=1)
    assert len(x) > 1000 and depth.max() <= 0.0
    assert np.all(-distance(spheres[:, :3]) + out >= spheres[:, 3] - 1e-12)


def test_compiled_poses_are_those_of_the_dynamics():
    from armature.scene.gaps import body_poses

    robot = elbow()
    model = collision_model(robot, arm.Scene())
    q = np.random.default_rng(0).uniform(-2, 2, (20, 3))
    found = np.empty((20, 3, 12))
    body_poses(q, model.bodies, found)
    frame = robot.tree.frames["l2"]
    R = found[:, frame.body, :9].reshape(-1, 3, 3)
    wanted = arm.pose(robot, q, "l2")
    assert np.allclose(R @ frame.R, wanted.R, atol=1e-12)
    assert np.allclose(found[:, frame.body, 9:] + R @ frame.p, wanted.p, atol=1e-12)


def scene_with_posts(seed: int) -> arm.Scene:
    rng, scene = np.random.default_rng(seed), arm.Scene()
    for k in range(5):
        place = rng.uniform(-0.5, 0.5, 3) + [0, 0, 0.5]
        scene = scene.with_box(f"box {k}", rng.uniform(0.05, 0.2, 3), place, rng.uniform(-1, 1, 3))
    return scene


def coal_least(robot, scene, q) -> float:
    """The least distance of the real shapes at states, by coal: links from boxes, and links 0 and
    2 and the base from each other."""
    shapes = {link: link_shapes(robot, link)[0] for link in robot.link_names}
    worlds = [(judged(o), np.array(o.rotation), np.array(o.position)) for o in scene.obstacles]
    least = np.inf
    for x in q:
        placed = {}
        for link, o in shapes.items():
            pose = arm.pose(robot, x, link)
            placed[link] = (
                judged(o),
                pose.R @ np.array(o.rotation),
                pose.R @ np.array(o.position) + pose.p,
            )
        pairs = [(placed[link], world) for link in ("l0", "l1", "l2") for world in worlds]
        pairs += [(placed[a], placed[b]) for a, b in (("base", "l1"), ("base", "l2"), ("l0", "l2"))]
        least = min(least, *(coal_distance(*a, *b) for a, b in pairs))
    return least


def test_a_colliding_motion_is_never_called_free():
    robot, verdicts = elbow(), []
    for seed in range(10):
        scene, rng = scene_with_posts(seed), np.random.default_rng(100 + seed)
        q = np.vstack([rng.uniform(-1.2, 1.2, 3) for _ in range(2)])
        motion = arm.Trajectory(
            np.array([0.0, 1.0]), q, np.zeros((2, 3)), np.zeros((2, 3)), robot.joint_names
        )
        found = arm.clearance(robot, scene, motion)
        wanted = coal_least(robot, scene, motion(np.linspace(0.0, 1.0, 200)).q)
        verdicts.append(found.free)
        if found.free:
            assert wanted >= found.clearance - 1e-6 or found.clearance == pytest.approx(0.1)
        else:
            assert wanted < 0.02  # what the spheres reach out on both sides
            assert found.pair is not None and 0.0 <= found.time <= 1.0
    assert len(set(verdicts)) == 2


def test_a_collision_between_samples_is_found():
    robot = slider()
    scene = arm.Scene().with_sphere("bead", 0.001, (0.0, 0.001, 0.0))
    t = np.array([0.0, 1.0])
    ends = lambda y: np.array([[-0.9, y, 0.0], [0.9, y, 0.0]])
    through = arm.Trajectory(t, ends(0.0), np.zeros((2, 3)), np.zeros((2, 3)), robot.joint_names)
    past = arm.Trajectory(t, ends(0.06), np.zeros((2, 3)), np.zeros((2, 3)), robot.joint_names)
    assert arm.clearance(robot, scene, through).clearance < 0.0
    found = arm.clearance(robot, scene, past)
    assert found.free and 0.006 <= found.clearance <= 0.008 and found.pair == ("ball", "bead")


def test_what_is_carried_collides_and_margins_count():
    robot = slider()
    wall = arm.Scene().with_half_space("wall", (0.0, 0.0, -0.5), margin=0.02)
    assert arm.distance(robot, wall, np.zeros(3)).least == pytest.approx(0.43)
    held = wall.with_sphere("tool", 0.1, (0.0, 0.0, -0.2), link="ball")
    assert arm.distance(robot, held, np.zeros(3)).least == pytest.approx(0.18)
    found = arm.collisions(robot, held, [[0.0, 0.0, 0.0], [0.0, 0.0, -0.3]])
    assert [(c.first, c.second, c.at) for c in found] == [("tool", "wall", (1,))]
    assert found[0].depth == pytest.approx(0.12)


def test_another_scene_compiles_and_fits_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "ARMATURE_CACHE", str(tmp_path)
    )  # of this test alone: others compile meanwhile
    robot = elbow()
    arm.distance(robot, scene_with_posts(1), np.zeros(3))
    before = set(cache.cache_folder().iterdir())
    scene = (
        arm.Scene()
        .with_cylinder("post", 0.1, 1.0, (0.5, 0.0, 0.0))
        .with_hull("rock", CORNERS, (-0.6, 0.0, 0.2))
    )
    arm.distance(robot, scene, np.zeros((5, 3)))
    assert set(cache.cache_folder().iterdir()) == before


def test_links_that_always_touch_are_left_out_and_reported(tmp_path):
    from dataclasses import replace

    robot = elbow()
    fat = replace(robot.links[1], collisions=(Visual("sphere", (0.7,)),))
    robot = arm.Robot("fat", (robot.links[0], fat, *robot.links[2:]), robot.joints, "base")
    found = arm.distance(robot, arm.Scene(), np.zeros(3))
    assert ("l0", "l2") in found.touching and ("l0", "l2") not in found.pairs
    file = tmp_path / "robot.srdf"
    file.write_text(
        '<robot name="fat"><disable_collisions link1="base" link2="l2" reason="Never"/></robot>'
    )
    assert ("base", "l2") not in arm.distance(robot, arm.Scene().with_srdf(file), np.zeros(3)).pairs


MOVEIT = """
world:
  collision_objects:
    - id: can
      pose: {position: [1, 0, 0], orientation: [0, 0, 0.70710678118, 0.70710678118]}
      primitives: [{type: cylinder, dimensions: [0.4, 0.1]}]
      primitive_poses: [{position: [0.5, 0, 0.2], orientation: [0, 0, 0, 1]}]
    - id: table
      primitives: [{type: box, dimensions: [1, 2, 0.1]}]
      primitive_poses: [{position: [0, 0, -0.5], orientation: [0, 0, 0, 1]}]
allowed_collision_matrix:
  entry_names: [ball, table]
  entry_values: [[false, true], [true, false]]
"""


def test_a_scene_of_moveit_is_read_as_it_is(tmp_path):
    file = tmp_path / "scene.yaml"
    file.write_text(MOVEIT)
    scene = arm.Scene.load(file)
    can, table = scene.obstacles
    assert (
        can.size == (0.1, 0.4)
        and np.allclose(can.position, (1.0, 0.5, 0.2))
        and table.size == (1.0, 2.0, 0.1)
    )
    assert arm.distance(slider(), scene, np.zeros(3)).pairs == (("ball", "can"),)


def test_a_scene_of_our_own_is_read_and_its_mistakes_are_told(tmp_path):
    file = tmp_path / "scene.yaml"
    file.write_text(
        "margin: 1 cm\nobjects:\n  table: {box: [1, 1, 0.1], position: [0, 0, -0.3]}\n  tool:"
        " {sphere: 0.02, link: ball}\n"
    )
    scene = arm.Scene.load(file)
    assert [o.margin for o in scene.obstacles] == [0.01, 0.01] and scene.carried[0].link == "ball"
    file.write_text("objects:\n  table: {box: [1, 1, 0.1], sphere: 2}\n")
    with pytest.raises(arm.errors.FileError, match="box and sphere given"):
        arm.Scene.load(file)
    file.write_text("objects:\n- {name: table, box: [1, 1, 0.1]}\n")
    with pytest.raises(arm.errors.FileError, match="give names, each with keys: box, sphere"):
        arm.Scene.load(file)
    with pytest.raises(arm.errors.ArgumentError, match="already"):
        scene.with_sphere("table", 0.1)
    with pytest.raises(arm.errors.ArgumentError, match="not in robot"):
        arm.distance(slider(), arm.Scene().with_sphere("it", 0.1, link="hand"), np.zeros(3))
    with pytest.raises(arm.errors.ArgumentError, match="must be lengths above 0"):
        arm.Scene().with_box("flat", (1.0, 1.0, 0.0))


def test_convex_parts_contain_a_mesh_that_is_not_convex(tmp_path):
    pytest.importorskip("coacd")
    boxes = [(0.0, 0.0, 0.4, 0.1), (0.0, 0.0, 0.1, 0.4)]  # an L
    text, count = "", 0
    for x, y, a, b in boxes:
        corners = [(x + a * i, y + b * j, 0.1 * k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
        text += "".join(f"v {p} {q} {r}\n" for p, q, r in corners)
        faces = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]
        text += "".join("f " + " ".join(str(count + v) for v in face) + "\n" for face in faces)
        count += 8
    file = tmp_path / "l.obj"
    file.write_text(text)
    one, several = (arm.Scene().with_mesh("l", file, parts=parts) for parts in ("one", "several"))
    inside = np.array([[0.35, 0.05, 0.05], [0.05, 0.35, 0.05], [0.05, 0.05, 0.05]])
    assert np.all(arm.distance(slider(), several, inside).least < -0.04)
    corner = np.array([0.25, 0.25, 0.05])  # in the L's hull, not in the L
    assert (
        arm.distance(slider(), one, corner).least
        < 0.0
        < arm.distance(slider(), several, corner).least
    )


def test_links_that_touch_at_zero_by_their_spheres_alone_are_left_out_and_deeper_ones_are_not():
    robot = arm.library("six_axis")
    scene = arm.Scene().with_box("far", (0.1, 0.1, 0.1), position=(5.0, 5.0, 5.0))
    touching = arm.distance(robot, scene, np.zeros(6)).touching
    assert ("base", "upper_arm") in touching
    assert not arm.collisions(robot, scene, [[0.0, 0.5, 0.5, 0.0, 0.5, 0.0]])
    thick = arm.Scene(scene.obstacles, spheres={"wrist1": [[0.0, 0.0, 0.0, 0.8]]})
    found = arm.distance(robot, thick, np.zeros(6))
    assert ("base", "wrist1") in found.pairs and ("base", "wrist1") not in found.touching
    assert ("base", "wrist1") in [
        (h.first, h.second) for h in arm.collisions(robot, thick, [np.zeros(6)])
    ]
