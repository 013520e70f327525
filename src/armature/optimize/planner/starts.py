"""Starting motions: what leads to different optima."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import margins
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem
from armature.scene.floor import LIMIT

Task = TypeVar("Task", bound=MoveProblem)

JUMPS = ("jerk", "torque rate", LIMIT)  # limits that a cubic may break in any duration
DETOUR, LEAST = (
    0.25,
    0.02,
)  # of a joint's range or a turn: a detour, and the least that is worth a search
MOVED = 0.05  # of a joint's range: what counts at least as how far it moves
EARLIER = (
    2.0,
    0.5,
    0.2,
)  # powers of the parts of the time at which via points are passed by the joints' travel
BEND = 0.35  # of how far a joint moves
PATTERNS = 3  # of the signs with which all joints bend at once


def detours(problem: MoveProblem) -> list[Trajectory]:
    """The joint cubic with a bump of one joint after the other, to both sides, within its range;
    none with via points."""
    if problem.move.via:
        return []
    room = turns(problem)
    bumps = [
        within(problem, side * DETOUR * room * alone)
        for alone in np.eye(len(room))
        for side in (-1.0, 1.0)
    ]
    kept = [bump for bump in bumps if np.any(np.abs(bump) >= LEAST * room)]
    return [bumped(problem, bump) for bump in kept]


def bends(problem: MoveProblem) -> list[Trajectory]:
    """The joint cubic with all joints bent away at once."""
    return [bumped(problem, size) for size in bend_patterns(problem, BEND)]


def bend_patterns(problem: MoveProblem, part: float) -> list[np.ndarray]:
    """(n,) bumps of all joints at once, each so large a part of how far it moves:

    (DT1)  side of joint j in pattern k: the sign of cos(π k (j + ½)/n), and its opposite."""
    if problem.robot.loops:
        return []
    n, size = problem.robot.n, bend_sizes(problem, part)
    found = []
    for k in range(min(PATTERNS, n)):
        sides = np.where(np.cos(np.pi * k * (np.arange(n) + 0.5) / n) > -1e-9, 1.0, -1.0)  # (DT1)
        found += [within(problem, sign * sides * size) for sign in (-1.0, 1.0)]
    return found


def bend_sizes(problem: MoveProblem, part: float) -> np.ndarray:
    """(n,) so large a part of how far a joint moves, or of its range."""
    return part * np.maximum(np.ptp(problem.straight.q, axis=0), MOVED * turns(problem))


def room_to_bend(problem: MoveProblem, part: float) -> tuple[np.ndarray, np.ndarray]:
    """(n,), (n,): the same to both sides, as far as the ranges allow."""
    size = bend_sizes(problem, part)
    return within(problem, size), within(problem, -size)


def bumped(problem: MoveProblem, size: np.ndarray) -> Trajectory:
    """The joint cubic with a bump on every leg, by sin² of the time. size: (n,) of the bumps."""
    t = problem.times
    edges = t[[0, *problem.knots]]
    leg = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 2)
    w = 1.0 / np.diff(edges)[leg]
    s = (t - edges[leg]) * w
    bump = (
        np.sin(np.pi * s) ** 2,
        np.pi * w * np.sin(2 * np.pi * s),
        2 * (np.pi * w) ** 2 * np.cos(2 * np.pi * s),
    )
    size = within(problem, size)
    q, v, a = (x + np.outer(b, size) for x, b in zip(problem.cubic(t), bump))
    return Trajectory(t, q, v, a, problem.robot.joint_names)


def within(problem: MoveProblem, size: np.ndarray) -> np.ndarray:
    """(n,): as much of a bump as the range of every joint has room for."""
    own, (low, high) = problem.straight.q, ranges(problem)
    below = np.minimum(0.9 * (low - own.min(axis=0)), 0.0)
    return np.clip(size, below, np.maximum(0.9 * (high - own.max(axis=0)), 0.0))


def turns(problem: MoveProblem) -> np.ndarray:
    """(n,): the range of every joint, or a turn."""
    low, high = ranges(problem)
    return np.minimum(high - low, 2 * np.pi)


def ranges(problem: MoveProblem) -> tuple[np.ndarray, np.ndarray]:
    """(n,), (n,): both ends of the range of every joint."""
    limit = lambda side: [problem.driven.joint_limit(x, side) for x in problem.robot.joint_names]
    return np.array(limit("lower")), np.array(limit("upper"))


def feasible_cubic(task: MoveProblem) -> float:
    """About the shortest duration in which the joint cubic keeps all limits but those that it jumps
    beyond, s; where there is none, the shortest in which it exceeds them by at most half as much
    again as it must."""
    few = replace(task, N=max(30, 4 * (len(task.move.via) + 1)))
    straight, first = few.straight, task.duration

    def excess(duration: float) -> float:
        found = margins(task.robot, stretched(straight, duration), 1)
        every = (m for row in found.values() for m in row.values() if m.limit not in JUMPS)
        return max((-m.fraction for m in every), default=0.0)

    T, keeps = first, excess(first) <= 0.0
    if keeps:
        while excess(T / 1.3) <= 0.0 and 1e-3 * first < T:
            T /= 1.3
    else:
        tried = {first * 1.3**k: excess(first * 1.3**k) for k in range(-4, 21)}
        T = next((t for t, over in tried.items() if t > first and over <= 0.0), 0.0)
        if not T:
            most = 1.5 * min(tried.values())
            return min(t for t, over in tried.items() if over <= most)
    low = T / 1.3
    for _ in range(3):
        middle = float(np.sqrt(low * T))
        low, T = (low, middle) if excess(middle) <= 0.0 else (middle, T)
    return float(T)


def passed_otherwise(task: Task) -> list[Task]:
    """The task with via points of free passing time passed earlier in the first motion, and later;
    none where the task gives a time, or has no such points."""
    if task.legs < 2 or task.free or any(via.at is not None for via in task.move.via):
        return []
    by_travel = task.passing[1:-1]
    return [replace(task, passed_first=tuple(by_travel**power)) for power in EARLIER]


def timed(task: Task, duration: float) -> Task:
    """The task with another first duration, s."""
    return replace(task, move=replace(task.move, duration=duration))
