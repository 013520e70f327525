"""How well a motion would make the parameters known: the information of its torques, friction
included."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armature.identify.base import Base, base_parameters, with_rotors_and_offsets
from armature.identify.regressor import prior_parameters, regressor
from armature.robot.model import Robot
from armature.simulate.rehearse import torque_limits

NARROW = 0.02  # of the largest speed over which Coulomb friction is rounded
LEAST = 1e-30


@dataclass(frozen=True, eq=False)
class Experiment:
    """What a recording of torques would tell of a robot: base parameters, viscous and Coulomb
    friction, offset.

    speeds: (n,) typical largest speeds.  noise: (n,) of the measured torques, N·m.
    """

    robot: Robot
    speeds: np.ndarray
    noise: np.ndarray

    @cached_property
    def base(self) -> Base:
        """The combinations that can be seen."""
        return base_parameters(self.robot)

    def rows(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """(B, N n, p) derivatives of the torques, in units of their noise, by every parameter; q,
        v, a: (B, N, n)."""
        n = self.robot.n
        flat = [x.reshape(-1, n) for x in (q, v, a)]
        eye = np.eye(n)
        Y = with_rotors_and_offsets(regressor(self.robot, *flat), flat[2])[
            :, :, list(self.base.pivots)
        ]
        drag = [
            flat[1][:, :, None] * eye,
            np.tanh(flat[1] / (NARROW * self.speeds))[:, :, None] * eye,
        ]
        W = np.concatenate([Y, *drag], axis=2) / self.noise[:, None]
        return W.reshape(len(q), -1, W.shape[-1])

    def information(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """(B, p, p) WᵀW."""
        W = self.rows(q, v, a)
        return np.einsum(
            "bri,brj->bij", W, W
        )  # small: a library's threads would cost more than they gain

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """(..., n) of the description's rigid bodies, N·m."""
        flat = [x.reshape(-1, self.robot.n) for x in (q, v, a)]
        return (regressor(self.robot, *flat) @ prior_parameters(self.robot)).reshape(q.shape)


def experiment(robot: Robot, speeds: np.ndarray, torque: np.ndarray) -> Experiment:
    """An experiment whose noise is 1 % of the torques' limits, or of torques (N, n) met where there
    are none."""
    limit = torque_limits(robot)
    met = np.maximum(np.abs(torque).max(axis=0), 1e-6)
    return Experiment(robot, speeds, 0.01 * np.where(np.isfinite(limit), limit, met))


def condition_numbers(information: np.ndarray) -> np.ndarray:
    """(B,) of matrices W, from their information WᵀW (B, p, p)."""
    values = np.linalg.eigvalsh(information)
    return np.sqrt(values[:, -1] / np.maximum(values[:, 0], LEAST))
