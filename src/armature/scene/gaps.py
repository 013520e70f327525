"""Loops over states: where bodies are, how far links are from obstacles and from each other.

Every distance is that of covers: of the nearest sphere of a link. A ball about several spheres, or
about a whole link, is at most as far as anything inside it, so that far links cost one distance
each, and near ones a few on the way down their tree.
"""

from __future__ import annotations

import numpy as np

from armature.scene.formulas import box_distance, cylinder_distance
from armature.scene.loops import Indices, Matrices, Matrix, Vector, inner, loop
from armature.scene.tables import Bodies, Obstacles, Spheres


@inner
def place_bodies(q: Vector, bodies: Bodies, poses: Matrix) -> None:
    """Poses (b, 12) of all bodies in the world: rows of the rotation, then the position, m."""
    for i in range(bodies.parent.shape[0]):
        s = bodies.multiplier[i] * q[bodies.q[i]] + bodies.offset[i]
        x, y, z = bodies.axis[i, 0], bodies.axis[i, 1], bodies.axis[i, 2]
        slide = 0.0 if bodies.turns[i] == 1 else s
        c = np.cos(s) if bodies.turns[i] == 1 else 1.0
        d = np.sin(s) if bodies.turns[i] == 1 else 0.0
        v = 1.0 - c
        for k in range(3):
            # a row of the body's fixed rotation, then turned about the axis: r (e eᵀ v + c E + d
            # ⟨e⟩)
            a, b, e = bodies.R[i, k, 0], bodies.R[i, k, 1], bodies.R[i, k, 2]
            along = a * x + b * y + e * z
            poses[i, 3 * k] = along * x * v + c * a + d * (b * z - e * y)
            poses[i, 3 * k + 1] = along * y * v + c * b + d * (e * x - a * z)
            poses[i, 3 * k + 2] = along * z * v + c * e + d * (a * y - b * x)
            poses[i, 9 + k] = bodies.p[i, k] + along * slide
        if bodies.parent[i] >= 0:
            carry(i, bodies.parent[i], poses)


@inner
def carry(i: int, parent: int, poses: Matrix) -> None:
    """The pose of body i in its parent → in the world."""
    for j in range(4):
        a, b, c = poses[i, j], poses[i, 3 + j], poses[i, 6 + j]
        if j == 3:
            a, b, c = poses[i, 9], poses[i, 10], poses[i, 11]
        for k in range(3):
            turned = (
                poses[parent, 3 * k] * a
                + poses[parent, 3 * k + 1] * b
                + poses[parent, 3 * k + 2] * c
            )
            if j == 3:
                poses[i, 9 + k] = turned + poses[parent, 9 + k]
            else:
                poses[i, 3 * k + j] = turned


@inner
def in_world(body: int, ball: Vector, poses: Matrix) -> tuple[float, float, float]:
    """The centre of a ball (4,) of a body, m."""
    x, y, z = ball[0], ball[1], ball[2]
    if body < 0:
        return x, y, z
    return (
        poses[body, 0] * x + poses[body, 1] * y + poses[body, 2] * z + poses[body, 9],
        poses[body, 3] * x + poses[body, 4] * y + poses[body, 5] * z + poses[body, 10],
        poses[body, 6] * x + poses[body, 7] * y + poses[body, 8] * z + poses[body, 11],
    )


@inner
def point_gap(k: int, x: float, y: float, z: float, obstacles: Obstacles) -> float:
    """(D1) … (D4): from a point of the world to obstacle k, m."""
    pose, size = obstacles.pose[k], obstacles.size[k]
    x, y, z = x - pose[9], y - pose[10], z - pose[11]
    u = pose[0] * x + pose[3] * y + pose[6] * z
    v = pose[1] * x + pose[4] * y + pose[7] * z
    w = pose[2] * x + pose[5] * y + pose[8] * z
    if obstacles.kind[k] == 0:
        return box_distance(u, v, w, size[0], size[1], size[2]) - size[3]
    if obstacles.kind[k] == 1:
        return cylinder_distance(u, v, w, size[0], size[1]) - size[3]
    if obstacles.kind[k] == 2:
        return w - size[3]
    far = -1e300
    for i in range(obstacles.first[k], obstacles.first[k + 1]):
        plane = obstacles.planes[i]
        far = max(far, plane[0] * u + plane[1] * v + plane[2] * w - plane[3])
    return far - size[3]


@inner
def link_gap(
    link: int,
    k: int,
    cutoff: float,
    enough: float,
    part: float,
    poses: Matrix,
    spheres: Spheres,
    obstacles: Obstacles,
) -> tuple[float, int]:
    """(distance of a link from obstacle k, its nearest sphere); (cutoff, −1) where it is not
    nearer than that. `enough`, `part`: see `gap`."""
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
        if spheres.skip[at] == at + 1 or spheres.node[at, 3] < part * (d - enough):
            best, nearest = d, at
            if d < enough:
                return best, nearest  # pyright: ignore[reportReturnType]
            at = spheres.skip[at]
            continue
        at += 1
    return best, nearest  # pyright: ignore[reportReturnType]


@inner
def ball_gap(
    x: float, y: float, z: float, radius: float, body: int, ball: Vector, poses: Matrix
) -> float:
    """Distance of a ball in the world from a ball (4,) of a body, m."""
    u, v, w = in_world(body, ball, poses)
    return np.sqrt((x - u) * (x - u) + (y - v) * (y - v) + (z - w) * (z - w)) - radius - ball[3]


