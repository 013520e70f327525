"""Several ways down to the shortest motion: searches from starts that differ, with few knots; what they lead to is compared with all knots.

With lossy gears and dry friction searches end at different motions, up to some per cent apart. A search begins well inside the limits,
and with a low barrier: from a high one it first runs to the middle of all that is possible, at several times the duration, and all starts
are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import margins
from armature.optimize.planner.detours import detours, skewed, together, waverings
from armature.optimize.planner.effort import solve
from armature.optimize.planner.gears import greatest_power
from armature.optimize.planner.ladder import RATIO, Rung, copper, ladder, merit, prices
from armature.optimize.planner.plan import Attempt, Planner
from armature.optimize.planner.slower import RATES
from armature.optimize.problem.problem import Problem
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import guess_from
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import FEWEST, MoveProblem

PRICE = 0.3  # of jerk, where a search anew begins
FEW, ALL = 0.07, 0.025  # the last prices with few knots, and with all of them, where ways are compared
WIDE = 0.3  # of the greatest power: a wide corner of gears
SKEWS = 0.2, -0.2  # of motions run faster at first, or at last
CANDIDATES = 3  # ways that are compared with all knots
NEAR = 1.01  # times the shortest one's duration with few knots: up to this others may be shorter with all of them
SHORTER = 0.985  # of the best motion's time: sought with half of the few knots
VAIN = 3  # starts after each other that lead to nothing shorter, after which there are no more
SLOWER = 1.0, 1.2, 1.5, 2.0, 3.0, 4.5, 7.0  # times a motion's duration, until it keeps its limits
ROOM = 1.3  # times that: well inside them
SAME = 1e-3  # of the duration: two motions nearer than this, and ten times as near in all joints, are one
QUICK = Options(tolerance=1e-4, iterations=30, barrier=1e-2)
INSIDE = Options(tolerance=1e-4, iterations=100, barrier=1e-2)


def shortest_way(planner: Planner, few: MoveProblem, problem: MoveProblem, best: Attempt) -> Rung | None:
    """Of several ways down from a branch, the one that leads to the shortest motion at a low price; None where none does.

    few: the problem with few knots, in which the branch was found."""
    found = sorted(different(lows(planner, few, best)), key=merit)
    while found and not planner.late:
        low = faster(planner, replace(few, N=max(FEWEST, few.N // 2)), found[0])
        rungs = ladder(planner, few, low, 1.0, FEW) if low is not None else []
        if not rungs or rungs[-1].motion.duration > (1.0 - SAME) * found[0].motion.duration:
            break
        found.insert(0, rungs[-1])
    near = [low for low in found if merit(low) < NEAR * merit(found[0])][:CANDIDATES]
    ways = [ladder(planner, problem.timed_as(low.motion), low, low.price, ALL) for low in near if not planner.late]
    return min((rungs[-1] for rungs in ways if rungs), key=merit, default=None)


def different(found: Iterable[Rung]) -> list[Rung]:
    """Motions of different durations, until several after each other are no shorter than what is known: joints that have time to spare do
    not make another motion."""
    seen: list[Rung] = []
    vain = 0
    for low in found:
        vain = 0 if all(low.motion.duration < (1.0 - SAME) * other.motion.duration for other in seen) else vain + 1
        if not any(abs(low.motion.duration / other.motion.duration - 1.0) < SAME for other in seen):
            seen.append(low)
        if vain == VAIN:
            break
    return seen


def lows(planner: Planner, problem: MoveProblem, best: Attempt) -> Iterator[Rung]:
    """Motions at a lower price: with what is known of the branch, from wide corners of gears, and anew from starts that differ."""
    first = ladder(planner, problem, best, PRICE, FEW)
    yield from first[-1:]
    if problem.driven.smooth.power:
        wide = replace(problem, smooth=replace(problem.driven.smooth, power=WIDE * greatest_power(problem)))
        yield from ladder(planner, wide, best, 1.0, FEW)[-1:]
    motion = first[-1].motion if first else best.motion
    timed = problem.timed_as(motion)
    ways = (motion, *(skewed(motion, part) for part in SKEWS), timed.straight, *other_ways(timed))
    for way in ways:
        if planner.late:
            break
        hit = shortest_from(planner, problem, way)
        if hit.ok:
            yield from ladder(planner, problem.timed_as(hit.motion), hit, RATIO * PRICE, FEW)[-1:]


def other_ways(problem: MoveProblem) -> list[Trajectory]:
    """Starting motions that may lead to other branches."""
    return waverings(problem) if problem.move.via and not problem.robot.loops else detours(problem)


def shortest_from(planner: Planner, problem: MoveProblem, motion: Trajectory) -> Attempt:
    """The shortest motion at a moderate price, sought from this one, inside its limits."""
    slower = inside(problem, motion)
    free, weights = problem.timed_as(slower), prices(problem.timed_as(motion), motion.duration, copper(problem, motion))
    return planner.attempt(free, guess_from(slower, free), INSIDE, weights(PRICE), rigid=True)


def inside(problem: MoveProblem, motion: Trajectory) -> Trajectory:
    """The motion run so slowly that it is well inside its limits, where there is such a duration."""
    slower = (stretched(motion, part * motion.duration) for part in SLOWER)
    rows = ((trial, (m for row in margins(problem.robot, trial, 2).values() for m in row.values())) for trial in slower)
    first = next((trial for trial, found in rows if all(m.fraction >= 0.0 for m in found if m.limit not in RATES)), motion)
    return stretched(first, ROOM * first.duration)


def faster(planner: Planner, problem: MoveProblem, best: Attempt) -> Attempt | None:
    """A motion of little heat that takes at most SHORTER of the best one's time, None where no start leads to one: in so little time,
    starts outside the limits lead to branches that are not found from inside."""
    problem, question = at_most(problem, SHORTER * best.motion.duration, best)
    for motion in (None, *together(problem)):
        result = solve(question, problem.guess(motion), QUICK, planner.unless_stretched, planner.left())
        found = Attempt(problem, result, problem.trajectory(result), float(np.sum(result.p)))
        if found.ok or planner.late:
            return found if found.ok else None
    return None


def at_most(problem: MoveProblem, duration: float, best: Attempt) -> tuple[MoveProblem, Problem]:
    """The problem from this duration, s, and the question for a motion of little heat, beside the best one's, that takes no longer."""
    problem = replace(problem, move=replace(problem.move, duration=duration))
    question = problem.problem(Weights(heat=1.0 / max(copper(problem, best.motion), 1e-9)))
    if problem.legs == 1:
        low, high = (np.asarray(side, dtype=float) for side in question.p)
        return problem, replace(question, p=(low, np.minimum(high, duration)))
    totals = problem.driven.total_bounds(None)
    totals[1][-1] = duration
    return problem, replace(question, totals=totals)


def alike(a: Attempt, b: Attempt) -> bool:
    """Whether two motions of free duration are one: as long, and nowhere far apart."""
    if not (a.ok and b.ok) or abs(a.motion.duration - b.motion.duration) > SAME * b.motion.duration:
        return False
    q, r = (x.motion(x.motion.t[0] + np.linspace(0.0, x.motion.duration, 41)).q for x in (a, b))
    return bool(np.abs(q - r).max() <= 10 * SAME * max(float(np.ptp(r, axis=0).max()), 1e-3))
