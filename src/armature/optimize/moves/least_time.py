"""`minimize_time`: the shortest motion between two configurations (B7); the duration is an unknown
of the solver."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armature.drive import as_supply
from armature.errors import ArgumentError, check_count
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Solution
from armature.optimize.diagnosis.explain import explain
from armature.optimize.diagnosis.forbidden import forbidden
from armature.optimize.moves.answer import check_search, check_task, refused, solution
from armature.optimize.moves.given import no_worse
from armature.optimize.moves.nearby import larger, shrunk
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.least_along import least_time_along
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.floor import move_ground, planned_above
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.planner.settings import SETTINGS, Settings
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.seam import worker

ANY = "regenerative"  # the supply does not matter for the time: the simplest one is solved with
CHOSEN = "the passing times that the task gives are left free: the shortest motion chooses its own"


@interruptible
def minimize_time(
    robot: Robot,
    task: Move | FollowPath,
    knots: int = 100,
    guess: Trajectory | Solution | None = None,
    starts: int | None = None,
    deadline: float | None = None,
    callback: Callable | None = None,
    options: Options | None = None,
    supply: Any = None,
) -> Solution:
    """The shortest motion of the task, within all limits of joints and drives; a duration in the
    task is only a first guess, and passing times of via points are left free.

    knots: steps in time, at least.  guess: a motion or an earlier Solution to start from, besides
    the others.  starts: how many starting motions lead to a first branch (the joint cubic, and the
    shortest of motions that a direct search finds, planner/shapes.py).  deadline: seconds after
    which the best so far is returned.
    supply: what energy, ledger, baseline and saving of the motion are counted with, as in
    `minimize_energy`.  callback: called with every iteration; a true answer stops.
    """
    check_search(deadline, callback, options)
    check_count(starts, "starts")
    if isinstance(task, FollowPath):
        return least_time_along(
            robot, task, supply, knots=knots, deadline=deadline, callback=callback, options=options
        )
    if isinstance(task, Move) and task.scene is not None:
        search = {"knots": knots, "guess": guess, "deadline": deadline, "callback": callback}
        return worker("Move.scene")(robot, task, None, "time", supply, **search)
    check_task(robot, task, timed=False, counted=False)
    task = task.in_joints(robot)
    if stays(robot, task):
        raise ArgumentError(
            "start and goal are the same, at rest, with nothing between: the least time is 0; give"
            " a via point for a cycle"
        )
    if unlimited(robot):
        raise ArgumentError(
            f"nothing limits how fast robot {robot.name!r} moves: the least time is 0; give its"
            " joints limits (robot.with_limits), or its motors and amplifiers their currents and"
            " voltages"
        )
    begin = time.perf_counter()
    counted = as_supply(supply if supply is not None else robot.supply)
    floor = move_ground(robot, task)
    diagnosis = forbidden(robot, task, search=False) or floor.below
    if diagnosis is not None:
        problem = posed(robot, task, counted, knots)
        return refused(problem, diagnosis, time.perf_counter() - begin)
    known = guess.trajectory if isinstance(guess, Solution) else guess

    def plan(robot: Robot, left: float | None) -> Solution:
        began = time.perf_counter()
        settings = SETTINGS if starts is None else with_starts(starts)
        pipeline = Pipeline(
            Weights(time=1.0), callback, None if left is None else began + left, settings
        )
        return least_time(pipeline, robot, task, counted, knots, known)

    return no_worse(planned_above(robot, floor, plan, deadline), task, guess, timed=True)


def least_time(
    pipeline: Pipeline, robot: Robot, task: Move, counted: Any, knots: int, guess: Trajectory | None
) -> Solution:
    """The shortest motion of a move that is possible by itself. counted: the supply of its
    energy."""
    begin = time.perf_counter()
    if guess is None and (near := larger(robot, task)) is not None:
        large = least_time(pipeline, *near[:2], counted, knots, None)
        problem = posed(robot, replace(task, via=untimed(task)), counted, knots, free=True)
        small = shrunk(problem, large, near[2])
        told = large.diagnosis if small.runs else large.diagnosis or explain(pipeline, small, None)
        return solution(small, told, list(large.notes), time.perf_counter() - begin)
    problem = posed(robot, replace(task, via=untimed(task)), ANY, knots, free=True)
    best = pipeline.least_time(problem, guess)
    diagnosis = None if best.runs else explain(pipeline, best, None)
    best = replace(best, problem=replace(best.problem, supply=counted))
    notes = [CHOSEN] if any(via.at is not None for via in task.via) else []
    return solution(best, diagnosis, notes, time.perf_counter() - begin)


def shortest_motion(pipeline: Pipeline, problem: MoveProblem) -> Attempt:
    """The shortest motion of a task that gives a duration, by a search with the same deadline."""
    move = replace(problem.move, via=untimed(problem.move))
    free = posed(problem.robot, move, ANY, problem.N, free=True)
    return replace(pipeline, weights=Weights(time=1.0)).least_time(free)


def with_starts(count: int) -> Settings:
    """The settings for so many starting motions in all."""
    short = min(count - 1, SETTINGS.short)
    return replace(SETTINGS, short=short, bends=min(count - 1 - short, SETTINGS.bends))


def untimed(move: Move) -> tuple:
    """Via points with passing times left free: the shortest motion chooses them."""
    return tuple(replace(via, at=None) for via in move.via)


def stays(robot: Robot, task: Move) -> bool:
    """Whether nothing has to move."""
    ends = task.vectors(robot)
    return not task.via and np.array_equal(ends.q0, ends.q1) and not np.any([ends.v0, ends.v1])


def unlimited(robot: Robot) -> bool:
    """Whether no joint and no drive has a limit but the ends of its range."""
    most = bounds(robot)
    rates = (most.velocity, most.acceleration, most.jerk, most.torque, most.torque_rate)
    return not robot.drivetrain.limits() and not np.isfinite(rates).any()
