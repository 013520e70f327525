"""Whether a motion is free of a scene at every instant, or an instant at which it is not.

Between the middle of an interval and any of its instants, at most h away, the distance of a pair
changes by at most h Σ |v|max · lever:

    (D5)  d(t) ≥ d(middle) − h Σ_j max|v_j| r_j

max|v_j| is the bound of the joint's polynomial on the interval by its control points; r_j is how
far any point of the link can be from
the joint, in any configuration. Joints that move both links of a pair alike do not count.
Intervals that this does not decide are
halved. Motions that collide are never called free: the covers of links contain their collision
shapes, and (D5) holds at every instant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.clearance import speed_bounds
from armature.robot.model import Robot
from armature.scene.collision import collision_model, told_apart
from armature.scene.levers import pair_levers
from armature.scene.model import Model
from armature.scene.scene import Scene

FIRST = 24  # instants looked at before intervals are
FAR = 0.1  # m: clearances are told up to this
CLOSE = 1e-3  # m: how far a proved clearance may lie below the smallest that was met
LOOKS, PAIRS = 400, 6  # instants at which pairs are compared, and how many are named
ROUNDS = 24  # times that intervals are halved at most


@dataclass(frozen=True)
class Clearance:
    """How near a motion comes to a scene.

    free: proved to be free at every instant.  pair: names of the pair that comes nearest; None
    where nothing comes within 0.1 m.
    clearance: m; where free, no pair comes nearer at any instant (0.1 where all stay farther);
    else what was met at `time` (negative:
    that deep in collision).  time: s, of the smallest distance that was met.  instants: how many
    were computed.
    """

    free: bool
    pair: tuple[str, str] | None
    clearance: float
    time: float
    instants: int

    def __str__(self) -> str:
        who = (
            ""
            if self.pair is None
            else f" ({self.pair[0]} and {self.pair[1]}, t = {self.time:.4g} s)"
        )
        if self.free:
            return f"free at every instant, clearance at least {self.clearance:.3g} m{who}"
        if self.clearance < 0.0:
            return f"in collision: {-self.clearance:.3g} m deep{who}"
        return f"not proved to be free: {self.clearance:.3g} m left{who}"


def clearance(robot: Robot, scene: Scene, motion: Trajectory) -> Clearance:
    """Prove a motion free of a scene, or find where it collides."""
    if motion.n != robot.n:
        raise ArgumentError(
            f"the motion has {motion.n} joints, robot {robot.name!r} has {robot.n}; give a motion"
            " of this robot"
        )
    model = collision_model(robot, told_apart(robot, scene, motion.q[[0, -1]]))
    if not len(model.first):
        return Clearance(True, None, FAR, float(motion.t[0]), 0)
    lever = pair_levers(robot, model)
    met, who, when = _first_look(model, motion)
    instants, proved = FIRST, FAR
    begin, end = (motion.t[:-1], motion.t[1:]) if len(motion) > 1 else (motion.t, motion.t)
    for _ in range(ROUNDS):
        if met < 0.0:
            return Clearance(False, model.pairs[who], met, when, instants)
        middle, half = (begin + end) / 2, (end - begin) / 2
        change = half[:, None] * (speed_bounds(motion, begin, end) @ lever.T)
        # farther than the smallest met so far, no distance need be known
        found, _ = model.distances(motion(middle).q, change + max(met, 0.0))
        instants += len(middle)
        k, pair = np.unravel_index(int(found.argmin()), found.shape)
        if found[k, pair] < met:
            met, who, when = float(found[k, pair]), int(pair), float(middle[k])
            if met < 0.0:
                continue
        least = (found - change).min(1)
        open_ = least < min(max(met - CLOSE, 0.5 * met), proved)
        proved = min(proved, float(least[~open_].min(initial=FAR)))
        if not open_.any():
            return Clearance(
                proved > 0.0, model.pairs[who] if who >= 0 else None, proved, when, instants
            )
        begin, end = (
            np.concatenate([begin[open_], middle[open_]]),
            np.concatenate([middle[open_], end[open_]]),
        )
    return Clearance(False, model.pairs[who] if who >= 0 else None, met, when, instants)


def nearest_pairs(robot: Robot, scene: Scene, motion: Trajectory) -> str:
    """The pairs that come nearest at instants close to each other, with their distances, in words;
    empty where none comes within 0.1 m."""
    model = collision_model(robot, told_apart(robot, scene, motion.q[[0, -1]]))
    found, _ = model.distances(motion(np.linspace(motion.t[0], motion.t[-1], LOOKS)).q, FAR)
    least: dict[tuple[str, str], float] = {}
    for pair, d in zip(model.pairs, found.min(0).tolist()):
        least[pair] = min(d, least.get(pair, FAR))
    near = sorted((d, *pair) for pair, d in least.items() if d < FAR)[:PAIRS]
    return "; ".join(f"{a} and {b} {1e3 * d:.1f} mm" for d, a, b in near)


def _first_look(model: Model, motion: Trajectory) -> tuple[float, int, float]:
    """The smallest distance at a few instants, at most 0.1 m, its pair (−1: none) and time, s."""
    t = np.linspace(motion.t[0], motion.t[-1], FIRST)
    found, _ = model.distances(motion(t).q, FAR)
    k, pair = np.unravel_index(int(found.argmin()), found.shape)
    near = float(found[k, pair])
    return (near, int(pair), float(t[k])) if near < FAR else (FAR, -1, float(t[0]))
