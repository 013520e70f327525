"""The ordinary motion that a plan is compared with: the joint cubic of the same duration, or the
shortest one that keeps the limits.

A cubic jumps into its acceleration, which no limit on jerk or torque rate allows at any duration.
Where it keeps all other limits it stays the comparison (it costs less than any smoother one) and
the note says so; else the joint quintic stands for it, which starts gently."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.interpolate import make_interp_spline

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, Margin, margins
from armature.optimize.certificate.clearance import sampled_heights
from armature.optimize.certificate.solution import Baseline
from armature.optimize.scaling.time_scaling import time_scaling
from armature.optimize.transcription.loop_move import LoopMove
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.scene.floor import LIMIT
from armature.simulate.ledger import drive_signals, ledger

Shape = Callable[[MoveProblem, float], Trajectory]
LONGEST = 20.0  # times the plan's duration up to which a feasible motion is looked for
RATES = ("jerk", "torque rate")
JUMPS = (
    "which starts with a jump of acceleration, more than the limits of jerk or torque rate allow"
)


def baseline(problem: MoveProblem, duration: float) -> Baseline:
    """The joint cubic of the same duration, or, where that breaks limits, the shortest joint cubic
    or quintic that keeps them."""
    cubic = _cubic(problem, duration)
    broken = {m.limit for m in _broken(problem.robot, cubic)}
    gentle = _gentle(problem.robot)
    if broken <= (set(RATES) if gentle else set()):
        return _counted(problem, cubic, not gentle, JUMPS if gentle else "", "joint cubic")
    shape, name = (_quintic, "joint quintic") if gentle else (_cubic, "joint cubic")
    slower, why = _slowed(problem, duration, shape)
    if slower is None:
        return _counted(problem, cubic, False, why, "joint cubic")
    return _counted(
        problem,
        slower,
        True,
        f"of {slower.duration:.4g} s: at {duration:.4g} s the cubic breaks limits",
        name,
    )


def _counted(
    problem: MoveProblem, motion: Trajectory, feasible: bool, note: str, name: str
) -> Baseline:
    robot = problem.robot
    below = through_floor(robot, motion)
    if below:
        feasible, note = False, f"{note}; {below}" if note else below
    return Baseline(
        drive_signals(robot, motion),
        ledger(robot, motion, problem.driven.supply),
        feasible,
        note,
        name,
    )


def through_floor(robot: Robot, motion: Trajectory) -> str:
    """How deep a motion goes through the robot's floor, in words; empty where it does not."""
    low = min(sampled_heights(robot, motion.t, motion.q), key=lambda h: h.height, default=None)
    return (
        f"which goes {-low.height:.3g} m through the floor ({low.link})"
        if low is not None and low.height < -1e-3
        else ""
    )


def _gentle(robot: Robot) -> bool:
    """Whether accelerations must start from nothing."""
    limits = bounds(robot)
    return bool(np.isfinite([limits.jerk, limits.torque_rate]).any())


def _cubic(problem: MoveProblem, duration: float) -> Trajectory:
    scaled = replace(problem, move=stretched(problem.move, duration, problem.duration))
    return scaled.straight


def _quintic(problem: MoveProblem, duration: float) -> Trajectory:
    """The spline of fifth degree through via points, without acceleration at its ends and where the
    task gives a velocity."""
    scaled = replace(problem, move=stretched(problem.move, duration, problem.duration))
    free = scaled.inside if isinstance(scaled, LoopMove) else scaled
    t, at, speeds = free.times, [0, *free.knots], free.speeds
    q, v, a = (np.empty((len(t), free.robot.n)) for _ in range(3))
    for i, j in itertools.pairwise(speeds):
        part, ends = (
            slice(at[i], at[j] + 1),
            [[(1, speeds[k]), (2, 0.0 * speeds[k])] for k in (i, j)],
        )
        curve = make_interp_spline(t[at[i : j + 1]], free.points[i : j + 1], k=5, bc_type=ends)
        q[part], v[part], a[part] = (curve(t[part], k) for k in range(3))
    return Trajectory(
        t,
        *(scaled.completed(q, v, a) if isinstance(scaled, LoopMove) else (q, v, a)),
        problem.robot.joint_names,
    )


def stretched(move: Move, duration: float, old: float) -> Move:
    """The same move in another duration, passing times in proportion."""
    via = tuple(replace(v, at=None if v.at is None else v.at * duration / old) for v in move.via)
    return replace(move, duration=duration, via=via)


def _slowed(problem: MoveProblem, duration: float, shape: Shape) -> tuple[Trajectory | None, str]:
    """The shortest motion of a shape from this duration on that keeps all limits, or None and
    why."""
    if problem.moving:
        return _searched(problem, duration, shape)  # another duration is another shape then
    found = time_scaling(problem.robot, shape(problem, duration), samples=200)
    longer = [max(duration, low) for low, high in found.intervals if high >= duration]
    if not longer:
        return (
            None,
            (
                "which breaks limits at any duration from this one on"
                if found.ok
                else f"which breaks limits: {found.message}"
            ),
        )
    return shape(problem, longer[0] * (1 + 1e-6)), ""


def _searched(problem: MoveProblem, duration: float, shape: Shape) -> tuple[Trajectory | None, str]:
    """The shortest of a range of durations, to 5 %."""
    for T in duration * np.geomspace(1.0, LONGEST, 60):
        motion = shape(problem, float(T))
        if not _broken(problem.robot, motion):
            return motion, ""
    return None, "which breaks limits at any duration up to twenty times this one"


def _broken(robot: Robot, motion: Trajectory) -> list[Margin]:
    """The limits that a motion breaks, whatever floor it goes through: no other duration helps
    there."""
    return [
        m
        for row in margins(robot, motion, 4).values()
        for m in row.values()
        if m.fraction < -ALLOWED and m.limit != LIMIT
    ]
