"""Simulation of a general mechanism (V1, V6): accelerations by Gauss's principle, drift from the
couplings removed by projection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import OdeSolution

from armature.dynamics.bodies import mechanism as gauss
from armature.dynamics.bodies.assembly import rotations
from armature.dynamics.bodies.couplings import GROUND
from armature.dynamics.bodies.gauss import Accelerations, Mechanism
from armature.errors import ArgumentError
from armature.simulate.integrate import Settings, integrate
from armature.simulate.result import Event, Status

RANK = 1e-9  # of the largest singular value: smaller ones belong to redundant couplings


@dataclass(frozen=True, eq=False)
class MechanismMotion:
    """A simulated motion of a mechanism.

    t: (N+1,), s.  q: (N+1, nq), v: (N+1, nv), a: (N+1, nv): state vectors and accelerations, as in
    `Mechanism`.
    work: (N+1,) of motors, elements and prescribed motions since the start, J.
    energy_drift: largest |E(t) − E(0) − work|, J.  loop_drift: largest coupling error before it was
    projected out, m or rad."""

    mechanism: Mechanism
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    work: np.ndarray
    energy_drift: float
    loop_drift: float
    status: Status
    events: tuple[Event, ...] = ()
    evaluations: int = 0
    dense: OdeSolution | None = None

    def __repr__(self) -> str:
        drift = f"energy drift {self.energy_drift:.2g} J, loop drift {self.loop_drift:.2g}"
        return (
            f"<Motion of {self.mechanism.name!r}, {len(self.t)} knots, {self.t[-1]:.6g} s, {drift}:"
            f" {self.status.value}>"
        )

    @property
    def ok(self) -> bool:
        """The whole duration was simulated, or an event ended it as asked."""
        return self.status in (Status.COMPLETE, Status.EVENT)

    def body(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Orientation R (N+1, 3, 3) and centre of mass p (N+1, 3) of a body in the world."""
        if name not in self.mechanism.body_index or name == GROUND:
            raise ArgumentError(
                f"body {name!r} is not in the mechanism; its bodies are:"
                f" {', '.join(b.name for b in self.mechanism.bodies)}"
            )
        i = 7 * self.mechanism.body_index[name]
        return rotations(self.q[:, i + 3 : i + 7]), self.q[:, i : i + 3]

    def point(self, body: str, at: Any) -> np.ndarray:
        """(N+1, 3): the way of a point of a body; `at` in its frame, m."""
        R, p = self.body(body)
        return p + R @ np.asarray(at, dtype=float)

    def coordinate(self, motor: str) -> tuple[np.ndarray, np.ndarray]:
        """A coordinate and its rate, (N+1,) each."""
        if motor not in self.mechanism.motor_index:
            raise ArgumentError(
                f"coordinate {motor!r} is not in the mechanism; it has:"
                f" {', '.join(self.mechanism.motor_index) or 'none'}"
            )
        i, nb = self.mechanism.motor_index[motor], len(self.mechanism.bodies)
        return self.q[:, 7 * nb + i], self.v[:, 6 * nb + i]


