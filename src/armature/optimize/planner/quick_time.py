"""The least time of a move to about 1 %, in a fraction of a second: what a task that is too short is told.

The joint cubic leads down the prices of jerk (min_time.py) to the end of its branch; gears' corners are narrowed on the way. Whether
another branch is clearly shorter is asked with coarse knots from detours of every joint: those searches end when their rows stretch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.planner.anew import at_most, other_ways
from armature.optimize.planner.effort import solve, spent
from armature.optimize.planner.ladder import exceeded, sharpened
from armature.optimize.planner.min_time import COUNTED_LATER, branches, free_problem
from armature.optimize.planner.plan import MISSED, Attempt, Planner
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import carried
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

SOON = Options(tolerance=1e-6, iterations=50)
COARSE = 25  # knots that tell whether there is a clearly shorter motion
CLEARLY = 0.975  # of the time: what is called clearly shorter
SHORTER = 0.999  # of the time: what is followed to its end and gains less is the same
PRICES = 0.3, 0.02  # of jerk, first and last
MUCH = 0.9  # of the time: what may be as short, where something clearly shorter was met whose branch was not followed at all
CHALLENGES = 3  # times that something shorter is looked for
HALF = 0.5  # of the time for a look: what is spent until a branch is found
DOUBT = 0.6  # of the time for a look: what is spent each time that something clearly shorter is looked for
MORE = 0.5, 0.6  # of the time for a look: for other ways in the duration asked for, and slower ones, where the joint cubic led to nothing
ROUGH = Options(tolerance=1e-3, iterations=80, rows=MISSED)
WARM = Options(tolerance=1e-3, iterations=40, rows=MISSED, warm_barrier=1e-4)
DOWN = 0.95  # first step down from a possible duration; the next ones are twice as long each, until one is impossible
NEAR = 0.995  # of a possible duration: an impossible one so near ends the search between them
UPWARDS = 1.15, 1.5, 2.3, 3.5, 5.0, 8.0  # times the duration asked for
CUBIC = 0.3, 1.0, 1.5  # times the one at which the joint cubic keeps its limits: the least that is tried then, and others that are


class Look(NamedTuple):
    """The shortest motion found, and about the duration, s, of what is clearly shorter and was met, but not followed to its end."""

    best: Attempt
    lost: float = math.inf


def shortest(
    problem: MoveProblem,
    seconds: float,
    callback: Callable | None = None,
    enough: float = 0.0,
    slower: bool = True,
    challenges: int = CHALLENGES,
) -> Look:
    """The shortest motion found in so many seconds of computing, roughly: to about 1 %, unless something shorter was lost.

    enough: s; the first motion that takes no longer ends the search.  slower: whether slower motions are tried where this fails.
    challenges: times that something clearly shorter is looked for; 0 for the end of the first branch."""
    asked, problem = problem.duration, free_problem(replace(problem, supply=COUNTED_LATER, free=True))
    planner = Planner(Weights(time=1.0), SOON, callback, budget=spent() + seconds)
    hasty = replace(planner, callback=planner.unless_stretched, budget=spent() + HALF * seconds)
    best = branches(hasty, problem, None, 1)
    if best.ok and best.motion.duration <= enough:
        return Look(best)
    low = sharpened(planner, problem, best, *PRICES) if best.ok else None
    if low is None:  # no branch, or one whose end is not reached
        slow = from_slower(planner, problem, asked, seconds) if slower else None
        return Look(slow if slow is not None and not (best.ok and slowed(best) < slowed(slow)) else best)
    best, coarse = low, replace(problem, N=min(problem.N, COARSE))
    for _ in range(challenges):
        if best.motion.duration <= enough:
            return Look(best)
        # every branch that is clearly shorter is worth the time to follow it, and to look for the next
        found = clearly_faster(replace(planner, budget=spent() + DOUBT * seconds), coarse, best)
        if found is None:
            return Look(best)
        better = sharpened(replace(planner, budget=spent() + HALF * seconds), problem, found, *PRICES)
        if better is None:
            return Look(best, least_of(replace(planner, budget=spent() + HALF * seconds), coarse, found, best))
        if slowed(better) >= SHORTER * slowed(best):
            return Look(best)
        best = better
    return Look(best, MUCH * length(best) if challenges else math.inf)


def least_of(planner: Planner, coarse: MoveProblem, met: Attempt, best: Attempt) -> float:
    """About the least duration, s, of what a motion leads to that prices do not follow: by ever shorter durations, with coarse knots."""
    search = replace(planner, weights=Weights(heat=1.0))
    first = within(search, coarse, met.motion.duration, met.motion)
    least = math.inf if first is None else length(descended(search, coarse, first, length))
    return least if first is not None and not search.late else min(least, MUCH * length(best))


def length(found: Attempt) -> float:
    """The duration of a motion, s."""
    return found.motion.duration


def slowed(found: Attempt) -> float:
    """About the duration in which a motion keeps all limits between knots too, s: what few knots exceed counts in full."""
    return found.motion.duration * (1.0 + max(0.0, exceeded(found)))


def from_slower(planner: Planner, problem: MoveProblem, asked: float, seconds: float) -> Attempt | None:
    """The shortest motion by way of given durations, which are found more easily: the one asked for, from the joint cubic and other ways
    round, then slower ones; None where no duration tried will do."""
    search = replace(planner, weights=Weights(heat=1.0), budget=spent() + MORE[0] * seconds)
    coarse = replace(problem, N=min(problem.N, COARSE), move=replace(problem.move, duration=asked))
    least, *others = (factor * problem.duration for factor in CUBIC)
    first = (None, *other_ways(coarse)) if asked > least else ()
    tried = (within(search, coarse, asked, motion) for motion in first if not search.late)
    slow = next((found for found in tried if found is not None), None)
    search = replace(search, budget=spent() + MORE[1] * seconds)
    longer = sorted(T for T in (*(factor * asked for factor in UPWARDS), *others) if max(asked, least) < T)
    tried = (within(search, coarse, T, None) for T in longer if not search.late)
    slow = slow or next((found for found in tried if found is not None), None)
    return None if slow is None else descended(search, coarse, slow)


def within(planner: Planner, problem: MoveProblem, duration: float, near: Attempt | Trajectory | None) -> Attempt | None:
    """A motion of little heat of this duration, from another one or the joint cubic; None where none is found before rows stretch."""
    task = replace(problem, free=False, move=replace(problem.move, duration=duration))
    starts: list[tuple[Any, Options]] = [(task.guess(near.motion if isinstance(near, Attempt) else near), ROUGH)]
    if isinstance(near, Attempt):
        starts.insert(0, (carried(near.result, near.motion, task), WARM))
    tried = (planner.attempt(task, start, options, rigid=True) for start, options in starts)
    return next((found for found in tried if found.meets), None)


def descended(planner: Planner, problem: MoveProblem, best: Attempt, measure: Callable[[Attempt], float] = slowed) -> Attempt:
    """From a motion down to shorter ones by this measure, each from the last, until the next would be impossible."""
    low, step = 0.0, DOWN
    while low < NEAR * best.motion.duration and not planner.late:
        high = best.motion.duration
        T, step = ((low * high) ** 0.5, step) if low else (step * high, max(step**2, 0.7))
        found = within(planner, problem, T, best)
        low, best = (low, found) if found is not None and measure(found) < measure(best) else (T, best)
    return best


def clearly_faster(planner: Planner, problem: MoveProblem, best: Attempt) -> Attempt | None:
    """A motion of little heat in at most CLEARLY of the best one's time, from the joint cubic or a detour; None where there is none."""
    problem, question = at_most(problem, CLEARLY * best.motion.duration, best)
    for motion in (None, *other_ways(problem)):
        if planner.late:
            break
        result = solve(question, problem.guess(motion), ROUGH, planner.unless_stretched)
        found = Attempt(problem, result, problem.trajectory(result), float(np.sum(result.p)))
        if found.meets:
            return found
    return None
