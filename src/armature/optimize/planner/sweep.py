"""Least energy of one move at many durations, each from its neighbours (`energy_time_curve`).

A part of the durations is solved, from the longest down, each from the last: the barrier is kept, so that the optimum is a smooth function
of the duration, and the last two are continued in a straight line, multipliers too. Now and then one is solved anew, and its branch is
followed down and up, unless the last ones tell that theirs is better. The others lie between: where the mixture of the optima around
(blend.py) keeps all limits and costs what their costs tell, it is an optimum within what counts, and its exact energy is taken. Else it
is solved, starting there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from armature.optimize.certificate.certify import ALLOWED
from armature.optimize.planner.baseline import stretched
from armature.optimize.planner.blend import FAR, blended, can_mix, continued, mixed, told
from armature.optimize.planner.dry import saving
from armature.optimize.planner.gears import greatest_power, narrow
from armature.optimize.planner.plan import EXACT, Attempt, Planner, directions
from armature.optimize.planner.quick_time import shortest
from armature.optimize.planner.room import Room
from armature.optimize.problem.result import Result, Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem

STRIDE = 1.14  # ratio of the durations that are solved in any case
ANEW = 3  # on the way down, every so many of these are solved anew too; half as often without slacks and corners, which make branches
WARM = Options(tolerance=1e-4, iterations=25, accuracy=1e-4, warm_barrier=1e-5)  # energies are then right to about 1e-5 of themselves
# a supply's slacks change sides from one duration to the next; with dry friction, what is left of the barrier shows less than its corners
WARM_SLACKS = Options(tolerance=3e-4, iterations=40, warm_barrier=1e-3)
HELD = 0.05  # part of the cost: where dry friction may hold joints for so much less, a search anew is thorough
THOROUGH = 1  # thorough searches of a curve at most: neighbours follow what they find
VAIN = 2  # times in a row that a neighbour's motion led to nothing: then searches begin anew at once
WARM_GEARS = Options(tolerance=1e-3, iterations=40, warm_barrier=1e-4)  # with lossy gears
WIDTHS = 0.1, 0.03, 0.01, 3e-3, 1e-3  # of their corners, one after the other, of that of a search anew
ENOUGH_WIDTHS = 3  # of these must be reached
MIXED = 1e-4  # barrier to start with from a mixture, there
ENOUGH = 3e-4  # part of energy and losses by which a mixture may miss what the costs around it tell
ENOUGH_ROUGH = 1e-3  # the same where slacks change sides or gears are lossy: what a plan may leave to gain there
SAME = 0.02  # the same up to which the points around are of one branch
LOOSE = 0.02  # of a limit: where all around are farther from it, so is their mixture
CLEARLY = 2e-4  # part of the energy by which another branch must be better to be followed
ROUGH = 5.0  # times the roughness of the curve, by which it must rise there too
CLOSE = 5e-4  # part of its duration to which a minimum is located, where the curve is smooth enough
SEARCHES = 6  # for it, at most
CLEAR = 5e-3  # part of the losses by which the curve must rise on both sides of a minimum; of the energy, that tells two branches
BRANCH = 0.05  # of the longest way: motions of neighbouring durations that are farther apart are of two branches
APART = 0.02  # of the longest way: where a motion that exceeds limits is nearer than this to one that does not, that is why it is cheaper


class Sweep:
    """Solves of one move at many durations, each from its neighbours."""

    def __init__(self, problem: MoveProblem, callback: Callable | None = None):
        self.problem = problem
        self.first = problem.duration
        self.planner = Planner(Weights(energy=1.0), EXACT, callback)
        self.slacks, self.gears = bool(problem.driven.shape.slacks), bool(problem.driven.smooth.power)
        self.mixes = can_mix(problem)
        self.limits = Room(problem.robot)
        self.rooms: dict[Attempt, float] = {}
        self.changed: set[int] = set()  # places of another branch than above
        self.thorough = THOROUGH  # searches that are left
        self.vain = 0  # how often in a row neighbours' motions led to nothing

    def at(self, duration: float) -> MoveProblem:
        """The problem at another duration."""
        return replace(self.problem, move=stretched(self.problem.move, duration, self.first))

    def solve(self, duration: float, near: Attempt | None, before: Attempt | None = None) -> Attempt | None:
        """From neighbours' motions and multipliers, and where that fails or there are none, anew."""
        if self.planner.late:
            return None
        found = self.warm(duration, near, before) if near is not None and self.vain < VAIN else None
        self.vain = 0 if found is not None or near is None else self.vain + 1
        return found or self.anew(duration)

    def anew(self, duration: float) -> Attempt | None:
        """From the joint cubic or, where that fails, from the shortest motion; thoroughly where dry friction may hold joints for less."""
        found = self.planner.best(self.at(duration))
        if found.ok and self.thorough > 0 and saving(found) > HELD:
            self.thorough -= 1
            found = better(found, replace(self.planner, thorough=True).best(self.at(duration)))
        if not found.ok and self.fastest.ok and self.fastest.motion.duration <= duration:
            found = self.planner.best(self.at(duration), self.fastest.motion)
        return found if found.ok else None

    @cached_property
    def fastest(self) -> Attempt:
        """The shortest motion, found when first asked for."""
        return shortest(replace(self.problem, N=50), 2.0, self.planner.callback).best

    def warm(self, duration: float, near: Attempt, before: Attempt | None = None) -> Attempt | None:
        """From a neighbour's motion and multipliers, continued from the one before it where that is given and near enough."""
        return self.begun(duration, near, continued(near, None if self.slacks or self.gears else before, duration))

    def begun(self, duration: float, near: Attempt, start: Result, barrier: float = WARM_SLACKS.warm_barrier) -> Attempt | None:
        """From a start, with the neighbour's corners, and the directions of its motion."""
        if self.gears:
            return self.narrowed(duration, start)
        slow = (near.problem.smooth or near.problem.driven.smooth).velocity
        known = None if near.problem.directions is None else directions(near.motion, slow)
        problem = replace(near.problem, move=self.at(duration).move, directions=known)
        slack = replace(WARM_SLACKS, warm_barrier=barrier, tolerance=WARM.tolerance if known is None else WARM_SLACKS.tolerance)
        options = slack if self.slacks else WARM
        found = self.planner.attempt(problem, start, options)
        return found if found.ok else None

    def narrowed(self, duration: float, start: Result) -> Attempt | None:
        """Lossy gears: their narrow corners are reached by way of wider ones, though not as wide as those of a search anew."""
        problem, found = self.at(duration), []
        widest, power = problem.driven.smooth, 0.5 * greatest_power(problem)
        for f in WIDTHS:
            trial = self.planner.attempt(replace(problem, smooth=narrow(widest, power, f)), start, WARM_GEARS)
            if not trial.ok:
                break
            start, found = trial.result, [*found, trial]
        return min(found, key=lambda a: a.value) if len(found) >= ENOUGH_WIDTHS else None

    # along the durations ----------------------------------------------------------------------------------------------------

    def both_ways(self, durations: np.ndarray) -> list[Attempt | None]:
        """Some durations from the longest down to the shortest feasible one, then up again; the others between them."""
        best: list[Attempt | None] = [None] * len(durations)
        some = skeleton(durations) if self.mixes else list(range(len(durations) - 1, -1, -1))
        self.down(durations, some, best)
        self.up(durations, some[::-1], best)
        self.fill(durations, best)
        if self.mixes:
            self.spread(durations, best, range(1, len(best)), -1)
            self.spread(durations, best, range(len(best) - 2, -1, -1), 1)
        return best

    def down(self, durations: np.ndarray, some: Sequence[int], best: list[Attempt | None]) -> None:
        """From the longest duration to the shortest feasible one; now and then anew, for a better branch."""
        near = before = None
        known: list[Attempt] = []
        # fixed modes of a neighbour are another optimum's: half a per cent dearer at times
        every = 1 if self.problem.driven.dry else ANEW if self.slacks else 2 * ANEW
        for place, k in enumerate(some):
            T = float(durations[k])
            if near is not None and place % every == 0 and self.mixes and not self.vain and (fresh := self.planner.best(self.at(T))).ok:
                found, changed = self.against(fresh, known[-3:], T)
                self.changed |= {k} if changed else set()
            else:
                found = self.solve(T, near, before)
            if found is None and near is not None and not (self.fastest.ok and self.fastest.motion.duration < T):
                break
            best[k] = found
            known += [found] if found is not None else []
            near, before = found or near, near

    def against(self, fresh: Attempt, known: Sequence[Attempt], T: float) -> tuple[Attempt, bool]:
        """What was found anew, or the branch followed from above where that is better: tried where those above tell that it may be.

        Also whether the branch is another one than theirs."""
        above = told(known, T) if len(known) > 1 else -np.inf
        if fresh.value <= above + CLEAR * max(abs(fresh.value), abs(fresh.losses)):
            return fresh, fresh.value < above or apart(fresh, blended(self.at(T), known[-1:])) > BRANCH
        warm = self.warm(T, known[-1], known[-2] if len(known) > 1 else None)
        found = fresh if warm is None else better(warm, fresh)
        return found, found is fresh

    def up(self, durations: np.ndarray, some: Sequence[int], best: list[Attempt | None]) -> None:
        """Upwards, where the branch from below may be better; it is followed while it is."""
        improved, before = True, None
        for i, k in itertools.pairwise(some):
            below, mine = best[i], best[k]
            if below is None or mine is None or not (improved or i in self.changed):
                before = None
                continue
            best[k] = better(mine, self.warm(float(durations[k]), below, before if improved else None))
            before, improved = below, best[k] is not mine

    def fill(self, durations: np.ndarray, best: list[Attempt | None]) -> None:
        """The durations between those solved, halving the gaps; and below the shortest one solved, as far as there are motions."""
        known = [k for k, a in enumerate(best) if a is not None]
        for low, high in itertools.pairwise(known):
            self.halve(durations, best, low, high)
        for k in range(known[0] - 1 if known and self.mixes else -1, -1, -1):
            best[k] = self.solve(float(durations[k]), best[k + 1])
            if best[k] is None:
                break

    def spread(self, durations: np.ndarray, best: list[Attempt | None], places: Sequence[int], side: int) -> None:
        """Better branches handed on: where a neighbour's motion, brought to a duration, costs clearly less than what was found there."""
        for k in places:
            mine, near, T = best[k], best[k + side], float(durations[k])
            if mine is None or near is None or abs(np.log(near.motion.duration / T)) > np.log(FAR):
                continue
            enough = 0.5 * CLEAR * max(abs(mine.value), abs(mine.losses))
            beyond = [a for i in (1, 2, 3) if 0 <= k + i * side < len(best) and (a := best[k + i * side]) is not None]
            if len(beyond) > 1 and told(beyond, T) > mine.value - enough:
                continue  # nothing is expected from there
            stretched = blended(self.at(T), [near])
            if stretched.value > mine.value - 2 * enough:
                continue
            if self.kept(stretched, [near]):  # where joints stand, a search from there may end at a worse motion
                best[k] = better(better(mine, self.warm(T, near)), self.counted(stretched))
            elif apart(mine, stretched) > APART:
                best[k] = better(mine, self.warm(T, near))

    def halve(self, durations: np.ndarray, best: list[Attempt | None], low: int, high: int) -> None:
        """The middle of a gap, then both its halves; where there is no motion the gap stays."""
        k, below, above = (low + high) // 2, best[low], best[high]
        if k == low or below is None or above is None:
            return
        best[k] = self.between(float(durations[k]), below, above, self.around(durations, best, k))
        self.halve(durations, best, low, k)
        self.halve(durations, best, k, high)

    def around(self, durations: np.ndarray, best: list[Attempt | None], k: int) -> list[Attempt]:
        """Known points around a duration, two on each side, the nearest first; none farther than the straight line reaches."""
        near = lambda i: abs(np.log(durations[i] / durations[k]))
        sides = range(k - 1, -1, -1), range(k + 1, len(best))
        found = [[a for i in side if (a := best[i]) is not None and near(i) < 2 * np.log(FAR)][:2] for side in sides]
        return sorted([a for side in found for a in side], key=lambda a: abs(np.log(a.motion.duration / durations[k])))

    def between(self, T: float, below: Attempt, above: Attempt, points: Sequence[Attempt]) -> Attempt | None:
        """The mixture of the optima around where that is an optimum, within what counts; else solved, from there or from both sides."""
        mixture = self.mixture(T, below, above, points)
        if mixture is not None and mixture.ok:
            return mixture
        if mixture is not None and (found := self.begun_between(T, points)) is not None:
            return found
        return self.solve(T, min(below, above, key=lambda a: blended(self.at(T), [a]).value))

    def begun_between(self, T: float, points: Sequence[Attempt]) -> Attempt | None:
        """Solved from the mixture of the optima around."""
        if not self.mixes:
            return None
        return self.begun(T, points[0], mixed(sides(points, T) if self.slacks or self.gears else points, T), MIXED)

    def mixture(self, T: float, below: Attempt, above: Attempt, points: Sequence[Attempt]) -> Attempt | None:
        """The mixture of the optima around; not ok where it is only a start, None where they are of several branches.

        Of all four where they vary smoothly: its error in energy is quadratic in its error in motion, and far smaller than that of a
        mixture of fewer, which is what this one costs more. Of the two next to it where limits or slacks change sides (see `mixed`).
        """
        if not self.mixes or len(points) < 2:
            return None
        blend = lambda parts: blended(self.at(T), parts)
        first, expected = blend([below, above] if self.slacks else points), told(points, T)
        size = max(abs(first.losses), abs(first.value), 1e-9)
        off, enough = abs(first.value - expected), (ENOUGH_ROUGH if self.slacks or self.gears else ENOUGH) * size
        if off > SAME * size:
            return None
        if not self.gears and not self.slacks and enough < off < 4 * enough and abs(blend(points[:3]).value - first.value) < enough / 4:
            expected = first.value
        for k in range(1 if self.slacks else 2):
            found = blend([below, above]) if k else first
            if abs(found.value - expected) <= enough and self.kept(found, points):
                return self.counted(found)
        return replace(first, result=replace(first.result, status=Status.ITERATIONS))

    def counted(self, mixture: Attempt) -> Attempt:
        """A mixture with its energy counted as exactly as that of a plan."""
        exact = replace(mixture, exact=lambda: self.planner.value(mixture.problem, mixture.motion))
        self.rooms[exact] = self.rooms[mixture]
        return exact

    def kept(self, mixture: Attempt, points: Sequence[Attempt]) -> bool:
        """Whether a mixture keeps all limits at the knots: that is known where all around are far from them."""
        if (room := min(self.room(a) for a in points)) > LOOSE:
            self.rooms[mixture] = room
        return self.room(mixture) >= -ALLOWED

    def room(self, attempt: Attempt) -> float:
        """The smallest margin to a limit at the knots, as a fraction of it."""
        if attempt not in self.rooms:
            self.rooms[attempt] = self.limits(attempt.motion)
        return self.rooms[attempt]

    # minima -----------------------------------------------------------------------------------------------------------------

    def minima(self, durations: np.ndarray, best: list[Attempt | None]) -> list[tuple[float, Attempt]]:
        """Local minima inside the range that are clear ones, located by parabolas through ever closer points: duration and motion."""
        found = []
        energies = np.array([a.value if a else np.nan for a in best])
        least = ROUGH * roughness(energies)
        for k in range(1, len(durations) - 1):
            middle = best[k]
            if middle is not None and prominent(energies, k, max(least, CLEAR * abs(middle.losses))):
                found.append(self.locate([(float(durations[k + i]), a) for i in (-1, 0, 1) if (a := best[k + i]) is not None]))
        return found

    def locate(self, triple: list[tuple[float, Attempt]]) -> tuple[float, Attempt]:
        """The minimum between three durations: successive parabolas, until they lead to nothing better; with the cheapest motion met."""
        in_vain = 0
        for _ in range(SEARCHES):
            (a, A), (b, B), (c, C) = triple
            T = vertex((a, A.value), (b, B.value), (c, C.value))
            if in_vain == 2 or (abs(T - b) < CLOSE * b and min(b - a, c - b) < 0.05 * b):
                break
            T = float(np.clip(T, a + 0.1 * (b - a), c - 0.1 * (c - b)))
            T = T if abs(T - b) > 0.02 * (c - a) else b + 0.1 * ((c - b) if c - b > b - a else (a - b))
            near = sorted(triple, key=lambda p: abs(p[0] - T))
            new = self.begun_between(T, [attempt for _, attempt in near]) or self.solve(T, B)
            if new is None:
                break
            in_vain = 0 if new.value < B.value else in_vain + 1
            points = sorted([*triple, (T, new)], key=lambda p: p[0])
            k = min(range(1, 3), key=lambda i: points[i][1].value)
            triple = points[k - 1 : k + 2]
        (a, A), (b, B), (c, C) = triple
        T = vertex((a, A.value), (b, B.value), (c, C.value))
        return float(np.clip(T, a, c)), min((A, B, C), key=lambda attempt: attempt.value)


