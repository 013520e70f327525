"""`plan_around`: least time or least energy around obstacles, proved free at every instant.

Where the move planned without obstacles is free, it is the plan. Else free paths are found by
sampling, on ways that cannot be drawn onto each other; the motion along each, smoothed, is made the
quickest or the cheapest within all limits of joints and drives, and the best that is proved free is
the plan. Its timing is optimal along its path; the shape of the path itself is not optimised.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.optimize.around.smooth import smooth_path
from armature.optimize.certificate.obstacles import Clearance, clearance
from armature.optimize.certificate.solution import Diagnosis, Solution
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.planner.least_energy import minimize_energy
from armature.optimize.planner.min_time import minimize_time
from armature.optimize.transcription.task import Move, configuration
from armature.robot.model import Robot
from armature.scene.free_path import FreePath, free_paths, margins_at, search_in
from armature.scene.scene import Scene

LIMIT = "clearance"  # what a diagnosis calls it


def plan_around(
    robot: Robot,
    task: Move,
    scene: Scene,
    objective: str = "time",
    supply: Any = None,
    ways: int = 2,
    knots: int = 100,
    deadline: float | None = None,
) -> Solution:
    """The motion of a move around the obstacles of a scene, within all limits, proved free.

    objective: "time", the shortest; "energy", the one of the task's duration that costs least.
    ways: how many paths are tried that go round differently.  knots: steps in time.
    deadline: seconds after which the best so far is returned.

    `notes` of the solution name the nearest pair, its clearance and the time. An `ArgumentError`
    names a start, goal or via point that is in collision; a `diagnosis` says what blocks the way.
    """
    if objective not in ("time", "energy"):
        raise ArgumentError(f"objective = {objective!r} must be 'time' or 'energy'")
    if objective == "energy" and task.duration is None:
        raise ArgumentError("least energy needs a duration: Move(..., duration=…), s")
    begin = time.perf_counter()
    task = task.in_joints(robot)
    duration = task.duration if objective == "energy" else None
    until = None if deadline is None else begin + deadline
    plan = _Planner(robot, duration, supply, knots, until)
    paths = legs_around(robot, scene, places(robot, task), ways)
    direct = plan.direct(task) if all(len(path) == 2 for path in paths[:1]) or task.via else None
    tried = [] if direct is None else [direct]
    if direct is None or not _proved(robot, scene, direct):
        tried += [found for path in paths if (found := plan.along(scene, path)) is not None]
    return _best(robot, scene, tried, objective, time.perf_counter() - begin)


def places(robot: Robot, task: Move) -> list[np.ndarray]:
    """Start, via points and goal (n,)."""
    ends = task.vectors(robot)
    via = [configuration(robot, v.configuration, f"via {k}") for k, v in enumerate(task.via, 1)]
    return [ends.q0, *via, ends.q1]


def legs_around(
    robot: Robot, scene: Scene, stops: list[np.ndarray], ways: int
) -> list[np.ndarray]:
    """Free paths (k, n) through all stops, the shortest first; those of single legs differ."""
    legs = [free_paths(robot, scene, a, b, ways) for a, b in itertools.pairwise(stops)]
    join = lambda chosen: np.vstack([chosen[0].points, *(path.points[1:] for path in chosen[1:])])
    shortest: list[FreePath] = [leg[0] for leg in legs]
    found = [join(shortest)]
    for k, leg in enumerate(legs):
        found += [join([*shortest[:k], other, *shortest[k + 1 :]]) for other in leg[1:]]
    return found


class _Planner:
    """Plans of least energy for a duration, s, or of least time without one. until: s, of
    `time.perf_counter`."""

    def __init__(
        self, robot: Robot, duration: float | None, supply: Any, knots: int, until: float | None
    ):
        self.robot, self.duration = robot, duration
        self.supply, self.knots, self.until = supply, knots, until

    def direct(self, task: Move) -> Solution:
        """The move without obstacles."""
        return self._plan(task)

    def along(self, scene: Scene, points: np.ndarray) -> Solution | None:
        """The motion along a path, smoothed; None where no smooth curve is free."""
        search = search_in(self.robot, scene)
        margins = 0.5 * margins_at(search, [points[0], points[-1]])
        curve = smooth_path(search, points, margins)
        return None if curve is None else self._plan(FollowPath(curve, self.duration))

    def _plan(self, task: Move | FollowPath) -> Solution:
        left = None if self.until is None else max(self.until - time.perf_counter(), 0.1)
        if self.duration is None:
            return minimize_time(
                self.robot, task, knots=self.knots, deadline=left, supply=self.supply
            )
        return minimize_energy(
            self.robot, task, supply=self.supply, knots=self.knots, deadline=left
        )


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
        return replace(plan, notes=(*plan.notes, note), seconds=seconds)
    if not tried:
        raise ArgumentError("a free path was found, but no smooth curve near it is free; allow more room")
    plan = tried[-1]
    if not plan.ok:
        return replace(plan, seconds=seconds)
    return replace(plan, diagnosis=_blocked(robot, scene, plan), seconds=seconds)


def _blocked(robot: Robot, scene: Scene, plan: Solution) -> Diagnosis:
    """Why a plan along a free path is not free."""
    met = clearance(robot, scene, plan.trajectory)
    first, second = met.pair or ("the robot", "the scene")
    sentence = f"No motion was proved free: {first} and {second} come as near as {met.clearance:.3g} m."
    remedy = "Give a via point, a smaller margin, or allow the pair to touch."
    return Diagnosis(sentence, LIMIT, first, met.time, max(-met.clearance, 0.0), remedy)
