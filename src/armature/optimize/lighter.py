"""The greatest payload with which a task is possible in its time, found by way of lighter ones.

For one motion torques are linear in the payload, so that the greatest one which it can carry follows from the exact laws without a search:

(L1)  tau(m) = tau(m₀) + (m − m₀) ∂tau/∂m.

Which motion carries most is found by halving between a payload that can be moved and one that cannot, each search from the last motion.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armature.drive import Smooth
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.carry import carried
from armature.optimize.certify import ALLOWED, fine_times, torque_margins
from armature.optimize.detours import detours
from armature.optimize.driven import Weights
from armature.optimize.holding import Carrier, carrier, reloaded
from armature.optimize.interior import Options
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Attempt, Planner, greatest_power
from armature.optimize.refine import finer_problem
from armature.robot.model import Robot

ANY = "regenerative"  # the supply does not matter for what is possible: the simplest one is solved with
COARSE = 50  # knots
ROUGH = Options(tolerance=1e-3, iterations=80)
WARM = replace(ROUGH, warm_barrier=1e-4)
NEARLY, DOWN, LEAST = 0.995, (0.75, 0.5, 0.25), 0.01  # parts of the greatest payload at first, until one can be moved
MORE = 1.05  # times the payload that can be moved: what another way round is asked for
NEAR = 4e-3  # of the payload: what can and what cannot be moved are so near at last
LESS = 0.985  # of the payload: the next one to try, where limits are not kept between knots
WIDE, SHARP = 0.5, 0.05  # widths of gears' corners, of the greatest power: of the search, and of the motion that is told of
FINER = 4  # points between two knots, at which the exact law is asked
ROUNDS = 4  # solves for limits that are kept between knots
JAGGED = 0.1  # of a limit: what exceeds it by more between knots is no motion
PARTS = 1.0 - np.linspace(0.0, 1.0, 41) ** 2  # of a payload, that one motion may carry


class Moved(NamedTuple):
    """A payload that can be moved, kg, by the exact laws, and the motion that does it. rough: kg, the greatest that few knots allow."""

    mass: float
    motion: Trajectory
    rough: float


def greatest_payload(problem: MoveProblem, most: float, seconds: float) -> Moved | None:
    """The greatest payload of at most so many kg with which the task is possible in its duration; None where none was found in time."""
    load, planner = carrier(problem.robot), Planner(Weights(heat=1.0), ROUGH, budget=time.thread_time() + seconds)
    if load is None or load.mass <= 0.0 or most <= 0.0:
        return None
    task, sharp = (replace(rough(problem), smooth=rounded(problem, width)) for width in (WIDE, SHARP))
    low, best = 0.0, None
    for part in parts(task, load, most):
        low, best = part * most, None if planner.late else moved(planner, task, load, part * most, None)
        if best is not None:
            break
    if best is None:
        return None
    low, best = climbed(planner, task, load, low, most, best)
    for motion in detours(task):
        # other ways round may carry more: the elbow bent, or the load swung
        more = min(most, MORE * low)
        found = None if planner.late or more < MORE**0.5 * low else moved(planner, task, load, more, motion)
        low, best = (low, best) if found is None else climbed(planner, task, load, more, most, found)
    return firm(planner, sharp, load, low, best)


def climbed(planner: Planner, task: MoveProblem, load: Carrier, low: float, high: float, best: Attempt) -> tuple[float, Attempt]:
    """From a payload that can be moved to heavier ones, each from the last motion: (kg, motion)."""
    while high - low > NEAR * high and not planner.late:
        middle = (low + high) / 2
        found = moved(planner, task, load, middle, best)
        low, high, best = (low, middle, best) if found is None else (middle, high, found)
    return low, best


def immovable(problem: MoveProblem) -> bool:
    """Whether a search with few knots, wide corners, then exact friction, finds that rows have to stretch: no motion may do."""
    task, planner = replace(rough(problem), smooth=rounded(problem, WIDE)), Planner(Weights(heat=1.0), ROUGH)
    found = planner.attempt(task, task.guess(), rigid=True)
    if found.ok and task.driven.dry:
        found = replace(planner, callback=planner.unless_stretched).directed(found)
    return not found.ok and found.result.iterations[-1].elastic


def rough(problem: MoveProblem) -> MoveProblem:
    """The problem with few knots, for least heat."""
    return replace(problem, supply=ANY, N=min(problem.N, COARSE), free=False, directions=None)


def rounded(task: MoveProblem, width: float) -> Smooth:
    """Corners of gears of this width, as a part of the greatest power."""
    smooth = task.driven.smooth
    return replace(smooth, power=width * greatest_power(task) if smooth.power else 0.0)


def parts(task: MoveProblem, load: Carrier, most: float) -> list[float]:
    """Parts of the greatest payload to begin with: nearly all, what the joint cubic carries, and ever less."""
    t = np.concatenate([[0.0], np.cumsum(task.steps(task.duration))])
    robot = reloaded(task.robot, load, most)
    carries = carried_by(robot, Trajectory(t, *task.cubic(t), robot.joint_names))
    surely = 0.99 * (carries or 0.0) / most
    return [NEARLY, *(part for part in DOWN if part > surely), *([surely] if surely > LEAST else []), LEAST]


def firm(planner: Planner, task: MoveProblem, load: Carrier, mass: float, near: Attempt) -> Moved:
    """The payload, or a little less, whose motion keeps all limits between knots too, by the exact laws: they are drawn in for it."""
    most, told = mass, Moved(0.0, near.motion, mass)
    for _ in range(ROUNDS):
        found = moved(planner, task, load, mass, near)
        if found is None:
            mass *= LESS
            continue
        over = [margin for margin in found.margins if margin.fraction < -ALLOWED]
        able = float(min(mass, carried_by(found.problem.robot, found.motion) or 0.0))
        told = max(told, Moved(able, found.motion, most), key=lambda m: m.mass)
        if able >= LESS * mass or planner.late:
            break
        for margin in over:
            task = finer_problem(task, margin, np.inf)[0]
        near = found
    return told


def moved(planner: Planner, problem: MoveProblem, load: Carrier, mass: float, near: Attempt | Trajectory | None) -> Attempt | None:
    """A motion with this payload, kg, from a lighter one's, another or the joint cubic; None where none is found before rows stretch."""
    task = replace(problem, robot=reloaded(problem.robot, load, mass))
    motion = near.motion if isinstance(near, Attempt) else near
    starts: list[tuple[Any, Options]] = [(task.guess(motion), ROUGH)]
    if isinstance(near, Attempt):
        starts.insert(0, (carried(near.result, near.motion, task), WARM))
    tried = (planner.attempt(task, start, options, rigid=True) for start, options in starts)
    found = next((attempt for attempt in tried if attempt.ok), None)
    if found is None:
        return None
    if found.ok and task.driven.dry:
        found = planner.directed(found)
    return found if found.ok and not (found.worst and found.worst.fraction < -JAGGED) else None


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
