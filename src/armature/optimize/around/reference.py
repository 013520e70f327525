"""Free motions to start from: free paths through the task's places, smoothed, run in about the
shortest time in which all limits are kept."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from armature.motion.path import JointPath
from armature.motion.trajectory import Trajectory
from armature.optimize.around.smooth import smooth_path
from armature.optimize.planner.accelerations import inferred_accelerations
from armature.optimize.planner.back_off import worst_fraction
from armature.optimize.transcription.guess import stretched
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.scene.free_path import NoPathError, Search, free_path, free_paths, margins_at
from armature.scene.scene import Scene

STEPS = 200  # of the motion along a leg
SPEED_UP = 0.25  # s in which joints reach their top speed, where nothing else is known
SLOWEST = 60.0  # s: no leg is run slower to keep limits
MORE = 3  # paths from which the shortest are taken
SMOOTHED = 0.5  # of the margins of a path are kept by its smooth curve


@dataclass(frozen=True, eq=False)
class Reference:
    """A free motion. legs: the free paths that it follows, (k, n) points each.  passed: parts of
    its duration at which via points are passed."""

    motion: Trajectory
    legs: tuple[np.ndarray, ...]
    passed: tuple[float, ...] = ()


def references(
    robot: Robot,
    scene: Scene,
    search: Search,
    places: np.ndarray,
    ways: int,
    parts: np.ndarray | None = None,
) -> list[Reference]:
    """Motions through places (k, n), on up to `ways` different ways; empty where no smooth curve
    near a free path is free. parts: (k,) of the duration at which the places are passed, where they
    are given. Raises `NoPathError`."""
    margins = margins_at(search, list(places))
    if len(places) == 2:
        start, goal = places
        paths = free_paths(robot, scene, start, goal, max(ways, MORE), ways + MORE)
        routes = [(path.points,) for path in paths[:ways]]
    else:
        routes = [_route(robot, scene, places, seed) for seed in range(ways)]
    found = []
    for legs in routes:
        curves = [smooth_path(search, points, SMOOTHED * margins) for points in legs]
        smooth = [curve for curve in curves if curve is not None]
        if len(smooth) == len(legs):
            found.append(_timed(robot, smooth, legs, parts))
    return found


def _route(robot: Robot, scene: Scene, places: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """A free path for each leg."""
    found = []
    for k, (a, b) in enumerate(itertools.pairwise(places), start=1):
        try:
            found.append(free_path(robot, scene, a, b, seed).points)
        except NoPathError as error:
            raise NoPathError(f"leg {k} of {len(places) - 1}: {error}") from None
    return tuple(found)


def _timed(
    robot: Robot, curves: list[JointPath], legs: tuple[np.ndarray, ...], parts: np.ndarray | None
) -> Reference:
    """The motion along curves, at rest between them."""
    motions = [in_time(robot, run(robot, curve)) for curve in curves]
    if parts is not None:
        whole = max(m.duration / part for m, part in zip(motions, np.diff(parts)))
        motions = [stretched(m, whole * part) for m, part in zip(motions, np.diff(parts))]
    ends = np.cumsum([m.duration for m in motions])
    starts = [0.0, *ends[:-1]]
    joined = lambda name: np.vstack([getattr(m, name)[int(k > 0) :] for k, m in enumerate(motions)])
    t = np.concatenate([m.t[int(k > 0) :] + a for k, (m, a) in enumerate(zip(motions, starts))])
    motion = Trajectory(t, joined("q"), joined("v"), joined("a"), robot.joint_names)
    return Reference(motion, legs, tuple(float(x) for x in ends[:-1] / ends[-1]))


def run(robot: Robot, curve: JointPath) -> Trajectory:
    """A motion along a curve, from rest to rest, slow where the curve bends: the quickest in which

    (AR1)  |q'_j| ṗ ≤ v_j,   |q''_j| ṗ² ≤ a_j/2,   |q'_j| |p̈| ≤ a_j/2

    at STEPS places, by one pass forwards and one back (ṗ² changes by 2 p̈ Δp)."""
    p = np.linspace(0.0, 1.0, STEPS + 1)
    x = curve(p)
    speed, acceleration = rates(robot)
    bend, slope = np.abs(x.ddq) + 1e-12, np.abs(x.dq) + 1e-12
    most = np.minimum((speed / slope).min(1) ** 2, (0.5 * acceleration / bend).min(1))
    push = 2.0 * np.diff(p) * np.minimum(*_sides((0.5 * acceleration / slope).min(1)))
    squared = most.copy()
    squared[[0, -1]] = 0.0
    for k in range(STEPS):
        squared[k + 1] = min(squared[k + 1], squared[k] + push[k])
    for k in range(STEPS, 0, -1):
        squared[k - 1] = min(squared[k - 1], squared[k] + push[k - 1])
    v = np.sqrt(squared)
    t = np.concatenate([[0.0], np.cumsum(2.0 * np.diff(p) / np.add(*_sides(v)))])
    u = np.diff(squared) / (2.0 * np.diff(p))
    rate = np.concatenate([u[:1], 0.5 * np.add(*_sides(u)), u[-1:]])
    a = x.ddq * squared[:, None] + x.dq * rate[:, None]
    return Trajectory(t, x.q, x.dq * v[:, None], a, robot.joint_names)


def rates(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """(n,), (n,): greatest speeds and accelerations, given or guessed, rad/s or m/s, rad/s² or
    m/s²: what the drives keep up for long, else top speed in a quarter of a second."""
    limits = bounds(robot)
    speed = np.where(np.isfinite(limits.velocity), limits.velocity, 1.0)
    given = inferred_accelerations(robot)
    own = [given.get(name, np.inf) for name in robot.joint_names]
    found = np.minimum(np.where(np.isfinite(own), own, speed / SPEED_UP), limits.acceleration)
    return speed, np.maximum(found, 1e-6)


def _sides(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values at the beginning and at the end of every interval."""
    return x[:-1], x[1:]


def in_time(robot: Robot, motion: Trajectory) -> Trajectory:
    """The motion in about the shortest duration in which it keeps all limits; in a minute where it
    never does."""
    keeps = lambda duration: worst_fraction(robot, stretched(motion, duration), 1) >= 0.0
    low, high = 0.05, 0.1
    while not keeps(high):
        low, high = high, 1.5 * high
        if high > SLOWEST:
            return stretched(motion, SLOWEST)
    for _ in range(3):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return stretched(motion, high)
