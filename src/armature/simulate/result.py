"""What a simulation gives: a Trajectory with the account of how well it was computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics import linked
from armature.dynamics.compiled import kinetic_energy, potential_energy
from armature.motion.trajectory import Sample, Trajectory
from armature.robot.model import Robot


class Status(Enum):
    """How a simulation ended."""

    COMPLETE = "the whole duration was simulated"
    EVENT = "a terminal event ended the run"
    INTERRUPTED = "interrupted by Ctrl-C; what was computed is kept"
    FAILED = (
        "the integrator could not meet its tolerance with the smallest step; what was computed is"
        " kept"
    )
    STEPS = (
        "more steps were needed than are taken (500,000): the motion is too fast or too long; what"
        " was computed is kept"
    )
    DIVERGED = "the state is no longer finite; what was computed before is kept"


class Event(NamedTuple):
    """An event found: its name, time (s), and the state there, q (nq,) and v (nv,)."""

    name: str
    t: float
    q: np.ndarray
    v: np.ndarray


@dataclass(frozen=True, eq=False)
class Simulation(Trajectory):
    """A simulated motion: a Trajectory (q has nq columns with a floating base), and the account of
    its errors.

    energy_drift: largest |E(t) − E(0) − work of all applied forces| over the knots, J (nan where it
    was not computed).
    loop_drift: largest error of the loops' closure before it was projected out, m or rad; 0 without
    loops.
    work: (N+1,) work of torques, friction, force elements and wrenches since the start, J.
    status; events: those found, in order; evaluations: calls of the forward dynamics.
    dense: q and v as a continuous function of time, where the integrator gives one: dense(t) of t
    () or (K,) → (nq + nv + 1, ...)."""

    energy_drift: float = float("nan")
    loop_drift: float = 0.0
    work: np.ndarray | None = None
    status: Status = Status.COMPLETE
    events: tuple[Event, ...] = ()
    evaluations: int = 0
    dense: Callable[[Any], np.ndarray] | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """The whole duration was simulated, or an event ended it as asked."""
        return self.status in (Status.COMPLETE, Status.EVENT)

    def __repr__(self) -> str:
        drift = f"energy drift {self.energy_drift:.2g} J" + (
            f", loop drift {self.loop_drift:.2g}" if self.loop_drift else ""
        )
        return (
            f"<Simulation of {self.n} velocities, {len(self)} knots, {self.duration:.6g} s,"
            f" {drift}: {self.status.value}>"
        )

    def __call__(self, t: Any) -> Sample:
        """q (..., nq), v, a (..., nv) at times t (...): by the integrator's own dense output where
        there is one."""
        t = np.asarray(t, dtype=float)
        if self.dense is None and self.q.shape[1] == self.v.shape[1]:
            return super().__call__(t)
        inside = np.clip(t, self.t[0], self.t[-1])
        rest = ((t < self.t[0]) | (t > self.t[-1]))[..., None]
        a = np.stack([np.interp(inside, self.t, column) for column in self.a.T], axis=-1)
        q, v = self._dense_state(inside) if self.dense is not None else self._linear_state(inside)
        return Sample(q, np.where(rest, 0.0, v), np.where(rest, 0.0, a))

    def _dense_state(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert self.dense is not None
        y = np.moveaxis(np.asarray(self.dense(t.ravel())), 0, -1).reshape((*t.shape, -1))
        nq, nv = self.q.shape[1], self.v.shape[1]
        return y[..., :nq], y[..., nq : nq + nv]

    def _linear_state(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Straight lines between close knots; the quaternion of a floating base is made a unit
        again."""
        q, v = (
            np.stack([np.interp(t, self.t, column) for column in x.T], axis=-1)
            for x in (self.q, self.v)
        )
        q[..., 3:7] /= np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True)
        return q, v


def energy_drift(robot: Robot, q: np.ndarray, v: np.ndarray, work: np.ndarray) -> np.ndarray:
    """|E − E₀ − W| (..., N+1): the energy error of a motion q (..., N+1, nq), v (..., N+1, nv)
    under forces of work W (..., N+1), J."""
    if linked.applies(robot.tree):
        return np.full_like(
            work, np.nan
        )  # the energies of very long mechanisms have no loop kernel
    energy = kinetic_energy(robot, q, v) + potential_energy(robot, q)
    return np.abs(energy - energy[..., :1] - (work - work[..., :1]))
