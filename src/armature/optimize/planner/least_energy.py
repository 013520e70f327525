"""`minimize_energy`: the motion of a given duration that costs the least energy (B2, B5)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Solution
from armature.optimize.diagnosis.forbidden import forbidden
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.least_along import least_energy_along
from armature.optimize.planner.accelerations import with_inferred
from armature.optimize.planner.answer import arrives, check_search, check_task, solution
from armature.optimize.planner.baseline import baseline
from armature.optimize.planner.conclude import Watch, concluded
from armature.optimize.planner.dry import advice, narrow_corners
from armature.optimize.planner.effort import spent
from armature.optimize.planner.floor import move_ground, planned_above
from armature.optimize.planner.given import no_worse
from armature.optimize.planner.min_time import unsearched
from armature.optimize.planner.passing import plan_passing
from armature.optimize.planner.pipeline import Pipeline, rounds_corners, smoothed_move
from armature.optimize.planner.plan import EXACT, Planner
from armature.optimize.planner.refine import FINEST
from armature.optimize.planner.smoothness import Smoother
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import Known
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.scene.floor import LIMIT

LONGEST = 15.0  # seconds of computing, about, after which the cheapest motion met that keeps all limits is the plan
REFUSED = ("acceleration", LIMIT)  # limits for whose sake a move is planned again without inferred limits of acceleration
WITHOUT = "no limits of acceleration: with those inferred from the drives there is no plan"
FLAT, SWINGING = 1e-3, 1e-4  # parts of the energy left to gain at which a plan is good enough, where it only flows out, and to and fro


@interruptible
def minimize_energy(
    robot: Robot,
    task: Move | FollowPath,
    supply: Any = None,
    knots: int = 100,
    guess: Trajectory | Solution | None = None,
    deadline: float | None = None,
    callback: Callable | None = None,
    options: Options | None = None,
    thorough: bool | None = None,
) -> Solution:
    """The motion of the task's duration that costs the least energy, within all limits of joints and drives; along a path for a FollowPath.

    supply: "regenerative" (energy that comes back counts), "non-regenerative" (each axis burns it), or a supply or Bus object; by
    default the robot's own, else regenerative.  knots: steps in time.  guess: a motion to start from, the joint cubic by default; an
    earlier Solution of a neighbouring task gives its multipliers too, which makes planning again quick.
    deadline: seconds after which the best motion so far is returned.  callback: called with every iteration; a true answer stops.
    Where the task seems to be impossible and the search goes on, the iterations' `note` tells it, with a duration that will do.
    thorough: search on for motions in which dry friction holds joints that hardly move, ten times as long, by the older search. By default
    only where the pipeline does not plan (pipeline.py), it may save over 2 % and there is no guess; `notes` say where it may pay else.
    A move's smoothness gives up a part of the saving for less jerk (smoothness.py); `energy` is the motion's own, exactly counted.
    Where a limit is exceeded between knots by more than 1e-3 of itself, the plan is refined and it is said in `notes`.
    """
    check_search(deadline, callback, options)
    if isinstance(task, FollowPath):
        return least_energy_along(robot, task, supply, knots=knots, deadline=deadline, callback=callback, options=options)
    check_task(robot, task)
    begin = time.perf_counter()
    task = task.in_joints(robot)
    slower, said = with_inferred(robot, task)
    found = planned(slower, task, said, supply, knots, guess, deadline, callback, options, thorough)
    if guess is not None and not task.smoothness:
        found = no_worse(found, task, guess, timed=False)
    if slower is robot or found.diagnosis is None or found.diagnosis.limit not in REFUSED:
        return found
    left = None if deadline is None else max(begin + deadline - time.perf_counter(), 0.0)
    return planned(robot, task, WITHOUT, supply, knots, guess, left, callback, options, thorough)


def planned(
    robot: Robot, task: Move, said: str, supply: Any, knots: int, guess: Trajectory | Solution | None, deadline: float | None,
    callback: Callable | None, options: Options | None, thorough: bool | None,
) -> Solution:  # fmt: skip
    """The plan of a move of a robot with all its limits; arguments as for `minimize_energy`. said: the first of its notes, if any."""
    begin = time.perf_counter()
    floor = move_ground(robot, task)
    diagnosis = forbidden(robot, task) or floor.below
    if diagnosis is not None:
        return solution(unsearched(move_problem(robot, task, supply, knots)), diagnosis, [], time.perf_counter() - begin)
    plan = lambda robot, left: least_energy(robot, task, supply, knots, guess, left, callback, options, thorough, said)
    return planned_above(robot, floor, plan, deadline)


def least_energy(
    robot: Robot,
    task: Move,
    supply: Any,
    knots: int,
    guess: Trajectory | Solution | None,
    deadline: float | None,
    callback: Callable | None,
    options: Options | None,
    thorough: bool | None,
    said: str = "",
) -> Solution:
    """The plan of a move that is possible by itself, with the robot's own floor, if it has one; arguments as in `minimize_energy`.

    said: the first of its notes, if any."""
    begin = time.perf_counter()
    if not thorough and options is None and (quick := by_pipeline(robot, task, supply, knots, guess, deadline, callback, said)) is not None:
        return quick
    problem = move_problem(robot, task, supply, knots)
    watch = Watch(problem, callback, guess.trajectory if isinstance(guess, Solution) else guess)
    ends = None if deadline is None else begin + deadline
    search_on = thorough if thorough is not None or guess is None else False
    budget = None if thorough else spent() + LONGEST
    planner = Planner(Weights(energy=1.0), options or near_enough(problem), watch, ends, budget, search_on, met=watch.met)
    known = Known(guess.result, guess.trajectory) if isinstance(guess, Solution) else guess
    search = lambda: plan_passing(planner, problem) if known is None else planner.plan(problem, known)
    best, notes, diagnosis = concluded(planner, watch, search)
    notes = [*filter(None, [said]), *notes, *filter(None, [advice(best, search_on)])] if best.ok else notes
    compare = baseline(best.problem, best.motion.duration) if best.ok and diagnosis is None and task.smoothness else None
    if compare is not None:
        best = Smoother(replace(planner, callback=callback, budget=None, met=None), task.smoothness)(best, compare.ledger.energy)
    found = solution(best, diagnosis, notes, time.perf_counter() - begin, compare)
    refused = not found.ok and not watch.possible
    if refused or search_on is False or not narrow_corners(best) or planner.late or (found.ok and found.certificate.ok):
        return found
    # joints that hardly move in narrow corners may not be followed exactly: by more knots they are, or the quick motion is taken
    told = f"with {knots} knots, the motion of the thorough search did not pass its certificate"
    for more, search_on in ((2 * knots, True), (knots, False)) if thorough else ((knots, False),):
        deeper = search_on and more <= FINEST
        other = least_energy(robot, task, supply, more, guess, planner.left(), callback, options, deeper, said)
        if other.ok and other.certificate.ok:
            return replace(other, notes=(*other.notes, told), seconds=time.perf_counter() - begin)
    return found


def by_pipeline(
    robot: Robot, task: Move, supply: Any, knots: int, guess: Trajectory | Solution | None, deadline: float | None,
    callback: Callable | None, said: str,
) -> Solution | None:  # fmt: skip
    """The plan by the pipeline; None where it does not apply or finds no motion within all limits."""
    begin = time.perf_counter()
    if not rounds_corners(robot, supply):
        return None
    move = smoothed_move(robot, task, supply, knots)
    weights, ends = Weights(energy=1.0), None if deadline is None else begin + deadline
    known = Known(guess.result, guess.trajectory) if isinstance(guess, Solution) else guess
    best = Pipeline(weights, callback, ends).least_energy(move, known)
    if not best.runs or not arrives(best):
        return None
    compare = baseline(best.problem, best.motion.duration) if task.smoothness else None
    if compare is not None:
        best = Smoother(Planner(weights, near_enough(move), callback, ends), task.smoothness)(best, compare.ledger.energy)
    return solution(best, None, [*filter(None, [said])], time.perf_counter() - begin, compare)


def near_enough(problem: MoveProblem) -> Options:
    """How exactly a plan is solved for: with slacks, where a supply gives and does not take, the cost is flat and known to a per mille."""
    return replace(EXACT, centred=True, accuracy=FLAT if problem.driven.shape.slacks else SWINGING)
