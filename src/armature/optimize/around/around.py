"""`plan_around`: least time or least energy around obstacles, proved free at every instant.

Where the straight way of the joints is free, the move is planned as without obstacles; if that
motion is proved free, it is the plan. Else free paths are found by sampling, on ways that cannot be
drawn onto each other, and lead to starting motions. From each the move is optimised, shape and
timing at once, with rows that keep the robot clear of what is near (shape.py); the best that is
proved free is the plan. Where that finds none, the path itself is followed as fast or as cheaply as
it can be.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armature.drive import as_supply
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.around.goal import with_posture
from armature.optimize.around.reference import Reference, references
from armature.optimize.around.refusal import LIMIT as CLEARANCE
from armature.optimize.around.refusal import blocked, check_path, in_collision, no_way
from armature.optimize.around.shape import AROUND, Shaper
from armature.optimize.around.smooth import smooth_path
from armature.optimize.certificate.obstacles import Clearance, clearance, nearest_pairs
from armature.optimize.certificate.solution import Baseline, Diagnosis, Solution
from armature.optimize.diagnosis.diagnose import too_short
from armature.optimize.diagnosis.forbidden import forbidden
from armature.optimize.moves.answer import check_search, check_task, refused, solution
from armature.optimize.moves.least_energy import minimize_energy, rests
from armature.optimize.moves.least_time import ANY, CHOSEN, minimize_time, untimed
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.planner.accelerations import with_inferred
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.back_off import worst_fraction
from armature.optimize.planner.floor import Ground, move_ground
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.planner.smoothness import Smoother
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.plane_rows import GuardedMove
from armature.optimize.transcription.task import Move, configuration
from armature.robot.cover import with_floor
from armature.robot.model import Robot
from armature.scene.collision import collision_model, told_apart
from armature.scene.free_path import NoPathError, Search, margins_at, search_in
from armature.scene.measure import collisions
from armature.scene.scene import Scene
from armature.simulate.ledger import drive_signals, ledger

FLOOR = "floor"


@interruptible
def plan_around(
    robot: Robot,
    task: Move | FollowPath,
    scene: Scene | None = None,
    objective: str = "time",
    supply: Any = None,
    ways: int = 2,
    knots: int = 100,
    deadline: float | None = None,
    callback: Callable | None = None,
    guess: Trajectory | Solution | None = None,
) -> Solution:
    """The motion of a move around the obstacles of a scene, within all limits, proved free; or
    along a path that is free.

    scene: the move's own where it is left out.
    objective: "time", the shortest; "energy", the one of the task's duration that costs least.
    ways: how many paths are tried that go round differently.  knots: steps in time.
    deadline: seconds after which the best so far is returned.  callback, guess: as in
    `minimize_time`; the guess is a start of the motion that is sought without obstacles.

    `notes` of the solution name the nearest pair, its clearance and the time. A `diagnosis` names a
    start, goal or via point that is in collision, or what blocks the way; an `ArgumentError` says
    where a path is in collision. A goal that is a pose is reached in the posture with the quickest
    free path, unless the move names one.
    """
    check_search(deadline, callback)
    if objective not in ("time", "energy"):
        raise ArgumentError(f"objective = {objective!r} must be 'time' or 'energy'")
    if isinstance(task, Move):
        scene, task = scene if scene is not None else task.scene, replace(task, scene=None)
        check_task(robot, task, timed=objective == "energy", counted=objective == "energy")
    if scene is None:
        raise ArgumentError("there is no scene to go around; give one: Move(..., scene=…)")
    begin = time.perf_counter()
    until = None if deadline is None else begin + deadline
    vias = [] if isinstance(task, FollowPath) else passed(robot, task)
    scene = told_apart(robot, scene, np.array(vias)) if vias else scene
    asked = Asked(robot, scene, objective == "time", supply, knots, ways, until, callback, guess)
    if isinstance(task, FollowPath):
        check_path(robot, scene, task)
        found = [asked.plain(task)]
    else:
        found = _found(asked, task)
    return replace(asked.best(found), seconds=time.perf_counter() - begin, scene=scene)


def passed(robot: Robot, task: Move) -> list[np.ndarray]:
    """The configurations (n,) that a move passes."""
    return [configuration(robot, via.configuration, "via configuration") for via in task.via]


def _found(asked: Asked, task: Move) -> list[Solution]:
    """Plans of a move around obstacles; the last says why where there is none."""
    move = among(asked, task)
    if isinstance(move, Solution):
        return [move]
    tried = move.direct()
    if tried and move.asked.proof(tried[0]) is not None:
        return tried
    starts = move.starts()
    return [*tried, starts] if isinstance(starts, Solution) else tried + move.plans(starts)


def among(asked: Asked, task: Move) -> Among | Solution:
    """The move among obstacles; where one of its places cannot be, a plan that says why."""
    robot, scene = asked.robot, asked.scene
    refuse = lambda why: refused(posed(robot, task, asked.counted, asked.knots), why, 0.0)
    try:
        task = with_posture(robot, scene, task)
    except NoPathError as error:
        return refuse(Diagnosis(f"No way round was found: {error}.", CLEARANCE))
    ends = task.vectors(robot)
    vias = passed(robot, task)
    places = np.array([ends.q0, *vias, ends.q1])
    scene = told_apart(robot, scene, places)
    names = ["The start", *(f"Via point {k}" for k in range(1, len(vias) + 1)), "The goal"]
    ground = move_ground(robot, task)
    wrong = in_collision(search_in(robot, scene), list(zip(names, places)))
    wrong = wrong or forbidden(robot, task, search=False) or ground.below
    if wrong is not None:
        return refuse(wrong)
    asked = replace(asked, scene=with_ground(robot, scene, ground, places))
    search = search_in(robot, asked.scene)
    return Among(asked, task, search, margins_at(search, list(places)), ground, places)


def with_ground(robot: Robot, scene: Scene, ground: Ground, places: np.ndarray) -> Scene:
    """The scene with the task's floor as an obstacle, where places (k, n) are clear of it."""
    if ground.floor is None or FLOOR in scene.names:
        return scene
    found = scene.with_half_space(FLOOR, (0.0, 0.0, ground.floor.height))
    touched = any(FLOOR in hit for hit in collisions(robot, found, places))
    return scene if touched else found