class MechanismSystem:
    """A mechanism under control as a system to integrate."""

    def __init__(self, mechanism: Mechanism, controller: Any, solver: str):
        self.m, self.nq, self.nv, self.solver = mechanism, mechanism.nq, mechanism.nv, solver
        self.last: Accelerations | None = None
        self.rank: int | None = (
            None  # of the couplings at the start, and their least singular value beside the largest
        )
        self.least = 0.0
        self.law: Callable = controller if callable(controller) else lambda t, q, v: controller

    def motion(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Accelerations; power of motors, elements and prescribed motions."""
        m = self.m
        x = m.unpack(q, v)
        rows = m.rows.evaluate(t, x)
        torques = gauss.torques_of(m, self.law(t, *self.coordinates(q, v)))
        found, applied = gauss.solve(m, t, x, rows, torques, self.solver, self.last)
        self.last = found
        # the couplings' forces −Aᵀμ do the work −μ·(A ẋ) = μ·∂f/∂t, with A ẋ = ḟ − ∂f/∂t
        r, c = m.rows.pattern
        moved = np.bincount(r, rows.values * v[c], m.rows.rows)
        return found.a, float(applied @ v - found.mu @ moved)

    def energy(self, q: np.ndarray, v: np.ndarray) -> float:
        """Kinetic and potential energy, J."""
        return sum(gauss.energy(self.m, q, v))

    def rank_margin(self, t: float, q: np.ndarray, v: np.ndarray) -> float:
        """How far the couplings are from losing rank: their least singular value that counts,
        beside that of the start."""
        if not self.m.rows.rows:
            return 1.0
        r, c = self.m.rows.pattern
        A = np.zeros((self.m.rows.rows, self.nv))
        np.add.at(A, (r, c), self.m.rows.evaluate(t, self.m.unpack(q, v)).values)
        sizes = np.linalg.svd(A, compute_uv=False)
        if self.rank is None:
            self.rank = int(np.count_nonzero(sizes > RANK * sizes[0]))
            self.least = float(sizes[self.rank - 1] / sizes[0])
        return float(sizes[self.rank - 1] / sizes[0] / self.least)

    def coordinates(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nb = len(self.m.bodies)
        return q[7 * nb :], v[6 * nb :]

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """ṗ = v, quaternion rate ½(w ω + ε × ω, −ε·ω), ṡ."""
        nb = len(self.m.bodies)
        x, u = q[: 7 * nb].reshape(nb, 7), v[: 6 * nb].reshape(nb, 6)
        e, w = x[:, 3:6], x[:, 6:]
        turn = 0.5 * np.hstack(
            [w * u[:, 3:] + np.cross(e, u[:, 3:]), -np.sum(e * u[:, 3:], axis=1, keepdims=True)]
        )
        return np.concatenate([np.hstack([u[:, :3], turn]).ravel(), v[6 * nb :]])

    def project(
        self, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Back to f = 0 and ḟ = 0, by the nearest way in W."""
        x = q[: 7 * len(self.m.bodies)].reshape(-1, 7)
        x[:, 3:] /= np.linalg.norm(x[:, 3:], axis=1, keepdims=True)
        q, drift, _ = gauss.closed(self.m, q, t)
        return q, gauss.project_velocity(self.m, q, v, t)[0], drift


def simulate(
    mechanism: Mechanism,
    controller: Any = None,
    q0: Any = None,
    v0: Any = None,
    duration: float = 1.0,
    method: str = "dop853",
    step: float | None = None,
    *,
    times: Any = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    max_step: float = float("inf"),
    breaks: Sequence[float] = (),
    events: Mapping[str, Callable] | None = None,
    solver: str = "direct",
    progress: bool | None = None,
) -> MechanismMotion:
    """Simulate a mechanism. The start is first put on its couplings; after each step the drift from
    them is removed.

    controller: torques of the motors: None, an array or {motor: torque} that stays, or a procedure
    (t, s, ṡ) → either, s the coordinates.
    q0, v0: start, (nq,), (nv,); the bodies' own placements and velocities by default.  duration: s.
    method, step, times, rtol, atol, max_step, breaks, progress: as in `arm.simulate`.  events:
    {name: g(t, q, v)}.
    solver: "direct", or "iterative", which starts from the accelerations of the last instant (the
    paper's way)."""
    settings = Settings(
        method, step, rtol, atol, max_step, breaks, times, dict(events or {}), progress
    )
    q, v = gauss.assemble(mechanism, q0, v0)
    system = MechanismSystem(mechanism, controller, solver)
    torques = gauss.torques_of(mechanism, system.law(0.0, *system.coordinates(q, v)))
    gauss.contradiction(mechanism, gauss.accelerations(mechanism, q, v, 0.0, torques))
    system.rank_margin(0.0, q, v)
    r = integrate(system, q, v, duration, settings)
    q, v, work = r.y[:, : mechanism.nq], r.y[:, mechanism.nq : -1], r.y[:, -1]
    energies = np.array([sum(gauss.energy(mechanism, x, u)) for x, u in zip(q, v)])
    drift = float(np.max(np.abs(energies - energies[0] - work)))
    a = np.array([system.motion(t, x, u)[0] for t, x, u in zip(r.t, q, v)])
    return MechanismMotion(
        mechanism, r.t, q, v, a, work, drift, r.drift, r.status, r.events, r.evaluations, r.dense
    )
