"""The end of a search for least energy: a plan after all from other starts, or why there is none.

What may make a task impossible is looked into as soon as a search gets stuck: the shortest motion, passing times that can be met, the
coolest motion. Where a motion is known that does the task, the search from it takes as long as it needs; where none is, it is bounded.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certify import ALLOWED, MEANS, Margin, margins
from armature.optimize.diagnose import FAR, between_knots, coolest, diagnose, hottest, least_hot, whirling
from armature.optimize.driven import Weights
from armature.optimize.earlier import Passed, nearest_passing, timed
from armature.optimize.effort import spent
from armature.optimize.forbidden import Weighed, lifts, weighed
from armature.optimize.guess import stretched
from armature.optimize.move import MoveProblem
from armature.optimize.plan import IDLE, Attempt, Planner
from armature.optimize.quick_time import PATIENT, shortest
from armature.optimize.refine import ENOUGH, drawn_in_there, finer_problem
from armature.optimize.result import Iteration, Status
from armature.optimize.slower import OFTEN, RATES, Allowed
from armature.optimize.solution import Diagnosis
from armature.optimize.surest import run_in, short_one

AFTER_ALL = 0.3  # seconds of computing that are spent on what will not succeed, to have something to look at
DOUBTFUL = 0.4  # the same where the duration asked for is a little below the shortest motion's
OTHERWISE = 0.4  # the same where a better start is known
DISTANT = 0.25  # of the way to the shortest motion's passing times: possible ones beyond it are far from those asked for
HOPELESS = 0.1  # the same where it is known that the search does not lead on
LONG = 0.5  # seconds of computing after which it is asked what is in the way, if the joint cubic breaks limits
GLANCE = 0.5  # seconds of computing, about, to find a short motion where it may be
UNKNOWN = 1.0  # the same where nothing is known
CALMING = 0.3  # the same for a shortest motion that keeps limits between knots
SLOWER = 1.005, 1.02, 1.05, 1.1, 1.2  # times the duration of one that does not
QUICK = 0.98  # of the duration asked for: a motion that is quicker is quick enough
SAME = 1e-6  # of the duration
CHEAPER = 2e-3  # of the energy: by which the joint cubic must cost less than a plan to be taken instead
CUBIC = "no search found anything cheaper than the joint cubic"
NOT_LEAST = "no search for least energy ended within all limits: this is the cheapest motion met that keeps them"
LOOK = 0.8  # seconds of computing, about, to find the shortest motion
PASSING = 0.4  # the same for passing times that can be met
USED_UP = 0.05  # what is left of the limit of a mean that is in the way
NEARLY = 0.02  # violation, as a fraction of the limit, of a motion that is worth a search
DRAWS = 8  # times that a limit is drawn in at most
ASTRAY = 5.0  # times what was exceeded before
NEAR = Allowed(2e-3, 2e-3, 0.2, 4)  # what a motion may exceed that is said to do the task
CLEARLY = 0.98  # of the shortest motion found: below this the search is given up


class Watch:
    """Follows a search: when its rows begin to stretch, it looks into what may be in the way, and lets it last no longer than may help.

    fastest: the shortest motion.  passed: passing times that can be met.  weight: of a payload that the joint cubic cannot move."""

    def __init__(self, problem: MoveProblem, callback: Callable | None) -> None:
        self.problem, self.callback, self.stopped, self.cut = problem, callback, False, False
        self.looked, self.begun, self.until = False, spent(), math.inf
        self.fastest: Attempt | None = None
        self.passed: Passed | None = None
        self.weight: Weighed | None = None

    def look(self) -> None:
        """Find out what is in the way, once, and how long the search may last."""
        if self.looked:
            return
        self.looked = True
        few, enough = replace(self.problem, N=min(self.problem.N, 50)), QUICK * self.problem.duration
        steep = lifts(self.problem)
        self.fastest = shortest(few, GLANCE if steep else LOOK, self.callback, enough, not steep)
        near = self.fastest.ok and self.fastest.motion.duration < FAR * self.problem.duration
        self.weight = weighed(self.problem) if steep and not near else None
        if steep and not self.fastest.ok and self.weight is None:
            self.fastest = shortest(few, LOOK, self.callback, enough)
        if self.fits and timed(self.problem):
            self.passed = nearest_passing(self.problem, self.fastest, PASSING)
        self.grant(self.patience())

    def grant(self, seconds: float) -> None:
        """Let the search go on for so many seconds of computing."""
        self.until = spent() + seconds

    @property
    def fits(self) -> bool:
        """Whether the shortest motion takes no longer than the task allows."""
        return self.fastest is not None and self.fastest.ok and self.fastest.motion.duration <= self.problem.duration

    @property
    def short(self) -> bool:
        """Whether the duration asked for is clearly less than the shortest motion's."""
        return self.fastest is not None and self.fastest.ok and self.problem.duration < CLEARLY * self.fastest.motion.duration

    @property
    def doubtful(self) -> bool:
        """Whether a search is given up though its rows do not stretch: what is known speaks against it."""
        return self.short or self.hopeless or (self.weight is not None and not self.fits)

    @property
    def hopeless(self) -> bool:
        """Whether the payload or passing times are out of reach, whatever the search finds."""
        return self.untimely or (self.weight is not None and self.weight.certain)

    @property
    def untimely(self) -> bool:
        """Whether passing times that are asked for are clearly out of reach."""
        return self.passed is not None and self.passed.part > DISTANT

    def patience(self) -> float:
        """Seconds for the search that got stuck, by what is known of the shortest motion."""
        if self.weight is not None:
            return DOUBTFUL
        if self.fastest is None or not self.fastest.ok:
            return UNKNOWN
        if not self.fits:
            return AFTER_ALL if self.short else DOUBTFUL
        return HOPELESS if self.untimely else OTHERWISE

    def starts(self, cool: Attempt | None) -> list[Attempt]:
        """Motions of about the task's duration to search from, the best known first. cool: the coolest one."""
        found = [self.weight and self.weight.found, self.passed.found if self.passed is not None and self.passed.part == 0.0 else None]
        found.append(cool if cool is not None and cool.ok and keeps_limits(cool) else None)
        found.append(self.fastest if self.fits and not timed(self.problem) else None)
        return [attempt for attempt in found if attempt is not None]

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
        elif spent() > self.begun + LONG and not self.stopped:
            self.begun = math.inf
            if hurried(self.problem):
                self.look()
        # where the duration may be long enough, a search whose rows do not stretch is not stuck
        over = spent() > self.until and (line.elastic or self.doubtful)
        self.cut = self.cut or over
        return self.stopped or over


