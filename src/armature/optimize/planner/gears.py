"""Lossy gears made exact: corners narrowed step by step, roughly, and the narrowest one solved to the last digit.

What a gear loses changes with the direction of power, a corner that no search starts with: the first motion is found in a wide one. In a
narrow one dry friction and gears also hold joints that hardly move. Where narrowing comes to an end too early, the directions of
motion are kept from there, so that the friction has no corner and only the gears' is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from armature.drive import Smooth
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.planner.dry import KEPT, kept_directions, next_to_rest
from armature.optimize.planner.outline import fewer
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import carried
from armature.optimize.transcription.move import MoveProblem

if TYPE_CHECKING:
    from armature.optimize.planner.plan import Attempt, Planner

NARROWEST = 4e-4  # last width of a gear's corner, of the first one
RATIO = 0.3  # from one width to the next
FAILURES = 2  # after which narrowing ends
ROUGH = 1e-3  # tolerance of a solve on the way
ON_THE_WAY = 80  # iterations of it
OUTLINED = 0.03  # width down to which few knots will do
EASY = 40  # iterations in the widest corners: few knots that need more are too few
WARM = 1e-4  # barrier to start with in a narrower corner
WORSE = 1e-3  # of the energy: what a narrower corner may cost more by the exact law
LAST = 60  # iterations of a solve to the last digit
WIDE = 0.01  # a last width above this is too wide: directions are kept
CORNER = 0.05  # widest corner of gears then
DIRECTED = 3e-3  # barrier to start with then
STILL = 1e-9  # rad or m


def greatest_power(problem: MoveProblem) -> float:
    """Greatest mechanical power of any joint along the joint cubic, at least 1 W: the scale of a gear's corner."""
    q, v, a = problem.cubic(np.linspace(0.0, problem.duration, 33))
    tau = np.asarray(inverse_dynamics(problem.robot, q, v, a))
    return max(1.0, float(np.abs(tau * v).max()), float((np.abs(tau).mean(0) * np.abs(v).max()).max()))


def narrow(widest: Smooth, power: float, f: float) -> Smooth:
    """Corners narrowed by the factor f. power: the width of a gear's corner at f = 1, W."""
    return replace(widest, power=power * f, velocity=widest.velocity * max(f, 0.05))


def narrowed(planner: Planner, first: Attempt, f: float = 1.0) -> list[Attempt]:
    """The same in narrow corners, from a motion in wide ones. f: by which these have been narrowed already."""
    widest = widest_of(first, f)
    rough = [(f, first), *narrower(planner, first, f)]
    f, narrowest = min(rough, key=lambda pair: pair[1].value)  # by the exact law: the narrowest may have lost its way
    found: list[Attempt] = []
    if f < 1.0 and not planner.late:
        last = planner.attempt(narrowest.problem, narrowest.result, replace(planner.precise, iterations=LAST))
        better = last.ok and last.value <= narrowest.value + WORSE * abs(narrowest.value)
        found.append(last if better else replace(narrowest, result=replace(narrowest.result, status=Status.ACCEPTABLE)))
    keeps = first.problem.driven.smooth.velocity and not first.problem.still
    if f > WIDE and keeps and not planner.late:
        found.append(with_directions(planner, narrowest, min(f, CORNER) * widest.power, f).anyhow())
    return [a for a in found if a.ok]


def widest_of(attempt: Attempt, f: float) -> Smooth:
    """The corners with which a search began. f: by which those of the attempt have been narrowed."""
    driven = attempt.problem.driven.smooth
    return replace(driven, power=(attempt.problem.smooth or driven).power / f)


