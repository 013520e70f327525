"""Several robots on one d.c. bus: what they exchange, and what that saves (X7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.drive import Account, as_supply
from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.simulate.flows import drives_at


@dataclass(frozen=True, eq=False)
class SharedSupply:
    """Robots that move at the same time on one supply.

    t, dt: (M,) instants and steps, s.  powers: (M, robots), W, of all axes of each robot.
    together: the supply's account of all; apart: one account for each robot, as if it had such a
    supply of its own."""

    t: np.ndarray
    dt: np.ndarray
    powers: np.ndarray
    together: Account
    apart: tuple[Account, ...]

    @property
    def drawn(self) -> float:
        """Energy drawn by all on the common supply, J."""
        return float(self.together.drawn.sum())

    @property
    def drawn_apart(self) -> float:
        """Energy drawn if each had its own, J."""
        return float(sum(a.drawn.sum() for a in self.apart))

    @property
    def saving(self) -> float:
        """Fraction saved by sharing."""
        return 1 - self.drawn / self.drawn_apart if self.drawn_apart > 0 else 0.0


def share_supply(
    supply: Any, motions: Sequence[tuple[Robot, Trajectory, float]], steps: int = 4000
) -> SharedSupply:
    """Put robots on one supply: motions are (robot, trajectory, time at which it starts, s); before
    and after, a robot holds its position.

    supply: a Bus, or another supply as for `ledger`.  steps: instants from the first start to the
    last end, at the middle of equal steps."""
    if not motions:
        raise ArgumentError("there are no motions; give a list of (robot, trajectory, start time)")
    supply = as_supply(supply)
    first = min(start for _, _, start in motions)
    last = max(start + trajectory.duration for _, trajectory, start in motions)
    dt = np.full(steps, (last - first) / steps)
    t = first + np.cumsum(dt) - dt / 2
    axes = [_axis_powers(robot, trajectory, t - start) for robot, trajectory, start in motions]
    apart = tuple(supply.account(dt, power) for power in axes)
    return SharedSupply(
        t, dt, np.stack([p.sum(-1) for p in axes], -1), supply.account(dt, np.hstack(axes)), apart
    )


def _axis_powers(robot: Robot, trajectory: Trajectory, t: np.ndarray) -> np.ndarray:
    """Powers of all axes of a robot at times since its start, (M, axes), W."""
    if not robot.drives:
        raise ArgumentError(
            f"robot {robot.name!r} has no drives; give it some by robot.with_drives(...)"
        )
    q, v, a = trajectory(t + trajectory.t[0])
    return drives_at(robot, np.asarray(inverse_dynamics(robot, q, v, a)), v, a).together.power
