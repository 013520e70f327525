"""A goal that is a pose of the hand, among obstacles: every posture that reaches it competes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.dynamics.positioning.inverse_kinematics import inverse_kinematics
from armature.errors import ArgumentError
from armature.motion.goal import as_goal, is_pose
from armature.optimize.transcription.task import Move, configuration
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.tip import tip
from armature.scene.collision import collision_model, told_apart
from armature.scene.free_path import NoPathError, free_path, touching
from armature.scene.scene import Scene

MOST = 64  # postures that are looked at
TRIED = 8  # to which a free path is looked for, the nearest first
PATIENCE = 1.0  # s for each


def with_posture(robot: Robot, scene: Scene, task: Move) -> Move:
    """The move with its goal as joint coordinates: of a pose without a posture the one with the
    quickest free path, by the joints' limits of speed."""
    if not is_pose(task.goal) or is_pose(task.start) or task.posture is not None or task.via:
        return task.in_joints(robot)
    link = task.link or tip(robot, "shall be at the goal")
    start, goal = configuration(robot, task.start, "start"), as_goal(task.goal)
    place = goal.p if goal.R is None else (goal.R, goal.p)
    found = inverse_kinematics(robot, place, link, seed=start, most=MOST)
    if not found.ok:
        return task.in_joints(robot)  # which says why there is none
    postures = np.atleast_2d(found.solutions)
    near = collision_model(robot, scene).distances(postures, 0.0)[0].min(1, initial=0.0)
    free = postures[near >= 0.0]
    if not len(free):
        free = _least_deep(robot, scene, postures, near)
    free = sorted(free, key=lambda q: least_seconds(robot, np.array([start, q])))[:TRIED]
    return replace(task, goal=_quickest(robot, scene, start, free))


def _least_deep(robot: Robot, scene: Scene, postures: np.ndarray, near: np.ndarray) -> np.ndarray:
    """(1, n) the posture (k, n) that overlaps least, by −near (k,), m, where finer covers show it
    to be free; else an error that names its pair."""
    best = postures[[near.argmax()]]
    touch = touching(collision_model(robot, told_apart(robot, scene, best)), best[0])
    if touch is None:
        return best
    first, second, depth = touch
    raise ArgumentError(
        f"the goal is in collision in all {len(postures)} postures that reach it; in the best of"
        f" them {first} is {depth:.3g} m inside {second}; move the goal or the obstacle"
    )


def _quickest(robot: Robot, scene: Scene, start: np.ndarray, goals: list[np.ndarray]) -> np.ndarray:
    """The goal with the quickest free path."""
    best, seconds = None, np.inf
    for goal in goals:
        try:
            path = free_path(robot, scene, start, goal, patience=PATIENCE)
        except NoPathError:
            continue
        if (needed := least_seconds(robot, path.points)) < seconds:
            best, seconds = goal, needed
    if best is None:
        raise NoPathError(
            f"no free path was found to any of the {len(goals)} nearest free postures of the goal; "
            "give a posture, or another place"
        )
    return best


def least_seconds(robot: Robot, points: np.ndarray) -> float:
    """s along a path (k, n) at the joints' greatest speeds; 1 rad/s or m/s where there is none."""
    speed = bounds(robot).velocity
    speed = np.where(np.isfinite(speed), speed, 1.0)
    return float((np.abs(np.diff(points, axis=0)) / speed).max(1).sum())
