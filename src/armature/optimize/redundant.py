"""Arms with more joints than the task needs (K5): which of the motions that do the task costs least.

Along a path the self-motion is steered by a configuration `home` to which the joints are drawn within their freedom; several homes
are planned coarsely, the best is varied, and planned in full. To a pose of the hand, the goal configurations that reach it are tried.
The search is finite: the best of what was tried, never worse than the least-norm motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from armature.dynamics.inverse_kinematics import inverse_kinematics, middle
from armature.errors import ArgumentError
from armature.motion.path import Path
from armature.optimize.follow_path import FollowPath
from armature.optimize.least_along import least_energy_along
from armature.optimize.least_energy import minimize_energy
from armature.optimize.solution import Solution
from armature.optimize.task import Move, configuration
from armature.robot.bounds import bounds
from armature.robot.model import Robot

COARSE = 40  # knots of a trial
PULL = 4.0  # how strongly the joints are drawn home, see `arm.follow`


def best_self_motion(robot: Robot, task: FollowPath, supply: Any = None, tries: int = 12, seed: int = 0, **settings: Any) -> Solution:
    """The least energy along a path of the hand over the self-motions tried; `solution.notes` says how many, and what the least norm takes.

    tries: variations of the best home, besides the first ones.  settings: those of `minimize_energy`.
    """
    if not isinstance(task.path, Path):
        raise ArgumentError("self-motions are chosen along a path of the hand; a path of the joints leaves nothing to choose")
    trial = lambda t: _tried(lambda: least_energy_along(robot, t, supply, knots=COARSE))
    plain = trial(task)
    found = [(task, plain)] if plain is not None else []
    found += [(t, s) for t in candidates(robot, task) if (s := trial(t)) is not None]
    if not found:
        return least_energy_along(robot, task, supply, **settings)  # with its reason
    rng, size = np.random.default_rng(seed), 0.4
    for _ in range(tries):
        best = min(found, key=lambda pair: pair[1].energy)[0]
        home = best.home if best.home is not None else middle(robot)
        varied = replace(best, home=np.clip(home + size * rng.normal(size=robot.n), *_ranges(robot)))
        if (s := trial(varied)) is not None:
            size = size if s.energy < min(x.energy for _, x in found) else 0.85 * size
            found.append((varied, s))
    best = min(found, key=lambda pair: pair[1].energy)[0]
    plan = least_energy_along(robot, best, supply, **settings)
    norm = "the least-norm motion fails" if plain is None else f"the least-norm motion takes {plain.energy:.4g} J"
    return replace(plan, notes=(*plan.notes, f"the best of {len(found)} self-motions; {norm}"))


def candidates(robot: Robot, task: FollowPath) -> Iterator[FollowPath]:
    """First self-motions: drawn to the middle of the ranges, and to configurations that reach the path's end."""
    end = task.path(1.0)
    pose = end.x if end.R is None else (end.R, end.x)
    homes = [middle(robot), *inverse_kinematics(robot, pose, task.link or robot.tip, seed=task.start, most=3).solutions]
    for home in homes:
        yield replace(task, home=home, pull=PULL)


def least_energy_to_pose(
    robot: Robot, start: Any, pose: Any, link: str, duration: float, supply: Any = None, most: int = 8, **settings: Any
) -> Solution:
    """The least energy from a configuration to a pose of the hand, over the goal configurations that reach it (at most so many)."""
    begin = configuration(robot, start, "start")
    goals = inverse_kinematics(robot, pose, link, seed=begin, most=most)
    if not goals.ok:
        raise ArgumentError(goals.message)
    plans = [_tried(lambda q=q: minimize_energy(robot, Move(begin, q, duration), supply, **settings)) for q in goals]
    good = [plan for plan in plans if plan is not None]
    if not good:
        return minimize_energy(robot, Move(begin, goals.best, duration), supply, **settings)  # with its reason
    best = min(good, key=lambda plan: plan.energy)
    return replace(best, notes=(*best.notes, f"the best of {len(good)} goal configurations that reach the pose"))


def _tried(plan: Callable[[], Solution]) -> Solution | None:
    """A plan, or None where it is refused or fails."""
    try:
        solution = plan()
    except ArgumentError:
        return None
    return solution if solution.ok else None


def _ranges(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    b = bounds(robot)
    return b.lower, b.upper
