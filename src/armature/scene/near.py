"""Which spheres of a robot are near to what, and on which side of it they are: the data of distance
rows in the optimiser.

Signed distances of convex shapes are convex functions of the point, so that their tangents bound
them from below:

    (D6)  d(x) ≥ d(x̂) + n·(x − x̂),   n = ∇d(x̂), |n| ≤ 1

A sphere whose centre stays on the outer side of such a plane is free of the whole shape, wherever
else it moves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from armature.scene.gaps import ball_gap, in_world, pair_gap, place_bodies, point_gap
from armature.scene.loops import Indices, Matrix, Vector, inner, loop
from armature.scene.tables import STACK, Bodies, Obstacles, Spheres

if TYPE_CHECKING:
    from armature.scene.model import Model


class Near(NamedTuple):
    """Spheres near to something, (K, pairs, count) each, the nearest of a pair first. node, other:
    of the first and of the second of a pair, −1 where there is none (obstacles have no spheres).
    distance: m."""

    node: np.ndarray
    other: np.ndarray
    distance: np.ndarray


def near_spheres(
    model: Model, q: np.ndarray, cutoff: np.ndarray, count: int, spacing: float
) -> Near:
    """At states q (K, n): up to `count` spheres of every pair's first that are nearer than its
    cutoff (pairs,), m, to the second, their centres at least `spacing`, m, apart; of two links one
    sphere of each."""
    q = np.ascontiguousarray(q, dtype=float)
    shape = (len(q), len(model.first), count)
    node, other = np.full(shape, -1, dtype=np.int64), np.full(shape, -1, dtype=np.int64)
    distance = np.full(shape, np.inf)
    poses = np.empty((len(model.bodies.q), 12))
    tables = (model.first, model.second, model.bodies, model.spheres, model.obstacles)
    flat = (node.ravel(), other.ravel(), distance.ravel())  # views
    stack = np.empty(STACK, dtype=np.int64)
    cutoff = np.ascontiguousarray(cutoff, dtype=float)
    _near(q, cutoff, count, spacing, *tables, poses, stack, *flat)
    return Near(node, other, distance)


def outward(model: Model, obstacle: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(K,) distances of points x (K, 3) from obstacles (K,), m, and their gradients (K, 3)."""
    found = np.empty((len(x), 4))
    _slopes(np.ascontiguousarray(obstacle), np.ascontiguousarray(x), model.obstacles, found)
    return found[:, 3], found[:, :3]


@inner
def is_apart(spheres: Spheres, at: int, chosen: Indices, count: int, spacing: float) -> bool:
    """Whether a sphere is away from those chosen before."""
    for i in range(count):
        k = chosen[i]
        far = 0.0
        for j in range(3):
            step = spheres.node[at, j] - spheres.node[k, j]
            far += step * step
        if far < spacing * spacing:
            return False
    return True


@inner
def next_sphere(
    link: int,
    k: int,
    cutoff: float,
    chosen: Indices,
    count: int,
    spacing: float,
    poses: Matrix,
    spheres: Spheres,
    obstacles: Obstacles,
) -> tuple[float, int]:
    """(distance of a link from obstacle k, its nearest sphere) but for spheres next to those
    chosen."""
    body, best, nearest = spheres.body[link], cutoff, -1
    at, end = spheres.first[link], spheres.first[link + 1]
    for _ in range(end - at):
        if at >= end:
            return best, nearest  # pyright: ignore[reportReturnType]
        x, y, z = in_world(body, spheres.node[at], poses)
        d = point_gap(k, x, y, z, obstacles) - spheres.node[at, 3]
        if d >= best:
            at = spheres.skip[at]
            continue
        if spheres.skip[at] == at + 1 and is_apart(spheres, at, chosen, count, spacing):
            best, nearest = d, at
        at += 1
    return best, nearest  # pyright: ignore[reportReturnType]


@inner
def partner(at: int, link: int, other: int, poses: Matrix, spheres: Spheres) -> int:
    """The sphere of another link that is next to a sphere of a link."""
    x, y, z = in_world(spheres.body[link], spheres.node[at], poses)
    body, best, nearest = spheres.body[other], 1e300, -1
    k, end = spheres.first[other], spheres.first[other + 1]
    for _ in range(end - k):
        if k >= end:
            return nearest  # pyright: ignore[reportReturnType]
        d = ball_gap(x, y, z, spheres.node[at, 3], body, spheres.node[k], poses)
        if d >= best:
            k = spheres.skip[k]
            continue
        if spheres.skip[k] == k + 1:
            best, nearest = d, k
        k += 1
    return nearest  # pyright: ignore[reportReturnType]


