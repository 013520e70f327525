"""The error of the robot as it is planned with: its own inertias, rotors and friction law, not the
richer one of the estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armature.drive import as_supply, stack
from armature.drive.corner import Smooth
from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.recursion.friction import friction_torque
from armature.identify.recording import Recording
from armature.identify.signals import Grid, grids
from armature.robot.model import Robot
from armature.robot.model_error import ModelError

WIDTH = 1e-2  # rad/s or m/s over which dry friction is rounded
SLOW = 0.02  # of a joint's largest speed: below, it counts as standing


@dataclass(frozen=True, eq=False)
class MeteredPower:
    """Supply power of a recording, W. t: (N,) s.  predicted: (N,) by the robot's ledger from the
    motion alone.
    measured: (N,).  step: s between samples."""

    t: np.ndarray
    predicted: np.ndarray
    measured: np.ndarray
    step: float

    @property
    def energy(self) -> tuple[float, float]:
        """Predicted and measured energy, J."""
        return float(self.predicted.sum() * self.step), float(self.measured.sum() * self.step)


def with_model_error(
    robot: Robot, recordings: list[Recording], gains: np.ndarray, cutoff: float, held_out: bool
) -> Robot:
    """The robot with the errors of its own prediction on recordings."""
    pieces = [planned_torque(robot, r, gains, cutoff) for r in recordings]
    predicted, measured, v = (np.concatenate(x) for x in zip(*pieces))
    spread = np.maximum(np.std(measured, axis=0), 1e-12)
    moving = np.abs(v) > SLOW * np.abs(v).max(axis=0)  # at rest stiction leaves the torque open
    squares = np.sum(moving * (predicted - measured) ** 2, axis=0) / np.maximum(
        moving.sum(axis=0), 1
    )
    torque = 100.0 * float(np.sqrt(np.mean(squares / spread**2)))
    energy = _energy(robot, recordings, gains, cutoff, predicted, measured)
    return replace(robot, model_error=ModelError(torque, energy, held_out))


def planned_torque(
    robot: Robot, recording: Recording, gains: np.ndarray, cutoff: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(N, n) joint torques by the robot's own model, and measured, N·m, filtered alike; and
    speeds."""
    carried = _carrying(robot, recording)
    found = []
    for grid in grids(recording, cutoff):
        tau = rigid_torque(carried, grid)
        tau = tau + drag(carried, grid.v, tau)
        measured = grid.filtered(grid.measured) * gains
        found.append([x[grid.inner] for x in (grid.filtered(tau), measured, grid.v)])
    predicted, measured, v = (np.concatenate(x) for x in zip(*found))
    return predicted, measured, v


def planned_power(robot: Robot, recording: Recording, cutoff: float) -> list[MeteredPower]:
    """Supply power by the ledger's laws from the motion alone, beside the meter's, for each part
    without gaps."""
    carried = _carrying(robot, recording)
    supply = as_supply(robot.supply)
    found = []
    for grid in grids(recording, cutoff):
        if grid.power is None:
            continue
        powers = stack(
            carried.drivetrain.flow(rigid_torque(carried, grid), grid.v, grid.a), "power"
        )
        drawn = np.asarray(supply.drawn([powers[..., k] for k in range(powers.shape[-1])]))
        found.append(
            MeteredPower(grid.t, grid.filtered(drawn), grid.filtered(grid.power), grid.step)
        )
    return found


def rigid_torque(robot: Robot, grid: Grid) -> np.ndarray:
    """(N, n) of rigid bodies and rotors."""
    return np.asarray(inverse_dynamics(robot, grid.q, grid.v, grid.a))


def drag(robot: Robot, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """(N, n) what friction of joints and drives takes, dry friction rounded, N·m."""
    smooth = Smooth(velocity=WIDTH, power=WIDTH)
    of_drives = robot.drivetrain.drive_friction(tau, v, smooth)
    return friction_torque(robot, v, tau, WIDTH) + np.stack(
        np.broadcast_arrays(*of_drives, tau[:, 0])[:-1], axis=-1
    )


def _carrying(robot: Robot, recording: Recording) -> Robot:
    if not recording.payload:
        return robot
    return robot.with_payload(recording.payload, at=recording.payload_at)


def _energy(
    robot: Robot,
    recordings: list[Recording],
    gains: np.ndarray,
    cutoff: float,
    predicted: np.ndarray,
    measured: np.ndarray,
) -> float:
    """Error in % of the metered energy, or of ∫ i² dt."""
    metered = (
        [r for r in recordings if r.supply_power is not None]
        if len(robot.drives) == robot.n
        else []
    )
    if metered:
        sums = np.array(
            [part.energy for r in metered for part in planned_power(robot, r, cutoff)]
        ).sum(axis=0)
        return 100.0 * abs(float(sums[0] / sums[1]) - 1.0)
    heat = [np.sum((x / gains) ** 2) for x in (predicted, measured)]
    return 100.0 * abs(float(heat[0] / max(heat[1], 1e-300)) - 1.0)