def given_parts(asked: Asked, task: Move) -> np.ndarray | None:
    """Parts of the duration at which places are passed, where the task gives a time of any."""
    if asked.quickest or not any(via.at is not None for via in task.via):
        return None
    return posed(asked.robot, task, asked.supply, asked.knots).passing


@dataclass(frozen=True, eq=False)
class Asked:
    """What a caller of `plan_around` asks for besides the task. quickest: least time.  until: s, of
    `time.perf_counter`."""

    robot: Robot
    scene: Scene
    quickest: bool
    supply: Any
    knots: int
    ways: int
    until: float | None
    callback: Callable | None
    guess: Trajectory | Solution | None

    @cached_property
    def counted(self) -> Any:
        """The supply that energy is counted with."""
        return as_supply(self.supply if self.supply is not None else self.robot.supply)

    def plain(self, task: Move | FollowPath) -> Solution:
        """The task without obstacles."""
        left = None if self.until is None else max(self.until - time.perf_counter(), 0.1)
        search: dict[str, Any] = {"knots": self.knots, "deadline": left, "callback": self.callback}
        if isinstance(task, Move):
            search["guess"] = self.guess
        plan = minimize_time if self.quickest else minimize_energy
        return plan(self.robot, task, supply=self.supply, **search)

    def proof(self, plan: Solution) -> Clearance | None:
        """The proof that a plan is free; None where it is none, or not free."""
        if not plan.ok:
            return None
        found = clearance(self.robot, self.scene, plan.trajectory)
        return found if found.free else None

    def best(self, tried: list[Solution]) -> Solution:
        """The best plan that is proved free, or one with the reason why there is none."""
        proofs = [(plan, proof) for plan in tried if (proof := self.proof(plan)) is not None]
        if proofs:
            cost = lambda item: item[0].duration if self.quickest else item[0].energy
            plan, proof = min(proofs, key=cost)
            pairs = nearest_pairs(self.robot, self.scene, plan.trajectory)
            said = [f"nearest pairs: {pairs}"] if pairs else []
            return replace(plan, notes=(*plan.notes, *said, f"obstacles: {proof}"))
        plan = tried[-1]
        if not plan.ok:
            return plan
        return replace(plan, diagnosis=blocked(self.robot, self.scene, plan))


