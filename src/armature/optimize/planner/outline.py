"""A search with many knots begins with a third of them: an outline of the motion, which costs a third as much."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import carried
from armature.optimize.transcription.move import MoveProblem

if TYPE_CHECKING:
    from armature.optimize.planner.plan import Attempt, Planner

MANY, OUTLINE = 60, 3  # knots from which a search begins with a third of them
OUTLINED = 3e-3  # barrier to start with from there
EACH_WAY = 10  # knots that are enough for a joint's way from one turn to the next


def fewer(problem: MoveProblem) -> MoveProblem | None:
    """The problem with a third of its knots; None where these are few anyway, or points between have their own."""
    return None if problem.N < MANY or problem.move.via else replace(problem, N=problem.N // OUTLINE)


def outlined(planner: Planner, problem: MoveProblem, guess: Trajectory | None, options: Options) -> Attempt | None:
    """A rough motion found with few knots, brought to all of them; where it swings or is not quite an optimum, solved with these. None
    where that fails, or there are few anyway."""
    few = fewer(problem)
    if few is None:
        return None
    found = planner.attempt(few, few.guess(guess), options)
    if not found.ok:
        return None
    start = carried(found.result, found.motion, problem)
    if (1 + turns(found.motion)) * EACH_WAY > few.N or found.result.status is not Status.CONVERGED:
        whole = planner.attempt(problem, start, replace(options, warm_barrier=OUTLINED))
        return whole if whole.ok else None
    return planner.as_it_is(problem, start)


def turns(motion: Trajectory) -> int:
    """How often the joint that turns most often does so, slow creeping left out."""
    fast = np.abs(motion.v) > 0.05 * np.abs(motion.v).max(0)
    signs = (np.sign(column[moving]) for column, moving in zip(motion.v.T, fast.T))
    return max(int(np.sum(np.diff(sign) != 0)) for sign in signs)
