"""Least energy of one move at many durations, each from its neighbour (`energy_time_curve`).

From the longest duration down every plan starts from the last one's motion and multipliers; now and
then, and where that fails, one is planned anew. Then upwards again: where a motion from below, run
at a longer duration, costs clearly less than what was found there, its branch is followed up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armature.optimize.planner.attempt import Attempt, net_energy
from armature.optimize.planner.baseline import stretched as retimed
from armature.optimize.planner.pipeline import Pipeline
from armature.optimize.planner.settings import SETTINGS
from armature.optimize.transcription.carry import carried
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem

ANEW, FEW = 6, 15  # every so many durations one is planned anew; of so few durations, all are
CLEARLY = 1e-3  # part of the energy by which another branch must be better to be followed
ACCURACY = 2e-4  # part of the energy left to gain at which a warm solve may end
ITERATIONS = 60  # of a warm solve, at most
POINTS = 300  # in time, at which the energy of a motion from another duration is counted
ROUGH = 5.0  # times the roughness of the curve, by which it must rise on both sides of a minimum
CLEAR = 5e-3  # part of the losses by which it must rise there too
CLOSE = 5e-4  # part of its duration to which a minimum is located
SEARCHES = 6  # for it, at most


class Sweep:
    """Plans of one move at many durations, each from its neighbour. few: all are planned anew too,
    as single plans are."""

    def __init__(self, problem: MoveProblem, callback: Callable | None = None, few: bool = False):
        self.problem, self.few = problem, few
        self.first = problem.duration
        settings = replace(SETTINGS, burnt_accuracy=ACCURACY)
        self.pipeline = Pipeline(Weights(energy=1.0), callback, settings=settings)

    def at(self, duration: float) -> Any:
        """The problem at another duration."""
        return replace(self.problem, move=retimed(self.problem.move, duration, self.first))

    def warm(self, duration: float, near: Attempt) -> Attempt | None:
        """From a neighbour's motion and multipliers; its directions are left free, since joints
        turn at other parts of another duration. None where that leads to no plan."""
        task, pipeline = replace(self.at(duration), N=near.problem.N), self.pipeline
        start, s = carried(near.result, near.motion, task), pipeline.settings
        exact = pipeline.is_smooth(task) or bool(task.robot.loops)
        f = s.end if exact else s.middle
        warm = {"warm_barrier": s.again_barrier, "iterations": ITERATIONS}
        first = pipeline.solve(task, start, f, f, **warm)
        if not first.nearly:
            return None
        found = pipeline.finished([first, *([] if exact else pipeline.turned(task, first))])
        return found if found.runs else None

    def anew(self, duration: float) -> Attempt | None:
        """As `minimize_energy` plans it; None where there is no plan."""
        found = self.pipeline.least_energy(self.at(duration))
        return found if found.runs else None

    def solve(self, duration: float, near: Attempt | None) -> Attempt | None:
        """From a neighbour, or anew where there is none or it leads to nothing."""
        found = None if near is None else self.warm(duration, near)
        return found or (None if self.pipeline.late else self.anew(duration))

    # along the durations -------------------------------------------------------------------------

    def both_ways(self, durations: np.ndarray) -> list[Attempt | None]:
        """The cheapest plan found at every duration, None where there is none."""
        best: list[Attempt | None] = [None] * len(durations)
        self.down(durations, best)
        self.up(durations, best)
        return best

    def down(self, durations: np.ndarray, best: list[Attempt | None]) -> None:
        """From the longest duration to the shortest feasible one."""
        near, failed = None, 0
        for place, k in enumerate(reversed(range(len(durations)))):
            duration = float(durations[k])
            found = self.solve(duration, near)
            again = place % ANEW == 0 or self.few
            if found is not None and near is not None and again:
                found = better(found, self.anew(duration))
            best[k] = found
            near, failed = found or near, 0 if found is not None else failed + 1
            if self.pipeline.late or (near is not None and failed == 2):
                break

    def up(self, durations: np.ndarray, best: list[Attempt | None]) -> None:
        """Upwards, where the motion from below is cheaper."""
        for k in range(1, len(best)):
            below, mine, duration = best[k - 1], best[k], float(durations[k])
            if below is None or mine is None or self.pipeline.late:
                continue
            if self.stretched_cost(below, duration) < mine.value - CLEARLY * mine.size:
                best[k] = better(mine, self.warm(duration, below))

    def stretched_cost(self, near: Attempt, duration: float) -> float:
        """What a neighbour's motion costs when it is run in another duration, J."""
        motion, supply = stretched(near.motion, duration), near.problem.driven.supply
        return net_energy(near.problem.robot, motion, supply, POINTS)

    # minima --------------------------------------------------------------------------------------

    def minima(
        self, durations: np.ndarray, best: list[Attempt | None]
    ) -> list[tuple[float, Attempt]]:
        """Local minima inside the range that are clear ones: duration and plan."""
        found = []
        energies = np.array([a.value if a else np.nan for a in best])
        least = ROUGH * roughness(energies)
        for k in range(1, len(durations) - 1):
            middle = best[k]
            if middle is None or not prominent(energies, k, max(least, CLEAR * abs(middle.losses))):
                continue
            points = [(float(durations[k + i]), best[k + i]) for i in (-1, 0, 1)]
            found.append(self.locate([(t, a) for t, a in points if a is not None]))
        return found

    def locate(self, triple: list[tuple[float, Attempt]]) -> tuple[float, Attempt]:
        """The minimum between three durations by successive parabolas, and the cheapest plan
        met."""
        in_vain = 0
        for _ in range(SEARCHES):
            (a, _), (b, middle), (c, _) = triple
            T = vertex(triple)
            if in_vain == 2 or (abs(T - b) < CLOSE * b and min(b - a, c - b) < 0.05 * b):
                break
            T = float(np.clip(T, a + 0.1 * (b - a), c - 0.1 * (c - b)))
            if abs(T - b) <= 0.02 * (c - a):  # a point beside the middle, on the wider side
                T = b + 0.1 * ((c - b) if c - b > b - a else (a - b))
            new = self.solve(T, middle)
            if new is None:
                break
            in_vain = 0 if new.value < middle.value else in_vain + 1
            points = sorted([*triple, (T, new)], key=lambda p: p[0])
            k = min(range(1, 3), key=lambda i: points[i][1].value)
            triple = points[k - 1 : k + 2]
        T = float(np.clip(vertex(triple), triple[0][0], triple[2][0]))
        return T, min((attempt for _, attempt in triple), key=lambda attempt: attempt.value)


