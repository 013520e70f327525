"""A motion to fall back on: one that does the task within all limits, between knots too, whatever it costs.

Calm motions of little heat with few knots are found where searches for least energy with all knots fail, and nearly always at once from
what is known roughly: another payload's motion, the coolest one, the shortest. Searches from such a motion may take as long as they need,
for they cannot end with nothing; without one they are given up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from armature.optimize.diagnosis.lighter import calm, rough
from armature.optimize.planner.effort import spent
from armature.optimize.planner.plan import Attempt, Planner
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

CALMLY = Options(tolerance=1e-4, iterations=120)
SAME = 1e-6  # of the duration


def firm(problem: MoveProblem, start: Attempt, seconds: float, callback: Callable | None = None) -> Attempt | None:
    """A motion that does the task, from one that does it roughly; None where none is found in so many seconds of computing, about.

    start: of few knots, another payload or a free duration.  Its value is what it costs with the task's supply, J."""
    if not start.ok:
        return None
    same = not start.problem.free and abs(start.motion.duration - problem.duration) < SAME * problem.duration
    found = told(problem, start) if same else None
    if found is not None and found.runs:
        return found
    planner = Planner(calm(problem), CALMLY, callback, budget=spent() + seconds)
    task = replace(start.problem, robot=problem.robot, tighter={}, level={}) if same else rough(problem)
    found = planner.again(task, start) if same else planner.best(task, start.motion)
    if same and not found.ok and not planner.late:  # the multipliers did not help
        found = planner.best(task, start.motion)
    found, _ = planner.cured(found)
    found = told(problem, found)
    return found if found.ok and found.runs else None


def told(problem: MoveProblem, found: Attempt) -> Attempt:
    """A motion found with another supply, as a plan of the task."""
    own = replace(found.problem, robot=problem.robot, supply=problem.supply, tighter={}, level={})
    value = partial(Planner(Weights(energy=1.0)).value, problem, found.motion)
    return Attempt(own, found.result, found.motion, value)