Plan = tuple[Attempt, list[str]]


def concluded(planner: Planner, watch: Watch, search: Callable[[], Plan]) -> tuple[Attempt, list[str], Diagnosis | None]:
    """The plan that a search finds, by repairs or from other starts where it breaks limits or finds none; or why there is none."""
    problem, cool = watch.problem, None
    best, notes = search()
    ended = lambda: planner.left() == 0.0 or watch.stopped
    if best.ok and not keeps(best) and not ended():
        if best.hot:
            cool = coolest(problem, best.motion)
            told = least_hot((best, cool)) if max(hottest(cool), hottest(best)) < -NEARLY else None
            if told is not None:
                watch.look()  # a shorter motion that is cool would be a start
                if not watch.fits:
                    return best, notes, told
        elif hurried(problem):
            watch.look()
        watch.grant(DOUBTFUL if watch.short or (cool is not None and not watch.does(cool.motion)) else math.inf)
    if best.ok and not watch.hopeless:
        best, notes = repaired(planner, best, notes)
    if keeps(best) or ended():
        best, notes = no_worse(planner, problem, best, notes) if best.ok else (best, notes)
        return best, notes, between_knots(best, cool) if best.ok else None
    watch.look()
    if cool is None and not watch.hopeless and heated(problem, watch.fastest):
        cool = coolest(problem, watch.fastest.motion if watch.fastest is not None and watch.fastest.ok else None)
    other = from_others(planner, watch, cool, search) or from_short(planner, watch)
    if other is not None:
        return other[0], [*other[1], *filter(None, [str(whirling(best) or "")])], None
    return best, notes, refusal(watch, best, cool)


def from_others(planner: Planner, watch: Watch, cool: Attempt | None, search: Callable[[], Plan]) -> Plan | None:
    """A plan from what else is known; where none is found, a motion that is known to do the task; at last the first search without an
    end, if it was cut short; None where all fails."""
    cut, starts = watch.cut, watch.starts(cool)
    trials = [(lambda motion=start.motion: planner.plan(watch.problem, motion)) for start in starts]
    seconds = [math.inf if watch.does(start.motion) else UNKNOWN for start in starts]
    trials, seconds = [*trials, lambda: known(planner, watch.problem, starts)], [*seconds, math.inf]
    if cut and watch.fits and not watch.hopeless:
        trials, seconds = [*trials, search], [*seconds, math.inf]
    for k, (trial, most) in enumerate(zip(trials, seconds)):
        if watch.stopped or planner.left() == 0.0:
            break
        if planner.late and k != len(starts):  # what is known costs nothing
            continue
        watch.grant(most)
        found, notes = trial() or (None, [])
        if found is not None and not found.ok:  # a motion that can be run is better than none
            found = found.anyhow()
            notes = [*notes, *filter(None, [found.note])]
        found, notes = repaired(planner, found, notes) if found is not None and found.ok else (found, notes)
        if found is not None and keeps(found):
            return found, notes
    return None


