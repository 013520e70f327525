"""Least times of moves that go hardly anywhere, by the law of similar motions: solved larger, and
shrunk.

Between places so near that torques hardly depend on them, and so slowly that they do not depend on
speeds,

(S1)  q₀ + (q(√κ t) − q₀)/κ

has the accelerations of q, velocities smaller by √κ and jerks larger by √κ. So a move of 10⁻⁶ rad
is one of 10⁻³ rad whose rates are limited more tightly, and a search knows its numbers from their
rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Solution
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.back_off import run_slower
from armature.optimize.planner.settings import SETTINGS
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.bounds import bounds
from armature.robot.model import Robot

NEAR = 5e-4  # rad or m: moves that go less far are solved as if they went so far
ROUNDING = 1e-6  # of that: a larger move is not made larger again
SLOWEST = 1.02  # times the law's duration: torques are not quite the same in both


def larger(robot: Robot, task: Move) -> tuple[Robot, Move, float] | None:
    """The robot and the move made larger by κ, and κ; None where the move is not so short, does not
    rest at its ends, or leaves a range."""
    problem = MoveProblem(
        robot, replace(task, duration=None, via=tuple(replace(via, at=None) for via in task.via))
    )
    way = float(np.abs(np.diff(problem.points, axis=0)).max())
    if robot.loops or problem.moving or not 0.0 < way < (1.0 - ROUNDING) * NEAR:
        return None
    factor, most = NEAR / way, bounds(robot)
    points = problem.points[0] + factor * (problem.points - problem.points[0])
    if np.any(points < most.lower) or np.any(points > most.upper):
        return None
    via = tuple(replace(v, at=None, configuration=q) for v, q in zip(task.via, points[1:-1]))
    return (
        slower_rates(robot, factor**-0.5),
        replace(task, goal=points[-1], via=via, duration=None),
        factor,
    )


def slower_rates(robot: Robot, part: float) -> Robot:
    """The robot with only a part of its limits of jerk and of torque rate."""
    joints = ((name, robot.joint(name).limits) for name in robot.joint_names)
    rates = {
        name: {"jerk": part * x.jerk, "torque_rate": part * x.torque_rate} for name, x in joints
    }
    return robot.with_limits(
        {name: row for name, row in rates.items() if np.isfinite(list(row.values())).any()}
    )


def shrunk(problem: MoveProblem, large: Solution, factor: float) -> Attempt:
    """The larger motion as one of the short move, a little slower where it exceeds a limit.
    problem: of the short move."""
    motion, root, robot = large.trajectory, factor**0.5, problem.robot
    start = problem.points[0]
    small = Trajectory(
        (motion.t - motion.t[0]) / root,
        start + (motion.q - motion.q[0]) / factor,
        motion.v / root,
        motion.a,
        motion.joint_names,
        interpolation=motion.interpolation,
    )
    problem = replace(
        problem, N=len(motion) - 1, move=replace(problem.move, duration=small.duration)
    )
    small = run_slower(robot, small, SETTINGS.allowed, SLOWEST) or small
    states = np.hstack([small.q, small.v, small.a])
    x = np.hstack([states, large.result.x[:, states.shape[1] :]])
    p = large.result.p * (small.duration / motion.duration)
    return Attempt(problem, replace(large.result, x=x, p=p), small, small.duration)
