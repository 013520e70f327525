"""What the joints' friction takes of the torques. Plain, on any number type and on batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.drive.corner import Smooth
from armature.robot.model import Robot
from armature.spatial.vectors import Array, pack


def friction_torque(robot: Robot, v: Array, tau: Array, width: float = 1e-2) -> Array:
    """(..., n): Σ multiplier · F(multiplier · v, τ), dry friction rounded over `width` (rad/s or
    m/s). v, tau: (..., n)."""
    smooth, joints = Smooth(velocity=width, power=width), {j.name: j for j in robot.joints}
    rates, loads = np.moveaxis(v, -1, 0), np.moveaxis(tau, -1, 0)
    taken: list[Any] = [0.0 * x for x in rates]
    for b in robot.tree.bodies:
        joint = joints.get(b.name) or joints.get(
            b.name.rpartition(".")[0]
        )  # a planar joint's bodies are named after it
        if b.kind != "free" and joint is not None and b.multiplier:
            taken[b.v] = taken[b.v] + b.multiplier * joint.friction.torque(
                b.multiplier * rates[b.v], loads[b.v] / b.multiplier, smooth
            )
    return np.stack(taken, axis=-1) if np.ndim(v) > 1 else pack(taken)
