"""Free motions to start from: free paths through the task's places, smoothed, run in about the
shortest time in which all limits are kept."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from armature.motion.path import JointPath
from armature.motion.trajectory import Trajectory
from armature.optimize.around.smooth import smooth_path
from armature.optimize.planner.back_off import worst_fraction
from armature.optimize.transcription.guess import stretched
from armature.robot.model import Robot
from armature.scene.free_path import NoPathError, Search, free_path, free_paths, margins_at
from armature.scene.scene import Scene

STEPS = 100  # of the motion along a leg
SLOWEST = 60.0  # s: no leg is run slower to keep limits
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
        routes = [(path.points,) for path in free_paths(robot, scene, *places, ways)]
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
    motions = [in_time(robot, run(curve, robot)) for curve in curves]
    if parts is not None:
        whole = max(m.duration / part for m, part in zip(motions, np.diff(parts)))
        motions = [stretched(m, whole * part) for m, part in zip(motions, np.diff(parts))]
    ends = np.cumsum([m.duration for m in motions])
    starts = [0.0, *ends[:-1]]
    joined = lambda name: np.vstack([getattr(m, name)[int(k > 0) :] for k, m in enumerate(motions)])
    t = np.concatenate([m.t[int(k > 0) :] + a for k, (m, a) in enumerate(zip(motions, starts))])
    motion = Trajectory(t, joined("q"), joined("v"), joined("a"), robot.joint_names)
    return Reference(motion, legs, tuple(float(x) for x in ends[:-1] / ends[-1]))


def run(curve: JointPath, robot: Robot) -> Trajectory:
    """The motion along a curve in 1 s: the place on it is a polynomial of fifth degree in time."""
    t = np.linspace(0.0, 1.0, STEPS + 1)
    p = t**3 * (10.0 - 15.0 * t + 6.0 * t**2)
    v, a = 30.0 * (t * (1.0 - t)) ** 2, 60.0 * t * (1.0 - t) * (1.0 - 2.0 * t)
    x = curve(np.clip(p, 0.0, 1.0))
    speed, rate = v[:, None], a[:, None]
    return Trajectory(t, x.q, x.dq * speed, x.ddq * speed**2 + x.dq * rate, robot.joint_names)


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
