"""Distances as rows of the optimiser: which spheres of a robot keep on which side of which planes,
knot by knot.

Along a reference motion every sphere that is near to an obstacle has a plane between it and the
obstacle, (D6) of scene/near.py. A motion that keeps its spheres on the outer sides of these planes
is free of the obstacles; the reference itself does, where it is free. The rows are exact in the
joint coordinates; the planes are data, chosen anew from every motion that is found. Two links that
come near to each other keep to both sides of a plane between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.scene.gaps import body_poses
from armature.scene.model import Model
from armature.scene.near import near_spheres, outward

NEAR, NEAR_SELF = 0.15, 0.03  # m: what is farther from obstacles, or from other links, has no rows
COUNT, SPACING = 3, 0.05  # spheres of a link for each obstacle; m between their centres
SHARE = 0.7  # of a gap of the reference that is kept at least, up to the margin that is wanted
SLOTS, TOOL_SLOTS = 4, 10  # rows of a body at a knot; of one that carries no other


def slot_counts(robot: Robot) -> tuple[int, ...]:
    """Rows of each moving body at a knot; the same in every scene."""
    parents = {body.parent for body in robot.tree.bodies}
    count = len(robot.tree.bodies)
    return tuple(SLOTS if b in parents else TOOL_SLOTS for b in range(count))


class Rows(NamedTuple):
    """Rows n·x ≥ bound for sphere centres x, of K knots and S slots. normal, centre: (K, S, 3), n
    in the world and the centre in its body's frame, m.  bound: (K, S), m; −∞ where a slot is
    empty."""

    normal: np.ndarray
    centre: np.ndarray
    bound: np.ndarray


class _Entries(NamedTuple):
    """Rows one after the other. knot, body: (E,).  distance: m, by which they are ranked."""

    knot: np.ndarray
    body: np.ndarray
    distance: np.ndarray
    normal: np.ndarray
    centre: np.ndarray
    bound: np.ndarray


@dataclass(frozen=True, eq=False)
class Planes:
    """Where planes come from. reference: a free motion.  others: motions that tell which spheres
    come near besides (such as one that was found and collides).  margins: (pairs,) kept between
    each pair, m.  wanted: m, kept where the reference has so much room."""

    robot: Robot
    model: Model
    reference: Trajectory
    margins: np.ndarray
    wanted: float = 0.0
    others: tuple[Trajectory, ...] = ()

    def rows(self, parts: np.ndarray) -> Rows:
        """The rows at parts (K,) of the motions' durations."""
        q = _states(self.reference, parts)
        knot, pair, node, other, distance = self._chosen(parts)
        poses = np.empty((len(q), len(self.model.bodies.q), 12))
        body_poses(np.ascontiguousarray(q), self.model.bodies, poses)
        outer = other < 0
        first = self._against_obstacles(poses, *(x[outer] for x in (knot, pair, node, distance)))
        second = self._against_links(
            poses, *(x[~outer] for x in (knot, pair, node, other, distance))
        )
        entries = _Entries(*(np.concatenate(x) for x in zip(*first, *second)))
        return _slotted(entries, slot_counts(self.robot), len(parts))

    def states(self, parts: np.ndarray) -> np.ndarray:
        """(K, n) the reference at parts of its duration."""
        return _states(self.reference, parts)

    def _chosen(self, parts: np.ndarray) -> tuple[np.ndarray, ...]:
        """(knot, pair, node, other, distance), (E,) each: spheres that come near in any of the
        motions, each once."""
        cutoff = np.where(self.model.second < 0, NEAR, NEAR_SELF)
        found = []
        for motion in (self.reference, *self.others):
            near = near_spheres(self.model, _states(motion, parts), cutoff, COUNT, SPACING)
            knot, pair, m = np.nonzero(near.node >= 0)
            at = (knot, pair, m)
            found.append((knot, pair, near.node[at], near.other[at], near.distance[at]))
        knot, pair, node, other, distance = (np.concatenate(x) for x in zip(*found))
        order = np.argsort(distance, kind="stable")
        same = np.column_stack([knot, pair, node])[order]
        kept = order[np.unique(same, axis=0, return_index=True)[1]]
        return knot[kept], pair[kept], node[kept], other[kept], distance[kept]

    def _against_obstacles(
        self,
        poses: np.ndarray,
        knot: np.ndarray,
        pair: np.ndarray,
        node: np.ndarray,
        distance: np.ndarray,
    ) -> list[_Entries]:
        """(D6) of spheres and obstacles."""
        body, ball = self.model.spheres.body[self.model.first[pair]], self.model.spheres.node[node]
        x = _placed(poses[knot, body], ball)
        d, n = outward(self.model, -1 - self.model.second[pair], x.copy())
        kept = self._kept(pair, d - ball[:, 3])
        bound = kept + ball[:, 3] - d + np.sum(n * x, axis=1)
        return [_Entries(knot, body, distance, n, ball[:, :3], bound)]

    def _kept(self, pair: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """(E,) what is kept between spheres that are a gap (E,) apart in the reference, m."""
        return np.maximum(self.margins[pair], np.minimum(SHARE * gap, self.wanted))

    def _against_links(
        self,
        poses: np.ndarray,
        knot: np.ndarray,
        pair: np.ndarray,
        node: np.ndarray,
        other: np.ndarray,
        distance: np.ndarray,
    ) -> list[_Entries]:
        """Spheres of two links on both sides of the plane in the middle of their gap."""
        spheres, links = self.model.spheres, (self.model.first[pair], self.model.second[pair])
        bodies, balls = [spheres.body[k] for k in links], [spheres.node[node], spheres.node[other]]
        x = [
            np.where(b[:, None] < 0, ball[:, :3], _placed(poses[knot, b], ball))
            for b, ball in zip(bodies, balls)
        ]
        way = x[0] - x[1]
        far = np.linalg.norm(way, axis=1)
        n = way / np.maximum(far, 1e-12)[:, None]
        gap = far - balls[0][:, 3] - balls[1][:, 3]
        found = []
        for side, sign in ((0, 1.0), (1, -1.0)):
            moving = bodies[side] >= 0
            alone = bodies[1 - side] < 0  # the other stands: this one keeps the whole gap
            kept = np.where(alone, 1.0, 0.5) * (self._kept(pair, gap) - gap)
            bound = np.sum(sign * n * x[side], axis=1) + kept
            rows = (knot, bodies[side], distance, sign * n, balls[side][:, :3], bound)
            found.append(_Entries(*(row[moving] for row in rows)))
        return found


def _states(motion: Trajectory, parts: np.ndarray) -> np.ndarray:
    return motion(motion.t[0] + np.clip(parts, 0.0, 1.0) * motion.duration).q


def _placed(poses: np.ndarray, balls: np.ndarray) -> np.ndarray:
    """(E, 3) centres of balls (E, 4) of bodies at poses (E, 12)."""
    R = poses[:, :9].reshape(-1, 3, 3)
    return np.einsum("eij,ej->ei", R, balls[:, :3]) + poses[:, 9:]


def _slotted(entries: _Entries, counts: tuple[int, ...], knots: int) -> Rows:
    """Rows put into the slots of their bodies, the nearest first, as many as there are."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    order = np.lexsort((entries.distance, entries.body, entries.knot))
    knot, body = entries.knot[order], entries.body[order]
    group = knot * len(counts) + body
    new = np.concatenate([[True], group[1:] != group[:-1]]) if len(group) else np.zeros(0, bool)
    rank = np.arange(len(group)) - np.maximum.accumulate(np.where(new, np.arange(len(group)), 0))
    kept = rank < np.array(counts)[body]
    at = knot[kept], (starts[body] + rank)[kept]
    S = int(starts[-1])
    found = Rows(np.zeros((knots, S, 3)), np.zeros((knots, S, 3)), np.full((knots, S), -np.inf))
    for array, values in zip(found, (entries.normal, entries.centre, entries.bound)):
        array[at] = values[order][kept]
    return found