@inner
def choose(
    link: int,
    k: int,
    cutoff: float,
    spacing: float,
    poses: Matrix,
    spheres: Spheres,
    obstacles: Obstacles,
    node: Indices,
    distance: Vector,
) -> None:
    """Spheres of a link next to obstacle k, as many as there is room for in `node`."""
    for m in range(node.shape[0]):
        d, s = next_sphere(link, k, cutoff, node, m, spacing, poses, spheres, obstacles)
        if s < 0:
            return
        node[m] = s
        distance[m] = d


@loop
def _near(
    q: Matrix,
    cutoff: Vector,
    count: int,
    spacing: float,
    first: Indices,
    second: Indices,
    bodies: Bodies,
    spheres: Spheres,
    obstacles: Obstacles,
    poses: Matrix,
    stack: Indices,
    node: Indices,
    other: Indices,
    distance: Vector,
) -> None:
    """`near_spheres`; results (K · pairs · count,)."""
    for k in range(q.shape[0]):
        place_bodies(q[k], bodies, poses)
        for i in range(first.shape[0]):
            at = (k * first.shape[0] + i) * count
            if second[i] >= 0:
                d, s = pair_gap(first[i], second[i], cutoff[i], -1e300, 0.0, poses, stack, spheres)
                if s >= 0:
                    node[at] = s
                    distance[at] = d
                    other[at] = partner(s, first[i], second[i], poses, spheres)
            else:
                choose(
                    first[i],
                    -1 - second[i],
                    cutoff[i],
                    spacing,
                    poses,
                    spheres,
                    obstacles,
                    node[at : at + count],
                    distance[at : at + count],
                )


@inner
def box_slope(x: Vector, size: Vector, slope: Vector) -> None:
    """∇ of (D1) in the box's frame."""
    total, deepest, axis = 0.0, -1e300, 0
    for j in range(3):
        u = abs(x[j]) - size[j]
        if u > deepest:
            deepest, axis = u, j
        side = 1.0 if x[j] >= 0.0 else -1.0
        slope[j] = side * max(u, 0.0)
        total += slope[j] * slope[j]
    if total > 1e-24:
        for j in range(3):
            slope[j] = slope[j] / np.sqrt(total)
        return
    for j in range(3):
        slope[j] = 0.0
    slope[axis] = 1.0 if x[axis] >= 0.0 else -1.0


@inner
def cylinder_slope(x: Vector, size: Vector, slope: Vector) -> None:
    """∇ of (D2) in the cylinder's frame."""
    far = np.sqrt(x[0] * x[0] + x[1] * x[1])
    u, v = far - size[0], abs(x[2]) - size[1]
    p, r = max(u, 0.0), max(v, 0.0)
    total = np.sqrt(p * p + r * r)
    if total > 1e-12:
        p, r = p / total, r / total
    else:
        p = 1.0 if u >= v else 0.0
        r = 1.0 - p
    away = 1.0 / max(far, 1e-12)
    slope[0] = p * x[0] * away
    slope[1] = p * x[1] * away
    slope[2] = r if x[2] >= 0.0 else -r


@inner
def hull_slope(k: int, x: Vector, obstacles: Obstacles, slope: Vector) -> None:
    """∇ of (D4) in the hull's frame."""
    best = -1e300
    for i in range(obstacles.first[k], obstacles.first[k + 1]):
        plane = obstacles.planes[i]
        d = plane[0] * x[0] + plane[1] * x[1] + plane[2] * x[2] - plane[3]
        if d > best:
            best = d
            for j in range(3):
                slope[j] = plane[j]


@loop
def _slopes(obstacle: Indices, x: Matrix, obstacles: Obstacles, found: Matrix) -> None:
    """Gradients and distances (K, 4) of points x (K, 3) from obstacles (K,). x is left in their
    frames."""
    for i in range(obstacle.shape[0]):
        k = obstacle[i]
        pose, at, slope = obstacles.pose[k], x[i], found[i]
        slope[3] = point_gap(k, at[0], at[1], at[2], obstacles)
        a, b, c = at[0] - pose[9], at[1] - pose[10], at[2] - pose[11]
        for j in range(3):
            at[j] = pose[j] * a + pose[3 + j] * b + pose[6 + j] * c
        if obstacles.kind[k] == 0:
            box_slope(at, obstacles.size[k], slope)
        elif obstacles.kind[k] == 1:
            cylinder_slope(at, obstacles.size[k], slope)
        elif obstacles.kind[k] == 2:
            slope[0], slope[1], slope[2] = 0.0, 0.0, 1.0
        else:
            hull_slope(k, at, obstacles, slope)
        a, b, c = slope[0], slope[1], slope[2]
        for j in range(3):
            slope[j] = pose[3 * j] * a + pose[3 * j + 1] * b + pose[3 * j + 2] * c
