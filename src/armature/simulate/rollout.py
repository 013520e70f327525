"""Many motions at once: fixed steps in one compiled loop, the forward dynamics called for the whole
batch (V6)."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from armature.annotations import Numbers
from armature.dynamics import compiled, linked
from armature.dynamics.holonomic.closed_loops import projection
from armature.errors import ArgumentError, check_count
from armature.kernel.kernel import Kernel, thread_count
from armature.robot.model import Robot
from armature.simulate import loops
from armature.simulate.controller import is_traced
from armature.simulate.integrate import whole_steps
from armature.simulate.plant import Plant, applied, check_start
from armature.simulate.progress import Progress
from armature.simulate.result import Simulation, Status, energy_drift

SLICE = 2e8  # operations between two looks at the keyboard: about a tenth of a second
THREAD_ROWS = 64  # fewest rows worth a thread of their own


@dataclass(frozen=True, eq=False)
class Rollout:
    """Motions of a batch at the same times.

    t: (N+1,), s.  q: (..., N+1, nq).  v, a, tau: (..., N+1, nv), tau those of the controller.
    work: (..., N+1), J, of all applied forces.
    loop_drift: (...) largest error of the loops' closure before it was projected out, m or rad.
    """

    robot: Robot = field(repr=False)
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    work: np.ndarray
    loop_drift: np.ndarray
    status: Status = Status.COMPLETE

    def __repr__(self) -> str:
        return (
            f"<Rollout of {self.q.shape[:-2]} motions of {self.robot.name!r}, {len(self.t)} knots:"
            f" {self.status.value}>"
        )

    @cached_property
    def energy_drift(self) -> np.ndarray:
        """(...,) largest |E − E₀ − work| over the knots of each motion, J."""
        return np.max(energy_drift(self.robot, self.q, self.v, self.work), axis=-1)

    def __getitem__(self, index: Any) -> Simulation:
        """One motion of the batch."""
        q, v, a, tau, work = (x[index] for x in (self.q, self.v, self.a, self.tau, self.work))
        if q.ndim != 2:
            raise ArgumentError(
                f"index {index!r} does not pick one motion; the batch has {self.q.ndim - 2} axes:"
                " index each"
            )
        drift = float(np.max(energy_drift(self.robot, q, v, work)))
        names = self.robot.joint_names
        account = {
            "energy_drift": drift,
            "loop_drift": float(self.loop_drift[index]),
            "work": work,
            "status": self.status,
        }
        return Simulation(self.t, q, v, a, names, tau, **account)


def rollout(
    robot: Robot,
    controller: Any = None,
    q0: Numbers | None = None,
    v0: Numbers | None = None,
    duration: float = 1.0,
    step: float = 1e-3,
    method: str = "rk4",
    parameters: Numbers | None = None,
    elements: Any = (),
    friction_width: float = 1e-2,
    threads: int | None = None,
) -> Rollout:
    """Simulate a batch of motions with fixed steps, compiled.

    controller: None; torques, held: (n,) or (..., n) constant, or (..., N, n) one row for each
    step; or a traced law (`arm.simulation.traced`), which is called as law(t, q, v), or law(t, q,
    v, parameters) when `parameters` (..., m), or (..., N, m) for each step, are given.
    q0, v0: (..., nq), (..., nv); leading axes broadcast.  duration: s, rounded to whole steps.
    step: s.
    method: "rk4" or "semi-implicit" (Euler).  elements: force elements on the robot.
    friction_width: velocity over which dry friction is rounded, rad/s or m/s.  threads: over the
    batch; the kernels' setting by default."""
    if method not in loops.METHODS:
        raise ArgumentError(
            f"method {method!r} is not known; use one of {', '.join(loops.METHODS)}"
        )
    check_count(threads, "threads")
    steps = _steps(duration, step)
    law, fed = _fed(robot, controller, parameters)
    q, v, p, batch, per_step = _start(robot, q0, v0, fed, steps, law is None)
    check_start(robot, q[0], fed if law is None else None)
    plant = Plant(robot, elements, width=friction_width)
    if linked.applies(robot.tree) and not robot.loops:
        run: _Run = _LongRun(plant, law, q, v, p, per_step, step, method)
    else:
        kernel = plant.controlled(law, 0 if parameters is None else p.shape[-1])
        run = _Run(robot, kernel, q, v, p, per_step, step, method)
    done, status = run.all(threads)
    shaped = lambda x: np.moveaxis(x[: done + 1], 0, 1).reshape((*batch, done + 1, *x.shape[2:]))
    t = step * np.arange(done + 1)
    motions = [shaped(x) for x in (run.q, run.v, run.a, run.tau, run.work)]
    return Rollout(robot, t, *motions, loop_drift=run.drift.reshape(batch), status=status)


