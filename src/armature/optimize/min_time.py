"""`minimize_time`: the shortest motion between two configurations (B7), with the duration as an unknown of the solver.

The shortest motion jumps from limit to limit. It is approached through a small price on jerk and heat, which is lowered step by step;
several starting motions (the joint cubic, and detours of every joint to both sides) lead to several branches, of which the best is kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armature.drive import as_supply, stack
from armature.motion.trajectory import Trajectory
from armature.optimize.answer import check_task, solution
from armature.optimize.by_durations import Found, by_durations
from armature.optimize.carry import carried, guess_from
from armature.optimize.certify import ALLOWED, margins
from armature.optimize.detours import detours, skewed
from armature.optimize.diagnose import between_knots, diagnose
from armature.optimize.driven import Weights
from armature.optimize.follow_path import FollowPath
from armature.optimize.forbidden import forbidden
from armature.optimize.guess import stretched
from armature.optimize.interior import Options, solve
from armature.optimize.least_along import least_time_along
from armature.optimize.loop_move import move_problem
from armature.optimize.move import MoveProblem, guess_duration
from armature.optimize.plan import FINEST, Attempt, Planner, finer_problem
from armature.optimize.problem import Problem
from armature.optimize.resting_time import cooled
from armature.optimize.rests import RestingMove
from armature.optimize.result import Multipliers, Result, Status
from armature.optimize.solution import Diagnosis, Solution
from armature.optimize.task import Move
from armature.robot.model import Robot
from armature.simulate.ledger import flow_of, motion_steps

COARSE = 50  # knots for the search of branches
PRICES = (10.0, 3.0, 1.0)  # of jerk, in units that make about 1 % of the duration
OTHER_PRICES = (1.0, 1e3)  # where the first one leads to nothing
LOWER = (0.3, 0.1)  # prices at which branches are compared
LAST = 0.02  # the last price
LOWEST = 5e-4  # the last one where lower prices still gain much
SLOWER = (1.001, 1.002, 1.004, 1.007, 1.012, 1.02, 1.035, 1.06)  # times the duration of a motion that breaks limits between knots
AGAIN = 0.07  # the price from which a motion is sharpened again with more knots or limits drawn in
SMALL = 1.5e-3  # violation between knots up to which a limit is drawn in instead of doubling the knots
COUNTED_LATER = "regenerative"  # the supply does not matter for the time: the simplest one is solved with
CHALLENGES = 4  # times that something shorter is looked for
SHORTER = 0.993  # of the best motion's time
CALM = 1.01  # of the best motion's time: where the last search comes from
LITTLE = 0.995  # of the best motion's time: what the last search begins with
SAME = 1e-3  # of the duration: two motions nearer than this, and ten times as near in all joints, are one
NARROWEST = 0.3, 0.1  # of the first widths of gears' corners and of dry friction's beside them
EARLY = 0.4, 0.6  # of the time allowed: for the search of branches, and for something shorter
QUICK = Options(tolerance=1e-4, iterations=60)
ROUGH = Options(tolerance=1e-4, iterations=100)  # of branches
ROUGHLY = Options(tolerance=1e-5, iterations=100)  # of what is compared with equal knots
FINE = Options(tolerance=1e-6, iterations=70)
WORTH = 3e-4  # of the duration: prices are lowered while that gains more
FINER = 2e-3  # of the duration: knots are doubled while that gains more
HEAT = 5e-4  # price of heat, as a part of duration/heat


def minimize_time(
    robot: Robot,
    task: Move | FollowPath,
    knots: int = 100,
    guess: Trajectory | None = None,
    starts: int | None = None,
    deadline: float | None = None,
    callback: Callable | None = None,
    options: Options | None = None,
    supply: Any = None,
) -> Solution:
    """The shortest motion of the task, within all limits of joints and drives; a duration in the task is only a first guess.

    knots: steps in time, at least.  guess: a motion to start from, besides the others.  starts: how many starts are tried (by default
    the joint cubic and a detour of every joint to both sides).  deadline: seconds after which the best so far is returned.
    supply: what energy, ledger, baseline and saving of the motion are counted with, as in `minimize_energy`.
    callback: called with every iteration; a true answer stops. Limits are checked between knots, and the plan refined where they break.
    """
    if isinstance(task, FollowPath):
        return least_time_along(robot, task, supply, knots=knots, deadline=deadline, callback=callback, options=options)
    check_task(robot, task, timed=False)
    begin = time.perf_counter()
    counted = as_supply(supply if supply is not None else robot.supply)
    diagnosis = forbidden(robot, task)
    if diagnosis is not None:
        return solution(unsearched(move_problem(robot, task, counted, knots)), diagnosis, [], time.perf_counter() - begin)
    problem = free_problem(move_problem(robot, task, COUNTED_LATER, knots, free=True))
    exact = options or (ROUGHLY if problem.driven.smooth.power else FINE)
    planner, *early = (Planner(Weights(time=1.0), exact, callback, deadline and begin + part * deadline) for part in (1.0, *EARLY))
    coarse = replace(problem, N=min(knots, COARSE))
    best = branches(planner, coarse, guess, starts, early[0])
    best = challenged(early[1], coarse, best) if starts != 1 else best
    best = cooled(early[1], best, prices(coarse, best.motion.duration, copper(coarse, best.motion))(PRICES[-1]))
    problem = replace(best.problem, N=knots, smooth=None) if isinstance(best.problem, RestingMove) else problem
    best, notes = polished(planner, problem, best)
    best, notes = refined(planner, problem, best, notes) if starts != 1 else (best, notes)
    if starts != 1 or not best.ok or not kept(best):
        best, notes = settled(planner, problem, best, notes)
    diagnosis = between_knots(best) if best.ok else unfinished(best) or diagnose(best, None)
    best = replace(best, problem=replace(best.problem, supply=counted))
    return solution(best, diagnosis, notes, time.perf_counter() - begin)


def unfinished(best: Attempt) -> Diagnosis | None:
    """A search that was ended before it found anything: what its motion exceeds tells nothing. None for others."""
    ended = best.result.status in (Status.DEADLINE, Status.INTERRUPTED)
    return Diagnosis(best.result.status.value, remedy="Allow more time, or give a motion to start from (guess=…).") if ended else None


def unsearched(problem: MoveProblem) -> Attempt:
    """The joint cubic of a task that is wrong by itself: something to look at, without a search."""
    t = np.concatenate([[0.0], np.cumsum(problem.steps(problem.duration))])
    q, v, a = problem.cubic(t)
    none = np.zeros(0)
    nothing = Multipliers(none, none, none, none, none, none, none, none, 0.0)
    result = Result(Status.INFEASIBLE, np.hstack([q, v, a]), np.zeros((problem.N, 0)), none, np.nan, none, (), (), nothing, 0.0)
    return Attempt(problem, result, Trajectory(t, q, v, a, problem.robot.joint_names), np.nan)


def short(problem: MoveProblem) -> float:
    """A duration near the least one, s: of the motion that the joint cubic leads to, or of the joint cubic itself."""
    problem = free_problem(replace(problem, supply=COUNTED_LATER, free=True))
    weights = prices(problem, problem.duration, cubic_heat(problem))
    first = Planner(Weights(time=1.0), Options(tolerance=1e-3, iterations=30)).attempt(problem, problem.guess(), weights=weights(PRICES[1]))
    return first.motion.duration if first.ok else problem.duration


def free_problem(problem: MoveProblem) -> MoveProblem:
    """The problem with a first duration at which the joint cubic keeps all limits, where there is one."""
    first = guess_duration(problem.robot, problem.ends)
    bare = replace(problem, N=30)
    feasible = None
    for T in first * np.geomspace(0.5, 64.0, 16):
        scaled = replace(bare, move=replace(problem.move, duration=float(T), via=loose(problem.move)))
        t = np.linspace(0.0, float(T), 31) if not problem.move.via else np.concatenate([[0.0], np.cumsum(scaled.steps(float(T)))])
        found = margins(problem.robot, Trajectory(t, *scaled.cubic(t), problem.robot.joint_names), 2)
        # the cubic jumps into its acceleration: rates do not tell anything
        if all(m.fraction >= 0.0 for row in found.values() for m in row.values() if m.limit not in ("jerk", "torque rate")):
            feasible = float(T)
            break
    return replace(problem, move=replace(problem.move, duration=feasible or 2 * first, via=loose(problem.move)))


def loose(move: Move) -> tuple:
    """Via points with passing times left free: the shortest motion chooses them."""
    return tuple(replace(via, at=None) for via in move.via)


def prices(problem: MoveProblem, duration: float, heat: float) -> Callable[[float], Weights]:
    """Weights by the price f of jerk: f = 1 makes a jump of the acceleration at a few knots cost 1 % of the duration."""
    legs = np.diff(problem.points, axis=0)
    way = max(1e-4, float(np.sum(np.max(legs**2, axis=1)))) * len(legs) ** 4  # every leg in its part of the time
    jerk = 0.01 * duration * (problem.busy * duration) ** 5 / (problem.N * 192 * way)
    return lambda f: Weights(time=1.0, jerk=jerk * f, heat=HEAT * duration / max(heat, 1e-9))


def branches(planner: Planner, problem: MoveProblem, guess: Trajectory | None, starts: int | None, early: Planner | None = None) -> Attempt:
    """The branch that is best at low prices, at a moderate one; starting motions that lead to one branch are followed once.

    early: with less time, for all but the first one that leads to something."""
    given = [g for g in (guess,) if g is not None]
    motions: Sequence[Any] = [*given, None, *detours(problem)]
    enough = len(motions) if starts is None else max(1, starts)
    failed: list[Attempt] = []
    tracks: list[list[Attempt]] = []
    for k, motion in enumerate(motions):
        if (tracks or failed) and (planner.late or (k >= enough and tracks)):
            break
        planner = early if early is not None and tracks else planner
        root = smoothest(planner, problem, motion, not tracks)
        if not root.ok:
            failed.append(root)
        elif not any(alike(root, track[0]) for track in tracks):
            tracks.append(lowered(planner, problem, [root], PRICES[1:]))
    if len(tracks) > 1:
        tracks = [lowered(planner, problem, track, LOWER) if len(track) == len(PRICES) else track for track in tracks]
    best = min(tracks, key=lambda track: track[-1].motion.duration, default=failed[:1])
    return best[: len(PRICES)][-1]


def smoothest(planner: Planner, problem: MoveProblem, motion: Trajectory | None, patient: bool) -> Attempt:
    """From a starting motion at the highest price. patient: at other prices too, where that fails."""
    start, weights = problem.guess(motion), prices(problem, problem.duration, cubic_heat(problem))
    found = planner.attempt(problem, start, ROUGH, weights(PRICES[0]))
    for f in OTHER_PRICES if patient else ():
        found = found if found.ok or planner.late else planner.attempt(problem, start, ROUGH, weights(f))
    return found


def lowered(planner: Planner, problem: MoveProblem, track: list[Attempt], lower: Sequence[float]) -> list[Attempt]:
    """Motions at ever lower prices, and those at the next ones, as far as that goes."""
    weights = prices(problem, track[0].motion.duration, copper(problem, track[0].motion))
    for f in lower:
        attempt = None if planner.late else planner.attempt(problem, track[-1].result, ROUGH, weights(f))
        if attempt is None or not attempt.ok:
            break
        track = [*track, attempt]
    return track


def alike(a: Attempt, b: Attempt) -> bool:
    """Whether two motions of free duration are one: as long, and nowhere far apart."""
    if not (a.ok and b.ok) or abs(a.motion.duration - b.motion.duration) > SAME * b.motion.duration:
        return False
    q, r = (x.motion(x.motion.t[0] + np.linspace(0.0, x.motion.duration, 41)).q for x in (a, b))
    return bool(np.abs(q - r).max() <= 10 * SAME * max(float(np.ptp(r, axis=0).max()), 1e-3))


def polished(planner: Planner, problem: MoveProblem, best: Attempt) -> Found:
    """The branch with all its knots, ever lower prices, exact friction, and limits kept between knots."""
    return mended(planner, sharpened(planner, problem, best, 1.0) or best) if best.ok else (best, [])


def mended(planner: Planner, best: Attempt) -> Found:
    """The same with limits kept between knots: limits drawn in, or twice the knots; at last a little slower."""
    notes: list[str] = []
    small = SMALL
    while (worst := best.worst) and worst.fraction < -ALLOWED and len(notes) < 4 and not planner.late:
        finer, note = finer_problem(replace(best.problem, directions=None), worst, small)
        better = sharpened(planner, finer, best, AGAIN) if note else None
        if better is not None:
            best = better
            notes.append(note)
        elif small == np.inf:
            break
        else:
            small = np.inf  # more knots did not help: draw limits in instead
    return slowed(best, notes)


def slowed(best: Attempt, notes: list[str]) -> Found:
    """The same motion run a little slower, where that keeps all limits."""
    if kept(best) or np.abs([best.problem.ends.v0, best.problem.ends.v1]).max() > 0.0:
        return best, notes
    for factor in SLOWER:
        trial = replace(best, motion=stretched(best.motion, factor * best.motion.duration), exact=factor * best.motion.duration)
        if kept(trial):
            return trial, [*notes, f"run {100 * (factor - 1):.2g} % slower: {best.worst}"]
    return best, notes


def refined(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> Found:
    """The same with more knots, as long as that gains something: the jumps from limit to limit take a step each."""
    N, most = problem.N, 2 * problem.N if problem.driven.smooth.power else FINEST  # lossy gears: slow, and little is gained
    while best.ok and kept(best) and best.problem.N <= N <= most // 2 and not planner.late:
        N *= 2
        better = sharpened(planner, replace(best.problem, N=N, directions=None, tighter={}), best, AGAIN)
        better, told = mended(planner, better) if better is not None else (best, notes)
        gain = best.motion.duration / better.motion.duration - 1.0
        if gain <= 0.0 or not kept(better):
            break
        best, notes = better, told
        if gain < FINER:
            break
    return best, notes


def kept(best: Attempt) -> bool:
    """Whether the motion keeps all limits, between knots too."""
    return exceeded(best) <= ALLOWED


def exceeded(best: Attempt) -> float:
    """By which part of itself a limit is exceeded most, between knots too; negative where none is."""
    return -best.worst.fraction if best.worst is not None else 0.0


def challenged(planner: Planner, problem: MoveProblem, best: Attempt) -> Attempt:
    """Something shorter, sought from all starts with heat as the cost and the duration bounded: this leads to other branches.

    Both have the same knots: fewer knots make motions longer, since jumps from limit to limit take a step each."""
    planner = replace(planner, options=ROUGHLY)
    steps = ladder(planner, problem, best, 0.3) if best.ok else []
    if steps and (other := ladder(planner, problem, replace(best, motion=skewed(best.motion)), 0.3, known=False)):
        best, steps = (other[0], other) if other[-1].motion.duration < steps[-1].motion.duration * (1 - 1e-4) else (best, steps)
    for _ in range(CHALLENGES):
        found = faster(planner, problem, steps[-1]) if steps and not planner.late else None
        better = ladder(planner, problem, found, 1.0) if found is not None else []
        if not better or better[-1].motion.duration >= steps[-1].motion.duration * (1 - 1e-4):
            break
        best, steps = better[0], better
    return best


def settled(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> Found:
    """By motions of given durations: from a little below the best motion's; from its own where it breaks limits."""
    if planner.late or best.result.status is Status.INTERRUPTED:
        return best, notes
    good = best.ok and kept(best)
    if good:
        # from the coolest motion in a little more time, with its multipliers
        calm = replace(problem, free=False, move=replace(problem.move, duration=CALM * best.motion.duration))
        near = replace(planner, weights=Weights(heat=1.0)).attempt(calm, calm.guess(best.motion), QUICK)
        found = by_durations(planner, problem, LITTLE * best.motion.duration, near if near.ok else best.motion, (1.0,))
    else:
        known = best.motion if best.ok else None
        found = by_durations(planner, problem, known.duration if known is not None else problem.duration, known)
    better = found is not None and not (good and found[0].motion.duration >= best.motion.duration)
    return found if found is not None and better else (best, notes)


