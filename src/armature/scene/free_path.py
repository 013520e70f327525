"""A first free path between two configurations, by sampling, and paths that differ from it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError, ArmatureError
from armature.memo import once
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.scene.collision import collision_model, told_apart
from armature.scene.levers import pair_levers
from armature.scene.loops import Held, hold
from armature.scene.model import Model
from armature.scene.scene import Scene
from armature.scene.search import Room, Trees, World, connect, free_part, room_for

MARGIN = 0.005  # m: kept from obstacles at states that are looked at, where the ends allow it
FINEST = 0.02  # m: way of links between two such states that is never made shorter
LENGTH = 1.0  # rad or m: of an edge towards a sample
NODES, SAMPLES = 20_000, 512  # of a tree, at most; drawn at a time
SHORTCUTS = 30


class NoPathError(ArmatureError):
    """No free path was found."""


@dataclass(frozen=True, eq=False)
class FreePath:
    """Configurations (k, n) whose straight connections are free of collisions, in joint
    coordinates.

    clearance: m, the least of any pair at its points, at most 5 mm.  states: how many were looked
    at.  first: seconds until a path was found.  seconds: until it was shortened; fitting the
    robot's spheres does not count.  Links go at most 20 mm between two such states where they are
    near to anything: `arm.clearance` proves a motion along the path.
    """

    points: np.ndarray
    clearance: float
    states: int
    first: float
    seconds: float

    @property
    def length(self) -> float:
        """Σ of the distances between its points, in joint coordinates."""
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())


@dataclass(frozen=True, eq=False)
class Search:
    """What a search needs of a robot in a scene. lower, upper: (n,) of samples."""

    model: Model
    world: Held
    room: Room
    lower: np.ndarray
    upper: np.ndarray

    def free(self, a: np.ndarray, b: np.ndarray, margins: np.ndarray) -> bool:
        """Whether the straight way between two free configurations is free."""
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        return free_part(a, b, margins, FINEST, self.world, self.room) >= 1.0


def search_in(robot: Robot, scene: Scene) -> Search:
    """The search for a robot in a scene; made once for both."""
    return once(collision_model(robot, scene), "search", lambda model: _search(robot, model))


def _search(robot: Robot, model: Model) -> Search:
    limits = bounds(robot)
    low = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
    high = np.where(np.isfinite(limits.upper), limits.upper, np.maximum(low, -np.pi) + 2 * np.pi)
    world = World(
        model.bodies,
        model.spheres,
        model.obstacles,
        model.first,
        model.second,
        np.ascontiguousarray(pair_levers(robot, model)),
    )
    room = room_for(len(model.bodies.q), robot.n, len(model.first))
    return Search(model, hold(world), room, low, high)


def free_path(
    robot: Robot, scene: Scene, start: Any, goal: Any, seed: int = 0, patience: float = 10.0
) -> FreePath:
    """A free path from start (n,) to goal (n,), rad or m: the straight one where that is free, else
    one found by sampling (RRT-Connect) and shortened.

    seed: another one finds another path.  patience: s, after which `NoPathError` is raised."""
    search, ends = _posed(robot, scene, start, goal)
    margins = margins_at(search, ends)
    search.free(ends[0], ends[0], margins)  # compiled where it was not yet
    search.room.looked[0], begin = 0, time.perf_counter()
    if search.free(ends[0], ends[1], margins):
        points, first = np.array(ends), time.perf_counter() - begin
    else:
        rng = np.random.default_rng(seed)
        points = _found(search, ends, margins, rng, begin + patience)
        first = time.perf_counter() - begin
        points = shortened(search, points, margins, rng)
    looked = int(search.room.looked[0])
    near = search.model.distances(points, MARGIN)[0].min(initial=MARGIN)
    return FreePath(points, float(near), looked, first, time.perf_counter() - begin)


def _posed(robot: Robot, scene: Scene, start: Any, goal: Any) -> tuple[Search, list[np.ndarray]]:
    """The search, and start and goal, which are free; or an error that names the pair."""
    named = (("start", _place(robot, start, "start")), ("goal", _place(robot, goal, "goal")))
    ends = [q for _, q in named]
    search = search_in(robot, told_apart(robot, scene, np.array(ends)))
    for what, q in named:
        touch = touching(search.model, q)
        if touch is not None:
            raise ArgumentError(
                f"the {what} is in collision: {touch[0]} is {touch[2]:.3g} m inside {touch[1]};"
                " move one of them, or allow the pair"
            )
    return search, ends


def _place(robot: Robot, q: Any, what: str) -> np.ndarray:
    """A configuration (n,)."""
    found = np.ascontiguousarray(q, dtype=float)
    if found.shape != (robot.n,) or not np.all(np.isfinite(found)):
        raise ArgumentError(
            f"{what} has shape {found.shape}; expected ({robot.n},) finite numbers:"
            f" {', '.join(robot.joint_names)}"
        )
    return found


def touching(model: Model, q: np.ndarray) -> tuple[str, str, float] | None:
    """The pair that overlaps most at q (n,), and its depth, m; None where it is free."""
    found = model.distances(q[None], 0.0)[0][0]
    if not len(found) or found.min() >= 0.0:
        return None
    k = int(found.argmin())
    return (*model.pairs[k], float(-found[k]))


def margins_at(search: Search, ends: list[np.ndarray]) -> np.ndarray:
    """(pairs,) what is kept between each pair, m: no more than half of what the ends have."""
    near = search.model.distances(np.array(ends), 2 * MARGIN)[0]
    return np.minimum(MARGIN, 0.5 * near.min(0))


def _found(
    search: Search,
    ends: list[np.ndarray],
    margins: np.ndarray,
    rng: np.random.Generator,
    until: float,
) -> np.ndarray:
    """A path by two trees."""
    n = len(ends[0])
    trees = Trees(
        np.empty((2, NODES, n)), np.full(2 * NODES, -1), np.ones(2, dtype=np.int64), LENGTH
    )
    trees.node[:, 0] = ends
    held = hold(trees)
    while max(trees.count) < NODES and time.perf_counter() < until:
        samples = rng.uniform(search.lower, search.upper, (SAMPLES, n))
        _, a, b = connect(samples, 0, margins, FINEST, held, search.world, search.room)
        if a >= 0:
            return np.vstack([_branch(trees, 0, a)[::-1], _branch(trees, 1, b)[1:]])
    pair = " and ".join(_blocking(search, ends))
    raise NoPathError(
        f"no free path was found with {int(trees.count.sum())} states; the straight way is blocked "
        f"by {pair}. Give a via point, more patience, or another posture"
    )


def _branch(trees: Trees, tree: int, k: int) -> np.ndarray:
    """From a node to the root."""
    rows = []
    while k >= 0:
        rows.append(k)
        k = int(trees.parent[tree * NODES + k])
    return trees.node[tree, rows]


def _blocking(search: Search, ends: list[np.ndarray]) -> tuple[str, str]:
    """The pair that is deepest in collision on the straight way."""
    s = np.linspace(0.0, 1.0, 200)[:, None]
    found = search.model.distances((1 - s) * ends[0] + s * ends[1])[0]
    return search.model.pairs[int(found.min(0).argmin())]


def shortened(
    search: Search, points: np.ndarray, margins: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """A path with detours cut off: between corners, then between any two places."""
    points = _without_corners(search, points, margins)
    for _ in range(SHORTCUTS):
        if len(points) < 3:
            return points
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        s, t = np.sort(rng.uniform(0.0, way[-1], 2))
        a, b = (int(np.searchsorted(way, x, "right")) for x in (s, t))
        if a == b:
            continue
        p, q = (_on(points, way, x) for x in (s, t))
        if search.free(p, q, margins):
            points = np.vstack([points[:a], p, q, points[b:]])
    return _without_corners(search, points, margins)


def _on(points: np.ndarray, way: np.ndarray, s: float) -> np.ndarray:
    """The place on a path after a way s."""
    return np.array([np.interp(s, way, column) for column in points.T])


def _without_corners(search: Search, points: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """The same with corners left out where the straight way past them is free."""
    kept, k = [0], 0
    while k < len(points) - 1:
        ahead = range(len(points) - 1, k + 1, -1)
        k = next((j for j in ahead if search.free(points[k], points[j], margins)), k + 1)
        kept.append(k)
    return points[kept]


def free_paths(
    robot: Robot, scene: Scene, start: Any, goal: Any, count: int = 3, tries: int = 8
) -> list[FreePath]:
    """Up to `count` free paths that cannot be drawn onto each other, the shortest first. tries: how
    many searches, each with another seed."""
    (search, _), found = _posed(robot, scene, start, goal), []
    for seed in range(tries):
        try:
            path = free_path(robot, scene, start, goal, seed)
        except NoPathError:
            if not found:
                raise
            break
        if all(not same_way(search, path, other) for other in found):
            found.append(path)
        if len(path.points) == 2 or len(found) == count:
            break
    return sorted(found, key=lambda path: path.length)


def same_way(search: Search, a: FreePath, b: FreePath, places: int = 16) -> bool:
    """Whether the straight lines between two paths, place by place, are free: then one can be drawn
    onto the other."""
    one, other = (_even(path.points, places) for path in (a, b))
    none = np.zeros(len(search.model.first))
    return all(search.free(p, q, none) for p, q in zip(one, other))


def _even(points: np.ndarray, places: int) -> np.ndarray:
    """(places, n) evenly along a path."""
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    s = np.linspace(0.0, way[-1], places)
    return np.stack([np.interp(s, way, column) for column in points.T], axis=1)
