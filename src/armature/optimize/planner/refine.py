"""Limits that a motion exceeds between its knots: drawn in, or kept by twice the knots, or by level speeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, MEANS, Margin, exceeded_in_steps
from armature.optimize.transcription.move import STANDS, MoveProblem, resampled

if TYPE_CHECKING:
    from armature.optimize.planner.plan import Attempt

FINEST = 400  # knots up to which a plan is refined
SMALL = 3e-3  # violation between knots that is cured by tighter limits instead of more knots
SHARP = 0.03  # the same with narrow corners of gears, which finer knots make harder
RANGE = "end of its range"
SURELY = 1.2  # power of what is exceeded by which a limit is drawn in
SPEEDS = "velocity", "motor speed"
RUNNING = 0.995  # of its greatest speed: a joint that runs at it
FREELY = 1e9  # rad/s² or m/s²: no limit
RIPPLE = 2.5e-3  # of the greatest speed in one step: accelerations there, a quarter of which is exceeded between knots
KNOT = 1e-3  # of a step: what is so near to a knot is at the knot
DEEPEST = 0.2  # of a limit: what is still exceeded when it is drawn in to this is not cured by drawing it in
ENOUGH = 0.95 * ALLOWED  # violation between knots that is left as it is


def cures_of(best: Attempt, worst: Margin) -> Iterator[tuple[MoveProblem, str]]:
    """Problems whose motion should keep what this one exceeds, with what is to be said of them; those that are quicker or gain more first.

    At knots, limits are drawn in, and between them too where little is exceeded; else there, or there are more knots. Speeds are levelled.
    Sharp corners need many iterations in finer knots: last, the limit is drawn in with the knots at hand."""
    problem, small = best.problem, SHARP if best.problem.driven.smooth.power else SMALL
    if at_knot(best.motion, worst.time):
        found = [set_out(best, worst), drawn_in_at_knots(best, worst)]
    else:
        finer = finer_problem(problem, worst, small)
        if worst.limit in SPEEDS:
            found = [*(levelled(best, N) for N in sorted({problem.N, finer[0].N}, reverse=True)), finer]
        else:
            there = finer[0].N != problem.N or np.ndim(problem.tighter.get(f"{worst.limit} of {worst.joint}", 1.0))
            found = [kept_away(best, worst), drawn_in_there(best, worst), finer] if there else [finer]
        if best.sharp and finer[0].N != problem.N:
            found.append(finer_problem(problem, worst, np.inf))
    yield from (cure for cure in found if cure[1])


def set_out(best: Attempt, worst: Margin) -> tuple[MoveProblem, str]:
    """The problem that knows which way a joint sets out, arrives or leaves a stop, where it exceeds a limit there.

    Where a joint stands, the rounded law of friction and gears is in the middle of its corner; the exact one is on the side of motion."""
    problem, names = best.problem, best.problem.robot.joint_names
    j = names.index(worst.joint) if worst.joint in names else -1
    stands = j in problem.driven.dry and abs(float(best.motion(worst.time).v[j])) < STANDS
    if not stands or j in problem.outset or worst.limit in MEANS:
        return problem, ""
    note = f"the law of the side to which {worst.joint} moves holds where it stands: else {worst}"
    return replace(problem, outset=(*problem.outset, j)), note


def drawn_in_at_knots(best: Attempt, worst: Margin) -> tuple[MoveProblem, str]:
    """The problem with all limits drawn in that the motion exceeds at knots, the worst included."""
    problem, notes = best.problem, []
    for margin in best.margins:
        if margin.fraction < -ENOUGH and (margin is worst or (margin.limit not in MEANS and at_knot(best.motion, margin.time))):
            there = np.ndim(problem.tighter.get(f"{margin.limit} of {margin.joint}", 1.0))
            problem, note = drawn_in_there(replace(best, problem=problem), margin) if there else finer_problem(problem, margin, np.inf)
            notes += [note] if note else []
    return problem, "; ".join(notes)


def drawn_in_there(best: Attempt, worst: Margin) -> tuple[MoveProblem, str]:
    """The problem with the limit drawn in only at the knots around the steps in which it is exceeded.

    Where a joint turns, a gear that was driven begins to drive: what its motor gives jumps between two knots that both keep the limit."""
    name, problem = f"{worst.limit} of {worst.joint}", best.problem
    if worst.limit in MEANS or name not in problem.driven.model.constraint_names:
        return problem, ""
    beyond = exceeded_in_steps(problem.robot, best.motion, worst.joint, worst.limit)
    k = interval(best.motion, worst.time)
    beyond[k] = max(beyond[k], -worst.fraction)
    step = np.where(beyond > ENOUGH, (1.0 + np.maximum(beyond, 0.0)) ** -SURELY, 1.0)
    drawn = np.minimum(np.append(step, 1.0), np.insert(step, 0, 1.0))
    factor = resampled(np.atleast_1d(problem.tighter.get(name, 1.0)), len(best.motion)) * drawn
    note = f"limit drawn in by {100 * (1 - factor[k]):.2g} % at {np.count_nonzero(drawn < 1.0)} knots: between them {worst}"
    return (replace(problem, tighter={**problem.tighter, name: factor}), note) if factor.min() >= DEEPEST else (problem, "")


def kept_away(best: Attempt, worst: Margin) -> tuple[MoveProblem, str]:
    """The problem in which a joint that leaves its range between knots keeps a little away from its ends at them."""
    problem, names = best.problem, best.problem.robot.joint_names
    if not worst.limit.endswith(RANGE) or worst.joint not in names:
        return problem, ""
    j, beyond = names.index(worst.joint), SURELY * abs(worst.value - worst.bound)
    before = problem.room.get(j, 0.0)
    if before > 2 * beyond:  # a via point lies there, or an end
        return problem, ""
    note = f"{before + beyond:.2g} away from the ends of its range at knots: between them {worst}"
    return replace(problem, room={**problem.room, j: before + beyond}), note


def at_knot(motion: Trajectory, time: float) -> bool:
    """Whether something occurs at a knot: where the exact law is beyond a limit there, knots in between do not help."""
    i = interval(motion, time)
    return min(time - motion.t[i], motion.t[i + 1] - time) < KNOT * (motion.t[i + 1] - motion.t[i])


def turns_at(motion: Trajectory, worst: Margin) -> bool:
    """Whether the joint turns in the step in which a limit is exceeded."""
    k = interval(motion, worst.time)
    return worst.joint in motion.joint_names and float(np.prod(motion.v[k : k + 2, motion.joint_names.index(worst.joint)])) < 0.0


def interval(motion: Trajectory, time: float) -> int:
    """The step in which a time lies."""
    return int(np.clip(np.searchsorted(motion.t, time), 1, len(motion) - 1)) - 1


def finer_problem(problem: MoveProblem, worst: Margin, small: float = SMALL) -> tuple[MoveProblem, str]:
    """A problem whose motion should keep the limit: tighter bounds for violations up to `small`, twice the knots for larger ones.

    Means are not broken between knots: that they are summed up a little differently is cured by tighter bounds whatever their size."""
    name, model = f"{worst.limit} of {worst.joint}", problem.driven.model
    known = name in (*model.constraint_names, *model.state_names, *model.total_names)
    if known and (-worst.fraction <= small or problem.N >= FINEST or name in model.total_names):
        factor = problem.tighter.get(name, 1.0) * (1.0 - worst.fraction) ** -SURELY
        least = float(np.min(factor))
        note = f"limit drawn in by {100 * (1 - least):.2g} %: between knots {worst}"
        return (replace(problem, tighter={**problem.tighter, name: factor}), note) if least >= DEEPEST else (problem, "")
    if problem.N >= FINEST:
        return problem, ""
    note = f"refined from {problem.N} to {2 * problem.N} knots: between knots {worst}"
    everywhere = {name: factor for name, factor in problem.tighter.items() if np.ndim(factor) == 0}
    return replace(problem, N=2 * problem.N, directions=None, level={}, room={}, tighter=everywhere), note


def levelled(best: Attempt, knots: int) -> tuple[MoveProblem, str]:
    """The problem in which joints that exceed their greatest speed between knots hardly accelerate where they run at it. knots: how many.

    With the same speed at two knots and no limit of jerk, an acceleration at the one is followed by its opposite at the other, and so on:
    a zigzag around the greatest speed, which ends only where the acceleration is held near zero."""
    problem, motion, names = best.problem, best.motion, best.problem.robot.joint_names
    level, told = dict(problem.level), []
    for margin in best.margins:
        if margin.fraction >= -ENOUGH or margin.limit not in SPEEDS or margin.joint not in names:
            continue
        j = names.index(margin.joint)
        speed = np.abs(motion.v[:, j])
        allowed = np.where(speed >= RUNNING * speed.max(), RIPPLE * speed.max() / np.gradient(motion.t), FREELY)
        before = resampled(level.get(j, np.full(2, FREELY)), len(motion))
        level[j] = np.minimum(allowed, before)
        if np.any(level[j] < before):
            told.append(f"hardly any acceleration at the greatest speed: between knots {margin}")
    known = problem.directions if knots == problem.N else None
    return (replace(problem, N=knots, level=level, directions=known), "; ".join(told)) if told else (problem, "")