def _steps(duration: float, step: float) -> int:
    if not (math.isfinite(duration) and duration > 0 and math.isfinite(step) and step > 0):
        raise ArgumentError(f"duration {duration} s and step {step} s must be positive numbers")
    return whole_steps(duration, step)


def _fed(robot: Robot, controller: Any, parameters: Any) -> tuple[Any, np.ndarray]:
    """(traced law or None, what is fed to the kernel: its parameters, or the torques)."""
    if controller is None:
        return None, np.zeros(robot.nv)
    if is_traced(controller):
        return controller, (
            np.zeros(0) if parameters is None else np.asarray(parameters, dtype=float)
        )
    if callable(controller):
        raise ArgumentError(
            "rollout runs compiled: give an array of torques or a law marked with"
            " arm.simulation.traced (simulate takes procedures)"
        )
    return None, np.asarray(controller, dtype=float)


def _start(
    robot: Robot, q0: Any, v0: Any, fed: np.ndarray, steps: int, torques: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple, bool]:
    """Storage (K+1, B, ·) with the start in row 0, what is fed as (K or 1, B, m), and the shape of
    the batch."""
    q0 = np.asarray(neutral(robot) if q0 is None else q0, dtype=float)
    v0 = np.asarray(np.zeros(robot.nv) if v0 is None else v0, dtype=float)
    for name, x, size in (
        ("q0", q0, robot.nq),
        ("v0", v0, robot.nv),
        *([("torques", fed, robot.nv)] if torques else []),
    ):
        if x.ndim < 1 or x.shape[-1] != size:
            raise ArgumentError(f"{name} has shape {x.shape}; expected (..., {size})")
    per_step = fed.ndim >= 2 and fed.shape[-2] == steps and fed.ndim > max(q0.ndim, v0.ndim)
    batch = _broadcast(q0.shape[:-1], v0.shape[:-1], fed.shape[:-2] if per_step else fed.shape[:-1])
    B = math.prod(batch)
    q, v = np.empty((steps + 1, B, robot.nq)), np.empty((steps + 1, B, robot.nv))
    q[0], v[0] = (
        np.broadcast_to(q0, (*batch, robot.nq)).reshape(B, -1),
        np.broadcast_to(v0, (*batch, robot.nv)).reshape(B, -1),
    )
    rows = (steps if per_step else 1, fed.shape[-1])
    p = np.broadcast_to(fed if per_step else fed[..., None, :], (*batch, *rows)).reshape(B, *rows)
    return q, v, np.ascontiguousarray(np.moveaxis(p, 1, 0)), batch, per_step


def _broadcast(*shapes: tuple) -> tuple:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ArgumentError(
            "the leading axes of q0, v0 and what is fed do not broadcast:"
            f" {', '.join(map(str, shapes))}"
        ) from None


def neutral(robot: Robot) -> np.ndarray:
    """Coordinates (nq,) at zero; the unit quaternion for a floating base."""
    q = np.zeros(robot.nq)
    for body in robot.tree.bodies:
        if body.kind == "free":
            q[body.q + 6] = 1.0
    return q


