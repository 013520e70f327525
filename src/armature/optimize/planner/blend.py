"""From optima at some durations of a move to starts, and to motions, at others between and beyond them.

Over log T an optimum changes smoothly as long as its branch does: q at the same part of the time, its rates in proportion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.planner.plan import Attempt, net_energy, settled
from armature.optimize.problem.result import Result
from armature.optimize.transcription.move import MoveProblem

QUICKLY = 300  # points in time at which a mixture's energy is counted, to see whether it will do
FAR = 1.15  # ratio of durations up to which two optima are continued in a straight line


def scaled(near: Attempt, duration: float) -> Result:
    """A neighbour's result brought to another duration: q and multipliers as they were, rates and free durations in proportion."""
    n, result, f = near.problem.driven.shape.n, near.result, near.motion.duration / duration
    x, u = result.x.copy(), result.u.copy()
    x[:, n : 2 * n] *= f
    x[:, 2 * n : 3 * n] *= f**2
    u[:, :n] *= f**3
    u[:, n:] *= f  # powers
    return replace(result, x=x, u=u, p=result.p / f if near.problem.legs else result.p)


def continued(near: Attempt, before: Attempt | None, duration: float) -> Result:
    """The start for another duration: the straight line through two neighbours' optima over log T, the nearest alone where they are far."""
    T = near.motion.duration
    if before is None or before.result.x.shape != near.result.x.shape:
        return scaled(near, duration)
    gap = np.log(T / before.motion.duration)
    if not 1e-6 < abs(gap) < np.log(FAR) or abs(np.log(duration / T)) > 1.5 * abs(gap):
        return scaled(near, duration)
    return mixed([near, before], duration)


def mixed(points: Sequence[Attempt], duration: float) -> Result:
    """The polynomial over T³ through several optima, at another duration.

    Between two of them it keeps what both keep: jerks come to Σ wᵢ jᵢ (Tᵢ/T)³ with Σ wᵢ (Tᵢ/T)³ = 1, accelerations and velocities to
    Σ wᵢ aᵢ (Tᵢ/T)² and Σ wᵢ vᵢ (Tᵢ/T), where the weights sum up to less than 1.
    """
    parts = [scaled(point, duration) for point in points]
    w = lagrange(np.array([point.motion.duration / duration for point in points]) ** 3 - 1.0)
    total = lambda values: sum(wi * value for wi, value in zip(w, values))
    lam, rows = (total([getattr(part.multipliers, name) for part in parts]) for name in ("lam", "rows"))
    x, u, p = (total([getattr(part, name) for part in parts]) for name in ("x", "u", "p"))
    return replace(parts[0], x=x, u=u, p=p, multipliers=replace(parts[0].multipliers, lam=lam, rows=rows))


def lagrange(x: np.ndarray) -> np.ndarray:
    """The weights of values at the places x in the polynomial's value at zero."""
    return np.array([np.prod([x[j] / (x[j] - x[i]) for j in range(len(x)) if j != i]) for i in range(len(x))])


def told(points: Sequence[Attempt], duration: float) -> float:
    """What the costs of several optima tell about the cost at another duration: the polynomial over log T."""
    w = lagrange(np.log([point.motion.duration / duration for point in points]))
    return float(w @ [point.value for point in points])


def can_mix(problem: MoveProblem) -> bool:
    """Whether optima of two durations mix into a motion: it is at rest at both ends, and nothing between is given but points."""
    e = problem.ends
    moving = any(via.velocity is not None for via in problem.move.via) or e.v0.any() or e.v1.any()
    return not (moving or problem.legs or problem.robot.loops)


def blended(problem: MoveProblem, points: Sequence[Attempt]) -> Attempt:
    """The mixture of several optima as a motion of its own, with its energy, quickly counted; knots and limits are those of the first."""
    near = points[0]
    problem = replace(near.problem, move=problem.move)
    T, n = problem.duration, near.problem.robot.n
    result = mixed(points, T)
    q, v, a = (result.x[:, k * n : (k + 1) * n] for k in range(3))
    t = near.motion.t * (T / near.motion.duration)
    motion = Trajectory(t, q, v, a, near.motion.joint_names, interpolation="linear")
    motion = settled(motion) if problem.driven.dry else motion
    return Attempt(problem, result, motion, net_energy(problem.robot, motion, problem.driven.supply, QUICKLY))
