"""Shortest motions within their limits between knots too: limits drawn in, speeds levelled, more knots, or at last a little slower."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from armature.optimize.certificate.certify import ALLOWED, MEANS
from armature.optimize.planner.by_durations import Found
from armature.optimize.planner.ladder import LAST, LOWEST, MUCH, RATIO, WORTH, Rung, exceeded, kept, share, sharpened
from armature.optimize.planner.plan import Attempt, Planner
from armature.optimize.planner.refine import FINEST, SPEEDS, at_knot, drawn_in_there, finer_problem, levelled, turns_at
from armature.optimize.planner.slower import Allowed, run_slower
from armature.optimize.planner.turns import turned_problem, turns_at_knots
from armature.optimize.transcription.move import MoveProblem

SLOWEST = 1.06  # times the duration of a motion that breaks limits between knots, at most
AGAIN = 0.07  # the highest price from which a motion is sharpened again with more knots or limits drawn in
SMALL = 1.5e-3  # violation between knots up to which a limit is drawn in instead of doubling the knots
JUMPY = 0.03  # the same where knots have been doubled already
LAWS = 0.01  # of the limit of a mean: what is exceeded by more asks for more knots
SPARE = 3e-3  # of a limit that was drawn in: what is left of it by more is let out again
SHARE = 1e-3  # of the duration: a price on jerk that is worth less need not be lowered
PASSES = 5  # in which limits are drawn in or knots doubled


def mended(planner: Planner, best: Attempt, passes: int = PASSES) -> Found:
    """The same with limits kept between knots: limits drawn in, or twice the knots; at last a little slower.

    passes: how often, at most."""
    notes: list[str] = []
    small, failed, turning = SMALL, "", True
    while exceeded(best) > ALLOWED and len(notes) < passes and not planner.late:
        turned = turned_problem(best) if turning else (best.problem, "")
        finer, note = turned if turned[1] else tighter_problem(best, small)
        better = sharpened(planner, finer, best, again(best), max(LAST, again(best))) if note and note != failed else None
        if better is not None:
            best, turning = better, True
            notes.append(note)
        elif turned[1]:
            turning = False
        elif small == np.inf:
            break
        else:
            small, failed = np.inf, note  # more knots did not help: draw limits in instead
    return slowed(relaxed(planner, best) if notes else best, notes)


def tighter_problem(best: Attempt, small: float) -> tuple[MoveProblem, str]:
    """A problem whose motion should keep all limits, and what was changed: all that are exceeded are drawn in, or speeds levelled, where
    the worst one is by little, in the mean or at a knot; else there are twice the knots."""
    worst, problem = best.margins[0], loosened(best.problem)
    small = max(small, np.inf if problem.driven.smooth.power else JUMPY) if 2 * problem.N >= FINEST else small
    if worst.limit in MEANS and -worst.fraction > LAWS and small < np.inf and 2 * problem.N < FINEST:
        # where joints turn, few knots are far from the law
        return replace(problem, N=2 * problem.N, directions=None, level={}), f"refined from {problem.N} to {2 * problem.N} knots: {worst}"
    if worst.limit not in MEANS and not at_knot(best.motion, worst.time) and -worst.fraction > small:
        return finer_problem(problem, worst, small)
    level, note = levelled(best, problem.N)
    problem, notes = replace(problem, level=level.level), [note] if note else []
    for margin in best.margins:
        if margin.fraction < -ALLOWED and not (note and margin.limit in SPEEDS):
            there = turns_at(best.motion, margin) and not at_knot(best.motion, margin.time)
            here = drawn_in_there(replace(best, problem=problem), margin) if there else (problem, "")
            problem, drawn = here if here[1] else finer_problem(problem, margin, np.inf)
            notes += [drawn] if drawn else []
    return problem, "; ".join(notes)


def loosened(problem: MoveProblem) -> MoveProblem:
    """The problem with the first widths of corners, and no directions kept but those of joints that turn at knots."""
    return replace(problem, directions=problem.directions if turns_at_knots(problem) else None, smooth=None)


def relaxed(planner: Planner, best: Attempt) -> Attempt:
    """The same with limits let out again that were drawn in more than need be."""
    left = {f"{margin.limit} of {margin.joint}": margin.fraction for margin in best.margins}
    problem = loosened(best.problem)
    spare = {name: f for name, f in problem.tighter.items() if np.ndim(f) == 0 and left.get(name, 0.0) > SPARE}
    if not spare or not kept(best) or planner.late:
        return best
    wider = {name: factor * (1.0 + 0.9 * left[name]) for name, factor in spare.items()}
    better = sharpened(planner, replace(problem, tighter={**problem.tighter, **wider}), best, again(best))
    return better if better is not None and rank(better) < rank(best) else best


def slowed(best: Attempt, notes: list[str]) -> Found:
    """The same motion run a little slower, where that keeps all limits."""
    slower = None if kept(best) else run_slower(best.problem, best.motion, Allowed(), SLOWEST)
    if slower is None:
        return best, notes
    told = f"run {100 * (slower.duration / best.motion.duration - 1):.2g} % slower: {best.worst}"
    return replace(best, motion=slower, exact=slower.duration), [*notes, told]


def refined(planner: Planner, problem: MoveProblem, best: Attempt, notes: list[str]) -> Found:
    """The same with more knots, as long as that gains something: the jumps from limit to limit take a step each."""
    N, most = best.problem.N, 2 * problem.N if problem.driven.smooth.power else FINEST  # lossy gears: slow, and little is gained
    while best.ok and kept(best) and most >= 2 * N and not planner.late:
        N *= 2
        finer = replace(best.problem, N=N, directions=None, smooth=None, level={}, tighter=of_means(best.problem))
        better = sharpened(planner, finer, best, again(best))
        better, told = deepened(planner, *mended(planner, better)) if better is not None else (best, notes)
        gain = best.motion.duration / better.motion.duration - 1.0
        if gain <= 0.0 or not kept(better):
            break
        best, notes = better, told
        if gain < MUCH:
            break
    return best, notes


def deepened(planner: Planner, best: Attempt, notes: list[str]) -> Found:
    """The same at ever lower prices of jerk, with the limits drawn in and speeds levelled as they are, as long as that gains something.

    Without that, motions at low prices zigzag between knots and seem to gain nothing (`merit`)."""
    while isinstance(best, Rung) and best.ok and kept(best) and best.price > LOWEST and share(best) > SHARE and not planner.late:
        lower = sharpened(planner, loosened(best.problem), best, RATIO * best.price, LOWEST)
        better, told = mended(planner, lower) if lower is not None else (best, notes)
        gain = best.motion.duration / better.motion.duration - 1.0
        if gain <= 0.0 or not kept(better):
            break
        best, notes = better, [*notes, *told]
        if gain < WORTH:
            break
    return best, notes


def of_means(problem: MoveProblem) -> dict[str, Any]:
    """The limits of means that have been drawn in: finer knots do not change them."""
    return {name: factor for name, factor in problem.tighter.items() if name in problem.driven.model.total_names}


def again(best: Attempt) -> float:
    """The price from which a motion is sharpened again: its own, where that is low."""
    return min(best.price, AGAIN) if isinstance(best, Rung) else AGAIN


def rank(best: Attempt) -> tuple[bool, bool, float]:
    """The order of motions: those that are found, and keep all limits, by their durations."""
    return not best.ok, not (best.ok and kept(best)), best.motion.duration
