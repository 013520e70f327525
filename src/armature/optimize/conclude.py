"""The end of a search for least energy: a plan after all from other starts, or why there is none.

What may make a task impossible is looked into as soon as a search gets stuck: the shortest motion, passing times that can be met, the
coolest motion. Where a motion is known that does the task, the search from it takes as long as it needs; where none is, it is bounded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certify import ALLOWED, MEANS, Margin, margins
from armature.optimize.diagnose import between_knots, coolest, diagnose, hottest, too_hot, whirling
from armature.optimize.driven import Weights
from armature.optimize.earlier import Passed, nearest_passing, timed
from armature.optimize.forbidden import Weighed, weighed
from armature.optimize.guess import stretched
from armature.optimize.move import MoveProblem
from armature.optimize.plan import IDLE, Attempt, Planner
from armature.optimize.quick_time import shortest, within
from armature.optimize.refine import ENOUGH, drawn_in_there, finer_problem
from armature.optimize.result import Iteration
from armature.optimize.slower import OFTEN, Allowed
from armature.optimize.solution import Diagnosis

AFTER_ALL = 0.3  # seconds of computing that are spent on what will not succeed, to have something to look at
DOUBTFUL = 0.4  # the same where the duration asked for is a little below the shortest motion's
OTHERWISE = 0.4  # the same where a better start is known
HOPELESS = 0.1  # the same where it is known that the search does not lead on
KNOWN = 0.8  # the same where a motion moves nearly all of the payload
UNKNOWN = 1.0  # the same where nothing is known
CALMING = 0.3  # the same for a shortest motion that keeps limits between knots
SLOWER = 1.005, 1.02, 1.05, 1.1, 1.2  # times the duration of one that does not
QUICK = 0.98  # of the duration asked for: a motion that is quicker is quick enough
SAME = 1e-6  # of the duration
LOOK = 0.8  # seconds of computing, about, to find the shortest motion
PASSING = 0.4  # the same for passing times that can be met
USED_UP = 0.05  # what is left of the limit of a mean that is in the way
NEARLY = 0.02  # violation, as a fraction of the limit, of a motion that is worth a search
DRAWS = 8  # times that a limit is drawn in at most
ASTRAY = 5.0  # times what was exceeded before
NEAR = Allowed(2e-3, 2e-3, 0.2, 4)  # what a motion may exceed that is said to do the task
CLEARLY = 0.97  # of the shortest motion found: below this the search is given up


class Watch:
    """Follows a search: when its rows begin to stretch, it looks into what may be in the way, and lets it last no longer than may help.

    fastest: the shortest motion.  passed: passing times that can be met.  weight: of a payload that the joint cubic cannot move."""

    def __init__(self, problem: MoveProblem, callback: Callable | None) -> None:
        self.problem, self.callback, self.stopped = problem, callback, False
        self.looked, self.until = False, math.inf
        self.fastest: Attempt | None = None
        self.passed: Passed | None = None
        self.weight: Weighed | None = None

    def look(self) -> None:
        """Find out what is in the way, once, and how long the search may last."""
        if self.looked:
            return
        self.looked = True
        self.weigh()
        if self.weight is None:
            few, enough = replace(self.problem, N=min(self.problem.N, 50)), QUICK * self.problem.duration
            self.fastest = shortest(few, LOOK, self.callback, enough)
        if self.fits and self.fastest is not None and timed(self.problem):
            self.passed = nearest_passing(self.problem, self.fastest, PASSING)
        self.grant(self.patience())

    def weigh(self) -> None:
        """Find out whether the payload is in the way."""
        self.weight = self.weight or weighed(self.problem)

    def grant(self, seconds: float) -> None:
        """Let the search go on for so many seconds of computing."""
        self.until = time.thread_time() + seconds

    @property
    def fits(self) -> bool:
        """Whether the shortest motion takes no longer than the task allows."""
        return self.fastest is not None and self.fastest.ok and self.fastest.motion.duration <= self.problem.duration

    @property
    def untimely(self) -> bool:
        """Whether passing times that are asked for are out of reach."""
        return self.passed is not None and self.passed.part > 0.0

    def patience(self) -> float:
        """Seconds for the search that got stuck, by what is known of the shortest motion."""
        if self.weight is not None:
            return DOUBTFUL
        if self.fastest is None or not self.fastest.ok:
            return UNKNOWN
        if not self.fits:
            return AFTER_ALL if self.problem.duration < CLEARLY * self.fastest.motion.duration else DOUBTFUL
        return HOPELESS if self.untimely else OTHERWISE

    def starts(self, cool: Attempt | None) -> Iterator[Trajectory]:
        """Motions of about the task's duration to search from, the best known first. cool: the coolest one."""
        found = [self.weight and self.weight.motion, self.passed.found.motion if self.passed is not None and not self.untimely else None]
        if cool is not None and cool.ok and keeps_limits(cool):
            found.append(cool.motion)
        if self.fastest is not None and self.fits and not timed(self.problem):
            found.append(self.fastest.motion)
        yield from (motion for motion in found if motion is not None)

    def does(self, motion: Trajectory) -> bool:
        """Whether a motion is known to do the task within its limits, but for what more knots cure."""
        moving = np.abs([self.problem.ends.v0, self.problem.ends.v1]).max() > 0.0
        same = abs(motion.duration - self.problem.duration) < SAME * motion.duration
        if moving and not same:
            return False
        run = motion if same else stretched(motion, self.problem.duration)
        return NEAR.by(m for row in margins(self.problem.robot, run, NEAR.finer).values() for m in row.values())

    def __call__(self, line: Iteration) -> bool:
        """True ends the search."""
        self.stopped = self.stopped or bool(self.callback and self.callback(line))
        if line.elastic and not self.stopped:
            self.look()
        return self.stopped or time.thread_time() > self.until


