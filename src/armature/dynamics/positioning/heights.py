"""How high the parts of links are above z = 0, and how fast that can change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armature.dynamics.kernels import kernel
from armature.dynamics.recursion import energy
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.tree import Body, Tree
from armature.scene.floor import Watched
from armature.spatial.vectors import Array


def vertical(tree: Tree, q: Array) -> Array:
    """(bodies, 4): the third row of every body's rotation and the height of its origin, m."""
    return np.stack(
        [np.concatenate([pose.R[2], pose.p[2:]]) for pose in energy.body_poses(tree, q)]
    )


def part_heights(robot: Robot, q: Any, parts: Sequence[Watched], smooth: float = 0.0) -> np.ndarray:
    """(..., parts): (F1), the heights of the lowest points of parts above z = 0, m, at
    configurations q (..., n)."""
    rows = np.asarray(kernel(robot, "vertical", vertical, {"q": robot.nq}, masses=False)(q))
    if not parts:
        return np.zeros((*rows.shape[:-2], 0))
    at = rows[..., [part.body for part in parts], :]
    centre, half = (
        np.array([part.centre for part in parts]),
        np.array([part.half for part in parts]),
    )
    along = np.einsum("...pi,pki->...pk", at[..., :3], np.array([part.axes for part in parts]))
    disc, ball = np.array([part.disc for part in parts]), np.array([part.ball for part in parts])
    flat = disc * np.sqrt(np.maximum(1.0 - along[..., 2] ** 2, 0.0) + smooth**2)
    box = np.sum(half * np.sqrt(along**2 + smooth**2), axis=-1)
    return at[..., 3] + np.sum(at[..., :3] * centre, axis=-1) - ball - box - flat


def levers(robot: Robot, parts: Sequence[Watched]) -> np.ndarray:
    """(parts, n): bounds of |∂h/∂q| for all configurations, m/rad or 1; 0 where a joint cannot
    change a part's height."""
    tree = robot.tree
    found = np.zeros((len(parts), tree.nv))
    for k, part in enumerate(parts):
        arm = float(
            np.linalg.norm(part.centre)
            + np.hypot(np.hypot(*part.half[:2]) + part.disc, part.half[2])
            + part.ball
        )
        path = tree.path(part.body)
        for i, raises in reversed([*zip(path, _raising(tree, path))]):
            body = tree.bodies[i]
            found[k, body.v] += (
                abs(body.multiplier) * (1.0 if body.kind == "prismatic" else arm) if raises else 0.0
            )
            arm += float(np.linalg.norm(body.p)) + _stroke(robot, body)
    return found


def _raising(tree: Tree, path: Sequence[int]) -> list[bool]:
    """Which joints of a path can change heights: not those that turn about a vertical axis, or
    slide level, below joints that do."""
    up: np.ndarray | None = np.array(
        [0.0, 0.0, 1.0]
    )  # in the body's frame, as long as it is the same there in all configurations
    found = []
    for i in path:
        body = tree.bodies[i]
        up = None if up is None else body.R.T @ up
        along = 0.5 if up is None else abs(float(up @ body.axis))
        slides = body.kind == "prismatic"
        found.append(along > 1e-9 if slides else along < 1.0 - 1e-9)
        up = up if slides or not found[-1] else None
    return found


def _stroke(robot: Robot, body: Body) -> float:
    """How far a sliding joint takes its body away, at most, m; 0 for a turning one."""
    if body.kind != "prismatic":
        return 0.0
    limits = bounds(robot)
    ends = [
        abs(body.multiplier * x + body.offset) for x in (limits.lower[body.v], limits.upper[body.v])
    ]
    return max(ends)
