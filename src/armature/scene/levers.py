"""How fast distances change with the joints, at most, in any configuration."""

from __future__ import annotations

import numpy as np

from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.tree import Body
from armature.scene.model import Model


def pair_levers(robot: Robot, model: Model) -> np.ndarray:
    """(pairs, n): bounds, for all configurations, of how fast the distance of a pair changes with
    each joint, m/rad or 1."""
    found = np.zeros((len(model.first), robot.n))
    for row, (i, k) in enumerate(zip(model.first, model.second)):
        a, b = int(model.spheres.body[i]), int(model.spheres.body[k]) if k >= 0 else -1
        common = set(robot.tree.path(a)) & set(robot.tree.path(b))
        found[row] = ball_levers(robot, a, model.spheres.bound[i], common)
        if k >= 0:
            found[row] += ball_levers(robot, b, model.spheres.bound[k], common)
    return found


def ball_levers(robot: Robot, body: int, ball: np.ndarray, common: set[int]) -> np.ndarray:
    """(n,): of the joints that move a ball (4,) of a body, but for common ones."""
    found = np.zeros(robot.n)
    arm = float(np.linalg.norm(ball[:3]) + ball[3])
    for i in reversed(robot.tree.path(body)):
        joint = robot.tree.bodies[i]
        if i not in common:
            found[joint.v] += abs(joint.multiplier) * (1.0 if joint.kind == "prismatic" else arm)
        arm += float(np.linalg.norm(joint.p)) + _stroke(robot, joint)
    return found


def _stroke(robot: Robot, joint: Body) -> float:
    """How far a sliding joint takes its body away, at most, m; 0 for a turning one."""
    if joint.kind != "prismatic":
        return 0.0
    limits = bounds(robot)
    return max(
        abs(joint.multiplier * x + joint.offset)
        for x in (limits.lower[joint.v], limits.upper[joint.v])
    )
