"""The duration of a move at which another second saves as much as it costs.

For a price of time w (W) the duration is free and energy + w · duration is minimised by one solve
from a known motion, so that at its solution

    (P1)  dE/dT = −w

with E(T) the least energy of a duration T. Moves with one price in common share a given time with
the least energy in sum: (P1) of all of them are the optimality conditions of one problem over all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from armature.drive import as_supply
from armature.motion.trajectory import Trajectory
from armature.optimize.moves.least_time import untimed
from armature.optimize.planner.accelerations import with_inferred
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot


def priced_duration(
    robot: Robot, task: Move, price: float, supply: Any, knots: int, known: Trajectory
) -> float | None:
    """The duration (s) of a move at which a second more saves `price` (W; negative: costs it),
    near a known motion of it; None where the search finds none."""
    task = replace(task.in_joints(robot), duration=known.duration)
    limited, _ = with_inferred(robot, task)
    given = as_supply(supply if supply is not None else robot.supply)
    problem = posed(limited, replace(task, via=untimed(task)), given, knots, free=True)
    pipeline = Pipeline(Weights(energy=1.0, time=price))
    s = pipeline.settings
    found = pipeline.solve(problem, problem.guess(known), s.start, s.end)
    return found.motion.duration if found.ok and found.nearly else None
