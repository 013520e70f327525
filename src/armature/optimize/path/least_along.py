"""`minimize_energy` and `minimize_time` along a path, with or without corners.

At a corner the hand stops, so the parts are planned one by one; a given duration is shared by one
price of time. Speed and p̈ vanish there, so that the joints' accelerations go through zero without
a jump."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np

from armature.errors import ArgumentError, check_count
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Diagnosis, Solution
from armature.optimize.path.along_path import Curve
from armature.optimize.path.follow_path import FollowPath, Joined
from armature.optimize.path.path_plan import Aim, plan_path
from armature.optimize.planner.floor import TOUCH, ground, lowest
from armature.robot.cover import with_floor
from armature.robot.loop import refuse_loops
from armature.robot.model import Robot
from armature.scene.floor import Floor
from armature.simulate.ledger import drive_signals

COARSE = 40  # knots of the plans that share a duration among the parts
PLACES = 401  # of a path at which it is held against the floor
SHARED = 1e-3  # how exactly the parts' durations add up before they are scaled to the one asked for


def least_energy_along(
    robot: Robot, task: FollowPath, supply: Any = None, **settings: Any
) -> Solution:
    """The least energy along a path, at the task's duration or with its price of time."""
    if task.duration is None and task.time_price <= 0.0:
        raise ArgumentError(
            "least energy along a path needs FollowPath(..., duration=…), or time_price=… (W) where"
            " the duration is free"
        )
    aim = Aim(1.0, 0.0 if task.duration is not None else task.time_price, task.duration)
    return plan_along(robot, task, aim, supply, **settings)


def least_time_along(
    robot: Robot, task: FollowPath, supply: Any = None, **settings: Any
) -> Solution:
    """The shortest motion along a path within all limits."""
    return plan_along(robot, task, Aim(0.0, 1.0), supply, **settings)


def plan_along(
    robot: Robot, task: FollowPath, aim: Aim, supply: Any = None, **settings: Any
) -> Solution:
    """One plan, or one for every part between corners."""
    refuse_loops(robot, "planning along a path")
    check_count(settings.get("knots"), "knots")
    curve = task.curve(robot)
    once = dataclasses.replace(task, path=curve)  # inverse kinematics once
    floor = path_ground(robot, curve, task.floor)
    plan = (
        plan_legs(curve, once, aim, supply, **settings)
        if curve.corners
        else plan_path(robot, once, aim, supply, **settings)
    )
    return plan if floor is None else dataclasses.replace(plan, robot=with_floor(robot, floor))


def path_ground(robot: Robot, curve: Curve, setting: Any) -> Floor | None:
    """The floor of a path, None without one; an ArgumentError says where the path leads which link
    through it."""
    p = np.linspace(0.0, 1.0, PLACES)
    q = curve.function(p).q
    found = ground(robot, setting, [("start of the path", q[0]), ("end of the path", q[-1])])
    if found.below is not None:
        raise ArgumentError(str(found.below))
    if found.floor is None:
        return None
    heights = [lowest(robot, found.floor, row) for row in q]
    k = min(range(PLACES), key=lambda i: heights[i][1])
    link, height = heights[k]
    if height < -TOUCH:
        words = (
            f"the path leads {link} through the floor: {-height:.3g} m below z ="
            f" {found.floor.height:.4g} m at p = {p[k]:.3g}"
        )
        raise ArgumentError(
            f"{words}; raise the path, start it in another posture, or give the floor's true height"
            " (floor: none for none)"
        )
    return found.floor


