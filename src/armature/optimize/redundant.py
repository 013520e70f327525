"""Arms with more joints than the task needs (K5): which of the motions that do the task costs least.

Along a path the self-motion is steered by a configuration `home` to which the joints are drawn within their freedom, with a certain pull:
n + 1 numbers, of which the energy at the task's duration is a smooth function. It is minimised by a quasi-Newton method from several
starts, on the plain profile of speed (one inverse kinematics and one quadrature each); the best is planned in full, and never given
where the least-norm motion is better. To a pose of the hand, the goal configurations that reach it are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from armature.dynamics.inverse_kinematics import inverse_kinematics, middle
from armature.errors import ArgumentError
from armature.motion.path import Path
from armature.optimize.along_path import Curve, knots_along, plain_timing
from armature.optimize.follow_path import FollowPath, tip
from armature.optimize.instant import Instants, instants
from armature.optimize.least_along import least_energy_along
from armature.optimize.least_energy import minimize_energy
from armature.optimize.solution import Solution
from armature.optimize.task import Move, configuration
from armature.robot.bounds import bounds
from armature.robot.model import Robot

PULL = 2.0  # how strongly the joints are drawn home at first, see `arm.follow`
STRONGEST = 12.0
SIMPSON = 200  # equal parts of the time in which the energy of a trial is integrated
PROBE = 1e-3  # rad or m, for slopes
REFUSED = 1e3  # times the least-norm motion's: what a self-motion costs that cannot be followed


def best_self_motion(robot: Robot, task: FollowPath, supply: Any = None, tries: int = 3, iterations: int = 8, **settings: Any) -> Solution:
    """The least energy along a path of the hand over the self-motions of a redundant arm; `solution.notes` says what the least norm takes.

    tries: starts of the search (the middle of the ranges, and configurations that reach the path's end).  iterations: of each.
    settings: those of `minimize_energy`.
    """
    if not isinstance(task.path, Path):
        raise ArgumentError("self-motions are chosen along a path of the hand; a path of the joints leaves nothing to choose")
    if task.duration is None:
        raise ArgumentError("self-motions are compared at one duration; give FollowPath(..., duration=…)")
    plain = _tried(lambda: least_energy_along(robot, task, supply, **settings))
    search = _SelfMotion(robot, task, instants(robot, supply))
    found = [search.improved(home, iterations) for home in homes(robot, task)[:tries]]
    plans = [_tried(lambda t=t: least_energy_along(robot, t, supply, **settings)) for _, t in sorted(found, key=lambda pair: pair[0])[:1]]
    good = [plan for plan in (*plans, plain) if plan is not None]
    if not good:
        return least_energy_along(robot, task, supply, **settings)  # with its reason
    best = min(good, key=lambda plan: plan.energy)
    norm = "the least-norm motion fails" if plain is None else f"the least-norm motion takes {plain.energy:.4g} J"
    return replace(best, notes=(*best.notes, f"the best self-motion of {len(found)} searches ({search.count} motions); {norm}"))


def homes(robot: Robot, task: FollowPath) -> list[np.ndarray]:
    """First configurations to be drawn to: the middle of the ranges, and some that reach the path's end."""
    end = task.path(1.0)
    pose = end.x if end.R is None else (end.R, end.x)
    return [middle(robot), *inverse_kinematics(robot, pose, task.link or tip(robot), seed=task.start, most=3).solutions]


@dataclass(eq=False)
class _SelfMotion:
    """The energy of a path's plain profile as a function of (home, pull)."""

    robot: Robot
    task: FollowPath
    at: Instants
    count: int = 0
    start: np.ndarray | None = None

    def steered(self, x: np.ndarray) -> FollowPath:
        """The task with x = (home, pull)."""
        low, high = bounds(self.robot).lower, bounds(self.robot).upper
        home = np.clip(x[:-1], np.maximum(low, -2 * np.pi), np.minimum(high, 2 * np.pi))
        return replace(
            self.task,
            home=home,
            pull=float(np.clip(x[-1], 0.0, STRONGEST)),
            start=self.start if self.start is not None else self.task.start,
        )

    def energy(self, x: np.ndarray) -> float:
        """J, by Simpson's rule in time, with what limits are exceeded priced; infinite where the path cannot be followed."""
        self.count += 1
        try:
            curve = self.steered(x).curve(self.robot)
        except ArgumentError:
            return np.inf
        motion = self.plain(curve)
        t = np.linspace(motion.t[0], motion.t[-1], SIMPSON + 1)
        power, rows = self.at.values(*motion(t))
        weights = np.ones(SIMPSON + 1)
        weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
        beyond = np.maximum(rows[:, ~self.at.mean], 0.0)
        spent = float(np.sum(weights * power) * (t[1] - t[0]) / 3.0)
        return spent + float(np.mean(np.sum(beyond, axis=1))) * max(float(np.mean(np.abs(power))) * motion.duration, 1.0)

    def plain(self, curve: Curve) -> Any:
        """The plain profile along the joints' curve."""
        return plain_timing(curve, knots_along(curve, 60), float(self.task.duration or 1.0)).trajectory(curve)

    def improved(self, home: np.ndarray, iterations: int) -> tuple[float, FollowPath]:
        """The least energy near a first home, and the task that has it."""
        first = np.append(home, PULL)
        if self.start is None and self.task.start is None:
            self.start = self.steered(first).curve(self.robot)(0.0).q  # all self-motions begin in one configuration
        base = self.energy(first)
        if not np.isfinite(base):
            return np.inf, self.steered(first)
        scale = max(abs(base), 1e-9)
        value = lambda x: min(self.energy(x) / scale, REFUSED)
        slope = lambda x: np.array([(value(x + e) - value(x - e)) / (2 * PROBE) for e in PROBE * np.eye(len(x))])
        found = minimize(value, first, jac=slope, method="BFGS", options={"maxiter": iterations, "gtol": 1e-4})
        return float(found.fun) * scale, self.steered(found.x)


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
