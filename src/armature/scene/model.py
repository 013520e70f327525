"""What a robot occupies, as spheres: the collision shapes of its links and what they carry, and
the pairs that may not touch."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.kernel import cache
from armature.robot.bounds import bounds
from armature.robot.cover import Part, cover
from armature.robot.mesh import read_mesh
from armature.robot.model import Robot
from armature.robot.shape import Visual
from armature.scene.formulas import box_distance, cylinder_distance
from armature.scene.gaps import gaps
from armature.scene.hull import hull_corners
from armature.scene.obstacle import Obstacle, matrix, vector
from armature.scene.scene import Scene
from armature.scene.spheres import fit_spheres
from armature.scene.tables import (
    Bodies,
    Obstacles,
    Spheres,
    body_table,
    obstacle_table,
    sphere_table,
)

PART, LEAST, MOST = (
    0.04,
    0.002,
    0.008,
)  # of a shape's size: how far its spheres may reach out of it; within these ends, m
SAMPLES = 400  # configurations by which pairs are found that always touch
VERSION = "spheres 1"


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
        gaps(
            q,
            limit,
            self.first,
            self.second,
            self.bodies,
            self.spheres,
            self.obstacles,
            poses,
            found,
            nearest,
        )
        return found, nearest.astype(np.int64)


def collision_model(robot: Robot, scene: Scene) -> Model:
    """The model of a robot in a scene; what belongs to the robot alone is fitted once and kept."""
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; scenes are for robots on a fixed base"
        )
    store = robot.__dict__.setdefault("_scene_models", {})
    key = (scene.obstacles, scene.allowed, tuple(sorted(scene.spheres.items())))
    if key not in store:
        while len(store) > 7:
            store.pop(next(iter(store)))
        store[key] = _model(robot, scene)
    return store[key]


def _model(robot: Robot, scene: Scene) -> Model:
    tree = robot.tree
    for o in scene.carried:
        if o.link not in tree.frames:
            raise ArgumentError(
                f"obstacle {o.name!r} is on link {o.link!r}, which is not in robot {robot.name!r}; links: {', '.join(tree.frames)}"
            )
    for link in scene.spheres:
        if link not in tree.frames:
            raise ArgumentError(
                f"spheres are given for link {link!r}, which is not in robot {robot.name!r}; links: {', '.join(tree.frames)}"
            )
    covers, overshoot = _robot_covers(robot, scene)
    own = [(link, link, rows) for link, rows in covers.items()]
    carried = [(o.name, str(o.link), in_link(o, _fitted(o)[0])) for o in scene.carried]
    overshoot |= {o.name: _fitted(o)[1] for o in scene.carried}
    names = tuple(name for name, _, _ in (*own, *carried))
    frames = [tree.frames[link] for _, link, _ in (*own, *carried)]
    rows = [
        np.column_stack([x[:, :3] @ f.R.T + f.p, x[:, 3]])
        for f, (_, _, x) in zip(frames, (*own, *carried))
    ]
    spheres = sphere_table([f.body for f in frames], rows)
    bodies, obstacles = body_table(tree), obstacle_table(scene.world)
    links = [link for _, link, _ in (*own, *carried)]
    allowed = {frozenset(pair) for pair in scene.allowed or ()}
    may = lambda i, j: (
        frozenset((names[i], names[j])) in allowed or frozenset((links[i], links[j])) in allowed
    )
    moving = [i for i, f in enumerate(frames) if f.body >= 0]
    outer = [
        (i, -1 - k) for i in moving for k, o in enumerate(scene.world)
        if frozenset((names[i], o.name)) not in allowed
    ]  # fmt: skip
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
        always = np.all(model.distances(_spread(robot), 0.0)[0] < 0.0, axis=0).tolist()
        touching = tuple(pair for pair, yes in zip(model.pairs, always) if yes)
        inner = [pair for pair, yes in zip(inner, always) if not yes]
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


def _spread(robot: Robot) -> np.ndarray:
    """(SAMPLES, n) configurations within the joints' ranges, half a turn or a metre to both sides
    where there are none."""
    limits = bounds(robot)
    low = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    high = np.where(np.isfinite(limits.upper), limits.upper, np.maximum(low, -np.pi) + 2 * np.pi)
    return np.random.default_rng(0).uniform(low, high, (SAMPLES, robot.n))


# covers ------------------------------------------------------------------------------------------------------------------


def _robot_covers(robot: Robot, scene: Scene) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Spheres (k, 4) of every link in its frame, m, and how far they reach out; those that the
    scene gives instead."""
    store = robot.__dict__.setdefault("_sphere_covers", {})
    if not store:
        for link in robot.links:
            fits = [
                (in_link(shape, rows), out)
                for shape in link_shapes(robot, link.name)
                for rows, out in [_fitted(shape)]
            ]
            if fits:
                store[link.name] = (
                    np.vstack([rows for rows, _ in fits]),
                    max(out for _, out in fits),
                )
    covers = {link: rows for link, (rows, _) in store.items()} | {
        link: np.array(rows) for link, rows in scene.spheres.items()
    }
    return covers, {link: out for link, (_, out) in store.items() if link not in scene.spheres}


