"""The greatest payload with which a task is possible in its time.

For one motion torques are linear in the payload, so that the greatest one which it can carry
follows from the exact laws without a search:

(L1)  τ(m) = τ(m₀) + (m − m₀) ∂τ/∂m.

Which motion carries most is found by bisection over the payload, each search from the motion of the
last payload that could be moved.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, fine_times, torque_margins
from armature.optimize.diagnosis.holding import Carrier, carrier, reloaded
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.planner.starts import bends
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.robot.model import Robot

ANY = (  # the supply does not matter for what is possible: the simplest one is solved with
    "regenerative"
)
FIRST = 1.0, 0.7, 0.4, 0.1  # parts of the greatest payload, until one can be moved
SOLVES = 6  # of the bisection
NEAR = 0.02  # of the payload: how near one that cannot be moved is at last
FINER = 20  # points between two knots, at which the exact law is asked, as certificates do
PARTS = 1.0 - np.linspace(0.0, 1.0, 41) ** 2  # of a payload, that one motion may carry


class Moved(NamedTuple):
    """A payload that can be moved, kg, by the exact laws, and the motion that does it."""

    mass: float
    found: Attempt


def greatest_payload(pipeline: Pipeline, problem: MoveProblem, most: float) -> Moved | None:
    """The greatest payload of at most so many kg with which the task is possible in its duration;
    None where none was found."""
    load = carrier(problem.robot)
    if load is None or load.mass <= 0.0 or most <= 0.0:
        return None
    search = replace(pipeline, weights=Weights(heat=1.0))
    task = posed(problem.robot, problem.move, ANY, problem.N)
    starts: list[tuple[float, Trajectory | None]] = [(part * most, None) for part in FIRST]
    starts[1:1] = [(most, motion) for motion in bends(task)[:2]]
    best, high = None, most
    for mass, motion in starts:
        best = None if pipeline.late else moved(search, task, load, mass, motion)
        if best is not None:
            break
        high = mass
    for _ in range(SOLVES):
        if best is None or pipeline.late or high - best.mass <= NEAR * best.mass:
            break
        mass = (best.mass + high) / 2
        found = moved(search, task, load, mass, best.found.motion)
        best, high = (found, high) if found is not None and found.mass > best.mass else (best, mass)
    return best


def moved(
    search: Pipeline, task: MoveProblem, load: Carrier, mass: float, motion: Trajectory | None
) -> Moved | None:
    """A motion with about this payload, kg, from another or the joint cubic; None where none is
    found that keeps the limits which no payload changes."""
    heavier = replace(task, robot=reloaded(task.robot, load, mass))
    s = search.settings
    found = search.few(heavier, motion, s.start if motion is None else s.coarse, s.coarse)
    if not found.nearly:
        return None
    able = carried_by(heavier.robot, found.motion)
    return None if not able else Moved(min(mass, able), found)


def carried_by(robot: Robot, motion: Trajectory) -> float | None:
    """The greatest payload, kg, with which this motion keeps all limits that depend on it, by the
    exact laws; None where there is none."""
    t = fine_times(motion, FINER)
    return carried_at(robot, t, *motion(t))


def carried_at(
    robot: Robot,
    t: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    a: np.ndarray,
    but: Collection[str] = (),
) -> float | None:
    """The same of places, speeds and accelerations (K, n) at times t (K,). but: limits left out."""
    load = carrier(robot)
    if load is None:
        return None
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    heavier = robot.with_payload(1.0, at=load.point, link=load.link)
    slope = np.asarray(inverse_dynamics(heavier, q, v, a)) - tau

    def fits(mass: float) -> bool:
        found = torque_margins(robot, t, tau + (mass - load.mass) * slope, v, a)
        return all(m.fraction >= -ALLOWED for m in found if m.limit not in but)

    return next((float(load.mass * part) for part in PARTS if fits(load.mass * part)), None)