def concluded(planner: Planner, watch: Watch, best: Attempt, notes: list[str]) -> tuple[Attempt, list[str], Diagnosis | None]:
    """A plan that keeps all limits, by repairs or from other starts, or why there is none. best, notes: what the first search found."""
    problem, cool = watch.problem, None
    if best.ok and not keeps(best) and not planner.late and not watch.stopped:
        if best.hot:
            cool = coolest(problem, best.motion)
            if cool.ok and hottest(cool) < -NEARLY and (told := too_hot(cool, None)) is not None:
                return best, notes, told
        else:
            watch.weigh()
        watch.grant(math.inf if cool is None or watch.does(cool.motion) else DOUBTFUL)
    if watch.weight is None or not watch.weight.certain:
        best, notes = repaired(planner, best, notes) if best.ok else (best, notes)
        if keeps(best) or planner.late or watch.stopped:
            return best, notes, between_knots(best, cool) if best.ok else None
        watch.look()
    if watch.weight is not None and watch.weight.certain:
        return best, notes, watch.weight.told
    if cool is None and watch.fastest is not None and not watch.untimely and heated(problem, watch.fastest):
        cool = coolest(problem, watch.fastest.motion if watch.fastest.ok else None)
    for motion in watch.starts(cool):
        watch.grant((KNOWN if watch.weight else math.inf) if watch.does(motion) else DOUBTFUL)
        other, told = planner.plan(problem, motion)
        other, told = repaired(planner, other, told) if other.ok else (other, told)
        if keeps(other):
            return other, [*told, *filter(None, [str(whirling(best) or "")])], None
        if planner.late or watch.stopped:
            break
    return best, notes, refusal(watch, best, cool)


def refusal(watch: Watch, best: Attempt, cool: Attempt | None) -> Diagnosis | None:
    """Why there is no plan, by all that is known."""
    if watch.weight is not None:
        return watch.weight.told
    if best.ok:
        return between_knots(best, cool)
    return diagnose(best, calmer(watch.fastest) if watch.fastest is not None else None, cool, watch.passed)


def calmer(fastest: Attempt) -> Attempt:
    """The shortest motion; between ends that move, where another duration is another motion, a slower one that keeps its limits."""
    ends, T = fastest.problem.ends, fastest.motion.duration
    if not fastest.ok or not np.any([ends.v0, ends.v1]) or OFTEN.by(fastest.margins):
        return fastest
    planner = Planner(Weights(heat=1.0), budget=time.thread_time() + CALMING)
    tried = (within(planner, fastest.problem, factor * T, fastest) for factor in SLOWER if not planner.late)
    return next((found for found in tried if found is not None and OFTEN.by(found.margins)), fastest)


def keeps(best: Attempt) -> bool:
    """Whether this is an optimum that keeps all limits."""
    return best.ok and (best.worst is None or best.worst.fraction >= -ALLOWED)


def heated(problem: MoveProblem, fastest: Attempt) -> bool:
    """Whether limits of means may be in the way: where the shortest motion is known, if it uses up one of them, nearly."""
    if not problem.driven.means or not fastest.ok:
        return bool(problem.driven.means)
    found = margins(problem.robot, fastest.motion, 4)
    return any(m.limit in MEANS and m.fraction < USED_UP for row in found.values() for m in row.values())


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
