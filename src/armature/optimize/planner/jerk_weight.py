"""What the weight on jerk is scaled by: the motion's own jerk, and what it loses now."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.drive import as_supply
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.transcription.move import MoveProblem
from armature.simulate.flows import drives_at

LOSSES = ("copper", "iron", "friction", "gear", "amplifier")


def jerk_size(task: Any, motion: Trajectory) -> float:
    """∫ Σ (jerk/V)² dt, 1/s³, for accelerations that run straight between knots. V: usual
    speeds."""
    jerk = np.diff(motion.a, axis=0) / np.diff(motion.t)[:, None] / task.scales.velocity
    return float((jerk**2).sum(1) @ np.diff(motion.t))


def losses(task: MoveProblem, motion: Trajectory) -> float:
    """What a motion turns into heat, J, by the trapezoid rule over its knots."""
    robot = task.robot
    tau = np.asarray(inverse_dynamics(robot, motion.q, motion.v, motion.a))
    drives = drives_at(robot, tau, motion.v, motion.a)
    heat = sum(np.asarray(getattr(drives.together, name)).sum(1) for name in LOSSES)
    heat = heat + (np.asarray(drives.friction) * motion.v).sum(1)
    if as_supply(task.driven.supply).slacks(len(robot.drivetrain.drives)):
        heat = heat + np.maximum(-drives.together.power, 0.0).sum(1)
    return float(np.trapezoid(heat, motion.t))
