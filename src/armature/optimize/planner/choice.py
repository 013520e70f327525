"""Which of several attempts is gone on from."""

from __future__ import annotations

from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.back_off import run_slower


def best_of(found: list[Attempt]) -> Attempt:
    """The cheapest of those that nearly keep their limits; of all where none does."""
    return min([a for a in found if a.nearly] or found, key=lambda a: a.value)


def cheapest(found: list[Attempt]) -> Attempt:
    """The cheapest of those that keep all limits; the last where none does."""
    return min((a for a in found if a.runs), key=lambda a: a.value, default=found[-1]).accepted()


def soonest(found: list[Attempt], slowest: float) -> Attempt:
    """Of motions with few knots the one that takes the least time once it is run so slowly that it
    keeps its limits between them. Where running slower helps nothing, at most `slowest` times as
    long, what it takes now counts, if it nearly keeps them; else the cheapest is taken."""
    taken: dict[Attempt, float] = {}
    for a in found:
        slow = run_slower(a.problem.robot, a.motion, 0.0, slowest, 2) if a.near else None
        if slow is not None or a.nearly:
            taken[a] = (slow or a.motion).duration
    return min(taken, key=lambda a: taken[a], default=best_of(found))
