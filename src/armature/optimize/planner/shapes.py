"""Starting motions of little energy: a direct search over cubics that every joint runs in a window of its own.

    (SH1)  q_j(t) = a_j + (b_j − a_j) h((s − begin_j)/(end_j − begin_j)) + bump_j sin²(π s)

s: part of a leg's time, h(x) = 3x² − 2x³ on [0, 1]. Windows and bumps are chosen joint by joint, so that
the energy by the exact law is least, with a penalty on limits that are exceeded (SH2). Local optima of
arms with friction differ in when joints stand and which way they bend: a few thousand evaluated states
tell which of them are worth a solve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.planner.starts import room_to_bend
from armature.optimize.transcription.move import MoveProblem, hermite
from armature.robot.bounds import bounds
from armature.simulate.flows import drives_at

WINDOWS = ((0.0, 1.0), (0.0, 0.6), (0.4, 1.0), (0.0, 0.35), (0.65, 1.0))  # parts of a leg's time
FIRST = WINDOWS[0], WINDOWS[3], WINDOWS[4]  # windows of all joints to begin with
SWEEPS, INSTANTS = 3, 41  # rounds over the joints; instants at which a motion is judged
PENALTY = 3.0  # times the energy that flows in the joint cubic: of a limit exceeded by 100 %


@dataclass(frozen=True, eq=False)
class Shapes:
    """K motions of (SH1). window: (K, n, 2).  bump: (K, n)."""

    window: np.ndarray
    bump: np.ndarray

    def states(self, task: MoveProblem, t: np.ndarray) -> tuple[np.ndarray, ...]:
        """q, v, a (K, M, n) at times t (M,)."""
        edges, points, ends = task.times[[0, *task.knots]], task.points, task.ends
        leg = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 2)
        long = np.diff(edges)[leg][:, None]
        s = (t - edges[leg])[:, None] / long
        begin, end = self.window[:, None, :, 0], self.window[:, None, :, 1]
        rate = 1.0 / ((end - begin) * long)
        x = np.clip((s - begin) / (end - begin), 0.0, 1.0)
        way, bump = np.diff(points, axis=0)[leg], self.bump[:, None, :]
        w = np.pi / long
        q = points[leg] + way * (3 * x**2 - 2 * x**3) + bump * np.sin(np.pi * s) ** 2
        v = way * 6 * (x - x**2) * rate + bump * w * np.sin(2 * np.pi * s)
        a = way * (6 - 12 * x) * rate**2 * ((x > 0.0) & (x < 1.0))
        a = a + bump * 2 * w**2 * np.cos(2 * np.pi * s)
        none = 0.0 * ends.v0
        more = hermite(t, task.duration, none, none, ends.v0, ends.v1)  # of ends that move
        return q + more[0], v + more[1], a + more[2]


def cheap_starts(task: MoveProblem, most: int) -> list[Trajectory]:
    """The cheapest motions of (SH1) that are found from several first windows, at most so many, cheapest
    first; the joint cubic is not among them."""
    t = np.linspace(0.0, task.duration, INSTANTS)
    n = task.robot.n
    straight = Shapes(np.tile(np.array(WINDOWS[0]), (1, n, 1)), np.zeros((1, n)))
    unit = flow_through(task, t, straight)
    found: dict[bytes, tuple[float, Shapes]] = {}
    for first in FIRST:
        shape, cost = descend(task, t, replace_window(straight, first), unit)
        found[np.append(shape.window, shape.bump).tobytes()] = cost, shape
    found.pop(np.append(straight.window, straight.bump).tobytes(), None)
    ranked = sorted(found.values(), key=lambda item: item[0])[:most]
    return [motion_of(task, shape) for _, shape in ranked]


def replace_window(shape: Shapes, window: tuple[float, float]) -> Shapes:
    """The shape with one window for all joints."""
    return Shapes(np.broadcast_to(np.array(window), shape.window.shape), shape.bump)


def descend(
    task: MoveProblem, t: np.ndarray, shape: Shapes, unit: float
) -> tuple[Shapes, float]:
    """Coordinate descent: the best window and bump of one joint after the other."""
    best = float(costs(task, t, shape, unit)[0])
    sizes = [np.zeros(task.robot.n), *room_to_bend(task)]
    for _ in range(SWEEPS):
        before = best
        for j in range(task.robot.n):
            options = [(window, size[j]) for window in WINDOWS for size in sizes]
            windows = np.repeat(shape.window, len(options), axis=0)
            bumps = np.repeat(shape.bump, len(options), axis=0)
            windows[:, j], bumps[:, j] = (np.array(column) for column in zip(*options))
            tried = costs(task, t, Shapes(windows, bumps), unit)
            k = int(np.argmin(tried))
            if tried[k] < best:
                best, shape = float(tried[k]), Shapes(windows[k : k + 1], bumps[k : k + 1])
        if best >= before:
            break
    return shape, best


def costs(task: MoveProblem, t: np.ndarray, shapes: Shapes, unit: float) -> np.ndarray:
    """(K,) energy drawn, J, and a penalty:

    (SH2)  E + unit · 3 · (largest excess of a limit, as a part of it)."""
    q, v, a = shapes.states(task, t)
    K, M, _ = q.shape
    drives, robot = driven(task, q, v, a), task.robot
    each = lambda x: np.asarray(x).reshape(K, M, -1)
    power = each(drives.together.power)
    drawn = task.driven.supply.drawn([power[..., k] for k in range(power.shape[2])])
    over = np.zeros(K)
    for axis, _, limit in robot.drivetrain.limits():
        y = limit.sign * each(getattr(drives.together, limit.quantity))[..., axis]
        y = np.trapezoid(y, t, axis=1) / np.ptp(t) if limit.mean else y.max(axis=1)
        over = np.maximum(over, y / limit.bound - 1.0)
    most = bounds(robot)
    limited = ((v, most.velocity), (a, most.acceleration), (each(drives.torque), most.torque))
    for values, bound in limited:
        over = np.maximum(over, (np.abs(values) / np.maximum(bound, 1e-9)).max((1, 2)) - 1.0)
    return np.trapezoid(drawn, t, axis=1) + PENALTY * unit * over  # (SH2)


def flow_through(task: MoveProblem, t: np.ndarray, shape: Shapes) -> float:
    """∫ Σ|P| dt of one motion, J."""
    power = driven(task, *shape.states(task, t)).together.power
    return float(np.trapezoid(np.abs(power).sum(1), t))


def driven(task: MoveProblem, q: np.ndarray, v: np.ndarray, a: np.ndarray):
    """What the drives do at all instants of all motions (K, M, n), by the exact law; fields (K·M, …)."""
    q, v, a = (np.ascontiguousarray(x.reshape(-1, x.shape[-1])) for x in (q, v, a))
    tau = np.asarray(inverse_dynamics(task.robot, q, v, a))
    return drives_at(task.robot, tau, v, a)


def motion_of(task: MoveProblem, shape: Shapes) -> Trajectory:
    """One shape as a motion at the task's knots."""
    q, v, a = (x[0] for x in shape.states(task, task.times))
    return Trajectory(task.times, q, v, a, task.robot.joint_names)