def layout(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Where each coordinate's rate comes from: (index of v or −1) for each q, and a floating base's
    first indices in q and v."""
    where, free = np.full(robot.nq, -1), np.array([-1, -1])
    for body in robot.tree.bodies:
        if body.kind == "free":
            free = np.array([body.q, body.v])
        else:
            where[body.q] = body.v
    return where, free


class _Run:
    """The arrays of a run and the loop over slices of its steps."""

    def __init__(
        self,
        robot: Robot,
        kernel: Kernel | None,
        q: np.ndarray,
        v: np.ndarray,
        p: np.ndarray,
        per_step: bool,
        step: float,
        method: str,
    ):
        self.kernel, self.q, self.v, self.p, self.per_step, self.h = (
            kernel,
            q,
            v,
            p,
            per_step,
            float(step),
        )
        self.a, self.tau, self.work = np.empty_like(v), np.empty_like(v), np.zeros(q.shape[:2])
        self.method = loops.METHODS[method]
        self.fix = projection(robot) if robot.loops else None
        self.drift = np.zeros(q.shape[1])
        self.layout, self.free = layout(robot)
        loops.normalize(self.q[0], self.free)

    def all(self, threads: int | None) -> tuple[int, Status]:
        """Run every step; returns how many were done and how it ended."""
        steps, B = len(self.q) - 1, self.q.shape[1]
        size = max(1, int(SLICE / (4 * max(self.operations, 1) * max(B, 1))))
        done = 0
        with Progress("rollout", steps, "steps") as progress:
            for first in range(0, steps, size):
                count = min(size, steps - first)
                self._slice(first, count, thread_count() if threads is None else threads)
                done = first + count
                progress.update(done)
        self._knot(done)
        if not np.all(np.isfinite(self.v[done])):
            return done, Status.DIVERGED
        return done, Status.INTERRUPTED if progress.interrupted else Status.COMPLETE

    @property
    def operations(self) -> int:
        """Of one evaluation of one motion."""
        assert self.kernel is not None
        return self.kernel.operations

    def _knot(self, k: int) -> None:
        """Acceleration and torque at the last knot."""
        assert self.kernel is not None
        loops.knot(
            self.kernel.address,
            0.0,
            self.h,
            self.p,
            self.per_step,
            self.q,
            self.v,
            self.a,
            self.tau,
            k,
        )

    def _slice(self, first: int, count: int, threads: int) -> None:
        B = self.q.shape[1]
        threads = max(1, min(threads, B // THREAD_ROWS))
        if threads == 1:
            self._rows(0, B, first, count)
            return
        edges = [B * k // threads for k in range(threads + 1)]
        with ThreadPoolExecutor(threads) as pool:
            jobs = [
                pool.submit(self._rows, low, high, first, count) for low, high in pairwise(edges)
            ]
            wait(jobs)
            for job in jobs:
                job.result()

    def _rows(self, low: int, high: int, first: int, count: int) -> None:
        arrays = (self.p, self.per_step, self.q, self.v, self.a, self.tau, self.work)
        assert self.kernel is not None
        fix = self.fix.address if self.fix is not None else 0
        self.method(
            self.kernel.address,
            self.layout,
            self.free,
            0.0,
            self.h,
            *arrays,
            first,
            count,
            low,
            high,
            fix,
            self.drift,
        )


class _LongRun(_Run):
    """The same for mechanisms of very many links: steps in Python around the loop kernel, the whole
    batch at once."""

    def __init__(
        self,
        plant: Plant,
        law: Any,
        q: np.ndarray,
        v: np.ndarray,
        p: np.ndarray,
        per_step: bool,
        step: float,
        method: str,
    ):
        super().__init__(plant.robot, None, q, v, p, per_step, step, method)
        self.plant, self.law, self.order = plant, law, 4 if method == "rk4" else 1

    @property
    def operations(self) -> int:
        return 400 * self.plant.robot.nv

    def _evaluate(
        self, k: int, t: float, q: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """a, power and torques of the batch."""
        p, robot = self.p[min(k, len(self.p) - 1) if self.per_step else 0], self.plant.robot
        tau = (
            p
            if self.law is None
            else np.array(
                [self.law(t, *x) for x in (zip(q, v, p) if p.shape[1] else zip(q, v))], dtype=float
            )
        )
        total = np.array(
            [
                applied(robot, self.plant.elements, self.plant.width, t, *x, {})
                for x in zip(q, v, tau)
            ]
        )
        return compiled.forward_dynamics(robot, q, v, total), np.sum(total * v, axis=1), tau

    def _knot(self, k: int) -> None:
        self.a[k], _, self.tau[k] = self._evaluate(k, k * self.h, self.q[k], self.v[k])

    def _rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        out = np.empty_like(q)
        loops.rates(q, v, self.layout, self.free, out)
        return out

    def _slice(self, first: int, count: int, threads: int) -> None:
        for k in range(first, first + count):
            (self._rk4 if self.order == 4 else self._semi_implicit)(k)
            loops.normalize(self.q[k + 1], self.free)

    def _rk4(self, k: int) -> None:
        h, q, v, w = self.h, self.q[k], self.v[k], 0.0
        self.a[k], power, self.tau[k] = self._evaluate(k, k * h, q, v)
        dq, dv = self._rates(q, v), self.a[k]
        q_sum, v_sum, w = dq / 6, dv / 6, power / 6
        for ahead, weight in ((0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6)):
            qs, vs = q + ahead * h * dq, v + ahead * h * dv
            dv, power, _ = self._evaluate(k, (k + ahead) * h, qs, vs)
            dq = self._rates(qs, vs)
            q_sum, v_sum, w = q_sum + weight * dq, v_sum + weight * dv, w + weight * power
        self.q[k + 1], self.v[k + 1], self.work[k + 1] = (
            q + h * q_sum,
            v + h * v_sum,
            self.work[k] + h * w,
        )

    def _semi_implicit(self, k: int) -> None:
        self.a[k], power, self.tau[k] = self._evaluate(k, k * self.h, self.q[k], self.v[k])
        self.v[k + 1] = self.v[k] + self.h * self.a[k]
        self.q[k + 1] = self.q[k] + self.h * self._rates(self.q[k], self.v[k + 1])
        self.work[k + 1] = self.work[k] + self.h * power
