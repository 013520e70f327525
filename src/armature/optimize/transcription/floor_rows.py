"""The floor in the optimiser: one smooth row for each part that stays above it; its height is a
bound, and compiles nothing."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armature.dynamics.recursion import energy
from armature.kernel.symbol import bare
from armature.optimize.transcription.driven import as_symbols
from armature.optimize.transcription.transcribe import At
from armature.robot.model import Robot
from armature.scene import floor as formula
from armature.scene.floor import SMOOTH, part_height

# of the steps: after which links are as high above the floor as the margin asks for, from places
# that are lower
RISING = 0.2


@functools.cache
def _source() -> str:
    return hashlib.sha256(Path(formula.__file__).read_bytes()).hexdigest()


def floor_rows(robot: Robot) -> dict[str, Any]:
    """The rows of a robot's floor as `Driven` takes them; none without a floor. Their bounds are
    set by each problem."""
    if robot.floor is None or not robot.floor.parts:
        return {}
    parts, tree = robot.floor.parts, robot.tree

    def heights(at: At) -> Sequence[Any]:
        poses = energy.body_poses(tree, as_symbols(at.q))
        return [
            bare(part_height(part, poses[part.body].R[2], poses[part.body].p[2], SMOOTH))
            for part in parts
        ]

    names = tuple(f"floor below {part.link}" for part in parts)
    key = hashlib.sha256(repr(parts).encode()).hexdigest()
    free = ((-np.inf, np.inf),) * len(parts)
    return {
        "extra": heights,
        "extra_names": names,
        "extra_bounds": free,
        "extra_key": f"floor {key} {_source()}",
    }


def keep_above(robot: Robot, low: np.ndarray, rows: int, points: int, given: Sequence[int]) -> None:
    """Set the bounds of the floor's rows from below, but at knots where the task says where the
    links are.

    low: (N, …) bounds of a step.  rows: of limits at each of the `points` of a step; the floor's
    are the last.  given: these knots."""
    floor = robot.floor
    if floor is None or robot.loops or not floor.parts:
        return
    least, N = np.array(floor.least), len(low)
    away = np.abs(np.arange(N + 1)[:, None] - np.asarray(given)).min(
        1
    )  # steps from the next knot whose place is given
    # a link at rest sets out with the square of the time: a steeper rise would ask for
    # accelerations that no drive gives
    part = np.minimum(away / max(RISING * N, 1.0), 1.0)[:, None] ** 2
    kept = floor.height + np.where(
        least < floor.margin, least + part * (floor.margin - least), floor.margin
    )
    block = lambda k: slice((k + 1) * rows - len(least), (k + 1) * rows)
    for k in range(points):
        low[:, block(k)] = (
            kept[:-1]
            if k == 0
            else kept[1:]
            if k == points - 1
            else np.minimum(kept[:-1], kept[1:])
        )
    for knot in given:
        if knot > 0:
            low[knot - 1, block(points - 1)] = -np.inf
        if knot < N:
            low[knot, block(0)] = -np.inf
