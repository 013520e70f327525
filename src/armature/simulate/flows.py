"""What the drives of a robot do along a motion, by the exact law: `Drivetrain.flow` compiled, for whole batches."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import armature.drive
from armature.drive import Flow, Smooth
from armature.drive.drive import FLOW_QUANTITIES
from armature.dynamics import compiled
from armature.kernel import Kernel
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import pack


class Drives(NamedTuple):
    """At K instants. together: what the m axes do, fields (K, m).  friction: (K, n) friction torque of the joints themselves, N·m or N."""

    together: Flow
    friction: np.ndarray

    @property
    def flows(self) -> list[Flow]:
        """What each axis does, fields (K,)."""
        columns = [getattr(self.together, name) for name in FLOW_QUANTITIES]
        return [Flow(*(column[:, k] for column in columns)) for k in range(columns[0].shape[1])]


def drives_at(robot: Robot, tau: np.ndarray, v: np.ndarray, a: np.ndarray, direction: float = 0.0) -> Drives:
    """What the drives do for torques of rigid bodies and rotors, velocities and accelerations (K, n) of the joints; windings at 20 °C.

    direction: ±1 where all joints are known to be about to move that way, whatever their velocities say."""
    if not len(robot.drivetrain.joint_names):
        return Drives(Flow(*[np.zeros((len(tau), 0))] * len(FLOW_QUANTITIES)), tau)
    *columns, friction = flow_kernel(robot)(tau, v, a, np.full(tau.shape, direction))
    return Drives(Flow(*columns), friction)


def flow_kernel(robot: Robot) -> Kernel:
    """(torques, velocities, accelerations, directions) → every quantity of a Flow, (m,) each, and the joints' friction (n,)."""
    if "_flows" not in robot.__dict__:
        robot.__dict__["_flows"] = _compiled(robot)
    return robot.__dict__["_flows"]


def _compiled(robot: Robot) -> Kernel:
    train = robot.drivetrain
    n, m = len(train.joint_names), len(train.drives)

    def plain(_: Tree, tau: Any, v: Any, a: Any, directions: Any) -> tuple:
        sides = [Smooth(direction=m) for m in directions]
        flows, friction = train.flow(list(tau), list(v), list(a), smooth=sides), train.joint_friction(list(tau), list(v), sides)
        return *(pack([getattr(flow, name) for flow in flows], (m,)) for name in FLOW_QUANTITIES), pack(friction, (n,))

    details = (train.drives, train.matrix, train.share, train.frictions, sources(__file__))
    return compiled.kernel(robot, "flows", plain, {"tau": n, "v": n, "a": n, "directions": n}, repr(details), masses=False)


@functools.cache
def sources(file: str) -> str:
    """Digest of what a file traces with drives: itself, and the laws of drives, which `compiled.physics_source` does not cover."""
    files = [Path(file), *sorted(Path(armature.drive.__file__).parent.glob("*.py"))]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()
