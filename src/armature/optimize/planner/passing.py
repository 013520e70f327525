"""When via points of free passing time are passed first: the search goes on from there to an optimum near by, and there may be several.

Passing times by the joints' travel are one guess; earlier and later ones are tried too, roughly and with half the knots, and the search
begins from the cheapest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.optimize.planner.gears import narrowed
from armature.optimize.planner.plan import Attempt, Planner, choose
from armature.optimize.transcription.move import MoveProblem

ROUGHLY = 1e-4  # tolerance of a trial
LOST = 0.01  # of the energy: what a plan may cost more than the rough motion
FEWEST = 40  # knots of a trial


def plan_passing(planner: Planner, problem: MoveProblem) -> tuple[Attempt, list[str]]:
    """A plan of a move, from the cheapest of several passing times where all of them are free; as `Planner.plan`."""
    rough = None if problem.free or any(via.at is not None for via in problem.move.via) else tried(planner, problem)
    if rough is None:
        return planner.plan(problem)
    times = np.cumsum(rough.result.p)[:-1] / rough.motion.duration
    best, notes = planner.plan(replace(problem, passed_first=tuple(times)), rough.motion)
    if not planner.late and (not best.ok or best.hot or best.value > rough.value + LOST * abs(rough.value)):
        # the search has left the rough motion, or found nothing: in its own corners, or from the joint cubic, it may not
        searches = [lambda: planner.plan(problem if best.hot else replace(problem, passed_first=rough.problem.passed_first))]
        if problem.driven.smooth.power and not best.hot:
            searches.insert(0, lambda: planner.cured(in_corners_of(planner, replace(problem, passed_first=tuple(times)), rough)))
        for search in searches:
            other, told = search()
            if other.ok and (not best.ok or best.hot or other.value < best.value):
                best, notes = other, told
            if planner.late or (best.ok and best.value <= rough.value + LOST * abs(rough.value)):
                break
    return best, notes


def in_corners_of(planner: Planner, problem: MoveProblem, rough: Attempt) -> Attempt:
    """The motion with all knots in the corners in which the rough one was found, and narrower ones."""
    task = replace(problem, smooth=rough.problem.smooth or problem.driven.smooth)
    first = planner.attempt(task, task.guess(rough.motion)).anyhow()
    return choose([first, *narrowed(planner, first)]) if first.ok else first


def tried(planner: Planner, problem: MoveProblem) -> Attempt | None:
    """The cheapest rough motion of those from all first passing times; None where there is none or nothing to choose."""
    if problem.legs < 2:
        return None
    options = replace(planner.precise, tolerance=ROUGHLY)
    few = replace(problem, N=min(problem.N, max(FEWEST, problem.N // 2)))
    found: list[Attempt] = []
    for trial in (replace(few, passed_first=tuple(problem.passing[1:-1])), *passed_otherwise(few)):
        attempt = planner.attempt(trial, trial.guess(), options, rigid=True)
        found += [attempt] if attempt.ok and np.isfinite(attempt.value) else []
        if planner.late:
            break
    return min(found, key=lambda attempt: attempt.value, default=None)


def passed_otherwise(problem: MoveProblem) -> list[MoveProblem]:
    """The problem whose via points are passed earlier at first, and later; none where no passing time is free to choose."""
    by_travel = problem.passing[1:-1]
    firsts = (by_travel / 2, (1 + by_travel) / 2) if problem.legs > 1 else ()
    return [replace(problem, passed_first=tuple(first)) for first in firsts]
