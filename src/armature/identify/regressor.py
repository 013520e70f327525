"""The regressor of a robot as a compiled kernel, on whole recordings."""

from __future__ import annotations

import numpy as np

from armature.dynamics.kernels import kernel
from armature.dynamics.recursion.regressor import (
    INERTIAL,
    inertia_regressor,
    inertial_parameters,
)
from armature.errors import RobotError
from armature.robot.model import Robot


def check_robot(robot: Robot) -> None:
    """Refuse mechanisms that identification is not made for."""
    for what, found in (
        ("closed loops", bool(robot.loops)),
        ("a floating base", robot.nq != robot.nv),
        ("passive joints", bool(robot.passive)),
        ("no moving joint", not robot.n),
    ):
        if found:
            raise RobotError(
                f"robot {robot.name!r} has {what}: identification takes trees of driven one-axis "
                "joints on a fixed base; hold or cut the joints that are in the way"
            )


def regressor(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Y (N, n, 10 nb) with τ = Y π; q, v, a: (N, n). Bodies in the order of `robot.tree`."""
    n, bodies = robot.nv, len(robot.tree.bodies)
    inputs = {"q": n, "v": n, "a": n}
    run = kernel(robot, "inertia_regressor", inertia_regressor, inputs, masses=False)
    return run(q, v, a).reshape(*np.shape(q)[:-1], n, INERTIAL * bodies)


def prior_parameters(robot: Robot) -> np.ndarray:
    """π (10 nb,) of the robot's own links, bodies in the order of `robot.tree`."""
    return np.concatenate([inertial_parameters(b) for b in robot.tree.bodies])
