"""`minimize_energy`: the motion of a given duration that costs the least energy (B2, B5)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Solution
from armature.optimize.diagnosis.explain import explain
from armature.optimize.diagnosis.forbidden import forbidden
from armature.optimize.moves.answer import check_search, check_task, refused, solution
from armature.optimize.moves.given import ORDINARY, no_worse
from armature.optimize.moves.least_time import shortest_motion
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.least_along import least_energy_along
from armature.optimize.planner.accelerations import with_inferred
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.baseline import baseline
from armature.optimize.planner.choice import cheapest
from armature.optimize.planner.floor import move_ground, planned_above
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.planner.settings import SETTINGS, Settings
from armature.optimize.planner.smoothness import Smoother
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import Known
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.scene.floor import LIMIT
from armature.seam import worker

INFERRED = ("acceleration", LIMIT)  # refusals after which inferred acceleration limits are left out
WITHOUT = "no limits of acceleration: with those inferred from the drives there is no plan"


@dataclass(frozen=True, eq=False)
class Asked:
    """What a caller of `minimize_energy` asks for besides robot and task; fields as there.

    explained: False where a task without a plan needs no diagnosis, nor the search for one."""

    supply: Any
    knots: int
    guess: Trajectory | Solution | Known | None = None
    callback: Callable | None = None
    options: Options | None = None
    thorough: bool = False
    explained: bool = True


@interruptible
def minimize_energy(
    robot: Robot,
    task: Move | FollowPath,
    supply: Any = None,
    knots: int = 100,
    guess: Trajectory | Solution | None = None,
    deadline: float | None = None,
    callback: Callable | None = None,
    options: Options | None = None,
    thorough: bool | None = None,
) -> Solution:
    """The motion of the task's duration that costs the least energy, within all limits of joints
    and drives; along a path for a FollowPath.

    supply: "regenerative" (energy that comes back counts), "non-regenerative" (each axis burns it),
    or a supply or Bus object; by default the robot's own, else regenerative.  knots: steps in time.
    guess: a motion to start from, the joint cubic by default; an earlier Solution of a neighbouring
    task gives its multipliers too, which makes planning again quick.
    deadline: seconds after which the best motion so far is returned.  callback: called with every
    iteration; a true answer stops.  options: tolerance and iterations of the solver.
    thorough: search from more starting motions, about three times as long: local optima differ in
    when and which way joints move.
    A move's smoothness gives up a part of the saving for less jerk (smoothness.py); `energy` is the
    motion's own, exactly counted. Limits that are exceeded between knots by more than 1e-3 of
    themselves are tightened there, and the motion is solved again.
    """
    check_search(deadline, callback, options)
    if isinstance(task, FollowPath):
        return least_energy_along(
            robot, task, supply, knots=knots, deadline=deadline, callback=callback, options=options
        )
    if isinstance(task, Move) and task.scene is not None:
        search = {"knots": knots, "guess": guess, "deadline": deadline, "callback": callback}
        return worker("Move.scene")(robot, task, None, "energy", supply, **search)
    check_task(robot, task)
    asked = Asked(supply, knots, guess, callback, options, bool(thorough))
    found = least_energy_move(robot, task.in_joints(robot), asked, deadline)
    return replace(found, task=task)


def least_energy_move(
    robot: Robot, task: Move, asked: Asked, deadline: float | None = None
) -> Solution:
    """The plan of a checked move in joint coordinates."""
    begin = time.perf_counter()
    limited, said = with_inferred(robot, task)
    found = planned(limited, task, said, asked, deadline)
    if isinstance(asked.guess, Trajectory | Solution) and not task.smoothness:
        found = no_worse(found, task, asked.guess, timed=False)
    if limited is robot or found.diagnosis is None or found.diagnosis.limit not in INFERRED:
        return found
    left = None if deadline is None else max(begin + deadline - time.perf_counter(), 0.0)
    return planned(robot, task, WITHOUT, asked, left)


def planned(robot: Robot, task: Move, said: str, asked: Asked, deadline: float | None) -> Solution:
    """The plan of a move of a robot with all its limits. said: the first of its notes, if any."""
    begin = time.perf_counter()
    floor = move_ground(robot, task)
    diagnosis = forbidden(robot, task) or floor.below
    if diagnosis is not None:
        problem = posed(robot, task, asked.supply, asked.knots)
        return refused(problem, diagnosis, time.perf_counter() - begin)
    plan = lambda robot, left: least_energy(robot, task, said, asked, left)
    return planned_above(robot, floor, plan, deadline)


def least_energy(
    robot: Robot, task: Move, said: str, asked: Asked, deadline: float | None
) -> Solution:
    """The plan of a move that is possible by itself, with the robot's own floor, if it has one."""
    begin = time.perf_counter()
    ends = None if deadline is None else begin + deadline
    problem = posed(robot, task, asked.supply, asked.knots)
    pipeline = Pipeline(Weights(energy=1.0), asked.callback, ends, with_options(asked.options))
    guess = asked.guess
    known = Known(guess.result, guess.trajectory) if isinstance(guess, Solution) else guess
    best = pipeline.least_energy(problem, known, asked.thorough)
    if best.runs:
        compare = baseline(best.problem, best.motion.duration) if task.smoothness else None
        if compare is not None:
            best = Smoother(pipeline, task.smoothness)(best, compare.ledger.energy)
        notes = [note for note in (said, rests(best)) if note]
        found = solution(best, None, notes, time.perf_counter() - begin, compare)
        return no_worse(found, task, problem.straight, timed=False, note=ORDINARY)
    if not asked.explained:
        return solution(best, None, [], time.perf_counter() - begin)
    fastest = None if pipeline.late else shortest_motion(pipeline, problem)
    if fastest is not None:
        best = from_shortest(pipeline, problem, best, fastest)
    notes = [note for note in (said, rests(best) if best.runs else "") if note]
    found = solution(best, None, notes, time.perf_counter() - begin)
    found = no_worse(found, task, problem.straight, timed=False, note=ORDINARY)
    if found.ok:
        return found
    return solution(best, explain(pipeline, best, fastest), [], time.perf_counter() - begin)


