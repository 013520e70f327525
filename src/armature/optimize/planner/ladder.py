"""The shortest motion by way of prices: a small price on jerk and heat, lowered step by step, each rung starting from the last.

The shortest motion jumps from limit to limit, which no search finds at once; a price on jerk rounds the jumps. Joints with dry friction
or lossy gears keep the directions of the last rung, but for some steps around their turns, which may wander: friction and gears have no
corner then, and a rung takes a fraction of the iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.ndimage import binary_dilation

from armature.drive import Smooth
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED
from armature.optimize.planner.dry import KEPT, directions
from armature.optimize.planner.plan import Attempt, Planner
from armature.optimize.planner.rests import RestingMove
from armature.optimize.problem.problem import Guess
from armature.optimize.problem.result import Result
from armature.optimize.transcription.carry import carried, guess_from
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import STANDS, MoveProblem
from armature.simulate.flows import drives_at
from armature.simulate.ledger import motion_steps

LAST = 0.02  # the last price
LOWEST = 5e-4  # the last one where lower prices still gain much
RATIO = 0.3  # from one price to the next
WORTH = 3e-4  # of the duration: prices are lowered while that gains more
MUCH = 2e-3  # of the duration: prices are lowered beyond the last one, and knots doubled, while that gains more
HEAT = 5e-4  # price of heat, as a part of duration/heat
MODEST = 100  # knots up to which what fails is tried again
MANY = 3.0  # times the last price: a first price above this is that of a motion which has not been sharpened
FINER = 0.1, 0.01  # of the tolerance, where a lower price does not move what is known
MOVED = 2  # iterations recorded of a search that ends where it began, or a step from there
NARROWEST = 0.3, 0.1  # of the first widths of gears' corners and of dry friction's beside them


@dataclass(frozen=True, eq=False)
class Rung(Attempt):
    """A motion found at a price of jerk."""

    price: float = 1.0


def prices(problem: MoveProblem, duration: float, heat: float) -> Callable[[float], Weights]:
    """Weights by the price f of jerk: f = 1 makes a jump of the acceleration at a few knots cost 1 % of the duration."""
    legs = np.diff(problem.points, axis=0)
    way = max(1e-4, float(np.sum(np.max(legs**2, axis=1)))) * len(legs) ** 4  # every leg in its part of the time
    jerk = 0.01 * duration * (problem.busy * duration) ** 5 / (problem.N * 192 * way)
    return lambda f: Weights(time=1.0, jerk=jerk * f, heat=HEAT * duration / max(heat, 1e-9))


def ladder(planner: Planner, problem: MoveProblem, best: Attempt, price: float, last: float = LAST, known: bool = True) -> list[Rung]:
    """Motions at prices lowered step by step to the last one, or until that gains little; none where the first ones fail.

    known: whether to start with the multipliers too."""
    problem = problem.timed_as(best.motion)
    weights = prices(problem, best.motion.duration, copper(problem, best.motion))
    start: Any = best.result if problem.N == best.problem.N else carried(best.result, best.motion, problem)
    start = start if known else guess_from(best.motion, problem)
    found: list[Rung] = []
    tries = most = 2 if problem.N <= MODEST else 1  # searches that fail are long with many knots
    f, ratio, gain = price, RATIO, 0.0
    lowest = last if last > LAST else LOWEST
    while (f >= last or not found or (f >= lowest and gain > MUCH)) and tries and not planner.late:
        attempt = rung(planner, problem, start, f, weights)
        if attempt.ok:
            gain, tries = (merit(found[-1]) / merit(attempt) - 1.0, tries) if found else (float(f > LAST), most)
            if gain < 0.0:
                break
            found.append(attempt)
            start, f = attempt.result, f * ratio
            if len(found) > 1 and gain < WORTH * np.log(ratio) / np.log(RATIO):
                break
        else:
            tries -= 1
            if found:
                f, ratio = f / ratio**0.5, ratio**0.5
            else:  # the multipliers did not help
                start, f = guess_from(best.motion, problem), 3.0 * f
    return found


def merit(best: Attempt) -> float:
    """The duration, s, with half of what limits are exceeded by between knots: about what it costs to keep them there too.

    At very low prices a motion jumps to and fro from knot to knot, beyond its limits in between, and only seems to be shorter."""
    return best.motion.duration * (1.0 + 0.5 * max(0.0, exceeded(best) - ALLOWED))


def rung(planner: Planner, problem: MoveProblem, start: Guess | Result, price: float, weights: Callable[[float], Weights]) -> Rung:
    """The motion at one price: with directions kept where there are corners, and in rounded corners where that fails."""
    tasks = [cornered(problem, price)]
    if problem.directions is not None:
        tasks = [replace(problem, smooth=wide(problem, price))]
    elif problem.driven.dry and not problem.robot.loops:
        known: Any = start  # a guess or a result: both have states and durations
        tasks.insert(0, wandering(problem, problem.trajectory(known), price))
    if isinstance(start, Result):  # what is known leads straight to the next one; from a higher barrier where that fails
        attempt, left = next_to(planner, tasks[0], start, weights(price)), tasks
    else:
        attempt, left = planner.attempt(tasks[0], start, weights=weights(price)), tasks[1:]
    rigid = isinstance(start, Result) and len(tasks) > 1
    for task in left:
        if not (attempt.ok or planner.late):
            attempt = planner.attempt(task, start, weights=weights(price), rigid=rigid)
    return Rung(*(getattr(attempt, f.name) for f in fields(Attempt)), price=price)


def next_to(planner: Planner, problem: MoveProblem, known: Result, weights: Weights) -> Attempt:
    """The optimum next to a known one, sought at the barrier at which that was found: from a higher one, joints that have time to spare
    first run to the middle of all that is possible, and back. What is optimal enough already is sought to a finer tolerance."""
    options = replace(planner.precise, warm_barrier=known.multipliers.barrier)
    found = planner.attempt(problem, known, options, weights, rigid=True)
    for part in FINER:
        if found.ok and len(found.result.iterations) <= MOVED and not planner.late:
            found = planner.attempt(problem, known, replace(options, tolerance=part * options.tolerance), weights, rigid=True)
    return found


def wandering(problem: MoveProblem, motion: Trajectory, price: float, part: float = 1 / 12) -> MoveProblem:
    """The problem with the directions of a motion with the same knots kept, but for steps around turns, by a part of all.

    A joint that sets out or arrives has a direction from its first step to its last: its motor bears friction with the first jump."""
    smooth = problem.driven.smooth
    known, reach = directions(motion, KEPT[0] * smooth.velocity), max(1, round(part * problem.N))
    turns = np.zeros(known.shape, dtype=bool)
    turns[reach:-reach] = known[reach:-reach] != known[reach - 1 : -reach - 1]
    known = np.where(binary_dilation(turns, np.ones((2 * reach + 1, 1))), 0.0, known) if part else known
    for step, knot in ((0, 1), (-1, -2)):
        known[step] = np.where(np.abs(motion.v[knot]) > STANDS, np.sign(motion.v[knot]), known[step])
    return replace(problem, directions=known, smooth=wide(problem, price))


def wide(problem: MoveProblem, price: float) -> Smooth:
    """Corners where directions are kept."""
    smooth = problem.driven.smooth
    return replace(smooth, power=power_width(problem, price), velocity=KEPT[1] * smooth.velocity)


def power_width(problem: MoveProblem, price: float) -> float:
    """The width of gears' corners, W: the problem's own at the price 1, ever narrower as the price falls."""
    first = problem.driven.smooth.power
    return max(price * (problem.smooth.power if problem.smooth else first), NARROWEST[0] * first)


def cornered(problem: MoveProblem, price: float) -> MoveProblem:
    """The problem with corners of gears, and of dry friction beside them, that are narrower the lower the price is."""
    smooth, stands = problem.driven.smooth, isinstance(problem, RestingMove)
    if not smooth.power and not stands:
        return problem
    price = min(price, min(NARROWEST) if stands else 1.0)  # what stands was found in narrow corners
    velocity = max(price, NARROWEST[1]) * smooth.velocity
    return replace(problem, smooth=replace(smooth, power=power_width(problem, price), velocity=velocity))


def sharpened(planner: Planner, problem: MoveProblem, best: Attempt, price: float, last: float = LAST) -> Rung | None:
    """Prices lowered to the last one, then all directions of dry friction kept where that helps; None where that failed."""
    found = ladder(planner, problem, best, price, last)
    if not found or not problem.driven.dry or problem.robot.loops or problem.directions is not None or planner.late:
        return found[-1] if found else None
    low = found[-1]
    weights = prices(problem, low.motion.duration, copper(problem, low.motion))
    solve = lambda task, start: next_to(planner, task, start.result, weights(low.price))
    if low.problem.directions is not None and price >= MANY * LAST:  # turns may have been held back
        other = solve(cornered(problem, low.price), low)
        other = solve(wandering(problem, other.motion, low.price), other) if other.ok else other
    elif low.problem.directions is None and not kept(low):
        other = solve(wandering(low.problem, low.motion, low.price, 0.0), low)
    else:
        return low
    return Rung(*(getattr(other, f.name) for f in fields(Attempt)), price=low.price) if other.ok and merit(other) < merit(low) else low


def share(best: Rung) -> float:
    """What the price of jerk is worth, as a part of the duration: about what lower prices may still gain."""
    motion = best.motion
    jerk = prices(best.problem.timed_as(motion), motion.duration, 1.0)(best.price).jerk
    return float(jerk * np.sum(np.diff(motion.a, axis=0) ** 2 / np.diff(motion.t)[:, None])) / motion.duration


def kept(best: Attempt) -> bool:
    """Whether the motion keeps all limits, between knots too."""
    return exceeded(best) <= ALLOWED


def exceeded(best: Attempt) -> float:
    """By which part of itself a limit is exceeded most, between knots too; negative where none is."""
    return -best.worst.fraction if best.worst is not None else 0.0


def cubic_heat(problem: MoveProblem) -> float:
    """Copper heat of the joint cubic, J."""
    return copper(problem, problem.straight)


def copper(problem: MoveProblem, motion: Trajectory) -> float:
    """Copper heat of a motion, J."""
    steps = motion_steps(problem.robot, motion, 200)
    return float(steps.dt @ drives_at(problem.robot, steps.tau, steps.v, steps.a).together.copper.sum(1))
