"""`plan_around`: least time or least energy around obstacles, proved free at every instant.

Where the move planned without obstacles is free, it is the plan; so it is for moves with via points
or with speeds at their ends, which are not led along other paths. Else free paths are found by
sampling, on ways that cannot be drawn onto each other; the motion along each, smoothed, is made the
quickest or the cheapest within all limits of joints and drives, and the best that is proved free is
the plan. Its timing is optimal along its path; the shape of the path itself is not optimised.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.around.goal import with_posture
from armature.optimize.around.smooth import smooth_path
from armature.optimize.certificate.obstacles import Clearance, clearance
from armature.optimize.certificate.solution import Diagnosis, Solution
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.planner.floor import move_ground
from armature.optimize.transcription.task import Move, configuration
from armature.robot.model import Robot
from armature.scene.free_path import free_paths, margins_at, search_in, touching
from armature.scene.measure import collisions
from armature.scene.model import collision_model
from armature.scene.scene import Scene

PLACES = 400  # of a path that are looked at before it is planned
FLOOR = "floor"
LIMIT = "clearance"  # what a diagnosis calls it


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

    `notes` of the solution name the nearest pair, its clearance and the time. An `ArgumentError`
    names a start, goal or via point that is in collision, or where a path is; a `diagnosis` says
    what blocks the way. A goal that is a pose is reached in the posture with the quickest free
    path, unless the move names one.
    """
    if objective not in ("time", "energy"):
        raise ArgumentError(f"objective = {objective!r} must be 'time' or 'energy'")
    if objective == "energy" and task.duration is None and isinstance(task, Move):
        raise ArgumentError("least energy needs a duration: Move(..., duration=…), s")
    if isinstance(task, Move):
        scene, task = scene if scene is not None else task.scene, replace(task, scene=None)
    if scene is None:
        raise ArgumentError(
            "there is no scene to go around; give one: Move(..., scene=arm.Scene()…)"
        )
    begin = time.perf_counter()
    duration = task.duration if objective == "energy" else None
    until = None if deadline is None else begin + deadline
    plan = _Planner(robot, objective == "time", duration, supply, knots, until, callback, guess)
    if isinstance(task, FollowPath):
        check_path(robot, scene, task)
        return _best(robot, scene, [plan.direct(task)], objective, time.perf_counter() - begin)
    task = with_posture(robot, scene, task)
    ends = checked_ends(robot, scene, task)
    scene = with_ground(robot, scene, task, ends)
    paths = free_paths(robot, scene, *ends, ways)
    tried = []
    if len(paths[0].points) == 2 or not is_plain(robot, task):
        tried = [plan.direct(task)]
    if not tried or (_proved(robot, scene, tried[0]) is None and is_plain(robot, task)):
        tried += [
            found for path in paths if (found := plan.along(scene, path.points, task)) is not None
        ]
    return _best(robot, scene, tried, objective, time.perf_counter() - begin)


def checked_ends(robot: Robot, scene: Scene, task: Move) -> tuple[np.ndarray, np.ndarray]:
    """Start and goal (n,); an error names a via point that is in collision."""
    ends, model = task.vectors(robot), collision_model(robot, scene)
    for k, via in enumerate(task.via, start=1):
        place = configuration(robot, via.configuration, f"via configuration {k}")
        if (touch := touching(model, place)) is not None:
            raise ArgumentError(
                f"via point {k} is in collision: {touch[0]} is {touch[2]:.3g} m inside {touch[1]}; "
                "move one of them, or allow the pair"
            )
    return ends.q0, ends.q1


def with_ground(
    robot: Robot, scene: Scene, task: Move, ends: tuple[np.ndarray, np.ndarray]
) -> Scene:
    """The scene with the task's floor as an obstacle, where start and goal are clear of it."""
    floor = move_ground(robot, task).floor
    if floor is None or FLOOR in scene.names:
        return scene
    found = scene.with_half_space(FLOOR, (0.0, 0.0, floor.height))
    touched = any(FLOOR in hit for hit in collisions(robot, found, np.array(ends)))
    return scene if touched else found


def is_plain(robot: Robot, task: Move) -> bool:
    """Whether a move is from rest to rest without via points: then it may be led along any path."""
    ends = task.vectors(robot)
    return not task.via and not ends.v0.any() and not ends.v1.any()