def better(mine: Attempt, other: Attempt | None) -> Attempt:
    """The other one where it is clearly better."""
    clearly = other is not None and other.value < mine.value - CLEARLY * mine.size
    return other if clearly and other is not None else mine


def vertex(triple: list[tuple[float, Attempt]]) -> float:
    """Where the parabola through three points is least; the middle one where it is not convex."""
    (a, A), (b, B), (c, C) = ((t, attempt.value) for t, attempt in triple)
    left, right = (B - A) / (b - a), (C - B) / (c - b)
    bend = (right - left) / (c - a)
    return b if bend <= 0 else (a + b) / 2 - left / (2 * bend)


def prominent(energies: np.ndarray, k: int, depth: float) -> bool:
    """Whether point k is a minimum from which the curve rises by `depth`, J, to both sides before
    it falls below it or ends. Next to it the curve must rise at all."""
    for side in (energies[k::-1], energies[k:]):
        below = np.flatnonzero(~(side[1:] > side[0]))
        reach = side[: 1 + (below[0] if below.size else len(side))]
        if len(reach) < 2 or reach.max() - side[0] < depth:
            return False
    return True


def roughness(energies: np.ndarray) -> float:
    """How far single points lie off a smooth curve, J, in the middle: by fourth differences."""
    known = energies[np.isfinite(energies)]
    if len(known) <= 5:
        return 0.0
    return float(np.median(np.abs(np.diff(known, 4)))) / np.sqrt(70.0)
