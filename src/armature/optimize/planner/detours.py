"""Starting motions that lead to other branches: detours of one joint or all, and a motion that is not its own mirror image in time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.transcription.move import MoveProblem

DETOUR, LEAST = 0.25, 0.02  # of a joint's range, or of a turn: how far it goes out of its way, and the least that is worth a search
BEND = 0.08  # the same between via points
TOGETHER, LITTLE = 0.35, 0.05  # of how far a joint moves: its detour with all others; the least, of its range, that it counts as moved by
PATTERNS = 3  # of sides to which all joints go at once
SKEW = 0.1  # by which a skewed motion is faster at its start and slower at its end


def detours(problem: MoveProblem) -> list[Trajectory]:
    """The joint cubic with a bump of one joint after the other, to both sides, within its range; none with via points."""
    return [] if problem.move.via else bent(problem, DETOUR, LEAST)


def waverings(problem: MoveProblem) -> list[Trajectory]:
    """The same between via points: one joint after the other bends away on every leg, to both sides, and passes all points."""
    return bent(problem, BEND)


def together(problem: MoveProblem) -> list[Trajectory]:
    """The same with all joints at once, each by a part of how far it moves, in patterns of sides:

    (DT1)  side of joint j in pattern k: the sign of cos(π k (j + ½)/n), and its opposite."""
    n = problem.robot.n
    size = TOGETHER * np.maximum(np.ptp(problem.straight.q, axis=0), LITTLE * rooms(problem))
    patterns = [np.where(np.cos(np.pi * k * (np.arange(n) + 0.5) / n) > -1e-9, 1.0, -1.0) for k in range(min(PATTERNS, n))]  # (DT1)
    return [bumped(problem, side * pattern * size) for pattern in patterns for side in (-1.0, 1.0)]


def bent(problem: MoveProblem, part: float, least: float = 0.0) -> list[Trajectory]:
    """The joint cubic with one joint after the other bent away on every leg, to both sides. part, least: of its range, or of a turn."""
    room = rooms(problem)
    sizes = (within(problem, side * part * room * alone) for alone in np.eye(len(room)) for side in (-1.0, 1.0))
    return [bumped(problem, size) for size in sizes if np.abs(size).max() >= least * room[np.abs(size).argmax()]]


def bumped(problem: MoveProblem, size: np.ndarray) -> Trajectory:
    """The joint cubic with a bump on every leg, by sin² of the time. size: (n,) of the bumps, as far as ranges allow."""
    t = problem.times
    edges = t[[0, *problem.knots]]
    leg = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 2)
    w = 1.0 / np.diff(edges)[leg]
    s = (t - edges[leg]) * w
    bump = np.sin(np.pi * s) ** 2, np.pi * w * np.sin(2 * np.pi * s), 2 * (np.pi * w) ** 2 * np.cos(2 * np.pi * s)
    size = within(problem, size)
    q, v, a = (x + np.outer(b, size) for x, b in zip(problem.cubic(t), bump))
    return Trajectory(t, q, v, a, problem.robot.joint_names)


def within(problem: MoveProblem, size: np.ndarray) -> np.ndarray:
    """(n,): as much of a bump as the range of every joint has room for."""
    own, (low, high) = problem.straight.q, ranges(problem)
    return np.clip(size, np.minimum(0.9 * (low - own.min(axis=0)), 0.0), np.maximum(0.9 * (high - own.max(axis=0)), 0.0))


def rooms(problem: MoveProblem) -> np.ndarray:
    """(n,): the range of every joint, or a turn."""
    low, high = ranges(problem)
    return np.minimum(high - low, 2 * np.pi)


def ranges(problem: MoveProblem) -> tuple[np.ndarray, np.ndarray]:
    """(n,), (n,): both ends of the range of every joint."""
    low, high = ([problem.driven.joint_limit(name, side) for name in problem.robot.joint_names] for side in ("lower", "upper"))
    return np.array(low), np.array(high)


def skewed(motion: Trajectory, skew: float = SKEW) -> Trajectory:
    """The motion run faster at first and slower at last: where a move can be run backwards, the shortest motion need not be its own mirror
    image, and no search leaves that by itself. s' = s + skew s (1 − s)."""
    T = motion.duration
    s = (motion.t - motion.t[0]) / T
    rate = (1 + skew * (1 - 2 * s))[:, None]
    at = motion(motion.t[0] + T * np.clip(s + skew * s * (1 - s), 1e-12, 1 - 1e-12))
    return replace(motion, q=at.q, v=at.v * rate, a=at.a * rate**2 - at.v * (2 * skew / T))
