"""Least times of arms whose motors dry friction makes too hot: joints that stand for a part of the time, the duration being free.

Friction's current flows as long as a joint moves, however slowly, so that more time does not cool its motor: it has to move in a part of
the time and stand for the rest (rests.py). How long it moves and how long it stands are unknowns of the solver, as the duration of all is:
where a joint comes to rest or sets out again, a leg with a duration of its own begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from armature.optimize.planner.plan import Attempt, Planner
from armature.optimize.planner.rests import HOT, RestingMove, overheated, squeezed, stations, windows
from armature.optimize.problem.problem import Guess
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

JOINTS = 3  # that stand, at most
LONGER = (1.0, 0.6, 0.35)  # times the part of the time in which the joint moves at first, where the search fails
CORNERS = (1.0, 1.0), (0.5, 0.5), (0.3, 0.2), (0.3, 0.1)  # widths of gears' corners and of dry friction's, of the first ones
SAME = 1e-3  # of the duration: a rest at the start that gains less is not preferred to one at the goal
ROUGH = Options(tolerance=1e-4, iterations=60)


def cooled(planner: Planner, best: Attempt, prices: Weights) -> Attempt:
    """The motion, or a cool one in which joints stand that are too hot by the exact law. prices: of time, jerk and heat."""
    for _ in range(JOINTS):
        j = too_hot(best)
        if j is None or best.worst is None:
            break
        part = 1.0 / (1.0 - best.worst.fraction)  # as hot while it moves, and cool in the mean
        for factor in LONGER:
            tried = [narrowed(planner, *task, prices) for task in standing(best, j, factor * part)]
            good = [found for found in tried if found is not None]
            if good or planner.late:
                break
        if not good:
            break
        best = good[0] if coolness(good[0]) <= coolness(min(good, key=coolness), SAME) else min(good, key=coolness)
    return best


def narrowed(planner: Planner, problem: RestingMove, start: Guess, weights: Weights) -> Attempt | None:
    """The motion in ever narrower corners, as far as that goes; None where the first search fails."""
    widest, found = problem.driven.smooth, None
    for power, velocity in CORNERS:
        if not planner.late:
            smooth = replace(widest, power=power * widest.power, velocity=velocity * widest.velocity)
            trial = planner.attempt(replace(problem, smooth=smooth), found.result if found else start, ROUGH, weights)
            if not trial.ok:
                break
            found = trial
    return found


def too_hot(best: Attempt) -> int | None:
    """The joint whose mean is exceeded most, where dry friction may be why and it does not stand yet; None where there is none."""
    problem, hot = best.problem, overheated(best) if best.ok else None
    if hot is None or problem.robot.loops or problem.still:
        return None
    j = problem.robot.joint_names.index(hot.joint)
    return None if isinstance(problem, RestingMove) and j in problem.rests else j


def standing(best: Attempt, j: int, part: float) -> Iterator[tuple[RestingMove, Guess]]:
    """Problems in which joint j stands for a time that is an unknown, with the motion squeezed into a part of the time as a start.

    The time in which it moves has more knots than its share: √part of them."""
    problem, motion = best.problem, best.motion
    known: dict[str, Any] = {f.name: getattr(problem, f.name) for f in fields(MoveProblem)}
    known |= {"move": replace(problem.move, duration=motion.duration / part), "directions": None}  # what moves is then no faster
    rests = dict(problem.rests) if isinstance(problem, RestingMove) else {}
    at = motion.t - motion.t[0]
    near = lambda window: tuple(int(np.abs(at - time).argmin()) for time in window)
    for times, dense in zip(windows(problem, motion, j, part), windows(problem, motion, j, part**0.5)):
        knots = [near(window) for window in dense]
        task = RestingMove(**known, rests={**rests, j: tuple((a / problem.N, b / problem.N) for a, b in knots)}, shares=(1.0,))
        begins = {k: x for window, edges in zip(times, knots) for x, k in zip(window, edges)}
        shares = sorted(float(begins[k] if k in begins else at[k]) / motion.duration for k in task.leg_ends)
        task = replace(task, shares=tuple(shares))
        yield task, task.guess(squeezed(motion, j, times, stations(problem, motion)))


def coolness(best: Attempt, more: float = 0.0) -> tuple[bool, float]:
    """The order of motions: cool ones first, by their durations; then by how hot they are. more: added to both, as a part."""
    over = 0.0 if best.worst is None else -best.worst.fraction
    return (False, (1 + more) * best.motion.duration) if over <= HOT else (True, (1 + more) * over)
