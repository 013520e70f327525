"""Positioning accuracy of the hand (Z8): errors of the joints carried to the hand, as a covariance
ellipsoid and as a worst-case box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from armature.annotations import Numbers, Values
from armature.dynamics.compiled import bias_forces, jacobian
from armature.errors import ArgumentError
from armature.robot import guard
from armature.robot.model import Robot


@dataclass(frozen=True)
class JointErrors:
    """What makes joints stand where they should not: each a number for all joints, (n,), or {joint:
    number}; rad or m.

    resolution: step of the encoder at the joint (evenly spread over ± half of it).  backlash: play
    of the gear (likewise).
    servo: standard deviation of the position servo (normal; three of them count as the worst).
    stiffness: of the joint, N·m/rad or N/m: under its load τ it yields by −τ/stiffness, a shift and
    no scatter; infinite when stiff."""

    resolution: Values = 0.0
    backlash: Values = 0.0
    servo: Values = 0.0
    stiffness: Values = float("inf")

    def variance(self, robot: Robot) -> np.ndarray:
        """(n,) of the joint's coordinate: Δ²/12 + play²/12 + σ²."""
        return (
            self._of(robot, "resolution") ** 2 + self._of(robot, "backlash") ** 2
        ) / 12.0 + self._of(robot, "servo") ** 2

    def worst(self, robot: Robot) -> np.ndarray:
        """(n,) largest error of the joint's coordinate: Δ/2 + play/2 + 3σ."""
        return 0.5 * (self._of(robot, "resolution") + self._of(robot, "backlash")) + 3.0 * self._of(
            robot, "servo"
        )

    def yielding(self, robot: Robot, tau: np.ndarray) -> np.ndarray:
        """(..., n) how the joints yield under loads τ (..., n)."""
        return -tau / self._of(robot, "stiffness")

    def _of(self, robot: Robot, name: str) -> np.ndarray:
        value, default = getattr(self, name), np.inf if name == "stiffness" else 0.0
        if isinstance(value, Mapping):
            for joint in value:
                guard.known("joint", joint, robot.joint_names)
            value = [value.get(joint, default) for joint in robot.joint_names]
        array = np.asarray(value, dtype=float)
        if array.shape not in ((), (robot.nv,)):
            raise ArgumentError(
                f"{name} has shape {array.shape}; give a number, ({robot.nv},), or {{joint:"
                " number}"
            )
        if not np.all(array > 0.0 if name == "stiffness" else array >= 0.0):
            raise ArgumentError(
                f"{name} is {value!r}; give"
                f" {'positive numbers' if name == 'stiffness' else 'numbers ≥ 0'}"
            )
        return np.broadcast_to(array, (robot.nv,))


@dataclass(frozen=True, eq=False)
class Accuracy:
    """Where the hand may be instead: six-vectors are (position m, small rotation rad), world axes.

    shift: (..., 6) mean deviation, by the joints' elasticity under load.  covariance: (..., 6, 6)
    of the scatter about it.
    box: (..., 6) half-widths of the worst case about the shift.
    """

    shift: np.ndarray
    covariance: np.ndarray
    box: np.ndarray

    @property
    def deviation(self) -> np.ndarray:
        """(..., 6) standard deviations."""
        return np.sqrt(np.einsum("...ii->...i", self.covariance))

    def ellipsoid(self, probability: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Half-axes (..., 3), m, longest first, and their directions (..., 3, 3), columns, of the
        ellipsoid that holds the hand's position with this probability (normal scatter)."""
        if not 0.0 < probability < 1.0:
            raise ArgumentError(f"probability is {probability}; give a number between 0 and 1")
        w, U = np.linalg.eigh(self.covariance[..., :3, :3])
        return np.sqrt(np.maximum(w[..., ::-1], 0.0) * chi2.ppf(probability, 3)), U[..., ::-1]

    @property
    def radius(self) -> np.ndarray:
        """(...) root mean square distance of the hand from its mean position, m."""
        return np.sqrt(np.einsum("...ii->...", self.covariance[..., :3, :3]))


def hand_accuracy(
    robot: Robot,
    q: Numbers,
    link: str,
    errors: JointErrors,
    at: Any = None,
    tau: Numbers | None = None,
) -> Accuracy:
    """Accuracy of a point of a link at configurations q (..., nq), to first order: x = J e, Σ = J
    Σ_q Jᵀ, box = |J| e_worst.

    at: the point in the link's frame, (3,), m.  tau: (..., n) what the joints carry; by default the
    robot's weight at rest."""
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; accuracy is that of an arm that stands"
        )
    q = np.asarray(q, dtype=float)
    J = jacobian(robot, q, link, at)
    load = (
        bias_forces(robot, q, np.zeros(robot.nv)) if tau is None else np.asarray(tau, dtype=float)
    )
    covariance = np.einsum("...ik,k,...jk->...ij", J, errors.variance(robot), J)
    shift = np.einsum("...ik,...k->...i", J, np.broadcast_to(errors.yielding(robot, load), q.shape))
    return Accuracy(shift, covariance, np.abs(J) @ errors.worst(robot))
