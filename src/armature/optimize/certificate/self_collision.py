"""Whether links of a robot run into each other: a warning, by capsules inside the links' parts.
Links next to each other are left out, and pairs that touch at the start or the goal: those are
built so, or their capsules are too rough to tell."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from armature.dynamics.compiled import link_poses
from armature.motion.trajectory import Trajectory
from armature.robot.cover import Part, cover
from armature.robot.model import Robot

INSTANTS = 200
APART = 3  # bodies: links that fewer joints connect are neighbours


class Touch(NamedTuple):
    """Two links that run into each other. depth: m, at most.  time: s, of the deepest."""

    first: str
    second: str
    depth: float
    time: float

    def __str__(self) -> str:
        where = (
            f"{self.first} and {self.second} come {self.depth:.3g} m into each other at t ="
            f" {self.time:.4g} s"
        )
        return (
            f"self-collision is likely: {where}, by capsules inside their shapes; look at the"
            " motion, or give a via point"
        )


def self_collisions(robot: Robot, motion: Trajectory) -> list[Touch]:
    """Pairs of links that come into each other on the way, deepest first."""
    parts = [part for part in cover(robot) if part.measured]
    body = {part.link: robot.tree.frames[part.link].body for part in parts}
    pairs = [
        (i, j)
        for i, j in itertools.combinations(range(len(parts)), 2)
        if _joints_between(robot, body, parts[i], parts[j]) >= APART
    ]
    if not pairs:
        return []
    t = np.linspace(motion.t[0], motion.t[-1], INSTANTS)
    ends, radius = _segments(robot, motion(t).q, parts)
    i, j = np.array(pairs).T
    gap = (
        segment_distance(ends[:, i, 0], ends[:, i, 1], ends[:, j, 0], ends[:, j, 1])
        - radius[i]
        - radius[j]
    )
    found = []
    for k, (a, b) in enumerate(pairs):
        low = int(gap[:, k].argmin())
        if gap[low, k] < 0.0 < min(gap[0, k], gap[-1, k]):
            found.append(Touch(parts[a].link, parts[b].link, float(-gap[low, k]), float(t[low])))
    return sorted(found, key=lambda touch: -touch.depth)


def _joints_between(robot: Robot, body: dict[str, int], a: Part, b: Part) -> int:
    """How many joints lie between two links."""
    one, other = ({-1, *robot.tree.path(body[x.link])} for x in (a, b))
    return len(one ^ other)


def _segments(robot: Robot, q: np.ndarray, parts: list[Part]) -> tuple[np.ndarray, np.ndarray]:
    """(K, parts, 2, 3) ends of the segments inside parts, m, world axes, and (parts,) radii, m."""
    poses, names = link_poses(robot, q), list(robot.link_names)
    R, p = np.asarray(poses.R), np.asarray(poses.p)
    ends, radii = [], []
    for part in parts:
        half = np.array(part.half)
        long = int(half.argmax())
        across = min(part.disc, half[2]) if part.disc else half.min()
        along = (half[long] - across) * np.array(part.axes[long])
        radii.append(part.ball + float(across))
        k = names.index(part.link)
        local = np.array([part.centre - along, part.centre + along])
        ends.append(np.einsum("tij,ej->tei", R[:, k], local) + p[:, k, None])
    return np.stack(ends, axis=1), np.array(radii)


def segment_distance(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """(...) distances between segments a–b and c–d, (..., 3) each: of the lines, and from every end
    to the other segment."""
    ends = [_to_segment(x, y, z) for x, y, z in ((a, c, d), (b, c, d), (c, a, b), (d, a, b))]
    u, v, w = b - a, d - c, a - c
    uu, vv, uv, uw, vw = (
        np.sum(x * y, axis=-1) for x, y in ((u, u), (v, v), (u, v), (u, w), (v, w))
    )
    det = uu * vv - uv**2
    safe = np.where(det > 1e-14, det, 1.0)
    s, t = (uv * vw - vv * uw) / safe, (uu * vw - uv * uw) / safe
    inside = (det > 1e-14) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    lines = np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1)
    return np.minimum(np.where(inside, lines, np.inf), np.min(ends, axis=0))


def _to_segment(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    way = b - a
    s = np.clip(
        np.sum((p - a) * way, axis=-1) / np.maximum(np.sum(way * way, axis=-1), 1e-30), 0.0, 1.0
    )
    return np.linalg.norm(p - a - s[..., None] * way, axis=-1)
