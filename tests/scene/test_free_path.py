"""Covers of meshes, and free paths found by sampling, judged by coal and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from tests.scene.test_scene import coal_least, elbow, slider

import armature as arm
from armature.robot.mesh import read_mesh
from armature.scene.collision import collision_model
from armature.scene.free_path import FINEST, NoPathError, margins_at, same_way, search_in
from armature.scene.gaps import body_poses, gap
from armature.scene.mesh_spheres import fit_mesh
from armature.scene.solid import fine_triangles
from armature.scene.tables import STACK

FACES = [(1, 3, 4, 2), (5, 6, 8, 7), (1, 2, 6, 5), (3, 7, 8, 4), (1, 5, 7, 3), (2, 4, 8, 6)]


def write_boxes(path, boxes) -> None:
    """A mesh of boxes ((x, y, z), (a, b, c)), corner and edges, that may overlap."""
    text = ""
    for k, (low, edges) in enumerate(boxes):
        for i in (0, 1):
            for j in (0, 1):
                for m in (0, 1):
                    x, y, z = np.array(low) + np.array(edges) * (i, j, m)
                    text += f"v {x} {y} {z}\n"
        for face in FACES:
            text += "f " + " ".join(str(8 * k + v) for v in face) + "\n"
    path.write_text(text)


def test_spheres_of_a_mesh_contain_it_and_stay_near_it(tmp_path):
    """A channel: walls on a plate, overlapping, with a slot of 60 mm between them."""
    file, out = tmp_path / "channel.obj", 0.003
    boxes = [
        ((0, 0, 0), (0.1, 0.1, 0.02)),
        ((0, 0, 0), (0.02, 0.1, 0.08)),
        ((0.08, 0, 0), (0.02, 0.1, 0.08)),
    ]
    write_boxes(file, boxes)
    mesh = read_mesh(file)
    spheres = fit_mesh(mesh.points, mesh.faces, out, 0.012)
    gap = lambda x: np.min(
        np.linalg.norm(x[:, None] - spheres[:, :3], axis=2) - spheres[:, 3], axis=1
    )
    rng = np.random.default_rng(0)
    depth = lambda x: np.min(
        [np.maximum(np.array(a) - x, x - a - np.array(b)).max(1) for a, b in boxes], axis=0
    )
    surface = fine_triangles(mesh.points[mesh.faces], 0.003).reshape(-1, 3)
    surface = surface[rng.permutation(len(surface))[:8000]]
    outer = surface[depth(surface) > -1e-9]  # not inside another box
    assert len(outer) > 4000 and gap(outer).max() <= 0.0
    x = rng.uniform(-0.02, 0.12, (8_000, 3))
    deep = depth(x) < -3 * out
    assert deep.sum() > 30 and gap(x[deep]).max() <= 0.0
    far = np.min(
        [
            np.linalg.norm(
                np.maximum(np.maximum(np.array(a) - x, x - a - np.array(b)), 0.0), axis=1
            )
            for a, b in boxes
        ],
        axis=0,
    )
    fillet = 0.012 * (np.sqrt(2.0) - 1.0)  # a ball of this radius does not reach into a corner
    assert far[gap(x) <= 0.0].max() <= out + fillet + 0.002
    assert gap(np.array([[0.05, 0.05, 0.05]]))[0] > 0.01  # the slot is open


def wall() -> arm.Scene:
    """A post beside an elbow robot, in the way of a turn."""
    return arm.Scene().with_box("post", (0.1, 0.1, 0.9), (0.45, 0.0, 0.45))


def test_a_free_path_goes_round_what_blocks_the_straight_one():
    robot, scene = elbow(), wall()
    start, goal = np.array([-0.9, 1.2, 0.3]), np.array([0.9, 1.2, 0.3])
    s = np.linspace(0.0, 1.0, 60)[:, None]
    assert coal_least(robot, scene, (1 - s) * start + s * goal) < 0.0
    path = arm.scene.free_path(robot, scene, start, goal)
    assert np.array_equal(path.points[0], start) and np.array_equal(path.points[-1], goal)
    between = [(1 - s[::3]) * a + s[::3] * b for a, b in zip(path.points, path.points[1:])]
    assert coal_least(robot, scene, np.vstack(between)) > 0.0
    assert np.all(np.abs(path.points) <= 2.5)


def test_links_are_as_far_apart_as_their_nearest_spheres():
    """The trees of spheres against all spheres of two links."""
    robot = elbow()
    model = collision_model(robot, arm.Scene())
    q = np.random.default_rng(4).uniform(-2.5, 2.5, (30, 3))
    poses, spheres = np.empty((30, len(model.bodies.q), 12)), model.spheres
    body_poses(q, model.bodies, poses)

    def placed(link: int) -> tuple[np.ndarray, np.ndarray]:
        nodes = np.arange(spheres.first[link], spheres.first[link + 1])
        ball = spheres.node[nodes[spheres.skip[nodes] == nodes + 1]]
        if (b := spheres.body[link]) < 0:
            return np.broadcast_to(ball[:, :3], (30, len(ball), 3)), ball[:, 3]
        R = poses[:, b, :9].reshape(-1, 3, 3)
        return np.einsum("kij,ej->kei", R, ball[:, :3]) + poses[:, b, None, 9:], ball[:, 3]

    assert len(model.first)
    for k, (i, j) in enumerate(zip(model.first, model.second)):
        (x, r), (y, s) = placed(i), placed(j)
        far = np.linalg.norm(x[:, :, None] - y[:, None], axis=3) - r[:, None] - s
        assert np.allclose(model.distances(q)[0][:, k], far.min((1, 2)), atol=1e-12)


def test_a_rough_distance_is_between_its_bounds():
    """(true − enough) / (1 + 2 part) ≤ told − enough ≤ true − enough, of links and obstacles."""
    robot, scene, enough, part = elbow(), wall(), 0.003, 0.5
    model = collision_model(robot, scene)
    poses, stack = np.empty((len(model.bodies.q), 12)), np.empty(STACK, dtype=np.int64)
    told, true = [], []
    for q in np.random.default_rng(5).uniform(-1.5, 1.5, (6, 3)):
        body_poses(q[None], model.bodies, poses[None])
        true.extend(model.distances(q[None])[0][0])
        for i, k in zip(model.first.tolist(), model.second.tolist()):
            room = (poses, stack, model.spheres, model.obstacles)
            told.append(gap(i, k, 1e300, enough, part, *room)[0])
    a, b = np.array(told) - enough, np.array(true) - enough
    apart = b > 0.0
    assert np.array_equal(a > 0.0, apart) and 3 < apart.sum() < len(apart)
    assert np.all(a[apart] <= b[apart] + 1e-12)
    assert np.all(a[apart] >= b[apart] / (1.0 + 2.0 * part) - 1e-12)
    assert np.any(a[apart] < b[apart] - 1e-4)  # some are rough


def test_a_way_is_free_if_and_only_if_states_close_to_each_other_are():
    """But for what links move between two states that the search looks at."""
    robot, scene = elbow(), wall()
    search, rng = search_in(robot, scene), np.random.default_rng(7)
    s, verdicts = np.linspace(0.0, 1.0, 500)[:, None], []
    while len(verdicts) < 60:
        a, b = rng.uniform(-1.5, 1.5, (2, 3))
        if search.model.distances(np.array([a, b]))[0].min() < 0.0:
            continue
        margins = margins_at(search, [a, b])
        near = (search.model.distances((1 - s) * a + s * b)[0] - margins).min()
        verdicts.append(search.free(a, b, margins))
        assert near > -FINEST if verdicts[-1] else near < 1e-3
    assert 5 < sum(verdicts) < 55


def test_a_straight_path_that_is_free_is_kept():
    path = arm.scene.free_path(elbow(), wall(), [-0.9, 1.2, 0.3], [-0.2, -0.5, 0.3])
    assert len(path.points) == 2


def test_paths_on_both_sides_are_different_ways():
    """A ball and a pillar: to its left and to its right."""
    robot = slider()
    scene = (
        arm.Scene()
        .with_box("pillar", (0.3, 0.3, 4.0))
        .with_half_space("ceiling", (0, 0, 0.1), rpy=(np.pi, 0, 0))
        .with_half_space("floor", (0, 0, -0.1))
    )
    paths = arm.scene.free_paths(robot, scene, [-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], 2, 20)
    assert len(paths) == 2
    middle = sorted(path.points[1:-1, 1].mean() for path in paths)
    assert middle[0] < -0.15 and middle[1] > 0.15
    assert not same_way(search_in(robot, scene), *paths)


def test_a_place_in_collision_and_a_closed_room_are_refused():
    robot, scene = slider(), arm.Scene().with_box("wall", (0.1, 9.0, 9.0))
    with pytest.raises(
        arm.errors.ArgumentError, match=r"goal is in collision: ball is .* inside wall"
    ):
        arm.scene.free_path(robot, scene, [-0.5, 0, 0], [0.02, 0, 0])
    with pytest.raises(NoPathError, match="blocked by ball and wall"):
        arm.scene.free_path(robot, scene, [-0.5, 0, 0], [0.5, 0, 0], patience=0.2)
