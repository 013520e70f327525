"""Covers that are finer where links pass something more closely than their spheres can tell.

Spheres reach out of a link by some millimetres, so that they overlap where the link itself is free.
At such a configuration the spheres next to the other link or obstacle are replaced: by balls about
small pieces of the link's surface, each small against its distance from the other, and by the part
of each old sphere that lies inside the link for certain. What comes from outside meets the surface
first: so the new cover is as safe as the old one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from armature.robot.model import Robot
from armature.scene.covers import link_triangles
from armature.scene.gaps import body_poses
from armature.scene.near import outward
from armature.scene.tables import SphereTree, ball_around, sphere_table, sphere_tree

if TYPE_CHECKING:
    from armature.scene.model import Model

REGION = 0.01  # m: spheres that are nearer to the other are replaced
LONGEST = 0.01  # m: radius of pieces, at first
PART = 0.25  # of its distance: the radius of a piece, at most
LEAST = 2e-4  # m: what is nearer counts as touching
PIECES, ROUNDS = 20_000, 40  # of a link, at most; halvings
ROUNDING = 1e-9  # m


class Doubt(NamedTuple):
    """A pair whose covers overlap at a configuration though it may be free. poses: (b, 12) of the
    bodies.  first, second: as in `Model`."""

    poses: np.ndarray
    first: int
    second: int

    def other(self, link: int) -> int:
        """What the link is near to."""
        return self.second if link == self.first else self.first

    def in_world(self, model: Model, link: int, x: np.ndarray) -> np.ndarray:
        """Points (k, 3) of a link's body in the world."""
        body = int(model.spheres.body[link])
        if body < 0:
            return x
        return x @ self.poses[body, :9].reshape(3, 3).T + self.poses[body, 9:]


def doubts(robot: Robot, model: Model, places: np.ndarray) -> list[Doubt]:
    """Pairs that overlap at configurations (k, n) by no more than their spheres reach out."""
    found, _ = model.distances(places, 0.0)
    rows, pairs = np.nonzero(found < 0.0)
    poses = np.empty((len(places), len(model.bodies.q), 12))
    body_poses(np.ascontiguousarray(places), model.bodies, poses)
    every = [
        Doubt(poses[k], int(model.first[i]), int(model.second[i])) for k, i in zip(rows, pairs)
    ]
    reach = [sum(_reach(robot, model, link) for link in (x.first, x.second)) for x in every]
    return [x for x, far, d in zip(every, reach, found[rows, pairs]) if -d <= far]


def _reach(robot: Robot, model: Model, link: int) -> float:
    """How far the cover of a link reaches out, m; 0 where nothing finer is known."""
    name = model.names[link] if link >= 0 else ""
    if name not in model.overshoot or name not in robot.tree.frames:
        return 0.0
    return model.overshoot[name] if len(link_triangles(robot, name)) else 0.0


def refined(robot: Robot, model: Model, places: np.ndarray) -> Model:
    """The model with finer covers where those of links overlap at configurations (k, n)."""
    doubtful = doubts(robot, model, places)
    every = {link for x in doubtful for link in (x.first, x.second)}
    links = [link for link in sorted(every) if _reach(robot, model, link) > 0.0]
    near = {link: _near(model, link, doubtful) for link in links}
    pieces = {link: _pieces(robot, model, link, near[link]) for link in links}
    for _ in range(ROUNDS):
        room = {link: _room(model, link, pieces, doubtful) for link in links}
        if min(x.min(initial=np.inf) for x in room.values()) < LEAST:
            return model  # they touch, or nearly
        long = {link: _balls(pieces[link])[:, 3] > PART * room[link] for link in links}
        if not any(x.any() for x in long.values()):
            break
        if max(len(x) for x in pieces.values()) > PIECES:
            return model
        pieces = {link: _halved(pieces[link], long[link]) for link in links}
    made = [_tree(model, link) for link in range(len(model.names))]
    for link in links:
        made[link] = _replaced(model, link, near[link], _balls(pieces[link]))
    return replace(model, spheres=sphere_table(model.spheres.body.tolist(), made))


def _tree(model: Model, link: int) -> SphereTree:
    """The cover of a link, in the frame of its body."""
    first, end = model.spheres.first[link : link + 2]
    return SphereTree(model.spheres.node[first:end], model.spheres.skip[first:end] - first)


def _shrunk(model: Model, link: int, near: np.ndarray) -> SphereTree:
    """The cover of a link with spheres `near` as far as they are inside it."""
    old = _tree(model, link)
    node = old.node.copy()
    node[near, 3] = np.maximum(node[near, 3] - model.overshoot[model.names[link]], 0.0)
    return SphereTree(node, old.skip)


def _leaves(tree: SphereTree) -> np.ndarray:
    """Indices of the spheres in a tree."""
    return np.nonzero(tree.skip == np.arange(len(tree.skip)) + 1)[0]


