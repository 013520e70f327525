"""The last step of every planner: what is said about a motion that was found, and what is refused
before the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.optimize.certificate.arrival import Target
from armature.optimize.certificate.solution import Baseline, Diagnosis, Solution
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.baseline import baseline
from armature.optimize.problem.result import Multipliers, Result, Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.loop_move import mastered
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.simulate.ledger import drive_signals


def solution(
    best: Attempt,
    diagnosis: Diagnosis | None,
    notes: list[str],
    seconds: float,
    compare: Baseline | Callable[[], Baseline] | None = None,
) -> Solution:
    """Everything that is said about a planned motion; its baseline (unless it is known) and
    certificate are made when asked for."""
    problem, motion = best.problem, best.motion
    robot, supply = problem.robot, problem.driven.supply
    return Solution(
        robot,
        supply,
        status(best, diagnosis),
        drive_signals(robot, motion),
        compare or (lambda: baseline(problem, motion.duration)),
        None,
        best.result,
        diagnosis,
        tuple(notes),
        seconds,
        targets(best),
    )


def targets(best: Attempt) -> tuple[Target, ...]:
    """Start, via points and goal of the task, with the velocities that it gives there, at the times
    at which the motion passes them."""
    problem, knots = best.problem, [0, *best.problem.knots]
    names = ["start", *(f"via point {k}" for k in range(1, len(knots) - 1)), "goal"]
    times = best.motion.t[np.array(knots) * (len(best.motion) - 1) // knots[-1]]
    places = zip(names, times, problem.points)
    return tuple(
        Target(name, float(t), q, problem.speeds.get(k)) for k, (name, t, q) in enumerate(places)
    )


def refused(problem: MoveProblem, diagnosis: Diagnosis, seconds: float) -> Solution:
    """What is said of a task that is wrong by itself: the joint cubic to look at, without a
    search."""
    motion, none = problem.straight, np.zeros(0)
    states = np.hstack([motion.q, motion.v, motion.a])
    controls = np.zeros((problem.N, 0))
    result = Result(
        Status.INFEASIBLE, states, controls, none, np.nan, none, (), (), Multipliers.none(), 0.0
    )
    return solution(Attempt(problem, result, motion, np.nan), diagnosis, [], seconds)


def status(best: Attempt, diagnosis: Diagnosis | None) -> Status:
    """How the search ended. A search of which it is known what would make the task possible found
    no motion; one that ended beside its goal did not end."""
    ended = best.result.status
    if ended.ok and not best.runs:
        return Status.INFEASIBLE if diagnosis is not None else Status.STALLED
    given_up = ended in (Status.INTERRUPTED, Status.ITERATIONS, Status.STALLED)
    known = diagnosis is not None and diagnosis.known
    return Status.INFEASIBLE if given_up and known else ended


def check_task(robot: Robot, task: Move, timed: bool = True, counted: bool = True) -> None:
    """Refuse what cannot be planned, with words. timed: a duration is needed.  counted: energy is
    minimised, so drives are needed."""
    if not isinstance(robot, Robot):
        raise ArgumentError(
            f"the robot must be an arm.Robot, got {type(robot).__name__}; arm.load(file) or"
            " arm.library(name) gives one"
        )
    if not isinstance(task, Move):
        raise ArgumentError(f"the task must be an arm.Move, got {type(task).__name__}")
    if task.scene is not None:
        raise ArgumentError(
            "the move has a scene, which this does not go around yet; minimize_time and"
            " minimize_energy do (leave it out: dataclasses.replace(move, scene=None))"
        )
    if timed and task.duration is None:
        raise ArgumentError(
            "a least-energy motion needs a duration: arm.Move(start, goal, duration=…);"
            " minimize_time finds the shortest"
        )
    if not robot.drives and counted:
        raise ArgumentError(
            f"robot {robot.name!r} has no drives, so no energy can be counted; add them with"
            " robot.with_drives(...). To begin with, `armature init folder --robot file` writes a"
            " drives.yaml of motors from the catalogue that are about the right size"
        )
    if robot.loops:
        mastered(robot, task)
    elif robot.drives and not all(robot.drivetrain.driven):
        name = robot.joint_names[robot.drivetrain.driven.index(False)]
        raise ArgumentError(
            f"joint {name!r} has no drive and nothing holds it, so that few motions can be planned"
            f" in advance; give it a drive, hold it (robot.with_held({{{name!r}: 0.0}})), or"
            " optimise torques by forward dynamics: see docs/solver.md"
        )


def check_search(deadline: Any = None, callback: Any = None, options: Any = None) -> None:
    """Refuse settings of a search that are none, with words."""
    number = isinstance(deadline, int | float | np.number) and not isinstance(deadline, bool)
    if deadline is not None and not (number and deadline >= 0):
        raise ArgumentError(
            f"deadline = {deadline!r} must be a number of seconds, 0 or more, or None"
        )
    if callback is not None and not callable(callback):
        raise ArgumentError(
            f"callback = {callback!r} cannot be called; give a function of an iteration, a true"
            " answer stops the search"
        )
    if options is not None and not isinstance(options, Options):
        raise ArgumentError(
            f"options = {options!r} are none; give an Options of armature.optimize.solver.interior"
        )
