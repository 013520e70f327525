"""Why there is no motion around obstacles: places in collision, no way between them, too little
time for the way round."""

from __future__ import annotations

import itertools

import numpy as np

from armature.errors import ArgumentError
from armature.optimize.certificate.obstacles import clearance
from armature.optimize.certificate.solution import Diagnosis, Solution
from armature.optimize.path.follow_path import FollowPath
from armature.robot.model import Robot
from armature.scene.collision import collision_model
from armature.scene.free_path import Search, touching
from armature.scene.scene import Scene

LIMIT = "clearance"  # what a diagnosis calls it
PLACES = 400  # of a path that are looked at before it is planned


def in_collision(search: Search, places: list[tuple[str, np.ndarray]]) -> Diagnosis | None:
    """The first of the named places (n,) that is in collision: pair and depth."""
    for what, q in places:
        touch = touching(search.model, q)
        if touch is not None:
            first, second, depth = touch
            sentence = f"{what} is in collision: {first} is {depth:.3g} m inside {second}."
            remedy = "Move one of them, or allow the pair (Scene.allowing)."
            return Diagnosis(sentence, LIMIT, first, amount=depth, remedy=remedy)
    return None


def no_way(search: Search, places: np.ndarray, said: str) -> Diagnosis:
    """No free path was found through places (k, n): what is deepest in collision on the straight
    way. said: by the search."""
    s = np.linspace(0.0, 1.0, 100)[:, None]
    lines = [(1 - s) * a + s * b for a, b in itertools.pairwise(places)]
    found = search.model.distances(np.vstack(lines))[0].min(0)
    first, second = search.model.pairs[int(found.argmin())]
    depth = max(float(-found.min()), 0.0)
    sentence = (
        f"No way round was found: {first} and {second} come {depth:.3g} m into each other on the"
        f" straight way ({said})."
    )
    remedy = "Give a via point, another posture or goal, or more patience; or allow the pair."
    return Diagnosis(sentence, LIMIT, first, amount=depth, remedy=remedy)


def blocked(robot: Robot, scene: Scene, plan: Solution) -> Diagnosis:
    """Why a plan is not free."""
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