def faster(planner: Planner, problem: MoveProblem, best: Attempt) -> Attempt | None:
    """A motion that takes at most SHORTER of the best one's time, None where no start leads to one."""
    problem, question = at_most(problem, SHORTER * best.motion.duration, best)
    for motion in (None, *detours(problem)):
        result = solve(question, problem.guess(motion), QUICK, planner.unless_stretched, planner.left())
        found = Attempt(problem, result, problem.trajectory(result), float(np.sum(result.p)))
        if found.ok:
            return found
        if planner.late:
            break
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


def sharpened(planner: Planner, problem: MoveProblem, best: Attempt, price: float, last: float = LAST) -> Attempt | None:
    """Prices lowered to the last one, then the directions of dry friction kept where that helps; None where that failed."""
    found = ladder(planner, problem, best, price, last)
    known = problem.driven.smooth.power or isinstance(problem, RestingMove)  # corners are narrow already
    if not found or not problem.driven.dry or planner.late or (known and kept(found[-1])):
        return found[-1] if found else None
    exact = planner.directed(found[-1], prices(problem, found[-1].motion.duration, copper(problem, found[-1].motion))(last))
    better = exact.ok and not (known and exceeded(exact) > exceeded(found[-1]))
    return exact if better else found[-1]


def ladder(planner: Planner, problem: MoveProblem, best: Attempt, price: float, last: float = LAST, known: bool = True) -> list[Attempt]:
    """Motions at prices lowered step by step to the last one, or until that gains little; none where the first ones fail.

    known: whether to start with the multipliers too."""
    problem = problem.timed_as(best.motion)
    weights = prices(problem, best.motion.duration, copper(problem, best.motion))
    start: Any = best.result if problem.N == best.problem.N else carried(best.result, best.motion, problem)
    start = start if known else guess_from(best.motion, problem)
    found: list[Attempt] = []
    f, ratio, tries, gain = price, 0.3, 2, 0.0
    lowest = last if last > LAST else LOWEST
    while (f >= last or (f >= lowest and gain > FINER)) and tries and not planner.late:
        attempt = planner.attempt(cornered(problem, f), start, weights=weights(f))
        if attempt.ok:
            gain, tries = (found[-1].motion.duration / attempt.motion.duration - 1.0, tries) if found else (1.0, 2)
            found.append(attempt)
            start, f = attempt.result, f * ratio
            if gain < WORTH * np.log(ratio) / np.log(0.3):
                break
        else:
            tries -= 1
            if found:
                f, ratio = f / ratio**0.5, ratio**0.5
            else:  # the multipliers did not help
                start, f = guess_from(best.motion, problem), 3.0 * f
    return found


def cornered(problem: MoveProblem, price: float) -> MoveProblem:
    """The problem with corners of gears, and of dry friction beside them, that are narrower the lower the price is."""
    smooth, stands = problem.driven.smooth, isinstance(problem, RestingMove)
    if not smooth.power and not stands:
        return problem
    price = min(price, min(NARROWEST) if stands else 1.0)  # what stands was found in narrow corners
    power, velocity = (max(price, least) for least in NARROWEST)
    return replace(problem, smooth=replace(smooth, power=power * smooth.power, velocity=velocity * smooth.velocity))


def cubic_heat(problem: MoveProblem) -> float:
    """Copper heat of the joint cubic, J."""
    t = np.concatenate([[0.0], np.cumsum(problem.steps(problem.duration))])
    return copper(problem, Trajectory(t, *problem.cubic(t), problem.robot.joint_names))


def copper(problem: MoveProblem, motion: Trajectory) -> float:
    """Copper heat of a motion, J."""
    steps = motion_steps(problem.robot, motion, 200)
    return float(steps.dt @ stack(flow_of(problem.robot, steps), "copper").sum(1))
