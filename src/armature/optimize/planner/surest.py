"""The last resort of a search for least energy: the shortest motion that keeps its limits between knots too, run in the time asked for.

Near the least time the motions of least energy run along their limits everywhere, and may zigzag between knots however they are cured. The
shortest motion is smoothed by its prices (ladder.py); run slower it needs less of everything but what holds the arm. What `minimize_time`
can do in less time shall not be refused: where a part of its search is not enough, all of it decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from armature.motion.trajectory import Trajectory
from armature.optimize.planner.effort import spent
from armature.optimize.planner.ladder import Rung, kept
from armature.optimize.planner.min_time import COARSE, COUNTED_LATER, ROUGHLY, branches, free_problem, least_time, polished, unsearched
from armature.optimize.planner.plan import SAME, Attempt, Planner
from armature.optimize.problem.result import Status
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem

SECONDS = 3.0  # of computing, about
PATIENCE = 60.0  # the same of the whole search for the shortest motion
SLOWED = "no search for least energy ended within all limits: this is a short motion, run slower"


def short_one(planner: Planner, problem: MoveProblem) -> Attempt | None:
    """The shortest motion found soon that keeps all limits between knots; None with passing times or velocities given, or closed loops."""
    if problem.moving or problem.robot.loops or any(via.at is not None for via in problem.move.via):
        return None
    hasty = replace(planner, weights=Weights(time=1.0), options=ROUGHLY, budget=spent() + SECONDS, met=None)
    free = free_problem(replace(problem, supply=COUNTED_LATER, free=True))
    best, _ = polished(hasty, free, branches(hasty, replace(free, N=min(free.N, COARSE)), None, 1))
    return best if best.ok and kept(best) else None


def closely(problem: MoveProblem, rough: Rung, seconds: float, callback: Callable | None) -> Attempt | None:
    """The end of a branch that was found with few knots, with all of them and within all limits between them; None where that fails."""
    planner = Planner(Weights(time=1.0), ROUGHLY, callback, budget=spent() + seconds)
    best, _ = polished(planner, free_problem(replace(problem, supply=COUNTED_LATER, free=True)), rough)
    return best if best.ok and kept(best) else None


def shortest_of_all(planner: Planner, problem: MoveProblem) -> Attempt | None:
    """The shortest motion by the whole search for it; None where that finds none in time, with passing times given, or closed loops."""
    if problem.robot.loops or any(via.at is not None for via in problem.move.via):
        return None
    until = spent() + PATIENCE
    enough = lambda line: spent() > until or bool(planner.callback and planner.callback(line))
    found = least_time(problem.robot, problem.move, problem.N, None, None, planner.left(), enough, None, None, wide=True)
    own = replace(problem, supply=COUNTED_LATER, free=True, N=len(found.trajectory) - 1)
    return Attempt(own, found.result, found.trajectory, found.duration) if found.ok else None


def slow_cubic(problem: MoveProblem) -> Attempt | None:
    """The joint cubic so slow that it keeps all limits, where nothing shorter is known that does; None where no duration will do."""
    if problem.robot.loops:
        return None
    slow = replace(free_problem(replace(problem, supply=COUNTED_LATER, free=True)), free=False)
    found = unsearched(slow)
    found = replace(found, result=replace(found.result, status=Status.ACCEPTABLE), exact=slow.duration)
    return found if kept(found) else None


def run_in(planner: Planner, problem: MoveProblem, short: Trajectory, note: str = SLOWED) -> Attempt | None:
    """A short motion in the time asked for; None where it breaks limits then. note: what is said of it."""
    motion = stretched(short, problem.duration)
    if problem.moving and abs(short.duration - problem.duration) > SAME * problem.duration:
        return None
    found = as_it_is(planner, replace(problem, N=len(motion) - 1), motion)
    # what is solved with is pushed away from its bounds, which the motion itself need not be
    found = replace(found, motion=motion, exact=partial(planner.value, problem, motion), note="").anyhow()
    return replace(found, note=note) if found.ok and found.runs else None


def as_it_is(planner: Planner, problem: MoveProblem, motion: Trajectory | None = None) -> Attempt:
    """A motion, the joint cubic by default, without a search; not ok where it does not do the task within all limits."""
    return replace(planner, deadline=time.perf_counter()).attempt(problem, problem.guess(motion)).anyhow()