def plan_legs(
    curve: Curve, task: FollowPath, aim: Aim, supply: Any = None, **settings: Any
) -> Solution:
    """A plan along a path with corners."""
    begin = time.perf_counter()
    tasks = leg_tasks(curve, task)
    plan = lambda aims, **other: [
        plan_path(curve.robot, leg, a, supply, **(settings | other)) for leg, a in zip(tasks, aims)
    ]
    if aim.duration is None:
        parts = plan([aim] * len(tasks))
    else:
        fast = plan([Aim(0.0, 1.0)] * len(tasks))
        shortest = sum(part.duration for part in fast)
        if not all(part.ok for part in fast) or shortest > aim.duration:
            return joined(
                curve,
                fast,
                time.perf_counter() - begin,
                too_short(curve, fast, shortest, aim.duration),
            )
        shares = shared(lambda aims: plan(aims, knots=COARSE), fast, aim.duration)
        parts = plan([Aim(1.0, 0.0, T) for T in shares])
    return joined(curve, parts, time.perf_counter() - begin, None, aim.duration)


def leg_tasks(curve: Curve, task: FollowPath) -> list[FollowPath]:
    """The parts between corners as tasks of their own."""
    function = curve.function
    assert isinstance(function, Joined)
    sizes, last = np.diff(function.edges), len(function.legs) - 1
    tasks = []
    for k, leg in enumerate(function.legs):
        inside = [
            (p - function.edges[k]) / sizes[k]
            for p in curve.breaks
            if function.edges[k] < p < function.edges[k + 1]
        ]
        part = Curve(curve.robot, leg, (), (k > 0, k < last), tuple(inside))
        start = task.start_speed / sizes[k] if k == 0 else 0.0
        end = task.end_speed / sizes[k] if k == last else 0.0
        tasks.append(FollowPath(part, start_speed=float(start), end_speed=float(end)))
    return tasks


def shared(plan: Any, fast: list[Solution], duration: float) -> list[float]:
    """Durations of the parts that add up to the one given, with the same price of time for all:
    bisection on its logarithm."""
    power = max(1.0, sum(abs(part.energy) / part.duration for part in fast))
    low, high = -7.0, 7.0
    times = [part.duration for part in fast]
    for _ in range(14):
        middle = (low + high) / 2
        parts = plan([Aim(1.0, power * 10.0**middle)] * len(fast))
        if all(part.ok for part in parts):
            times = [part.duration for part in parts]
        total = sum(times)
        if abs(total / duration - 1) < SHARED:
            break
        low, high = (middle, high) if total > duration else (low, middle)
    return [T * duration / sum(times) for T in times]


def joined(
    curve: Curve,
    parts: list[Solution],
    seconds: float,
    diagnosis: Diagnosis | None,
    duration: float | None = None,
) -> Solution:
    """The parts one after the other. duration: of all, s, where it was given."""
    worst = next((part for part in parts if not part.ok), parts[-1])
    motions, t0 = [part.trajectory for part in parts], 0.0
    times: list[np.ndarray] = []
    for k, motion in enumerate(motions):
        times.append((motion.t - motion.t[0] + t0)[min(k, 1) :])
        t0 += motion.duration
    chain = lambda name: np.concatenate(
        [getattr(motion, name)[min(k, 1) :] for k, motion in enumerate(motions)]
    )
    motion = Trajectory(
        np.concatenate(times), chain("q"), chain("v"), chain("a"), curve.robot.joint_names
    )
    motion = motion if duration is None else motion.lasting(duration)
    notes = tuple(f"part {k + 1}: {note}" for k, part in enumerate(parts) for note in part.notes)
    return Solution(
        curve.robot,
        parts[0].supply,
        worst.status,
        drive_signals(curve.robot, motion),
        None,
        None,
        worst.result,
        diagnosis or worst.diagnosis,
        notes,
        seconds,
    )


def too_short(
    curve: Curve, fast: list[Solution], shortest: float, duration: float
) -> Diagnosis | None:
    """Why the duration cannot be met, where it is that which is missing."""
    if not all(part.ok for part in fast):
        return None
    sentence = (
        f"The path cannot be run in {duration:.4g} s: with stops at its {len(curve.corners)}"
        f" corners it takes {shortest:.4g} s."
    )
    return Diagnosis(
        sentence,
        remedy=f"Allow {1.01 * shortest:.4g} s, or blend the corners.",
        shortest_duration=shortest,
    )
