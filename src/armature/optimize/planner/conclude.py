"""The end of a search for least energy: a plan after all from other starts, or why there is none.

What may make a task impossible is looked into as soon as a search gets stuck: the shortest motion, passing times that can be met, the
coolest motion. Where a motion is known that does the task, the search from it takes as long as it needs; where none is, it is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, MEANS, Margin, margins
from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.diagnosis.diagnose import FAR, between_knots, coolest, diagnose, hottest, least_hot, whirling
from armature.optimize.diagnosis.earlier import Passed, nearest_passing, timed
from armature.optimize.diagnosis.forbidden import Weighed, lifts, weighed
from armature.optimize.planner.answer import arrives
from armature.optimize.planner.effort import spent
from armature.optimize.planner.firm import firm
from armature.optimize.planner.ladder import Rung, kept
from armature.optimize.planner.plan import IDLE, SAME, Attempt, Planner
from armature.optimize.planner.quick_time import shortest
from armature.optimize.planner.refine import ENOUGH, drawn_in_there, finer_problem
from armature.optimize.planner.slower import OFTEN, RATES, Allowed, run_slower
from armature.optimize.planner.surest import as_it_is, closely, run_in, short_one, shortest_of_all, slow_cubic
from armature.optimize.problem.interrupt import interrupted
from armature.optimize.problem.result import Iteration, Status
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem
from armature.scene.floor import LIMIT

PURSE = 1.4  # seconds of computing for all searches until a motion is known that does the task: without one, this is when it is refused
KEPT = 1.3  # the same at least, for a motion to fall back on where the task seems possible
CLOSELY = 0.7  # the same for the end of a branch with all knots, where it seems to be a little longer than the task allows
OTHERWISE = 0.4  # the same for a search that got stuck
TIGHT = 1.02  # times the shortest motion's duration: in less, motions of least energy may jump to and fro however they are cured
BRIEFLY, MENDING = 2.5, 0.5  # seconds of computing, about, for each search then, and for repairs, unless one keeps its limits nearly
LONG = 0.5  # seconds of computing after which it is asked what is in the way, if the joint cubic breaks limits
GLANCE = 0.5  # seconds of computing, about, to find a short motion where it may be
SURELY = 3.0  # the same from a shortest motion that does the task
CALMING, EACH = 0.6, 0.15  # the same for a shortest motion that keeps limits between knots, and for each duration tried
EASIER = 1.004  # times the duration of a shortest motion that keeps its limits: what is told
SLOWER = 1.005, 1.03, 1.1, 1.5, 3.0  # times the duration of one that does not; the first where it exceeds them by little
QUICK = 0.98  # of the duration asked for: a motion that is quicker is quick enough
CHEAPER = 2e-3  # of the energy: by which the joint cubic must cost less than a plan to be taken instead
NOT_LEAST = "no search for least energy ended within all limits: this is the cheapest motion met that keeps them"
CUBIC = "no search found anything cheaper than the joint cubic"
GIVEN = "no search for least energy ended within all limits: this is the motion given, run in the time asked for"
FEW, LEG = 50, 25  # knots of a quick look: of a move, and of each leg, where joints may set out and stop in a step or two
LOOK = 0.8  # seconds of computing, about, to find the shortest motion
PASSING = 0.4  # the same for passing times that can be met
USED_UP = 0.05  # what is left of the limit of a mean that is in the way
NEARLY = 0.02  # violation, as a fraction of the limit, of a motion that is worth a search
DRAWS = 8  # times that a limit is drawn in at most
ASTRAY = 5.0  # times what was exceeded before
ALIKE = 0.01  # of its duration: by which a motion with few knots differs from that with all of them where a quick look can be trusted
CLEARLY, ROUGHLY = 0.972, 0.9  # of the shortest motion found, where that can be trusted or not: below this the search is given up
NEAR = Allowed(2e-3, 2e-3, 0.2, 4)  # what a motion may exceed that is said to do the task


class Watch:
    """Follows a search: when its rows begin to stretch, it looks into what may be in the way, and lets it last no longer than may help.

    fastest: the shortest motion.  close: whether it was sought with all knots.  trusted: whether that changed little.
    lost: about the duration, s, of something clearly shorter that was met and not followed to its end.
    passed: passing times that can be met.  weight: of a payload that the joint cubic cannot move.
    possible: whether a motion is known that does the task, or nothing speaks against it.  sure: one to fall back on, where it was needed.
    purse: of what searches count (`effort.spent`), s, until a motion is known that does the task.  given: a motion to start from.
    met: all motions of the duration asked for."""

    def __init__(self, problem: MoveProblem, callback: Callable | None, given: Trajectory | None = None) -> None:
        self.problem, self.callback, self.ended, self.given = problem, callback, False, given
        self.looked, self.begun, self.purse = False, spent(), spent() + PURSE
        self.until = self.ends = math.inf
        self.met: list[Attempt] = []
        self.fastest: Attempt | None = None
        self.close, self.trusted, self.lost = False, False, math.inf
        self.passed: Passed | None = None
        self.weight: Weighed | None = None
        self.possible, self.sure = True, None

    def look(self) -> None:
        """Find out what is in the way, once, and how long the search may last."""
        if self.looked:
            return
        self.looked = True
        knots = max(FEW, LEG * (len(self.problem.points) - 1))
        few, enough = replace(self.problem, N=min(self.problem.N, knots)), QUICK * self.problem.duration
        steep = lifts(self.problem)
        self.fastest, self.lost = shortest(few, min(GLANCE if steep else LOOK, self.left), self.callback, enough, not steep)
        near = self.fastest.ok and self.fastest.motion.duration < FAR * self.problem.duration
        self.weight = weighed(self.problem, self.left) if steep and not near else None
        if steep and not self.fastest.ok and self.weight is None:
            self.fastest, self.lost = shortest(few, min(LOOK, self.left), self.callback, enough)
        if self.fits and timed(self.problem):
            self.passed = nearest_passing(self.problem, self.fastest, min(PASSING, self.left))
        self.look_closely()
        starts = self.starts(None)
        # what is too long leads to the task, if at all, by a search for shorter motions
        fitting = [start for start in starts if start is not self.fastest or self.fits]
        self.possible = any(self.does(start.motion) for start in starts) or self.secured(fitting)
        if steep and self.fits and not self.possible:  # quick motions may fling a payload that slower ones must carry
            self.weight = weighed(self.problem, max(KEPT, self.left))
            self.possible = self.weight is not None and not self.weight.certain and self.secured([self.weight.found])
        self.grant(OTHERWISE if self.possible else min(OTHERWISE, self.left), BRIEFLY)

    def look_closely(self) -> None:
        """Where the shortest motion takes a little longer than the task allows, find it with all knots: few of them may tell some per cent
        too much. It is trusted where that changes little: of 57 such moves, the least times known are at most 1.7 % shorter."""
        if not self.near or self.fits or self.weight is not None or not isinstance(self.fastest, Rung) or self.problem.robot.loops:
            return
        self.close = True
        rough, exact = self.fastest, closely(self.problem, self.fastest, CLOSELY, self.callback)
        if exact is not None:
            self.trusted = not self.doubted and abs(exact.motion.duration / rough.motion.duration - 1.0) < ALIKE
            self.fastest = exact

    def agree(self, short: Attempt) -> None:
        """Take the shortest motion of another search, unless what is known is shorter and keeps its limits too: two that were made with all
        knots are trusted. Of 55 moves the shorter of both takes at most 1.4 % longer than the least time known."""
        self.trusted = self.close and not self.doubted
        if self.fastest is None or self.fits or not kept(self.fastest) or short.motion.duration < self.fastest.motion.duration:
            self.fastest = short

    def secured(self, starts: list[Attempt]) -> bool:
        """Whether a motion to fall back on is found from one of these, with what is left of the purse or a little more."""
        for k, start in enumerate(starts):
            if self.sure is None and (k == 0 or self.left > 0.0):
                self.sure = firm(self.problem, start, max(KEPT, self.left), self.callback)
        return self.sure is not None

    def grant(self, seconds: float, tight: float = math.inf) -> None:
        """Let the search go on for so many seconds of computing. tight: the same at most, where it keeps limits badly in a short time."""
        self.until, self.ends = spent() + seconds, spent() + (tight if self.tight else math.inf)

    @property
    def left(self) -> float:
        """Seconds of computing that are left of the purse."""
        return max(0.0, self.purse - spent())

    @property
    def fits(self) -> bool:
        """Whether the shortest motion takes no longer than the task allows."""
        return self.fastest is not None and self.fastest.ok and self.fastest.motion.duration <= (1.0 + SAME) * self.problem.duration

    @property
    def doubted(self) -> bool:
        """Whether something clearly shorter than the shortest motion found was met."""
        return self.lost < math.inf

    @property
    def stopped(self) -> bool:
        """Whether the user has ended the search."""
        return self.ended or interrupted()

    @property
    def promising(self) -> bool:
        """Whether a search that does not get stuck may go on: a motion is known that does the task, or the shortest is hardly longer."""
        return self.possible or (self.near and not self.fits)

    @property
    def tight(self) -> bool:
        """Whether the task takes about as long as the shortest motion."""
        return self.near and self.fastest is not None and self.problem.duration < TIGHT * self.fastest.motion.duration

    @property
    def near(self) -> bool:
        """Whether the shortest motion takes hardly longer than the task allows, or no longer. Where a quick look is not to be trusted, a
        motion may be a good deal shorter."""
        if self.fastest is None or not self.fastest.ok:
            return False
        part = CLEARLY if self.trusted else ROUGHLY
        return part * min(self.fastest.motion.duration, self.lost) < self.problem.duration

    @property
    def jumpy(self) -> bool:
        """Whether a search in a short time has gone on for long, and met nothing that keeps its limits, nearly."""
        return spent() > self.ends and not any(found.ok and found.nearly for found in self.met)

    def starts(self, cool: Attempt | None) -> list[Attempt]:
        """Motions of about the task's duration to search from, the best known first. cool: the coolest one."""
        found = [self.weight.found if self.weight is not None and not self.weight.certain else None]
        found.append(self.passed.found if self.passed is not None and self.passed.part == 0.0 else None)
        found.append(cool if cool is not None and cool.ok and keeps_limits(cool) else None)
        found.append(self.fastest if self.near and not timed(self.problem) else None)
        return [attempt for attempt in found if attempt is not None]

    def does(self, motion: Trajectory) -> bool:
        """Whether a motion is known to do the task within its limits, but for what more knots cure."""
        same = abs(motion.duration - self.problem.duration) < SAME * motion.duration
        if self.problem.moving and not same:
            return False
        run = motion if same else stretched(motion, self.problem.duration)
        return NEAR.by(m for row in margins(self.problem.robot, run, NEAR.finer).values() for m in row.values())

    @property
    def word(self) -> str:
        """What is known so far of a task that seems to be impossible, in a sentence; empty where it does not."""
        if self.fastest is None or not self.fastest.ok or self.fits:
            return ""
        asked, known = self.problem.duration, self.fastest.motion.duration
        return f"no motion in {asked:.4g} s is found yet; by what is known so far {known:.4g} s will do"

    def __call__(self, line: Iteration) -> bool:
        """True ends the search."""
        self.ended = self.stopped or bool(self.callback and self.callback(replace(line, note=self.word) if self.looked else line))
        if line.elastic and not self.stopped:
            self.look()
        elif spent() > self.begun + LONG and not self.stopped:
            self.begun = math.inf
            if hurried(self.problem):
                self.look()
        # where the task may be possible, a search whose rows do not stretch is not stuck
        return self.stopped or self.jumpy or (spent() > self.until and (line.elastic or not self.promising))


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
                if not watch.near and watch.given is None:
                    return best, notes, told
        elif hurried(problem):
            watch.look()
        watch.grant(math.inf if watch.promising else watch.left, MENDING)
        best, notes = repaired(planner, best, notes)
    if keeps(best) or ended():
        best, notes = no_worse(planner, problem, best, notes) if best.ok else (best, notes)
        return best, notes, between_knots(best, cool) if best.ok else None
    watch.look()
    if cool is None and heated(problem, watch.fastest):
        cool = coolest(problem, watch.fastest.motion if watch.fastest is not None and watch.fastest.ok else None)
    other = from_others(planner, watch, cool) or from_short(planner, watch) or from_given(planner, watch)
    if other is not None:
        plan, told = no_worse(planner, problem, *other)
        return plan, [*told, *filter(None, [str(whirling(best) or "")])], None
    return best, notes, refusal(watch, best, cool)


