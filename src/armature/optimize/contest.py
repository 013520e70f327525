"""The law by which the search for a least time ends: in a little less time no motion is found from any of several starts.

What is found is followed to its own end and contested in turn. Most starts ask for the coolest motion of that shorter duration, and give up
when limits begin to stretch. With lossy gears searches from neighbouring motions end at others, some of them shorter, so that the
shortest motion is also sought again from itself, skewed in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.by_durations import WARM, Found, within_limits
from armature.optimize.carry import carried, guess_from
from armature.optimize.detours import skewed
from armature.optimize.driven import Weights
from armature.optimize.interior import Options
from armature.optimize.ladder import RATIO, copper, kept, merit, prices, sharpened
from armature.optimize.mend import deepened, mended
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Attempt, Planner

LITTLE = 0.995  # of the best motion's time: in which no other one may be found
CALM = 1.01  # of the best motion's time: where starts in a little less come from
SKEWS = 0.2, -0.2  # of motions run faster at first, or at last
ROUNDS = 3  # times that something shorter is followed
GAIN = 3e-4  # of the time: what is worth a further round
PRICE = 0.3  # of jerk, where what was found is followed from
SAME = 1e-3  # of the duration: two motions nearer than this, and ten times as near in all joints, are one
QUICK = Options(tolerance=1e-4, iterations=60)


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
    for _ in range(ROUNDS):
        shorter, starts = challenger(planner, problem, best)
        if shorter is None:
            return Contest(best, notes, starts)
        best, notes = shorter
    return Contest(best, notes, 0)


def challenger(planner: Planner, problem: MoveProblem, best: Attempt) -> tuple[Found | None, int]:
    """A shorter motion that keeps all limits, None where none is found, and from how many starts it was sought."""
    starts, longest = 0, (1.0 - GAIN) * best.motion.duration
    tops: list[Attempt] = []
    for hit in hits(planner, problem, best):
        if planner.late:
            return None, 0
        starts += 1
        top = hit if hit.problem.free or not hit.ok else shortest_from(planner, problem, hit.motion)
        if not any(alike(top, other) for other in tops):  # what leads to one motion is followed once
            tops.append(top)
            found = followed(planner, problem, hit, top, longest)
            if found is not None and found[0].ok and kept(found[0]) and found[0].motion.duration < longest:
                return found, starts
    return None, starts


def hits(planner: Planner, problem: MoveProblem, best: Attempt) -> Iterator[Attempt]:
    """Searches for something shorter: for the coolest motion in a little less time, and where gears are lossy for the shortest one anew."""
    T, search = best.motion.duration, replace(planner, weights=Weights(heat=1.0))
    calm, less = (replace(problem, free=False, move=replace(problem.move, duration=part * T)) for part in (CALM, LITTLE))
    near = search.attempt(calm, guess_from(best.motion, calm), QUICK)
    if near.ok:
        yield search.attempt(less, carried(near.result, near.motion, less), WARM, rigid=True)
    skew = [skewed(best.motion, part) for part in SKEWS]
    for motion in (near.motion if near.ok else best.motion, *skew):
        yield search.attempt(less, guess_from(motion, less), QUICK, rigid=True)
    yield search.attempt(less, less.guess(), QUICK, rigid=True)
    for motion in skew if problem.driven.smooth.power else ():
        yield shortest_from(planner, problem, motion)


def shortest_from(planner: Planner, problem: MoveProblem, motion: Trajectory) -> Attempt:
    """The shortest motion at a moderate price, from this one."""
    free = problem.timed_as(motion)
    return planner.attempt(free, guess_from(motion, free), weights=prices(free, motion.duration, copper(free, motion))(PRICE))


def followed(planner: Planner, problem: MoveProblem, hit: Attempt, top: Attempt, longest: float) -> Found | None:
    """The end of the way down from a motion, with limits kept between knots; None where it is longer even before.

    top: the shortest motion from there at a moderate price; where there is none, what was hit is the motion."""
    if not top.ok:
        return within_limits(replace(planner, weights=Weights(heat=1.0)), hit) if hit.ok else None
    low = sharpened(planner, problem.timed_as(top.motion), top, RATIO * PRICE)
    return deepened(planner, *mended(planner, low)) if low is not None and merit(low) < longest else None


def alike(a: Attempt, b: Attempt) -> bool:
    """Whether two motions of free duration are one: as long, and nowhere far apart."""
    if not (a.ok and b.ok) or abs(a.motion.duration - b.motion.duration) > SAME * b.motion.duration:
        return False
    q, r = (x.motion(x.motion.t[0] + np.linspace(0.0, x.motion.duration, 41)).q for x in (a, b))
    return bool(np.abs(q - r).max() <= 10 * SAME * max(float(np.ptp(r, axis=0).max()), 1e-3))
