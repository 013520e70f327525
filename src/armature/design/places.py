"""Where a task leads another robot: poses of the hand are reached by other joint coordinates when a
link is longer or the base stands elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from armature.dynamics.recursion.kinematics import jacobian, link_pose
from armature.errors import ArgumentError
from armature.motion.goal import as_goal, is_pose
from armature.motion.rotation import log
from armature.robot.model import Robot
from armature.robot.tip import tip

STEPS, NEAR = 30, 1e-12  # Newton steps at most, and what is left of the pose, m and rad


def move_of(robot: Robot, task: Any, move: Any) -> Any:
    """A move in joint coordinates for a changed robot: poses of the task are followed from the
    coordinates that `move` has for the robot before the change."""
    if task is None:
        return move
    link = task.link or tip(robot, "shall be at the goal")
    at = lambda place, q: followed(robot, place, link, q) if is_pose(place) else q
    via = tuple(
        replace(new, configuration=at(old.configuration, new.configuration))
        for old, new in zip(task.via, move.via)
    )
    return replace(move, start=at(task.start, move.start), goal=at(task.goal, move.goal), via=via)


def followed(robot: Robot, pose: Any, link: str, near: Any) -> np.ndarray:
    """The joint coordinates (n,) that bring a link to a pose, from near ones, by Newton's method;
    of a redundant arm the nearest."""
    goal, q = as_goal(pose), np.array(near, dtype=float)
    for _ in range(STEPS):
        here = link_pose(robot.tree, q, link)
        error, J = goal.p - here.p, jacobian(robot.tree, q, link, np.zeros(3))
        if goal.R is None:
            J = J[:3]
        else:
            error = np.concatenate([error, log(goal.R @ here.R.T)])
        if np.abs(error).max() < NEAR:
            return q
        q = q + np.linalg.lstsq(J.astype(float), error, rcond=1e-9)[0]
    raise ArgumentError(
        f"robot {robot.name!r}: {link!r} does not reach the task's pose any more when the parameter"
        " changes; move the pose inside the reach"
    )
