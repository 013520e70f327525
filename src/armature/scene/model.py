"""What a robot occupies, as spheres: the collision shapes of its links and what they carry, and
the pairs that may not touch."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.scene.covers import fitted, in_link, robot_covers
from armature.scene.gaps import gaps
from armature.scene.scene import Scene
from armature.scene.tables import (
    STACK,
    Bodies,
    Obstacles,
    Spheres,
    body_table,
    obstacle_table,
    sphere_table,
    sphere_tree,
)

SAMPLES = 400  # configurations by which pairs are found that always touch


@dataclass(frozen=True, eq=False)
class Model:
    """A robot in a scene, as arrays. names: of links, then of carried objects, in the order of
    `spheres`.

    others: names of the obstacles in the world, one for each shape.  first, second: (pairs,)
    indices into `names`; a negative second is
    the obstacle −1 − second.  overshoot: {name: m}, how far spheres reach out of the shape.
    touching: pairs left out because they touch
    in all configurations that were tried.
    """

    names: tuple[str, ...]
    others: tuple[str, ...]
    bodies: Bodies
    spheres: Spheres
    obstacles: Obstacles
    first: np.ndarray
    second: np.ndarray
    overshoot: Mapping[str, float]
    touching: tuple[tuple[str, str], ...] = ()

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of each pair."""
        other = lambda k: self.others[-1 - k] if k < 0 else self.names[k]
        return tuple((self.names[i], other(k)) for i, k in zip(self.first, self.second))

    def distances(self, q: np.ndarray, cutoff: Any = np.inf) -> tuple[np.ndarray, np.ndarray]:
        """(K, pairs) distances at states q (K, n), m, at most the cutoffs, and the nearest sphere
        of the first of each pair (−1: none)."""
        q = np.ascontiguousarray(q, dtype=float)
        shape = (len(q), len(self.first))
        limit = np.ascontiguousarray(
            np.broadcast_to(np.minimum(np.asarray(cutoff, dtype=float), 1e300), shape)
        )
        found, nearest, poses = np.empty(shape), np.empty(shape), np.empty((len(self.bodies.q), 12))
        stack = np.empty(STACK, dtype=np.int64)
        gaps(
            q,
            limit,
            self.first,
            self.second,
            self.bodies,
            self.spheres,
            self.obstacles,
            poses,
            stack,
            found,
            nearest,
        )
        return found, nearest.astype(np.int64)


def plain_model(robot: Robot, scene: Scene) -> Model:
    """The model of a robot in a scene, with the covers that each link has once and for all."""
    tree = robot.tree
    for o in scene.carried:
        if o.link not in tree.frames:
            raise ArgumentError(
                f"obstacle {o.name!r} is on link {o.link!r}, which is not in robot {robot.name!r};"
                f" links: {', '.join(tree.frames)}"
            )
    for link in scene.spheres:
        if link not in tree.frames:
            raise ArgumentError(
                f"spheres are given for link {link!r}, which is not in robot {robot.name!r}; links:"
                f" {', '.join(tree.frames)}"
            )
    covers, overshoot = robot_covers(robot, scene)
    own = [(link, link, found) for link, found in covers.items()]
    carried = [(o.name, str(o.link), sphere_tree(in_link(o, fitted(o)[0]))) for o in scene.carried]
    overshoot |= {o.name: fitted(o)[1] for o in scene.carried}
    names = tuple(name for name, _, _ in (*own, *carried))
    frames = [tree.frames[link] for _, link, _ in (*own, *carried)]
    trees = [found.moved(f.R, f.p) for f, (_, _, found) in zip(frames, (*own, *carried))]
    spheres = sphere_table([f.body for f in frames], trees)
    bodies, obstacles = body_table(tree), obstacle_table(scene.world)
    links = [link for _, link, _ in (*own, *carried)]
    allowed = {frozenset(pair) for pair in scene.allowed or ()}
    may = lambda i, j: (
        frozenset((names[i], names[j])) in allowed or frozenset((links[i], links[j])) in allowed
    )
    moving = [i for i, f in enumerate(frames) if f.body >= 0]
    outer = [
        (i, -1 - k)
        for i in moving
        for k, o in enumerate(scene.world)
        if frozenset((names[i], o.name)) not in allowed
    ]
    inner = [
        (i, j)
        for i, j in itertools.combinations(range(len(names)), 2)
        if not _neighbours(robot, frames[i].body, frames[j].body)
    ]
    inner = [(i, j) for i, j in inner if links[i] != links[j] and not may(i, j)]
    model = Model(
        names,
        tuple(o.name for o in scene.world),
        bodies,
        spheres,
        obstacles,
        *_indices(inner),
        overshoot,
    )
    touching: tuple[tuple[str, str], ...] = ()
    if scene.allowed is None and inner:
        left_out = _touching(robot, model).tolist()
        touching = tuple(pair for pair, yes in zip(model.pairs, left_out) if yes)
        inner = [pair for pair, yes in zip(inner, left_out) if not yes]
    first, second = _indices([*outer, *inner])
    return Model(
        names, model.others, bodies, spheres, obstacles, first, second, overshoot, touching
    )


def _indices(pairs: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return np.ascontiguousarray(found[:, 0]), np.ascontiguousarray(found[:, 1])


def _neighbours(robot: Robot, a: int, b: int) -> bool:
    """Whether two bodies are one, or connected by a joint."""
    parent = lambda i: robot.tree.bodies[i].parent if i >= 0 else -2
    return a == b or parent(a) == b or parent(b) == a


def _touching(robot: Robot, model: Model) -> np.ndarray:
    """(pairs,) whether two links touch in every configuration sampled; or in the zero position, by
    no more than their spheres reach out of them."""
    spread = _spread(robot)
    limits = bounds(robot)
    zero = np.clip(np.zeros((1, robot.n)), limits.lower, limits.upper)
    here = model.distances(zero, 0.0)[0][0]
    out = lambda name: model.overshoot.get(name, 0.0)  # given spheres are taken as they are
    reach = np.array([out(a) + out(b) for a, b in model.pairs])
    always = np.all(model.distances(spread, 0.0)[0] < 0.0, axis=0)
    return always | ((here < 0.0) & (here >= -reach))


def _spread(robot: Robot) -> np.ndarray:
    """(SAMPLES, n) configurations within the joints' ranges, half a turn or a metre to both sides
    where there are none."""
    limits = bounds(robot)
    low = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    high = np.where(np.isfinite(limits.upper), limits.upper, np.maximum(low, -np.pi) + 2 * np.pi)
    return np.random.default_rng(0).uniform(low, high, (SAMPLES, robot.n))