@dataclass(frozen=True, eq=False)
class Among:
    """A move whose places are free. margins: (pairs,) kept between each pair, m.  places: (k, n)
    start, via points and goal."""

    asked: Asked
    task: Move
    search: Search
    margins: np.ndarray
    ground: Ground
    places: np.ndarray

    def direct(self) -> list[Solution]:
        """The plan as without obstacles, where the straight way of the joints is free."""
        legs = itertools.pairwise(self.places)
        free = all(self.search.free(a, b, self.margins) for a, b in legs)
        return [self.asked.plain(self.task)] if free else []

    def starts(self) -> list[Reference] | Solution:
        """Starting motions on different ways; where no way is found, a plan that says why."""
        asked, task = self.asked, self.task
        given = given_parts(asked, task)
        try:
            return references(asked.robot, asked.scene, self.search, self.places, asked.ways, given)
        except NoPathError as error:
            problem = posed(asked.robot, task, asked.counted, asked.knots)
            return refused(problem, no_way(self.search, self.places, str(error)), 0.0)

    def plans(self, starts: list[Reference]) -> list[Solution]:
        """One that is proved free, or what says why there is none."""
        found = None
        if starts and not self.asked.robot.loops:
            found = self.shortest(starts) if self.asked.quickest else self.cheapest(starts)
        if found is not None:
            return [self.above(found)]
        along = [self.along(start) for start in starts[:1]] if self.is_plain else []
        along = [plan for plan in along if plan is not None]
        return along or [self.asked.plain(self.task)]

    @property
    def is_plain(self) -> bool:
        """Whether the move is from rest to rest without via points: then it may be led along any
        path."""
        ends = self.task.vectors(self.asked.robot)
        return not self.task.via and not ends.v0.any() and not ends.v1.any()

    def shaper(self, robot: Robot, weights: Weights) -> Shaper:
        """The search with these weights."""
        pipeline = Pipeline(weights, self.asked.callback, self.asked.until, AROUND)
        scene = self.asked.scene
        return Shaper(pipeline, robot, scene, collision_model(robot, scene), self.margins)

    def shortest(self, starts: list[Reference]) -> Solution | None:
        """Least time."""
        begin, asked = time.perf_counter(), self.asked
        best = self.shortest_motion(starts)
        if best is None:
            return None
        best = replace(best, problem=replace(best.problem, supply=asked.counted))
        notes = [CHOSEN] if any(via.at is not None for via in self.task.via) else []
        compare = lambda: self.compared(best, starts[0])
        return solution(best, None, notes, time.perf_counter() - begin, compare)

    def shortest_motion(self, starts: list[Reference]) -> Attempt | None:
        """The shortest motion around the obstacles; None where none was found."""
        asked = self.asked
        move = replace(self.task, via=untimed(self.task))
        problem = GuardedMove(asked.robot, move, ANY, asked.knots, True)
        return self.shaper(asked.robot, Weights(time=1.0)).least_time(problem, starts)

    def cheapest(self, starts: list[Reference]) -> Solution | None:
        """Least energy."""
        begin, asked = time.perf_counter(), self.asked
        robot, said = with_inferred(asked.robot, self.task)
        shaper = self.shaper(robot, Weights(energy=1.0))
        problem = GuardedMove(robot, self.task, asked.supply, asked.knots)
        best = shaper.least_energy(problem, starts)
        if best is None:
            fastest = self.shortest_motion(starts)
            if fastest is None:
                return None
            if fastest.motion.duration > problem.duration:
                return self.not_in_time(problem, fastest, begin)
            best = shaper.least_energy(problem, [self.passing_as(fastest)])
        if best is None:
            return None
        compare = self.compared(best, starts[0])
        if self.task.smoothness:
            runs = lambda a: a.runs and not a.unbounded and shaper.is_free(a.motion)
            smoother = Smoother(shaper.pipeline, self.task.smoothness, runs)
            best = smoother(best, compare.ledger.energy)
        notes = [note for note in (said, rests(best)) if note]
        return solution(best, None, notes, time.perf_counter() - begin, compare)

    def passing_as(self, found: Attempt) -> Reference:
        """A motion as another start."""
        at = [0, *found.problem.knots]
        times = found.motion.t[np.array(at) * (len(found.motion) - 1) // at[-1]]
        return Reference(found.motion, (), tuple(times[1:-1] / found.motion.duration))

    def not_in_time(self, problem: GuardedMove, fastest: Attempt, begin: float) -> Solution:
        """Why there is no motion of the duration asked for: the shortest takes longer."""
        short = too_short(problem.robot, problem.duration, fastest.motion)
        sentence = f"{short.sentence} It goes round the obstacles."
        told = replace(short, sentence=sentence)
        return refused(problem, told, time.perf_counter() - begin)

    def compared(self, best: Attempt, start: Reference) -> Baseline:
        """The motion along the first free path, in the plan's duration, or in the shortest in which
        it keeps all limits."""
        robot, T = best.problem.robot, best.motion.duration
        first = start.motion
        motion = stretched(first, T)
        note = "which goes around the obstacles as sampling found it"
        if worst_fraction(robot, motion) < 0.0:
            motion = first
            note = f"of {first.duration:.4g} s: at {T:.4g} s it breaks limits"
        account = ledger(robot, motion, best.problem.driven.supply)
        return Baseline(drive_signals(robot, motion), account, True, note, "free path")

    def along(self, start: Reference) -> Solution | None:
        """The motion along a path, smoothed; None where no smooth curve is free."""
        curve = smooth_path(self.search, start.legs[0], 0.5 * self.margins)
        if curve is None:
            return None
        duration = None if self.asked.quickest else self.task.duration
        return self.asked.plain(FollowPath(curve, duration, floor=self.task.floor))

    def above(self, plan: Solution) -> Solution:
        """The plan with its floor, which is an obstacle like others."""
        floor = self.ground.floor
        if floor is None:
            return plan
        return replace(plan, robot=with_floor(plan.robot, floor))
