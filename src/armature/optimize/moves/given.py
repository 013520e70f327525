"""A motion that the caller gives is a candidate as it is: nothing that is returned is worse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.arrival import Target
from armature.optimize.certificate.solution import Solution
from armature.optimize.planner.attempt import net_energy
from armature.optimize.problem.result import Status
from armature.optimize.transcription.task import Move
from armature.simulate.ledger import drive_signals

SAME = 1e-9  # of the duration
BETTER = 1e-6  # of the cost: what is rounding
NOTE = "the motion that was given is the plan: no search from it led to a better one"
ORDINARY = "the joint cubic is the plan: no search led to a better one"


def no_worse(
    found: Solution,
    task: Move,
    guess: Trajectory | Solution | None,
    timed: bool,
    note: str = NOTE,
) -> Solution:
    """The plan; where the given motion does the task within all limits, and costs less, that
    motion. timed: the least time was asked for.  note: what is said of it then.

    Moves through via points are left out: a motion does not tell when it passes them."""
    motion = guess.trajectory if isinstance(guess, Solution) else guess
    robot = found.robot
    if (
        motion is None
        or task.via
        or robot.loops
        or motion.n != robot.n
        or not cheaper(found, motion, timed)
    ):
        return found
    ends = task.vectors(robot)
    begin, end = float(motion.t[0]), float(motion.t[-1])
    asked = Target("start", begin, ends.q0, ends.v0), Target("goal", end, ends.q1, ends.v1)
    kept = drive_signals(robot, motion)
    given = replace(
        found,
        status=Status.FEASIBLE,
        trajectory=kept,
        account=None,
        diagnosis=None,
        targets=asked,
        notes=(*found.notes, note),
        problem=None,
    )
    return given if given.certificate.ok else found


def cheaper(found: Solution, motion: Trajectory, timed: bool) -> bool:
    """Whether a motion is shorter than a plan, or has its duration and costs less; any is where
    there is no plan."""
    if timed:
        return not found.ok or motion.duration < (1.0 - BETTER) * found.duration
    if abs(motion.duration - found.duration) > SAME * found.duration:
        return False
    cost: Any = net_energy(found.robot, motion, found.supply)
    return bool(np.isfinite(cost)) and (
        not found.ok or cost < found.energy - BETTER * max(abs(found.energy), found.losses)
    )
