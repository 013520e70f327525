"""Why a search found no plan, and what would make one possible (X5), computed after the search."""

from __future__ import annotations

from dataclasses import replace

from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.diagnosis.diagnose import (
    FAR,
    between_knots,
    over_mean_limit,
    passing_times,
    relaxed,
    too_short,
    unbounded_speed,
    unheld_on_the_way,
)
from armature.optimize.diagnosis.earlier import has_given_times, nearest_passing, untimely
from armature.optimize.diagnosis.forbidden import weighed
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.problem.result import Status
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

ANY = "regenerative"  # the supply does not matter for the heat: the simplest one is solved with
LOOSE = 1e6  # factor on limits that are left out


def explain(pipeline: Pipeline, best: Attempt, fastest: Attempt | None) -> Diagnosis | None:
    """Which limit stands in the way of a search that failed, by how much, and what would help.

    fastest: the shortest motion, None where it was not sought; one that does not keep all limits
    says nothing. None for a search that was stopped before it found anything."""
    problem = best.problem
    if best.result.status is Status.INTERRUPTED:
        return None
    if best.result.status is Status.DEADLINE:
        remedy = "Allow more time, or give a motion to start from (guess=…)."
        return Diagnosis(best.result.status.value, remedy=remedy)
    known = fastest if fastest is not None and fastest.runs else None
    if problem.free:
        return between_knots(best) or unbounded_speed(best) or relaxed(best, None)
    short = known is not None and known.motion.duration > problem.duration
    far = known is None or known.motion.duration > FAR * problem.duration
    if far and not problem.robot.loops:
        heavy = weighed(pipeline, problem) or unheld_on_the_way(best)
        if heavy is not None:
            return heavy
    if (over := mean_limits(pipeline, best, known)) is not None:
        return over
    if known is not None and short:
        passing = passing_times(problem, known, known.motion)
        return too_short(problem.robot, problem.duration, known.motion, passing)
    if known is not None and has_given_times(problem):
        passed = nearest_passing(pipeline, problem, known)
        if passed is not None and passed.part > 0.0:
            return untimely(problem, passed)
    nearly = between_knots(best) if best.ok else None
    return nearly or unbounded_speed(best) or relaxed(best, known and known.motion)


def mean_limits(pipeline: Pipeline, best: Attempt, fastest: Attempt | None) -> Diagnosis | None:
    """A cycle that exceeds a limit of a mean and is possible else: the pause, the duration, or the
    payload that helps; None where no such limit is in the way."""
    problem = best.problem
    if not problem.driven.means or problem.robot.loops:
        return None
    motion = None if fastest is None else fastest.motion
    if motion is not None and motion.duration <= problem.duration:
        return None
    least = least_heat(pipeline, problem)
    over = [a for a in (least, best) if a.nearly or a.only_means]
    found = [told for a in over if (told := over_mean_limit(a, motion)) is not None]
    return min(found, key=lambda told: told.pause or 0.0, default=None)


def least_heat(pipeline: Pipeline, problem: MoveProblem) -> Attempt:
    """The motion of least copper heat in the task's duration, within all limits but those of
    means."""
    loose = {name: LOOSE for _, _, name, _ in problem.driven.means}
    task = replace(posed(problem.robot, problem.move, ANY, problem.N), tighter=loose)
    s = pipeline.settings
    return replace(pipeline, weights=Weights(heat=1.0)).few(task, None, s.start, s.coarse)