def check_path(robot: Robot, scene: Scene, task: FollowPath) -> None:
    """Refuse a path that leads into a collision, with place and pair."""
    p = np.linspace(0.0, 1.0, PLACES)
    model = collision_model(robot, scene)
    found = model.distances(task.curve(robot)(p).q, 0.0)[0]
    rows = np.nonzero(found.min(1, initial=0.0) < 0.0)[0]
    if len(rows):
        k = int(found[rows[0]].argmin())
        first, second = model.pairs[k]
        depth = float(-found[:, k].min())
        raise ArgumentError(
            f"the path is in collision from p = {p[rows[0]]:.3g} on: {first} comes {depth:.3g} m "
            f"into {second}; lead it past, or allow the pair"
        )


class _Planner:
    """Plans of least energy for a duration, s, or of least time without one. until: s, of
    `time.perf_counter`."""

    def __init__(
        self,
        robot: Robot,
        quickest: bool,
        duration: float | None,
        supply: Any,
        knots: int,
        until: float | None,
        callback: Callable | None,
        guess: Trajectory | Solution | None = None,
    ):
        self.robot, self.quickest, self.duration, self.supply = robot, quickest, duration, supply
        self.knots, self.until, self.callback, self.guess = knots, until, callback, guess

    def direct(self, task: Move | FollowPath) -> Solution:
        """The task without obstacles."""
        return self._plan(task)

    def along(self, scene: Scene, points: np.ndarray, task: Move) -> Solution | None:
        """The motion along a path, smoothed; None where no smooth curve is free."""
        search = search_in(self.robot, scene)
        margins = 0.5 * margins_at(search, [points[0], points[-1]])
        curve = smooth_path(search, points, margins)
        if curve is None:
            return None
        return self._plan(FollowPath(curve, self.duration, floor=task.floor))

    def _plan(self, task: Move | FollowPath) -> Solution:
        left = None if self.until is None else max(self.until - time.perf_counter(), 0.1)
        search: dict[str, Any] = {"knots": self.knots, "deadline": left, "callback": self.callback}
        if isinstance(task, Move):
            search["guess"] = self.guess
        if self.quickest:
            return minimize_time(self.robot, task, supply=self.supply, **search)
        return minimize_energy(self.robot, task, supply=self.supply, **search)


def _proved(robot: Robot, scene: Scene, found: Solution) -> Clearance | None:
    """The proof that a plan is free; None where it is none, or not free."""
    if not found.ok:
        return None
    proof = clearance(robot, scene, found.trajectory)
    return proof if proof.free else None


def _best(
    robot: Robot, scene: Scene, tried: list[Solution], objective: str, seconds: float
) -> Solution:
    """The best plan that is proved free, or one with the reason why there is none."""
    proved = [(plan, proof) for plan in tried if (proof := _proved(robot, scene, plan)) is not None]
    if proved:
        cost = lambda item: item[0].duration if objective == "time" else item[0].energy
        plan, proof = min(proved, key=cost)
        note = f"obstacles: {proof}"
        return replace(plan, notes=(*plan.notes, note), seconds=seconds, scene=scene)
    if not tried:
        raise ArgumentError(
            "a free path was found, but no smooth curve near it is free; allow more room"
        )
    plan = tried[-1]
    if not plan.ok:
        return replace(plan, seconds=seconds, scene=scene)
    blocked = _blocked(robot, scene, plan)
    return replace(plan, diagnosis=blocked, seconds=seconds, scene=scene)


def _blocked(robot: Robot, scene: Scene, plan: Solution) -> Diagnosis:
    """Why a plan along a free path is not free."""
    met = clearance(robot, scene, plan.trajectory)
    first, second = met.pair or ("the robot", "the scene")
    how = (
        f"come {-met.clearance:.3g} m into each other"
        if met.clearance < 0.0
        else "are not proved to stay apart"
    )
    sentence = f"No motion was proved free: {first} and {second} {how} at t = {met.time:.4g} s."
    remedy = (
        "Give other via points, or none and rest at both ends; a smaller margin; or allow the pair."
    )
    return Diagnosis(sentence, LIMIT, first, met.time, max(-met.clearance, 0.0), remedy)