def from_others(planner: Planner, watch: Watch, cool: Attempt | None) -> Plan | None:
    """A plan from what else is known, where that leads to a motion that does the task; where no search from it ends, the cheapest motion
    met that does. None where there is none.

    The search from such a motion takes as long as it needs; without one, what is left of the purse."""
    watch.grant(math.inf)
    starts = watch.starts(cool)
    runs = (run_in(planner, watch.problem, start.motion) for start in starts if watch.sure is None)
    watch.sure = next((found for found in runs if found is not None), watch.sure)
    watch.possible |= watch.sure is not None or watch.secured(starts if watch.possible else [start for start in starts if start is cool])
    for motion in [watch.sure.motion] if watch.sure is not None else [start.motion for start in starts]:
        if planner.late or watch.stopped:
            break
        watch.grant(math.inf if watch.possible else watch.left, BRIEFLY)
        search = planner if watch.possible else replace(planner, budget=spent() + max(KEPT, watch.left))
        found, notes = search.plan(watch.problem, motion)
        found, notes = repaired(search, found, notes) if found.ok else (found.anyhow(), notes)
        if keeps(found):
            return found, [*notes, *filter(None, [found.note])]
    return known(planner, watch.problem, [*filter(None, [watch.sure]), *starts])


def from_short(planner: Planner, watch: Watch) -> Plan | None:
    """The shortest motion within all limits, run in the time asked for, or a calm one from it; where it is longer, that is told instead,
    and None returned. It is sought soon, and else by the whole search for it."""
    problem = watch.problem
    if watch.stopped or not (watch.possible or watch.near) or planner.left() == 0.0:
        return None
    watch.grant(math.inf)
    for search in (shortest_of_all,) if watch.close and (watch.trusted or watch.doubted) else (short_one, shortest_of_all):
        settled = watch.stopped or (watch.trusted and not (watch.possible or watch.near))
        short = None if settled else search(planner, problem)
        if short is None:
            continue
        watch.agree(short)
        if watch.fits:
            found = run_in(planner, problem, short.motion) or firm(problem, short, SURELY, watch.callback)
            if found is not None:
                return found, [found.note or NOT_LEAST]
    return None


