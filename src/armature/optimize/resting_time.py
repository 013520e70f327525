"""Least times of arms whose motors dry friction makes too hot: joints that stand for a part of the time, the duration being free.

Friction's current flows as long as a joint moves, however slowly, so that more time does not cool its motor: it has to move in a part of
the time and stand for the rest (rests.py). Which part is best is tried; how long all takes is the solver's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from armature.optimize.certify import MEANS
from armature.optimize.driven import Weights
from armature.optimize.interior import Options
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Attempt, Planner
from armature.optimize.problem import Guess
from armature.optimize.rests import RestingMove, squeezed, stations, windows

PARTS = (0.7, 0.55, 0.45, 0.36, 0.28, 0.22)  # of the time in which the joint moves
HOT = 0.03  # of the limit of a mean: what is exceeded by more is not cured by drawing the limit in
JOINTS = 3  # that stand, at most
CORNERS = (1.0, 1.0), (0.5, 0.5), (0.3, 0.2), (0.3, 0.1)  # widths of gears' corners and of dry friction's, of the first ones
ROUGH = Options(tolerance=1e-4, iterations=60)


def cooled(planner: Planner, best: Attempt, prices: Weights) -> Attempt:
    """The motion, or a cool one in which joints stand that are too hot by the exact law. prices: of time, jerk and heat."""
    for _ in range(JOINTS):
        j = too_hot(best)
        if j is None:
            break
        # which part of the time is best hardly depends on where the joint stands
        tried = {part: narrowed(planner, *next(standing(best, j, part)), prices) for part in PARTS}
        good = {part: found for part, found in tried.items() if found is not None}
        if not good:
            break
        part = min(good, key=lambda f: coolness(good[f]))
        others = [narrowed(planner, *task, prices) for task in itertools.islice(standing(best, j, part), 1, None)]
        best = min((good[part], *(a for a in others if a is not None)), key=coolness)
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
    problem, worst = best.problem, best.worst
    if not best.ok or worst is None or worst.limit not in MEANS or worst.fraction > -HOT or problem.robot.loops or problem.still:
        return None
    j = problem.robot.joint_names.index(worst.joint) if worst.joint in problem.robot.joint_names else None
    known = problem.rests if isinstance(problem, RestingMove) else {}
    return j if j in problem.driven.dry and j not in known else None


def standing(best: Attempt, j: int, part: float) -> Iterator[tuple[RestingMove, Guess]]:
    """Problems in which joint j moves in a part of the time and stands for the rest, with the motion squeezed into that as a start."""
    problem, motion = best.problem, best.motion
    known: dict[str, Any] = {f.name: getattr(problem, f.name) for f in fields(MoveProblem)}
    known["move"] = replace(problem.move, duration=motion.duration / part)  # what moves is then no faster
    rests = dict(problem.rests) if isinstance(problem, RestingMove) else {}
    for choice in windows(problem, motion, j, part):
        at = motion.t - motion.t[0]
        rounded = tuple((np.abs(at - a).argmin() / problem.N, np.abs(at - b).argmin() / problem.N) for a, b in choice)
        task = RestingMove(**known, rests={**rests, j: rounded})
        yield task, task.guess(squeezed(motion, j, choice, stations(problem, motion)))


def coolness(best: Attempt) -> tuple[bool, float]:
    """The order of motions: cool ones first, by their durations; then by how hot they are."""
    over = 0.0 if best.worst is None else -best.worst.fraction
    return (False, best.motion.duration) if over <= HOT else (True, over)
