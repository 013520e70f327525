"""Starting motions that lead to other branches: detours of single joints, and a motion that is not its own mirror image in time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.move import MoveProblem

DETOUR, LEAST = 0.25, 0.02  # of a joint's range, or of a turn: how far it goes out of its way, and the least that is worth a search
BEND = 0.08  # the same between via points
SKEW = 0.1  # by which a skewed motion is faster at its start and slower at its end


def detours(problem: MoveProblem) -> list[Trajectory]:
    """The joint cubic with a bump of one joint after the other, to both sides, within its range; none with via points."""
    return [] if problem.move.via else bent(problem, DETOUR, LEAST)


def waverings(problem: MoveProblem) -> list[Trajectory]:
    """The same between via points: one joint after the other bends away on every leg, to both sides, and passes all points."""
    return bent(problem, BEND)


def bent(problem: MoveProblem, part: float, least: float = 0.0) -> list[Trajectory]:
    """The joint cubic with one joint after the other bent away on every leg, to both sides. part, least: of its range, or of a turn."""
    t, names = problem.times, problem.robot.joint_names
    motion = problem.cubic(t)
    edges = t[[0, *problem.knots]]
    leg = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 2)
    w = 1.0 / np.diff(edges)[leg]
    s = (t - edges[leg]) * w
    bump = [np.sin(np.pi * s) ** 2, np.pi * w * np.sin(2 * np.pi * s), 2 * (np.pi * w) ** 2 * np.cos(2 * np.pi * s)]
    found = []
    for j, name in enumerate(names):
        low, high = (problem.driven.joint_limit(name, side) for side in ("lower", "upper"))
        room, own = min(high - low, 2 * np.pi), motion[0][:, j]
        for size in (-part * room, part * room):
            size = float(np.clip(size, 0.9 * (low - own.min()), 0.9 * (high - own.max())))
            if abs(size) >= least * room:
                column = size * (np.arange(len(names)) == j)
                q, v, a = (x + np.outer(b, column) for x, b in zip(motion, bump))
                found.append(Trajectory(t, q, v, a, names))
    return found


def skewed(motion: Trajectory, skew: float = SKEW) -> Trajectory:
    """The motion run faster at first and slower at last: where a move can be run backwards, the shortest motion need not be its own mirror
    image, and no search leaves that by itself. s' = s + skew s (1 − s)."""
    T = motion.duration
    s = (motion.t - motion.t[0]) / T
    rate = (1 + skew * (1 - 2 * s))[:, None]
    at = motion(motion.t[0] + T * np.clip(s + skew * s * (1 - s), 1e-12, 1 - 1e-12))
    return replace(motion, q=at.q, v=at.v * rate, a=at.a * rate**2 - at.v * (2 * skew / T))