def link_shapes(robot: Robot, link: str) -> list[Obstacle]:
    """The collision shapes of a link in its frame; without any in the whole file, its visual ones,
    else capsules for limbs."""
    found = robot.link(link)
    if any(x.collisions for x in robot.links):
        return [o for shape in found.collisions for o in _shape(link, shape)]
    if any(x.visuals for x in robot.links):
        return [o for shape in found.visuals for o in _shape(link, shape)]
    return [_limb(part) for part in cover(robot) if part.link == link]


def _shape(link: str, shape: Visual) -> list[Obstacle]:
    place: dict[str, Any] = {"position": shape.position, "rotation": shape.rotation}
    if shape.shape != "mesh":
        return [Obstacle(link, shape.shape, tuple(abs(x) for x in shape.size), **place)]
    if not shape.path:
        raise ArgumentError(
            f"link {link!r}: its mesh {shape.file!r} was not found, so that its distances are not known; give the file"
        )
    points = read_mesh(shape.path).points * np.broadcast_to(
        np.asarray(shape.size or 1.0, dtype=float), 3
    )
    return [Obstacle(link, "hull", points=tuple(vector(p) for p in hull_corners(points)), **place)]


def _limb(part: Part) -> Obstacle:
    rotation = matrix(np.array(part.axes).T)
    if part.half[2] == 0.0:
        return Obstacle(part.link, "sphere", (part.ball,), part.centre, rotation)
    return Obstacle(part.link, "capsule", (part.ball, 2 * part.half[2]), part.centre, rotation)


def in_link(shape: Obstacle, rows: np.ndarray) -> np.ndarray:
    """Spheres (k, 4) of a shape's frame in that of its link; its margin makes them larger."""
    return np.column_stack(
        [rows[:, :3] @ np.array(shape.rotation).T + shape.position, rows[:, 3] + shape.margin]
    )


def _fitted(shape: Obstacle) -> tuple[np.ndarray, float]:
    """Spheres (k, 4) that cover a shape, in its frame, m, and how far they reach out at most; from
    the disk where they were fitted."""
    if shape.shape == "sphere":
        return np.array([[0.0, 0.0, 0.0, shape.size[0]]]), 0.0
    corners = shape.corners
    size = float(np.linalg.norm(np.ptp(corners, axis=0))) + 2 * shape.ball
    overshoot = min(max(PART * size, LEAST), MOST)
    key = f"{VERSION} {hashlib.sha256(repr((shape.shape, shape.size, shape.points, overshoot)).encode()).hexdigest()}"
    entry = cache.read_entry(key)
    if entry is not None:
        return np.frombuffer(entry[1]).reshape(-1, 4), overshoot
    reach = (
        corners + shape.ball * np.array([[s] for s in (-1, 1)])[:, None] if shape.ball else corners
    )
    found = fit_spheres(distance_function(shape), reach.reshape(-1, 3), overshoot)
    cache.write_entry(key, {"spheres": len(found)}, np.ascontiguousarray(found).tobytes())
    return found, overshoot


def distance_function(shape: Obstacle) -> Any:
    """Points (k, 3) of a shape's frame → (k,) signed distances, m: exact inside, never more than
    the distance outside."""
    if shape.shape == "hull":
        from scipy.spatial import ConvexHull

        planes = np.unique(np.round(ConvexHull(np.array(shape.points)).equations, 12), axis=0)
        return lambda x: (x @ planes[:, :3].T + planes[:, 3]).max(1)
    if shape.shape == "cylinder":
        return lambda x: np.asarray(
            cylinder_distance(x[:, 0], x[:, 1], x[:, 2], shape.size[0], shape.size[1] / 2)
        )  # pyright: ignore[reportArgumentType]
    half = (
        (0.0, 0.0, shape.size[1] / 2)
        if shape.shape == "capsule"
        else tuple(x / 2 for x in shape.size)
    )
    return lambda x: np.asarray(box_distance(x[:, 0], x[:, 1], x[:, 2], *half)) - shape.ball  # pyright: ignore[reportArgumentType]
