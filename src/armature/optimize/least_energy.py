"""`minimize_energy`: the motion of a given duration that costs the least energy (B2, B5)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from armature.motion.trajectory import Trajectory
from armature.optimize.answer import check_task, solution
from armature.optimize.diagnose import diagnose, forbidden
from armature.optimize.driven import Weights
from armature.optimize.follow_path import FollowPath
from armature.optimize.interior import Options
from armature.optimize.least_along import least_energy_along
from armature.optimize.min_time import shortest
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Planner
from armature.optimize.solution import Solution
from armature.optimize.task import Move
from armature.robot.model import Robot

AFTER_ALL = 1.0  # seconds that are spent on what will not succeed, to tell what would


def minimize_energy(
    robot: Robot,
    task: Move | FollowPath,
    supply: Any = None,
    knots: int = 100,
    guess: Trajectory | None = None,
    deadline: float | None = None,
    callback: Callable | None = None,
    options: Options | None = None,
) -> Solution:
    """The motion of the task's duration that costs the least energy, within all limits of joints and drives; along a path for a FollowPath.

    supply: "regenerative" (energy that comes back counts), "non-regenerative" (each axis burns it), or a supply or Bus object; by
    default the robot's own, else regenerative.  knots: steps in time.  guess: a motion to start from, the joint cubic by default.
    deadline: seconds after which the best motion so far is returned.  callback: called with every iteration; a true answer stops.
    Where a limit is exceeded between knots by more than 1e-3 of itself, the plan is refined and it is said in `notes`.
    """
    if isinstance(task, FollowPath):
        return least_energy_along(robot, task, supply, knots=knots, deadline=deadline, callback=callback, options=options)
    check_task(robot, task)
    begin = time.perf_counter()
    problem = MoveProblem(robot, task, supply, knots)
    planner = Planner(Weights(energy=1.0), options or Options(iterations=200), callback, None if deadline is None else begin + deadline)
    diagnosis = forbidden(robot, problem.ends)
    if diagnosis is not None:
        planner = replace(planner, deadline=min(planner.deadline or math.inf, begin + AFTER_ALL))
    best, notes = planner.plan(problem, guess)
    if not best.ok and diagnosis is None and not planner.late:
        fastest = shortest(replace(problem, N=min(knots, 50)), AFTER_ALL)
        if fastest.ok and fastest.motion.duration <= problem.duration:
            best, notes = planner.plan(problem, fastest.motion)
        diagnosis = None if best.ok else diagnose(best, fastest)
    return solution(best, diagnosis, notes, time.perf_counter() - begin)

