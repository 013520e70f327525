"""Starting motions that lead to other branches: detours of single joints, and a motion that is not its own mirror image in time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.move import MoveProblem

BEND = 0.08  # of a joint's range, or of a turn: by which it bends away between via points
SKEW = 0.1  # by which a skewed motion is faster at its start and slower at its end


def detours(problem: MoveProblem) -> list[Trajectory]:
    """The joint cubic with a bump of one joint after the other, to both sides, within its range."""
    robot, T = problem.robot, problem.duration
    t = np.concatenate([[0.0], np.cumsum(problem.steps(T))])
    q, v, a = problem.cubic(t)
    s, w = t / T, 1.0 / T
    bump = [np.sin(np.pi * s) ** 2, np.pi * w * np.sin(2 * np.pi * s), 2 * (np.pi * w) ** 2 * np.cos(2 * np.pi * s)]
    found = []
    for j, name in enumerate(robot.joint_names):
        low, high = (problem.driven.joint_limit(name, side) for side in ("lower", "upper"))
        room = min(high - low, 2 * np.pi)
        for size in (-0.25 * room, 0.25 * room):
            size = float(np.clip(size, 0.9 * (low - q[:, j].min()), 0.9 * (high - q[:, j].max())))
            if abs(size) > 0.02 * room and not problem.move.via:
                moved = [np.array(x) for x in (q, v, a)]
                for x, b in zip(moved, bump):
                    x[:, j] += size * b
                found.append(Trajectory(t, moved[0], moved[1], moved[2], robot.joint_names))
    return found


def waverings(problem: MoveProblem) -> list[Trajectory]:
    """The same between via points: one joint after the other bends away on every leg, to both sides, and passes all points."""
    robot, T = problem.robot, problem.duration
    t = np.concatenate([[0.0], np.cumsum(problem.steps(T))])
    q, v, a = problem.cubic(t)
    edges = t[[0, *problem.knots]]
    leg = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 2)
    w = 1.0 / np.diff(edges)[leg]
    s = (t - edges[leg]) * w
    bump = [np.sin(np.pi * s) ** 2, np.pi * w * np.sin(2 * np.pi * s), 2 * (np.pi * w) ** 2 * np.cos(2 * np.pi * s)]
    found = []
    for j, name in enumerate(robot.joint_names):
        low, high = (problem.driven.joint_limit(name, side) for side in ("lower", "upper"))
        for size in (-BEND, BEND):
            size = float(np.clip(size * min(high - low, 2 * np.pi), 0.9 * (low - q[:, j].min()), 0.9 * (high - q[:, j].max())))
            moved = [np.array(x) for x in (q, v, a)]
            for x, b in zip(moved, bump):
                x[:, j] += size * b
            found.append(Trajectory(t, moved[0], moved[1], moved[2], robot.joint_names))
    return found


def skewed(motion: Trajectory, skew: float = SKEW) -> Trajectory:
    """The motion run faster at first and slower at last: where a move can be run backwards, the shortest motion need not be its own mirror
    image, and no search leaves that by itself. s' = s + skew s (1 − s)."""
    T = motion.duration
    s = (motion.t - motion.t[0]) / T
    rate = (1 + skew * (1 - 2 * s))[:, None]
    at = motion(motion.t[0] + T * np.clip(s + skew * s * (1 - s), 1e-12, 1 - 1e-12))
    return replace(motion, q=at.q, v=at.v * rate, a=at.a * rate**2 - at.v * (2 * skew / T))