def narrowed_outline(planner: Planner, problem: MoveProblem, guess: Trajectory | None) -> list[Attempt]:
    """Motions in narrow corners, of which the wider ones are passed with few knots; none where that fails. problem: in the widest ones."""
    few = fewer(problem)
    first = planner.attempt(few, few.guess(guess), replace(on_the_way(planner), iterations=EASY)) if few else None
    if first is None or not first.ok:
        return []
    f, found = [(1.0, first), *narrower(planner, first, least=OUTLINED)][-1]
    task = replace(problem, smooth=found.problem.smooth)
    start = carried(found.result, found.motion, task)
    known = next_to_rest(task, task.trajectory(start)) if task.outset else None
    whole = planner.attempt(replace(task, directions=known), start, on_the_way(planner))
    return narrowed(planner, whole, f) if whole.ok else []


def on_the_way(planner: Planner) -> Options:
    """Of solves that only have to find the start of the next one."""
    return replace(planner.precise, tolerance=ROUGH, iterations=ON_THE_WAY, warm_barrier=WARM)


def narrower(planner: Planner, start: Attempt, good: float = 1.0, least: float = NARROWEST) -> Iterator[tuple[float, Attempt]]:
    """The factor f, falling to the least, and the rough motion in such corners, each from the last; smaller steps after a failure.

    good: the factor of the start.  Where smaller steps fail too, the best of the searches that have not ended goes on in narrower corners:
    its motion is better as it is.
    """
    widest, task, options = widest_of(start, good), start.problem, on_the_way(planner)
    ratio, failures = RATIO, 0
    unfinished: list[tuple[float, Attempt]] = []
    while good > least and not planner.late:
        f = max(good * ratio, least)
        known = next_to_rest(task, start.motion) if task.outset else None
        trial = planner.attempt(replace(task, smooth=narrow(widest, widest.power, f), directions=known), start.result, options)
        if trial.ok and trial.value <= start.value + WORSE * abs(start.value):
            start, good, unfinished = trial, f, []
            yield f, trial
            continue
        failures, ratio = failures + 1, ratio**0.5
        if not trial.ok and trial.nearly and trial.value <= start.value - WORSE * abs(start.value):
            unfinished.append((f, trial))
        if failures >= FAILURES:
            if not unfinished:
                return
            good, start = min(unfinished, key=lambda pair: pair[1].value)
            failures, ratio, unfinished = 0, RATIO, []
            if start.runs:
                yield good, start


def with_directions(planner: Planner, start: Attempt, power: float, f: float) -> Attempt:
    """The same with directions of motion kept. power: width of gears' corners, W.  f: by which friction's have been narrowed."""
    widest = start.problem.driven.smooth
    smooth = replace(widest, power=power, velocity=min(KEPT[1], max(f, 0.05)) * widest.velocity)
    known = kept_directions(start.problem, start.motion, KEPT[0] * widest.velocity)
    options = replace(planner.precise, iterations=LAST, warm_barrier=DIRECTED)
    return planner.attempt(replace(start.problem, directions=known, smooth=smooth), start.result, options)


def standing(planner: Planner, problem: MoveProblem, guess: Trajectory | None, power: float) -> list[Attempt]:
    """The same with those joints that need not move held still, where the gears' friction helps to hold. power: the first width, W."""
    e = problem.ends
    rest = (np.abs(e.q1 - e.q0) < STILL) & (e.v0 == 0) & (e.v1 == 0)
    joints = tuple(int(j) for j in np.flatnonzero(rest) if j in problem.driven.dry)
    if not joints or len(joints) == problem.robot.n or problem.move.via:
        return []
    held = np.zeros((problem.N, problem.robot.n))
    q, v, a = (x[:-1] for x in problem.cubic(np.linspace(0.0, problem.duration, problem.N + 1)))
    held[:, list(joints)] = -np.sign(np.asarray(inverse_dynamics(problem.robot, q, v, a)))[:, list(joints)]
    smooth = replace(problem.driven.smooth, power=power)
    first = planner.attempt(replace(problem, smooth=smooth, still=joints, directions=held), problem.guess(guess))
    return [first, *narrowed(planner, first)] if first.ok else []
