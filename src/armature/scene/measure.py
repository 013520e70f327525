"""`distance` and `collisions`: how near a robot is to its scene and to itself, at one
configuration or at thousands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.errors import ArgumentError
from armature.robot.model import Robot
from armature.scene.collision import collision_model
from armature.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class Distances:
    """Signed distances, m; negative where things overlap. Never more than those of the collision
    geometry (`overshoot`: how much less).

    least: (...) the smallest.  each: (..., pairs).  pairs: the names, a link or carried object and
    what it may not touch.
    nearest: (...) index of the pair with the smallest; −1 without pairs.
    overshoot: {link or carried object: m} how far its spheres reach out of its shapes, at most.
    touching: pairs of links that touch in all configurations that were tried, and are left out.
    """

    least: np.ndarray
    each: np.ndarray
    pairs: tuple[tuple[str, str], ...]
    nearest: np.ndarray
    overshoot: dict[str, float]
    touching: tuple[tuple[str, str], ...]


class Collision(NamedTuple):
    """Two things that overlap. depth: m.  at: index of the configuration in the batch, () for a
    single one."""

    first: str
    second: str
    depth: float
    at: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.first} is {self.depth:.3g} m inside {self.second}"


def distance(robot: Robot, scene: Scene, q: Any) -> Distances:
    """Signed distances at configurations q (..., n), rad or m: of every moving link and carried
    object from every obstacle, and of links
    from each other where they are no neighbours and may not touch. Distances count from the
    obstacles' margins."""
    q = _states(robot, q)
    model = collision_model(robot, scene)
    found, _ = model.distances(q.reshape(-1, robot.n))
    pairs, each = _by_name(model.pairs, found)
    lead = q.shape[:-1]
    least = each.min(1, initial=np.inf) if each.shape[1] else np.full(len(each), np.inf)
    nearest = each.argmin(1) if each.shape[1] else np.full(len(each), -1)
    return Distances(
        least.reshape(lead),
        each.reshape(*lead, len(pairs)),
        pairs,
        nearest.reshape(lead),
        dict(model.overshoot),
        model.touching,
    )


def collisions(robot: Robot, scene: Scene, q: Any) -> list[Collision]:
    """All pairs that overlap at configurations q (..., n), deepest first; empty where the robot is
    free."""
    q = _states(robot, q)
    model = collision_model(robot, scene)
    found, _ = model.distances(q.reshape(-1, robot.n), 0.0)
    pairs, each = _by_name(model.pairs, found)
    rows, columns = np.nonzero(each < 0.0)
    place = lambda k: tuple(int(i) for i in np.unravel_index(k, q.shape[:-1])) if q.ndim > 1 else ()
    every = [Collision(*pairs[j], float(-each[k, j]), place(int(k))) for k, j in zip(rows, columns)]
    return sorted(every, key=lambda c: -c.depth)


def _states(robot: Robot, q: Any) -> np.ndarray:
    try:
        q = np.asarray(q, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"q = {q!r:.60} must be an array (..., {robot.n}) of joint coordinates"
        ) from None
    if q.ndim < 1 or q.shape[-1] != robot.n or not np.all(np.isfinite(q)):
        raise ArgumentError(
            f"q has shape {q.shape}; give finite numbers (..., {robot.n}):"
            f" {', '.join(robot.joint_names)}"
        )
    return q


def _by_name(
    pairs: tuple[tuple[str, str], ...], found: np.ndarray
) -> tuple[tuple[tuple[str, str], ...], np.ndarray]:
    """Pairs, each once, and the least distance of the shapes of each, (K, pairs)."""
    places: dict[tuple[str, str], int] = {}
    column = np.array([places.setdefault(pair, len(places)) for pair in pairs], dtype=np.int64)
    each = np.full((len(found), len(places)), np.inf)
    for k, j in enumerate(column):
        np.minimum(each[:, j], found[:, k], out=each[:, j])
    return tuple(places), each
