"""Compiled loops of the search for a free path: two trees that grow towards each other
(RRT-Connect; Kuffner, LaValle 2000).

Along an edge the next state to look at is as far as the clearance there allows: where all pairs are
d apart, nothing can touch on the next d / |change of the distances|. Only where that is less than
`finest` metres does a step go farther than is proved: the motion along the path is proved later.
For the same reason a pair need not be looked at again before it can have come near: its distance,
less what the edge can have taken from it, is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armature.scene.gaps import bound_gap, gap, place_bodies
from armature.scene.loops import Indices, Matrices, Matrix, Vector, inner, loop
from armature.scene.tables import STACK, Bodies, Obstacles, Spheres

FAR = 0.15  # m: distances are computed up to this
STEPS = 100_000  # of an edge, at most
ROUGHLY = 0.5  # part of a distance, beyond its margin, by which it may be told too small


class World(NamedTuple):
    """A robot in a scene. first, second: (pairs,) as in `Model`.  levers: (pairs, n) as
    `pair_levers`, m/rad or 1."""

    bodies: Bodies
    spheres: Spheres
    obstacles: Obstacles
    first: Indices
    second: Indices
    levers: Matrix


class Room(NamedTuple):
    """Where loops work. poses: (b, 12).  q, way: (n,).  speed: (pairs,) bounds of the change of
    distances along the way, m.  apart, seen: (pairs,) what each was apart at least, m, and at
    which part of the way.  looked: (2,) states that were looked at, and the pair that decided
    last.  stack: pairs of balls that are still to be looked at."""

    poses: Matrix
    q: Vector
    way: Vector
    speed: Vector
    apart: Vector
    seen: Vector
    looked: Indices
    stack: Indices


def room_for(bodies: int, joints: int, pairs: int) -> Room:
    """A room for a robot in a scene."""
    q, way = np.empty((2, joints))
    speed, apart, seen = np.empty((3, pairs))
    looked, stack = np.zeros(2, dtype=np.int64), np.empty(STACK, dtype=np.int64)
    return Room(np.empty((bodies, 12)), q, way, speed, apart, seen, looked, stack)


class Trees(NamedTuple):
    """Two trees. node: (2, M, n).  parent: (2 M,), −1 for a root.  count: (2,).
    length: longest new edge towards a sample, in joint coordinates."""

    node: Matrices
    parent: Indices
    count: Indices
    length: float


@inner
def pair_room(i: int, s: float, cutoff: float, margin: float, world: World, room: Room) -> float:
    """The distance of pair i at part s of the way, m, at least: what is known of it where that is
    not less than the cutoff, else what it is, up to the cutoff."""
    known = room.apart[i] - (s - room.seen[i]) * room.speed[i]
    if known >= cutoff:
        return known
    first, second = world.first[i], world.second[i]
    d = bound_gap(first, second, room.poses, world.spheres, world.obstacles)
    if d < cutoff:
        d, _ = gap(
            first,
            second,
            cutoff,
            margin,
            ROUGHLY,
            room.poses,
            room.stack,
            world.spheres,
            world.obstacles,
        )
    room.apart[i], room.seen[i] = d, s
    return d


@inner
def state_room(s: float, margins: Vector, finest: float, world: World, room: Room) -> float:
    """How far the robot can go from the room's q, at part s of its way, as a part of it, until a
    pair could be nearer than its margin, m, or has moved by `finest`, m; negative where one is."""
    place_bodies(room.q, world.bodies, room.poses)
    room.looked[0] = room.looked[0] + 1
    best, pairs = 1e300, world.first.shape[0]
    for k in range(-min(pairs, 1), pairs):
        i = room.looked[1] if k < 0 else k  # what decided last is asked first
        speed, margin = room.speed[i], margins[i]
        # a pair that can only decide by touching is not asked for more
        cutoff = margin if best <= finest / speed else min(FAR, margin + best * speed)
        d = pair_room(i, s, cutoff, margin, world, room)
        if d < margin:
            room.looked[1] = i
            return -1.0
        ahead = max(d - margin, finest) / speed
        if ahead < best:
            best = ahead
            room.looked[1] = i
    return best


@inner
def advance(
    a: Vector, b: Vector, margins: Vector, finest: float, world: World, room: Room
) -> float:
    """The part of the way from a to b that is free, to its last state that was looked at; a is
    taken to be free. finest: m, see above."""
    n = a.shape[0]
    for j in range(n):
        room.way[j] = b[j] - a[j]
    for i in range(world.first.shape[0]):
        speed = 1e-12
        for j in range(n):
            speed += abs(room.way[j]) * world.levers[i, j]
        room.speed[i] = speed
        room.apart[i], room.seen[i] = -1e300, 0.0
    s, reached = 0.0, 0.0
    for _ in range(STEPS):
        for j in range(n):
            room.q[j] = a[j] + s * room.way[j]
        ahead = state_room(s, margins, finest, world, room)
        if ahead < 0.0:
            return reached
        reached = s
        if s >= 1.0:
            return 1.0
        s = min(1.0, s + ahead)
    return reached


@inner
def nearest(tree: int, q: Vector, trees: Trees) -> int:
    """The node of a tree next to q."""
    found, best = 0, 1e300
    for k in range(trees.count[tree]):
        far = 0.0
        for j in range(q.shape[0]):
            far += (trees.node[tree, k, j] - q[j]) * (trees.node[tree, k, j] - q[j])
        if far < best:
            found, best = k, far
    return found


@inner
def grow(
    tree: int,
    at: int,
    target: Vector,
    whole: bool,
    margins: Vector,
    finest: float,
    trees: Trees,
    world: World,
    room: Room,
) -> tuple[int, bool]:
    """Grow a tree from node `at` towards a target, all the way or one edge. Returns its last node
    and whether it is the target."""
    n, most = target.shape[0], trees.node.shape[1]
    for _ in range(most):
        far = 0.0
        for j in range(n):
            far += (target[j] - trees.node[tree, at, j]) * (target[j] - trees.node[tree, at, j])
        far = np.sqrt(far)
        k = trees.count[tree]
        if k >= most:
            return at, False
        part = min(1.0, trees.length / max(far, 1e-300))
        new = trees.node[tree, k]
        for j in range(n):
            new[j] = trees.node[tree, at, j] + part * (target[j] - trees.node[tree, at, j])
        free = advance(trees.node[tree, at], new, margins, finest, world, room)
        if free < 1.0 and free * part * far < 0.1 * trees.length:
            return at, False
        for j in range(n):
            new[j] = trees.node[tree, at, j] + free * (new[j] - trees.node[tree, at, j])
        trees.parent[tree * most + k] = at
        trees.count[tree] = k + 1
        at = k
        if free < 1.0:
            return at, False
        if part >= 1.0:
            return at, True
        if not whole:
            return at, False
    return at, False


@loop
def connect(
    samples: Matrix,
    begin: int,
    margins: Vector,
    finest: float,
    trees: Trees,
    world: World,
    room: Room,
) -> tuple[int, int, int]:
    """Grow both trees towards samples (S, n), from sample `begin` on, until they meet. Returns
    (how many samples were used, the nodes that meet), −1 for these where they do not."""
    for k in range(samples.shape[0]):
        if k < begin:
            continue
        tree = 0 if trees.count[0] <= trees.count[1] else 1
        at = nearest(tree, samples[k], trees)
        new, _ = grow(tree, at, samples[k], False, margins, finest, trees, world, room)
        if new != at:
            target = trees.node[tree, new]
            start = nearest(1 - tree, target, trees)
            end, there = grow(1 - tree, start, target, True, margins, finest, trees, world, room)
            if there:
                if tree == 0:
                    return k + 1, new, end
                return k + 1, end, new
        if max(trees.count[0], trees.count[1]) >= trees.node.shape[1]:
            return k + 1, -1, -1
    return samples.shape[0], -1, -1


@loop
def free_part(
    a: Vector, b: Vector, margins: Vector, finest: float, world: World, room: Room
) -> float:
    """`advance`, for Python."""
    return advance(a, b, margins, finest, world, room)
