"""Starting motions: what leads to different optima. A table, tried in order; the cheapest after the few knots is followed."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TypeVar

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import margins
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem

Task = TypeVar("Task", bound=MoveProblem)

RATES = ("jerk", "torque rate")  # limits that a cubic jumps beyond


def late(task: MoveProblem, part: float) -> Trajectory:
    """The task's points, with every leg run in the last of its time, from the part given on: joints wait first.

    Dry friction makes it cheap to stand; when joints stand is what local optima differ in."""
    t, points = task.times, task.points
    edges = t[[0, *task.knots]]
    q, v, a = (np.zeros((len(t), task.robot.n)) for _ in range(3))
    for leg, (begin, end) in enumerate(itertools.pairwise(edges)):
        mine = (t >= begin) & (t <= end)
        rate = 1.0 / ((end - begin) * (1.0 - part))
        s = np.clip((t[mine] - begin) * rate - part / (1.0 - part), 0.0, 1.0)
        way = points[leg + 1] - points[leg]
        q[mine] = points[leg] + np.outer(3 * s**2 - 2 * s**3, way)
        v[mine] = np.outer(6 * (s - s**2) * rate, way)
        a[mine] = np.outer((6 - 12 * s) * rate**2 * ((s > 0.0) & (s < 1.0)), way)
    return Trajectory(t, q, v, a, task.robot.joint_names)


def feasible_cubic(task: MoveProblem) -> float:
    """About the shortest duration in which the joint cubic keeps all limits but rates, s; the task's own where none does."""
    keeps = lambda T: all(
        m.fraction >= 0.0
        for row in margins(task.robot, stretched(task.straight, T), 1).values()
        for m in row.values()
        if m.limit not in RATES
    )
    T = first = task.duration
    for _ in range(20):
        if keeps(T):
            break
        T *= 1.3
    else:
        return first
    low = T / 1.3
    for _ in range(3):
        middle = float(np.sqrt(low * T))
        low, T = (low, middle) if keeps(middle) else (middle, T)
    return float(T)


def timed(task: Task, duration: float) -> Task:
    """The task with another first duration, s."""
    return replace(task, move=replace(task.move, duration=duration))