@inner
def pair_gap(
    first: int,
    second: int,
    cutoff: float,
    enough: float,
    part: float,
    poses: Matrix,
    stack: Indices,
    spheres: Spheres,
) -> tuple[float, int]:
    """(distance of two links, the nearest sphere of the first); (cutoff, −1) where they are not
    nearer than that. `enough`, `part`: see `gap`.

    Two balls that are near to each other are looked into, the larger one first, and of its parts
    the one that is nearest. stack: pairs of balls that are still to be looked at."""
    a, b, best, nearest = spheres.body[first], spheres.body[second], cutoff, -1
    stack[0], stack[1] = spheres.first[first], spheres.first[second]
    count = 1
    most = (spheres.first[first + 1] - stack[0]) * (spheres.first[second + 1] - stack[1])
    for _ in range(most):
        if count == 0:
            return best, nearest  # pyright: ignore[reportReturnType]
        count -= 1
        i, j = stack[2 * count], stack[2 * count + 1]
        x, y, z = in_world(a, spheres.node[i], poses)
        r, s = spheres.node[i, 3], spheres.node[j, 3]
        d = ball_gap(x, y, z, r, b, spheres.node[j], poses)
        if d >= best:
            continue
        leaf, other = spheres.skip[i] == i + 1, spheres.skip[j] == j + 1
        if (leaf and other) or r + s < part * (d - enough):
            best, nearest = d, i
            if d < enough:
                return best, nearest  # pyright: ignore[reportReturnType]
        elif other or (r >= s and not leaf):
            x, y, z = in_world(b, spheres.node[j], poses)
            count = split(i, j, True, x, y, z, s, a, best, count, poses, stack, spheres)
        else:
            count = split(j, i, False, x, y, z, r, b, best, count, poses, stack, spheres)
    return best, nearest  # pyright: ignore[reportReturnType]


@inner
def split(
    node: int,
    other: int,
    is_first: bool,
    x: float,
    y: float,
    z: float,
    radius: float,
    body: int,
    cutoff: float,
    count: int,
    poses: Matrix,
    stack: Indices,
    spheres: Spheres,
) -> int:
    """Put the parts of a node of a body on the stack, the nearest last, each with the other ball,
    which is in the world; those alone that are nearer than the cutoff. Returns how many pairs are
    on it then."""
    part, end, least = node + 1, spheres.skip[node], 1e300
    for _ in range(end - part):
        if part >= end:
            return count
        d = ball_gap(x, y, z, radius, body, spheres.node[part], poses)
        if d < cutoff:
            at = count
            if d > least:  # below the nearest
                at = count - 1
                stack[2 * count], stack[2 * count + 1] = stack[2 * at], stack[2 * at + 1]
            least = min(d, least)
            stack[2 * at] = part if is_first else other
            stack[2 * at + 1] = other if is_first else part
            count += 1
        part = spheres.skip[part]
    return count


@inner
def gap(
    first: int,
    second: int,
    cutoff: float,
    enough: float,
    part: float,
    poses: Matrix,
    stack: Indices,
    spheres: Spheres,
    obstacles: Obstacles,
) -> tuple[float, int]:
    """Of a pair of two links, or of a link and obstacle −1 − second. The first sphere that is
    nearer than `enough`, m, will do. part: balls about several spheres are taken for these where
    their radii are less than this part of how much farther than `enough` they are; what is told is
    then at most the distance. With 0 it is the distance."""
    if second < 0:
        return link_gap(first, -1 - second, cutoff, enough, part, poses, spheres, obstacles)
    return pair_gap(first, second, cutoff, enough, part, poses, stack, spheres)


@inner
def bound_gap(
    first: int, second: int, poses: Matrix, spheres: Spheres, obstacles: Obstacles
) -> float:
    """The same of the balls about whole links, m: no more than the distance."""
    ball = spheres.node[spheres.first[first]]
    x, y, z = in_world(spheres.body[first], ball, poses)
    if second < 0:
        return point_gap(-1 - second, x, y, z, obstacles) - ball[3]
    other = spheres.node[spheres.first[second]]
    return ball_gap(x, y, z, ball[3], spheres.body[second], other, poses)


@loop
def body_poses(q: Matrix, bodies: Bodies, poses: Matrices) -> None:
    """Poses (K, b, 12) at states q (K, n)."""
    for k in range(q.shape[0]):
        place_bodies(q[k], bodies, poses[k])


@loop
def gaps(
    q: Matrix,
    cutoff: Matrix,
    first: Indices,
    second: Indices,
    bodies: Bodies,
    spheres: Spheres,
    obstacles: Obstacles,
    poses: Matrix,
    stack: Indices,
    found: Matrix,
    nearest: Matrix,
) -> None:
    """Distances (K, pairs) at states q (K, n), at most the cutoffs (K, pairs), and the nearest
    spheres. poses: (b, 12) and stack: room to work."""
    for k in range(q.shape[0]):
        place_bodies(q[k], bodies, poses)
        for i in range(first.shape[0]):
            d, s = gap(
                first[i], second[i], cutoff[k, i], -1e300, 0.0, poses, stack, spheres, obstacles
            )
            found[k, i] = d
            nearest[k, i] = s
