"""The law by which the search for a least time ends: in a little less time no motion is found from any of several starts.

Each start asks for the coolest motion of that shorter duration, and most give up when limits begin to stretch. What is found is followed to
its own end, by prices and by durations, and contested in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armature.optimize.planner.anew import PRICE, alike, shortest_from
from armature.optimize.planner.by_durations import WARM, Found, ever_shorter, motion_in
from armature.optimize.planner.detours import skewed, together
from armature.optimize.planner.effort import spent
from armature.optimize.planner.gears import greatest_power
from armature.optimize.planner.ladder import RATIO, kept, merit, sharpened
from armature.optimize.planner.mend import deepened, mended
from armature.optimize.planner.passing import passed_otherwise
from armature.optimize.planner.plan import Attempt, Planner
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import carried, guess_from
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem

LITTLE = 0.995  # of the best motion's time: in which no other one may be found
CALM = 1.01  # of the best motion's time: where starts in a little less come from
SKEW = 0.2  # of a motion run faster at first
PATIENCE = 3.0  # seconds of computing for each round
WIDE = 0.5  # of the greatest power: a wide corner of gears
ROUNDS = 3  # that take as long as that; more where they are shorter: as long as something shorter is found, it is followed
MUCH = 1.01  # times its duration: what is shorter even so promises much
MANY = 9  # passes in which what promises much is mended
PLAN = 0.6  # seconds of computing for a plan
FEW = 50  # knots of a plan, and of searches from motions that are far away
HALF = 0.5  # of what is left of a round: for cures of a motion of given duration, before prices
GAIN = 3e-4  # of the time: what is worth a further round
QUICK = Options(tolerance=1e-4, iterations=60, barrier=1e-2)


class Contest(NamedTuple):
    """The motion that nothing shorter was found for; starts: from how many the last search was made, 0 where time ran out."""

    best: Attempt
    notes: list[str]
    starts: int

    @property
    def told(self) -> list[str]:
        """What happened, with the outcome."""
        lost = f"nothing was found in {LITTLE:g} of this time, from {self.starts} starts"
        return [*self.notes, lost] if self.starts else self.notes


def contested(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> Contest:
    """The motion, or a shorter one, for which nothing shorter is found; best: one that keeps all limits."""
    last = spent() + ROUNDS * PATIENCE
    while spent() < last:
        end = min(last, spent() + PATIENCE)
        shorter, starts = challenger(replace(planner, budget=min(end, planner.budget or end)), problem, best)
        if shorter is None:
            return Contest(best, notes, starts)
        best, notes = shorter
    return Contest(best, notes, 0)


def challenger(planner: Planner, problem: MoveProblem, best: Attempt) -> tuple[Found | None, int]:
    """A shorter motion that keeps all limits, None where none is found, and from how many starts it was sought."""
    starts, longest = 0, (1.0 - GAIN) * best.motion.duration
    seen: list[Attempt] = []
    for hit in hits(planner, problem, best):
        starts += 1
        if hit.ok and not any(alike(hit, other) for other in seen):  # what leads to one motion is followed once
            seen.append(hit)
            if (found := shorter_of(followed(planner, problem, hit, longest), longest)) is not None:
                return found, starts
        if planner.late:
            return None, 0
    if best.problem.free and np.sum(best.result.p) < LITTLE * best.motion.duration:  # it had to be run slower: perhaps by bad luck
        anew = replace(best, motion=stretched(best.motion, LITTLE * best.motion.duration))
        if (found := shorter_of(by_prices(planner, problem, anew, longest), longest)) is not None:
            return found, starts
    planned = None if planner.late else by_plan(planner, problem, LITTLE * best.motion.duration, longest)
    return planned, 0 if planned is None and planner.late else starts + 1


def shorter_of(ways: Iterable[Found], longest: float) -> Found | None:
    """The first of these that keeps all limits and is shorter; None where there is none."""
    return next(((found, notes) for found, notes in ways if found.ok and kept(found) and found.motion.duration < longest), None)


def by_plan(planner: Planner, problem: MoveProblem, duration: float, longest: float) -> Found | None:
    """The end of the way down from a plan of least energy in this time, with few knots; None where there is none, or only longer ones.

    Plans are slower than searches for the coolest motion, but narrow corners and hold joints at rest, and find what those do not."""
    few = replace(problem, N=min(problem.N, FEW))
    search = partly(replace(planner, weights=Weights(energy=1.0), options=None), 1.0, PLAN)
    found, notes = search.plan(replace(few, free=False, move=replace(few.move, duration=duration)))
    if not (found.ok and found.runs and kept(found) and found.motion.duration < longest):
        return None
    return ever_shorter(replace(planner, callback=planner.unless_stretched), few, (found, notes))


def hits(planner: Planner, problem: MoveProblem, best: Attempt) -> Iterator[Attempt]:
    """Searches for something shorter: for the coolest motion in a little less time, from that in a little more, the motion itself, the same
    skewed, the same in wide corners of gears, and joint cubics, which pass via points earlier and later too, and with all joints bent."""
    T, search = best.motion.duration, replace(planner, weights=Weights(heat=1.0))
    calm, less = (replace(problem, free=False, move=replace(problem.move, duration=part * T)) for part in (CALM, LITTLE))
    near = search.attempt(calm, guess_from(best.motion, calm), QUICK)
    if near.ok:
        yield search.attempt(less, carried(near.result, near.motion, less), WARM, rigid=True).anyhow()
    for motion in (best.motion, skewed(best.motion, SKEW)):
        yield search.attempt(less, guess_from(motion, less), QUICK, rigid=near.ok).anyhow()
    if less.driven.smooth.power:
        wide = replace(less, smooth=replace(less.driven.smooth, power=WIDE * greatest_power(less)))
        yield search.attempt(wide, guess_from(best.motion, wide), QUICK, rigid=True).anyhow()
    for task in (less, *passed_otherwise(less)):
        yield search.attempt(task, task.guess(), QUICK, rigid=True).anyhow()
    few = replace(less, N=min(less.N, FEW))
    for motion in () if few.robot.loops else together(few):
        yield search.attempt(few, few.guess(motion), QUICK, rigid=True).anyhow()


def followed(planner: Planner, problem: MoveProblem, hit: Attempt, longest: float) -> Iterator[Found]:
    """The ends of the ways down from a motion, with limits kept between knots: from a motion of given duration by ever shorter ones, and by
    lower prices, unless it is too long even before limits are kept between knots."""
    hasty = replace(planner, weights=Weights(heat=1.0), callback=planner.unless_stretched)
    found = None if planner.late else motion_in(partly(hasty, HALF), problem, hit.motion.duration, hit)
    yield from [ever_shorter(hasty, problem, found)] if found is not None else []
    if not planner.late:
        yield from by_prices(planner, problem, hit, longest)


def by_prices(planner: Planner, problem: MoveProblem, hit: Attempt, longest: float) -> Iterator[Found]:
    """The end of the way down by lower prices. What promises much is mended with a budget of its own, however far it exceeds limits
    between knots at first."""
    top = shortest_from(planner, problem, hit.motion)
    low = sharpened(planner, problem.timed_as(top.motion), top, RATIO * PRICE) if top.ok else None
    if low is not None and MUCH * low.motion.duration < longest:
        patient = replace(planner, budget=spent() + PATIENCE)
        yield deepened(patient, *mended(patient, low, MANY))
    elif low is not None and merit(low) < longest:
        yield deepened(planner, *mended(planner, low))


def partly(planner: Planner, part: float, most: float = PATIENCE) -> Planner:
    """The planner with a part of what is left of its budget, and so many seconds of computing at most."""
    left = most if planner.budget is None else min(most, part * (planner.budget - spent()))
    return replace(planner, budget=spent() + left)
