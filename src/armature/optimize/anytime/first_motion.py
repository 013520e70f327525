"""The admissible motion with which `improve` begins (K6): the given one, the plain one, or the
shortest one run more slowly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.anytime.suboptimal import ALLOWED, Along, Array, InJoints, on_knots
from armature.optimize.certificate.certify import margins
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.path.along_path import (
    Curve,
    OnCurve,
    Timing,
    plain_at,
    slowed,
    straight_profile,
)
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.path_plan import quickest
from armature.optimize.path.path_start import Scaled, plain
from armature.optimize.scaling.time_scaling import TimeScaling, time_scaling
from armature.optimize.transcription.guess import joint_cubic, joint_quintic, stretched
from armature.optimize.transcription.instant import Instants
from armature.optimize.transcription.task import Move
from armature.robot.bounds import bounds
from armature.robot.model import Robot

ROUNDING = 1e-6  # of a duration, above the shortest
First = tuple[Along, tuple[Array, Array, Array, Array]]


def first_motion(robot: Robot, motion: Any, at: Instants, knots: int, limited: bool) -> First:
    """What moves, and its t, x, v, a at the knots, accelerations straight between them."""
    if isinstance(motion, Trajectory):
        if motion.n != robot.n:
            raise ArgumentError(
                f"the motion moves {motion.n} joints, robot {robot.name!r} has {robot.n}; plan with"
                " the same robot"
            )
        return InJoints(at), on_knots(motion, knots)
    if isinstance(motion, Move):
        return InJoints(at), on_knots(move_motion(robot, motion, at, limited), knots)
    if isinstance(motion, FollowPath):
        curve = motion.curve(robot)
        return OnCurve(curve, at), path_profile(curve, motion, at, knots, limited)
    raise ArgumentError(f"improve takes a Trajectory, a Move or a FollowPath; got {motion!r}")


def move_motion(robot: Robot, task: Move, at: Instants, limited: bool) -> Trajectory:
    """The plain motion between two configurations at rest, of the task's duration or the shortest
    that the limits allow it."""
    ends = task.vectors(robot)
    if task.via or np.any(ends.v0) or np.any(ends.v1):
        raise ArgumentError(
            "improve begins a Move from rest to rest by itself; for passing points or speeds at the"
            " ends give a Trajectory"
        )
    b = bounds(robot)
    law = joint_quintic if np.isfinite([b.jerk, b.torque_rate]).any() else joint_cubic
    shape = law(ends.q0, ends.q1, task.duration or 1.0, joint_names=robot.joint_names)
    if task.duration is not None and (not limited or keeps(robot, shape)):
        return shape
    scaling = time_scaling(robot, shape)
    if task.duration is None:
        return stretched(shape, chosen(scaling, None))
    fast = minimize_time(robot, replace(task, duration=None), supply=at.supply)
    slower = time_scaling(robot, fast.trajectory) if fast.ok else scaling
    return stretched(fast.trajectory, chosen(slower, task.duration, scaling))


def path_profile(
    curve: Curve, task: FollowPath, at: Instants, knots: int, limited: bool
) -> tuple[Array, Array, Array, Array]:
    """The plain profile along a path without corners (52), of the task's duration or the shortest
    that the limits allow it; where they do not allow the one asked for, the quickest run of all,
    slowed down to it."""
    if curve.corners:
        places = ", ".join(f"{p:.4g}" for p in curve.corners)
        raise ArgumentError(
            f"the path has corners at p = {places}, where the hand must stop; improve its parts, or"
            " blend it"
        )
    if any(task.ends):
        raise ArgumentError(
            "improve runs paths from rest to rest; leave out start_speed and end_speed"
        )
    T, first = task.duration, plain(curve, np.linspace(0.0, 1.0, knots + 1), task.duration or 1.0)
    if T is not None and limited and not keeps(curve.robot, first.motion):
        return quick_profile(curve, T, at, knots, first)
    T = chosen(first.scaling, None) if T is None else T
    t = np.linspace(0.0, T, knots + 1)
    return straight_profile(t, *plain_at(curve, t, T))


def keeps(robot: Robot, motion: Trajectory) -> bool:
    """Whether a motion keeps all limits. All durations that they allow it (`time_scaling`) take
    seconds to find; this one, an instant."""
    return all(
        m.fraction >= -ALLOWED for row in margins(robot, motion).values() for m in row.values()
    )


def quick_profile(
    curve: Curve, duration: float, at: Instants, knots: int, first: Scaled
) -> tuple[Array, Array, Array, Array]:
    """The quickest run of all, slowed down to this duration, s; where limits forbid it, those of
    the plain profile `first` are told."""
    fast = quickest(curve.robot, FollowPath(curve), at.supply)
    if fast is not None and fast.t[-1] <= duration:
        slower = slowed(fast, duration / fast.t[-1])
        if keeps(curve.robot, slower.trajectory(curve)):
            return straight_profile(*uniform(slower, knots))
    raise ArgumentError(
        f"no first motion keeps the limits in {duration:.6g} s; for the plain motion:"
        f" {first.scaling.message}"
    )


def uniform(timing: Timing, knots: int) -> tuple[Array, Array, Array, Array]:
    """t, p, ṗ, p̈ of a profile at equal steps in time."""
    t, p, s, a = timing.sampled(20)
    at = np.linspace(0.0, t[-1], knots + 1)
    return at, np.interp(at, t, p), np.interp(at, t, s), np.interp(at, t, a)


def chosen(scaling: TimeScaling, duration: float | None, told: TimeScaling | None = None) -> float:
    """The duration, s; the shortest one where none is given; an ArgumentError tells those that are
    possible."""
    told = told or scaling
    if duration is None and scaling.ok:
        return max(scaling.shortest * (1 + ROUNDING), 1e-9)
    if duration is None or not scaling.allows(duration):
        asked = "" if duration is None else f" in {duration:.6g} s"
        raise ArgumentError(
            f"no first motion keeps the limits{asked}; for the plain motion: {told.message}"
        )
    return duration
