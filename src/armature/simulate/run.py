"""`simulate`: a robot under a controller, from a start, for a duration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from armature.drive.catalogue import SupplyGiven
from armature.dynamics import linked
from armature.dynamics.holonomic.closed_loops import check_passive, projection
from armature.errors import ArgumentError
from armature.robot.loop import refuse_loops
from armature.robot.model import Robot
from armature.simulate import loops
from armature.simulate.controller import is_traced, procedure
from armature.simulate.driven import simulate_drives
from armature.simulate.integrate import FIXED, Result, Settings, integrate
from armature.simulate.plant import Plant, check_start
from armature.simulate.result import Simulation, energy_drift
from armature.simulate.rollout import layout, neutral, rollout

# rad or m, and rad/s or m/s, of a start: what is faster takes millions of steps for a second
LARGEST = 1e6


def simulate(
    robot: Robot,
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
    events: Mapping[str, Callable] | Sequence[Callable] = (),
    wrenches: Mapping[str, Any] | None = None,
    elements: Sequence[Any] = (),
    friction_width: float = 1e-2,
    progress: bool | None = None,
    drives: bool = False,
    command: str = "torque",
    supply: SupplyGiven = None,
) -> Simulation:
    """Simulate a robot, friction of its joints included; returns a Trajectory with the account of
    its errors.

    controller: None (no torques), constant torques (n,), a procedure tau = controller(t, q, v), or
    one marked with `arm.simulation.traced`.
    q0, v0: start, (nq,), (nv,); zeros by default.  duration: s.
    method: "dop853" (adaptive, order 8), "radau" or "bdf" (adaptive, implicit: stiff systems),
    "rk4" or "semi-implicit" (fixed `step`, s).
    rtol, atol, max_step: of the adaptive ones.  times: (K,) where the knots shall be; the
    integrator's own steps by default.
    breaks: times where the controller jumps: the adaptive ones start anew there.
    events: {name: function}: g(t, q, v) whose zero crossings are noted; g.terminal = True ends the
    run, g.direction = ±1 picks a sense.
    wrenches: {link: (6,) or a procedure (t, q, v) → (6,)}: force and torque at the link's origin,
    world axes.
    elements: force elements (springs, dampers, your own).  friction_width: velocity over which dry
    friction is rounded, rad/s or m/s.
    progress: show a progress line after two seconds; by default on terminals.  Ctrl-C ends the run
    and keeps what was computed.
    drives: simulate the drives too, by RK4 with `step` (1 ms by default), see `simulate_drives`:
    the controller then asks for what
    `command` says ("torque", "current", "voltage"), limits bite, windings warm up; supply:
    "regenerative", "non-regenerative" or a Bus."""
    if drives:
        refuse_loops(robot, "drives=True")
        if wrenches or elements or events or times is not None:
            raise ArgumentError(
                "with drives=True the simulation takes no wrenches, elements, events or times yet;"
                " leave them out"
            )
        return simulate_drives(
            robot,
            controller,
            *_start(robot, q0, v0),
            duration,
            step or 1e-3,
            command=command,
            supply=supply,
        )
    q, v = _start(robot, q0, v0)
    settings = Settings(method, step, rtol, atol, max_step, breaks, times, _named(events), progress)
    if (
        method in FIXED
        and not wrenches
        and not settings.events
        and times is None
        and _compiles(robot, controller)
    ):
        fixed = (duration, settings.step or 0.0, method)
        return rollout(
            robot, controller, q, v, *fixed, elements=elements, friction_width=friction_width
        )[()]
    check_start(robot, q[None], None)
    plant = Plant(robot, elements, tuple(wrenches or ()), friction_width)
    system = RobotSystem(robot, controller, plant, wrenches or {})
    return _simulation(robot, system, integrate(system, q, v, duration, settings))


def _compiles(robot: Robot, controller: Any) -> bool:
    return (
        controller is None or is_traced(controller) or not callable(controller)
    ) and not linked.applies(robot.tree)


def _named(events: Mapping[str, Callable] | Sequence[Callable]) -> dict[str, Callable]:
    if isinstance(events, Mapping):
        return dict(events)
    return {getattr(e, "__name__", f"event {i}"): e for i, e in enumerate(events)}


def _start(robot: Robot, q0: Any, v0: Any) -> tuple[np.ndarray, np.ndarray]:
    q = np.array(neutral(robot) if q0 is None else q0, dtype=float)
    v = np.array(np.zeros(robot.nv) if v0 is None else v0, dtype=float)
    for name, x, size in (("q0", q, robot.nq), ("v0", v, robot.nv)):
        if x.shape != (size,):
            raise ArgumentError(
                f"{name} has shape {x.shape}; expected ({size},) (rollout takes batches)"
            )
        if not np.all(np.abs(x) <= LARGEST):
            raise ArgumentError(
                f"{name} has entries that are not finite, or beyond {LARGEST:g} rad, m or their"
                f" rates: {x}"
            )
    return q, v


class RobotSystem:
    """A robot with its controller as a system to integrate."""

    def __init__(self, robot: Robot, controller: Any, plant: Plant, wrenches: Mapping[str, Any]):
        self.robot, self.nq, self.nv = robot, robot.nq, robot.nv
        self.law = procedure(robot, controller)
        self.wrenches = wrenches
        self.layout, self.free = layout(robot)
        self.plant = plant
        self.closing = projection(robot) if robot.loops else None

    def motion(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        """Accelerations, and the power of torques, friction, elements and wrenches."""
        outside = [
            np.asarray(w(t, q, v) if callable(w) else w, dtype=float)
            for w in self.wrenches.values()
        ]
        tau = self.law(t, q, v)
        check_passive(self.robot, tau)
        return self.plant.motion(t, q, v, tau, outside)

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """q̇."""
        if self.nq == self.nv:
            return v
        out = np.empty((1, self.nq))
        loops.rates(q[None], v[None], self.layout, self.free, out)
        return out[0]

    def project(
        self, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Unit quaternions, closed loops; the loops' error before."""
        if self.nq != self.nv:
            loops.normalize(q[None], self.free)
        if self.closing is not None:
            q, v, drift = self.closing(q, v)
            q, v, _ = self.closing(q, v)
            return q, v, float(drift)
        return q, v, 0.0


def _simulation(robot: Robot, system: RobotSystem, r: Result) -> Simulation:
    """The result as a trajectory: accelerations and torques at the knots, energy account."""
    q, v, work = r.y[:, : robot.nq], r.y[:, robot.nq : -1], r.y[:, -1]
    tau = np.array([system.law(t, x, y) for t, x, y in zip(r.t, q, v)])
    a = np.array([system.motion(t, x, y)[0] for t, x, y in zip(r.t, q, v)])
    drift = float(np.max(energy_drift(robot, q, v, work)))
    account = {"energy_drift": drift, "loop_drift": r.drift, "work": work, "status": r.status}
    return Simulation(
        r.t,
        q,
        v,
        a,
        robot.joint_names,
        tau,
        **account,
        events=r.events,
        evaluations=r.evaluations,
        dense=r.dense,
    )
