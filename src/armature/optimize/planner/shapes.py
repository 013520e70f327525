"""Starting motions by a direct search over cubics that every joint runs in a window of its own.

    (SH1)  q_j(t) = a_j + (b_j − a_j) h((s − begin_j)/(end_j − begin_j)) + bump_j sin²(π s)

s: part of a leg's time, h(x) = 3x² − 2x³ on [0, 1]. Windows and bumps are chosen joint by joint:
for the least energy by the exact law, with a penalty on limits that are exceeded (SH2), or for the
least duration in which all limits are kept (SH3). Local optima differ in when joints stand and
which way they bend: a few thousand evaluated states tell which of them are worth a solve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.planner.starts import bend_patterns, room_to_bend
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem, hermite
from armature.robot.bounds import bounds
from armature.simulate.flows import Drives, drives_at

WINDOWS = ((0.0, 1.0), (0.0, 0.6), (0.4, 1.0), (0.0, 0.35), (0.65, 1.0))  # parts of a leg's time
FIRST = WINDOWS[0], WINDOWS[3], WINDOWS[4]  # windows of all joints to begin with
BEND, BEND_FAST = (
    0.35,
    (0.7, 0.35),
)  # bumps of a least energy and of a least time, of how far a joint moves
SWEEPS, INSTANTS = 3, 41  # rounds over the joints; instants at which a motion is judged
PENALTY = 3.0  # times the energy that flows in the joint cubic: of a limit exceeded by 100 %
FACTORS, HALVINGS = (
    np.geomspace(0.3, 8.0, 12),
    3,
)  # on the task's own duration; bisections between two


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


Cost = Callable[[Shapes], np.ndarray]
Windows = tuple[tuple[float, float], ...]


def cheap_starts(task: MoveProblem, most: int) -> list[Trajectory]:
    """The cheapest motions of (SH1) found, at most so many, cheapest first, without the joint
    cubic."""
    t, straight = instants(task), joint_cubic(task)
    unit = PENALTY * flow_through(task, t, straight)
    firsts = [
        Shapes(np.broadcast_to(np.array(w), straight.window.shape), straight.bump) for w in FIRST
    ]
    cost = lambda shapes: energies(task, t, shapes, unit)
    found = distinct(task, firsts, cost, WINDOWS, room_to_bend(task, BEND))
    return [motion_of(task, shape) for _, shape in found[:most]]


def short_starts(task: MoveProblem, searched: int, bent: int) -> list[Trajectory]:
    """Motions in which all joints bend away from the joint cubic, in the least duration in which
    they keep their limits. searched, bent: at most so many that are found by descent, and of the
    patterns that the joints' sides follow (`bend_patterns`); shortest first. The joint cubic is not
    among them."""
    t, straight = instants(task), joint_cubic(task)
    cost = lambda shapes: durations(task, t, shapes)
    bumps = [bump for part in BEND_FAST for bump in bend_patterns(task, part)]
    patterns = [Shapes(straight.window, bump[None]) for bump in bumps]
    ranked = sorted(
        ((float(cost(shape)[0]), shape) for shape in patterns), key=lambda item: item[0]
    )
    firsts = [straight, *(shape for _, shape in ranked[:searched])]
    best = distinct(task, firsts, cost, WINDOWS[:1], room_to_bend(task, BEND_FAST[0]))[:searched]
    known = [shape.bump.tobytes() for _, shape in best]
    found = best + [item for item in ranked if item[1].bump.tobytes() not in known][:bent]
    return [stretched(motion_of(task, shape), duration) for duration, shape in found]


def instants(task: MoveProblem) -> np.ndarray:
    """Times at which motions are judged, s."""
    return np.linspace(0.0, task.duration, INSTANTS)


def joint_cubic(task: MoveProblem) -> Shapes:
    """The shape that is the joint cubic, but for via points at which it stops."""
    n = task.robot.n
    return Shapes(np.tile(np.array(WINDOWS[0]), (1, n, 1)), np.zeros((1, n)))


def distinct(
    task: MoveProblem,
    firsts: list[Shapes],
    cost: Cost,
    choice: Windows,
    bumps: Sequence[np.ndarray],
) -> list[tuple[float, Shapes]]:
    """The shapes that coordinate descent leads to with their costs, each once, best first, without
    the joint cubic. choice, bumps: windows and bumps (n,) to choose from."""
    found: dict[bytes, tuple[float, Shapes]] = {}
    for first in firsts:
        shape, value = descend(first, cost, choice, bumps)
        found[np.append(shape.window, shape.bump).tobytes()] = value, shape
    straight = joint_cubic(task)
    found.pop(np.append(straight.window, straight.bump).tobytes(), None)
    return sorted(found.values(), key=lambda item: item[0])


def descend(
    shape: Shapes, cost: Cost, choice: Windows, sizes: Sequence[np.ndarray]
) -> tuple[Shapes, float]:
    """Coordinate descent: the best window and bump of one joint after the other."""
    best = float(cost(shape)[0])
    n = shape.bump.shape[1]
    for _ in range(SWEEPS):
        before = best
        for j in range(n):
            options = [(window, size[j]) for window in choice for size in (np.zeros(n), *sizes)]
            windows = np.repeat(shape.window, len(options), axis=0)
            bumps = np.repeat(shape.bump, len(options), axis=0)
            windows[:, j], bumps[:, j] = (np.array(column) for column in zip(*options))
            tried = cost(Shapes(windows, bumps))
            k = int(np.argmin(tried))
            if tried[k] < best:
                best, shape = float(tried[k]), Shapes(windows[k : k + 1], bumps[k : k + 1])
        if best >= before:
            break
    return shape, best


def energies(task: MoveProblem, t: np.ndarray, shapes: Shapes, penalty: float) -> np.ndarray:
    """(K,) J:

    (SH2)  energy drawn + penalty · largest excess of a limit, as a part of it."""
    q, v, a = shapes.states(task, t)
    drives = driven(task, q, v, a)
    power = drives.together.power.reshape(*q.shape[:2], -1)
    drawn = task.driven.supply.drawn([power[..., k] for k in range(power.shape[2])])
    over = np.maximum(excess(task, t, q, v, a, drives), 0.0)
    return np.trapezoid(drawn, t, axis=1) + penalty * over  # (SH2)


def durations(task: MoveProblem, t: np.ndarray, shapes: Shapes) -> np.ndarray:
    """(K,) least durations, s, in which the shapes keep all limits; where there is none, in which
    they exceed them by at most half as much again as they must:

    (SH3)  T with q(t/T), v T₀/T, a (T₀/T)²."""
    q, v, a = shapes.states(task, t)

    def over(factor: np.ndarray) -> np.ndarray:
        w = 1.0 / factor[:, None, None]
        scaled = q, v * w, a * w**2
        return np.maximum(excess(task, t, *scaled, driven(task, *scaled)), 0.0)

    tried = np.array([over(np.full(len(q), factor)) for factor in FACTORS])
    allowed = 1.5 * tried.min(axis=0)
    first = np.argmax(tried <= allowed, axis=0)
    low, high = FACTORS[np.maximum(first - 1, 0)], FACTORS[first]
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        keeps = over(middle) <= allowed
        low, high = np.where(keeps, low, middle), np.where(keeps, middle, high)
    return task.duration * high


def excess(
    task: MoveProblem, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, drives: Drives
) -> np.ndarray:
    """(K,) by which part of itself a limit is exceeded, at most; negative where all are kept."""
    each = lambda x: np.asarray(x).reshape(*q.shape[:2], -1)
    over = np.full(len(q), -1.0)
    for axis, _, limit in task.robot.drivetrain.limits():
        y = limit.sign * each(getattr(drives.together, limit.quantity))[..., axis]
        y = np.trapezoid(y, t, axis=1) / np.ptp(t) if limit.mean else y.max(axis=1)
        over = np.maximum(over, y / limit.bound - 1.0)
    most = bounds(task.robot)
    limited = ((v, most.velocity), (a, most.acceleration), (each(drives.torque), most.torque))
    for values, bound in limited:
        over = np.maximum(over, (np.abs(values) / np.maximum(bound, 1e-9)).max((1, 2)) - 1.0)
    return over


def flow_through(task: MoveProblem, t: np.ndarray, shape: Shapes) -> float:
    """∫ Σ|P| dt of one motion, J."""
    power = driven(task, *shape.states(task, t)).together.power
    return float(np.trapezoid(np.abs(power).sum(1), t))


def driven(task: MoveProblem, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Drives:
    """What the drives do at all instants of all motions (K, M, n), by the exact law; fields (K·M,
    …)."""
    q, v, a = (np.ascontiguousarray(x.reshape(-1, x.shape[-1])) for x in (q, v, a))
    tau = np.asarray(inverse_dynamics(task.robot, q, v, a))
    return drives_at(task.robot, tau, v, a)


def motion_of(task: MoveProblem, shape: Shapes) -> Trajectory:
    """One shape as a motion at the task's knots."""
    q, v, a = (x[0] for x in shape.states(task, task.times))
    return Trajectory(task.times, q, v, a, task.robot.joint_names)
