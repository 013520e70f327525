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
from armature.optimize.by_durations import by_durations
from armature.optimize.carry import carried
from armature.optimize.certify import ALLOWED, margins
from armature.optimize.diagnose import between_knots, diagnose
from armature.optimize.driven import Weights
from armature.optimize.follow_path import FollowPath
from armature.optimize.forbidden import forbidden
from armature.optimize.interior import Options, solve, stages
from armature.optimize.least_along import least_time_along
from armature.optimize.loop_move import move_problem
from armature.optimize.move import MoveProblem, guess_duration
from armature.optimize.plan import Attempt, Planner, choose, finer_problem, worst_margin
from armature.optimize.result import Multipliers, Result, Status
from armature.optimize.solution import Solution
from armature.optimize.task import Move
from armature.robot.model import Robot
from armature.simulate.ledger import flow_of, motion_steps

COARSE = 50  # knots for the search of branches
PRICES = (10.0, 3.0, 1.0)  # of jerk, in units that make about 1 % of the duration
LAST = 0.01  # the last price
SMALL = 1.5e-3  # violation between knots up to which a limit is drawn in instead of doubling the knots
COUNTED_LATER = "regenerative"  # the supply does not matter for the time: the simplest one is solved with
CHALLENGES = 4  # times that something shorter is looked for
SHORTER = 0.993  # of the best motion's time; coarse knots make motions look a little shorter than they are
LITTLE = 0.995  # of the best motion's time: what the last search begins with
QUICK = Options(tolerance=1e-4, iterations=60)
MORE = 0.6  # of the time for a quick look, if the first part of it led to nothing
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

    knots: steps in time.  guess: a motion to start from, besides the others.  starts: how many starting motions are tried (by default
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
    planner = Planner(Weights(time=1.0), options or Options(iterations=100), callback, None if deadline is None else begin + deadline)
    best = branches(planner, replace(problem, N=min(knots, COARSE)), guess, starts)
    best, notes = polished(planner, problem, best)
    if starts != 1:
        best, notes = challenged(planner, problem, best, notes)
    if starts != 1 or not best.ok or between_knots(best) is not None:
        best, notes = settled(planner, problem, best, notes)
    diagnosis = between_knots(best) if best.ok else diagnose(best, None)
    best = replace(best, problem=replace(best.problem, supply=counted))
    return solution(best, diagnosis, notes, time.perf_counter() - begin)


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


def shortest(problem: MoveProblem, seconds: float, callback: Callable | None = None) -> Attempt:
    """The shortest motion found in so many seconds of computing, roughly: to about 1 %."""
    asked, problem = problem.duration, free_problem(replace(problem, supply=COUNTED_LATER, free=True))
    stages(problem.driven.model)  # compiling does not count
    planner = Planner(Weights(time=1.0), Options(iterations=80), callback, budget=time.thread_time() + seconds)
    best = branches(planner, problem, None, 1)
    for _ in range(CHALLENGES):
        found = faster(planner, problem, best) if best.ok and not planner.late else None
        better = sharpened(planner, found.problem, found, 0.3, 0.1) if found is not None else None
        if better is None or better.motion.duration >= best.motion.duration:
            break
        best = better
    if not best.ok:
        found = by_durations(replace(planner, budget=time.thread_time() + MORE * seconds), problem, asked)
        best = found[0] if found is not None else best
    return best


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
    jerk = 0.01 * duration**6 / (COARSE * 192 * way)
    return lambda f: Weights(time=1.0, jerk=jerk * f, heat=HEAT * duration / max(heat, 1e-9))


def branches(planner: Planner, problem: MoveProblem, guess: Trajectory | None, starts: int | None) -> Attempt:
    """The best of the branches that the starting motions lead to, at a moderate price of jerk."""
    given = [g for g in (guess,) if g is not None]
    motions: Sequence[Any] = [*given, None, *detours(problem)]
    enough = len(motions) if starts is None else max(1, starts)
    found: list[Attempt] = []
    for k, motion in enumerate(motions):
        if planner.late or (k >= enough and any(a.ok for a in found)):
            break
        found.append(approach(planner, problem, motion))
    return choose(found)


def approach(planner: Planner, problem: MoveProblem, motion: Trajectory | None) -> Attempt:
    """From a starting motion down the first prices."""
    start = problem.guess(motion)
    last: Attempt | None = None
    weights = prices(problem, problem.duration, cubic_heat(problem))
    for f in PRICES:
        attempt = planner.attempt(problem, start, weights=weights(f))
        if last is None and not attempt.ok:
            attempt = planner.attempt(problem, start, weights=weights(10.0 * f))
        if not attempt.ok:
            return last or attempt
        if last is None:
            weights = prices(problem, attempt.motion.duration, copper(problem, attempt.motion))
        start, last = attempt.result, attempt
        if planner.late:
            break
    return last or attempt


def polished(planner: Planner, problem: MoveProblem, best: Attempt) -> tuple[Attempt, list[str]]:
    """The branch with all its knots, ever lower prices, exact friction, and limits kept between knots."""
    notes: list[str] = []
    if not best.ok:
        return best, notes
    branch, small = best, SMALL
    best = sharpened(planner, problem, branch, 1.0) or branch
    for _ in range(6):
        worst = worst_margin(problem.robot, best.motion)
        if worst is None or worst.fraction >= -ALLOWED or planner.late:
            break
        finer, note = finer_problem(replace(best.problem, directions=None), worst, small)
        better = sharpened(planner, finer, best, 0.1) if note else None
        if better is None and note and finer.N != best.problem.N:
            better = sharpened(planner, finer, branch, 1.0)  # once more from the branch's smooth motion
        if better is not None:
            best = better
            notes.append(note)
        elif small == np.inf:
            break
        else:
            small = np.inf  # more knots did not help: draw limits in instead
    return best, notes


def challenged(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> tuple[Attempt, list[str]]:
    """Something shorter, sought from all starts with heat as the cost and the duration bounded: this leads to other branches."""
    for _ in range(CHALLENGES):
        found = faster(planner, replace(problem, N=min(problem.N, COARSE)), best) if best.ok and not planner.late else None
        if found is None:
            break
        better = sharpened(planner, found.problem, found, 0.3)
        better, told = polished(planner, problem, better) if better is not None else (found, [])
        if not better.ok or better.motion.duration >= best.motion.duration * (1 - 1e-4):
            break
        best, notes = better, told
    return best, notes


def settled(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> tuple[Attempt, list[str]]:
    """By motions of given durations: from a little below the best motion's; from its own where it breaks limits or gears have corners."""
    if planner.late or best.result.status is Status.INTERRUPTED:
        return best, notes
    kept = best.ok and between_knots(best) is None
    if kept and not problem.driven.smooth.power:
        found = by_durations(planner, problem, LITTLE * best.motion.duration, best.motion, (1.0,))
    else:
        known = best.motion if best.ok else None
        found = by_durations(planner, problem, known.duration if known is not None else problem.duration, known)
    better = found is not None and not (kept and found[0].motion.duration >= best.motion.duration)
    return found if found is not None and better else (best, notes)


def faster(planner: Planner, problem: MoveProblem, best: Attempt) -> Attempt | None:
    """A motion that takes at most SHORTER of the best one's time, None where no start leads to one."""
    T = SHORTER * best.motion.duration
    problem = replace(problem, move=replace(problem.move, duration=T))
    weights = Weights(heat=1.0 / max(copper(problem, best.motion), 1e-9))
    for motion in (None, *detours(problem)):
        question = problem.problem(weights)
        low, high = (np.asarray(side, dtype=float) for side in question.p)
        bounded = replace(question, p=(low, np.minimum(high, T))) if problem.legs == 1 else question
        if problem.legs > 1:
            totals = problem.driven.total_bounds(None)
            totals[1][-1] = T
            bounded = replace(question, totals=totals)
        result = solve(bounded, problem.guess(motion), QUICK, planner.callback, planner.left())
        found = Attempt(problem, result, problem.trajectory(result), float(np.sum(result.p)))
        if found.ok:
            return found
        if planner.late:
            break
    return None


def sharpened(planner: Planner, problem: MoveProblem, best: Attempt, price: float, last: float = LAST) -> Attempt | None:
    """Prices lowered step by step to the last one, then the directions of dry friction kept; None where that failed."""
    problem = replace(problem, move=replace(problem.move, duration=best.motion.duration))
    weights = prices(problem, best.motion.duration, copper(problem, best.motion))
    start: Any = problem.guess(best.motion) if problem.N != best.problem.N else best.result
    found: list[Attempt] = []
    f, ratio, failures = price, 0.3, 0
    while f >= last and failures < 3 and not planner.late:
        attempt = planner.attempt(problem, start, weights=weights(f))
        if attempt.ok:
            found.append(attempt)
            start, f = attempt.result, f * ratio
        else:
            failures += 1
            if not found and failures == 1 and problem.N != best.problem.N:
                start = carried(best.result, best.motion, problem)  # the motion alone did not do: with the multipliers
            else:
                f *= 1.5 if found else 3.0
            ratio = ratio**0.5
    if not found:
        return None
    return exact_law(planner, choose(found), weights(max(f, last)))


def exact_law(planner: Planner, best: Attempt, weights: Weights) -> Attempt:
    """The same with the directions of dry friction kept, where that succeeds."""
    if not best.problem.driven.dry or best.problem.driven.smooth.power:
        return best
    exact = planner.directed(best, weights)
    return exact if exact.ok else best


def detours(problem: MoveProblem) -> list[Trajectory]:
    """The joint cubic with a bump of one joint after the other, to both sides, within its range."""
    robot, T = problem.robot, problem.duration
    t = np.concatenate([[0.0], np.cumsum(problem.steps(T))])
    q, v, a = problem.cubic(t)
    s, w = t / T, 1.0 / T
    bump = [np.sin(np.pi * s) ** 2, np.pi * w * np.sin(2 * np.pi * s), 2 * (np.pi * w) ** 2 * np.cos(2 * np.pi * s)]
    found = []
    for j, name in enumerate(robot.joint_names):
        low, high = (problem.driven.joint_limit(name, side) for side in ("lower", "upper"))
        room = min(high - low, 2 * np.pi)
        for size in (-0.25 * room, 0.25 * room):
            size = float(np.clip(size, 0.9 * (low - q[:, j].min()), 0.9 * (high - q[:, j].max())))
            if abs(size) > 0.02 * room and not problem.move.via:
                moved = [np.array(x) for x in (q, v, a)]
                for x, b in zip(moved, bump):
                    x[:, j] += size * b
                found.append(Trajectory(t, moved[0], moved[1], moved[2], robot.joint_names))
    return found


def cubic_heat(problem: MoveProblem) -> float:
    """Copper heat of the joint cubic, J."""
    t = np.concatenate([[0.0], np.cumsum(problem.steps(problem.duration))])
    return copper(problem, Trajectory(t, *problem.cubic(t), problem.robot.joint_names))


def copper(problem: MoveProblem, motion: Trajectory) -> float:
    """Copper heat of a motion, J."""
    steps = motion_steps(problem.robot, motion, 200)
    return float(steps.dt @ stack(flow_of(problem.robot, steps), "copper").sum(1))
