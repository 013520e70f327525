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
STACK = 1024  # room for pairs of balls that are still to be looked at: trees are not that deep


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
    """Covers of links, each a tree of balls. body: (l,) that each link belongs to.

    first: (l + 1,) where each link's nodes begin.  node: (k, 4) balls, in the frames of the bodies,
    m: each has those of its subtree inside, which follow it.  skip: (k,) the node after the
    subtree; a node whose subtree is itself is a sphere of the cover, the others are about several.
    """

    body: Indices
    first: Indices
    node: Matrix
    skip: Indices

    @property
    def bound(self) -> np.ndarray:
        """(l, 4) a ball about each link's cover."""
        return self.node[self.first[:-1]]


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
        integers(b.parent for b in rows),
        integers(b.kind == "revolute" for b in rows),
        np.array([b.R for b in rows], dtype=float).reshape(-1, 3, 3),
        np.array([b.p for b in rows], dtype=float).reshape(-1, 3),
        np.array([b.axis for b in rows], dtype=float).reshape(-1, 3),
        integers(b.q for b in rows),
        np.array([b.multiplier for b in rows], dtype=float),
        np.array([b.offset for b in rows], dtype=float),
    )


def obstacle_table(obstacles: Sequence[Obstacle]) -> Obstacles:
    """Obstacles of the world, with their margins."""
    rows = [_row(o) for o in obstacles]
    planes = [row[2] for row in rows]
    pose = [[*np.ravel(o.rotation), *o.position] for o in obstacles]
    return Obstacles(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array(pose, dtype=float).reshape(-1, 12),
        np.array([row[1] for row in rows], dtype=float).reshape(-1, 4),
        np.cumsum([0, *(len(p) for p in planes)]).astype(np.int64),
        np.vstack([np.zeros((0, 4)), *planes]),
    )


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


class SphereTree(NamedTuple):
    """A cover as a tree, as `Spheres` has it. node: (k, 4), m.  skip: (k,), counted from 0."""

    node: np.ndarray
    skip: np.ndarray

    def moved(self, R: np.ndarray, p: np.ndarray) -> SphereTree:
        """The same in another frame."""
        return SphereTree(np.column_stack([self.node[:, :3] @ R.T + p, self.node[:, 3]]), self.skip)


def sphere_table(bodies: Sequence[int], covers: Sequence[SphereTree]) -> Spheres:
    """Covers of links, each in the frame of the link's body."""
    first = np.cumsum([0, *(len(tree.skip) for tree in covers)]).astype(np.int64)
    skips = [tree.skip + start for tree, start in zip(covers, first)]
    return Spheres(
        np.array(bodies, dtype=np.int64),
        first,
        np.ascontiguousarray(np.vstack([np.zeros((0, 4)), *(tree.node for tree in covers)])),
        np.concatenate([np.zeros(0, dtype=np.int64), *skips]),
    )


def sphere_tree(spheres: np.ndarray) -> SphereTree:
    """Spheres (k, 4) as a tree."""
    nodes: list[np.ndarray] = []
    skip: list[int] = []
    _append_tree(spheres, nodes, skip)
    return SphereTree(np.vstack(nodes), np.array(skip, dtype=np.int64))


LEAF = 4  # spheres that one node is about, at least


def _append_tree(spheres: np.ndarray, nodes: list[np.ndarray], skip: list[int]) -> None:
    """Spheres (k, 4) halved across their longest extent until few are left, as nodes."""
    at = len(nodes)
    nodes.append(ball_around(spheres))
    skip.append(0)
    if len(spheres) <= LEAF:
        nodes.extend(spheres)
        skip.extend(range(at + 2, at + 2 + len(spheres)))
    else:
        along = int(np.ptp(spheres[:, :3], axis=0).argmax())
        order = np.argsort(spheres[:, along], kind="stable")
        middle = len(order) // 2
        _append_tree(spheres[order[:middle]], nodes, skip)
        _append_tree(spheres[order[middle:]], nodes, skip)
    skip[at] = len(nodes)


def ball_around(spheres: np.ndarray) -> np.ndarray:
    """(4,): a ball with all spheres (k, 4) inside, moved step by step from their middle towards
    the farthest one (Bădoiu and Clarkson)."""
    x, r = spheres[:, :3], spheres[:, 3]
    centre = (x.min(0) + x.max(0)) / 2
    best = None
    for k in range(1, 25):
        reach = np.linalg.norm(x - centre, axis=1) + r
        far = int(reach.argmax())
        if best is None or reach[far] < best[3]:
            best = np.array([*centre, reach[far]])
        centre = centre + (x[far] - centre) / (k + 1)
    assert best is not None
    return best * [1.0, 1.0, 1.0, 1.0 + 1e-12]
