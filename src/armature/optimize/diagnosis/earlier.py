"""Passing times of via points that no motion meets: the nearest ones that are possible, on the way to the shortest motion's.

Between the times asked for, t, and those of the shortest motion brought to the task's duration, t₁, one number decides:

(P1)  t(λ) = t + λ (t₁ − t),  0 ≤ λ ≤ 1.

λ = 1 is possible nearly always; the least λ that is possible is found by halving, each search from the last motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.planner.effort import spent
from armature.optimize.planner.gears import greatest_power
from armature.optimize.planner.plan import MISSED, Attempt, Planner
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

ANY = "regenerative"  # the supply does not matter for what is possible
COARSE = 50  # knots
ROUGH = Options(tolerance=1e-3, iterations=80, rows=MISSED)
WIDE = 0.5  # width of gears' corners, of the greatest power
NEAR = 0.04  # of λ: what is possible and what is not are so near at last

Run = tuple[Trajectory, tuple[float, ...]]  # a motion and when it passes its via points, s


class Passed(NamedTuple):
    """Passing times of all via points, s, that are possible, and the motion. part: λ, 0 where those asked for are."""

    part: float
    times: tuple[float, ...]
    found: Attempt


def timed(problem: MoveProblem) -> bool:
    """Whether a via point has a given passing time."""
    return any(via.at is not None for via in problem.move.via)


def nearest_passing(problem: MoveProblem, fastest: Attempt, seconds: float) -> Passed | None:
    """The possible passing times nearest to those asked for; None where not even the shortest motion's are found to be.

    fastest: the shortest motion, which chooses them, no longer than the task."""
    planner = Planner(Weights(heat=1.0), ROUGH, budget=spent() + seconds)
    few = replace(problem, supply=ANY, N=min(problem.N, COARSE), free=False, directions=None)
    few = replace(few, smooth=replace(few.driven.smooth, power=WIDE * greatest_power(few) if few.driven.smooth.power else 0.0))
    scale = problem.duration / fastest.motion.duration
    possible = np.array([scale * (fastest.motion.t[knot] - fastest.motion.t[0]) for knot in fastest.problem.knots[:-1]])
    asked = np.array([t if via.at is None else via.at for via, t in zip(problem.move.via, possible)])
    between = lambda part: asked + part * (possible - asked)  # (P1)
    best = passed(planner, few, 1.0, possible, (fastest.motion, tuple(possible / scale)))
    found = None if best is None else passed(planner, few, 0.0, asked, (best.found.motion, best.times), rigid=False)
    low = 0.0
    while best is not None and found is None and best.part - low > NEAR and not planner.late:
        middle = (low + best.part) / 2
        nearer = passed(planner, few, middle, between(middle), (best.found.motion, best.times))
        low, best = (middle, best) if nearer is None else (low, nearer)
    return found or best


def passed(planner: Planner, problem: MoveProblem, part: float, at: np.ndarray, near: Run, rigid: bool = True) -> Passed | None:
    """A motion that passes at these times, from another and its times; None where none is found. rigid: before rows stretch."""
    times = tuple(float(t) for t in at)
    task = replace(problem, move=replace(problem.move, via=tuple(replace(via, at=t) for via, t in zip(problem.move.via, times))))
    found = planner.attempt(task, task.guess(warped(near, times, problem.duration)), rigid=rigid)
    found = planner.directed(found) if found.meets and task.driven.dry else found
    return Passed(part, times, found) if found.meets else None


def warped(near: Run, at: tuple[float, ...], duration: float) -> Trajectory:
    """A motion that passes via points at known times, run so that it passes them at others, every leg evenly."""
    motion, times = near
    old, new = np.array([0.0, *times, motion.duration]), np.array([0.0, *at, duration])
    t = motion.t - motion.t[0]
    leg = np.clip(np.searchsorted(old, t, side="right") - 1, 0, len(old) - 2)
    rate = (np.diff(old) / np.diff(new))[leg][:, None]
    return replace(motion, t=np.interp(t, old, new), v=motion.v * rate, a=motion.a * rate**2)
