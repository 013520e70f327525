"""`minimize_time`: the shortest motion between two configurations (B7), with the duration as an unknown of the solver.

The shortest motion jumps from limit to limit. It is approached through a small price on jerk and heat, which is lowered step by step
(ladder.py), by several ways (anew.py), of which the shortest is followed until it keeps all limits between knots (mend.py) and nothing
shorter is found (contest.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armature.drive import as_supply
from armature.errors import ArgumentError, check_count
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import margins
from armature.optimize.certificate.solution import Diagnosis, Solution
from armature.optimize.diagnosis.diagnose import between_knots, diagnose
from armature.optimize.diagnosis.forbidden import forbidden
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.least_along import least_time_along
from armature.optimize.planner.anew import alike, other_ways, shortest_way
from armature.optimize.planner.answer import arrives, check_search, check_task, solution
from armature.optimize.planner.by_durations import PATIENT, UPWARDS, Found, by_durations, by_plans
from armature.optimize.planner.contest import contested
from armature.optimize.planner.effort import spent
from armature.optimize.planner.floor import move_ground, planned_above
from armature.optimize.planner.given import no_worse
from armature.optimize.planner.ladder import Rung, copper, cubic_heat, kept, prices, sharpened
from armature.optimize.planner.mend import AGAIN, deepened, mended, rank, refined
from armature.optimize.planner.nearby import larger, shrunk
from armature.optimize.planner.pipeline import Pipeline, rounds_corners, smoothed_move
from armature.optimize.planner.plan import Attempt, Planner
from armature.optimize.planner.resting_time import cooled
from armature.optimize.planner.rests import RestingMove
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.problem.result import Multipliers, Result, Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.move import MoveProblem, guess_duration
from armature.optimize.transcription.task import Move
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.scene.floor import LIMIT

COARSE = 50  # knots for the search of branches
PRICES = (10.0, 3.0, 1.0)  # of jerk, in units that make about 1 % of the duration
OTHER_PRICES = (1.0, 1e3)  # where the first one leads to nothing
LOWER = (0.3, 0.1)  # prices at which branches are compared
COUNTED_LATER = "regenerative"  # the supply does not matter for the time: the simplest one is solved with
# seconds of computing for the coolest motions of given durations, and for plans, where nothing else leads to anything; for patient plans of
# longer durations, where a motion was found that only exceeds limits between knots
PATIENCE = 4.0, 8.0, 12.0
CHOSEN = "the passing times that the task gives are left free: the shortest motion chooses its own"
EARLY = 0.4, 0.6  # of the time allowed: for the search of branches, and for something shorter
ROUGH = Options(tolerance=1e-4, iterations=100)  # of branches
HASTY = Options(tolerance=1e-4, iterations=50)  # of branches from detours
ROUGHLY = Options(tolerance=1e-5, iterations=100)  # of what is compared with equal knots
FINE = Options(tolerance=1e-6, iterations=70)


@interruptible
def minimize_time(
    robot: Robot,
    task: Move | FollowPath,
    knots: int = 100,
    guess: Trajectory | Solution | None = None,
    starts: int | None = None,
    deadline: float | None = None,
    callback: Callable | None = None,
    options: Options | None = None,
    supply: Any = None,
) -> Solution:
    """The shortest motion of the task, within all limits of joints and drives; a duration in the task is only a first guess, and passing
    times of via points are left free.

    knots: steps in time, at least.  guess: a motion or an earlier Solution to start from, besides the others.  starts: how many lead to a
    first branch (the guess, the joint cubic, detours of every joint; by default those up to the joint cubic); 1 leaves out the search for
    others.  deadline: seconds after which the best so far is returned.
    supply: what energy, ledger, baseline and saving of the motion are counted with, as in `minimize_energy`.
    callback: called with every iteration; a true answer stops. Limits are checked between knots, and the plan refined where they break.
    """
    check_search(deadline, callback, options)
    check_count(starts, "starts")
    if isinstance(task, FollowPath):
        return least_time_along(robot, task, supply, knots=knots, deadline=deadline, callback=callback, options=options)
    check_task(robot, task, timed=False, counted=False)
    task = task.in_joints(robot)
    if stays(robot, task):
        raise ArgumentError("start and goal are the same, at rest, with nothing between: the least time is 0; give a via point for a cycle")
    if unlimited(robot):
        raise ArgumentError(
            f"nothing limits how fast robot {robot.name!r} moves: the least time is 0; give its joints limits (robot.with_limits), or its "
            "motors and amplifiers their currents and voltages"
        )
    begin = time.perf_counter()
    counted = as_supply(supply if supply is not None else robot.supply)
    floor = move_ground(robot, task)
    diagnosis = forbidden(robot, task, search=False) or floor.below
    if diagnosis is not None:
        return solution(unsearched(move_problem(robot, task, counted, knots)), diagnosis, [], time.perf_counter() - begin)
    plan = lambda robot, left: least_time(robot, task, knots, guess, starts, left, callback, options, supply)
    return no_worse(planned_above(robot, floor, plan, deadline), task, guess, timed=True)


def least_time(
    robot: Robot,
    task: Move,
    knots: int,
    guess: Trajectory | Solution | None,
    starts: int | None,
    deadline: float | None,
    callback: Callable | None,
    options: Options | None,
    supply: Any,
    wide: bool = False,
) -> Solution:
    """The shortest motion of a move that is possible by itself, with the robot's own floor, if it has one; as in `minimize_time`.

    wide: by the wider search in any case: what is refused is refused by the shortest motion that can be found."""
    begin = time.perf_counter()
    counted = as_supply(supply if supply is not None else robot.supply)
    if guess is None and (near := larger(robot, task)) is not None:
        large = least_time(*near[:2], knots, None, starts, deadline, callback, options, supply)
        best = shrunk(move_problem(robot, replace(task, via=loose(task)), counted, knots, free=True), large, near[2])
        return solution(best, between_knots(best) if best.ok else large.diagnosis, list(large.notes), time.perf_counter() - begin)
    quick = None if wide else by_pipeline(robot, task, knots, guess, starts, deadline, callback, options, counted)
    if quick is not None:
        return quick
    problem = free_problem(move_problem(robot, task, COUNTED_LATER, knots, free=True))
    exact = options or (ROUGHLY if problem.driven.smooth.power else FINE)
    planner, *early = (Planner(Weights(time=1.0), exact, callback, deadline and begin + part * deadline) for part in (1.0, *EARLY))
    coarse = replace(problem, N=min(knots, COARSE))
    top = branches(planner, coarse, guess.trajectory if isinstance(guess, Solution) else guess, starts, early[0])
    low = shortest_way(replace(early[1], options=ROUGHLY), coarse, problem, top) if top.ok and starts != 1 else None
    best, notes = polished(planner, problem, low or top)
    plain = problem
    if (rest := rested(early[1], planner, knots, low or top)) is not None and rank(rest[0]) < rank(best):
        (best, notes), problem = rest, replace(rest[0].problem, N=knots, smooth=None, directions=None, tighter={}, level={})
    best, notes = refined(planner, problem, *deepened(planner, best, notes)) if starts != 1 else (best, notes)
    if not best.ok or not kept(best):
        best, notes = settled(planner, problem, best, notes)
    if starts != 1 and best.ok and kept(best):
        contest = contested(planner, plain, best, notes)
        best, notes = contest.best, contest.told
    diagnosis = between_knots(best) if best.ok else unfinished(best) or diagnose(best, None)
    best = replace(best, problem=replace(best.problem, supply=counted))
    untimed = [CHOSEN] if any(via.at is not None for via in task.via) else []
    return solution(best, diagnosis, [*untimed, *notes], time.perf_counter() - begin)


def by_pipeline(
    robot: Robot, task: Move, knots: int, guess: Trajectory | Solution | None, starts: int | None, deadline: float | None,
    callback: Callable | None, options: Options | None, counted: Any,
) -> Solution | None:  # fmt: skip
    """The shortest motion by the pipeline; None where it does not apply or finds none within all limits."""
    begin = time.perf_counter()
    if options is not None or not rounds_corners(robot, COUNTED_LATER):
        return None
    known = guess.trajectory if isinstance(guess, Solution) else guess
    move = smoothed_move(robot, replace(task, via=loose(task)), COUNTED_LATER, knots, free=True)
    pipeline = Pipeline(Weights(time=1.0), callback, None if deadline is None else begin + deadline)
    best = pipeline.least_time(move, known)
    if best is None or not arrives(best):
        return None
    untimed = [CHOSEN] if any(via.at is not None for via in task.via) else []
    return solution(replace(best, problem=replace(best.problem, supply=counted)), None, untimed, time.perf_counter() - begin)


def stays(robot: Robot, task: Move) -> bool:
    """Whether nothing has to move."""
    ends = task.vectors(robot)
    return not task.via and np.array_equal(ends.q0, ends.q1) and not np.any([ends.v0, ends.v1])


def unlimited(robot: Robot) -> bool:
    """Whether no joint and no drive has a limit but the ends of its range."""
    most = bounds(robot)
    rates = (most.velocity, most.acceleration, most.jerk, most.torque, most.torque_rate)
    return not robot.drivetrain.limits() and not np.isfinite(rates).any()


def rested(early: Planner, planner: Planner, knots: int, low: Attempt) -> Found | None:
    """The branch with joints at rest for a part of the time, where dry friction makes them too hot else; None where that is no help."""
    cool = cooled(early, low, prices(low.problem, low.motion.duration, copper(low.problem, low.motion))(PRICES[-1]))
    if not isinstance(cool.problem, RestingMove):
        return None
    found = polished(planner, replace(cool.problem, N=knots, smooth=None, directions=None), cool)
    return found if found[0].ok and kept(found[0]) else None


def unfinished(best: Attempt) -> Diagnosis | None:
    """A search that was ended before it found anything: what its motion exceeds tells nothing. None for others."""
    ended = best.result.status in (Status.DEADLINE, Status.INTERRUPTED)
    return Diagnosis(best.result.status.value, remedy="Allow more time, or give a motion to start from (guess=…).") if ended else None


def unsearched(problem: MoveProblem) -> Attempt:
    """The joint cubic of a task that is wrong by itself: something to look at, without a search."""
    motion, none = problem.straight, np.zeros(0)
    states, controls = np.hstack([motion.q, motion.v, motion.a]), np.zeros((problem.N, 0))
    result = Result(Status.INFEASIBLE, states, controls, none, np.nan, none, (), (), Multipliers.none(), 0.0)
    return Attempt(problem, result, motion, np.nan)


def short(problem: MoveProblem) -> float | None:
    """A duration near the least one, s: of the motion that the joint cubic leads to at once; None where it does not."""
    problem = free_problem(replace(problem, supply=COUNTED_LATER, free=True))
    weights = prices(problem, problem.duration, cubic_heat(problem))
    first = Planner(Weights(time=1.0), Options(tolerance=1e-3, iterations=30)).attempt(problem, problem.guess(), weights=weights(PRICES[1]))
    return first.motion.duration if first.ok else None


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
        if all(m.fraction >= 0.0 for row in found.values() for m in row.values() if m.limit not in ("jerk", "torque rate", LIMIT)):
            feasible = float(T)
            break
    return replace(problem, move=replace(problem.move, duration=feasible or 2 * first, via=loose(problem.move)))


def loose(move: Move) -> tuple:
    """Via points with passing times left free: the shortest motion chooses them."""
    return tuple(replace(via, at=None) for via in move.via)


def branches(planner: Planner, problem: MoveProblem, guess: Trajectory | None, starts: int | None, early: Planner | None = None) -> Attempt:
    """The branch that is best at low prices, at a moderate one; starting motions that lead to one branch are followed once.

    early: with less time, for all but the first one that leads to something."""
    given = [g for g in (guess,) if g is not None]
    motions: Sequence[Any] = [*given, None, *other_ways(problem)]
    enough = starts or len(given) + 1
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
    found = planner.attempt(problem, start, ROUGH if patient else HASTY, weights(PRICES[0]), rigid=not patient)
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


def polished(planner: Planner, problem: MoveProblem, top: Attempt) -> Found:
    """The branch with all its knots, ever lower prices, exact friction, and limits kept between knots."""
    if not top.ok:
        return top, []
    return mended(planner, sharpened(planner, problem, top, max(AGAIN, top.price) if isinstance(top, Rung) else 1.0) or top)


def settled(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> Found:
    """By motions of given durations, where the best motion breaks limits: from its own."""
    if planner.late or best.result.status is Status.INTERRUPTED:
        return best, notes
    known = best.motion if best.ok else None
    first = known.duration if known is not None else problem.duration
    allowed = lambda seconds: replace(planner, budget=spent() + seconds)
    coarse = replace(problem, N=min(problem.N, COARSE))
    found = by_durations(allowed(PATIENCE[0]), problem, first, known) or by_plans(allowed(PATIENCE[1]), coarse, first)
    if found is None and known is not None:
        found = by_plans(allowed(PATIENCE[2]), coarse, first, UPWARDS[2:], PATIENT)
    return found or (best, notes)
