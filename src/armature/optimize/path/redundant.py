"""Arms with more joints than the task needs (K5): which of the motions that do the task costs
least.

Along a path the self-motion is a function of p that is chosen by the energy (self_motion.py), from
several first curves; first with the plain profile of speed, then with that of the plan found. To a
pose of the hand the goal configuration is chosen on its self-motion:
    (G1)  dE*/dq₁ = ∫ (L_q φ + L_v φ' + L_a φ'') dt     along the best motion to q₁, φ any function
    from 0 to 1 that is flat at its ends
(where no limit is touched), so that every plan gives the energy and its slope, and a quasi-Newton
method goes on to the next goal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import null_space

from armature.dynamics.compiled import jacobian, pose
from armature.dynamics.positioning.inverse_kinematics import inverse_kinematics, middle
from armature.errors import ArgumentError
from armature.motion.goal import as_goal
from armature.motion.path import Path
from armature.motion.rotation import log
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.path.along_path import Curve
from armature.optimize.path.follow_path import FollowPath, tip
from armature.optimize.path.least_along import least_energy_along
from armature.optimize.path.self_motion import least, plain_times, times_of
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.transcription.guess import LAWS
from armature.optimize.transcription.instant import Instants, instants
from armature.optimize.transcription.task import Move, configuration
from armature.robot.bounds import bounds
from armature.robot.model import Robot

PULL = 2.0  # how strongly the joints of a first curve are drawn home, see `arm.dynamics.follow`
GOALS = 6  # plans that a search for the goal takes at most
FAR = 0.6  # rad or m: longest way to the next goal
GAIN = 1e-4  # of what goes through the drives: less is no gain
INSTANTS = 401  # at which (G1) is integrated


@interruptible
def best_self_motion(
    robot: Robot,
    task: FollowPath,
    supply: Any = None,
    tries: int = 3,
    iterations: int = 60,
    **settings: Any,
) -> Solution:
    """The least energy along a path of the hand over the self-motions of a redundant arm;
    `solution.notes` says what the least norm takes.

    The start stays where the task gives one, else it is chosen too.  tries: first curves of the
    search (least norm, drawn to the middle of the ranges and to configurations that reach the
    path's end, other starts).  iterations: of each.  settings: those of `minimize_energy`."""
    if not isinstance(task.path, Path):
        raise ArgumentError(
            "self-motions are chosen along a path of the hand; a path of the joints leaves nothing"
            " to choose"
        )
    if task.duration is None:
        raise ArgumentError(
            "self-motions are compared at one duration; give FollowPath(..., duration=…)"
        )
    at, path, link, held = (
        instants(robot, supply),
        task.path,
        task.link or tip(robot),
        task.start is not None,
    )
    planned = lambda curve: _tried(
        lambda: least_energy_along(robot, replace(task, path=curve), supply, **settings)
    )
    plain = _tried(lambda: least_energy_along(robot, task, supply, **settings))
    better = lambda curve, timed: least(curve, path, link, at, timed, held, iterations)
    found = [
        better(curve, plain_times(curve, float(task.duration or 1.0)))
        for curve in first_curves(robot, task, tries)
    ]
    good = [plan for plan in (plain,) if plan is not None]
    for _, curve in sorted(found, key=lambda pair: pair[0])[:1]:
        plan = planned(curve)
        again = (
            None if plan is None else planned(better(curve, times_of(curve, plan.trajectory))[1])
        )
        good += [p for p in (plan, again) if p is not None]
    if not good:
        return least_energy_along(robot, task, supply, **settings)  # with its reason
    best = min(good, key=lambda plan: plan.energy)
    norm = (
        "the least-norm motion fails"
        if plain is None
        else f"the least-norm motion takes {plain.energy:.4g} J"
    )
    return replace(
        best, notes=(*best.notes, f"the best self-motion of {len(found)} searches; {norm}")
    )


def first_curves(robot: Robot, task: FollowPath, tries: int) -> list[Curve]:
    """Curves to begin with, of several branches where there are such."""
    found: list[Curve] = []
    for other in _steered(robot, task):
        try:
            found.append(other.curve(robot))
        except ArgumentError:
            continue
        if len(found) >= tries:
            break
    return found


def _steered(robot: Robot, task: FollowPath) -> Iterator[FollowPath]:
    """The task, drawn to configurations, and from other starts."""
    yield task
    yield replace(task, home=middle(robot), pull=PULL)
    ends = [task.path(p) for p in (0.0, 1.0)]
    poses = [e.x if e.R is None else (e.R, e.x) for e in ends]
    reached = lambda pose: (
        inverse_kinematics(robot, pose, task.link or tip(robot), seed=task.start, most=4).solutions
    )
    if task.start is None:
        yield from (replace(task, start=q) for q in reached(poses[0]))
    yield from (replace(task, home=q, pull=PULL) for q in reached(poses[1]))


# to a pose ---------------------------------------------------------------------------------------


@interruptible
def least_energy_to_pose(
    robot: Robot,
    start: Any,
    pose: Any,
    link: str,
    duration: float,
    supply: Any = None,
    most: int = 8,
    **settings: Any,
) -> Solution:
    """The least energy from a configuration to a pose of the hand: of the goal configurations that
    reach it (at most so many are tried), and for a redundant arm of all to which its self-motion
    leads from the best two of them."""
    begin = configuration(robot, start, "start")
    goals = inverse_kinematics(robot, pose, link, seed=begin, most=most)
    if not goals.ok:
        raise ArgumentError(goals.message)
    to = lambda q, guess=None: _tried(
        lambda: minimize_energy(robot, Move(begin, q, duration), supply, guess=guess, **settings)
    )
    plans = [plan for plan in map(to, goals) if plan is not None]
    if not plans:
        return minimize_energy(
            robot, Move(begin, goals.best, duration), supply, **settings
        )  # with its reason
    plans.sort(key=lambda plan: plan.energy)
    led = [
        led_on(robot, plan, link, as_goal(pose).R is None, instants(robot, supply), to)
        for plan in plans[:2]
    ]
    best, tried = (
        min((plan for plan, _ in led), key=lambda plan: plan.energy),
        len(plans) + sum(count for _, count in led),
    )
    return replace(
        best, notes=(*best.notes, f"the best of {tried} goal configurations that reach the pose")
    )


def led_on(
    robot: Robot, plan: Solution, link: str, free: bool, at: Instants, to: Callable
) -> tuple[Solution, int]:
    """(the best plan, plans made) along the goal's self-motion: steepest descent in its metric,
    steps as long as they pay."""
    goal = pose(robot, plan.trajectory.q[-1], link)
    length, count = FAR, 0
    while count < GOALS:
        q = plan.trajectory.q[-1]
        N = null_space(moved(robot, q, link, free))
        way = -N @ (N.T @ slope_of(at, plan.trajectory)) if N.size else np.zeros(robot.n)
        gain = GAIN * plan.ledger.throughput
        if not np.any(way) or length * np.linalg.norm(way) < gain:
            break
        ahead = nearest(robot, q + length * way / np.linalg.norm(way), link, goal, free)
        count += 1
        trial = None if ahead is None else to(ahead, plan)
        if trial is not None and trial.energy < plan.energy - gain:
            plan, length = trial, min(1.5 * length, FAR)
        else:
            length = length / 4
    return plan, count


def moved(robot: Robot, q: np.ndarray, link: str, free: bool) -> np.ndarray:
    """The Jacobian of the place, or of place and orientation."""
    J = np.asarray(jacobian(robot, q, link))
    return J[:3] if free else J


def slope_of(at: Instants, motion: Any) -> np.ndarray:
    """(G1): (n,) how the least energy changes with the goal, J/rad or J/m."""
    T, x = motion.duration, np.linspace(0.0, 1.0, INSTANTS)
    g, (phi, rate, bend) = (
        at.gradient(*motion(motion.t[0] + T * np.clip(x, 1e-9, 1 - 1e-9))),
        LAWS["quintic"](x),
    )
    along = g.q * phi[:, None] + g.v * rate[:, None] / T + g.a * bend[:, None] / T**2
    return np.trapezoid(along, T * x, axis=0)


def nearest(robot: Robot, q: np.ndarray, link: str, goal: Any, free: bool) -> np.ndarray | None:
    """A configuration near this one in which the hand is at its goal, within the ranges; None where
    there is none."""
    b = bounds(robot)
    for _ in range(20):
        hand = pose(robot, q, link)
        off = goal.p - hand.p if free else np.concatenate([goal.p - hand.p, log(goal.R @ hand.R.T)])
        if np.max(np.abs(off)) < 1e-10:
            return q if np.all((q >= b.lower) & (q <= b.upper)) else None
        q = q + np.linalg.pinv(moved(robot, q, link, free)) @ off
    return None


def _tried(plan: Callable[[], Solution]) -> Solution | None:
    """A plan, or None where it is refused or fails."""
    try:
        solution = plan()
    except ArgumentError:
        return None
    return solution if solution.ok else None