def skeleton(durations: np.ndarray) -> list[int]:
    """Places of durations, from the longest down, each at most STRIDE shorter than the last where they lie so densely."""
    some = [len(durations) - 1]
    while some[-1] > 0:
        reached = int(np.searchsorted(durations, durations[some[-1]] / STRIDE * (1 - 1e-9)))
        some.append(min(reached, some[-1] - 1))
    return some


def sides(points: Sequence[Attempt], duration: float) -> list[Attempt]:
    """The nearest of some points on each side of a duration; they come with the nearest first."""
    below = [a for a in points if a.motion.duration < duration][:1]
    return below + [a for a in points if a.motion.duration >= duration][:1]


def apart(one: Attempt, other: Attempt) -> float:
    """The greatest distance of two motions at the same parts of their times, as a part of the longest way of a joint of the first."""
    if len(one.motion) != len(other.motion):
        return np.inf
    return float(np.abs(one.motion.q - other.motion.q).max() / max(np.ptp(one.motion.q, axis=0).max(), 1e-9))


def better(mine: Attempt, other: Attempt | None) -> Attempt:
    """The other one where it is clearly better."""
    return other if other is not None and other.ok and other.value < mine.value - CLEARLY * abs(mine.value) else mine


def vertex(*points: tuple[float, float]) -> float:
    """Where the parabola through three points is least; the middle point where it is not convex."""
    (a, A), (b, B), (c, C) = points
    left, right = (B - A) / (b - a), (C - B) / (c - b)
    bend = (right - left) / (c - a)
    return b if bend <= 0 else (a + b) / 2 - left / (2 * bend)


def prominent(energies: np.ndarray, k: int, depth: float) -> bool:
    """Whether point k is a minimum from which the curve rises by `depth`, J, to both sides before it falls below it or ends.

    Next to it the curve must rise at all. Energies are right to a small part of themselves: shallower dents are not told."""
    for side in (energies[k::-1], energies[k:]):
        below = np.flatnonzero(~(side[1:] > side[0]))
        reach = side[: 1 + (below[0] if below.size else len(side))]
        if len(reach) < 2 or reach.max() - side[0] < depth:
            return False
    return True


def roughness(energies: np.ndarray) -> float:
    """How far single points lie off a smooth curve, J, in the middle: by fourth differences, in which little else is left."""
    known = energies[np.isfinite(energies)]
    return float(np.median(np.abs(np.diff(known, 4)))) / np.sqrt(70.0) if len(known) > 5 else 0.0
