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
from armature.memo import memo
from armature.robot.bounds import bounds
from armature.robot.cover import Part, cover
from armature.robot.mesh import read_mesh
from armature.robot.model import Robot
from armature.robot.shape import Visual
from armature.scene.formulas import box_distance, cylinder_distance
from armature.scene.gaps import gaps
from armature.scene.hull import hull_corners
from armature.scene.mesh_spheres import fit_mesh
from armature.scene.obstacle import Obstacle, matrix, vector
from armature.scene.scene import Scene
from armature.scene.spheres import fit_spheres
from armature.scene.tables import (
    STACK,
    Bodies,
    Obstacles,
    Spheres,
    SphereTree,
    body_table,
    obstacle_table,
    sphere_table,
    sphere_tree,
)

PART, LEAST, MOST = (
    0.04,
    0.002,
    0.008,
)  # of a shape's size: how far its spheres may reach out of it; within these ends, m
MESH_PART, MESH_LEAST, MESH_MOST = 0.02, 0.0012, 0.0035  # the same of meshes
FILLED = 0.012  # m: slots of a mesh narrower than twice this count as filled
SAMPLES = 400  # configurations by which pairs are found that always touch
VERSION = "spheres 4"


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


def collision_model(robot: Robot, scene: Scene) -> Model:
    """The model of a robot in a scene; what belongs to the robot alone is fitted once and kept."""
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; scenes are for robots on a fixed base"
        )
    store = memo(robot, "scene models")
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
                f"obstacle {o.name!r} is on link {o.link!r}, which is not in robot {robot.name!r};"
                f" links: {', '.join(tree.frames)}"
            )
    for link in scene.spheres:
        if link not in tree.frames:
            raise ArgumentError(
                f"spheres are given for link {link!r}, which is not in robot {robot.name!r}; links:"
                f" {', '.join(tree.frames)}"
            )
    covers, overshoot = _robot_covers(robot, scene)
    own = [(link, link, found) for link, found in covers.items()]
    carried = [(o.name, str(o.link), sphere_tree(in_link(o, _fitted(o)[0]))) for o in scene.carried]
    overshoot |= {o.name: _fitted(o)[1] for o in scene.carried}
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


# covers ------------------------------------------------------------------------------------------


def _robot_covers(robot: Robot, scene: Scene) -> tuple[dict[str, SphereTree], dict[str, float]]:
    """Spheres of every link in its frame, m, and how far they reach out; those that the scene gives
    instead."""
    store = memo(robot, "sphere covers")
    if not store:
        fits = {link.name: _link_fits(robot, link.name) for link in robot.links}
        for link, found in fits.items():
            if found:
                tree = sphere_tree(np.vstack([rows for rows, _ in found]))
                store[link] = (tree, max(out for _, out in found))
    covers = {link: tree for link, (tree, _) in store.items()}
    covers |= {link: sphere_tree(np.array(rows)) for link, rows in scene.spheres.items()}
    return covers, {link: out for link, (_, out) in store.items() if link not in scene.spheres}


def _link_fits(robot: Robot, link: str) -> list[tuple[np.ndarray, float]]:
    """Spheres of each collision shape of a link in its frame, m, and how far they reach out."""
    shapes = _collisions(robot, link)
    if shapes is None:
        limbs = [_limb(part) for part in cover(robot) if part.link == link]
        return [(in_link(limb, rows), out) for limb in limbs for rows, out in [_fitted(limb)]]
    found = []
    for shape in shapes:
        if shape.shape == "mesh":
            rows, out = _fitted_mesh(*_mesh(link, shape))
            turned = rows[:, :3] @ np.array(shape.rotation).T + shape.position
            found.append((np.column_stack([turned, rows[:, 3]]), out))
        else:
            o = _primitive(link, shape)
            rows, out = _fitted(o)
            found.append((in_link(o, rows), out))
    return found


def _collisions(robot: Robot, link: str) -> tuple[Visual, ...] | None:
    """The collision shapes of a link; without any in the whole file, its visual ones, and None
    without these."""
    if any(x.collisions for x in robot.links):
        return robot.link(link).collisions
    if any(x.visuals for x in robot.links):
        return robot.link(link).visuals
    return None


def link_shapes(robot: Robot, link: str) -> list[Obstacle]:
    """The collision shapes of a link in its frame, meshes as their hulls; limbs where the robot
    has none."""
    shapes = _collisions(robot, link)
    if shapes is None:
        return [_limb(part) for part in cover(robot) if part.link == link]
    return [
        _mesh_hull(link, shape) if shape.shape == "mesh" else _primitive(link, shape)
        for shape in shapes
    ]


def _primitive(link: str, shape: Visual) -> Obstacle:
    size = tuple(abs(x) for x in shape.size)
    return Obstacle(link, shape.shape, size, shape.position, shape.rotation)


def _mesh(link: str, shape: Visual) -> tuple[np.ndarray, np.ndarray]:
    """Points, m, and triangles of a link's mesh."""
    if not shape.path:
        raise ArgumentError(
            f"link {link!r}: its mesh {shape.file!r} was not found, so that its distances are not"
            " known; give the file"
        )
    mesh = read_mesh(shape.path)
    return mesh.points * np.broadcast_to(np.asarray(shape.size or 1.0, dtype=float), 3), mesh.faces


def _mesh_hull(link: str, shape: Visual) -> Obstacle:
    points = tuple(vector(p) for p in hull_corners(_mesh(link, shape)[0]))
    return Obstacle(link, "hull", position=shape.position, rotation=shape.rotation, points=points)


def _fitted_mesh(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, float]:
    """Spheres (k, 4) that cover a mesh, m, and how far they reach out at most; from the disk where
    they were fitted."""
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    overshoot = min(max(MESH_PART * size, MESH_LEAST), MESH_MOST)
    content = points.tobytes() + faces.tobytes()
    key = f"{VERSION} {hashlib.sha256(content).hexdigest()} {overshoot:.9g} {FILLED:g}"
    entry = cache.read_entry(key)
    if entry is not None:
        return np.frombuffer(entry[1]).reshape(-1, 4), overshoot
    found = fit_mesh(points, faces, overshoot, FILLED)
    cache.write_entry(key, {"spheres": len(found)}, np.ascontiguousarray(found).tobytes())
    return found, overshoot


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
    told = repr((shape.shape, shape.size, shape.points, overshoot))
    key = f"{VERSION} {hashlib.sha256(told.encode()).hexdigest()}"
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
