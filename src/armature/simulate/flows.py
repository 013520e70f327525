"""What the drives of a robot do along a motion, by the exact law: `Drivetrain.flow` compiled, for
whole batches."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import armature.drive
from armature.drive import Flow, Smooth
from armature.drive.flow import FLOW_QUANTITIES
from armature.dynamics import kernels
from armature.dynamics.variable_drives import structure
from armature.kernel import Kernel
from armature.memo import once
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import pack


class Drives(NamedTuple):
    """At K instants. together: what the m axes do, fields (K, m).  friction: (K, n) friction torque
    of the joints themselves, N·m or N.
    torque: (K, n) what the drives deliver at the joints, all friction included: what torque limits
    limit, N·m or N."""

    together: Flow
    friction: np.ndarray
    torque: np.ndarray

    @property
    def flows(self) -> list[Flow]:
        """What each axis does, fields (K,)."""
        columns = [getattr(self.together, name) for name in FLOW_QUANTITIES]
        return [Flow(*(column[:, k] for column in columns)) for k in range(columns[0].shape[1])]


def drives_at(
    robot: Robot, tau: np.ndarray, v: np.ndarray, a: np.ndarray, direction: float | np.ndarray = 0.0
) -> Drives:
    """What the drives do for torques of rigid bodies and rotors, velocities and accelerations (K,
    n) of the joints; windings at 20 °C.

    direction: ±1, or (K, n), where joints are known to move or to be about to move that way,
    whatever their velocities say."""
    if not len(robot.drivetrain.joint_names):
        return Drives(Flow(*[np.zeros((len(tau), 0))] * len(FLOW_QUANTITIES)), tau, tau)
    *columns, friction, torque = flow_kernel(robot)(
        tau, v, a, np.ascontiguousarray(np.broadcast_to(direction, tau.shape), dtype=float)
    )
    return Drives(Flow(*columns), friction, torque)


def flow_kernel(robot: Robot) -> Kernel:
    """(torques, velocities, accelerations, directions) → every quantity of a Flow, (m,) each, the
    joints' friction (n,) and the torque delivered at them (n,)."""
    return once(robot, "flows", _compiled)


def _compiled(robot: Robot) -> Kernel:
    train = kernels.traced_drivetrain(robot)
    n, m = len(train.joint_names), len(train.drives)

    def plain(_: Tree, tau: Any, v: Any, a: Any, directions: Any) -> tuple:
        sides = [Smooth(direction=m) for m in directions]
        flows = train.flow(list(tau), list(v), list(a), smooth=sides)
        friction, torque = (
            law(list(tau), list(v), sides) for law in (train.joint_friction, train.delivered_torque)
        )
        columns = (pack([getattr(flow, name) for flow in flows], (m,)) for name in FLOW_QUANTITIES)
        return *columns, pack(friction, (n,)), pack(torque, (n,))

    laws = (
        (train.drives, train.matrix, train.share, train.frictions)
        if robot.variable_limits is None
        else structure(robot.drivetrain)
    )
    details = (laws, sources(__file__))
    return kernels.kernel(
        robot,
        "flows",
        plain,
        {"tau": n, "v": n, "a": n, "directions": n},
        repr(details),
        masses=False,
    )


@functools.cache
def sources(file: str) -> str:
    """Digest of what a file traces with drives: itself, and the laws of drives, which
    `kernels.physics_source` does not cover."""
    files = [Path(file), *sorted(Path(armature.drive.__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()
