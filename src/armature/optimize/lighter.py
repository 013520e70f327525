"""The greatest payload with which a task is possible in its time, found by way of lighter ones.

For one motion torques are linear in the payload, so that the greatest one which it can carry follows from the exact laws without a search:

(L1)  tau(m) = tau(m₀) + (m − m₀) ∂tau/∂m.

Which motion carries most is found by steps from a payload that can be moved to heavier ones, each search from the last motion; steps that
fail are halved. That a search from the joint cubic fails tells nothing of lighter payloads, and little of this one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armature.drive import Smooth
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.carry import carried
from armature.optimize.certify import ALLOWED, Margin, fine_times, torque_margins
from armature.optimize.detours import detours
from armature.optimize.driven import Weights
from armature.optimize.effort import spent
from armature.optimize.holding import Carrier, carrier, reloaded
from armature.optimize.interior import Options
from armature.optimize.ladder import cubic_heat
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Attempt, Planner, greatest_power
from armature.optimize.refine import RANGE, SPEEDS, finer_problem, levelled
from armature.optimize.slower import OFTEN, RATES
from armature.robot.model import Robot

ANY = "regenerative"  # the supply does not matter for what is possible: the simplest one is solved with
COARSE = 50  # knots
ROUGH = Options(tolerance=1e-3, iterations=80)
PATIENT = replace(ROUGH, iterations=120)
WARM = replace(ROUGH, warm_barrier=1e-4)
DOWN = 0.995, 0.7, 0.5, 0.25, 0.01  # parts of the greatest payload at first, until one can be moved
CALM = 0.1  # price of accelerations, as a part of the joint cubic's heat: motions that jump to and fro break limits between knots
NEAR = 0.01  # of the payload: the least step to a heavier one
ROUND = 0.35  # of the time: for detours with nearly all of the payload
MORE = 1.05  # times the payload that can be moved: what another way round is asked for
LESS = 0.985  # of the payload: what is near enough to it, and the next one to try where limits are not kept between knots
WIDE, SHARP = 0.5, 0.05  # widths of gears' corners, of the greatest power: of the search, and of the motion that is told of
FINER = 4  # points between two knots, at which the exact law is asked
ROUNDS = 4  # solves for limits that are kept between knots
OWN = *SPEEDS, *RATES, "acceleration"  # limits that a payload does not change, but for those of ranges
PARTS = 1.0 - np.linspace(0.0, 1.0, 41) ** 2  # of a payload, that one motion may carry


Near = Attempt | Trajectory | None  # a neighbour's motion, another, or the joint cubic


class Moved(NamedTuple):
    """A payload that can be moved, kg, by the exact laws, and the motion that does it; 0 kg where no motion keeps all limits.

    rough: kg, the greatest that few knots and rounded corners allow."""

    mass: float
    found: Attempt
    rough: float


def greatest_payload(problem: MoveProblem, most: float, seconds: float) -> Moved | None:
    """The greatest payload of at most so many kg with which the task is possible in its duration; None where none was found in time."""
    load, planner = carrier(problem.robot), Planner(calm(problem), ROUGH, budget=spent() + seconds)
    if load is None or load.mass <= 0.0 or most <= 0.0:
        return None
    task, sharp = (replace(rough(problem), smooth=rounded(problem, width)) for width in (WIDE, SHARP))
    best = None
    for part in parts(task, load, most):
        best = None if planner.late else moved(planner, task, sharp, load, part * most, None)
        if part == DOWN[0] and (best is None or best.mass == 0.0):
            best = round_about(replace(planner, budget=spent() + ROUND * seconds), task, sharp, load, part * most) or best
        if best is not None and best.mass > 0.0:
            return other_ways(planner, task, sharp, load, climbed(planner, task, sharp, load, best, most), most)
    return best


def round_about(planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, mass: float) -> Moved | None:
    """A motion with this payload, kg, by a detour; None where none is found in time."""
    tried = (moved(planner, task, sharp, load, mass, motion) for motion in detours(task) if not planner.late)
    return next((found for found in tried if found is not None and found.mass > 0.0), None)


def other_ways(planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, best: Moved, most: float) -> Moved:
    """Other ways round, which may carry more: the elbow bent, or the load swung."""
    for motion in detours(task):
        more = min(most, MORE * best.rough)
        found = None if planner.late or more < MORE**0.5 * best.rough else moved(planner, task, sharp, load, more, motion)
        best = climbed(planner, task, sharp, load, found, most) if found is not None and found.mass > best.mass else best
    return best


def climbed(planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, best: Moved, most: float) -> Moved:
    """From a payload that can be moved to heavier ones, each from the last motion: the most, kg, first, and nearer ones if that fails."""
    step = most - best.rough
    while step > 0.5 * NEAR * most and not planner.late:
        found = moved(planner, task, sharp, load, best.rough + step, best.found)
        if found is not None and found.mass > best.mass:
            best, step = found, min(step, most - found.rough)
        else:
            step /= 2
    return best


def rough(problem: MoveProblem) -> MoveProblem:
    """The problem with few knots, for least heat."""
    return replace(problem, supply=ANY, N=min(problem.N, COARSE), free=False, directions=None)


def rounded(task: MoveProblem, width: float) -> Smooth:
    """Corners of gears of this width, as a part of the greatest power."""
    smooth = task.driven.smooth
    return replace(smooth, power=width * greatest_power(task) if smooth.power else 0.0)


def parts(task: MoveProblem, load: Carrier, most: float) -> list[float]:
    """Parts of the greatest payload to begin with: nearly all, what the joint cubic carries, and ever less."""
    carries = carried_by(reloaded(task.robot, load, most), task.straight)
    return sorted({*DOWN, 0.99 * (carries or 0.0) / most}, reverse=True)


def calm(problem: MoveProblem) -> Weights:
    """Little heat, with a low price on accelerations."""
    t = np.linspace(0.0, problem.duration, 101)
    size = float(np.trapezoid(np.sum(problem.cubic(t)[2] ** 2, axis=1), t))
    return Weights(heat=1.0, acceleration=CALM * max(cubic_heat(problem), 1.0) / size if size else 0.0)


def moved(planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, mass: float, near: Near) -> Moved | None:
    """A motion with about this payload, kg, from a lighter one's or the joint cubic; None where there is none even in rounded corners.

    Rows may stretch on the way: the motion of least violation leads round what the joint cubic cannot pass."""
    found = roughly(planner, task, load, mass, near)
    return None if found is None else firm(planner, sharp, load, mass, found)


def roughly(planner: Planner, problem: MoveProblem, load: Carrier, mass: float, near: Near) -> Attempt | None:
    """A motion with this payload, kg; None where none is found."""
    task = replace(problem, robot=reloaded(problem.robot, load, mass))
    starts: list[tuple[Any, Options, bool]] = [(task.guess(near if isinstance(near, Trajectory) else None), PATIENT, near is not None)]
    if isinstance(near, Attempt):
        starts = [(carried(near.result, near.motion, task), WARM, True), (task.guess(near.motion), ROUGH, True)]
    tried = (planner.attempt(task, start, options, rigid=rigid) for start, options, rigid in starts)
    return next((attempt for attempt in tried if attempt.ok), None)


def firm(planner: Planner, task: MoveProblem, load: Carrier, mass: float, near: Attempt) -> Moved:
    """The payload, or a little less, whose motion keeps all limits between knots too, by the exact laws: they are drawn in for it."""
    told = Moved(0.0, near, mass)
    for _ in range(ROUNDS):
        found = roughly(planner, task, load, mass, near)
        found = planner.directed(found) if found is not None and task.driven.dry else found
        if found is None or not found.ok:
            mass *= LESS
            continue
        able = float(min(mass, carried_by(found.problem.robot, found.motion) or 0.0))
        over = [margin for margin in found.margins if margin.fraction < -ALLOWED]
        keeps = OFTEN.by(margin for margin in over if margin.limit in OWN or margin.limit.endswith(RANGE))
        told = Moved(able, found, told.rough) if keeps and able > told.mass else told
        if (keeps and able >= LESS * mass) or planner.late:
            break
        task, near = tighter(task, found, over), found
    return told


def tighter(task: MoveProblem, found: Attempt, over: list[Margin]) -> MoveProblem:
    """The problem with speeds levelled, and limits drawn in, that a motion exceeds."""
    task = replace(task, level=levelled(found, task.N)[0].level)
    for margin in over:
        task = task if margin.limit in SPEEDS else finer_problem(task, margin, np.inf)[0]
    return task


def carried_by(robot: Robot, motion: Trajectory) -> float | None:
    """The greatest payload, kg, with which this motion keeps all limits that depend on it, by the exact laws; None where there is none."""
    load = carrier(robot)
    if load is None:
        return None
    t = fine_times(motion, FINER)
    q, v, a = motion(t)
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    slope = np.asarray(inverse_dynamics(robot.with_payload(1.0, at=load.point, link=load.link), q, v, a)) - tau

    def fits(mass: float) -> bool:
        return all(m.fraction >= -2 * ALLOWED for m in torque_margins(robot, t, tau + (mass - load.mass) * slope, v, a))

    return next((load.mass * part for part in PARTS if fits(load.mass * part)), None)