def rests(best: Attempt) -> str:
    """What is said of joints that stand for a part of the time; empty where none does."""
    names = best.standing
    if not names:
        return ""
    stand = "stands" if len(names) == 1 else "stand"
    return (
        f"{', '.join(names)} {stand} for a part of the time, where friction makes slow motion dear"
    )


def from_shortest(
    pipeline: Pipeline, task: MoveProblem, best: Attempt, fastest: Attempt
) -> Attempt:
    """A plan by way of the shortest motion, run in the time asked for, where that is no longer;
    what was found before where that leads to none."""
    given = any(via.at is not None for via in task.move.via)
    if not fastest.runs or given or fastest.motion.duration > task.duration * (1.0 + 1e-9):
        return best
    s = pipeline.settings
    motion = fastest.motion if task.moving else stretched(fastest.motion, task.duration)
    found = []
    if not task.moving:
        problem = replace(task, N=len(motion) - 1)
        cost = pipeline.value(task, motion)
        found = [Attempt(problem, fastest.result.as_feasible(), motion, cost)]
    if not pipeline.late:
        first = pipeline.solve(task, task.guess(motion), s.coarse, s.middle)
        if first.nearly:
            found.append(pipeline.finished([first]))
    return cheapest(found) if found else best


def with_options(options: Options | None) -> Settings:
    """The settings with a caller's tolerance and iterations."""
    if options is None:
        return SETTINGS
    return replace(
        SETTINGS,
        tolerance=options.tolerance,
        iterations=options.iterations,
        accuracy=options.accuracy,
        burnt_accuracy=options.accuracy,
        time_accuracy=options.accuracy,
    )
