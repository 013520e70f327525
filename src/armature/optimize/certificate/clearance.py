"""How near a motion comes to the floor: sampled for the planners, and proved between samples for
the certificate.

Between two instants dt apart the height of a part changes by at most L dt, with L = Σ |v|max ·
lever (`dynamics.heights.levers`), so

    (F2)  h(t) ≥ (h₀ + h₁ − L dt) / 2

Intervals in which that does not decide are halved.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np

from armature.dynamics.positioning.heights import levers, part_heights
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot

UNIT = 0.1  # m: a margin is told as a fraction of this height
CLOSE = 5e-5  # m: how far a proved height may lie below the sampled one
PLACES = np.linspace(0.0, 1.0, 5)
# from values at these places to the control points of a polynomial of degree 4 (Bernstein's basis)
CONTROL = np.linalg.inv(
    [[comb(4, j) * x**j * (1 - x) ** (4 - j) for j in range(5)] for x in PLACES]
)
ROUNDS = 16  # times that intervals are halved at most


class Height(NamedTuple):
    """The lowest that a link comes. height: above the floor, m, proved where it was asked for.
    time: s."""

    link: str
    height: float
    time: float


def sampled_heights(robot: Robot, t: np.ndarray, q: np.ndarray) -> list[Height]:
    """The lowest height of every link above the robot's floor at times t (K,) with joints q (K,
    n)."""
    floor = robot.floor
    if floor is None or not floor.parts:
        return []
    return _by_link(robot, t, part_heights(robot, q, floor.parts) - floor.height)


def proved_heights(robot: Robot, motion: Trajectory, t: np.ndarray) -> list[Height]:
    """The same at every instant: bounds from below, at most 0.05 mm below what is met at instants.
    t: (K,) instants to begin with."""
    floor = robot.floor
    if floor is None or not floor.parts:
        return []
    t = np.unique(np.concatenate([motion.t, t]))
    lever = levers(robot, floor.parts)
    lowest = np.full(len(floor.parts), np.inf)
    bound, when = lowest.copy(), np.zeros(len(floor.parts))
    begin, end = t[:-1], t[1:]
    for step in range(ROUNDS):
        h0, h1 = (
            part_heights(robot, motion(x).q, floor.parts) - floor.height for x in (begin, end)
        )
        fall = speed_bounds(motion, begin, end) @ lever.T * (end - begin)[:, None]
        least = np.minimum((h0 + h1 - fall) / 2, np.minimum(h0, h1))
        met = np.minimum(h0, h1)
        lowest = np.minimum(lowest, met.min(0))
        open_ = least < np.minimum(lowest - CLOSE, bound)
        if step == ROUNDS - 1:
            open_[:] = False
        closed = np.where(open_.any(1)[:, None], np.inf, least)
        k = closed.argmin(0)
        better = closed[k, range(len(k))] < bound
        bound, when = (
            np.where(better, closed[k, range(len(k))], bound),
            np.where(better, begin[k], when),
        )
        rows = open_.any(1)
        if not rows.any():
            break
        middle = (begin[rows] + end[rows]) / 2
        begin, end = np.concatenate([begin[rows], middle]), np.concatenate([middle, end[rows]])
    return _by_link(robot, when, np.where(np.eye(len(bound), dtype=bool), bound, np.inf))


def speed_bounds(motion: Trajectory, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(K, n) bounds of the joints' speeds in intervals that hold no knot inside: a speed is a
    polynomial of degree 4 at most there, and lies between its control points."""
    t = begin[:, None] + (end - begin)[:, None] * np.clip(PLACES, 1e-9, 1 - 1e-9)
    return np.abs(np.einsum("ij,kjn->kin", CONTROL, motion(t).v)).max(1)


def _by_link(robot: Robot, t: np.ndarray, heights: np.ndarray) -> list[Height]:
    """The lowest of each link's parts. heights: (K, parts), m."""
    found: dict[str, Height] = {}
    rows = heights.argmin(0)
    for k, part in enumerate(robot.floor.parts):
        height = Height(part.link, float(heights[rows[k], k]), float(t[rows[k]]))
        if part.link not in found or height.height < found[part.link].height:
            found[part.link] = height
    return list(found.values())
