"""The last resort of a search for least energy: the shortest motion that keeps its limits between knots too, run in the time asked for.

Near the least time the motions of least energy run along their limits everywhere, and may zigzag between knots however they are cured. The
shortest motion is smoothed by its prices (ladder.py); run slower it needs less of everything but what holds the arm.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from armature.motion.trajectory import Trajectory
from armature.optimize.driven import Weights
from armature.optimize.effort import spent
from armature.optimize.guess import stretched
from armature.optimize.ladder import kept
from armature.optimize.min_time import COARSE, COUNTED_LATER, ROUGHLY, branches, free_problem, polished
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Attempt, Planner
from armature.optimize.result import Status

SECONDS = 3.0  # of computing, about
SLOWED = "no search for least energy ended within all limits: this is a short motion, run slower"


def short_one(planner: Planner, problem: MoveProblem, start: Trajectory | None = None) -> Attempt | None:
    """The shortest motion found soon that keeps all limits between knots; None with passing times or velocities given, or closed loops.

    start: a motion to begin with, the joint cubic by default."""
    if problem.moving or problem.robot.loops or any(via.at is not None for via in problem.move.via):
        return None
    hasty = replace(planner, weights=Weights(time=1.0), options=ROUGHLY, budget=spent() + SECONDS, met=None)
    free = free_problem(replace(problem, supply=COUNTED_LATER, free=True))
    best, _ = polished(hasty, free, branches(hasty, replace(free, N=min(free.N, COARSE)), start, 1))
    return best if best.ok and kept(best) else None


def run_in(planner: Planner, problem: MoveProblem, short: Attempt) -> Attempt | None:
    """A short motion in the time asked for; None where it breaks limits then."""
    motion = stretched(short.motion, problem.duration)
    own = replace(short.problem, supply=problem.supply, free=False, tighter={}, level={})
    own = replace(own, move=replace(own.move, duration=problem.duration))
    result = replace(short.result, status=Status.ACCEPTABLE)
    found = Attempt(own, result, motion, partial(planner.value, problem, motion), SLOWED)
    return found if found.runs else None
