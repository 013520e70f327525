"""`minimize_energy`: the motion of a given duration that costs the least energy (B2, B5)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.answer import check_task, solution
from armature.optimize.carry import Known
from armature.optimize.certify import MEANS, Margin, margins
from armature.optimize.diagnose import between_knots, coolest, diagnose
from armature.optimize.driven import Weights
from armature.optimize.dry import advice
from armature.optimize.follow_path import FollowPath
from armature.optimize.forbidden import forbidden
from armature.optimize.interior import Options
from armature.optimize.least_along import least_energy_along
from armature.optimize.loop_move import move_problem
from armature.optimize.min_time import unsearched
from armature.optimize.move import MoveProblem
from armature.optimize.passing import plan_passing
from armature.optimize.plan import EXACT, IDLE, Attempt, Planner
from armature.optimize.quick_time import shortest
from armature.optimize.refine import ENOUGH, FINEST, drawn_in_there, finer_problem
from armature.optimize.result import Iteration
from armature.optimize.solution import Solution
from armature.optimize.task import Move
from armature.robot.model import Robot

FLAT, SWINGING = 1e-3, 1e-4  # parts of the energy left to gain at which a plan is good enough, where it only flows out, and to and fro
AFTER_ALL = 0.3  # seconds of computing that are spent on what will not succeed, to have something to look at
DOUBTFUL = 0.4  # the same where the duration asked for is a little below the shortest motion's
LOOK = 0.8  # seconds of computing, about, to find the shortest motion
USED_UP = 0.05  # what is left of the limit of a mean that is in the way
NEARLY = 0.02  # violation, as a fraction of the limit, of a motion that is worth a search
DRAWS = 8  # times that a limit is drawn in at most
ASTRAY = 5.0  # times what was exceeded before
CLEARLY = 0.97  # of the shortest motion found: below this the search is given up


def minimize_energy(
    robot: Robot,
    task: Move | FollowPath,
    supply: Any = None,
    knots: int = 100,
    guess: Trajectory | Solution | None = None,
    deadline: float | None = None,
    callback: Callable | None = None,
    options: Options | None = None,
    thorough: bool = False,
) -> Solution:
    """The motion of the task's duration that costs the least energy, within all limits of joints and drives; along a path for a FollowPath.

    supply: "regenerative" (energy that comes back counts), "non-regenerative" (each axis burns it), or a supply or Bus object; by
    default the robot's own, else regenerative.  knots: steps in time.  guess: a motion to start from, the joint cubic by default; an
    earlier Solution of a neighbouring task gives its multipliers too, which makes planning again quick.
    deadline: seconds after which the best motion so far is returned.  callback: called with every iteration; a true answer stops.
    thorough: search on for motions in which dry friction holds joints that hardly move, ten times as long; `notes` say where it may pay.
    Where a limit is exceeded between knots by more than 1e-3 of itself, the plan is refined and it is said in `notes`.
    """
    if isinstance(task, FollowPath):
        return least_energy_along(robot, task, supply, knots=knots, deadline=deadline, callback=callback, options=options)
    check_task(robot, task)
    begin = time.perf_counter()
    problem = move_problem(robot, task, supply, knots)
    diagnosis = forbidden(robot, task)
    if diagnosis is not None:
        return solution(unsearched(problem), diagnosis, [], time.perf_counter() - begin)
    watch = Watch(problem, callback)
    ends = None if deadline is None else begin + deadline
    planner = Planner(Weights(energy=1.0), options or near_enough(problem), watch, ends, thorough=thorough)
    known = Known(guess.result, guess.trajectory) if isinstance(guess, Solution) else guess
    best, notes = plan_passing(planner, problem) if known is None else planner.plan(problem, known)
    if not best.ok and not planner.late and not watch.stopped:
        fastest, cool = watch.look(), None
        if fastest.ok and fastest.motion.duration <= problem.duration:
            best, notes = planner.plan(problem, fastest.motion)
        if not best.ok and not planner.late and heated(problem, fastest):
            cool = coolest(problem, fastest.motion if fastest.ok else None)
            best, notes = planner.plan(problem, cool.motion) if cool.ok and keeps_limits(cool) else (best, notes)
        diagnosis = None if best.ok else diagnose(best, fastest, cool)
    if best.ok:
        best, notes = repaired(planner, best, notes)
        diagnosis = between_knots(best)
        notes = [*notes, *filter(None, [] if thorough else [advice(best)])]
    found = solution(best, diagnosis, notes, time.perf_counter() - begin)
    if thorough and found.ok and not planner.late and not found.certificate.ok:
        # joints that hardly move in narrow corners may not be followed exactly: by more knots they are, or the quick motion is taken
        told = f"with {knots} knots, the motion of the thorough search did not pass its certificate"
        for more, search in ((2 * knots, True), (knots, False)):
            other = minimize_energy(robot, task, supply, more, guess, planner.left(), callback, options, search and more <= FINEST)
            if other.ok and other.certificate.ok:
                return replace(other, notes=(*other.notes, told))
    return found


def heated(problem: MoveProblem, fastest: Attempt) -> bool:
    """Whether limits of means may be in the way: where the shortest motion is known, if it uses up one of them, nearly."""
    if not problem.driven.means or not fastest.ok:
        return bool(problem.driven.means)
    found = margins(problem.robot, fastest.motion, 4)
    return any(m.limit in MEANS and m.fraction < USED_UP for row in found.values() for m in row.values())


def near_enough(problem: MoveProblem) -> Options:
    """How exactly a plan is solved for: with slacks, where a supply gives and does not take, the cost is flat and known to a per mille."""
    return replace(EXACT, centred=True, accuracy=FLAT if problem.driven.shape.slacks else SWINGING)


def keeps_limits(attempt: Attempt) -> bool:
    """Whether a motion keeps all limits, nearly."""
    return attempt.worst is None or attempt.worst.fraction >= -NEARLY


def repaired(planner: Planner, best: Attempt, notes: list[str]) -> tuple[Attempt, list[str]]:
    """A plan whose refinement ended too early: limits that it exceeds between knots are drawn in, as often as need be."""
    for _ in range(DRAWS):
        worst = best.worst
        if worst is None or worst.fraction >= -ENOUGH or planner.late:
            break
        there = np.ndim(best.problem.tighter.get(f"{worst.limit} of {worst.joint}", 1.0))
        finer, note = drawn_in_there(best, worst) if there else finer_problem(best.problem, worst, math.inf)
        # limits of means have been tried from this motion
        motions = (None,) if worst.limit in MEANS else (best.motion, None)
        tried = (planner.best(finer, motion) for motion in motions) if note else ()
        better = next((attempt for attempt in tried if attempt.ok and not farther(attempt, worst)), None)
        if better is None or (worst.limit in MEANS and better.worst is not None and better.worst.fraction < worst.fraction + IDLE):
            break
        best, notes = better, [*notes, note]
    return best, notes


def farther(attempt: Attempt, worst: Margin) -> bool:
    """Whether a motion exceeds a limit by far more than another one does: the search has gone astray."""
    return attempt.worst is not None and attempt.worst.fraction < ASTRAY * worst.fraction


class Watch:
    """Follows a search: when its rows begin to stretch, it looks for the shortest motion, and where that takes clearly longer ends it."""

    def __init__(self, problem: MoveProblem, callback: Callable | None) -> None:
        self.problem, self.callback, self.stopped = problem, callback, False
        self.fastest: Attempt | None = None
        self.until = math.inf

    def look(self) -> Attempt:
        """The shortest motion, found when first asked for."""
        if self.fastest is None:
            self.fastest = shortest(replace(self.problem, N=min(self.problem.N, 50)), LOOK, self.callback)
            part = self.problem.duration / self.fastest.motion.duration if self.fastest.ok else math.inf
            self.until = time.thread_time() + (AFTER_ALL if part < CLEARLY else DOUBTFUL if part < 1.0 else math.inf)
        return self.fastest

    def __call__(self, line: Iteration) -> bool:
        """True ends the search."""
        self.stopped = self.stopped or bool(self.callback and self.callback(line))
        if line.elastic and not self.stopped:
            self.look()
        return self.stopped or time.thread_time() > self.until
