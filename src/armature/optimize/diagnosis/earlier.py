"""Passing times of via points that no motion meets: the nearest ones that are possible, on the way
to the shortest motion's.

Between the times asked for, t, and those of the shortest motion brought to the task's duration, t₁,
one number decides:

(P1)  t(λ) = t + λ (t₁ − t),  0 ≤ λ ≤ 1.

λ = 1 is possible nearly always; the least λ that is possible is found by bisection, each search
from the last motion.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

ANY = "regenerative"  # the supply does not matter for what is possible
NEAR = 0.05  # of λ: what is possible and what is not are so near at last

Run = tuple[Trajectory, tuple[float, ...]]  # a motion and when it passes its via points, s


class Passed(NamedTuple):
    """Passing times of all via points, s, that are possible, and the motion. part: λ, 0 where those
    asked for are."""

    part: float
    times: tuple[float, ...]
    found: Attempt


def has_given_times(problem: MoveProblem) -> bool:
    """Whether a via point has a given passing time."""
    return any(via.at is not None for via in problem.move.via)


def nearest_passing(pipeline: Pipeline, problem: MoveProblem, fastest: Attempt) -> Passed | None:
    """The possible passing times nearest to those asked for; None where not even the shortest
    motion's are found to be.

    fastest: the shortest motion, which chooses them, no longer than the task."""
    search = replace(pipeline, weights=Weights(heat=1.0))
    task = posed(problem.robot, problem.move, ANY, problem.N)
    motion = fastest.motion
    scale = problem.duration / motion.duration
    at = [motion.t[knot] - motion.t[0] for knot in fastest.problem.knots[:-1]]
    possible = scale * np.array(at)
    given = [via.at for via in problem.move.via]
    asked = np.array([free if t is None else t for t, free in zip(given, possible)])
    between = lambda part: tuple(asked + part * (possible - asked))  # (P1)
    best = passed(search, task, 1.0, between(1.0), (motion, tuple(at)))
    low = 0.0
    while best is not None and best.part - low > NEAR and not pipeline.late:
        middle = (low + best.part) / 2
        near = best.found.motion, best.times
        nearer = passed(search, task, middle, between(middle), near)
        low, best = (middle, best) if nearer is None else (low, nearer)
    return best


def passed(
    search: Pipeline, task: MoveProblem, part: float, times: tuple[float, ...], near: Run
) -> Passed | None:
    """A motion that passes at these times, from another and its times; None where none is found
    that keeps all limits."""
    via = tuple(replace(via, at=t) for via, t in zip(task.move.via, times))
    task = replace(task, move=replace(task.move, via=via))
    s = search.settings
    first = search.few(task, warped(near, times, task.duration), s.coarse, s.coarse)
    found = search.with_all_knots(task, first)
    return Passed(part, times, found) if found.runs else None


def untimely(problem: MoveProblem, passed: Passed) -> Diagnosis:
    """Passing times that leave a leg less time than it takes: the nearest ones that are
    feasible."""
    asked = [t if v.at is None else v.at for v, t in zip(problem.move.via, passed.times)]
    given = np.diff([0.0, *asked, problem.duration])
    takes = np.diff([0.0, *passed.times, problem.duration])
    k = int(np.argmax(takes / given))
    single = "the via point" if len(asked) == 1 else f"via point {k + 1}"
    where = "the goal" if k == len(asked) else single
    sentence = (
        f"The passing times leave {given[k]:.4g} s for the way to {where}, which is too little: in "
        f"{problem.duration:.4g} s, passing at {shown(passed.times)} is feasible."
    )
    amount = float(takes[k] - given[k])
    return Diagnosis(sentence, "passing time", amount=amount, passing=passed.times)


def shown(times: tuple[float, ...]) -> str:
    """Times in words."""
    return " and ".join(f"{t:.4g} s" for t in times)


def warped(near: Run, at: tuple[float, ...], duration: float) -> Trajectory:
    """A motion that passes via points at known times, run so that it passes them at others, every
    leg evenly."""
    motion, times = near
    old, new = np.array([0.0, *times, motion.duration]), np.array([0.0, *at, duration])
    t = motion.t - motion.t[0]
    leg = np.clip(np.searchsorted(old, t, side="right") - 1, 0, len(old) - 2)
    rate = (np.diff(old) / np.diff(new))[leg][:, None]
    return replace(motion, t=np.interp(t, old, new), v=motion.v * rate, a=motion.a * rate**2)