def from_given(planner: Planner, watch: Watch) -> Plan | None:
    """The motion that the search was given to start from, run in the time asked for; None where it breaks limits then."""
    if watch.given is None or watch.stopped:
        return None
    found = run_in(planner, watch.problem, watch.given, GIVEN)
    return None if found is None else (found, [GIVEN])


def no_worse(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> Plan:
    """The plan, or the joint cubic where that keeps all limits and costs less: a search may end at a poor optimum of its own."""
    if problem.robot.loops:
        return best, notes
    if planner.value(problem, problem.straight) > best.value - CHEAPER * abs(best.value):
        return best, notes
    cubic = as_it_is(planner, problem)
    better = cubic.ok and cubic.value < best.value
    return (replace(cubic, note=CUBIC), [CUBIC]) if better else (best, notes)


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
    least = watch.fastest if watch.fastest is not None and watch.fastest.ok else None
    fastest = (calmer(least) if least is not None else None) or slow_cubic(watch.problem)
    if best.ok and (fastest is None or fastest.motion.duration <= watch.problem.duration):
        return between_knots(best, cool)
    return diagnose(best, fastest, least.motion.duration if least is not None else math.inf, cool, watch.passed)


def calmer(fastest: Attempt) -> Attempt | None:
    """The shortest motion a little slower, so that it keeps all limits between its knots too, with something to spare for the search; None
    where none is found.

    Where it must be run much slower, or its ends move, so that another duration is another motion, calm ones are tried."""
    problem, T, budget = fastest.problem, fastest.motion.duration, spent() + CALMING
    slower = None if problem.moving else run_slower(problem, fastest.motion, OFTEN)
    known = None if slower is None else replace(fastest, motion=stretched(slower, EASIER * slower.duration))
    most = T * SLOWER[-1] if known is None else known.motion.duration / SLOWER[1]
    for factor in SLOWER if keeps_limits(fastest) else SLOWER[1:]:
        task = replace(problem, free=False, move=replace(problem.move, duration=factor * T))
        found = firm(task, fastest, EACH) if factor * T <= most and spent() < budget else None
        if found is not None:
            return found
    return known or (fastest if keeps_limits(fastest) else None)


def keeps(best: Attempt) -> bool:
    """Whether this is an optimum that does the task and keeps all limits: a search may end beside its goal by more than is allowed."""
    return best.ok and arrives(best) and (best.worst is None or best.worst.fraction >= -ALLOWED)


def hurried(problem: MoveProblem) -> bool:
    """Whether the joint cubic breaks limits in the time asked for, but for rates, which it jumps beyond in any."""
    if problem.robot.loops:
        return False
    found = margins(problem.robot, problem.straight, 2)
    return any(m.fraction < 0.0 and m.limit not in (*RATES, LIMIT) for row in found.values() for m in row.values())


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
