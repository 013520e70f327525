"""The ordinary motion that a plan is compared with: the joint cubic of the same duration, or the shortest one that keeps the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certify import ALLOWED
from armature.optimize.move import MoveProblem
from armature.optimize.plan import worst_margin
from armature.optimize.solution import Baseline
from armature.optimize.task import Move
from armature.robot.model import Robot
from armature.simulate.ledger import drive_signals, ledger

LONGEST = 20.0  # times the plan's duration up to which a feasible cubic is looked for


def baseline(problem: MoveProblem, duration: float) -> Baseline:
    """The joint cubic of the same duration, or, where that breaks limits, slowed down until it keeps them."""
    robot = problem.robot
    cubic = _cubic(problem, duration)
    feasible, note = not _breaks(robot, cubic), ""
    if not feasible:
        slower = _slowed(problem, duration)
        if slower is not None:
            cubic, feasible = slower, True
            note = f"of {slower.duration:.4g} s: at {duration:.4g} s the cubic breaks limits"
        else:
            note = "which breaks limits at any duration up to twenty times this one"
    return Baseline(drive_signals(robot, cubic), ledger(robot, cubic, problem.driven.supply), feasible, note)


def _cubic(problem: MoveProblem, duration: float) -> Trajectory:
    scaled = replace(problem, move=stretched(problem.move, duration, problem.duration))
    t = np.concatenate([[0.0], np.cumsum(scaled.steps(duration))])
    return Trajectory(t, *scaled.cubic(t), problem.robot.joint_names)


def stretched(move: Move, duration: float, old: float) -> Move:
    """The same move in another duration, passing times in proportion."""
    via = tuple(replace(v, at=None if v.at is None else v.at * duration / old) for v in move.via)
    return replace(move, duration=duration, via=via)


def _slowed(problem: MoveProblem, duration: float) -> Trajectory | None:
    """The shortest of a range of durations, to 1 %, at which the cubic keeps all limits."""
    durations = duration * np.geomspace(1.05, LONGEST, 24)
    good = next((T for T in durations if not _breaks(problem.robot, _cubic(problem, T))), None)
    if good is None:
        return None
    low, high = max(duration, good / 1.2), float(good)
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if not _breaks(problem.robot, _cubic(problem, middle)) else (middle, high)
    return _cubic(problem, high)


def _breaks(robot: Robot, motion: Trajectory) -> bool:
    worst = worst_margin(robot, motion, finer=2)
    return worst is not None and worst.fraction < -ALLOWED
