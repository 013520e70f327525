"""The greatest payload with which a task is possible in its time, found by way of lighter ones.

For one motion torques are linear in the payload, so that the greatest one which it can carry follows from the exact laws without a search:

(L1)  tau(m) = tau(m₀) + (m − m₀) ∂tau/∂m.

Which motion carries most is found by steps from a payload that can be moved to heavier ones, each search from the last motion, by halving
what lies between those that can be moved and those that cannot. That a search from the joint cubic fails tells nothing of lighter
payloads, and little of this one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armature.drive import Smooth
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, MEANS, Margin, fine_times, torque_margins
from armature.optimize.diagnosis.holding import Carrier, carrier, reloaded
from armature.optimize.planner.anew import other_ways
from armature.optimize.planner.effort import spent
from armature.optimize.planner.gears import greatest_power
from armature.optimize.planner.ladder import cubic_heat
from armature.optimize.planner.plan import MISSED, Attempt, Planner
from armature.optimize.planner.refine import RANGE, SPEEDS, finer_problem, levelled
from armature.optimize.planner.slower import OFTEN, RATES
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import carried
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.robot.model import Robot

ANY = "regenerative"  # the supply does not matter for what is possible: the simplest one is solved with
COARSE = 50  # knots
ROUGH = Options(tolerance=1e-3, iterations=80, rows=MISSED)
PATIENT = replace(ROUGH, iterations=120)
WARM = replace(ROUGH, warm_barrier=1e-4)
DOWN = 0.995, 0.7, 0.5, 0.25, 0.01  # parts of the greatest payload at first, until one can be moved
CALM = 0.1  # price of accelerations, as a part of the joint cubic's heat: motions that jump to and fro break limits between knots
NEAR = 0.01  # of the payload that can be moved: how near to it is at last one that cannot be
ROUND = 0.25  # of the time: for detours with nearly all of the payload
MORE = 1.05  # times the payload that can be moved: what another way round is asked for, and how finely until then
LESS = 0.985  # of the payload: what is near enough to it, and the next one to try where limits are not kept between knots
WIDE, SHARP = 0.5, 0.05  # widths of gears' corners, of the greatest power: of the search, and of the motion that is told of
FINER = 20  # points between two knots, at which the exact law is asked, as certificates do
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
    top, *less = first_masses(task, load, most)
    round_about = replace(planner, budget=spent() + ROUND * seconds)
    best = first_moved(round_about, task, sharp, load, ((top, motion) for motion in (None, *other_ways(task))))
    best = best or first_moved(planner, task, sharp, load, ((mass, None) for mass in less))
    if best is None:
        return None
    best = by_other_ways(planner, task, sharp, load, climbed(planner, task, sharp, load, best, most, MORE - 1.0), most)
    return climbed(planner, task, sharp, load, best, min(most, MORE * best.rough), NEAR)


def first_moved(
    planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, starts: Iterable[tuple[float, Trajectory | None]]
) -> Moved | None:
    """The first of these payloads, kg, that can be moved, each sought from a motion or the joint cubic; None where none is in time."""
    tried = (moved(planner, task, sharp, load, mass, motion) for mass, motion in starts if not planner.late)
    return next((found for found in tried if found is not None and found.mass > 0.0), None)


def by_other_ways(planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, best: Moved, most: float) -> Moved:
    """Other ways round, which may carry more: the elbow bent, or the load swung."""
    for motion in other_ways(task):
        more = min(most, MORE * best.rough)
        found = None if planner.late or more < MORE**0.5 * best.rough else moved(planner, task, sharp, load, more, motion)
        if found is not None and found.mass > best.mass:
            best = climbed(planner, task, sharp, load, found, most, MORE - 1.0)
    return best


def climbed(planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, best: Moved, most: float, near: float) -> Moved:
    """From a payload that can be moved to heavier ones, kg, each from the last motion, by halving what is left up to those that cannot be.

    near: of the payload that can be moved; one so near that cannot be ends the search between them."""
    high = most
    while high - best.rough > near * best.rough and not planner.late:
        mass = (best.rough + high) / 2
        found = moved(planner, task, sharp, load, mass, best.found)
        best, high = (found, high) if found is not None and found.mass > best.mass else (best, mass)
    return best


def rough(problem: MoveProblem) -> MoveProblem:
    """The problem with few knots, for least heat."""
    return replace(problem, supply=ANY, N=min(problem.N, COARSE), free=False, directions=None)


def rounded(task: MoveProblem, width: float) -> Smooth:
    """Corners of gears of this width, as a part of the greatest power."""
    smooth = task.driven.smooth
    return replace(smooth, power=width * greatest_power(task) if smooth.power else 0.0)


def first_masses(task: MoveProblem, load: Carrier, most: float) -> list[float]:
    """Payloads to begin with, kg: nearly all, what the joint cubic carries, and others, ever less.

    What stands only because friction holds it is left out: at rest, drives without friction are what motions begin and end with."""
    robot, ends = reloaded(task.robot, load, most), task.ends
    still = np.array([q for q, v in ((ends.q0, ends.v0), (ends.q1, ends.v1)) if not np.any(v)]).reshape(-1, robot.n)
    zero = np.zeros_like(still)
    stands = carried_at(robot, np.arange(float(len(still))), still, zero, zero, MEANS) if len(still) else most
    top, carries = min(most, stands or most), carried_by(robot, task.straight) or 0.0
    first, *rest = (part * top for part in DOWN)
    return [first, *(0.99 * min(top, carries),) * (carries > 0.0), *rest]


def calm(problem: MoveProblem) -> Weights:
    """Little heat, with a low price on accelerations."""
    t = np.linspace(0.0, problem.duration, 101)
    size = float(np.trapezoid(np.sum(problem.cubic(t)[2] ** 2, axis=1), t))
    return Weights(heat=1.0, acceleration=CALM * max(cubic_heat(problem), 1.0) / size if size else 0.0)


def moved(planner: Planner, task: MoveProblem, sharp: MoveProblem, load: Carrier, mass: float, near: Near) -> Moved | None:
    """A motion with about this payload, kg, from a lighter one's or the joint cubic; None where there is none even in rounded corners.

    Searches end when their rows begin to stretch: lighter payloads and other ways lead round what is in the way."""
    found = roughly(planner, task, load, mass, near)
    return None if found is None else firm(planner, sharp, load, mass, found)


def roughly(planner: Planner, problem: MoveProblem, load: Carrier, mass: float, near: Near) -> Attempt | None:
    """A motion with this payload, kg; None where none is found."""
    task = replace(problem, robot=reloaded(problem.robot, load, mass))
    starts: list[tuple[Any, Options]] = [(task.guess(near if isinstance(near, Trajectory) else None), PATIENT)]
    if isinstance(near, Attempt):
        starts = [(carried(near.result, near.motion, task), WARM), (task.guess(near.motion), ROUGH)]
    tried = (planner.attempt(task, start, options, rigid=True) for start, options in starts)
    return next((attempt for attempt in tried if attempt.meets), None)


def firm(planner: Planner, task: MoveProblem, load: Carrier, mass: float, near: Attempt) -> Moved:
    """The payload, or a little less, whose motion keeps all limits between knots too, by the exact laws: they are drawn in for it."""
    told = Moved(0.0, near, mass)
    for _ in range(ROUNDS):
        found = roughly(planner, task, load, mass, near)
        found = planner.directed(found) if found is not None and task.driven.dry else found
        if found is None or not found.meets:
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
    t = fine_times(motion, FINER)
    return carried_at(robot, t, *motion(t))


def carried_at(robot: Robot, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, but: Collection[str] = ()) -> float | None:
    """The same of places, speeds and accelerations (K, n) at times t (K,). but: limits that are left out."""
    load = carrier(robot)
    if load is None:
        return None
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    slope = np.asarray(inverse_dynamics(robot.with_payload(1.0, at=load.point, link=load.link), q, v, a)) - tau

    def fits(mass: float) -> bool:
        found = torque_margins(robot, t, tau + (mass - load.mass) * slope, v, a)
        return all(m.fraction >= -ALLOWED for m in found if m.limit not in but)

    return next((float(load.mass * part) for part in PARTS if fits(load.mass * part)), None)