def from_short(planner: Planner, watch: Watch) -> Plan | None:
    """The shortest motion within all limits, run in the time asked for; where it is longer, that is told instead, and None returned."""
    if watch.stopped or watch.hopeless or watch.short or planner.left() == 0.0:
        return None
    watch.grant(math.inf)
    short = short_one(planner, watch.problem)
    if short is not None and short.motion.duration > watch.problem.duration:
        watch.fastest, short = short, None
    found = run_in(planner, watch.problem, short) if short is not None else None
    return None if found is None else (found, [found.note])


def no_worse(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> Plan:
    """The plan, or the joint cubic where that keeps all limits and costs less: a search may end at a poor optimum of its own."""
    if problem.robot.loops:
        return best, notes
    if planner.value(problem, problem.straight) > best.value - CHEAPER * abs(best.value):
        return best, notes
    as_it_is = replace(planner, deadline=time.perf_counter()).attempt(problem, problem.guess()).anyhow()
    better = as_it_is.ok and as_it_is.value < best.value
    return (replace(as_it_is, note=CUBIC), [CUBIC]) if better else (best, notes)


def known(planner: Planner, problem: MoveProblem, starts: list[Attempt]) -> Plan | None:
    """Of all motions met, the cheapest that does the task within all limits, between knots too; None where none does."""
    found = []
    for start in (*starts, *(planner.met or ())):
        if start.whirls or abs(start.motion.duration - problem.duration) > SAME * problem.duration:
            continue
        own = replace(start.problem, robot=problem.robot, supply=problem.supply, tighter={}, level={})
        found.append(Attempt(own, start.result, start.motion, partial(planner.value, problem, start.motion)))
    found = sorted((plan for plan in found if np.isfinite(plan.value)), key=lambda plan: plan.value)
    best = next((plan for plan in found if plan.runs), None)
    if best is None:
        return None
    return replace(best, result=replace(best.result, status=Status.ACCEPTABLE), note=NOT_LEAST), [NOT_LEAST]


def refusal(watch: Watch, best: Attempt, cool: Attempt | None) -> Diagnosis | None:
    """Why there is no plan, by all that is known."""
    if watch.weight is not None:
        return watch.weight.told
    if best.ok and (watch.fits or watch.fastest is None or not watch.fastest.ok):
        return between_knots(best, cool)
    return diagnose(best, calmer(watch.fastest) if watch.fastest is not None else None, cool, watch.passed)


def calmer(fastest: Attempt) -> Attempt:
    """The shortest motion; between ends that move, where another duration is another motion, a little slower one that keeps its limits."""
    ends, T = fastest.problem.ends, fastest.motion.duration
    if not fastest.ok or not np.any([ends.v0, ends.v1]):
        return fastest
    planner = Planner(Weights(heat=1.0), PATIENT, budget=spent() + CALMING)
    tasks = (replace(fastest.problem, free=False, move=replace(fastest.problem.move, duration=factor * T)) for factor in SLOWER)
    tried = (planner.attempt(task, task.guess(fastest.motion), rigid=True) for task in tasks if not planner.late)
    return next((found for found in tried if found.ok and OFTEN.by(found.margins)), fastest)


def keeps(best: Attempt) -> bool:
    """Whether this is an optimum that keeps all limits."""
    return best.ok and (best.worst is None or best.worst.fraction >= -ALLOWED)


def hurried(problem: MoveProblem) -> bool:
    """Whether the joint cubic breaks limits in the time asked for, but for rates, which it jumps beyond in any."""
    if problem.robot.loops:
        return False
    found = margins(problem.robot, problem.straight, 2)
    return any(m.fraction < 0.0 and m.limit not in RATES for row in found.values() for m in row.values())


def heated(problem: MoveProblem, fastest: Attempt | None) -> bool:
    """Whether limits of means may be in the way: where the shortest motion is known, if it uses up one of them, nearly."""
    if not problem.driven.means or fastest is None or not fastest.ok:
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