def _near(model: Model, link: int, doubtful: list[Doubt]) -> np.ndarray:
    """Indices of the spheres of a link that are near to what it overlaps."""
    tree = _tree(model, link)
    at = _leaves(tree)
    found = np.zeros(len(at), dtype=bool)
    for doubt in doubtful:
        if link in (doubt.first, doubt.second):
            x, r = doubt.in_world(model, link, tree.node[at, :3]), tree.node[at, 3]
            found |= _apart(model, doubt, x, doubt.other(link)) - r < REGION
    return at[found]


def _apart(model: Model, doubt: Doubt, x: np.ndarray, other: int) -> np.ndarray:
    """(k,) distances of points of the world from an obstacle, or from the spheres of a link, m."""
    if other < 0:
        return outward(model, np.full(len(x), -1 - other), x.copy())[0]
    tree = _tree(model, other)
    ball = tree.node[_leaves(tree)]
    y = doubt.in_world(model, other, ball[:, :3])
    return np.array([float((np.linalg.norm(y - p, axis=1) - ball[:, 3]).min()) for p in x])


def _pieces(robot: Robot, model: Model, link: int, near: np.ndarray) -> np.ndarray:
    """(k, 4, 3) pieces of a link's surface, in the frame of its body: all that its spheres `near`
    may contain a part of, and nothing else contains."""
    from scipy.spatial import KDTree

    name, tree = model.names[link], _shrunk(model, link, near)
    frame = robot.tree.frames[name]
    found = _quadrangles(link_triangles(robot, name) @ np.array(frame.R).T + frame.p)
    while np.any(long := _balls(found)[:, 3] > LONGEST):
        found = _halved(found, long)
    places, chosen = KDTree(_balls(found)[:, :3]), np.zeros(len(found), dtype=bool)
    old = _tree(model, link).node[near]
    for rows in places.query_ball_point(old[:, :3], old[:, 3] + LONGEST):
        chosen[rows] = True
    for *x, r in tree.node[_leaves(tree)]:
        rows = np.array(places.query_ball_point(x, r), dtype=np.int64)
        chosen[rows[np.linalg.norm(found[rows] - x, axis=2).max(1, initial=0.0) <= r]] = False
    return found[chosen]


def _quadrangles(triangles: np.ndarray) -> np.ndarray:
    """(k, 4, 3) triangles (k, 3, 3) as quadrangles whose third edge, beyond the shortest one, is a
    point."""
    edges = np.sum((triangles - np.roll(triangles, -1, axis=1)) ** 2, axis=2)
    k, rows = edges.argmin(1), np.arange(len(edges))
    return np.stack([triangles[rows, (k + i) % 3] for i in (0, 1, 2, 2)], axis=1)


def _balls(pieces: np.ndarray) -> np.ndarray:
    """(k, 4) balls about pieces."""
    middle = pieces.mean(1)  # a place of the piece
    radius = np.linalg.norm(pieces - middle[:, None], axis=2).max(1, initial=0.0)
    return np.column_stack([middle, radius + ROUNDING])


def _room(
    model: Model, link: int, pieces: dict[int, np.ndarray], doubtful: list[Doubt]
) -> np.ndarray:
    """(k,) distances of the middles of a link's pieces from what it overlaps, m."""
    from scipy.spatial import KDTree

    middle = _balls(pieces[link])[:, :3]
    found = np.full(len(middle), np.inf)
    for doubt in doubtful:
        if link not in (doubt.first, doubt.second):
            continue
        x, other = doubt.in_world(model, link, middle), doubt.other(link)
        if len(pieces.get(other, ())):
            y = doubt.in_world(model, other, _balls(pieces[other])[:, :3])
            far = KDTree(y).query(x)[0]
        else:
            far = _apart(model, doubt, x, other)
        found = np.minimum(found, far)
    return found


def _halved(pieces: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Pieces (k, 4, 3), some cut in two across their longer edges."""
    left = pieces[which]
    edges = np.linalg.norm(left - np.roll(left, -1, axis=1), axis=2)
    across = edges[:, 1] + edges[:, 3] > edges[:, 0] + edges[:, 2]
    left = np.where(across[:, None, None], np.roll(left, -1, axis=1), left)
    a, b, c, d = np.moveaxis(left, 1, 0)
    m, n = (a + b) / 2, (c + d) / 2
    halves = [np.stack(part, axis=1) for part in ((a, m, n, d), (m, b, c, n))]
    return np.concatenate([pieces[~which], *halves])


def _replaced(model: Model, link: int, near: np.ndarray, balls: np.ndarray) -> SphereTree:
    """The cover of a link with spheres `near` as far as they are inside it, and balls about its
    surface there."""
    old = _shrunk(model, link, near)
    if not len(balls):
        return old
    new, count = sphere_tree(balls), len(old.node)
    root = ball_around(np.vstack([old.node[0], new.node[0]]))
    skip = [[count + len(new.node) + 1], old.skip + 1, new.skip + count + 1]
    return SphereTree(np.vstack([root, old.node, new.node]), np.concatenate(skip))
