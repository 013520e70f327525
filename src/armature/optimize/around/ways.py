"""`ways_round` among obstacles: ways that cannot be drawn onto each other, each optimised."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from armature.errors import ArgumentError
from armature.optimize.around.around import Asked, among
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.answer import check_search, check_task
from armature.optimize.moves.ways import Way, described, nearby
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot


def ways_around(
    robot: Robot,
    task: Move,
    supply: Any,
    knots: int,
    most: int,
    deadline: float | None,
    callback: Callable | None,
) -> tuple[Way, ...]:
    """The different ways of a move around the obstacles of its scene, cheapest first; arguments as
    in `ways_round`. An `ArgumentError` says why there is none."""
    scene, task = task.scene, replace(task, scene=None)
    assert scene is not None
    check_task(robot, task)
    check_search(deadline, callback)
    until = None if deadline is None else time.perf_counter() + deadline
    asked = Asked(robot, scene, False, supply, knots, most, until, callback, None)
    move = among(asked, task)
    if isinstance(move, Solution):
        raise ArgumentError(str(move.diagnosis))
    starts = move.starts()
    if isinstance(starts, Solution):
        raise ArgumentError(str(starts.diagnosis))
    plans = move.direct()
    for start in starts:
        plans += move.plans([start])
        if until is not None and time.perf_counter() > until:
            break
    ways: list[Way] = []
    for plan in sorted((p for p in plans if asked.proof(p) is not None), key=lambda p: p.energy):
        if not any(nearby(way.solution, plan) for way in ways):
            whole = replace(asked.best([plan]), scene=scene)
            ways.append(Way(whole, described(whole, "around the obstacles")))
    return tuple(ways)
