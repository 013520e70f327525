"""The shortest duration by motions of given durations, for moves whose free duration the solver does not settle.

Where a mean (heat or current over the motion) or a lossy gear decides, the shortest motion is no jump from limit to limit, and a price on
jerk does not lead to it. A motion of least heat in a given duration is found nearly always where there is one: so durations are tried,
upwards until one is possible, then down again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from armature.motion.trajectory import Trajectory
from armature.optimize.planner.effort import spent
from armature.optimize.planner.gears import greatest_power, narrow
from armature.optimize.planner.plan import NEAR, Attempt, Planner
from armature.optimize.planner.rests import RestingMove, overheated, rested, stands
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import carried
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

UPWARDS = (1.0, 1.1, 1.3, 1.7, 2.5, 4.0, 8.0)  # times the first duration
DOWN = 0.97  # first step down; the next ones are twice as long each, until one is impossible
CLOSE = 1.003  # ratio of a possible to an impossible duration at which the search ends
QUICK = Options(tolerance=1e-5, iterations=80)
WARM = Options(tolerance=1e-5, iterations=60, warm_barrier=NEAR)
LESS = 0.9, 0.97  # of a planned duration: the next one, as long as there is a plan
SOON, PATIENT = 1.5, 6.0  # seconds of computing for each plan; for each, where none was found so soon
CORNERS = (0.3, 0.1, 0.03)  # widths of gears' corners, as parts of the first one
CURES = 1.5  # seconds of computing until a motion of given duration keeps its limits between knots

Found = tuple[Attempt, list[str]]


def by_durations(
    planner: Planner, problem: MoveProblem, first: float, motion: Attempt | Trajectory | None = None, upwards: Sequence[float] = UPWARDS
) -> Found | None:
    """The shortest motion found, and what happened on the way; None where no duration tried is possible.

    first: where to begin, s.  motion: what to begin with besides the joint cubic.  upwards: multiples of the first duration to try.
    """
    search = replace(planner, weights=Weights(heat=1.0))
    tried = (motion_in(search, problem, factor * first, motion) for factor in upwards if not planner.late)
    best = next((found for found in tried if found is not None), None)
    return ever_shorter(planner, problem, best) if best is not None else None


def ever_shorter(planner: Planner, problem: MoveProblem, best: Found) -> Found:
    """The shortest of ever shorter motions, each sought from the last; best: the first of them, which keeps all limits."""
    search = replace(planner, weights=Weights(heat=1.0))
    low, step = 0.0, DOWN  # what failed on the way up failed from the joint cubic: from here it may succeed
    while not planner.late and best[0].motion.duration > CLOSE * low:
        high = best[0].motion.duration
        T, step = ((low * high) ** 0.5, step) if low else (step * high, max(step**2, 0.7))
        found = motion_in(search, problem, T, best[0])
        low, best = (low, found) if found is not None and found[0].motion.duration < high else (T, best)
    return best


def by_plans(planner: Planner, problem: MoveProblem, first: float, upwards: Sequence[float] = UPWARDS, each: float = SOON) -> Found | None:
    """The shortest of some durations for which a plan of least energy keeps all limits; None where none of them does.

    Plans are slower than searches for the coolest motion, but find their way past stops that can hardly be held and around zigzags.
    upwards: multiples of the first duration, s, to try.  each: seconds of computing for each plan."""
    search = replace(planner, weights=Weights(energy=1.0), options=None)
    tried = (planned_in(search, problem, factor * first, each) for factor in upwards if not planner.late)
    best = next((found for found in tried if found is not None), None)
    for part in LESS if best is not None else ():
        while best is not None and not planner.late:
            shorter = planned_in(search, problem, part * best[0].motion.duration, each)
            if shorter is None:
                break
            best = shorter
    return best


def planned_in(planner: Planner, problem: MoveProblem, duration: float, seconds: float = SOON) -> Found | None:
    """A plan of this duration that keeps all limits, found in so many seconds of computing; None where there is none."""
    soon = replace(planner, budget=spent() + seconds)
    found = soon.plan(replace(problem, free=False, move=replace(problem.move, duration=duration)))
    return found if found[0].ok and found[0].runs else None


def motion_in(planner: Planner, problem: MoveProblem, duration: float, near: Attempt | Trajectory | None) -> Found | None:
    """A motion of this duration that keeps all limits between knots too, from a neighbour or the joint cubic; None where none is found."""
    timed = replace(problem, free=False, move=replace(problem.move, duration=duration), directions=None, smooth=None, tighter={})
    motions = [near.motion if isinstance(near, Attempt) else near, None] if near is not None else [None]
    starts: list[tuple[MoveProblem, Any, Options]] = [(timed, timed.guess(motion), QUICK) for motion in motions]
    if isinstance(near, Attempt):
        alike = replace(timed, smooth=near.problem.smooth, N=near.problem.N, dense=near.problem.dense)  # a cure may have made it dense
        if isinstance(near.problem, RestingMove):  # joints that stand do so for the same part of the time
            alike = replace(near.problem, free=False, move=timed.move, tighter={})
        starts.insert(0, (alike, carried(near.result, near.motion, alike), WARM))
    for task, start, options in starts:
        found = planner.attempt(task, start, options)
        kept = within_limits(planner, found) if found.ok else None
        if kept is not None or planner.late:
            return kept
    return None


def within_limits(planner: Planner, found: Attempt) -> Found | None:
    """The same by sharper laws, cured as a plan is until it keeps all limits; None where it does not. A joint that friction makes too hot
    stands for a part of the time before: in narrow corners, searches for that hardly end."""
    end = spent() + CURES
    soon = replace(planner, budget=end if planner.budget is None else min(end, planner.budget))
    hot = overheated(found)
    if hot is None:
        best, notes = soon.cured(sharper(soon, found))
    elif (cool := rested(soon, found, hot, 0.5 * greatest_power(found.problem))) is not None:
        best, notes = soon.cured(replace(cool, note=stands(hot)))
    else:
        return None
    return (best, notes) if best.ok and best.runs else None


def sharper(planner: Planner, found: Attempt) -> Attempt:
    """The same with corners of gears narrowed as far as that goes, or with the directions of dry friction kept."""
    driven = found.problem.driven
    if not driven.smooth.power:
        exact = planner.directed(found) if driven.dry else found
        return exact if exact.ok else found
    width = found.problem.smooth or driven.smooth
    for factor in CORNERS:
        if factor * driven.smooth.power < width.power:
            problem = replace(found.problem, smooth=narrow(driven.smooth, driven.smooth.power, factor))
            better = planner.attempt(problem, found.result, WARM)
            if not better.ok:
                break
            found = better
    return found
