"""`minimize_energy`: the motion of a given duration that costs the least energy (B2, B5)."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.certify import ALLOWED, margins
from armature.optimize.driven import Weights
from armature.optimize.interior import Options, solve
from armature.optimize.move import MoveProblem, check_ends
from armature.optimize.result import Result
from armature.optimize.solution import Baseline, Diagnosis, Solution
from armature.optimize.task import Move
from armature.robot.model import Robot
from armature.simulate.ledger import drive_signals, ledger

FINEST = 800  # knots up to which a plan is refined


def minimize_energy(
    robot: Robot,
    task: Move,
    supply: Any = None,
    knots: int = 100,
    guess: Trajectory | None = None,
    deadline: float | None = None,
    callback: Any = None,
    options: Options | None = None,
) -> Solution:
    """The motion of the task's duration that costs the least energy, within all limits of joints and drives.

    supply: "regenerative" (energy that comes back counts), "non-regenerative" (each axis burns it), or a supply or Bus object; by
    default the robot's own, else regenerative.  knots: steps in time.  guess: a motion to start from, the joint cubic by default.
    deadline: seconds after which the best motion so far is returned.  callback: called with every iteration; a true answer stops.
    Where a limit is exceeded between knots by more than 1e-3 of itself, the knots are doubled and it is said in `notes`.
    """
    _check(robot, task)
    begin = time.perf_counter()
    problem = MoveProblem(robot, task, supply, knots)
    outside = check_ends(robot, problem.ends)
    weights = Weights(energy=1.0)
    left = lambda: None if deadline is None else max(0.0, deadline - (time.perf_counter() - begin))
    result = solve(problem.problem(weights), problem.guess(guess), options, callback, left())
    notes: list[str] = []
    motion = problem.trajectory(result)
    while result.ok and problem.N < FINEST and (worst := _worst(robot, motion)) is not None and worst.fraction < -ALLOWED:
        notes.append(f"refined from {problem.N} to {2 * problem.N} knots: between knots {worst}")
        problem = replace(problem, N=2 * problem.N)
        result = solve(problem.problem(weights), problem.guess(motion), options, callback, left())
        motion = problem.trajectory(result)
    diagnosis = Diagnosis(outside, remedy="Choose an end inside its range.") if outside else diagnose(problem, result)
    return solution(problem, result, motion, diagnosis, notes, time.perf_counter() - begin)


def solution(
    problem: MoveProblem, result: Result, motion: Trajectory, diagnosis: Diagnosis | None, notes: list[str], seconds: float
) -> Solution:
    """Everything that is said about a planned motion, but its certificate."""
    robot, supply = problem.robot, problem.driven.supply
    account = ledger(robot, motion, supply)
    return Solution(
        robot, supply, result.status, drive_signals(robot, motion), baseline(problem, motion.duration), account, result, diagnosis,
        tuple(notes), seconds,
    )  # fmt: skip


def baseline(problem: MoveProblem, duration: float) -> Baseline:
    """The joint cubic of the same duration, or, where that breaks limits, slowed down until it keeps them."""
    robot = problem.robot
    cubic = _cubic(problem, duration)
    feasible = not _breaks(robot, cubic)
    note = ""
    if not feasible:
        slower = _slowed(problem, duration)
        if slower is not None:
            cubic, feasible = slower, True
            note = f"of {slower.duration:.4g} s: at {duration:.4g} s the cubic breaks limits"
        else:
            note = "which breaks limits at any duration up to twenty times this one"
    return Baseline(drive_signals(robot, cubic), ledger(robot, cubic, problem.driven.supply), feasible, note)


def _cubic(problem: MoveProblem, duration: float) -> Trajectory:
    scaled = replace(problem, move=_stretched(problem.move, duration, problem.duration))
    t = np.concatenate([[0.0], np.cumsum(scaled.steps(duration))])
    return Trajectory(t, *scaled.cubic(t), problem.robot.joint_names)


def _stretched(move: Move, duration: float, old: float) -> Move:
    via = tuple(replace(v, at=None if v.at is None else v.at * duration / old) for v in move.via)
    return replace(move, duration=duration, via=via)


def _slowed(problem: MoveProblem, duration: float) -> Trajectory | None:
    """The shortest of a range of durations, to 1 %, at which the cubic keeps all limits."""
    good = next((T for T in duration * np.geomspace(1.05, 20.0, 24) if not _breaks(problem.robot, _cubic(problem, T))), None)
    if good is None:
        return None
    low, high = max(duration, good / 1.2), float(good)
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if not _breaks(problem.robot, _cubic(problem, middle)) else (middle, high)
    return _cubic(problem, high)


def _worst(robot: Robot, motion: Trajectory):
    return min((m for row in margins(robot, motion).values() for m in row.values()), key=lambda m: m.fraction, default=None)


def _breaks(robot: Robot, motion: Trajectory) -> bool:
    worst = min((m for row in margins(robot, motion, finer=2).values() for m in row.values()), key=lambda m: m.fraction, default=None)
    return worst is not None and worst.fraction < -ALLOWED


def diagnose(problem: MoveProblem, result: Result) -> Diagnosis | None:
    """Which limit stands in the way, by how much, and what would help."""
    if result.ok:
        return None
    if not result.violations:
        return Diagnosis(result.status.value, remedy="Try another starting motion (guess=…) or more knots.")
    worst = result.violations[0]
    time_of = None if worst.knot is None else float(problem.trajectory(result).t[min(worst.knot, problem.N)])
    when = "" if time_of is None else f" at t = {time_of:.4g} s"
    sentence = f"No motion of {problem.duration:.4g} s was found: {worst.name} is exceeded by {worst.amount:.3g}{when} at best."
    return Diagnosis(
        sentence, worst.name, worst.name.rpartition(" of ")[2], time_of, worst.amount, "Allow more time (minimize_time tells how much)."
    )


def _check(robot: Robot, task: Move) -> None:
    if not isinstance(task, Move):
        raise ArgumentError(f"the task must be an arm.Move, got {type(task).__name__}")
    if task.duration is None:
        raise ArgumentError("a least-energy motion needs a duration: arm.Move(start, goal, duration=…); minimize_time finds the shortest")
    if not robot.drives:
        raise ArgumentError(f"robot {robot.name!r} has no drives, so no energy can be counted; add them with robot.with_drives(...)")
