"""Robots and obstacles as arrays for the compiled loops: what changes from scene to scene is data,
and compiles nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armature.robot.tree import Tree
from armature.scene.hull import hull_planes
from armature.scene.loops import Indices, Matrices, Matrix, Vector
from armature.scene.obstacle import Obstacle

BOX, CYLINDER, HALF_SPACE, HULL = range(4)


class Bodies(NamedTuple):
    """The moving bodies of a robot. parent: (b,), −1 for the world.  turns: (b,) 1 for revolute
    joints, 0 for prismatic ones.

    R: (b, 3, 3), p, axis: (b, 3) as in `robot.tree.Body`.  q: (b,) place in q; the coordinate is
    multiplier · q + offset.
    """

    parent: Indices
    turns: Indices
    R: Matrices
    p: Matrix
    axis: Matrix
    q: Indices
    multiplier: Vector
    offset: Vector


class Spheres(NamedTuple):
    """Covers of links, in three levels. body: (l,) that each link belongs to.  bound: (l, 4) a
    ball about each link's cover.

    first: (l + 1,) where each link's groups begin.  group: (g, 4) balls about groups of spheres.
    begin: (g + 1,) where each group's
    spheres begin.  sphere: (s, 4). Centres in the frames of the bodies, radii, m.
    """

    body: Indices
    bound: Matrix
    first: Indices
    group: Matrix
    begin: Indices
    sphere: Matrix


class Obstacles(NamedTuple):
    """Shapes in the world. kind: (o,) BOX, CYLINDER, HALF_SPACE or HULL.  pose: (o, 12) rows of
    the rotation, then the position, m.

    size: (o, 4) half edges (of a cylinder radius and half length) and the radius of the ball that
    the shape is swept by, m.
    first: (o + 1,) where each hull's planes begin.  planes: (p, 4) n, b.
    """

    kind: Indices
    pose: Matrix
    size: Matrix
    first: Indices
    planes: Matrix


def body_table(tree: Tree) -> Bodies:
    """The bodies of a robot on a fixed base."""
    rows = tree.bodies
    integers = lambda values: np.array(list(values), dtype=np.int64)
    return Bodies(
        integers(b.parent for b in rows), integers(b.kind == "revolute" for b in rows),
        np.array([b.R for b in rows], dtype=float).reshape(-1, 3, 3), np.array([b.p for b in rows], dtype=float).reshape(-1, 3),
        np.array([b.axis for b in rows], dtype=float).reshape(-1, 3), integers(b.q for b in rows),
        np.array([b.multiplier for b in rows], dtype=float), np.array([b.offset for b in rows], dtype=float),
    )  # fmt: skip


def obstacle_table(obstacles: Sequence[Obstacle]) -> Obstacles:
    """Obstacles of the world, with their margins."""
    rows = [_row(o) for o in obstacles]
    planes = [row[2] for row in rows]
    pose = [[*np.ravel(o.rotation), *o.position] for o in obstacles]
    return Obstacles(
        np.array([row[0] for row in rows], dtype=np.int64), np.array(pose, dtype=float).reshape(-1, 12),
        np.array([row[1] for row in rows], dtype=float).reshape(-1, 4),
        np.cumsum([0, *(len(p) for p in planes)]).astype(np.int64), np.vstack([np.zeros((0, 4)), *planes]),
    )  # fmt: skip


def _row(o: Obstacle) -> tuple[int, tuple[float, ...], np.ndarray]:
    """(kind, size, planes) of an obstacle."""
    none = np.zeros((0, 4))
    if o.shape == "box":
        return BOX, (*(x / 2 for x in o.size), o.margin), none
    if o.shape == "sphere":
        return BOX, (0.0, 0.0, 0.0, o.size[0] + o.margin), none
    if o.shape == "capsule":
        return BOX, (0.0, 0.0, o.size[1] / 2, o.size[0] + o.margin), none
    if o.shape == "cylinder":
        return CYLINDER, (o.size[0], o.size[1] / 2, 0.0, o.margin), none
    if o.shape == "half-space":
        return HALF_SPACE, (0.0, 0.0, 0.0, o.margin), none
    return HULL, (0.0, 0.0, 0.0, o.margin), hull_planes(np.array(o.points))


def sphere_table(bodies: Sequence[int], covers: Sequence[np.ndarray]) -> Spheres:
    """Covers of links, each (k, 4) in the frame of the link's body, sorted into groups of
    neighbours."""
    groups = [_grouped(cover) for cover in covers]
    flat = [group for link in groups for group in link]
    stack = lambda rows: np.ascontiguousarray(np.vstack([np.zeros((0, 4)), *rows]))
    return Spheres(
        np.array(bodies, dtype=np.int64), stack([ball_around(cover) for cover in covers]),
        np.cumsum([0, *(len(link) for link in groups)]).astype(np.int64), stack([ball_around(g) for g in flat]),
        np.cumsum([0, *(len(g) for g in flat)]).astype(np.int64), stack(flat),
    )  # fmt: skip


GROUP = 12  # spheres of a group, at most


def _grouped(spheres: np.ndarray) -> list[np.ndarray]:
    """Spheres (k, 4) halved across their longest extent until groups are small."""
    if len(spheres) <= GROUP:
        return [spheres]
    along = int(np.ptp(spheres[:, :3], axis=0).argmax())
    order = np.argsort(spheres[:, along], kind="stable")
    middle = len(order) // 2
    return [*_grouped(spheres[order[:middle]]), *_grouped(spheres[order[middle:]])]


def ball_around(spheres: np.ndarray) -> np.ndarray:
    """(4,): a ball with all spheres (k, 4) inside, moved step by step from their middle towards
    the farthest one (Bădoiu and Clarkson)."""
    x, r = spheres[:, :3], spheres[:, 3]
    centre = (x.min(0) + x.max(0)) / 2
    best = None
    for k in range(1, 60):
        reach = np.linalg.norm(x - centre, axis=1) + r
        far = int(reach.argmax())
        if best is None or reach[far] < best[3]:
            best = np.array([*centre, reach[far]])
        centre = centre + (x[far] - centre) / (k + 1)
    assert best is not None
    return best * [1.0, 1.0, 1.0, 1.0 + 1e-12]
